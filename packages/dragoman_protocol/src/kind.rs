//! Types of fields: `u8`, `f32[3]`, `text[u8]`, `pose[*]`.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A type: one value, or several.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Kind {
    /// Type of one value.
    pub base: Base,
    /// Number of values; `None`: a single value, not a list.
    pub count: Option<Count>,
}

/// Type of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// An unsigned integer of this number of bits.
    Unsigned(u8),
    /// A signed integer in two's complement, of this number of bits.
    Signed(u8),
    /// A floating-point number (IEEE 754) of 32 or 64 bits.
    Float(u8),
    /// 0 or 1; every other number counts as 1.
    Bool,
    /// Characters; the count is that of bytes.
    Text,
    /// Bytes without meaning.
    Bytes,
    /// A type of the description.
    Named(String),
}

/// Number of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// A constant number.
    Fixed(usize),
    /// An unsigned integer of this number of bits precedes the values.
    Prefixed(u8),
    /// The number is in an earlier field.
    Of(String),
    /// All values up to the end.
    Rest,
}

/// Error in the name of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no type: expected one such as u8, i16, f32[3], text[u8], bytes[*], pose[count]")]
pub struct NoKind(pub String);

impl Kind {
    /// Size on the wire, bytes. `None`: it varies, or it is a type of the description.
    pub fn size(&self) -> Option<usize> {
        let one = match self.base {
            Base::Unsigned(bits) | Base::Signed(bits) | Base::Float(bits) => usize::from(bits) / 8,
            Base::Bool | Base::Text | Base::Bytes => 1,
            Base::Named(_) => return None,
        };
        match self.count {
            None => Some(one),
            Some(Count::Fixed(count)) => one.checked_mul(count),
            Some(_) => None,
        }
    }
}

fn bits(word: &str) -> Option<u8> {
    word.parse().ok().filter(|bits| matches!(bits, 8 | 16 | 24 | 32 | 40 | 48 | 56 | 64))
}

fn is_name(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_')
}

impl FromStr for Base {
    type Err = NoKind;

    fn from_str(word: &str) -> Result<Self, NoKind> {
        let number = word.split_at_checked(1).and_then(|(letter, size)| Some((letter, bits(size)?)));
        match (word, number) {
            ("bool", _) => Ok(Self::Bool),
            ("text", _) => Ok(Self::Text),
            ("bytes", _) => Ok(Self::Bytes),
            (_, Some(("u", bits))) => Ok(Self::Unsigned(bits)),
            (_, Some(("i", bits))) => Ok(Self::Signed(bits)),
            (_, Some(("f", bits @ (32 | 64)))) => Ok(Self::Float(bits)),
            _ if is_name(word) => Ok(Self::Named(word.to_owned())),
            _ => Err(NoKind(word.to_owned())),
        }
    }
}

impl FromStr for Count {
    type Err = NoKind;

    fn from_str(word: &str) -> Result<Self, NoKind> {
        if let Ok(count) = word.parse() {
            return Ok(Self::Fixed(count));
        }
        match (word, Base::from_str(word)) {
            ("*", _) => Ok(Self::Rest),
            (_, Ok(Base::Unsigned(bits))) => Ok(Self::Prefixed(bits)),
            (_, Ok(Base::Named(field))) => Ok(Self::Of(field)),
            _ => Err(NoKind(word.to_owned())),
        }
    }
}

impl FromStr for Kind {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        let wrong = |_| NoKind(text.to_owned());
        let (base, count) = match text.split_once('[') {
            None => (text, None),
            Some((base, rest)) => (base, Some(rest.strip_suffix(']').ok_or(NoKind(text.to_owned()))?)),
        };
        let base: Base = base.parse().map_err(wrong)?;
        let count = count.map(Count::from_str).transpose().map_err(wrong)?;
        let needs_count = matches!(base, Base::Text | Base::Bytes);
        if needs_count && count.is_none() { Err(NoKind(text.to_owned())) } else { Ok(Self { base, count }) }
    }
}

impl TryFrom<String> for Kind {
    type Error = NoKind;

    fn try_from(text: String) -> Result<Self, NoKind> {
        text.parse()
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(bits) => write!(f, "u{bits}"),
            Self::Signed(bits) => write!(f, "i{bits}"),
            Self::Float(bits) => write!(f, "f{bits}"),
            Self::Bool => f.write_str("bool"),
            Self::Text => f.write_str("text"),
            Self::Bytes => f.write_str("bytes"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.base)?;
        match &self.count {
            None => Ok(()),
            Some(Count::Fixed(count)) => write!(f, "[{count}]"),
            Some(Count::Prefixed(bits)) => write!(f, "[u{bits}]"),
            Some(Count::Of(field)) => write!(f, "[{field}]"),
            Some(Count::Rest) => f.write_str("[*]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_they_are_read() {
        for text in
            ["u8", "i24", "f64", "bool", "text[2]", "bytes[*]", "text[u8]", "pose_2d[count]", "f32[3]"]
        {
            assert_eq!(text.parse::<Kind>().unwrap().to_string(), text);
        }
        for (text, size) in
            [("u8", Some(1)), ("f32[7]", Some(28)), ("text[2]", Some(2)), ("u8[*]", None), ("pose", None)]
        {
            assert_eq!(text.parse::<Kind>().unwrap().size(), size, "{text}");
        }
    }

    #[test]
    fn an_invalid_type_is_refused_with_its_text() {
        for text in
            ["", "U8", "text", "bytes", "f32[", "f32[-1]", "f32[3]x", "f32[i8]", "7", "a-b", "u8[f32]"]
        {
            assert_eq!(text.parse::<Kind>(), Err(NoKind(text.to_owned())));
        }
        // No number has this size, so it is the name of a type.
        assert_eq!("u9".parse::<Kind>().unwrap().base, Base::Named("u9".into()));
    }
}
