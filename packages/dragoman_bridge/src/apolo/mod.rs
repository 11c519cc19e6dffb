//! The protocol of the Apolo simulator, TCP port 12000 (Apolo port manual).
//!
//! # Map, in reading order
//!
//! 1. [`wire`]: the frames. [`wire::Command`] is the table of the commands; [`wire::Request`] is what a client sends,
//!    and at the same time a call of the ROS service that the table names.
//! 2. [`call`]: the [`Outcome`] of such a call.
//! 3. [`server`]: [`Connection`] answers one old client; uses the services of a world.
//! 4. [`client`]: [`Client`] sends requests to an old server; offers the services of a world. [`client::robot`]:
//!    periodic queries of a mobile robot of that world.
//! 5. `services` and `node` (feature `node`): the table of the services, sockets and ROS around the two.
//!
//! Neither core does I/O. Their owner feeds bytes, results of services and the time, and then drains `poll_*` until
//! each returns `None`; it calls `handle_timeout` when `poll_timeout` is due.

pub mod call;
pub mod client;
#[cfg(feature = "node")]
pub mod node;
pub mod server;
#[cfg(feature = "node")]
mod services;
pub mod wire;

pub use call::{Outcome, Refusal};
pub use client::{Client, ClientConfig, ClientEvent, ClientStatistics};
pub use server::{Connection, ConnectionEvent, ServerConfig, ServerStatistics};

pub use crate::CallId;
