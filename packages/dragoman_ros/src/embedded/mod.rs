//! r2r's API in pure Rust on an RTPS library, for machines without ROS.
//!
//! From the wire inwards: [`dds`] (the only module that uses the library), [`local`] (delivery within a process),
//! [`cdr`], [`names`] and [`graph`] (ROS's use of DDS), [`service`] and [`client`] (two mappings of services),
//! [`action`] (services and topics together), [`node`] (combines all). [`discovery`] and [`arguments`] read the environment
//! and the command line.

mod action;
mod arguments;
pub(crate) mod background;
pub mod cdr;
pub(crate) mod client;
pub(crate) mod clock;
mod context;
pub(crate) mod dds;
mod discovery;
pub(crate) mod environment;
mod error;
mod graph;
mod local;
pub(crate) mod names;
mod node;
mod parameter;
mod publisher;
pub mod qos;
pub(crate) mod rate_limit;
pub(crate) mod security;
pub(crate) mod service;
mod static_peers;
pub(crate) mod subscription;

#[allow(missing_docs, non_snake_case, clippy::all, unreachable_pub, unused_variables)]
mod interfaces {
    include!(concat!(env!("OUT_DIR"), "/interfaces.rs"));
}

pub use action::{
    ActionClient, ActionClientGoal, ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest,
    GoalStatus,
};
pub use arguments::Arguments;
pub use client::{Client, IsAvailablePollable};
pub use clock::Timer;
pub use clock::{Clock, ClockType, TimeSource};
pub use context::Context;
pub use discovery::{Discovery, DiscoveryRange, MAX_DOMAIN_ID, domain_id};
pub use error::{Error, Result};
pub use indexmap;
pub use interfaces::*;
pub use node::{Node, TopicEndpointInfo};
pub use parameter::{Parameter, ParameterValue, WrongParameterType};
pub use publisher::Publisher;
pub use qos::QosProfile;
pub use service::ServiceRequest;

use std::fmt::Debug;

use crate::distribution::Distribution;

/// A message type.
pub trait WrappedTypesupport:
    cdr::Cdr + serde::Serialize + Default + Debug + Clone + PartialEq + Send + Sync + 'static
{
    /// `package/msg/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011), in Jazzy.
    const TYPE_HASH: &'static str;

    /// Serializes the message to CDR with encapsulation header.
    ///
    /// # Errors
    /// A fixed array of a wrong length.
    fn to_serialized_bytes(&self) -> Result<Vec<u8>> {
        Ok([&[0, 1, 0, 0], cdr::to_bytes(self)?.as_slice()].concat())
    }

    /// Deserializes CDR with encapsulation header.
    ///
    /// # Errors
    /// The bytes are too short, or not a valid value of the type.
    fn from_serialized_bytes(data: &[u8]) -> Result<Self> {
        let Some(([_, encoding, _, _], body)) = data.split_first_chunk() else {
            return Err(Error::SerdeError {
                err: format!("{} bytes are too short for a message", data.len()),
            });
        };
        let encoding = if *encoding == 0 { cdr::Encoding::BigEndian } else { cdr::Encoding::LittleEndian };
        cdr::from_bytes(body, encoding)
    }
}

/// Name, hash and messages of a service type; generated for every `.srv`.
pub trait WrappedServiceTypeSupport: Debug + Clone + Send + Sync {
    /// Type of the request.
    type Request: WrappedTypesupport;
    /// Type of the response.
    type Response: WrappedTypesupport;
    /// `package/srv/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011), in Jazzy.
    const TYPE_HASH: &'static str;
}

/// An action type. The functions compose and decompose the messages on the wire.
#[allow(missing_docs)]
pub trait WrappedActionTypeSupport: Debug + Clone + Send + Sync + 'static {
    /// Type of the goal.
    type Goal: WrappedTypesupport + 'static;
    /// Type of the result.
    type Result: WrappedTypesupport + 'static;
    /// Type of the feedback.
    type Feedback: WrappedTypesupport + 'static;
    /// Feedback with the goal's id.
    type FeedbackMessage: WrappedTypesupport + 'static;
    /// The service `send_goal`.
    type SendGoal: WrappedServiceTypeSupport + 'static;
    /// The service `get_result`.
    type GetResult: WrappedServiceTypeSupport + 'static;
    /// `package/action/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011), in Jazzy.
    const TYPE_HASH: &'static str;

    fn make_goal_request_msg(
        goal_id: unique_identifier_msgs::msg::UUID,
        goal: Self::Goal,
    ) -> <Self::SendGoal as WrappedServiceTypeSupport>::Request;
    fn make_goal_response_msg(
        accepted: bool,
        stamp: builtin_interfaces::msg::Time,
    ) -> <Self::SendGoal as WrappedServiceTypeSupport>::Response;
    fn make_feedback_msg(
        goal_id: unique_identifier_msgs::msg::UUID,
        feedback: Self::Feedback,
    ) -> Self::FeedbackMessage;
    fn make_result_request_msg(
        goal_id: unique_identifier_msgs::msg::UUID,
    ) -> <Self::GetResult as WrappedServiceTypeSupport>::Request;
    fn make_result_response_msg(
        status: i8,
        result: Self::Result,
    ) -> <Self::GetResult as WrappedServiceTypeSupport>::Response;
    fn destructure_goal_request_msg(
        msg: <Self::SendGoal as WrappedServiceTypeSupport>::Request,
    ) -> (unique_identifier_msgs::msg::UUID, Self::Goal);
    fn destructure_goal_response_msg(
        msg: <Self::SendGoal as WrappedServiceTypeSupport>::Response,
    ) -> (bool, builtin_interfaces::msg::Time);
    fn destructure_feedback_msg(
        msg: Self::FeedbackMessage,
    ) -> (unique_identifier_msgs::msg::UUID, Self::Feedback);
    fn destructure_result_request_msg(
        msg: <Self::GetResult as WrappedServiceTypeSupport>::Request,
    ) -> unique_identifier_msgs::msg::UUID;
    fn destructure_result_response_msg(
        msg: <Self::GetResult as WrappedServiceTypeSupport>::Response,
    ) -> (i8, Self::Result);
}

/// Names of types, sorted, and what is known of each.
type Table = &'static [(&'static str, &'static str)];

/// What the table of a distribution has, or else that of Jazzy, which has all types that are the same.
fn find(type_name: &str, own: Table, jazzy: Table) -> Option<&'static str> {
    [own, jazzy].into_iter().find_map(|table| {
        let found = table.binary_search_by_key(&type_name, |(name, _)| name).ok()?;
        table.get(found).map(|(_, entry)| *entry)
    })
}

/// The definition of a message type with those of all nested types, in the format of `rosbag2` and MCAP; `None` for
/// types unknown to this build.
pub fn message_definition(type_name: &str) -> Option<&'static str> {
    let own: Table = match Distribution::current() {
        Distribution::Humble => interfaces::DEFINITIONS_OF_HUMBLE,
        Distribution::Jazzy => &[],
        Distribution::Kilted => interfaces::DEFINITIONS_OF_KILTED,
        Distribution::Lyrical => interfaces::DEFINITIONS_OF_LYRICAL,
    };
    find(type_name, own, interfaces::DEFINITIONS)
}

/// The hash of a message type as this process announces it: `None` on Humble, and for unknown types.
pub(crate) fn type_hash(type_name: &str) -> Option<&'static str> {
    let own: Table = match Distribution::current() {
        Distribution::Humble => return None,
        Distribution::Jazzy => &[],
        Distribution::Kilted => interfaces::TYPE_HASHES_OF_KILTED,
        Distribution::Lyrical => interfaces::TYPE_HASHES_OF_LYRICAL,
    };
    find(type_name, own, interfaces::TYPE_HASHES)
}
