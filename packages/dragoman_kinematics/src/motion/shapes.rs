//! Repeating shapes: circle and sinusoid, at constant orientation, until they are ended at their start.
//!
//! Source: Ranger thesis, 4.5 and `shapegens.cpp` (default size 0.1 m, period 10 s). Unlike there, the phase is ramped
//! up from rest and down to rest exactly at the starting pose, and a circle needs two different axes. With
//! [`CartesianLimits::limit_shapes`] speed and acceleration stay within the Cartesian limits: a period that is too short
//! is lengthened.

use std::f64::consts::{PI, TAU};

use nalgebra::{Isometry3, Vector3};
use serde::{Deserialize, Serialize};

use super::cartesian::CartesianLimits;
use super::trapezoid::{AxisLimits, PathClock, TrapezoidalProfile};

/// An axis of the base frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// x, forward.
    X,
    /// y, left.
    Y,
    /// z, up.
    Z,
}

impl Axis {
    /// Index in a vector: 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    fn unit(self) -> Vector3<f64> {
        Vector3::ith(self.index(), 1.0)
    }
}

/// Share of its period in which a shape without limits reaches its speed.
const RAMP: f64 = 0.125;

#[derive(Clone, Copy, Debug)]
enum Curve {
    Circle { axes: [Axis; 2] },
    Sinusoid { axis: Axis },
}

/// A circle or sinusoid in progress.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    start: Isometry3<f64>,
    curve: Curve,
    /// Radius or amplitude, m.
    size: f64,
    /// Phase of the curve, rad.
    clock: PathClock,
    limits: AxisLimits,
    stop: f64,
}

impl Shape {
    /// A circle of `radius` metres through `start`, which lies `radius` along `axes[0]` from the centre; the motion
    /// sets out along `axes[1]`, one turn in `period` seconds or, if `limits` are for shapes too, as fast as they
    /// allow, whichever is slower.
    pub fn circle(
        start: Isometry3<f64>,
        radius: f64,
        period: f64,
        axes: [Axis; 2],
        limits: &CartesianLimits,
    ) -> Self {
        Self::new(start, Curve::Circle { axes }, radius, period, &axes, limits)
    }

    /// A sinusoid about `start` along `axis`, `amplitude` metres to each side, one cycle in `period` seconds or, if
    /// `limits` are for shapes too, as fast as they allow, whichever is slower.
    pub fn sinusoid(
        start: Isometry3<f64>,
        amplitude: f64,
        period: f64,
        axis: Axis,
        limits: &CartesianLimits,
    ) -> Self {
        Self::new(start, Curve::Sinusoid { axis }, amplitude, period, &[axis], limits)
    }

    fn new(
        start: Isometry3<f64>,
        curve: Curve,
        size: f64,
        period: f64,
        axes: &[Axis],
        limits: &CartesianLimits,
    ) -> Self {
        let least =
            |values: &[f64; 6]| axes.iter().map(|axis| values[axis.index()]).fold(f64::INFINITY, f64::min);
        let mut phase = AxisLimits { velocity: TAU / period, acceleration: TAU / period / (RAMP * period) };
        let mut stop = least(&limits.stop_acceleration) / size;
        if limits.limit_shapes {
            // While the phase is ramped, the acceleration towards the centre and the one along the curve add up at
            // right angles: shares of 0.8 and 0.6 keep their sum within the limit.
            let acceleration = least(&limits.max_acceleration) / size;
            let velocity = (least(&limits.max_velocity) / size).min((0.8 * acceleration).sqrt());
            phase = AxisLimits { velocity: phase.velocity.min(velocity), acceleration: 0.6 * acceleration };
        } else {
            stop = stop.max(phase.acceleration);
        }
        let clock = PathClock::new(TrapezoidalProfile::endless(0.0, phase));
        Self { start, curve, size, clock, limits: phase, stop }
    }

    fn pose_at(&self, phase: f64) -> Isometry3<f64> {
        let (sine, cosine) = phase.sin_cos();
        let offset = match self.curve {
            Curve::Circle { axes: [first, second] } => first.unit() * (cosine - 1.0) + second.unit() * sine,
            Curve::Sinusoid { axis } => axis.unit() * sine,
        };
        let mut pose = self.start;
        pose.translation.vector += offset * self.size;
        pose
    }

    /// Moves on by `dt` seconds and returns the set-point.
    pub fn advance(&mut self, dt: f64) -> Isometry3<f64> {
        let phase = self.clock.advance(dt).position;
        if self.is_ended_at_start(phase) { self.start } else { self.pose_at(phase) }
    }

    fn is_ended_at_start(&self, phase: f64) -> bool {
        self.clock.is_done() && (phase / self.lap()).fract() == 0.0
    }

    /// Phase between two passages of the starting point.
    fn lap(&self) -> f64 {
        match self.curve {
            Curve::Circle { .. } => TAU,
            Curve::Sinusoid { .. } => PI,
        }
    }

    /// Continues the curve to the next passage of its starting point, and stops there.
    pub fn end_at_start(&mut self) {
        if self.clock.is_done() {
            return;
        }
        let stop = self.clock.stop_position(self.limits.acceleration);
        let laps = (stop / self.lap()).ceil().max(1.0);
        self.clock.head_for(laps * self.lap(), self.limits);
    }

    /// Pose at which the tool would come to rest if it were stopped now.
    pub fn stop_pose(&self) -> Isometry3<f64> {
        self.pose_at(self.clock.stop_position(self.stop))
    }

    /// Stops on the curve, at the limits' `stop_acceleration` along it.
    pub fn brake(&mut self) {
        self.clock.brake(self.stop);
    }

    /// Whether it is at rest after an end or a stop.
    pub fn is_done(&self) -> bool {
        self.clock.is_done()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Ranger thesis ran these shapes at up to 0.63 m/s, without a limit.
    fn fast() -> CartesianLimits {
        CartesianLimits {
            max_velocity: [1.0; 6],
            max_acceleration: [5.0; 6],
            limit_shapes: true,
            ..Default::default()
        }
    }

    fn follow(shape: &mut Shape, dt: f64, steps: usize, limits: &CartesianLimits) -> Vec<Vector3<f64>> {
        let (mut points, mut velocity) = (vec![shape.pose_at(0.0).translation.vector], Vector3::zeros());
        for _ in 0..steps {
            let now = shape.advance(dt).translation.vector;
            let rate = (now - points[points.len() - 1]) / dt;
            assert!(rate.amax() <= limits.max_velocity[0] * (1.0 + 1e-9));
            assert!((rate - velocity).amax() / dt <= limits.max_acceleration[0] * (1.0 + 1e-6));
            points.push(now);
            velocity = rate;
        }
        points
    }

    #[test]
    fn a_circle_keeps_its_radius_period_and_ends_at_its_start() {
        let start = Isometry3::translation(0.2, 0.58, 0.4);
        let limits = fast();
        let mut circle = Shape::circle(start, 0.2, 5.0, [Axis::X, Axis::Z], &limits);
        let centre = Vector3::new(0.0, 0.58, 0.4);
        let points = follow(&mut circle, 0.001, 10_000, &limits);
        assert!(points.iter().all(|point| ((point - centre).norm() - 0.2).abs() < 1e-12));
        assert!((points[5_000] - points[10_000]).norm() < 1e-9, "one turn in 5 s");
        circle.end_at_start();
        follow_to_rest(&mut circle, start, 6.0);
    }

    fn follow_to_rest(shape: &mut Shape, start: Isometry3<f64>, within: f64) {
        let mut time = 0.0;
        let mut last = start;
        while !shape.is_done() {
            last = shape.advance(0.001);
            time += 0.001;
            assert!(time < within);
        }
        assert_eq!(last, start);
    }

    #[test]
    fn a_sinusoid_keeps_its_amplitude_and_ends_at_its_start() {
        let start = Isometry3::translation(0.0, 0.62, 0.52);
        let limits = fast();
        let mut wave = Shape::sinusoid(start, 0.1, 2.0, Axis::X, &limits);
        let points = follow(&mut wave, 0.001, 5_000, &limits);
        let reach = points.iter().map(|point| point.x).fold(0.0, f64::max);
        assert!((reach - 0.1).abs() < 1e-6 && points.iter().all(|point| point.y == 0.62 && point.z == 0.52));
        wave.end_at_start();
        follow_to_rest(&mut wave, start, 1.5);
    }

    #[test]
    fn too_short_a_period_is_lengthened_to_the_limits() {
        let limits = CartesianLimits { limit_shapes: true, ..CartesianLimits::default() };
        let mut circle = Shape::circle(Isometry3::identity(), 0.1, 0.1, [Axis::Y, Axis::Z], &limits);
        follow(&mut circle, 0.02, 5_000, &limits);
        let mut wave = Shape::sinusoid(Isometry3::identity(), 0.1, 0.1, Axis::Y, &limits);
        follow(&mut wave, 0.02, 5_000, &limits);
    }

    /// Ranger thesis, 4.5.4, tables 4.3 to 4.5: nominal speeds of the shapes, whatever the limits of lines.
    #[test]
    fn shapes_without_limits_have_the_speed_of_their_period() {
        let limits = CartesianLimits::default();
        let axes = [Axis::X, Axis::Z];
        for (period, speed) in [(5.0, 0.251), (7.0, 0.180), (10.0, 0.126), (15.0, 0.084), (20.0, 0.063)] {
            let mut circle = Shape::circle(Isometry3::identity(), 0.2, period, axes, &limits);
            let before = circle.advance(0.5 * period);
            let step = circle.advance(0.001).translation.vector - before.translation.vector;
            assert!((step.norm() / 0.001 - speed).abs() < 0.001, "{period} s: {}", step.norm() / 0.001);
        }
        for (period, speed) in [(1.0, 0.628), (2.0, 0.314), (15.0, 0.042)] {
            let mut wave = Shape::sinusoid(Isometry3::identity(), 0.1, period, Axis::X, &limits);
            // Half of the ramp is lost: a whole period later the tool is at its start, at the maximum speed.
            let before = wave.advance((1.0 + 0.5 * RAMP) * period);
            let step = wave.advance(0.001).translation.vector - before.translation.vector;
            assert!((step.norm() / 0.001 - speed).abs() < 0.001, "{period} s: {}", step.norm() / 0.001);
        }
    }

    #[test]
    fn ending_before_the_first_step_and_twice_is_harmless() {
        let start = Isometry3::translation(1.0, 0.0, 0.0);
        let mut circle = Shape::circle(start, 0.1, 10.0, [Axis::X, Axis::Y], &fast());
        circle.end_at_start();
        circle.advance(3.0);
        circle.end_at_start();
        follow_to_rest(&mut circle, start, 10.0);
        circle.end_at_start();
        assert!(circle.is_done());
    }

    #[test]
    fn braking_stops_on_the_curve() {
        let mut circle = Shape::circle(Isometry3::identity(), 0.1, 10.0, [Axis::X, Axis::Y], &fast());
        circle.advance(4.0);
        let stop = circle.stop_pose();
        circle.brake();
        let rest = circle.advance(1.0);
        assert!(circle.is_done() && (rest.translation.vector - stop.translation.vector).norm() < 1e-12);
    }
}
