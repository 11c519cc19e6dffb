//! Paths as curves, sampled every 2 cm, and their permitted speeds.

use dragoman_geometry::{Point, Pose, Segment, Vector, direction, heading, position, wrap_angle};
use nalgebra::Point2;

use crate::settings::Settings;

/// Distance between two samples of a curve, m.
const SPACING: f64 = 0.02;
/// Tighter turns than this radius are made on the spot, m.
const MIN_RADIUS: f64 = 0.12;
/// Smaller changes of direction are not corners, rad.
const STRAIGHT: f64 = 1e-3;

/// A point on a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Position, m.
    pub point: Point,
    /// Direction of the curve, rad.
    pub heading: f64,
    /// Curvature, 1/m; positive to the left.
    pub curvature: f64,
    /// Distance from the beginning of the curve, m.
    pub at: f64,
}

/// A path that is driven without stopping.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    samples: Vec<Sample>,
    /// Driven backwards: the platform faces against the curve's direction.
    pub reverse: bool,
}

impl Curve {
    /// A straight line.
    pub fn straight(from: Point, to: Point) -> Self {
        let way = Segment::new(from, to);
        let count = (way.length() / SPACING).ceil().max(1.0);
        let places = (0..=count as usize).map(|index| way.at(index as f64 / count));
        let samples = places.map(|point| Sample {
            point,
            heading: way.heading(),
            curvature: 0.0,
            at: (point - from).norm(),
        });
        Self { samples: samples.collect(), reverse: false }
    }

    /// A cubic Bezier curve that begins and ends in the poses' directions.
    pub fn bezier(from: Pose, to: Pose) -> Self {
        let (start, end) = (position(from), position(to));
        let reach = (end - start).norm() * 0.4;
        let controls =
            [start, start + direction(from.heading) * reach, end - direction(to.heading) * reach, end];
        Self { samples: sample_bezier(&controls), reverse: false }
    }

    /// A chain of points with rounded corners: each as wide as `deviation` allows and as is `free`. At corners that
    /// cannot be rounded one curve ends and another begins.
    pub fn chain(points: &[Point], deviation: f64, free: impl Fn(Point) -> bool) -> Vec<Self> {
        let mut corners: Vec<Point> = points.to_vec();
        corners.dedup_by(|a, b| (*a - *b).norm() < 1e-6);
        let mut curves = Vec::new();
        let Some(&first) = corners.first() else {
            return curves;
        };
        let mut samples: Vec<Sample> = Vec::new();
        let mut from = first;
        for (index, pair) in corners.windows(2).enumerate() {
            let (corner, after) = (pair[1], corners.get(index + 2).copied());
            let rounding = after.and_then(|after| round(pair[0], corner, after, deviation, &free));
            match rounding {
                Some(rounding) => {
                    let start = rounding.first().map_or(corner, |sample| sample.point);
                    append_straight(&mut samples, from, start);
                    from = rounding.last().map_or(corner, |sample| sample.point);
                    append(&mut samples, rounding);
                }
                None => {
                    append_straight(&mut samples, from, corner);
                    from = corner;
                    let bends = after.is_some_and(|after| {
                        wrap_angle(heading(corner, after) - heading(pair[0], corner)).abs() > STRAIGHT
                    });
                    if bends || after.is_none() {
                        curves.push(Self { samples: std::mem::take(&mut samples), reverse: false });
                    }
                }
            }
        }
        curves
    }

    /// All samples, at least two.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Length, m.
    pub fn length(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| sample.at)
    }

    /// The pose of the platform at a sample.
    pub fn pose(&self, sample: &Sample) -> Pose {
        let back = if self.reverse { std::f64::consts::PI } else { 0.0 };
        Pose::new(sample.point.x, sample.point.y, wrap_angle(sample.heading + back))
    }

    /// The pose of the platform at the beginning.
    pub fn start(&self) -> Option<Pose> {
        self.samples.first().map(|sample| self.pose(sample))
    }

    /// The pose of the platform at the end.
    pub fn end(&self) -> Option<Pose> {
        self.samples.last().map(|sample| self.pose(sample))
    }

    /// Permitted speed at each sample, m/s: limited by the settings, lower in bends and at the beginning and end, and
    /// such that the platform can brake in time; zero at the end.
    pub fn speeds(&self, settings: &Settings) -> Vec<f64> {
        let interpolation = &settings.interpolation;
        let [most, turn_rate] = settings.speeds();
        let [braking, turn_braking] = settings.decelerations();
        let mut speeds: Vec<f64> = (0..self.samples.len())
            .map(|index| {
                let here = &self.samples[index];
                let after = self.samples.get(index + 1).unwrap_or(here);
                let bend = here.curvature.abs();
                let change = (after.curvature - here.curvature).abs() / (after.at - here.at).max(1e-3);
                let limits = [
                    turn_rate / bend,
                    (interpolation.lateral_acceleration / bend).sqrt(),
                    (0.6 * turn_braking / change).sqrt(),
                ];
                limits.into_iter().filter(|limit| limit.is_finite()).fold(most, f64::min)
            })
            .collect();
        let mut ahead = 0.0_f64;
        for (index, speed) in speeds.iter_mut().enumerate().rev() {
            let way = self.samples.get(index + 1).map_or(0.0, |after| after.at - self.samples[index].at);
            // Not the full deceleration: a reserve is left for corrections.
            *speed = speed.min((ahead * ahead + 2.0 * 0.7 * braking * way).sqrt());
            ahead = *speed;
        }
        speeds
    }
}

/// Appends samples; the first of them equals the last existing one.
fn append(samples: &mut Vec<Sample>, more: Vec<Sample>) {
    let at = samples.last().map_or(0.0, |sample| sample.at);
    if !samples.is_empty() {
        samples.pop();
    }
    samples.extend(more.into_iter().map(|sample| Sample { at: at + sample.at, ..sample }));
}

/// Appends nothing if the two points are equal, because there is no direction.
fn append_straight(samples: &mut Vec<Sample>, from: Point, to: Point) {
    if (to - from).norm() > 1e-9 {
        append(samples, Curve::straight(from, to).samples);
    }
}

/// A corner as a quintic Bezier curve, whose curvature is zero at both ends; `None` if it would be too tight.
fn round(
    before: Point,
    corner: Point,
    after: Point,
    deviation: f64,
    free: &impl Fn(Point) -> bool,
) -> Option<Vec<Sample>> {
    /// Positions of the control points, as fractions of the cut.
    const PARTS: [f64; 3] = [1.0, 0.6, 0.2];
    let (inward, outward) = ((corner - before).normalize(), (after - corner).normalize());
    let turn = wrap_angle(heading(corner, after) - heading(before, corner)).abs();
    if turn < STRAIGHT {
        return None;
    }
    // Distance of the curve's middle from the corner, per metre of the cut.
    let offset = (PARTS[0] + 5.0 * PARTS[1] + 10.0 * PARTS[2]) / 32.0 * 2.0 * (turn / 2.0).sin();
    // Half of each side belongs to the corner at its other end.
    let room = (corner - before).norm().min((after - corner).norm()) / 2.0;
    let mut cut = room.min(deviation / offset);
    for _ in 0..3 {
        let controls: [Point; 6] = std::array::from_fn(|index| match index {
            0..3 => corner - inward * (cut * PARTS[index]),
            _ => corner + outward * (cut * PARTS[5 - index]),
        });
        let samples = sample_bezier(&controls);
        let gentle = samples.iter().all(|sample| sample.curvature.abs() < 1.0 / MIN_RADIUS);
        if gentle && samples.iter().all(|sample| free(sample.point)) {
            return Some(samples);
        }
        cut /= 2.0;
    }
    None
}

/// Samples a Bezier curve with these control points.
fn sample_bezier(controls: &[Point]) -> Vec<Sample> {
    let polygon: f64 = controls.windows(2).map(|pair| (pair[1] - pair[0]).norm()).sum();
    let count = (polygon / SPACING).ceil().max(4.0);
    let mut samples: Vec<Sample> = Vec::with_capacity(count as usize + 1);
    for index in 0..=count as usize {
        let [place, velocity, acceleration] = derivatives(controls, index as f64 / count);
        let speed = velocity.norm();
        let (heading, curvature) = if speed > 1e-9 {
            (velocity.y.atan2(velocity.x), velocity.perp(&acceleration) / speed.powi(3))
        } else {
            (samples.last().map_or(0.0, |sample| sample.heading), 0.0)
        };
        let point = Point2::from(place);
        let at = samples.last().map_or(0.0, |last| last.at + (point - last.point).norm());
        samples.push(Sample { point, heading, curvature, at });
    }
    samples
}

/// Point, first and second derivative by de Casteljau's algorithm.
fn derivatives(controls: &[Point], part: f64) -> [Vector; 3] {
    let mut points: Vec<Vector> = controls.iter().map(|point| point.coords).collect();
    let degree = points.len() as f64 - 1.0;
    let [mut velocity, mut acceleration] = [Vector::zeros(); 2];
    while points.len() > 1 {
        if let [a, b, c] = points[..] {
            acceleration = (a - b * 2.0 + c) * (degree * (degree - 1.0));
        } else if let [a, b] = points[..] {
            velocity = (b - a) * degree;
        }
        points = points.windows(2).map(|pair| pair[0].lerp(&pair[1], part)).collect();
    }
    [points.first().copied().unwrap_or_default(), velocity, acceleration]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks heading and curvature against the points.
    fn check(curve: &Curve) {
        for pair in curve.samples().windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let way = b.at - a.at;
            assert!(((b.point - a.point).norm() - way).abs() < 1e-9 && way < 2.0 * SPACING, "{a:?} {b:?}");
            if way > 1e-6 {
                let middle = (a.curvature + b.curvature) / 2.0;
                let turned = wrap_angle(b.heading - a.heading);
                assert!((turned - middle * way).abs() < 0.02 + 0.1 * turned.abs(), "{a:?} {b:?}");
                let chord = wrap_angle(heading(a.point, b.point) - a.heading);
                assert!(chord.abs() < 0.02 + turned.abs(), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_bezier_curve_begins_and_ends_in_the_given_directions() {
        let (from, to) = (Pose::new(1.0, 1.0, 0.5), Pose::new(4.0, 3.0, -1.0));
        let curve = Curve::bezier(from, to);
        check(&curve);
        for (got, wanted) in [(curve.start().unwrap(), from), (curve.end().unwrap(), to)] {
            assert!((position(got) - position(wanted)).norm() < 1e-9);
            assert!(wrap_angle(got.heading - wanted.heading).abs() < 1e-9);
        }
    }

    #[test]
    fn corners_are_rounded_as_far_as_is_allowed() {
        let corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0]].map(Point::from);
        let curves = Curve::chain(&corners, 0.15, |_| true);
        assert_eq!(curves.len(), 1);
        check(&curves[0]);
        let distance =
            |point: Point| curves[0].samples().iter().map(|s| (s.point - point).norm()).fold(9.0, f64::min);
        let corner: f64 = distance(corners[1]);
        assert!((0.13..=0.151).contains(&corner), "{corner}");
        // A corner without free space is turned on the spot.
        let curves = Curve::chain(&corners, 0.15, |point| (point - corners[1]).norm() < 1e-9);
        assert_eq!(curves.len(), 2);
        assert_eq!(position(curves[0].end().unwrap()), corners[1]);
        // So is a hairpin.
        let corners = [[0.0, 0.0], [3.0, 0.0], [0.0, 0.1]].map(Point::from);
        assert_eq!(Curve::chain(&corners, 0.15, |_| true).len(), 2);
        assert_eq!(Curve::chain(&corners[..1], 0.15, |_| true), []);
    }

    #[test]
    fn bends_are_slower_and_the_end_stands_still() {
        let settings = Settings::default();
        let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]].map(Point::from);
        let curve = &Curve::chain(&corners, 0.15, |_| true)[0];
        let speeds = curve.speeds(&settings);
        assert_eq!(speeds.last(), Some(&0.0));
        for (sample, speed) in curve.samples().iter().zip(&speeds) {
            assert!(speed * sample.curvature.abs() <= settings.interpolation.angular_velocity + 1e-9);
        }
        assert_eq!(speeds[0], 1.0);
        for (pair, at) in speeds.windows(2).zip(curve.samples().windows(2)) {
            let braking = (pair[0].powi(2) - pair[1].powi(2)) / 2.0 / (at[1].at - at[0].at).max(1e-9);
            assert!(braking <= 0.7 + 1e-6, "{braking}");
        }
    }

    proptest! {
        #[test]
        fn chains_begin_and_end_where_they_should_and_stay_near(
            corners in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 2..7),
            deviation in 0.0..0.5_f64,
        ) {
            let corners: Vec<Point> = corners.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            let curves = Curve::chain(&corners, deviation, |_| true);
            let (first, last) = (curves.first().unwrap(), curves.last().unwrap());
            prop_assert!((position(first.start().unwrap()) - corners[0]).norm() < 1e-9);
            prop_assert!((position(last.end().unwrap()) - corners[corners.len() - 1]).norm() < 1e-9);
            for pair in curves.windows(2) {
                prop_assert!((position(pair[0].end().unwrap()) - position(pair[1].start().unwrap())).norm() < 1e-9);
            }
            for sample in curves.iter().flat_map(|curve| curve.samples()) {
                prop_assert!(sample.point.coords.amax().is_finite() && sample.curvature.is_finite());
                let off = corners.windows(2).map(|pair| Segment::new(pair[0], pair[1]).distance(sample.point));
                prop_assert!(off.fold(f64::INFINITY, f64::min) <= deviation + 1e-6);
            }
        }
    }
}
