//! Names of a simulated machine's values, and of the fields of a message.

use dragoman_protocol::expression::Number;

use crate::machine::term::{Computed, Lookup, Message, MessageNames, Names, Shape};

/// Where the numbers of the fields of a message begin.
pub(super) const FIELDS: usize = 1 << 8;

/// The names of a machine's values, and of the fields of a message.
pub(super) struct StateNames<'a> {
    pub(super) states: &'a [String],
    pub(super) fields: Option<MessageNames<'a>>,
}

impl Names for StateNames<'_> {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        // A field of the message hides a value of the same name.
        let field = self.fields.as_mut().map(|fields| fields.find(name));
        if let Some(Ok((at, shape))) = field {
            return Ok((FIELDS + at, shape));
        }
        if let Some(at) = self.states.iter().position(|one| one == name) {
            return Ok((at, Shape::Number));
        }
        let hint = dragoman_text::hint(name, self.states.iter().map(String::as_str));
        Err(match field {
            Some(Err(reason)) if reason.contains("did you mean") => reason,
            Some(Err(_)) => format!("{name} is neither a value of state nor a field of the message{hint}"),
            _ => format!("there is no value {name}{hint}"),
        })
    }

    fn code(&self, name: &str, value: &str) -> Result<i64, String> {
        match self.fields.as_ref().filter(|fields| fields.has(name)) {
            Some(fields) => fields.code(name, value),
            None => Err(format!(
                "{name} is a value of state: only fields of messages have names for their values"
            )),
        }
    }
}

pub(super) struct StateLookup<'a> {
    pub(super) state: &'a [f64],
    pub(super) message: Option<Message<'a>>,
}

impl Lookup for StateLookup<'_> {
    fn number(&self, name: usize) -> Option<Number> {
        match name.checked_sub(FIELDS) {
            Some(field) => self.message.as_ref()?.number(field),
            None => self.state.get(name).copied().map(Number::Real),
        }
    }

    fn whole(&self, name: usize) -> Computed {
        match (name.checked_sub(FIELDS), &self.message) {
            (Some(field), Some(message)) => message.whole(field),
            _ => self.number(name).map_or(Computed::Missing, Computed::Number),
        }
    }
}
