//! The 31 bytes on the wire, without state.
//!
//! ```text
//! offset 0      2        6        10       14       18       22       26       30
//!        +------+--------+--------+--------+--------+--------+--------+--------+---+
//!        | two  |  f32   |  f32   |  f32   |  f32   |  f32   |  f32   |  f32   |u8 |
//!        |letters      little-endian throughout                                |   |
//!        +------+--------+--------+--------+--------+--------+--------+--------+---+
//! ```
//!
//! Source: Ranger thesis, appendix A (head and footnotes). Lengths are in metres, angles in radians, times in
//! seconds, temperatures in degrees Celsius; poses are of the tool frame in the arm's base frame.
//!
//! - [`Command`]: the 20 commands, made of a description in `dragoman_protocol`;
//! - [`Datagram`]: checked view of the bytes. It keeps them unparsed, so an echo is bit-exact;
//! - [`Request`]: messages of a client; [`Reply`]: messages of a controller;
//! - [`Notice`]: the error and warning texts (`ER..`, `WN..`).

mod command;
mod datagram;
mod notice;
mod reply;
mod request;

pub use command::{Command, Request};
pub use datagram::{Datagram, Letters};
pub use dragoman_protocol::model::Role;
pub use notice::Notice;
pub use reply::Reply;

/// Size of every datagram in bytes.
pub const DATAGRAM_LEN: usize = 31;
/// Minimum length of an accepted datagram in bytes: without the index byte, which is then 0 (the source tolerates it).
pub const MIN_DATAGRAM_LEN: usize = 30;
/// Number of 32-bit floats in a datagram.
pub const VALUE_COUNT: usize = 7;
/// Joints that `jG`, `jV` and `RC` carry.
pub const JOINT_COUNT: usize = 6;
/// Value in `TM`, in degrees Celsius, for a drive that is absent or reports no temperature.
pub const ABSENT_TEMPERATURE: f32 = -1000.0;
/// Default UDP port of the controller.
pub const DEFAULT_PORT: u16 = 5031;
/// Size of a receive buffer that distinguishes too long datagrams from valid ones.
pub const RECEIVE_BUFFER_LEN: usize = 2048;

/// Error decoding a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// No bytes, so an answer could not name a command.
    #[error("empty datagram")]
    Empty,
    /// Fewer than 30 bytes. A missing second letter is shown as `?`.
    #[error("{letters}: {len} bytes instead of {DATAGRAM_LEN}")]
    Undersized {
        /// Leading letters, as far as received.
        letters: Letters,
        /// Bytes received.
        len: usize,
    },
    /// More than 31 bytes.
    #[error("{letters}: {len} bytes instead of {DATAGRAM_LEN}")]
    Oversized {
        /// Leading letters.
        letters: Letters,
        /// Bytes received.
        len: usize,
    },
    /// The letters are not those of a command (in a reply: of a swapped command).
    #[error("unknown letters {letters}")]
    UnknownLetters {
        /// The letters as received.
        letters: Letters,
    },
    /// `ER` or `WN` with a text that is not in the table.
    #[error("unknown text of a notice")]
    UnknownNotice,
}
