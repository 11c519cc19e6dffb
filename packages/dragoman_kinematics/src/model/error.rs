//! Errors in a robot description.

/// A description that cannot become a [`Model`](super::Model). Lengths are in metres, angles in radians.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ModelError {
    /// The text is not a URDF document, its links do not form a tree, or a part that the arm needs has a fault.
    #[error("robot description, {reason}")]
    Urdf {
        /// What is wrong, with line and element.
        reason: String,
    },
    /// The text is not a Denavit-Hartenberg or settings document.
    #[error("the YAML text cannot be read: {reason}")]
    Yaml {
        /// What the parser reported, with line and column.
        reason: String,
    },
    /// A number is NaN or, where that has no meaning, infinite.
    #[error("{element}: {field} is {value}, a finite number is needed")]
    NotFinite {
        /// Name of the joint, or `tool`.
        element: String,
        /// Name of the number.
        field: &'static str,
        value: f64,
    },
    /// The lower limit lies above the upper one, or a limit is NaN.
    #[error("joint {joint}: lower limit {lower} and upper limit {upper} enclose no range")]
    Limits {
        /// Name of the joint.
        joint: String,
        /// Lower limit, rad or m.
        lower: f64,
        /// Upper limit, rad or m.
        upper: f64,
    },
    /// A rate limit is not positive.
    #[error("joint {joint}: {field} limit {value} is not positive")]
    Rate {
        /// Name of the joint.
        joint: String,
        /// `velocity` or `acceleration`.
        field: &'static str,
        /// The limit, rad or m per second or second squared.
        value: f64,
    },
    /// A joint type with several degrees of freedom between base and tip.
    #[error("joint {joint}: type {kind} is not supported")]
    JointType {
        /// Name of the joint.
        joint: String,
        /// Its URDF type.
        kind: String,
    },
    /// A joint between base and tip that mimics another one.
    #[error("joint {joint} mimics {source_joint}: coupled joints are not supported in an arm")]
    Mimic {
        /// Name of the joint.
        joint: String,
        /// The joint it follows.
        source_joint: String,
    },
    /// Two joints or two links with the same name.
    #[error("the name {name} is used twice")]
    DuplicateName { name: String },
    /// A name that the description does not define.
    #[error("{name}, named by {referrer}, does not exist")]
    Missing {
        /// The missing name.
        name: String,
        /// The element that refers to it.
        referrer: String,
    },
    /// Several links could be the tip, and none was chosen.
    #[error("the tip link must be named, candidates are {candidates:?}")]
    AmbiguousTip {
        /// All links without children that a joint moves.
        candidates: Vec<String>,
    },
    /// The tip is not a descendant of the base.
    #[error("link {tip} does not descend from link {base}")]
    NotConnected {
        /// The chosen base link.
        base: String,
        /// The chosen tip link.
        tip: String,
    },
    /// No movable joint lies between base and tip.
    #[error("there is no movable joint")]
    NoJoints,
    /// More movable joints than the solvers are compiled for.
    #[error("{count} movable joints, at most {most} are supported")]
    TooManyJoints {
        /// Movable joints found.
        count: usize,
        /// The supported number.
        most: usize,
    },
    /// A changed tool, and no fixed joint that could hold it.
    #[error(
        "the tool differs from the description, but no fixed joint carries the tip link {tip}: add one to the URDF"
    )]
    NoToolJoint {
        /// The tip link.
        tip: String,
    },
    /// A list that must have one entry per joint has another length.
    #[error("{field} has {got} entries for {expected} joints")]
    WrongLength {
        /// Name of the list.
        field: &'static str,
        /// Number of joints.
        expected: usize,
        /// Entries given.
        got: usize,
    },
}
