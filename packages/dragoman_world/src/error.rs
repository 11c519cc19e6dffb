//! What can be wrong with a request or with a world file.

/// A request that was refused; nothing has changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// No world of this name.
    #[error("there is no world {name:?}")]
    UnknownWorld {
        /// The name asked for.
        name: String,
    },
    /// Nothing of this name in the world, or in any.
    #[error("there is no {name:?}")]
    UnknownName {
        /// The name asked for.
        name: String,
    },
    /// The name is that of something else.
    #[error("{name} is no {expected}")]
    WrongKind {
        /// The name asked for.
        name: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// NaN, an infinity, or a value beyond what the world can hold.
    #[error("{field} is {value}; it lies between {least} and {most}")]
    OutOfRange {
        /// Which value.
        field: &'static str,
        /// The value.
        value: f64,
        /// The least that is taken.
        least: f64,
        /// The greatest that is taken.
        most: f64,
    },
    /// More values than the arm has joints.
    #[error("{robot} has {joints} joints, not {got}")]
    TooManyJoints {
        /// The arm.
        robot: String,
        /// Its joints.
        joints: usize,
        /// Values given.
        got: usize,
    },
    /// A joint value beyond its limits.
    #[error("joint {joint} of {robot}: {value} lies beyond its limits {lower} to {upper}")]
    JointLimit {
        /// The arm.
        robot: String,
        /// The joint.
        joint: String,
        /// The value given, rad or m.
        value: f64,
        /// Lower limit, rad or m.
        lower: f64,
        /// Upper limit, rad or m.
        upper: f64,
    },
}

/// A world file that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Not YAML, an unknown field, a missing one, a value of a wrong kind or size.
    #[error("{reason}")]
    Yaml {
        /// What is wrong, with line and column.
        reason: String,
    },
    /// The parts do not fit together.
    #[error("line {line}: {element}: {reason}")]
    Element {
        /// Line of the element's name, from 1; 0 where it is not known.
        line: usize,
        /// Name of the world, the object or the sensor.
        element: String,
        /// What is wrong.
        reason: String,
    },
}
