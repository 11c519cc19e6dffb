//! The driver of an arm's drives on a CAN bus. All modules but [`thread`] are without I/O and clock.
//!
//! | file | holds |
//! | --- | --- |
//! | [`config`] | configuration of a group of drives |
//! | [`group`] | [`Group`]: the drives of one arm, which start, move and stop together |
//! | [`control`] | following positions with currents: what a controller gets and gives |
//! | `axis` | one joint with its drive: conversion to counts, reports, supervision |
//! | `whistle`, [`cia402`] | the messages to the two kinds of drives, and their order |
//! | `conversation` | requests and answers with deadlines and retries |
//! | `queue` | rows for an interpolating drive, ahead of the row it reads |
//! | [`reference`](mod@reference) | set-points from cycle to cycle: following commands, a trajectory, braking |
//! | `stream` | commands as a curve over their sender's time |
//! | [`trajectory`] | a joint trajectory and its interpolation |
//! | [`execution`] | a trajectory in progress: tolerances, and its result |
//! | `outbox` | frames waiting to be sent |
//! | [`fault`] | why a group stops; the record of emergencies |
//! | [`thread`] | the thread that runs a group on a bus |

mod axis;
pub mod cia402;
pub mod config;
pub mod control;
mod conversation;
pub mod execution;
pub mod fault;
pub mod group;
mod outbox;
mod queue;
pub mod reference;
mod stream;
pub mod thread;
pub mod trajectory;
mod whistle;

pub use config::{AxisConfig, ConfigError, ControlMode, DriveKind, GroupConfig};
pub use control::{Controller, Feedback, Payload};
pub use execution::End;
pub use fault::{EmergencyRecord, Fault};
pub use group::{Event, Group, GroupState, Measured};
pub use thread::{Clock, Drives, StartError};
