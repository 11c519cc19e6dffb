//! Values with a short form: a number or a text in place of a mapping, one in place of a list.
//!
//! serde's untagged enums would do the same, but lose the place of an error within.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

/// What a value was written as; a form that a caller does not have is `()` or [`Never`].
#[derive(Debug)]
pub(super) enum Written<M, L> {
    Number(u64),
    Text(String),
    Mapping(M),
    List(L),
}

/// A form that does not exist.
#[derive(Debug)]
pub(super) enum Never {}

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_deserializer: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("a list is not possible here"))
    }
}

struct Forms<M, L> {
    expected: &'static str,
    /// A text is a form.
    has_text: bool,
    form: PhantomData<(M, L)>,
}

/// Reads a value in any of its forms: a text if `has_text`, otherwise a number; or a mapping, or a list.
pub(super) fn written<'de, D, M, L>(
    deserializer: D,
    has_text: bool,
    expected: &'static str,
) -> Result<Written<M, L>, D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
    L: Deserialize<'de>,
{
    deserializer.deserialize_any(Forms { expected, has_text, form: PhantomData })
}

impl<'de, M: Deserialize<'de>, L: Deserialize<'de>> Visitor<'de> for Forms<M, L> {
    type Value = Written<M, L>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expected)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        if self.has_text {
            return Err(E::invalid_type(Unexpected::Unsigned(number), &self));
        }
        Ok(Written::Number(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if !self.has_text {
            return Err(E::invalid_type(Unexpected::Str(text), &self));
        }
        Ok(Written::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        M::deserialize(MapAccessDeserializer::new(map)).map(Written::Mapping)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        L::deserialize(SeqAccessDeserializer::new(seq)).map(Written::List)
    }
}
