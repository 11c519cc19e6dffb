//! Responses of services, from the answers of the machine.

use dragoman_protocol::codec::{Codec, MessageId, Values};
use serde_json::{Map, Value};

use super::{Failure, Service, insert_reason};
use crate::machine::conversation::reason_of;
use crate::machine::term::Message;

impl Failure {
    /// Whether the machine has done what was asked.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn check(
        failure: Option<&Self>,
        codec: &Codec,
        message: MessageId,
        values: &Values,
    ) -> Result<(), String> {
        let Some(failure) = failure else { return Ok(()) };
        let lookup = Message { codec, message, values, paths: &failure.paths };
        if !matches!(failure.when.number(&lookup), Ok(Some(_))) {
            return Err("the answer does not say whether it has failed".to_owned());
        }
        if !failure.when.is_true(&lookup) {
            return Ok(());
        }
        let reason = failure.reason.as_ref().map(|path| reason_of(codec, message, values, path));
        Err(reason.unwrap_or_else(|| "the machine refuses".to_owned()))
    }
}

impl Service {
    /// The response to a question that the machine has answered, or that was sent if nothing answers it.
    pub(crate) fn answered(&self, codec: &Codec, answer: Option<(MessageId, &Values)>) -> Value {
        let Some((message, values)) = answer else { return self.response(Ok(Map::new())) };
        if let Err(reason) = Failure::check(self.fails.as_ref(), codec, message, values) {
            return self.response(Err(reason));
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
        insert_reason(&self.response, &mut fields, &reason);
        Value::Object(fields)
    }
}
