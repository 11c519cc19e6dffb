//! Errors, with the names that r2r gives them where r2r has the same case.

use crate::qos_overrides::InvalidOverride;
use crate::remapping::NoRule;

/// Result of an operation of this layer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong when talking ROS.
#[derive(thiserror::Error, Clone, Debug)]
#[allow(non_camel_case_types)]
#[non_exhaustive]
pub enum Error {
    /// The middleware refused an operation; the text says which and why.
    #[error("middleware: {0}")]
    Middleware(String),
    /// A reliable sample could not be sent because its readers do not keep up, or an action's server is lost.
    #[error("timed out: {0}")]
    Timeout(String),
    /// A topic name breaks ROS's rules.
    #[error("invalid topic name '{name}': {reason}")]
    InvalidTopicName {
        /// The name as it was given.
        name: String,
        /// The rule that it breaks.
        reason: String,
    },
    /// A node name or namespace breaks ROS's rules.
    #[error("invalid node name or namespace '{name}': {reason}")]
    InvalidNodeName {
        /// The name as it was given.
        name: String,
        /// The rule that it breaks.
        reason: String,
    },
    /// `--ros-args`, a parameter file or a `ROS_...` environment variable cannot be understood.
    #[error("{0}")]
    InvalidArgument(String),
    /// The service, or the client, is gone.
    #[error("the client or service has been destroyed")]
    RCL_RET_CLIENT_INVALID,
    /// The action client is gone.
    #[error("the action client has been destroyed")]
    RCL_RET_ACTION_CLIENT_INVALID,
    /// The server does not accept the goal.
    #[error("the goal was rejected")]
    RCL_RET_ACTION_GOAL_REJECTED,
    /// The goal has ended already, is forgotten, or its id belongs to another.
    #[error("the goal has ended or is not known")]
    RCL_RET_ACTION_GOAL_HANDLE_INVALID,
    /// The server does not cancel the goal.
    #[error("the goal is not cancelled")]
    GoalCancelRejected,
    /// The server does not know the goal, or no more.
    #[error("the goal to be cancelled is not known")]
    GoalCancelUnknownGoalID,
    /// There is nothing left to cancel.
    #[error("the goal to be cancelled has ended already")]
    GoalCancelAlreadyTerminated,
    /// A message could not be serialized or deserialized.
    #[error("serialization: {err}")]
    SerdeError {
        /// What the serializer says.
        err: String,
    },
    /// Only a clock of type `RosTime` follows `/clock`.
    #[error("clock type is not RosTime")]
    ClockTypeNotRosTime,
    /// A parameter has another type than the one asked for.
    #[error("parameter {name} was expected to be of type {expected_type} but was of type {actual_type}")]
    ParameterWrongType {
        /// The parameter's name.
        name: String,
        /// The type asked for.
        expected_type: &'static str,
        /// The type that it has.
        actual_type: &'static str,
    },
}

impl From<NoRule> for Error {
    fn from(error: NoRule) -> Self {
        Self::InvalidArgument(error.to_string())
    }
}

impl From<InvalidOverride> for Error {
    fn from(error: InvalidOverride) -> Self {
        Self::InvalidArgument(error.to_string())
    }
}
