//! Options and results of inverse kinematics.

use nalgebra::{Unit, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};

/// Rotations of the tool that a goal leaves free. Axes are those of the tool frame.
///
/// As text, also in YAML: `none`, `all`, `about z`, `tilt x`, `about 0 0.6 0.8` (an axis of any length but zero).
///
/// ```
/// use dragoman_kinematics::FreeRotation;
/// assert_eq!("about 0 0 2".parse(), Ok(FreeRotation::Z));
/// assert_eq!(FreeRotation::X.to_string(), "about x");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FreeRotation {
    /// None: the whole orientation counts.
    #[default]
    None,
    /// The tool may turn about this axis, whose direction counts: rotationally symmetric tools, five-joint arms.
    About(Unit<Vector3<f64>>),
    /// The axis may tilt to any direction, but the tool does not turn about it.
    Tilt(Unit<Vector3<f64>>),
    /// All: any orientation.
    All,
}

impl FreeRotation {
    /// Free rotation about the tool's x axis.
    pub const X: Self = Self::About(Unit::new_unchecked(Vector3::new(1.0, 0.0, 0.0)));
    /// Free rotation about the tool's y axis.
    pub const Y: Self = Self::About(Unit::new_unchecked(Vector3::new(0.0, 1.0, 0.0)));
    /// Free rotation about the tool's z axis.
    pub const Z: Self = Self::About(Unit::new_unchecked(Vector3::new(0.0, 0.0, 1.0)));

    /// Free rotation about an axis of any length but zero, in the tool frame; `None` if it has no direction.
    pub fn about(axis: [f64; 3]) -> Option<Self> {
        direction(axis).map(Self::About)
    }

    /// Whether its axis, if it has one, is of unit length, which one made without a check may not be.
    pub fn is_valid(&self) -> bool {
        self.axis().is_none_or(|axis| is_unit(axis.norm_squared()))
    }

    /// The rotation nearest to that of `start` among those that a goal with this rule allows in place of `goal`.
    pub(crate) fn nearest(
        &self,
        start: &UnitQuaternion<f64>,
        goal: &UnitQuaternion<f64>,
    ) -> UnitQuaternion<f64> {
        match self {
            Self::None => *goal,
            Self::All => *start,
            // The rest of the goal's rotation without its turn about the axis: swing and twist, in the tool frame.
            Self::About(axis) => goal * twist(&(start.inverse() * goal), axis).inverse(),
            Self::Tilt(axis) => start * twist(&(start.inverse() * goal), axis),
        }
    }

    /// The axis that the rule is about.
    pub fn axis(&self) -> Option<Unit<Vector3<f64>>> {
        match self {
            Self::About(axis) | Self::Tilt(axis) => Some(*axis),
            Self::None | Self::All => None,
        }
    }
}

/// The direction of a vector of any length but zero.
fn direction(axis: [f64; 3]) -> Option<Unit<Vector3<f64>>> {
    let largest = axis.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    // Scaled first: the squares of huge or tiny components must neither overflow nor vanish.
    let scaled = Vector3::from(axis) / largest;
    let is_direction = largest >= f64::MIN_POSITIVE && scaled.iter().all(|value| value.is_finite());
    is_direction.then(|| Unit::new_normalize(scaled))
}

/// A text that is not a [`FreeRotation`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "'{text}' is not a free rotation: none, all, about or tilt; then x, y, z or three numbers with a direction"
)]
pub struct FreeRotationError {
    text: String,
}

impl std::str::FromStr for FreeRotation {
    type Err = FreeRotationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let axis = |words: &[&str]| match words {
            ["x"] => direction([1.0, 0.0, 0.0]),
            ["y"] => direction([0.0, 1.0, 0.0]),
            ["z"] => direction([0.0, 0.0, 1.0]),
            [x, y, z] => direction([x.parse().ok()?, y.parse().ok()?, z.parse().ok()?]),
            _ => None,
        };
        let parsed = match words.as_slice() {
            ["none"] => Some(Self::None),
            ["all"] => Some(Self::All),
            ["about", words @ ..] => axis(words).map(Self::About),
            ["tilt", words @ ..] => axis(words).map(Self::Tilt),
            _ => None,
        };
        parsed.ok_or_else(|| FreeRotationError { text: text.to_owned() })
    }
}

impl TryFrom<String> for FreeRotation {
    type Error = FreeRotationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<FreeRotation> for String {
    fn from(free: FreeRotation) -> Self {
        free.to_string()
    }
}

impl std::fmt::Display for FreeRotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (word, axis) = match self {
            Self::None => return f.write_str("none"),
            Self::All => return f.write_str("all"),
            Self::About(axis) => ("about", axis),
            Self::Tilt(axis) => ("tilt", axis),
        };
        match [axis.x, axis.y, axis.z] {
            [1.0, 0.0, 0.0] => write!(f, "{word} x"),
            [0.0, 1.0, 0.0] => write!(f, "{word} y"),
            [0.0, 0.0, 1.0] => write!(f, "{word} z"),
            [x, y, z] => write!(f, "{word} {x} {y} {z}"),
        }
    }
}

/// The turn about `axis` in `rotation`, which is a swing of the axis after it; none if the axis is reversed.
fn twist(rotation: &UnitQuaternion<f64>, axis: &Unit<Vector3<f64>>) -> UnitQuaternion<f64> {
    let along = rotation.imag().dot(axis);
    if rotation.w.hypot(along) < 1e-9 {
        return UnitQuaternion::identity();
    }
    UnitQuaternion::from_axis_angle(axis, 2.0 * along.atan2(rotation.w))
}

/// Selection of the pose coordinates that must be met.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoalMask {
    /// Position along x, y and z of the base frame.
    pub position: [bool; 3],
    /// Rotations of the tool that do not count.
    pub free: FreeRotation,
}

impl GoalMask {
    /// All six coordinates.
    pub const POSE: Self = Self { position: [true; 3], free: FreeRotation::None };
    /// Position alone, with any orientation.
    pub const POSITION: Self = Self { position: [true; 3], free: FreeRotation::All };
    /// Position and direction of the tool's z axis, free rotation about it.
    pub const POINTING: Self = Self { position: [true; 3], free: FreeRotation::Z };
}

/// Options of the solver. The default requests a full pose to a micrometre and a microradian.
#[derive(Debug, Clone, PartialEq)]
pub struct IkOptions {
    /// Maximum distance from the target position, m; positive.
    pub position_tolerance: f64,
    /// Maximum angle from the target orientation, rad; positive.
    pub rotation_tolerance: f64,
    /// Coordinates that count.
    pub mask: GoalMask,
    /// Weight of a radian of orientation error relative to a metre of position error during iteration, m/rad; positive.
    pub rotation_weight: f64,
    /// Maximum number of iterations from one starting configuration; at least 1.
    pub max_iterations: u32,
    /// Maximum number of starting configurations of [`Robot::inverse`](super::Robot::inverse), the seed included; at least 1.
    pub max_starts: u32,
    /// Maximum number of iterations of one call, from all starting configurations together; at least 1.
    pub max_total_iterations: u32,
    /// Start of the restart sequence: same inputs give the same answer.
    pub restart_seed: u64,
    /// Maximum change of any joint in one call of [`Robot::track`](super::Robot::track), rad or m; positive.
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
            max_starts: 256,
            max_total_iterations: 400,
            restart_seed: 0x9E37_79B9_7F4A_7C15,
            max_joint_step: 0.5,
        }
    }
}

impl IkOptions {
    /// Checks every value.
    ///
    /// # Errors
    /// [`IkError::InvalidOption`].
    pub fn check(&self) -> Result<(), IkError> {
        let numbers = [
            ("position_tolerance", self.position_tolerance),
            ("rotation_tolerance", self.rotation_tolerance),
            ("rotation_weight", self.rotation_weight),
            ("max_joint_step", self.max_joint_step),
        ];
        for (name, value) in numbers {
            if !(value.is_finite() && value > 0.0) {
                return Err(IkError::InvalidOption { name, value });
            }
        }
        let counts = [
            ("max_iterations", self.max_iterations),
            ("max_starts", self.max_starts),
            ("max_total_iterations", self.max_total_iterations),
        ];
        for (name, count) in counts {
            if count == 0 {
                return Err(IkError::InvalidOption { name, value: 0.0 });
            }
        }
        // The axis may have been made without a check of its length.
        match self.mask.free.axis().map(|axis| axis.norm_squared()) {
            Some(square) if !is_unit(square) => {
                Err(IkError::InvalidOption { name: "mask.free", value: square.sqrt() })
            }
            _ => Ok(()),
        }
    }
}

/// Whether the square of a length is 1, but for rounding, also to single precision.
pub(super) fn is_unit(square: f64) -> bool {
    (square - 1.0).abs() < 2e-6
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchEnd {
    /// A configuration within the tolerances was found.
    Converged,
    /// The target is farther away than the stretched arm reaches.
    OutOfReach,
    /// The closed form shows that no configuration within the joint limits exists.
    NoBranch,
    /// [`IkOptions::max_starts`] was reached.
    Starts,
    /// [`IkOptions::max_total_iterations`] was reached.
    Iterations,
    /// [`Robot::track`](super::Robot::track): no configuration within [`IkOptions::max_joint_step`] was found.
    Blocked,
}

impl std::fmt::Display for SearchEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::OutOfReach => "the target is out of reach",
            Self::NoBranch => "no configuration is within the joint limits",
            Self::Starts => "gave up at max_starts",
            Self::Iterations => "gave up at max_total_iterations",
            Self::Blocked => "no configuration is within max_joint_step",
        })
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
    /// Why the search ended, and which limit ended it if it gave up.
    pub end: SearchEnd,
}

/// Error of inverse kinematics.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
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
    /// The quaternion of the target is not of unit length.
    #[error("the quaternion of the target has length {length}, not 1")]
    NotUnit { length: f64 },
    /// An option is NaN, infinite, zero or negative.
    #[error("option {name} is {value}, but must be positive and finite, and an axis of length 1")]
    InvalidOption {
        /// Name of the option.
        name: &'static str,
        value: f64,
    },
    /// No configuration within the tolerances was found. `out` holds the best one, which lies within the joint
    /// limits; the report contains its distance from the target, and why the search ended.
    #[error("no solution ({}): the best of {} starts misses the target by {} m and {} rad",
        .0.end, .0.starts, .0.position_error, .0.rotation_error)]
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
    /// Minimum singular value of the Jacobian that was used; the distance from a singularity.
    pub smallest_singular_value: f64,
    /// Norm of the part of the (unscaled) twist that the joint velocities do not produce, in m/s and rad/s mixed.
    pub residual: f64,
}
