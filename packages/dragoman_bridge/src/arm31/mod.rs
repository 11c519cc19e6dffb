//! The 31-byte UDP arm protocol (Ranger thesis: appendix A, 3.6, listings of the message handler).
//!
//! # Map, in reading order
//!
//! 1. [`wire`]: the 31 bytes. [`wire::Command`] is the table of the 20 commands, [`wire::Datagram`] the checked
//!    view, [`wire::Request`], [`wire::Reply`] and [`wire::Notice`] the parsed forms.
//! 2. [`call`]: both sides' interface to ROS: [`ArmCall`], one variant per service of the arm, and its [`Outcome`].
//! 3. [`rotation`]: roll, pitch, yaw to quaternion and back.
//! 4. [`server`]: [`Server`] answers old clients; uses the arm's services and topics.
//! 5. [`client`]: [`Client`] drives an old controller; offers the arm's services and topics.
//! 6. `services` and `node` (feature `node`): the table of the services, sockets and ROS around the two.
//!
//! Neither core does I/O. Their owner feeds datagrams, service results, measurements and the time, and then
//! drains `poll_*` until each returns `None`; it calls `handle_timeout` when `poll_timeout` is due.

pub mod call;
pub mod client;
#[cfg(feature = "node")]
pub mod node;
pub mod rotation;
pub mod server;
#[cfg(feature = "node")]
mod services;
pub mod wire;

pub use call::{ArmCall, CommandMode, InvalidMode, MotionEvent, Outcome, Refusal};
pub use client::state::{ArmState, MotionState, Tolerances, ToolPose};
pub use client::{Client, ClientConfig, ClientEvent, ClientStatistics};
pub use server::{Server, ServerConfig, ServerStatistics};

pub use crate::CallId;
