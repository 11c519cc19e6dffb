//! Serialized messages of any type, for recorders and gateways, on top of both implementations.
//!
//! [`create_publisher`], [`create_client`] and [`create_service`] are for types known at run time. r2r has no servers of
//! such types, and converts requests and responses from and to JSON: see [`Body`].

#[cfg(not(feature = "r2r"))]
mod embedded;
#[cfg(feature = "r2r")]
mod rcl;

#[cfg(not(feature = "r2r"))]
pub use embedded::{
    Client, Publisher, Request, create_client, create_publisher, create_service, destroy_publisher,
};
#[cfg(feature = "r2r")]
pub use rcl::{
    Client, Publisher, Request, create_client, create_publisher, create_service, destroy_publisher,
};

use futures::Stream;

use crate::qos::{DurabilityPolicy, ReliabilityPolicy};
use crate::{Node, QosProfile, Result};

/// A request or response of a type known at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// CDR with its four bytes of encapsulation header.
    Cdr(Vec<u8>),
    /// As `serde_json` writes the structures of this crate: bytes are numbers, and a field whose name is a Rust keyword
    /// ends with `_`.
    Json(serde_json::Value),
}

/// Whether requests and responses are [`Body::Json`].
pub const CALLS_ARE_JSON: bool = cfg!(feature = "r2r");

/// Whether a node receives only in `Node::spin_once`.
pub const MUST_SPIN: bool = cfg!(feature = "r2r");

/// Whether subscriptions that were dropped may stay until a message comes for them, and clients of services until their node
/// is dropped (r2r 0.9.7).
pub const KEEPS_ENDED: bool = cfg!(feature = "r2r");

/// The strictest subscription compatible with all publishers of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Strictest {
    pub reliable: bool,
    pub transient_local: bool,
}

impl Strictest {
    /// For these offers; `None` without publishers.
    pub fn of(offered: &[QosProfile]) -> Option<Self> {
        (!offered.is_empty()).then(|| Self {
            reliable: offered.iter().all(|qos| qos.reliability != ReliabilityPolicy::BestEffort),
            transient_local: offered.iter().all(|qos| qos.durability == DurabilityPolicy::TransientLocal),
        })
    }

    /// Whether a publisher compatible with `self` may be incompatible with `other`.
    pub fn is_weaker_than(self, other: Self) -> bool {
        (other.reliable && !self.reliable) || (other.transient_local && !self.transient_local)
    }

    /// The profile with a queue of `depth`.
    pub fn qos(self, depth: usize) -> QosProfile {
        let qos = QosProfile::default().keep_last(depth);
        let qos = if self.reliable { qos.reliable() } else { qos.best_effort() };
        if self.transient_local { qos.transient_local() } else { qos.volatile() }
    }
}

/// One message that was not decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerializedMessage {
    /// CDR with its four bytes of encapsulation header.
    pub data: Vec<u8>,
    /// When it was published, in nanoseconds since 1970 by the publisher's clock. `None` if unknown; always with r2r.
    pub source_time: Option<u64>,
}

/// The messages of type `topic_type` that arrive on `topic`.
///
/// # Errors
/// As `Node::subscribe_raw`; with r2r, a type whose package is not built into the program.
#[cfg(not(feature = "r2r"))]
pub fn subscribe(
    node: &mut Node,
    topic: &str,
    topic_type: &str,
    qos: QosProfile,
) -> Result<impl Stream<Item = SerializedMessage> + Send + Unpin + use<>> {
    node.subscribe_serialized(topic, topic_type, qos)
}

/// The messages of type `topic_type` that arrive on `topic`.
///
/// # Errors
/// As `Node::subscribe_raw`; with r2r, a type whose package is not built into the program.
#[cfg(feature = "r2r")]
pub fn subscribe(
    node: &mut Node,
    topic: &str,
    topic_type: &str,
    qos: QosProfile,
) -> Result<impl Stream<Item = SerializedMessage> + Send + Unpin + use<>> {
    use futures::StreamExt;
    // `subscribe_raw` of r2r 0.9.7 borrows the node and both names for the life of the stream under the rules of
    // edition 2024; under earlier ones it does not: the stream is a channel's receiver.
    Ok(node.subscribe_raw(topic, topic_type, qos)?.map(|data| SerializedMessage { data, source_time: None }))
}

/// The definition of a message type with those of all nested types, in the format of `rosbag2` and MCAP; `None` for
/// unknown types.
#[cfg(not(feature = "r2r"))]
pub fn definition(type_name: &str) -> Option<String> {
    crate::message_definition(type_name).map(str::to_owned)
}

/// The definition of a message type with those of all nested types, in the format of `rosbag2` and MCAP; `None` for
/// types not defined by a package below `AMENT_PREFIX_PATH`.
#[cfg(feature = "r2r")]
pub fn definition(type_name: &str) -> Option<String> {
    let mut text = String::new();
    let mut done = vec![type_name.to_owned()];
    let mut next = 0;
    while let Some(current) = done.get(next).cloned() {
        let own = installed(&current)?;
        if next > 0 {
            let short = current.replace("/msg/", "/");
            text.push_str(&format!("{}\nMSG: {short}\n", "=".repeat(80)));
        }
        let package = current.split('/').next().unwrap_or_default();
        for line in own.lines() {
            let field =
                line.split('#').next().unwrap_or_default().split_whitespace().next().unwrap_or_default();
            let field = field.split(['[', '<']).next().unwrap_or_default();
            let nested = match field.split('/').collect::<Vec<_>>().as_slice() {
                [name] if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                    format!("{package}/msg/{name}")
                }
                [package, name] | [package, "msg", name] => format!("{package}/msg/{name}"),
                _ => continue,
            };
            if !done.contains(&nested) {
                done.push(nested);
            }
        }
        text.push_str(own.trim_end());
        text.push('\n');
        next += 1;
    }
    Some(text)
}

/// The `.msg` file of a type as a package installs it.
#[cfg(feature = "r2r")]
fn installed(type_name: &str) -> Option<String> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH")?;
    std::env::split_paths(&prefixes).find_map(|prefix| {
        std::fs::read_to_string(prefix.join("share").join(format!("{type_name}.msg"))).ok()
    })
}
