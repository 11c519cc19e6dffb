//! Errors of requests and of world files.

/// Error of a request; nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum WorldError {
    #[error("there is no world {name:?}")]
    UnknownWorld {
        /// The requested name.
        name: String,
    },
    /// Unknown object in the world, or in all worlds.
    #[error("there is no {name:?}")]
    UnknownName {
        /// The requested name.
        name: String,
    },
    /// The object has another kind.
    #[error("{name} is not {expected}")]
    WrongKind {
        /// The requested name.
        name: String,
        /// The expected kind, with its article.
        expected: &'static str,
    },
    /// NaN, infinite, or out of range.
    #[error("{field} is {value}; it has to be between {least} and {most}")]
    OutOfRange {
        /// Name of the value.
        field: &'static str,
        value: f64,
        /// Minimum.
        least: f64,
        /// Maximum.
        most: f64,
    },
    /// A robot on wheels whose motors are off.
    #[error("the motors of {robot} are off")]
    MotorsOff {
        /// Name of the robot.
        robot: String,
    },
    /// More values than joints.
    #[error("{robot} has {joints} joints, not {got}")]
    TooManyJoints {
        /// Name of the arm.
        robot: String,
        /// Number of joints.
        joints: usize,
        /// Number of values.
        got: usize,
    },
    /// A joint position is out of its limits.
    #[error("joint {joint} of {robot}: {value} is beyond its limits {lower} to {upper}")]
    JointLimit {
        /// Name of the arm.
        robot: String,
        /// Name of the joint.
        joint: String,
        /// The position, rad or m.
        value: f64,
        /// Lower limit, rad or m.
        lower: f64,
        /// Upper limit, rad or m.
        upper: f64,
    },
}

/// Error loading a world file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Invalid YAML, an unknown field, a missing one, a value of a wrong type or size.
    #[error("{reason}")]
    Yaml {
        /// The error with line and column.
        reason: String,
    },
    /// An element is invalid or inconsistent.
    #[error("line {line}: {element}: {reason}")]
    Element {
        /// Line of the element's name, from 1; 0 if unknown.
        line: usize,
        /// Name of the world, the object or the sensor.
        element: String,
        /// The error.
        reason: String,
    },
}
