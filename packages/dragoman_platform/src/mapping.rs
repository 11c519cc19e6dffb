//! Maps from scans.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Mapper`]: combines extracted lines into the lines of a map |
//! | [`extract`] | the lines of one scan: split and merge, then least squares |
//!
//! A line's front is on its left, seen from its first point to its second: the laser has seen it from there. The two
//! sides of a wall are two lines.

pub mod extract;

use dragoman_geometry::{Point, Pose, Segment, Vector, position, transform, wrap_angle};

use crate::settings::MappingSettings;
use extract::{Line, Moments};

/// Motion after which another scan is added, m and rad.
const BETWEEN: [f64; 2] = [0.15, 0.1];
/// Maximum gap between collinear lines that are merged, m.
const GAP: f64 = 0.3;
/// Maximum number of lines in a map.
const MAX_LINES: usize = 5000;

/// Makes a map.
#[derive(Debug, Clone, Default)]
pub struct Mapper {
    lines: Vec<Line>,
    /// Pose of the last scan that was added.
    last: Option<Pose>,
}

impl Mapper {
    /// Adds the lines of a scan that was taken at `pose`, in the platform's frame. Returns whether it was added: scans
    /// from about the same pose as the last are skipped.
    pub fn add(&mut self, pose: Pose, scanned: &[Line], settings: &MappingSettings) -> bool {
        let near = self.last.is_some_and(|last| {
            (position(pose) - position(last)).norm() < BETWEEN[0]
                && wrap_angle(pose.heading - last.heading).abs() < BETWEEN[1]
        });
        if near {
            return false;
        }
        self.last = Some(pose);
        for line in scanned {
            self.take(line.seen_from(pose), settings);
        }
        true
    }

    /// All lines that are long enough, in the map.
    pub fn lines(&self, settings: &MappingSettings) -> impl Iterator<Item = Segment> + '_ {
        let least = settings.min_map_line;
        self.lines.iter().map(|line| line.segment).filter(move |segment| segment.length() >= least)
    }

    /// Deletes all lines.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds a line; merges it with the lines that it continues, until none is left.
    fn take(&mut self, mut line: Line, settings: &MappingSettings) {
        while let Some(index) = self.lines.iter().position(|other| continues(&line, other, settings)) {
            line = merged(&line, &self.lines.swap_remove(index));
        }
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
    }
}

/// Whether two lines are parts of the same line.
fn continues(a: &Line, b: &Line, settings: &MappingSettings) -> bool {
    let turned = wrap_angle(a.segment.heading() - b.segment.heading()).abs();
    if turned > settings.merge_angle {
        return false;
    }
    // Seen from the longer one.
    let (long, short) = if a.segment.length() >= b.segment.length() { (a, b) } else { (b, a) };
    let (from, length) = (long.segment.a, long.segment.length());
    let along = (long.segment.b - from) / length;
    let ends = [short.segment.a, short.segment.b].map(|end| end - from);
    let beside = ends.iter().map(|end| along.perp(end).abs()).fold(0.0, f64::max);
    let [first, last] = ends.map(|end| along.dot(&end));
    beside <= settings.merge_distance && first <= length + GAP && last >= -GAP
}

/// Both lines merged: the regression line of all their points, over their whole length.
fn merged(a: &Line, b: &Line) -> Line {
    let moments = a.moments.plus(&b.moments);
    let ends = [a.segment.a, a.segment.b, b.segment.a, b.segment.b];
    let towards = a.segment.b - a.segment.a;
    Line::through(moments, &ends, towards)
}

impl Line {
    /// Transforms a line from the platform's frame to the map.
    fn seen_from(&self, pose: Pose) -> Self {
        let segment = Segment::new(transform(pose, self.segment.a), transform(pose, self.segment.b));
        Self { segment, moments: self.moments.transformed(pose), ..*self }
    }

    /// The regression line of these moments between the projections of these points, in about this direction.
    fn through(moments: Moments, ends: &[Point], towards: Vector) -> Self {
        let (centre, axis, deviation) = moments.line();
        let axis = if axis.dot(&towards) < 0.0 { -axis } else { axis };
        let places = ends.iter().map(|end| (end - centre).dot(&axis));
        let [first, last] = places.fold([f64::INFINITY, f64::NEG_INFINITY], |[first, last], place| {
            [first.min(place), last.max(place)]
        });
        let segment = Segment::new(centre + axis * first, centre + axis * last);
        Self { segment, moments, deviation }
    }
}

#[cfg(test)]
mod tests;
