//! The protocol of Neobotix' PlatformCtrl, TCP ports 10000 and 10002 (PlatformCtrl guide).
//!
//! # Map, in reading order
//!
//! 1. [`wire`]: the messages. [`wire::CommandKind`] is the table of the commands; [`wire::Command`] is a client's
//!    message, [`wire::Reply`] a platform's.
//! 2. [`call`]: the [`Outcome`] of a call of a platform's service.
//! 3. [`server`]: [`Session`] answers one old client; uses the services of a platform.
//! 4. [`client`]: [`Client`] queries and commands a real platform; offers the services of a platform.
//! 5. `services` (feature `node`): the table of the services with their commands, for both sides.
//! 6. `node` (feature of that name): sockets and ROS around them.
//!
//! [`wire`], [`documents`], [`parameters`], [`program`], [`file_name`] and [`status`] are those of `dragoman_neobotix`, shared with
//! the platform.
//!
//! The cores have no I/O, no clock and no ROS type. They contain no platform behaviour.

pub mod call;
pub mod client;
#[cfg(feature = "node")]
pub mod node;
pub mod server;
#[cfg(feature = "node")]
pub mod services;

pub use call::{OutOfRange, Outcome, Refusal};
pub use client::{Client, ClientConfig, ClientEvent, ClientStatistics, Loss};
pub use server::{ServerConfig, ServerStatistics, Session, SessionEvent};

pub use crate::CallId;
pub use dragoman_neobotix::{codes as status, documents, file_name, parameters, program, wire};
