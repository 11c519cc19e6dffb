//! Poses that explain a scan: the poses of a raster are tried one after the other, a limited number per scan.

use std::f64::consts::TAU;

use dragoman_geometry::{Point, Pose, compose, position, wrap_angle};
use nalgebra::Matrix3;

use crate::planning::field::DistanceField;
use crate::settings::LocalizationSettings;

/// Raster spacing, m: around a known pose, and on the whole map.
const STEPS: [f64; 2] = [0.1, 0.2];
/// Spacing of headings, rad.
const TURN: f64 = 3.0 * TAU / 360.0;
/// Maximum number of poses tried per scan.
const BUDGET: usize = 15_000;
/// Number of scan points used.
const POINTS: usize = 60;
/// Number of points after which bad poses are rejected.
const FIRST_LOOK: usize = 12;
/// Maximum number of results.
const KEPT: usize = 16;
/// Points farther from a line than this do not count, m.
const REACH: f64 = 0.4;

/// Covariance of a pose that was found.
pub(super) fn covariance() -> Matrix3<f64> {
    Matrix3::from_diagonal(&[0.02, 0.02, 0.004].into())
}

/// A search that continues from scan to scan.
#[derive(Debug)]
pub(super) struct Search {
    /// The corner of the raster, and its number of squares.
    corner: Point,
    step: f64,
    counts: [usize; 2],
    /// The first heading, and the number of headings.
    heading: f64,
    headings: usize,
    everywhere: bool,
    next: usize,
    /// The scan being explained, once for each heading, and the motion since then.
    turned: Vec<Vec<Turned>>,
    moved: Pose,
    /// The best poses with their scores, the best first.
    best: Vec<(f64, Pose)>,
}

/// The products of a point and a heading. A sum for each place is then [`dragoman_geometry::Frame::transform`], to the last bit.
#[derive(Debug)]
struct Turned {
    /// The point's x and y times the cosine.
    cos: [f64; 2],
    /// The same times the sine.
    sin: [f64; 2],
}

impl Turned {
    fn new(point: Point, sin: f64, cos: f64) -> Self {
        Self { cos: [cos * point.x, cos * point.y], sin: [sin * point.x, sin * point.y] }
    }

    /// The point in the map, measured at a pose with this heading.
    fn seen_from(&self, pose: Pose) -> Point {
        Point::new(pose.x + self.cos[0] - self.sin[1], pose.y + self.sin[0] + self.cos[1])
    }
}

impl Search {
    /// Around a pose, with the radius and angle of the settings.
    pub(super) fn about(pose: Pose, settings: &LocalizationSettings) -> Self {
        let count = |radius: f64, step: f64| 2 * (radius / step).ceil() as usize + 1;
        let places = count(settings.search_radius, STEPS[0]);
        let half = (places / 2) as f64 * STEPS[0];
        let headings = count(settings.search_angle, TURN);
        Self {
            corner: Point::new(pose.x - half, pose.y - half),
            step: STEPS[0],
            counts: [places; 2],
            heading: pose.heading - (headings / 2) as f64 * TURN,
            headings,
            everywhere: false,
            next: 0,
            turned: Vec::new(),
            moved: Pose::ORIGIN,
            best: Vec::new(),
        }
    }

    /// On the whole map.
    pub(super) fn everywhere(field: &DistanceField) -> Self {
        let (corner, [width, height]) = field.area();
        // A huge map gets a coarser raster.
        let step = STEPS[1].max((width * height / 250_000.0).sqrt());
        Self {
            corner,
            step,
            counts: [width, height].map(|side| (side / step).ceil() as usize),
            heading: 0.0,
            headings: (TAU / TURN).round() as usize,
            everywhere: true,
            next: 0,
            turned: Vec::new(),
            moved: Pose::ORIGIN,
            best: Vec::new(),
        }
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.everywhere
    }

    /// The searched area: around this pose, with these distances, m and rad. `None`: everywhere.
    pub(super) fn area(&self, settings: &LocalizationSettings) -> Option<(Pose, [f64; 2])> {
        let [half_x, half_y] = self.counts.map(|count| (count / 2) as f64 * self.step);
        let heading = self.heading + (self.headings / 2) as f64 * TURN;
        let centre = Pose::new(self.corner.x + half_x, self.corner.y + half_y, wrap_angle(heading));
        let reach = [settings.search_radius * 1.6, settings.search_angle * 1.3];
        (!self.everywhere).then(|| (compose(centre, self.moved), reach))
    }

    /// The platform has moved.
    pub(super) fn moved(&mut self, step: Pose) {
        self.moved = compose(self.moved, step);
    }

    /// Tries the next poses; returns the best ones when all are tried.
    pub(super) fn go_on(&mut self, points: &[Point], field: &DistanceField) -> Option<Vec<Pose>> {
        if self.turned.first().is_none_or(Vec::is_empty) {
            self.take(points);
        }
        let total = self.counts[0] * self.counts[1] * self.headings;
        let until = (self.next + BUDGET).min(total);
        for index in self.next..until {
            let (place, turn) = (index / self.headings, index % self.headings);
            let (column, row) = (place % self.counts[0], place / self.counts[0]);
            let x = self.corner.x + column as f64 * self.step;
            let y = self.corner.y + row as f64 * self.step;
            self.look(Pose::new(x, y, self.heading_of(turn)), turn, field);
        }
        self.next = until;
        if until < total {
            return None;
        }
        let mut found: Vec<Pose> = self.best.iter().map(|(_, pose)| compose(*pose, self.moved)).collect();
        found.truncate(KEPT);
        Some(found)
    }

    /// Takes the scan that is to be explained.
    fn take(&mut self, points: &[Point]) {
        let mut points = super::thinned(points, POINTS);
        // Points far apart first, to reject bad poses sooner.
        let count = points.len();
        if !count.is_multiple_of(23) {
            points = (0..count).map(|index| points[(index * 23) % count]).collect();
        }
        let headings = (0..self.headings).map(|turn| self.heading_of(turn).sin_cos());
        self.turned = headings
            .map(|(sin, cos)| points.iter().map(|point| Turned::new(*point, sin, cos)).collect())
            .collect();
        self.moved = Pose::ORIGIN;
    }

    fn heading_of(&self, turn: usize) -> f64 {
        wrap_angle(self.heading + turn as f64 * TURN)
    }

    /// Tries one pose; `turn` is the number of its heading.
    fn look(&mut self, pose: Pose, turn: usize, field: &DistanceField) {
        let worst =
            if self.best.len() < KEPT { 0.0 } else { self.best.last().map_or(0.0, |(quality, _)| *quality) };
        let mut quality = 0.0;
        let points = &self.turned[turn];
        for (index, point) in points.iter().enumerate() {
            let distance = field.distance(point.seen_from(pose));
            if distance < REACH {
                quality += 1.0 - distance / REACH;
            }
            // The remaining points cannot compensate for this.
            if index == FIRST_LOOK && quality + (points.len() - index) as f64 * 0.8 < worst {
                return;
            }
        }
        if quality <= worst {
            return;
        }
        // One result for each position.
        let near = |other: Pose| {
            (position(other) - position(pose)).norm() < 1.6 * self.step.max(STEPS[1])
                && wrap_angle(other.heading - pose.heading).abs() < 3.5 * TURN
        };
        if self.best.iter().any(|&(better, other)| better >= quality && near(other)) {
            return;
        }
        self.best.retain(|&(_, other)| !near(other));
        let at = self.best.partition_point(|&(better, _)| better > quality);
        self.best.insert(at, (quality, pose));
        self.best.truncate(KEPT);
    }
}
