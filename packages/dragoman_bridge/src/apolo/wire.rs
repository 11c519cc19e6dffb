//! The frames on the wire, without state.
//!
//! ```text
//! offset 0     1     2     3     4     5
//!        +-----+-----+-----+-----+-----+----------------------------
//!        | 'a' | 'a' | lo  | hi  | kind| payload
//!        +-----+-----+-----+-----+-----+----------------------------
//! ```
//!
//! `lo` and `hi` are the size of the whole frame, `lo + hi * base`. The annex of the Apolo port manual has base 255;
//! programs since 2018 use base 256. A request's own layout determines its length, so both are understood. `f64` are
//! little-endian.
//! Lengths are in metres, angles in radians, times in seconds.
//!
//! - [`Command`]: the 15 commands, made of a description in `dragoman_protocol`;
//! - [`Request`]: what a client sends; [`Reply`]: what a server sends;
//! - [`RequestDecoder`], [`ReplyDecoder`]: decode a byte stream, which may be split anywhere and contain garbage.

mod command;
mod frame;
mod payload;
mod reply;

pub use command::{AnswerFormat, Command, Request};
pub use frame::{Received, ReplyDecoder, RequestDecoder};
pub use reply::{LandMark, Reply};

/// Bytes before the payload.
pub const HEADER_LEN: usize = 5;
/// The longest known request, with some room; a frame that announces more is not a request.
pub const MAX_REQUEST_LEN: usize = 4096;
/// The longest name in bytes: its length has one byte and counts the final NUL.
pub const MAX_NAME_LEN: usize = 254;
/// Default TCP port of Apolo.
pub const DEFAULT_PORT: u16 = 12000;

/// Factor of the second byte of a size, a count or a landmark's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SizeBase {
    /// As in the annex of the Apolo port manual.
    Annex255,
    /// As in programs since 2018.
    #[default]
    Full256,
}

impl SizeBase {
    /// The number that two bytes stand for.
    pub fn join(self, [low, high]: [u8; 2]) -> u16 {
        match self {
            Self::Annex255 => u16::from(low) + 255 * u16::from(high),
            Self::Full256 => u16::from_le_bytes([low, high]),
        }
    }

    /// The two bytes that encode a number. `None`: too large for this base.
    pub fn split(self, number: usize) -> Option<[u8; 2]> {
        let number = u16::try_from(number).ok()?;
        match self {
            Self::Annex255 => Some([u8::try_from(number % 255).ok()?, u8::try_from(number / 255).ok()?]),
            Self::Full256 => Some(number.to_le_bytes()),
        }
    }
}

/// A number that is not a [`SizeBase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a base of sizes; use 255 or 256")]
pub struct InvalidBase(pub i64);

impl TryFrom<i64> for SizeBase {
    type Error = InvalidBase;

    fn try_from(base: i64) -> Result<Self, InvalidBase> {
        match base {
            255 => Ok(Self::Annex255),
            256 => Ok(Self::Full256),
            other => Err(InvalidBase(other)),
        }
    }
}

/// Error encoding a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum EncodeError {
    /// A name is longer than its length byte permits.
    #[error("the name '{name}' is longer than {MAX_NAME_LEN} bytes")]
    NameTooLong { name: String },
    /// A name contains a NUL; on the wire a name ends at its first NUL.
    #[error("the name '{name}' contains a NUL character")]
    NulInName {
        /// The name, with the character escaped.
        name: String,
    },
    /// More joint values than the count byte permits.
    #[error("{count} joint values are too many for the protocol, which has at most 255")]
    TooManyJoints {
        /// Values given.
        count: usize,
    },
    /// Longer than the two bytes of the size permit.
    #[error("a message of {len} bytes is too long for the protocol")]
    TooLong { len: usize },
}
