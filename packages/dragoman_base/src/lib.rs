//! Mobile bases: wire protocols, odometry, drivers, and the ROS node.
//!
//! | file | holds |
//! | --- | --- |
//! | [`kobuki`] | the Kobuki base: frames and sub-payloads on the serial line, and the driver |
//! | [`differential`] | other bases with two driven wheels and a line protocol |
//! | [`odometry`] | pose of a base with two driven wheels |
//! | `commander` | velocity commands to every base: permission, limits, timeout |
//! | `outbox` | bytes waiting to be sent to a base |
//! | `safety` | stops every base on failures |
//! | `geometry` | outer dimensions |
//! | [`base`] | common interface of the drivers |
//! | [`node`] | the ROS node |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod base;
mod commander;
pub mod differential;
mod geometry;
pub mod kobuki;
#[cfg(feature = "node")]
pub mod node;
pub mod odometry;
mod outbox;
mod safety;
