//! YAML documents that may contain unknown keys.
//!
//! A key that resembles a known one counts as misspelt: an error that names the known one. Another unknown key is left
//! out, with a note: a document may contain more than this version understands. [`strict`] refuses both, for what
//! bounds the motion of a machine. Errors and notes have the line and the path of the key.
//!
//! The known keys are the fields of the types that `serde` reads. `deny_unknown_fields` of these types has no effect.

mod reader;

use std::cell::Cell;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_norway::Value;

use crate::{Note, nearest};
use reader::{Reader, Seed, UnknownKeys};

/// Maximum number of notes of a document with a line of their own: each costs another reading.
const MAX_NOTES: usize = 20;

/// Why a document cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", place(*line, *column))]
pub struct YamlError {
    /// Where, from 1; 0 if unknown.
    pub line: usize,
    /// Character in the line, from 1; 0 if unknown.
    pub column: usize,
    /// What is wrong, with the path of the key.
    pub reason: String,
}

fn place(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!("line {line}, column {column}: ") }
}

/// Reads a document, and what was left out of it.
///
/// # Errors
/// The text is not YAML; a key is misspelt, missing or given twice; a value is wrong.
pub fn lenient<T: DeserializeOwned>(text: &str) -> Result<(T, Vec<Note>), YamlError> {
    lenient_by(UnknownKeys::default(), |unknown_keys| read(text, unknown_keys))
}

/// Reads a document that must have known keys only.
///
/// # Errors
/// As [`lenient`]; an unknown key.
pub fn strict<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    read(text, &UnknownKeys { is_strict: true, ..UnknownKeys::default() })
}

/// Reads what the outermost mapping has for one key, as [`strict`]; `None` if it does not have it.
///
/// # Errors
/// As [`strict`].
pub fn section<T: DeserializeOwned>(text: &str, key: &str) -> Result<Option<T>, YamlError> {
    let unknown_keys = UnknownKeys { is_strict: true, ..UnknownKeys::default() };
    let section = Section { key, index: None, unknown_keys: &unknown_keys, kind: PhantomData };
    section.deserialize(document(text)).map_err(YamlError::of)
}

/// Reads a part of a document that was read before, as [`strict`]. There are no lines.
///
/// # Errors
/// As [`strict`].
pub fn strict_part<T: DeserializeOwned>(value: &Value) -> Result<T, YamlError> {
    let unknown_keys = UnknownKeys { is_strict: true, ..UnknownKeys::default() };
    T::deserialize(Reader { inner: value.clone(), unknown_keys: &unknown_keys }).map_err(YamlError::of)
}

/// Reads an element of the sequence that the outermost mapping has for one key, as [`lenient`]. The keys `apart` of the
/// element are ignored: other code reads them. Paths begin at the element.
///
/// # Errors
/// As [`lenient`]; there is no such element.
pub fn lenient_element<T: DeserializeOwned>(
    text: &str,
    key: &str,
    index: usize,
    apart: &'static [&'static str],
) -> Result<(T, Vec<Note>), YamlError> {
    let path = format!("{key}[{index}]");
    let within = |error: YamlError| {
        let inner = error.reason.strip_prefix(&path);
        let inner = inner.and_then(|inner| inner.strip_prefix(": ").or_else(|| inner.strip_prefix('.')));
        YamlError { reason: inner.unwrap_or(&error.reason).to_owned(), ..error }
    };
    let read = |unknown_keys: &UnknownKeys| {
        let section = Section { key, index: Some(index), unknown_keys, kind: PhantomData };
        let found = section.deserialize(document(text)).map_err(|error| within(YamlError::of(error)))?;
        let absent = || YamlError { line: 0, column: 0, reason: format!("there is no {path}") };
        found.ok_or_else(absent)
    };
    lenient_by(UnknownKeys { apart, ..UnknownKeys::default() }, read)
}

/// The line of a key, which is given with those around it, from 1; `None` if there is none.
pub fn line_of(text: &str, keys: &[&str]) -> Option<usize> {
    let is_found = Cell::new(false);
    let seek = Seek { keys, is_found: &is_found };
    let error = seek.deserialize(document(text)).err()?;
    is_found.get().then(|| error.location().map(|location| location.line()))?
}

/// A text without its byte order mark, after which the parser sees a second document.
fn document(text: &str) -> serde_norway::Deserializer<'_> {
    serde_norway::Deserializer::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn read<T: DeserializeOwned>(text: &str, unknown_keys: &UnknownKeys) -> Result<T, YamlError> {
    let inner = document(text);
    T::deserialize(Reader { inner, unknown_keys }).map_err(YamlError::of)
}

/// The value, and notes about the keys that were left out. For the line of each of them the reading is repeated up to
/// that key, because only errors have a line.
fn lenient_by<T>(
    unknown_keys: UnknownKeys,
    read: impl Fn(&UnknownKeys) -> Result<T, YamlError>,
) -> Result<(T, Vec<Note>), YamlError> {
    let value = read(&unknown_keys);
    let (count, apart) = (unknown_keys.left_out.take().len(), unknown_keys.apart);
    let of = |at| {
        let error = read(&UnknownKeys { stop_at: Some(at), apart, ..UnknownKeys::default() }).err()?;
        Some(Note { line: error.line, text: left_out(&error.reason) })
    };
    let mut notes: Vec<Note> = (0..count.min(MAX_NOTES)).filter_map(of).collect();
    if let (Some(more @ 1..), Some(last)) = (count.checked_sub(MAX_NOTES), notes.last()) {
        notes.push(Note { line: last.line, text: format!("{more} more unknown keys are left out") });
    }
    match value {
        Ok(value) => Ok((value, notes)),
        Err(error) => Err(with_left_out(error, notes)),
    }
}

fn left_out(what: &str) -> String {
    format!("{what} is left out")
}

fn unknown(name: &str) -> String {
    format!("the unknown key '{}'", crate::excerpt(name))
}

/// An error about what is missing, with what was left out before: it may be the cause.
fn with_left_out(error: YamlError, notes: Vec<Note>) -> YamlError {
    if !error.reason.contains("missing field") {
        return error;
    }
    let reason = notes.into_iter().fold(error.reason, |reason, note| format!("{reason}; {note}"));
    YamlError { reason, ..error }
}

impl YamlError {
    fn of(error: serde_norway::Error) -> Self {
        let text = error.to_string();
        let Some(location) = error.location() else {
            return Self { line: 0, column: 0, reason: hinted(text) };
        };
        let (line, column) = (location.line(), location.column());
        let suffix = format!(" at line {line} column {column}");
        let reason = text.strip_suffix(&suffix).map_or_else(|| text.clone(), str::to_owned);
        Self { line, column, reason: hinted(reason) }
    }
}

impl From<serde_norway::Error> for YamlError {
    fn from(error: serde_norway::Error) -> Self {
        Self::of(error)
    }
}

/// An error of `serde` about an unknown variant, with the nearest known one.
fn hinted(reason: String) -> String {
    let found = ["unknown variant `", "unknown field `"].iter().find_map(|start| reason.split_once(start));
    let Some((given, known)) = found.and_then(|(_, rest)| rest.split_once('`')) else { return reason };
    match nearest(given, known.split('`').skip(1).step_by(2)) {
        Some(nearest) => format!("{reason}; did you mean '{nearest}'?"),
        None => reason,
    }
}

/// The value of one key of a mapping, or an element of it.
struct Section<'a, T> {
    key: &'a str,
    index: Option<usize>,
    unknown_keys: &'a UnknownKeys,
    kind: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Section<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Section<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key == self.key {
                found = match self.index {
                    Some(index) => map.next_value_seed(Element {
                        index,
                        unknown_keys: self.unknown_keys,
                        kind: self.kind,
                    })?,
                    None => {
                        Some(map.next_value_seed(Seed { seed: self.kind, unknown_keys: self.unknown_keys })?)
                    }
                };
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// An element of a sequence.
struct Element<'a, T> {
    index: usize,
    unknown_keys: &'a UnknownKeys,
    kind: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Element<'_, T> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<T>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Element<'_, T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Option<T>, A::Error> {
        for _ in 0..self.index {
            if items.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = items.next_element_seed(Seed { seed: self.kind, unknown_keys: self.unknown_keys })?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

/// Looks for a key, and ends with an error there: only errors have a line.
struct Seek<'a> {
    keys: &'a [&'a str],
    is_found: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((wanted, inner)) = self.keys.split_first() else { return Ok(()) };
        let is_last = inner.is_empty();
        while let Some(is_wanted) =
            map.next_key_seed(SoughtKey { wanted, is_last, is_found: self.is_found })?
        {
            if is_wanted {
                return map.next_value_seed(Seek { keys: inner, is_found: self.is_found });
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct SoughtKey<'a> {
    wanted: &'a str,
    is_last: bool,
    is_found: &'a Cell<bool>,
}

impl<'de> DeserializeSeed<'de> for SoughtKey<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for SoughtKey<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        if key == self.wanted && self.is_last {
            self.is_found.set(true);
            return Err(E::custom("here"));
        }
        Ok(key == self.wanted)
    }
}

#[cfg(test)]
mod tests;
