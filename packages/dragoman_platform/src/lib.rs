//! A mobile platform that finds its way: the platform controller behind Neobotix' PlatformCtrl protocol (seed 002), without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | [`controller`] | [`Platform`](controller::Platform): states, motion modes, commands; measurements in, velocities out |
//! | [`motion`] | paths and their following, stopping for obstacles, the motion mode automatic |
//! | [`planning`] | ways round obstacles and prohibited areas |
//! | [`localization`] | where the platform is in the map, by its laser |
//! | [`mapping`] | lines of scans, and maps of them |
//! | [`map`] | lines, prohibited areas, work area; stations and the ways between them |
//! | [`program`] | tasks, and their interpreter |
//! | [`replay`] | motions that were recorded, and driving them again |
//! | [`settings`] | all that can be set |
//! | [`documents`] | maps, roadmaps and programs as XML |
//! | [`parameters`] | the parameters by their keys, and `.ini` files |
//! | [`file_name`] | which names of files may come from outside |
//! | [`codes`] | states, modes and kinds with the protocol's numbers |
//! | [`import`] | documents as what the controller works with |
//! | `node` | the node: services and topics of a platform, in front of any base that is in ROS |
//!
//! Metres, radians, seconds; x ahead, angles counterclockwise. Times are since the start, on a clock that does not go back.

pub mod codes;
pub mod controller;
pub mod documents;
pub mod file_name;
pub mod import;
pub mod localization;
pub mod map;
pub mod mapping;
pub mod motion;
#[cfg(feature = "node")]
pub mod node;
pub mod parameters;
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
