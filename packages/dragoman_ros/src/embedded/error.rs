//! Errors, with r2r's names for cases that r2r has.

use crate::qos_overrides::InvalidOverride;
use crate::remapping::NoRule;

/// Result of an operation of this layer.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Error of this layer.
#[derive(thiserror::Error, Clone, Debug)]
#[allow(non_camel_case_types)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Error {
    /// The middleware refused an operation; the text gives operation and reason.
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
    /// Invalid `--ros-args`, parameter file or `ROS_...` environment variable.
    #[error("{0}")]
    InvalidArgument(String),
    /// The service or the client has been dropped.
    #[error("the client or service has been destroyed")]
    RCL_RET_CLIENT_INVALID,
    /// The action client has been dropped.
    #[error("the action client has been destroyed")]
    RCL_RET_ACTION_CLIENT_INVALID,
    /// The server rejected the goal.
    #[error("the goal was rejected")]
    RCL_RET_ACTION_GOAL_REJECTED,
    /// The goal has ended, was removed, or its id is in use.
    #[error("the goal has ended or is not known")]
    RCL_RET_ACTION_GOAL_HANDLE_INVALID,
    /// The server does not cancel the goal.
    #[error("the goal is not cancelled")]
    GoalCancelRejected,
    /// The server does not know the goal, or has removed it.
    #[error("the goal to be cancelled is not known")]
    GoalCancelUnknownGoalID,
    /// The goal has already ended.
    #[error("the goal to be cancelled has ended already")]
    GoalCancelAlreadyTerminated,
    /// A message could not be serialized or deserialized.
    #[error("serialization: {err}")]
    SerdeError {
        /// The message of the serializer.
        err: String,
    },
    /// Only a clock of type `RosTime` follows `/clock`.
    #[error("clock type is not RosTime")]
    ClockTypeNotRosTime,
    /// A parameter has another type than requested.
    #[error("parameter {name} was expected to be of type {expected_type} but was of type {actual_type}")]
    ParameterWrongType {
        /// The parameter's name.
        name: String,
        /// The requested type.
        expected_type: &'static str,
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
