//! Legacy wire protocols, each with a server side (old clients drive ROS robots) and a client side
//! (an old controller is provided in ROS as an ordinary robot).
//!
//! # Map
//!
//! | module | protocol | transport |
//! | --- | --- | --- |
//! | [`apolo`] | Apolo simulator (Apolo port manual) | TCP 12000 |
//! | [`arm31`] | 31-byte arm protocol of the Ranger manipulator (Ranger thesis, appendix A) | UDP 5031 |
//! | [`neobotix`] | Neobotix' PlatformCtrl (PlatformCtrl guide) | TCP 10000, 10002 |
//! | [`player`] | Player 2.1 to 3.1, also Stage | TCP 6665 |
//! | [`machine`] | any, by its description | serial line, TCP, UDP, CAN |
//!
//! [`session`] is the common interface of the server sides of the three TCP protocols; `calls` has the open calls of
//! the client sides. With feature `node`: `tcp` has the sockets of the TCP protocols, `ports` opens the ports,
//! [`services`] has the types of the tables of services, `clock` has the time for the cores, `error` the error of
//! starting a side, `client_node` a running client side, and `clients` publishes the connected clients.
//!
//! Read every protocol from the wire inwards: `wire` (layout, no state), then `server` and `client` (state, but no
//! socket, clock, thread or ROS type). Only the outermost files know sockets and ROS.
//!
//! ```
//! use std::time::Duration;
//! use dragoman_bridge::player::server::{Server, ServerConfig};
//!
//! let mut server = Server::new(ServerConfig::default(), Vec::new());
//! let client = server.handle_connected(6665);
//! let banner = server.poll_transmit(Duration::ZERO, client).unwrap();
//! assert!(banner.starts_with(b"Player v.3.1.1-dev"));
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod apolo;
pub mod arm31;
mod calls;
#[cfg(feature = "node")]
mod client_node;
#[cfg(feature = "node")]
mod clients;
#[cfg(feature = "node")]
mod clock;
#[cfg(feature = "node")]
mod error;
pub mod machine;
pub mod neobotix;
pub mod player;
#[cfg(feature = "node")]
mod ports;
#[cfg(feature = "node")]
pub mod services;
pub mod session;
#[cfg(feature = "node")]
mod tcp;

pub use calls::CallId;
#[cfg(feature = "node")]
pub use client_node::ClientNode;
#[cfg(feature = "node")]
pub use error::BridgeError;
