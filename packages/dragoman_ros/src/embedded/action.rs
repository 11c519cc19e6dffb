//! Actions: three services and two topics below `<name>/_action` (ROS 2's design article "Actions").

mod client;
mod goals;
mod server;

pub use client::{ActionClient, ActionClientGoal};
pub use server::{ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest};

pub(crate) use server::{ActionServer, RESULT_TIMEOUT};

use std::fmt;

use uuid::Uuid;

use super::qos::QosProfile;
use crate::action_msgs::msg::GoalStatus as Codes;
use crate::unique_identifier_msgs::msg::UUID;

/// Progress of a goal (`action_msgs/msg/GoalStatus`).
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum GoalStatus {
    /// No status has been received yet, or the server does not know the goal.
    Unknown,
    Accepted,
    Executing,
    /// Its cancellation was accepted; it is still executing.
    Canceling,
    Succeeded,
    Canceled,
    Aborted,
}

const CODES: [(GoalStatus, u32); 7] = [
    (GoalStatus::Unknown, Codes::STATUS_UNKNOWN),
    (GoalStatus::Accepted, Codes::STATUS_ACCEPTED),
    (GoalStatus::Executing, Codes::STATUS_EXECUTING),
    (GoalStatus::Canceling, Codes::STATUS_CANCELING),
    (GoalStatus::Succeeded, Codes::STATUS_SUCCEEDED),
    (GoalStatus::Canceled, Codes::STATUS_CANCELED),
    (GoalStatus::Aborted, Codes::STATUS_ABORTED),
];

impl GoalStatus {
    /// The code in `action_msgs/msg/GoalStatus`.
    pub fn to_rcl(&self) -> i8 {
        let code = CODES.iter().find(|(status, _)| status == self).map_or(0, |(_, code)| *code);
        i8::try_from(code).unwrap_or_default()
    }

    /// The status for a code of `action_msgs/msg/GoalStatus`; [`Unknown`](Self::Unknown) for any other.
    pub fn from_rcl(code: i8) -> Self {
        CODES
            .iter()
            .find(|(_, known)| i64::from(*known) == i64::from(code))
            .map_or(Self::Unknown, |(s, _)| *s)
    }

    /// Whether the goal has ended.
    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

impl fmt::Display for GoalStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unknown => "unknown",
            Self::Accepted => "accepted",
            Self::Executing => "executing",
            Self::Canceling => "canceling",
            Self::Succeeded => "succeeded",
            Self::Canceled => "canceled",
            Self::Aborted => "aborted",
        })
    }
}

/// The name of one of an action's services or topics.
fn part_name(action: &str, part: &str) -> String {
    format!("{action}/_action/{part}")
}

/// Quality of service of the status topic in `rcl_action`.
fn status_qos() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

/// Queue depth for cancel requests of a goal and for feedback to a client. r2r's number.
const QUEUE_LENGTH: usize = 10;

fn to_message(id: Uuid) -> UUID {
    UUID { uuid: id.as_bytes().to_vec() }
}

/// The id in a message, whose array always has 16 elements once it is deserialized.
fn from_message(id: &UUID) -> Uuid {
    Uuid::from_slice(&id.uuid).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_translate_both_ways() {
        for (status, code) in CODES {
            assert_eq!(GoalStatus::from_rcl(status.to_rcl()), status);
            assert_eq!(u32::try_from(status.to_rcl()).unwrap(), code);
        }
        assert_eq!(GoalStatus::from_rcl(-1), GoalStatus::Unknown);
        assert_eq!(GoalStatus::Canceling.to_string(), "canceling");
    }
}
