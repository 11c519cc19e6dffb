//! Motion of the platform: paths and following them, goals, stopping for obstacles.
//!
//! | file | holds |
//! | --- | --- |
//! | [`curve`] | paths as curves: straight, Bezier, chains of points with rounded corners; permitted speeds |
//! | [`follow`] | following a curve, turning on the spot |
//! | [`safety`] | maximum speed towards sensed obstacles |
//! | [`obstacles`] | sensed obstacles, current and remembered |
//! | `chain.rs` | progress along a chain of points |
//! | [`automatic`] | the motion mode automatic: the sequence of steps to a goal |

pub mod automatic;
mod chain;
pub mod curve;
pub mod follow;
pub mod obstacles;
pub mod safety;
