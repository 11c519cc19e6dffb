//! A mobile platform that finds its way: the platform controller behind Neobotix' PlatformCtrl protocol (seed 002), without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | [`controller`] | [`Platform`](controller::Platform): states, motion modes, commands; measurements in, velocities out |
//! | [`motion`] | paths and their following, stopping for obstacles, the motion mode automatic |
//! | [`planning`] | ways round obstacles and prohibited areas |
//! | [`localization`] | where the platform is in the map, by its laser |
//! | [`mapping`] | lines of scans, and maps of them |
//! | [`program`] | tasks, and their interpreter |
//! | [`replay`] | motions that were recorded, and driving them again |
//! | [`settings`] | all that can be set |
//! | `node` | the node: services and topics of a platform, in front of any base that is in ROS |
//!
//! Metres, radians, seconds; x ahead, angles counterclockwise. Times are since the start, on a clock that does not go back.

pub mod controller;
pub mod localization;
pub mod mapping;
pub mod motion;
#[cfg(feature = "node")]
pub mod node;
pub mod planning;
pub mod program;
pub mod replay;
pub mod settings;

#[cfg(test)]
mod testing;

/// The README's example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
