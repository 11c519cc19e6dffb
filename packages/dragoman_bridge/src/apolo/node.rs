//! The edges of Apolo's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the world of a namespace |
//! | `connection.rs` | one of their connections |
//! | `client.rs` | [`start_client`]: provides an old server's world in a namespace |
//! | `robots.rs` | its mobile robots: `cmd_vel`, `odom`, `scan`, `tf` |
//! | `clients.rs` | [`Request`](super::wire::Request)s as requests to the world's services |
//! | `offers.rs` | requests to the world's services as [`Request`](super::wire::Request)s |

mod client;
mod clients;
mod connection;
mod offers;
mod robots;
mod server;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use client::{client_declarations, start_client};
pub use server::{ApoloServer, server_declarations, start_server};

/// Error starting one side of the bridge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApoloNodeError {
    /// Opening the TCP port failed.
    #[error("cannot open TCP port {address} for Apolo's protocol: {source}")]
    Bind {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// A parameter is not a valid address.
    #[error("'{text}' is not an IP address")]
    Address {
        /// The parameter's value.
        text: String,
    },
    /// Lists with one entry per robot have different lengths, or a robot appears twice.
    #[error("{reason}")]
    Robots {
        /// Description of the mismatch.
        reason: String,
    },
    /// Error of the ROS node.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for ApoloNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}
