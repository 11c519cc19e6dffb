//! A trajectory in progress: where the drives should be by now, and whether they are there.

use super::trajectory::{Tolerance, Tolerances};

/// How a trajectory ended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum End {
    /// The goal was reached within its tolerances.
    #[error("reached")]
    Reached,
    /// Another command replaced it, or it was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A joint deviated too far from its path.
    #[error("joint {joint} is {error:.4} off its path; {tolerance:.4} is allowed")]
    PathTolerance {
        /// Index of the joint.
        joint: usize,
        /// Deviation, rad or m.
        error: f64,
        /// Tolerance, rad or m.
        tolerance: f64,
    },
    /// A joint did not reach the goal in time.
    #[error("joint {joint} is {error:.4} off its goal; {tolerance:.4} is allowed")]
    GoalTolerance {
        /// Index of the joint.
        joint: usize,
        /// Deviation, rad or m.
        error: f64,
        /// Tolerance, rad or m.
        tolerance: f64,
    },
    /// The drives stopped.
    #[error("{0}")]
    Stopped(String),
}

/// The set-points of the last cycles, to compare the actual positions with those that the drives should have reached by
/// now.
#[derive(Debug)]
pub(super) struct History {
    joints: usize,
    cycles: usize,
    positions: Vec<f64>,
    newest: usize,
}

impl History {
    /// A history of `cycles` cycles.
    pub(super) fn new(joints: usize, cycles: usize) -> Self {
        Self { joints, cycles: cycles.max(1), positions: vec![0.0; joints * cycles.max(1)], newest: 0 }
    }

    /// All joints have long been at `position`.
    pub(super) fn reset(&mut self, position: &[f64]) {
        for row in self.positions.chunks_exact_mut(self.joints.max(1)) {
            row.copy_from_slice(position);
        }
    }

    /// Adds a cycle.
    pub(super) fn push(&mut self, position: &[f64]) {
        self.newest = (self.newest + 1) % self.cycles;
        let at = self.newest * self.joints;
        if let Some(row) = self.positions.get_mut(at..at + self.joints) {
            row.copy_from_slice(position);
        }
    }

    /// A joint's set-point `ago` cycles ago.
    pub(super) fn ago(&self, joint: usize, ago: usize) -> f64 {
        let row = (self.newest + self.cycles - ago.min(self.cycles - 1)) % self.cycles;
        self.positions.get(row * self.joints + joint).copied().unwrap_or_default()
    }
}

/// The checks on a trajectory in progress.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Execution {
    /// The number of the trajectory, known to the caller that started it.
    pub(super) id: u64,
    tolerances: Tolerances,
}

impl Execution {
    /// A monitor with these tolerances.
    pub(super) fn new(id: u64, tolerances: Tolerances) -> Self {
        Self { id, tolerances }
    }

    /// The result, if the trajectory ends now. `late` is the time since the drives should have been at the goal, s,
    /// negative before that; `errors` gives position and velocity errors by joint.
    pub(super) fn check(&self, late: f64, errors: impl Iterator<Item = (f64, f64)>) -> Option<End> {
        if late < 0.0 {
            let (joint, error, tolerance) = exceeded(&self.tolerances.path, errors)?;
            return Some(End::PathTolerance { joint, error, tolerance });
        }
        match exceeded(&self.tolerances.goal, errors) {
            None => Some(End::Reached),
            Some((joint, error, tolerance)) if self.tolerances.goal_time > 0.0 => {
                (late > self.tolerances.goal_time).then_some(End::GoalTolerance { joint, error, tolerance })
            }
            Some(_) => None,
        }
    }
}

fn exceeded(tolerances: &[Tolerance], errors: impl Iterator<Item = (f64, f64)>) -> Option<(usize, f64, f64)> {
    let beyond = |error: f64, tolerance: Option<f64>| {
        tolerance.filter(|tolerance| error.abs() > *tolerance).map(|tolerance| (error, tolerance))
    };
    tolerances.iter().zip(errors).enumerate().find_map(|(joint, (tolerance, (position, velocity)))| {
        let found = beyond(position, tolerance.position).or_else(|| beyond(velocity, tolerance.velocity));
        found.map(|(error, tolerance)| (joint, error, tolerance))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution(goal_time: f64) -> Execution {
        let within = |position| vec![Tolerance { position: Some(position), velocity: None }];
        Execution::new(1, Tolerances { path: within(0.1), goal: within(0.01), goal_time })
    }

    fn check(execution: &Execution, late: f64, error: f64) -> Option<End> {
        execution.check(late, [(error, 0.0)].into_iter())
    }

    #[test]
    fn on_the_way_the_path_counts_and_then_the_goal() {
        let execution = execution(0.5);
        assert_eq!(check(&execution, -1.0, 0.05), None);
        assert_eq!(
            check(&execution, -1.0, -0.2),
            Some(End::PathTolerance { joint: 0, error: -0.2, tolerance: 0.1 })
        );
        assert_eq!(check(&execution, 0.1, 0.05), None);
        assert_eq!(check(&execution, 0.1, 0.005), Some(End::Reached));
        assert_eq!(
            check(&execution, 0.6, 0.05),
            Some(End::GoalTolerance { joint: 0, error: 0.05, tolerance: 0.01 })
        );
    }

    #[test]
    fn without_a_time_tolerance_the_goal_may_be_reached_at_any_time() {
        assert_eq!(check(&execution(0.0), 1e6, 0.05), None);
    }

    #[test]
    fn the_past_is_kept_as_far_as_it_is_needed() {
        let mut history = History::new(1, 4);
        history.reset(&[-1.0]);
        for position in 0..10 {
            history.push(&[f64::from(position)]);
        }
        assert_eq!([0, 1, 3, 9].map(|ago| history.ago(0, ago)), [9.0, 8.0, 6.0, 6.0]);
    }
}
