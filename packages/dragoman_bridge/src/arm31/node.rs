//! The edges of the 31-byte protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: legacy clients drive the ROS arm of a namespace |
//! | `client.rs` | [`start_client`]: a legacy controller appears as the ROS arm of a namespace |
//! | `clients.rs` | [`ArmCall`](super::ArmCall)s as requests to the arm's services |
//! | `services.rs` | requests to the arm's services as [`ArmCall`](super::ArmCall)s |
//! | `topics.rs` | what the client core reports, as the arm's topics |

mod client;
mod clients;
mod server;
mod services;
mod topics;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use client::{ArmModel, client_declarations, start_client};
pub use server::{ArmServer, server_declarations, start_server};

/// Why an edge cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Arm31NodeError {
    /// The UDP port cannot be opened.
    #[error("cannot open UDP port {address} for the 31-byte arm protocol: {source}")]
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
    /// The robot is too large for the protocol.
    #[error(
        "the robot has {joints} joints; the 31-byte arm protocol tells of at most {}",
        super::wire::VALUE_COUNT
    )]
    TooManyJoints {
        /// Joints of the robot.
        joints: usize,
    },
    /// Parameter `joint_names` of the client side has too few or too many names.
    #[error("parameter joint_names has {names} names; 1 to {} are possible", super::wire::VALUE_COUNT)]
    JointNames {
        /// How many it has.
        names: usize,
    },
    /// As any node's.
    #[error(transparent)]
    Node(NodeError),
}

impl<E> From<E> for Arm31NodeError
where
    NodeError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Node(NodeError::from(error))
    }
}
