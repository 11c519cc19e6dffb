//! Serialized messages of any type, for recorders, on top of both implementations.

use futures::Stream;

use crate::{Node, QosProfile, Result};

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
