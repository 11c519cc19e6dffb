//! Frames. Text frames are JSON, their field `op` is the kind; the first byte of binary frames is the kind. Numbers are
//! little-endian.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A text frame of the client.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ClientText {
    Subscribe { subscriptions: Vec<Subscription> },
    Unsubscribe { subscription_ids: Vec<u32> },
    Advertise { channels: Vec<ClientChannel> },
    Unadvertise { channel_ids: Vec<u32> },
    GetParameters { parameter_names: Vec<String>, id: Option<String> },
    SetParameters { parameters: Vec<Parameter>, id: Option<String> },
    SubscribeParameterUpdates { parameter_names: Vec<String> },
    UnsubscribeParameterUpdates { parameter_names: Vec<String> },
    SubscribeConnectionGraph,
    UnsubscribeConnectionGraph,
    FetchAsset { uri: String, request_id: u32 },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    pub(super) id: u32,
    pub(super) channel_id: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientChannel {
    pub(super) id: u32,
    pub(super) topic: String,
    pub(super) encoding: String,
    pub(super) schema_name: String,
}

/// A parameter: `NODE.PARAMETER`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Parameter {
    /// Full name of the node, a dot, and the parameter's name.
    pub name: String,
    /// None if there is no such parameter, or if it is to be removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// `float64`, `float64_array` or `byte_array`.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A binary frame of the client.
#[derive(Debug, PartialEq)]
pub(super) enum ClientBinary<'a> {
    Message { channel: u32, data: &'a [u8] },
    Call { service: u32, id: u32, encoding: &'a str, data: &'a [u8] },
}

/// Parses a binary frame.
pub(super) fn parse(frame: &[u8]) -> Option<ClientBinary<'_>> {
    let (kind, rest) = frame.split_first()?;
    match kind {
        1 => {
            let (channel, data) = number(rest)?;
            Some(ClientBinary::Message { channel, data })
        }
        2 => {
            let (service, rest) = number(rest)?;
            let (id, rest) = number(rest)?;
            let (length, rest) = number(rest)?;
            let (encoding, data) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            let encoding = std::str::from_utf8(encoding).ok()?;
            Some(ClientBinary::Call { service, id, encoding, data })
        }
        _ => None,
    }
}

fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

/// A text frame for the client.
#[derive(Debug, Serialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum ServerText<'a> {
    ServerInfo {
        name: &'a str,
        capabilities: &'a [&'a str],
        supported_encodings: &'a [&'a str],
        metadata: &'a Value,
        session_id: &'a str,
    },
    Status {
        level: u8,
        message: &'a str,
    },
    Advertise {
        channels: Vec<Advertised<'a>>,
    },
    Unadvertise {
        channel_ids: Vec<u32>,
    },
    AdvertiseServices {
        services: Vec<AdvertisedService<'a>>,
    },
    UnadvertiseServices {
        service_ids: Vec<u32>,
    },
    ServiceCallFailure {
        service_id: u32,
        call_id: u32,
        message: &'a str,
    },
    ParameterValues {
        parameters: &'a [Parameter],
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Advertised<'a> {
    pub(super) id: u32,
    pub(super) topic: &'a str,
    pub(super) encoding: &'a str,
    pub(super) schema_name: &'a str,
    pub(super) schema_encoding: &'a str,
    pub(super) schema: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdvertisedService<'a> {
    pub(super) id: u32,
    pub(super) name: &'a str,
    #[serde(rename = "type")]
    pub(super) type_name: &'a str,
    pub(super) request: Part<'a>,
    pub(super) response: Part<'a>,
}

/// A request or response.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    pub(super) encoding: &'a str,
    pub(super) schema_name: String,
    pub(super) schema_encoding: &'a str,
    pub(super) schema: &'a str,
}

/// A message of a topic.
pub(super) fn message(subscription: u32, nanoseconds: u64, data: &[u8]) -> Vec<u8> {
    [&[1][..], &subscription.to_le_bytes()[..], &nanoseconds.to_le_bytes(), data].concat()
}

/// The response of a service.
pub(super) fn response(service: u32, call: u32, encoding: &str, data: &[u8]) -> Vec<u8> {
    let numbers = [service, call, length(encoding)].map(u32::to_le_bytes);
    [&[3][..], numbers.as_flattened(), encoding.as_bytes(), data].concat()
}

/// An asset, or the reason of the failure.
pub(super) fn asset(request: u32, asset: Result<&[u8], &str>) -> Vec<u8> {
    let (status, error, data) = match asset {
        Ok(data) => (0, "", data),
        Err(error) => (1, error, &[][..]),
    };
    let length = length(error).to_le_bytes();
    [&[4][..], &request.to_le_bytes()[..], &[status][..], &length, error.as_bytes(), data].concat()
}

/// Of texts of this program, which are short.
fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}
