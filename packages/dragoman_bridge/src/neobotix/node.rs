//! The edges of Neobotix' protocol: with `services`, the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the platform of a namespace |
//! | `connection.rs` | one of their connections |
//! | `clients.rs` | [`Command`](super::wire::Command)s as requests to the platform's services |
//! | `report.rs` | `/diagnostics` of the server side |

mod clients;
mod connection;
mod report;
mod server;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use server::{NeobotixServer, server_declarations, start_server};

/// Why an edge cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeobotixNodeError {
    /// A TCP port cannot be opened.
    #[error("cannot open TCP port {address} for Neobotix' protocol: {source}")]
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
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for NeobotixNodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}
