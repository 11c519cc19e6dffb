//! The parsed frame of a client: its fields with their types.

use std::time::Duration;

use serde_json::{Map, Value};

use super::subscription::SubscribeRequest;
use super::{Compression, Level, Order, Reply};
use crate::bounded::MAX_NAME_LEN;

/// A parsed frame.
pub(super) enum Operation {
    Order(Order),
    Subscribe {
        topic: String,
        type_name: Option<String>,
        request: SubscribeRequest,
    },
    Unsubscribe {
        topic: String,
        id: Option<Value>,
    },
    Fragment {
        id: String,
        number: usize,
        total: usize,
        data: String,
    },
    Png {
        data: String,
    },
    SetLevel(Level),
    /// A `status` of the client.
    Status,
}

/// The maximum throttling and timeout that a client may ask for.
const MAX_TIME: Duration = Duration::from_secs(24 * 3600);

/// Maximum length of an id, bytes: ids are kept with subscriptions, calls and goals.
const MAX_ID_LEN: usize = 512;
/// Fields that are names of ROS, of at most [`MAX_NAME_LEN`].
const NAMES: [&str; 5] = ["topic", "service", "action", "type", "action_type"];

struct Fields(Map<String, Value>);

impl Fields {
    fn id(&self) -> Option<Value> {
        self.0.get("id").filter(|id| !id.is_null()).cloned()
    }

    fn text(&self, key: &str) -> Result<String, String> {
        self.optional_text(key)?.ok_or_else(|| format!("'{key}' is missing"))
    }

    fn optional_text(&self, key: &str) -> Result<Option<String>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("'{key}' is not a string")),
        }
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("'{key}' is not a Boolean")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<f64>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Number(number)) => match number.as_f64() {
                Some(number) if number >= 0.0 => Ok(Some(number)),
                _ => Err(format!("'{key}' is negative")),
            },
            Some(_) => Err(format!("'{key}' is not a number")),
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // From 0; `as` ends at the largest value.
    fn count(&self, key: &str) -> Result<Option<usize>, String> {
        Ok(self.number(key)?.map(|number| number as usize))
    }

    fn time(&self, key: &str, unit: f64) -> Result<Option<Duration>, String> {
        let seconds = self.number(key)?.map(|number| number * unit);
        Ok(seconds
            .map(|seconds| Duration::try_from_secs_f64(seconds).map_or(MAX_TIME, |time| time.min(MAX_TIME))))
    }

    fn compression(&self) -> Result<Compression, String> {
        match self.optional_text("compression")?.as_deref() {
            None | Some("none" | "") => Ok(Compression::None),
            Some("png") => Ok(Compression::Png),
            Some("cbor") => Ok(Compression::Cbor),
            Some("cbor-raw") => Ok(Compression::CborRaw),
            Some(other) => Err(format!("compression '{other}' is unknown")),
        }
    }

    fn reply(&self) -> Result<Reply, String> {
        Ok(Reply {
            id: self.id(),
            fragment_size: self.count("fragment_size")?,
            compression: self.compression()?,
        })
    }

    /// A value that an object without fields replaces.
    fn values(&mut self, key: &str) -> Value {
        match self.0.remove(key) {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(value) => value,
        }
    }
}

/// The id of a frame, also of an invalid one; `None` if it is too long.
pub(super) fn id_of(frame: &Value) -> Option<Value> {
    frame.get("id").filter(|id| !id.is_null() && is_short(id)).cloned()
}

/// Whether an id may be kept.
fn is_short(id: &Value) -> bool {
    let length = match id {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    };
    length <= MAX_ID_LEN
}

/// Parses a frame; the error is for the client.
pub(super) fn parse(frame: Value) -> Result<Operation, String> {
    let Value::Object(fields) = frame else { return Err("a frame is not an object".to_owned()) };
    let mut fields = Fields(fields);
    let operation = fields.text("op")?;
    if fields.0.get("id").is_some_and(|id| !is_short(id)) {
        return Err(format!("{operation}: 'id' has more than {MAX_ID_LEN} bytes"));
    }
    for key in NAMES {
        if fields.0.get(key).and_then(Value::as_str).is_some_and(|name| name.len() > MAX_NAME_LEN) {
            return Err(format!("{operation}: '{key}' has more than {MAX_NAME_LEN} bytes"));
        }
    }
    parse_operation(&operation, &mut fields).map_err(|reason| format!("{operation}: {reason}"))
}

fn parse_operation(operation: &str, fields: &mut Fields) -> Result<Operation, String> {
    let id = fields.id();
    let text_id = |id: Option<Value>| match id {
        Some(Value::String(id)) => Ok(id),
        _ => Err("'id' is not a string".to_owned()),
    };
    let order = match operation {
        "advertise" => Order::Advertise {
            id,
            topic: fields.text("topic")?,
            type_name: fields.text("type")?,
            latch: fields.flag("latch")?.unwrap_or_default(),
        },
        "unadvertise" => Order::Unadvertise { topic: fields.text("topic")? },
        "publish" => Order::Publish {
            id,
            topic: fields.text("topic")?,
            type_name: fields.optional_text("type")?,
            message: fields.values("msg"),
        },
        "subscribe" => {
            let request = SubscribeRequest {
                id,
                throttle: fields.time("throttle_rate", 1e-3)?.unwrap_or_default(),
                queue_length: fields.count("queue_length")?.unwrap_or_default(),
                fragment_size: fields.count("fragment_size")?,
                compression: fields.compression()?,
            };
            let (topic, type_name) = (fields.text("topic")?, fields.optional_text("type")?);
            return Ok(Operation::Subscribe { topic, type_name, request });
        }
        "unsubscribe" => return Ok(Operation::Unsubscribe { topic: fields.text("topic")?, id }),
        "call_service" => Order::CallService {
            reply: fields.reply()?,
            service: fields.text("service")?,
            type_name: fields.optional_text("type")?,
            timeout: fields.time("timeout", 1.0)?.filter(|timeout| !timeout.is_zero()),
            args: fields.values("args"),
        },
        "advertise_service" => {
            Order::AdvertiseService { id, service: fields.text("service")?, type_name: fields.text("type")? }
        }
        "unadvertise_service" => Order::UnadvertiseService { service: fields.text("service")? },
        "service_response" => Order::ServiceResponse {
            id: text_id(id)?,
            service: fields.text("service")?,
            result: fields.flag("result")?.unwrap_or(true),
            values: fields.values("values"),
        },
        "send_action_goal" => Order::SendGoal {
            reply: fields.reply()?,
            action: fields.text("action")?,
            type_name: fields.text("action_type")?,
            feedback: fields.flag("feedback")?.unwrap_or_default(),
            goal: fields.values("args"),
        },
        "cancel_action_goal" => Order::CancelGoal { id, action: fields.text("action")? },
        "advertise_action" => {
            Order::AdvertiseAction { id, action: fields.text("action")?, type_name: fields.text("type")? }
        }
        "unadvertise_action" => Order::UnadvertiseAction { action: fields.text("action")? },
        "action_feedback" => Order::ActionFeedback {
            id: text_id(id)?,
            action: fields.text("action")?,
            values: fields.values("values"),
        },
        "action_result" => Order::ActionResult {
            id: text_id(id)?,
            action: fields.text("action")?,
            status: status(fields.0.get("status"))?,
            result: fields.flag("result")?.unwrap_or(true),
            values: fields.values("values"),
        },
        "fragment" => {
            let number = fields.count("num")?.ok_or("'num' is missing")?;
            let total = fields.count("total")?.ok_or("'total' is missing")?;
            return Ok(Operation::Fragment { id: text_id(id)?, number, total, data: fields.text("data")? });
        }
        "png" => return Ok(Operation::Png { data: fields.text("data")? }),
        "set_level" | "status_level" => {
            let level = fields.text("level")?;
            let known = Level::named(&level).ok_or_else(|| format!("level '{level}' is unknown"))?;
            return Ok(Operation::SetLevel(known));
        }
        "status" => return Ok(Operation::Status),
        _ => return Err("unknown operation".to_owned()),
    };
    Ok(Operation::Order(order))
}

/// A goal's status; succeeded if it is left out.
fn status(value: Option<&Value>) -> Result<i8, String> {
    const SUCCEEDED: i8 = 4;
    match value {
        None | Some(Value::Null) => Ok(SUCCEEDED),
        Some(value) => {
            let code =
                value.as_i64().and_then(|code| i8::try_from(code).ok()).filter(|code| (0..=6).contains(code));
            code.ok_or_else(|| "'status' is not a code of GoalStatus".to_owned())
        }
    }
}
