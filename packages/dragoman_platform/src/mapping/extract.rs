//! The lines of one scan: the points are split at jumps and bends, collinear parts are merged, and each gets its
//! regression line (least squares).

use dragoman_geometry::{Point, Pose, Segment, Vector, transform};
use nalgebra::Matrix2;

use crate::motion::obstacles::Scan;
use crate::settings::MappingSettings;

/// Minimum number of points in a line.
const MIN_POINTS: usize = 6;

/// A line with the statistics of its points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// From its first point to its last; the laser was on its left.
    pub segment: Segment,
    /// Moments of its points.
    pub moments: Moments,
    /// Root mean square of the points' distances from the line, m.
    pub deviation: f64,
}

/// Moments of points: number, mean, and scatter around the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    count: f64,
    mean: Vector,
    /// Sum of squares.
    scatter: Matrix2<f64>,
}

impl Moments {
    /// Moments of these points, m.
    pub fn of(points: &[Point]) -> Self {
        let count = points.len().max(1) as f64;
        let mean = points.iter().map(|point| point.coords).sum::<Vector>() / count;
        let scatter =
            points.iter().map(|point| point.coords - mean).map(|away| away * away.transpose()).sum();
        Self { count, mean, scatter }
    }

    /// Moments of both sets of points.
    pub fn plus(&self, other: &Self) -> Self {
        let count = self.count + other.count;
        let mean = (self.mean * self.count + other.mean * other.count) / count;
        let [own, others] = [self.mean - mean, other.mean - mean];
        let scatter = self.scatter
            + other.scatter
            + own * own.transpose() * self.count
            + others * others.transpose() * other.count;
        Self { count, mean, scatter }
    }

    /// Transforms the moments from the frame `frame` to its parent frame.
    pub fn transformed(&self, frame: Pose) -> Self {
        let rotation = nalgebra::Rotation2::new(frame.heading).into_inner();
        let mean = transform(frame, Point::from(self.mean)).coords;
        Self { count: self.count, mean, scatter: rotation * self.scatter * rotation.transpose() }
    }

    /// The regression line: a point, its direction, and the root mean square of the points' distances, m.
    pub fn line(&self) -> (Point, Vector, f64) {
        let [xx, yy, xy] = [self.scatter[(0, 0)], self.scatter[(1, 1)], self.scatter[(0, 1)]];
        let angle = (2.0 * xy).atan2(xx - yy) / 2.0;
        let across = (xx + yy) / 2.0 - ((xx - yy) / 2.0).hypot(xy);
        (Point::from(self.mean), dragoman_geometry::direction(angle), (across.max(0.0) / self.count).sqrt())
    }
}

/// The lines of a scan, in the platform's frame.
pub fn extract(scan: Scan<'_>, settings: &MappingSettings) -> Vec<Line> {
    let mut lines = Vec::new();
    let jumps = |pair: &[Point]| {
        let range = (pair[0] - scan.origin).norm().min((pair[1] - scan.origin).norm());
        (pair[1] - pair[0]).norm() > 0.1 + settings.gap * range
    };
    for part in split(scan.points, jumps) {
        let mut pieces = Vec::new();
        bend(part, settings, &mut pieces);
        // Merge parts that were split by noise.
        let mut joined: Vec<&[Point]> = Vec::new();
        let mut begin = 0;
        for length in pieces {
            let end = begin + length;
            if let Some(last) = joined.last_mut()
                && is_straight(&part[begin - last.len()..end], settings)
            {
                *last = &part[begin - last.len()..end];
            } else {
                joined.push(&part[begin..end]);
            }
            begin = end;
        }
        lines.extend(joined.into_iter().filter_map(|points| fit(points, settings)));
    }
    lines
}

/// Splits the points at jumps.
fn split(points: &[Point], jumps: impl Fn(&[Point]) -> bool) -> Vec<&[Point]> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (index, pair) in points.windows(2).enumerate() {
        if jumps(pair) {
            parts.push(&points[begin..=index]);
            begin = index + 1;
        }
    }
    if begin < points.len() {
        parts.push(&points[begin..]);
    }
    parts
}

/// Splits where a point is too far from the straight line between the ends; returns the lengths of the pieces. Without
/// recursion, because a scan may have any number of points.
fn bend(points: &[Point], settings: &MappingSettings, pieces: &mut Vec<usize>) {
    let mut open = vec![(0, points.len())];
    while let Some((begin, end)) = open.pop() {
        let part = &points[begin..end];
        let (Some(&first), Some(&last)) = (part.first(), part.last()) else {
            continue;
        };
        let way = Segment::new(first, last);
        let offsets = part.iter().enumerate().map(|(index, &point)| (index, way.distance(point)));
        let farthest = offsets.max_by(|a, b| a.1.total_cmp(&b.1));
        match farthest {
            Some((index, offset)) if offset > settings.max_offset && index > 0 && part.len() > 2 => {
                open.push((begin + index, end));
                open.push((begin, begin + index));
            }
            _ => pieces.push(part.len()),
        }
    }
}

fn is_straight(points: &[Point], settings: &MappingSettings) -> bool {
    let (centre, axis, _) = Moments::of(points).line();
    points.iter().all(|point| axis.perp(&(point - centre)).abs() <= settings.max_offset)
}

/// The line of a piece, if it is long and accurate enough.
fn fit(points: &[Point], settings: &MappingSettings) -> Option<Line> {
    let (&first, &last) = (points.first()?, points.last()?);
    if points.len() < MIN_POINTS {
        return None;
    }
    let moments = Moments::of(points);
    // The laser turns counterclockwise: it is on the left of the line from the first point to the last.
    let line = Line::through(moments, &[first, last], last - first);
    (line.segment.length() >= settings.min_scan_line && line.deviation <= settings.max_deviation)
        .then_some(line)
}
