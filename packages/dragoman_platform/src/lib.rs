//! A mobile platform with navigation: the platform controller behind Neobotix' PlatformCtrl protocol (PlatformCtrl
//! guide), without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | [`controller`] | [`Platform`](controller::Platform): states, motion modes, commands; measurements in, velocities out |
//! | [`motion`] | paths and following them, stopping for obstacles, the motion mode automatic |
//! | [`planning`] | paths around obstacles and prohibited areas |
//! | [`localization`] | the platform's pose in the map, by laser |
//! | [`mapping`] | lines of scans, and maps made of them |
//! | [`program`] | tasks, and their interpreter; of `dragoman_neobotix` |
//! | [`replay`] | recorded motions and their replay |
//! | [`settings`] | all settings |
//! | [`tracking`] | moving objects in the laser's scans |
//! | [`startup`] | data that a platform keeps over a restart |
//! | `node` | the node: services and topics of a platform, for any base in ROS |
//!
//! Metres, radians, seconds; x ahead, angles counterclockwise. Times are since the start, on a monotonic clock.
//!
//! ```
//! use std::time::Duration;
//! use dragoman_geometry::{Pose, Twist};
//! use dragoman_platform::controller::{Input, Platform};
//! use dragoman_platform::settings::Settings;
//!
//! let mut platform = Platform::new(Settings::default()).unwrap();
//! let output = platform.cycle(&Input::at(Duration::from_millis(20), Pose::ORIGIN));
//! assert_eq!(output.twist, Twist::ZERO); // It is not initialized.
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod controller;
#[allow(clippy::indexing_slicing, reason = "numbers: matrices, grids, chains of points")]
pub mod localization;
#[allow(clippy::indexing_slicing, reason = "numbers: matrices, grids, chains of points")]
pub mod mapping;
#[allow(clippy::indexing_slicing, reason = "numbers: matrices, grids, chains of points")]
pub mod motion;
#[cfg(feature = "node")]
pub mod node;
#[allow(clippy::indexing_slicing, reason = "numbers: matrices, grids, chains of points")]
pub mod planning;
pub mod replay;
pub mod settings;
pub mod startup;
pub mod tracking;

pub use dragoman_neobotix::program;

#[cfg(test)]
mod testing;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
