//! How the platform moves: paths, their following, goals, stopping for obstacles.
//!
//! | file | holds |
//! | --- | --- |
//! | [`curve`] | paths as curves: straight, Bezier, chains of points with rounded corners; how fast they may be driven |
//! | [`follow`] | keeping to a curve, turning on the spot |
//! | [`safety`] | how fast the platform may go on towards what its sensors see |
//! | [`obstacles`] | what its sensors see, and have seen |
//! | `chain.rs` | how far a platform has come along a chain of points |
//! | [`automatic`] | the motion mode automatic: what is done for a goal, one after the other |

pub mod automatic;
mod chain;
pub mod curve;
pub mod follow;
pub mod obstacles;
pub mod safety;
