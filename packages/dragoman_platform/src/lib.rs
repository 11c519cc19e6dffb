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
//! | [`settings`] | all that can be set |
//! | [`geometry`] | points, segments, polygons, frames |
//!
//! Metres, radians, seconds; x ahead, angles counterclockwise. Times are since the start, on a clock that does not go back.

pub mod controller;
pub mod geometry;
pub mod localization;
pub mod map;
pub mod mapping;
pub mod motion;
pub mod planning;
pub mod settings;

#[cfg(test)]
mod testing;
