//! Messages to the machine, ready to be filled in.

use std::collections::BTreeMap;

use dragoman_protocol::codec::{Codec, Filling, Given, Leaf, MessageId, Values};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::bridge::Settings;
use dragoman_protocol::model::{Code, Field};
use dragoman_protocol::{Base, Count};

use super::plan::Missing;
use super::term::{Computed, Constants, Lookup, Names, Term};

/// Maximum number of bytes of a CAN frame.
const MAX_CAN_DATA: usize = 8;

/// A message to the machine with the terms of its fields.
#[derive(Debug, Clone)]
pub struct Outgoing {
    pub(crate) message: MessageId,
    /// It may be sent again without knowing whether the first one arrived.
    is_repeatable: bool,
    filling: Filling,
    fields: Vec<OutgoingField>,
    /// The largest number that the answer repeats; its field is the last one.
    sequence_mask: Option<u64>,
    /// The identifier on a CAN bus.
    id: Option<u64>,
}

#[derive(Debug, Clone)]
struct OutgoingField {
    name: String,
    term: Term,
    limits: Option<[f64; 2]>,
    is_bytes: bool,
}

/// A message that is ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    pub(crate) message: MessageId,
    /// Something answers it.
    pub(crate) has_answer: bool,
    /// It may be sent again without knowing whether the first one arrived.
    pub(crate) is_repeatable: bool,
    /// The number that the answer repeats.
    pub(crate) sequence: Option<u64>,
    /// Its values, on which the meaning of the answer depends.
    pub(crate) values: Values,
    /// What is sent.
    pub frame: OutgoingFrame,
}

/// What is sent over a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingFrame {
    /// The identifier on a CAN bus.
    pub id: Option<u64>,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// It stops the machine.
    pub is_stop: bool,
}

impl Outgoing {
    /// A message with its fields.
    ///
    /// # Errors
    /// The message, a field, or a name does not exist.
    pub fn new(
        codec: &Codec,
        name: &str,
        settings: &Settings,
        limits: &BTreeMap<String, [f64; 2]>,
        constants: &Constants,
        names: &mut dyn Names,
    ) -> Result<Self, String> {
        Self::of(codec, named(codec, name)?, settings, limits, constants, names)
    }

    /// As [`new`](Self::new), of a message that may be an answer.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn of(
        codec: &Codec,
        message: MessageId,
        settings: &Settings,
        limits: &BTreeMap<String, [f64; 2]>,
        constants: &Constants,
        names: &mut dyn Names,
    ) -> Result<Self, String> {
        let fields = settings.iter().map(|(field, setting)| {
            let term =
                Term::read(setting, constants, names).map_err(|reason| format!("{field}: {reason}"))?;
            let is_bytes = codec.path(message, field)?.leaf != Leaf::Number;
            Ok(OutgoingField { name: field.clone(), term, limits: limits.get(field).copied(), is_bytes })
        });
        let fields = fields.collect::<Result<Vec<_>, String>>()?;
        if let Some((field, [low, high])) = limits.iter().find(|(_, [low, high])| !is_range(*low, *high)) {
            return Err(format!(
                "limits: {field}: [{low}, {high}] is not a range: the lowest value comes first"
            ));
        }
        if let Some(field) = limits.keys().find(|field| !settings.contains_key(*field)) {
            let hint = dragoman_text::hint(field, settings.keys().map(String::as_str));
            return Err(format!("limits: {field} is not one of the fields that are set{hint}"));
        }
        let sequence = codec.sequence_field(message).filter(|field| !settings.contains_key(&field.name));
        let sequence_mask = sequence.map(sequence_mask);
        let sequence = sequence.map(|field| field.name.as_str());
        let paths: Vec<&str> = fields.iter().map(|field| field.name.as_str()).chain(sequence).collect();
        let filling = codec.filling(message, &paths)?;
        let described = codec.protocol().messages.get(message.number);
        Ok(Self {
            message,
            is_repeatable: described.is_some_and(|message| message.is_repeatable()),
            filling,
            fields,
            sequence_mask,
            id: can_id(codec, message),
        })
    }

    /// A number that is set, and has no range.
    pub fn unlimited(&self) -> Option<&str> {
        self.fields
            .iter()
            .find(|field| field.limits.is_none() && !field.is_bytes)
            .map(|field| field.name.as_str())
    }

    /// Checks a message whose fields need nothing but constants.
    ///
    /// # Errors
    /// A value does not exist, or does not fit its field.
    pub(crate) fn check(&self, codec: &Codec) -> Result<(), String> {
        self.prepare(codec, &Missing, u64::MAX).map(|_| ())
    }

    /// Fills it in. `sequence` is the number that the answer repeats, if the protocol has such numbers; its lowest bits are sent.
    ///
    /// # Errors
    /// A value does not exist, is outside of its limits, or does not fit its field.
    pub fn prepare(&self, codec: &Codec, lookup: &dyn Lookup, sequence: u64) -> Result<Prepared, String> {
        self.answer(codec, lookup, sequence, None)
    }

    /// As [`prepare`](Self::prepare), for the answer to a question with these values.
    pub(crate) fn answer(
        &self,
        codec: &Codec,
        lookup: &dyn Lookup,
        sequence: u64,
        asked: Option<&Values>,
    ) -> Result<Prepared, String> {
        let sequence = sequence & self.sequence_mask.unwrap_or(u64::MAX);
        let mut computed = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let value = field.term.compute(lookup).map_err(|error| format!("{}: {error}", field.name))?;
            let numbers: &[Number] = match &value {
                Computed::Missing => return Err(format!("{}: there is no value for it", field.name)),
                Computed::Number(number) => std::slice::from_ref(number),
                Computed::List(list) => list,
                Computed::Text(_) => &[],
            };
            if let Some(number) = numbers.iter().find(|number| !number.real().is_finite()) {
                return Err(format!("{}: {number} is not finite", field.name));
            }
            if let Some([low, high]) = field.limits
                && let Some(number) = numbers.iter().find(|number| !(low..=high).contains(&number.real()))
            {
                return Err(format!("{}: {number} is outside of {low} to {high}", field.name));
            }
            computed.push(match value {
                Computed::List(list) if field.is_bytes => bytes(&field.name, &list)?,
                // As in expressions, a text of one character is the number of its byte.
                Computed::Number(number) if field.is_bytes => bytes(&field.name, &[number])?,
                value => value,
            });
        }
        let mut values = Values::default();
        codec.fill(
            &self.filling,
            |number| match computed.get(number) {
                Some(Computed::Number(number)) => Given::Number(*number),
                Some(Computed::Text(text)) => Given::Bytes(text),
                Some(Computed::List(list)) => Given::List(list),
                _ => Given::Number(Number::Whole(sequence.into())),
            },
            asked,
            &mut values,
        );
        let mut frame = OutgoingFrame { id: self.id, bytes: Vec::new(), is_stop: false };
        codec.encode_wire(self.message, &mut values, &mut frame.bytes).map_err(|error| error.to_string())?;
        if self.id.is_some() && frame.bytes.len() > MAX_CAN_DATA {
            return Err(format!("{} bytes; a CAN frame has at most {MAX_CAN_DATA}", frame.bytes.len()));
        }
        Ok(Prepared {
            message: self.message,
            has_answer: codec.has_answer(self.message) && !self.message.is_answer,
            is_repeatable: self.is_repeatable,
            sequence: self.sequence_mask.map(|_| sequence),
            values,
            frame,
        })
    }
}

/// The identifier of a message on a CAN bus.
pub(crate) fn can_id(codec: &Codec, message: MessageId) -> Option<u64> {
    let described = codec.protocol().messages.get(message.number);
    let described = described.filter(|_| codec.protocol().frame.cut.can)?;
    match if message.is_answer { described.code_of_answer() } else { &described.code } {
        Code::Number(id) => Some(*id),
        Code::Text(_) => None,
    }
}

/// The largest power of two below which all numbers fit a field, minus 1.
fn sequence_mask(field: &Field) -> u64 {
    let kind = field.kind();
    let bits = match (field.bits, &kind.base, field.base) {
        (Some([_, count]), ..) => usize::from(count),
        (None, Base::Text, base) => {
            let digits = match kind.count {
                Some(Count::Fixed(digits)) => digits,
                _ => 1,
            };
            // A digit of base 10 has three whole bits.
            let per_digit = base.unwrap_or(10).max(2).ilog2();
            digits * usize::try_from(per_digit).unwrap_or(1)
        }
        (None, base, _) => {
            let sign = usize::from(matches!(base, Base::Signed(_)));
            8 * kind.size().unwrap_or(1).clamp(1, 8) - sign
        }
    };
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Whether a minimum and a maximum are finite, and in this order.
pub(crate) fn is_range(low: f64, high: f64) -> bool {
    low.is_finite() && high.is_finite() && low <= high
}

/// Binary data, which ROS has as a list.
fn bytes(field: &str, list: &[Number]) -> Result<Computed, String> {
    let byte = |number: &Number| match number {
        Number::Whole(whole) => u8::try_from(*whole).ok(),
        Number::Real(_) => None,
    };
    let bytes: Option<Vec<u8>> = list.iter().map(byte).collect();
    bytes.map(Computed::Text).ok_or_else(|| format!("{field}: a list of bytes is needed"))
}

/// The message of this name.
pub(crate) fn named(codec: &Codec, name: &str) -> Result<MessageId, String> {
    codec.message_named(name).ok_or_else(|| {
        let names = codec.protocol().messages.iter().map(|message| message.name.as_str());
        format!("there is no message {name}{}", dragoman_text::hint(name, names))
    })
}
