//! The edges of Apolo's protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the world of a namespace |
//! | `connection.rs` | one of their connections |
//! | `client.rs` | [`start_client`]: an old server's world appears in a namespace |
//! | `robots.rs` | its mobile robots: `cmd_vel`, `odom`, `scan`, `tf` |
//! | `clients.rs` | [`Request`](super::wire::Request)s as requests to the world's services |
//! | `services.rs` | requests to the world's services as [`Request`](super::wire::Request)s |

mod client;
mod clients;
mod connection;
mod robots;
mod server;
mod services;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use client::{client_declarations, start_client};
pub use server::{ApoloServer, server_declarations, start_server};

/// Why an edge cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApoloNodeError {
    /// The TCP port cannot be opened.
    #[error("cannot open TCP port {address} for Apolo's protocol: {source}")]
    Bind {
        /// The address that was asked for.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// A parameter is no address.
    #[error("'{text}' is no IP address")]
    Address {
        /// What was given.
        text: String,
    },
    /// Lists of one entry per robot have different lengths, or a robot comes twice.
    #[error("{reason}")]
    Robots {
        /// Which, in words.
        reason: String,
    },
    /// As any node's.
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
