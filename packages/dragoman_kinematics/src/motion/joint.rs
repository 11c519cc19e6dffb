//! Synchronized joint motion: every joint moves along its own trapezoid and all finish together.
//! Source: Ranger thesis, 3.5 (OCL's `nAxesGeneratorPos`) and `naxestrajgen.cpf`.

use serde::{Deserialize, Serialize};

use super::cartesian::parameter_limit;
use super::trapezoid::{AxisLimits, PathClock, TrapezoidalProfile};

/// Limits per joint, from the base; one entry per joint of the robot: rad or m.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JointMotionLimits {
    /// Minimum position, rad or m; may be minus infinity; the robot model's own limit applies as well.
    pub lower: Vec<f64>,
    /// Maximum position, rad or m; may be infinity; the robot model's own limit applies as well.
    pub upper: Vec<f64>,
    /// Maximum speed of planned joint motions, rad/s or m/s.
    pub max_velocity: Vec<f64>,
    /// Maximum acceleration of planned joint motions, rad/s^2 or m/s^2.
    pub max_acceleration: Vec<f64>,
    /// Deceleration of a stop, rad/s^2 or m/s^2.
    pub stop_acceleration: Vec<f64>,
    /// Maximum rate of a joint in twists and joint motions, rad/s or m/s; the robot model's own limit applies as well.
    pub max_rate: Vec<f64>,
    /// Whether `max_rate` also holds in lines and shapes, which then slow down. If not, the drives' limits are all that
    /// limits the joints there.
    pub limit_paths: bool,
}

impl Default for JointMotionLimits {
    /// `naxestrajgen.cpf`, and positions and rates of `jointlimiter.cpf`, of the six joints of Ranger Mark I. The rates
    /// hold in speed mode only (`jointlimiter.h`).
    #[expect(clippy::approx_constant, reason = "the limits are measured, none of them is pi")]
    fn default() -> Self {
        Self {
            lower: vec![-4.713, -0.785, -2.35, -3.142, 0.785, -3.142],
            upper: vec![4.713, 3.926, 1.6, 3.142, 3.926, 3.142],
            max_velocity: vec![0.07, 0.08, 0.10, 0.10, 0.10, 0.10],
            max_acceleration: vec![0.5; 6],
            stop_acceleration: vec![1.0; 6],
            max_rate: vec![0.2; 6],
            limit_paths: false,
        }
    }
}

/// A motion along a straight line in joint space. Its buffers are sized once, by [`new`](Self::new).
#[derive(Clone, Debug)]
pub struct JointTrajectory {
    start: Vec<f64>,
    goal: Vec<f64>,
    delta: Vec<f64>,
    clock: PathClock,
    stop: f64,
}

impl JointTrajectory {
    /// At rest, for a robot of `joints` joints.
    pub fn new(joints: usize) -> Self {
        Self {
            start: vec![0.0; joints],
            goal: vec![0.0; joints],
            delta: vec![0.0; joints],
            clock: PathClock::new(TrapezoidalProfile::at_rest(1.0)),
            stop: 1.0,
        }
    }

    /// Starts from rest at `start` towards rest at `goal` (one entry per joint, rad or m), at the limits or in
    /// `min_duration` seconds, whichever is slower. Does not allocate.
    pub fn begin(&mut self, start: &[f64], goal: &[f64], min_duration: f64, limits: &JointMotionLimits) {
        self.start.copy_from_slice(start);
        self.goal.copy_from_slice(goal);
        for (delta, (from, to)) in self.delta.iter_mut().zip(start.iter().zip(goal)) {
            *delta = to - from;
        }
        let rates = (
            parameter_limit(&self.delta, &limits.max_velocity),
            parameter_limit(&self.delta, &limits.max_acceleration),
            parameter_limit(&self.delta, &limits.stop_acceleration),
        );
        let (profile, stop) = match rates {
            (Some(velocity), Some(acceleration), Some(stop)) => {
                let limits = AxisLimits { velocity, acceleration };
                (TrapezoidalProfile::new(0.0, 1.0, limits).stretched(min_duration), stop)
            }
            _ => (TrapezoidalProfile::at_rest(1.0), 1.0),
        };
        self.clock = PathClock::new(profile);
        self.stop = stop;
    }

    /// Moves on by `dt` seconds and writes the set-point into `out`.
    pub fn advance(&mut self, dt: f64, out: &mut [f64]) {
        let parameter = self.clock.advance(dt).position;
        if parameter >= 1.0 {
            out.copy_from_slice(&self.goal);
            return;
        }
        for (value, (start, delta)) in out.iter_mut().zip(self.start.iter().zip(&self.delta)) {
            *value = start + delta * parameter;
        }
    }

    /// Stops on the line in joint space, at the limits' `stop_acceleration`.
    pub fn brake(&mut self) {
        self.clock.brake(self.stop);
    }

    /// Whether it is at rest, at the goal or after a stop.
    pub fn is_done(&self) -> bool {
        self.clock.is_done()
    }
}

/// Distance between two configurations as in the Ranger thesis: the Euclidean norm, rad (and m).
pub fn joint_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_joints_finish_together_within_their_limits() {
        let limits = JointMotionLimits::default();
        let (start, goal) = ([0.0, 1.0, -1.0, 0.3, 0.0, 0.5], [1.0, 0.9, 1.0, 0.3, -0.01, -0.5]);
        let mut motion = JointTrajectory::new(6);
        motion.begin(&start, &goal, 0.0, &limits);
        let (dt, mut previous, mut now) = (0.02, start, [0.0; 6]);
        let mut moved = 0.0_f64;
        while !motion.is_done() {
            motion.advance(dt, &mut now);
            for joint in 0..6 {
                assert!((now[joint] - previous[joint]).abs() <= limits.max_velocity[joint] * dt + 1e-12);
            }
            let share = (now[0] - start[0]) / (goal[0] - start[0]);
            assert!((now[2] - start[2] - share * 2.0).abs() < 1e-12, "straight in joint space");
            moved += dt;
            previous = now;
        }
        assert_eq!(now, goal);
        // Joint 2 has the longest way: 2 rad at 0.1 rad/s and 0.5 rad/s^2.
        assert!((moved - 20.2).abs() < 2.0 * dt);
    }

    #[test]
    fn a_stop_is_bounded_by_the_deceleration() {
        let mut motion = JointTrajectory::new(6);
        motion.begin(&[0.0; 6], &[1.0; 6], 0.0, &JointMotionLimits::default());
        let (mut moving, mut rest) = ([0.0; 6], [0.0; 6]);
        motion.advance(5.0, &mut moving);
        motion.brake();
        motion.advance(0.0701, &mut rest);
        assert!(motion.is_done());
        assert!((rest[0] - moving[0] - 0.07 * 0.07 / 2.0).abs() < 1e-9);
    }
}
