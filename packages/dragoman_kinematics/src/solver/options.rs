//! Options and results of inverse kinematics.

use std::time::Duration;

/// Selection of the pose coordinates that must be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoalMask {
    /// Position along x, y and z of the base frame.
    pub position: [bool; 3],
    /// Rotation about x, y and z of the tool frame. With one axis free, the tool may turn about it; with two, the third
    /// may tilt, but the tool does not turn about it.
    pub rotation: [bool; 3],
}

impl GoalMask {
    /// All six coordinates.
    pub const POSE: Self = Self { position: [true; 3], rotation: [true; 3] };
    /// Position alone, with any orientation.
    pub const POSITION: Self = Self { position: [true; 3], rotation: [false; 3] };
    /// Position and direction of the tool's z axis, free rotation about it: for rotationally symmetric tools and
    /// five-joint arms.
    pub const POINTING: Self = Self { position: [true; 3], rotation: [true, true, false] };
}

/// Options of the solver. The default requests a full pose to a micrometre and a microradian.
#[derive(Debug, Clone, PartialEq)]
pub struct IkOptions {
    /// Greatest distance from the target position, m.
    pub position_tolerance: f64,
    /// Greatest angle from the target orientation, rad.
    pub rotation_tolerance: f64,
    /// Coordinates that count.
    pub mask: GoalMask,
    /// Weight of a radian of orientation error relative to a metre of position error during iteration, m/rad.
    pub rotation_weight: f64,
    /// Most iterations from one starting configuration.
    pub max_iterations: u32,
    /// Most starting configurations of [`Robot::inverse`](super::Robot::inverse), the seed included.
    pub max_starts: u32,
    /// Wall clock time after which no new iterations start; the last ones take microseconds.
    pub time_limit: Duration,
    /// Start of the restart sequence: same inputs give the same answer.
    pub restart_seed: u64,
    /// Greatest change of any joint in one call of [`Robot::track`](super::Robot::track), rad or m.
    pub max_joint_step: f64,
}

impl Default for IkOptions {
    fn default() -> Self {
        Self {
            position_tolerance: 1e-6,
            rotation_tolerance: 1e-6,
            mask: GoalMask::POSE,
            rotation_weight: 0.3,
            max_iterations: 30,
            max_starts: 64,
            time_limit: Duration::from_millis(10),
            restart_seed: 0x9E37_79B9_7F4A_7C15,
            max_joint_step: 0.5,
        }
    }
}

/// Accuracy of a solution, and the effort of finding it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IkReport {
    /// Distance to the target position along the masked axes, m.
    pub position_error: f64,
    /// Angle to the target orientation about the masked axes, rad.
    pub rotation_error: f64,
    /// Iterations over all starts.
    pub iterations: u32,
    /// Starting configurations used.
    pub starts: u32,
}

/// Error of inverse kinematics.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IkError {
    /// A slice has another length than the robot has joints.
    #[error("{name} has {got} entries for {expected} joints")]
    WrongLength {
        /// Name of the slice.
        name: &'static str,
        /// Number of joints.
        expected: usize,
        /// Length given.
        got: usize,
    },
    /// The target, the seed or the twist contains NaN or an infinity.
    #[error("{name} contains a number that is not finite")]
    NotFinite {
        /// Name of the input.
        name: &'static str,
    },
    /// No configuration within the tolerances was found. `out` holds the best one, which lies within the joint
    /// limits; the report contains its distance from the target.
    #[error("no solution: the best of {} starts misses the target by {} m and {} rad",
        .0.starts, .0.position_error, .0.rotation_error)]
    NotConverged(IkReport),
}

impl IkError {
    /// Residuals of the best configuration, if there was a search.
    pub fn report(&self) -> Option<&IkReport> {
        match self {
            Self::NotConverged(report) => Some(report),
            _ => None,
        }
    }
}

/// Result of [`Robot::inverse_velocity`](super::Robot::inverse_velocity).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VelocityReport {
    /// Factor, 0 to 1, by which all joint velocities were scaled to keep the rate limits.
    pub scale: f64,
    /// Smallest singular value of the Jacobian that was used; the distance from a singularity.
    pub smallest_singular_value: f64,
    /// Norm of the part of the (unscaled) twist that the joint velocities do not produce, in m/s and rad/s mixed.
    pub residual: f64,
}
