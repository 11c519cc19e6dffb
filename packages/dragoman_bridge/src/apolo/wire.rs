//! The frames on the wire, without state.
//!
//! ```text
//! offset 0     1     2     3     4     5
//!        +-----+-----+-----+-----+-----+----------------------------
//!        | 'a' | 'a' | lo  | hi  | kind| payload
//!        +-----+-----+-----+-----+-----+----------------------------
//! ```
//!
//! `lo` and `hi` are the size of the whole frame, `lo + hi * base`. The annex of seed 000 has base 255; programs since
//! 2018 write base 256. A request's own layout tells its length, so either is understood. `f64` are little-endian.
//! Lengths are in metres, angles in radians, times in seconds.
//!
//! - [`Command`]: the table of the 15 commands;
//! - [`Request`]: what a client sends; [`Reply`]: what a server sends;
//! - [`RequestDecoder`], [`ReplyDecoder`]: a stream of bytes, cut anywhere and with garbage in it, as messages.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod command;
mod frame;
mod payload;
mod reply;
mod request;

pub use command::{Answer, Command, Data};
pub use frame::{Received, ReplyDecoder, RequestDecoder};
pub use reply::{LandMark, Reply};
pub use request::Request;

/// Bytes before the payload.
pub const HEADER_LEN: usize = 5;
/// The longest known request, with some room: what announces more is not one.
pub const MAX_REQUEST_LEN: usize = 4096;
/// The longest name in bytes: its length has one byte and counts the final NUL.
pub const MAX_NAME_LEN: usize = 254;
/// Default TCP port of Apolo.
pub const DEFAULT_PORT: u16 = 12000;

/// What the second byte of a size, of a count and of a landmark's number is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SizeBase {
    /// As the annex of seed 000 has it.
    Annex255,
    /// As programs since 2018 have it.
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

    /// The two bytes that stand for a number. `None`: it is too large for this base.
    pub fn split(self, number: usize) -> Option<[u8; 2]> {
        let number = u16::try_from(number).ok()?;
        match self {
            Self::Annex255 => Some([u8::try_from(number % 255).ok()?, u8::try_from(number / 255).ok()?]),
            Self::Full256 => Some(number.to_le_bytes()),
        }
    }
}

/// A number that is no [`SizeBase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no base of sizes; 255 and 256 are")]
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

/// Why a message cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A name has more bytes than its length byte can tell.
    #[error("the name '{name}' is longer than {MAX_NAME_LEN} bytes")]
    NameTooLong {
        /// The name.
        name: String,
    },
    /// A name ends at its first NUL on the wire.
    #[error("the name '{name}' contains a NUL character")]
    NulInName {
        /// The name, with the character escaped.
        name: String,
    },
    /// More joint values than one byte can count.
    #[error("{count} joint values are more than the 255 that the protocol can tell")]
    TooManyJoints {
        /// Values given.
        count: usize,
    },
    /// More than the two bytes of the size can tell.
    #[error("a message of {len} bytes is longer than the protocol can tell")]
    TooLong {
        /// Its length.
        len: usize,
    },
}
