//! Cartesian motions: straight line with a rotation about one axis, and a velocity command (twist).
//!
//! All quantities are in the robot's base frame. Source: Ranger thesis, 3.5 and `trajgen.cpf`; the component used
//! there, OCL's `CartesianGeneratorPos`, gives each axis its own profile. Here one profile of the path parameter drives
//! all six, so the path is always straight and no axis exceeds its own limits.

use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3, Vector6};
use serde::{Deserialize, Serialize};

use crate::GoalMask;

use super::trapezoid::{AxisLimits, PathClock, TrapezoidalProfile};

/// Limits per axis of the base frame: translation x, y, z (m) then rotation about x, y, z (rad).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CartesianLimits {
    /// Maximum speed: m/s for x, y, z; rad/s for the rotations.
    pub max_velocity: [f64; 6],
    /// Maximum acceleration of planned motions: m/s^2, rad/s^2.
    pub max_acceleration: [f64; 6],
    /// Deceleration of a stop: m/s^2, rad/s^2. Higher than `max_acceleration`, so that a stop is short.
    pub stop_acceleration: [f64; 6],
    /// Whether circles and sinusoids keep within `max_velocity` and `max_acceleration`. If not, they have the requested
    /// period, whatever it is.
    pub limit_shapes: bool,
}

impl Default for CartesianLimits {
    /// `trajgen.cpf`; `shapegens.cpf` has no limits. The Ranger thesis stops at once; 0.3 m/s^2 and 0.5 rad/s^2 take
    /// 0.1 s and 1.5 mm from full speed.
    fn default() -> Self {
        Self {
            max_velocity: [0.03, 0.03, 0.03, 0.05, 0.05, 0.05],
            max_acceleration: [0.01, 0.01, 0.01, 0.05, 0.05, 0.05],
            stop_acceleration: [0.3, 0.3, 0.3, 0.5, 0.5, 0.5],
            limit_shapes: false,
        }
    }
}

/// Maximum rate of a parameter that runs from 0 to 1 while each axis covers its part of `deltas` within `limits`;
/// `None` when nothing moves.
pub(super) fn parameter_limit<'a>(
    deltas: impl IntoIterator<Item = &'a f64>,
    limits: impl IntoIterator<Item = &'a f64>,
) -> Option<f64> {
    let rates = deltas.into_iter().zip(limits).filter(|(delta, _)| **delta != 0.0);
    rates.map(|(delta, limit)| limit / delta.abs()).min_by(f64::total_cmp).filter(|rate| rate.is_finite())
}

/// Distance between two poses as in the Ranger thesis: metres of translation plus radians of rotation.
pub fn pose_distance(a: &Isometry3<f64>, b: &Isometry3<f64>) -> f64 {
    (a.translation.vector - b.translation.vector).norm() + a.rotation.angle_to(&b.rotation)
}

/// As [`pose_distance`], in the coordinates of `target` that count.
pub(super) fn masked_distance(mask: &GoalMask, pose: &Isometry3<f64>, target: &Isometry3<f64>) -> f64 {
    if *mask == GoalMask::POSE { pose_distance(pose, target) } else { mask.distance(pose, target) }
}

/// A straight line with a rotation about a single axis, both finishing together.
#[derive(Clone, Copy, Debug)]
pub struct StraightLine {
    start: Isometry3<f64>,
    goal: Isometry3<f64>,
    translation: Vector3<f64>,
    /// Axis times angle (rad), base frame; the angle is at most pi.
    rotation: Vector3<f64>,
    clock: PathClock,
    /// Deceleration of the path parameter in a stop, 1/s^2.
    stop: f64,
}

impl StraightLine {
    /// From rest at `start` to rest at `goal`, at the limits or in `min_duration` seconds, whichever is slower.
    pub fn new(
        start: Isometry3<f64>,
        goal: Isometry3<f64>,
        min_duration: f64,
        limits: &CartesianLimits,
    ) -> Self {
        let translation = goal.translation.vector - start.translation.vector;
        let rotation = (goal.rotation * start.rotation.inverse()).scaled_axis();
        let deltas =
            Vector6::new(translation.x, translation.y, translation.z, rotation.x, rotation.y, rotation.z);
        let rates = (
            parameter_limit(&deltas, &limits.max_velocity),
            parameter_limit(&deltas, &limits.max_acceleration),
            parameter_limit(&deltas, &limits.stop_acceleration),
        );
        let (profile, stop) = match rates {
            (Some(velocity), Some(acceleration), Some(stop)) => {
                let limits = AxisLimits { velocity, acceleration };
                (TrapezoidalProfile::new(0.0, 1.0, limits).stretched(min_duration), stop)
            }
            _ => (TrapezoidalProfile::at_rest(1.0), 1.0),
        };
        Self { start, goal, translation, rotation, clock: PathClock::new(profile), stop }
    }

    fn pose_at(&self, parameter: f64) -> Isometry3<f64> {
        if parameter >= 1.0 {
            return self.goal;
        }
        let translation = self.start.translation.vector + self.translation * parameter;
        let rotation = UnitQuaternion::from_scaled_axis(self.rotation * parameter) * self.start.rotation;
        Isometry3::from_parts(Translation3::from(translation), rotation)
    }

    /// Moves on by `dt` seconds and returns the set-point.
    pub fn advance(&mut self, dt: f64) -> Isometry3<f64> {
        let state = self.clock.advance(dt);
        self.pose_at(state.position)
    }

    /// Pose at which the tool would come to rest if it were stopped now.
    pub fn stop_pose(&self) -> Isometry3<f64> {
        self.pose_at(self.clock.stop_position(self.stop))
    }

    /// Stops on the line, at the limits' `stop_acceleration`.
    pub fn brake(&mut self) {
        self.clock.brake(self.stop);
    }

    /// Whether it is at rest, at the goal or after a stop.
    pub fn is_done(&self) -> bool {
        self.clock.is_done()
    }
}

/// Follows a commanded twist: the velocity is ramped within the acceleration limits and integrated.
#[derive(Clone, Copy, Debug)]
pub struct TwistMotion {
    pose: Isometry3<f64>,
    /// Linear (m/s) then angular (rad/s) velocity of the tool frame, base frame.
    velocity: Vector6<f64>,
    target: Vector6<f64>,
    stopping: bool,
}

impl TwistMotion {
    /// At rest at `start`.
    pub fn new(start: Isometry3<f64>) -> Self {
        Self { pose: start, velocity: Vector6::zeros(), target: Vector6::zeros(), stopping: false }
    }

    /// Sets the desired `twist` (linear m/s, angular rad/s, base frame). If it exceeds an axis' maximum speed it is
    /// scaled down as a whole, which keeps its direction.
    pub fn set_target(&mut self, twist: Vector6<f64>, limits: &CartesianLimits) {
        let excess = ratio(&twist, &limits.max_velocity).max(1.0);
        self.target = twist / excess;
        self.stopping = false;
    }

    /// Moves on by `dt` seconds (> 0) and returns the set-point.
    pub fn advance(&mut self, dt: f64, limits: &CartesianLimits) -> Isometry3<f64> {
        let acceleration = if self.stopping { &limits.stop_acceleration } else { &limits.max_acceleration };
        let change = self.target - self.velocity;
        let excess = ratio(&change, acceleration) / dt;
        let next = if excess > 1.0 { self.velocity + change / excess } else { self.target };
        let mean = 0.5 * (self.velocity + next);
        self.velocity = next;
        self.pose = moved(&self.pose, &mean, dt);
        self.pose
    }

    /// Goes on from another pose.
    pub(super) fn move_to(&mut self, pose: Isometry3<f64>) {
        self.pose = pose;
    }

    /// Pose at which the tool would come to rest if it were stopped now.
    pub fn stop_pose(&self, limits: &CartesianLimits) -> Isometry3<f64> {
        moved(&self.pose, &self.velocity, 0.5 * ratio(&self.velocity, &limits.stop_acceleration))
    }

    /// Stops along the present direction, at the limits' `stop_acceleration`.
    pub fn brake(&mut self) {
        self.target = Vector6::zeros();
        self.stopping = true;
    }

    /// Whether the desired velocity is not zero.
    pub fn is_commanded(&self) -> bool {
        self.target != Vector6::zeros()
    }

    /// Whether it is at rest and the desired velocity is zero.
    pub fn is_done(&self) -> bool {
        self.velocity == Vector6::zeros() && self.target == Vector6::zeros()
    }
}

/// Maximum quotient of an entry's magnitude and its limit.
fn ratio(values: &Vector6<f64>, limits: &[f64; 6]) -> f64 {
    values.iter().zip(limits).map(|(value, limit)| value.abs() / limit).fold(0.0, f64::max)
}

/// `pose` after moving with `twist` for `time` seconds.
pub(super) fn moved(pose: &Isometry3<f64>, twist: &Vector6<f64>, time: f64) -> Isometry3<f64> {
    let linear = Vector3::new(twist[0], twist[1], twist[2]) * time;
    let angular = Vector3::new(twist[3], twist[4], twist[5]) * time;
    let mut rotation = UnitQuaternion::from_scaled_axis(angular) * pose.rotation;
    // Integration over hours must not let the quaternion's norm drift.
    rotation.renormalize_fast();
    Isometry3::from_parts(Translation3::from(pose.translation.vector + linear), rotation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pose(x: f64, y: f64, z: f64, roll: f64, pitch: f64, yaw: f64) -> Isometry3<f64> {
        Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
    }

    #[test]
    fn the_path_is_straight_and_every_axis_keeps_its_limits() {
        let limits =
            CartesianLimits { max_velocity: [0.03, 0.01, 0.05, 0.05, 0.02, 0.3], ..Default::default() };
        let (start, goal) = (pose(0.1, 0.2, 0.3, 0.0, 0.1, 0.2), pose(0.4, -0.2, 0.2, 1.0, -0.4, 2.0));
        let mut line = StraightLine::new(start, goal, 0.0, &limits);
        let direction = (goal.translation.vector - start.translation.vector).normalize();
        let (dt, mut previous, mut velocity) = (0.01, start, Vector6::zeros());
        while !line.is_done() {
            let now = line.advance(dt);
            let offset = now.translation.vector - start.translation.vector;
            assert!((offset - direction * offset.dot(&direction)).norm() < 1e-12);
            let linear = (now.translation.vector - previous.translation.vector) / dt;
            let angular = (now.rotation * previous.rotation.inverse()).scaled_axis() / dt;
            let rate = Vector6::new(linear.x, linear.y, linear.z, angular.x, angular.y, angular.z);
            assert!(ratio(&rate, &limits.max_velocity) < 1.0 + 1e-6);
            assert!(ratio(&(rate - velocity), &limits.max_acceleration) / dt < 1.0 + 1e-4);
            (previous, velocity) = (now, rate);
        }
        assert_eq!(previous, goal);
    }

    #[test]
    fn a_requested_duration_applies_when_it_is_slower() {
        let goal = pose(0.3, 0.0, 0.0, 0.0, 0.0, 0.0);
        for (asked, expected) in [(0.0, 13.0), (5.0, 13.0), (40.0, 40.0)] {
            let mut line = StraightLine::new(Isometry3::identity(), goal, asked, &CartesianLimits::default());
            line.advance(expected - 0.01);
            assert!(!line.is_done());
            line.advance(0.02);
            assert!(line.is_done());
        }
    }

    #[test]
    fn a_motion_to_the_present_pose_is_done_at_once() {
        let line = StraightLine::new(
            pose(1.0, 0.0, 0.0, 0.3, 0.0, 0.0),
            pose(1.0, 0.0, 0.0, 0.3, 0.0, 0.0),
            0.0,
            &CartesianLimits::default(),
        );
        assert!(line.is_done());
    }

    #[test]
    fn braking_a_line_stays_on_it_and_is_short() {
        let limits = CartesianLimits::default();
        let mut line =
            StraightLine::new(Isometry3::identity(), pose(0.3, 0.3, 0.0, 0.0, 0.0, 0.5), 0.0, &limits);
        let moving = line.advance(6.0);
        let stop = line.stop_pose();
        line.brake();
        let rest = line.advance(0.11);
        assert!(line.is_done() && pose_distance(&rest, &stop) < 1e-12);
        assert!((rest.translation.vector - moving.translation.vector).norm() < 0.0022);
        assert!((rest.translation.vector.x - rest.translation.vector.y).abs() < 1e-12);
    }

    #[test]
    fn a_twist_is_ramped_scaled_and_stopped() {
        let limits = CartesianLimits::default();
        let mut motion = TwistMotion::new(Isometry3::identity());
        motion.set_target(Vector6::new(0.3, 0.0, 0.15, 0.0, 0.0, 0.1), &limits);
        let mut previous = Vector6::zeros();
        for _ in 0..1_000 {
            motion.advance(0.01, &limits);
            assert!(ratio(&(motion.velocity - previous), &limits.max_acceleration) / 0.01 < 1.0 + 1e-9);
            previous = motion.velocity;
        }
        assert!((motion.velocity - Vector6::new(0.03, 0.0, 0.015, 0.0, 0.0, 0.01)).norm() < 1e-12);
        let expected = motion.stop_pose(&limits);
        motion.brake();
        for _ in 0..1_100 {
            motion.advance(0.0001, &limits);
        }
        assert!(motion.is_done() && pose_distance(&motion.pose, &expected) < 1e-4);
    }
}
