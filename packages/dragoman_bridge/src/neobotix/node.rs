//! The edges of Neobotix' protocol: with `services`, the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the platform of a namespace |
//! | `connection.rs` | one of their connections |
//! | `clients.rs` | [`Command`](super::wire::Command)s as requests to the platform's services |
//! | `report.rs` | `/diagnostics` of the server side |
//! | `client.rs` | [`start_client`]: a real platform appears in a namespace |
//! | `offers.rs` | requests to the platform's services as [`Command`](super::wire::Command)s |
//! | `picture.rs` | what it tells, as topics |

mod client;
mod clients;
mod connection;
mod offers;
mod picture;
mod report;
mod server;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use client::{client_declarations, start_client};
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
    /// A pose of another length.
    #[error("parameter {0} has three numbers: x and y in m, the direction in rad")]
    Pose(&'static str),
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
