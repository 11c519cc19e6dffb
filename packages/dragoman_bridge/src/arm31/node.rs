//! The edges of the 31-byte protocol: the only files of this module that know sockets and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | `server.rs` | [`start_server`]: legacy clients drive the ROS arm of a namespace |
//! | `client.rs` | [`start_client`]: provides a legacy controller as the ROS arm of a namespace |
//! | `clients.rs` | [`ArmCall`](super::ArmCall)s as requests to the arm's services |
//! | `services.rs` | requests to the arm's services as [`ArmCall`](super::ArmCall)s |
//! | `topics.rs` | the client core's events as the arm's topics |

mod client;
mod clients;
mod server;
mod services;
mod topics;

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

pub use client::{ArmModel, client_declarations, start_client};
pub use server::{ArmServer, server_declarations, start_server};

/// Error starting one side of the bridge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Arm31NodeError {
    /// Opening the UDP port failed.
    #[error("cannot open UDP port {address} for the 31-byte arm protocol: {source}")]
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
    /// The robot has too many joints for the protocol.
    #[error(
        "the robot has {joints} joints; the 31-byte arm protocol supports at most {}",
        super::wire::VALUE_COUNT
    )]
    TooManyJoints {
        /// Number of joints of the robot.
        joints: usize,
    },
    /// Wrong number of names in the client side's parameter `joint_names`.
    #[error("parameter joint_names has {names} names; 1 to {} are possible", super::wire::VALUE_COUNT)]
    JointNames {
        /// Number of names.
        names: usize,
    },
    /// Error of the ROS node.
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
