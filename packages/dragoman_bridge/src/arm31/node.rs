//! The edges of the 31-byte protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: legacy clients drive the ROS arm of a namespace |
//! | `client.rs` | [`start_client`]: provides a legacy controller as the ROS arm of a namespace |
//! | `clients.rs` | [`ArmCall`](super::ArmCall)s as requests to the arm's services |
//! | `messages.rs` | the server's traffic as text |
//! | `topics.rs` | the client core's events as the arm's topics |

mod client;
mod clients;
mod messages;
mod server;
mod topics;

pub use client::{ArmModel, ClientParameters, start_client};
pub use server::{ArmServer, ServerParameters, start_server};

/// Name of the protocol in messages.
const PROTOCOL: &str = "the 31-byte arm protocol";
