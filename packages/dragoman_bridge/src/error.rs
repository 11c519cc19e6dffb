//! The error of starting one side of a bridge.

use std::net::SocketAddr;

use dragoman_ros::tasks::NodeError;

use crate::arm31::wire::VALUE_COUNT;

/// Error starting one side of a bridge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// Opening a port failed.
    #[error("cannot open {transport} port {address} for {protocol}: {source}")]
    Bind {
        /// TCP or UDP.
        transport: &'static str,
        /// Name of the protocol.
        protocol: &'static str,
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
    /// A parameter with a pose does not have three numbers.
    #[error("parameter {0} has three numbers: x and y in m, the direction in rad")]
    Pose(&'static str),
    /// The robot has too many joints for the 31-byte arm protocol.
    #[error("the robot has {joints} joints; the 31-byte arm protocol supports at most {VALUE_COUNT}")]
    TooManyJoints {
        /// Number of joints of the robot.
        joints: usize,
    },
    /// Wrong number of names in parameter `joint_names` of the 31-byte arm protocol's client side.
    #[error("parameter joint_names has {names} names; 1 to {VALUE_COUNT} are possible")]
    JointNames {
        /// Number of names.
        names: usize,
    },
    /// Error of the ROS node.
    #[error(transparent)]
    Node(NodeError),
}

dragoman_ros::from_node_error!(BridgeError);
