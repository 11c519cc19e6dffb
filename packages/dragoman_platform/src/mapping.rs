//! Maps from scans.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Mapper`]: lines that were seen become lines of a map |
//! | [`extract`] | the lines of one scan: split and merge, then least squares |
//!
//! A line has its front on the left, seen from its first point to its second: from there the laser has seen it. The two sides of a wall are two
//! lines.

pub mod extract;

use dragoman_geometry::{Point, Pose, Segment, Vector, position, transform, wrap_angle};

use crate::settings::MappingSettings;
use extract::{Line, Moments};

/// After so much way or turn another scan is taken in, m and rad.
const BETWEEN: [f64; 2] = [0.15, 0.1];
/// Lines on one straight line with no more between them than this are one, m.
const GAP: f64 = 0.3;
/// Lines of a map, at most.
const MAX_LINES: usize = 5000;

/// Makes a map.
#[derive(Debug, Clone, Default)]
pub struct Mapper {
    lines: Vec<Line>,
    /// Where the last scan was taken in.
    last: Option<Pose>,
}

impl Mapper {
    /// Takes in the lines of a scan that was taken at `pose`, in the platform's frame. Whether there is something new: a scan that was taken about where
    /// the last was tells nothing.
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

    /// All lines, in the map, that are long enough.
    pub fn lines(&self, settings: &MappingSettings) -> impl Iterator<Item = Segment> + '_ {
        let least = settings.min_map_line;
        self.lines.iter().map(|line| line.segment).filter(move |segment| segment.length() >= least)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// A line that continues others takes them in, until there is no more to be taken in.
    fn take(&mut self, mut line: Line, settings: &MappingSettings) {
        while let Some(index) = self.lines.iter().position(|other| continues(&line, other, settings)) {
            line = merged(&line, &self.lines.swap_remove(index));
        }
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
    }
}

/// Whether two lines are parts of one.
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

/// Both as one: the straight line that all their points are nearest to, as far as they go.
fn merged(a: &Line, b: &Line) -> Line {
    let moments = a.moments.plus(&b.moments);
    let ends = [a.segment.a, a.segment.b, b.segment.a, b.segment.b];
    let towards = a.segment.b - a.segment.a;
    Line::through(moments, &ends, towards)
}

impl Line {
    /// A line of the platform's frame, in the map.
    fn seen_from(&self, pose: Pose) -> Self {
        let segment = Segment::new(transform(pose, self.segment.a), transform(pose, self.segment.b));
        Self { segment, moments: self.moments.transformed(pose), ..*self }
    }

    /// The straight line with these moments that goes as far as these points, in about this direction.
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
