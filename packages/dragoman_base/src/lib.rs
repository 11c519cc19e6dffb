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
//!
//! ```
//! use std::time::Duration;
//! use dragoman_base::odometry::{Measurement, Odometry, WheelGeometry};
//!
//! let mut odometry = Odometry::new(WheelGeometry::KOBUKI);
//! for ticks in [[0, 0], [300, 300]] {
//!     let interval = Duration::from_millis(100);
//!     odometry.update(Measurement { ticks, interval, speeds: None, gyro: None });
//! }
//! assert!((odometry.pose().x - 300.0 / WheelGeometry::KOBUKI.ticks_per_metre).abs() < 1e-9);
//! ```

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
