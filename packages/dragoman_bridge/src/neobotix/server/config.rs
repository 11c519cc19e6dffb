//! Limits, counters and events of the server side.

use std::fmt;
use std::ops::AddAssign;

use super::super::call::Refusal;
use super::super::wire::{CommandKind, DecodeError, LengthError};

/// Longest text of an event, characters.
const MAX_LINE: usize = 300;

/// Limits of a [`Session`](super::Session).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Bytes that may wait, on each of the two ways; one message more may be there. Default 65536.
    pub max_buffered: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { max_buffered: 65_536 }
    }
}

/// What the owner of a [`Session`](super::Session) should know, for its log. Its text has 300 characters at most.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// A command was refused. The client was not told.
    Refused {
        /// What was asked for.
        kind: CommandKind,
        /// Why not.
        refusal: Refusal,
    },
    /// A message that is none of the guide's was skipped.
    Malformed(DecodeError),
    /// A length that no message has: the session is over.
    Length(LengthError),
}

impl fmt::Display for SessionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Refused { kind, refusal } => format!("{kind}: {refusal}"),
            Self::Malformed(error) => format!("skipped: {error}"),
            Self::Length(error) => format!("hung up: {error}"),
        };
        match text.char_indices().nth(MAX_LINE) {
            Some((end, _)) => f.write_str(text.get(..end).unwrap_or_default()),
            None => f.write_str(&text),
        }
    }
}

/// What one or several [`Session`](super::Session)s have seen and done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatistics {
    /// Commands received.
    pub commands: u64,
    /// Answers given.
    pub answers: u64,
    /// Commands refused, by us or by the platform.
    pub refused: u64,
    /// Messages that are not what the guide has, and lengths that none has.
    pub malformed: u64,
    /// Messages with unknown numbers.
    pub unknown: u64,
}

impl AddAssign for ServerStatistics {
    fn add_assign(&mut self, other: Self) {
        self.commands += other.commands;
        self.answers += other.answers;
        self.refused += other.refused;
        self.malformed += other.malformed;
        self.unknown += other.unknown;
    }
}
