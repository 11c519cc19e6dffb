//! Responses of services, from the answers of the machine.

use dragoman_protocol::codec::{Codec, MessageId, Values};
use serde_json::{Map, Value};

use super::Service;
use crate::machine::conversation::reason_of;
use crate::machine::term::Message;

impl Service {
    /// The response to a question that the machine has answered, or that was sent if nothing answers it.
    pub(crate) fn answered(&self, codec: &Codec, answer: Option<(MessageId, &Values)>) -> Value {
        let Some((message, values)) = answer else { return self.response(Ok(Map::new())) };
        if let Some(failure) = &self.fails {
            let lookup = Message { codec, message, values, paths: &failure.paths };
            let fails = failure.when.number(&lookup);
            if !matches!(fails, Ok(Some(_))) {
                return self.response(Err("the answer does not say whether it has failed".to_owned()));
            }
            if failure.when.is_true(&lookup) {
                let reason = failure.reason.as_ref().map(|path| reason_of(codec, message, values, path));
                return self.response(Err(reason.unwrap_or_else(|| "the machine refuses".to_owned())));
            }
        }
        let Some(to) = &self.answer else { return self.response(Ok(Map::new())) };
        self.response(to.object(&Message { codec, message, values, paths: to.paths() }))
    }

    /// The response with these fields, or one that reports the failure and its reason.
    pub(crate) fn response(&self, fields: Result<Map<String, Value>, String>) -> Value {
        let has = |name: &str| self.response.fields.iter().any(|field| field.name == name);
        let (mut fields, success, reason) = match fields {
            Ok(fields) => (fields, true, String::new()),
            Err(reason) => (Map::new(), false, reason),
        };
        if has("success") && !fields.contains_key("success") {
            fields.insert("success".to_owned(), success.into());
        }
        let text = ["message", "status_message", "error_message"].into_iter().find(|name| has(name));
        if let Some(text) = text.filter(|text| !fields.contains_key(*text)) {
            fields.insert(text.to_owned(), reason.into());
        }
        Value::Object(fields)
    }
}
