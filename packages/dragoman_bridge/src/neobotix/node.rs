//! The edges of Neobotix' protocol: together with `services` the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: old clients use the platform of a namespace |
//! | `connection.rs` | one of their connections |
//! | `clients.rs` | [`Command`](super::wire::Command)s as requests to the platform's services |
//! | `report.rs` | `/diagnostics` of the server side |
//! | `client.rs` | [`start_client`]: provides a real platform in a namespace |
//! | `offers.rs` | requests to the platform's services as [`Command`](super::wire::Command)s |
//! | `picture.rs` | the platform's state as topics |

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

/// Error starting one side of the bridge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NeobotixNodeError {
    /// Opening a TCP port failed.
    #[error("cannot open TCP port {address} for Neobotix' protocol: {source}")]
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
    /// A parameter with a pose does not have three numbers.
    #[error("parameter {0} has three numbers: x and y in m, the direction in rad")]
    Pose(&'static str),
    /// Error of the ROS node.
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
