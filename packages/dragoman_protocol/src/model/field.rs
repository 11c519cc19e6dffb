//! The fields of messages.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{ByteOrder, Mark};
use crate::kind::{Base, Count, Kind};

/// A part of a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name in code.
    pub name: String,
    /// Its type; the body of a frame has none.
    #[serde(default, rename = "type")]
    kind: Option<Kind>,
    /// Unit on the wire.
    #[serde(default)]
    pub unit: String,
    /// Its meaning.
    #[serde(default)]
    pub meaning: String,
    /// Its purpose in a frame.
    #[serde(default)]
    pub is: Option<FieldRole>,
    /// Its offset in the frame, bytes; by default it follows the field before it.
    #[serde(default)]
    pub at: Option<usize>,
    /// Its constant value; of a number also an expression over earlier fields, such as `=raw * 2`.
    #[serde(default)]
    pub value: Option<String>,
    /// The type with the names of its values.
    #[serde(default)]
    pub codes: Option<String>,
    /// Whether a number that is not in `codes` is an error.
    #[serde(default)]
    pub strict: bool,
    /// Whether its value may be different in an answer that repeats it.
    #[serde(default)]
    pub changed: bool,
    /// Value in `unit` of one step of the number; `offset` is the value for 0.
    #[serde(default)]
    pub scale: Option<f64>,
    /// See `scale`.
    #[serde(default)]
    pub offset: Option<f64>,
    /// Its lowest bit and its number of bits, where several share a number.
    #[serde(default)]
    pub bits: Option<[u8; 2]>,
    /// Byte order, if it differs from the protocol's one.
    #[serde(default)]
    pub order: Option<ByteOrder>,
    /// Base of a number that is written as text; a `text[N]` with a base is a number of N digits.
    #[serde(default)]
    pub base: Option<u8>,
    /// Minimum number of digits of a number that is written as text; of one with decimals, those in front of the point.
    #[serde(default)]
    pub digits: Option<usize>,
    /// Digits behind the decimal point of a number that is written as text.
    #[serde(default)]
    pub decimals: Option<usize>,
    /// What an empty word stands for, where values have separators.
    #[serde(default)]
    pub empty: Option<Empty>,
    /// The byte that fills a text of fixed size; zero by default.
    #[serde(default)]
    pub pad: Option<Mark>,
    /// A text between separators that takes all that is left of the message, with separators.
    #[serde(default)]
    pub rest: bool,
    /// Encoding of a text; by default its bytes are not looked at.
    #[serde(default)]
    pub encoding: Option<TextEncoding>,
    /// Algorithm of a checksum: its name in the catalogue of CRC algorithms, or `sum` or `xor`.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// The bytes of a checksum; by default all in front of it.
    #[serde(default)]
    pub over: Option<Over>,
    /// The condition with which the field exists.
    #[serde(default)]
    pub when: When,
    /// Whether it may be missing at the end of a message.
    #[serde(default)]
    pub optional: bool,
}

/// The purpose of a field in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldRole {
    /// The code, which identifies the message.
    Code,
    /// The fields of the message.
    Body,
    /// The size.
    Size,
    /// The checksum.
    Checksum,
    /// The address of the receiver.
    Address,
    /// A number that the answer repeats.
    Sequence,
    /// It has no bytes: its value is computed from earlier fields.
    Computed,
}

/// The condition with which a field exists.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "when: expected values of fields such as { mode: 1 }, or an expression such as \"=flags & 4\""
)]
pub enum When {
    /// These earlier fields have these values.
    Values(BTreeMap<String, i64>),
    /// This expression over earlier fields, with `=` in front, is not 0.
    Expression(String),
}

impl Default for When {
    fn default() -> Self {
        Self::Values(BTreeMap::new())
    }
}

impl When {
    /// Values of earlier fields; none if it is an expression.
    pub fn values(&self) -> impl Iterator<Item = (&String, i64)> {
        let values = if let Self::Values(values) = self { Some(values) } else { None };
        values.into_iter().flatten().map(|(name, value)| (name, *value))
    }

    /// The names of fields with values.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.values().map(|(name, _)| name)
    }

    /// Whether this field has a value here.
    pub fn contains_key(&self, name: &str) -> bool {
        self.keys().any(|one| one == name)
    }

    /// Whether there is no condition.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Values(values) if values.is_empty())
    }

    /// The expression, without `=`, if it is one.
    pub fn expression(&self) -> Option<&str> {
        if let Self::Expression(text) = self { text.strip_prefix('=') } else { None }
    }
}

/// The bytes of a checksum: those of these fields, and of the ones between them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The first field; by default the first one of the frame.
    #[serde(default)]
    pub from: Option<String>,
    /// The last field; by default the one in front of the checksum.
    #[serde(default)]
    pub to: Option<String>,
}

/// What an empty word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Empty {
    /// The field is missing.
    Missing,
}

/// Encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextEncoding {
    /// ISO 8859-1: each byte is the character of its number.
    Latin1,
    /// UTF-8; other bytes are an error.
    Utf8,
    /// Characters up to 127; other bytes are an error.
    Ascii,
}

impl Field {
    /// Its type; for the body of a frame it is the remaining bytes, for a computed field a number.
    pub fn kind(&self) -> Kind {
        if self.is_computed() {
            return Kind { base: Base::Float(64), count: None };
        }
        self.kind.clone().unwrap_or(Kind { base: Base::Bytes, count: Some(Count::Rest) })
    }
    /// Whether its type is written in the description.
    pub(super) fn has_type(&self) -> bool {
        self.kind.is_some()
    }

    /// Whether it has bits of the same number as the field before it: bits above those, in a number of the same size, place and
    /// order. Numbers with and without a sign are the same.
    pub(crate) fn shares_with(&self, before: &Self) -> bool {
        let (Some([low, many]), Some([lowest, _])) = (before.bits, self.bits) else { return false };
        low.saturating_add(many) <= lowest
            && before.order == self.order
            && unsigned(before.kind()) == unsigned(self.kind())
            && (self.at.is_none() || self.at == before.at)
    }

    /// Whether it has no bytes.
    pub fn is_computed(&self) -> bool {
        self.is == Some(FieldRole::Computed)
    }

    /// Bytes on the wire. `None`: they vary, or it has a type of the description.
    pub fn size(&self) -> Option<usize> {
        if self.is_computed() { Some(0) } else { self.kind().size() }
    }

    /// Whether it is a number that is written as text: a `text[N]` with a base.
    pub fn is_text_number(&self) -> bool {
        self.base.is_some() && self.kind().base == Base::Text
    }

    /// The expression of its value, without `=`, if it is one: that of a number, not of a text.
    pub fn expression(&self) -> Option<&str> {
        let is_literal = matches!(self.kind().base, Base::Text | Base::Bytes) && !self.is_text_number();
        self.value.as_deref().filter(|_| !is_literal)?.strip_prefix('=')
    }
}

/// The type without its sign.
fn unsigned(kind: Kind) -> Kind {
    match kind.base {
        Base::Signed(bits) => Kind { base: Base::Unsigned(bits), ..kind },
        _ => kind,
    }
}
