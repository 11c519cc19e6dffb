//! What can be wrong with a robot description.

/// A description that cannot become a [`Model`](super::Model). Lengths are in metres, angles in radians.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The text is not a URDF document.
    #[error("the URDF text cannot be read: {reason}")]
    Urdf {
        /// What the parser reported.
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
        /// Which number.
        field: &'static str,
        /// Its value.
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
    /// The joint axis has no direction.
    #[error("joint {joint}: axis ({x}, {y}, {z}) has no direction")]
    Axis {
        /// Name of the joint.
        joint: String,
        /// First component.
        x: f64,
        /// Second component.
        y: f64,
        /// Third component.
        z: f64,
    },
    /// A joint type with several degrees of freedom on the way from base to tip.
    #[error("joint {joint}: type {kind} is not supported")]
    JointType {
        /// Name of the joint.
        joint: String,
        /// Its URDF type.
        kind: String,
    },
    /// A joint that follows another one on the way from base to tip.
    #[error("joint {joint} mimics {source_joint}: coupled joints are not supported in an arm")]
    Mimic {
        /// Name of the joint.
        joint: String,
        /// The joint it follows.
        source_joint: String,
    },
    /// Joints that follow each other in a circle.
    #[error("joint {joint} mimics itself, by way of others or not")]
    MimicCircle {
        /// Name of one of them.
        joint: String,
    },
    /// Two joints or two links of one name.
    #[error("the name {name} is used twice")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that the description does not define.
    #[error("{name}, named by {referrer}, does not exist")]
    Missing {
        /// The name looked for.
        name: String,
        /// Who names it.
        referrer: String,
    },
    /// The links form no tree: a cycle, a link with two parents, or several roots.
    #[error("the links form no tree: {reason} at link {link}")]
    NotATree {
        /// The offending link.
        link: String,
        /// What is wrong there.
        reason: &'static str,
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
    /// A list that must have one entry per joint has another length.
    #[error("{field} has {got} entries for {expected} joints")]
    WrongLength {
        /// Which list.
        field: &'static str,
        /// Number of joints.
        expected: usize,
        /// Entries given.
        got: usize,
    },
}
