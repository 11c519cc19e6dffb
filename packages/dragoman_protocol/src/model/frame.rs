//! Framing: how messages are found in the received bytes.

use serde::Deserialize;

use super::Field;

/// Framing: how messages are found in the received bytes, and the fields around a message's body.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// How the beginning and the end of a message are found.
    pub cut: Cut,
    /// The fields of a frame. One of them is the code, one the body, whose fields depend on the code.
    pub fields: Vec<Field>,
    /// Fields that are different in an answer.
    #[serde(default)]
    pub answer: String,
}

/// How the beginning and the end of a message are found. Exactly one of these is given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cut {
    /// A datagram of this number of bytes.
    pub datagram: Option<usize>,
    /// Minimum size of a datagram, bytes; missing bytes count as 0.
    pub least: Option<usize>,
    /// The field with the size.
    pub size: Option<String>,
    /// The part of the message that the size counts.
    pub counts: Option<Counted>,
    /// Maximum size, bytes.
    pub most: Option<usize>,
    /// Bytes before a message.
    pub start: Option<Mark>,
    /// Bytes after a message.
    pub end: Option<Mark>,
    /// How the bytes of `start` and `end` are written where they are part of a message.
    pub escape: Option<Escape>,
    /// The end of a line.
    pub line: Option<Mark>,
    /// Silence after a message, in characters of the serial line.
    pub silence: Option<f64>,
    /// The code determines the size.
    pub by_code: bool,
    /// A frame of the CAN bus; the code is its identifier.
    pub can: bool,
}

/// The part of a message that a size counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counted {
    /// The whole frame.
    Frame,
    /// Everything after the size.
    Rest,
    /// The body.
    Body,
}

/// Bytes that mark a place: a text, or numbers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "expected a text, or a list of bytes such as [0xC0]")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Mark {
    Text(String),
    Bytes(Vec<u8>),
}

impl Mark {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// How the bytes of marks are written where they are part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "escape: expected slip, cobs, hex, double, or a mapping with mark, xor and of")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Escape {
    Named(NamedEscape),
    Stuffing(Stuffing),
}

/// An escape that needs no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NamedEscape {
    /// RFC 1055: 0xDB 0xDC stands for 0xC0, 0xDB 0xDD for 0xDB.
    Slip,
    /// Consistent Overhead Byte Stuffing (Cheshire and Baker): without zeros.
    Cobs,
    /// Two hexadecimal digits per byte.
    Hex,
    /// The first byte of the marks is sent twice.
    Double,
}

/// A byte of `of` is sent as `mark` and the exclusive or of the byte and `xor`, as in asynchronous HDLC (RFC 1662).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "see above")]
pub struct Stuffing {
    pub mark: u8,
    pub xor: u8,
    pub of: Vec<u8>,
}
