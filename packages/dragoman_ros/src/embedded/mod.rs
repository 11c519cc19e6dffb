//! r2r's API in pure Rust on an RTPS library, for machines without ROS.
//!
//! From the wire inwards: [`dds`] (the only file that knows the library), [`local`] (the way within a process), [`cdr`], [`names`] and [`graph`] (how ROS uses
//! DDS), [`service`] and [`client`] (two mappings of services), [`action`] (services and topics together), [`node`] (where
//! all of it is put together). [`discovery`], [`distribution`] and [`arguments`] read the environment and the command line.

mod action;
mod arguments;
mod background;
pub(crate) mod cdr;
mod client;
pub(crate) mod clock;
mod context;
mod dds;
mod discovery;
pub(crate) mod distribution;
mod error;
mod graph;
mod local;
mod names;
mod node;
mod parameter;
mod publisher;
pub mod qos;
mod rate_limit;
pub(crate) mod security;
mod service;
mod static_peers;
mod subscription;

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
pub use distribution::Distribution;
pub use error::{Error, Result};
pub use indexmap;
pub use interfaces::*;
pub use node::{Node, TopicEndpointInfo};
pub use parameter::{Parameter, ParameterValue, WrongParameterType};
pub use publisher::Publisher;
pub use qos::QosProfile;
pub use service::ServiceRequest;

use std::fmt::Debug;

/// A message type.
pub trait WrappedTypesupport:
    serde::Serialize + serde::de::DeserializeOwned + Default + Debug + Clone + PartialEq + Send + Sync
{
    /// `package/msg/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011).
    const TYPE_HASH: &'static str;

    /// CDR with encapsulation header.
    ///
    /// # Errors
    /// A fixed array of another length than its type says.
    fn to_serialized_bytes(&self) -> Result<Vec<u8>> {
        Ok([&[0, 1, 0, 0], cdr::to_bytes(self)?.as_slice()].concat())
    }

    /// The message in CDR with encapsulation header.
    ///
    /// # Errors
    /// The bytes are too short, or do not have the form of the type.
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

/// A service type.
pub trait WrappedServiceTypeSupport: Debug + Clone + Send + Sync {
    /// What is asked.
    type Request: WrappedTypesupport;
    /// What is answered.
    type Response: WrappedTypesupport;
    /// `package/srv/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011).
    const TYPE_HASH: &'static str;
}

/// An action type. The functions put together and take apart the messages that travel.
#[allow(missing_docs)]
pub trait WrappedActionTypeSupport: Debug + Clone + Send + Sync + 'static {
    /// What is to be done.
    type Goal: WrappedTypesupport + 'static;
    /// What came of it.
    type Result: WrappedTypesupport + 'static;
    /// How it goes.
    type Feedback: WrappedTypesupport + 'static;
    /// Feedback with the goal's id.
    type FeedbackMessage: WrappedTypesupport + 'static;
    /// The service `send_goal`.
    type SendGoal: WrappedServiceTypeSupport + 'static;
    /// The service `get_result`.
    type GetResult: WrappedServiceTypeSupport + 'static;
    /// `package/action/Name`.
    const TYPE_NAME: &'static str;
    /// `RIHS01_` and 64 hexadecimal digits (REP 2011).
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

/// The definition of a message type with those of all types that it contains, in the form that `rosbag2` and MCAP keep
/// beside recorded messages; none for types that this build does not know.
pub fn message_definition(type_name: &str) -> Option<&'static str> {
    let find = |definitions: &[(&str, &'static str)]| {
        definitions.iter().find(|(name, _)| *name == type_name).map(|(_, definition)| *definition)
    };
    let own = match Distribution::current() {
        Distribution::Humble => find(interfaces::DEFINITIONS_OF_HUMBLE),
        Distribution::Jazzy => None,
    };
    own.or_else(|| find(interfaces::DEFINITIONS))
}

/// The hash of a message type as ROS 2 of this process announces it: none on Humble, and for types that this build does
/// not know.
fn type_hash(type_name: &str) -> Option<&'static str> {
    if Distribution::current() == Distribution::Humble {
        return None;
    }
    let hashes = interfaces::TYPE_HASHES;
    let found = hashes.binary_search_by_key(&type_name, |(name, _)| name).ok()?;
    hashes.get(found).map(|(_, hash)| *hash)
}
