//! Paths round obstacles: bodies of an arm and of its surroundings, a planner in joint space, and timing by the limits.
//!
//! Map, in the order of reading:
//!
//! | file | holds |
//! | --- | --- |
//! | `shape.rs` | [`Shape`]; the only file that converts to parry3d |
//! | `bodies.rs` | [`ArmBodies`]: the collision shapes of an arm's links, and which pairs of them are checked |
//! | `scene.rs` | [`Scene`]: what stands around the arm |
//! | `check.rs` | [`Checker`]: configurations, and motions by few samples, each of which covers as much as its distances allow |
//! | `search.rs` | [`plan`]: RRT-Connect and shortcuts |
//! | `line.rs` | [`line()`]: straight lines of the tool |
//! | `timing.rs` | [`time`]: round corners, and the fastest motion along a path within the limits |
//!
//! A checked motion keeps the clearance everywhere, not only at its samples. At the samples links are one and a half
//! clearances away from the scene, and two from each other. So no link may move by more than half a clearance, and two links
//! by one as seen from each other, before the next sample is due; and as much farther as their distance at the sample is
//! greater. Distances are lower bounds. This holds for straight motions in joint space and for rounded corners. It does not
//! include how a controller interpolates the points of a [`Trajectory`], nor how well the arm follows.
//!
//! Exempt are links that are too near to each other where the arm starts ([`Checker::leave`]).
//!
//! Metres, radians and seconds; all poses are in the frame of the arm's base. No clock and no thread: the same question
//! has the same answer.

mod bodies;
mod check;
mod line;
mod scene;
mod search;
mod shape;
#[cfg(test)]
mod tests;
mod timing;

pub use bodies::ArmBodies;
pub use check::{Checker, Collision};
pub use line::line;
pub use scene::Scene;
pub use search::{PlanOptions, Planned, START_TOLERANCE, plan, plan_while};
pub use shape::{Shape, ShapeError};
pub use timing::{Trajectory, TrajectoryPoint, time};

use crate::ModelError;

/// Why there is no path.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum PlanningError {
    /// The description of the arm is not usable.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A collision shape is not usable.
    #[error("{body}: {reason}")]
    Shape {
        /// The link or the body of the scene.
        body: String,
        /// What is wrong with its shape.
        reason: ShapeError,
    },
    /// A list of joint positions has another number of values than the arm has joints.
    #[error("{what}: {found} values for {needed} joints")]
    WrongLength {
        /// The start or a goal.
        what: &'static str,
        /// Number of joints.
        needed: usize,
        /// Number of values.
        found: usize,
    },
    /// A position is not finite, or outside of the joint's limits; a start may be [`START_TOLERANCE`] outside.
    #[error("{what}: {value} of joint {joint} is not within {lower} to {upper}")]
    Limit {
        /// The start or a goal.
        what: &'static str,
        joint: String,
        /// Its position, rad or m.
        value: f64,
        /// Its lower limit, rad or m.
        lower: f64,
        /// Its upper limit, rad or m.
        upper: f64,
    },
    /// The arm collides where it is.
    #[error("at the start, {0}")]
    StartCollides(Collision),
    /// The arm collides at every goal; the first collision.
    #[error("at the goal, {0}")]
    GoalCollides(Collision),
    /// No goal was given.
    #[error("there is no goal")]
    NoGoal,
    /// The search has ended without a path: there is none, or it is hard to find.
    #[error("no path was found in {iterations} iterations")]
    NotFound {
        /// The iterations that were allowed.
        iterations: u32,
    },
    /// The search was ended from outside.
    #[error("the search was ended after {iterations} iterations")]
    Ended {
        /// The iterations so far.
        iterations: u32,
    },
    /// The tool cannot move straight to its target.
    #[error("the line ends after {:.0} % of its length: {reason}", share * 100.0)]
    Line {
        /// The part of the line up to the obstacle.
        share: f64,
        /// What is in the way.
        reason: String,
    },
    /// A motion cannot be timed without this limit.
    #[error("joint {joint} has no {limit} limit")]
    NoLimit {
        joint: String,
        /// `velocity` or `acceleration`.
        limit: &'static str,
    },
}
