//! Limits, counters and events of the server side.

use std::fmt;
use std::ops::AddAssign;

use super::super::call::Refusal;
use super::super::wire::{CommandKind, DecodeError, LengthError};
use crate::session::Statistics;

/// Maximum length of an event's text, characters.
const MAX_LINE: usize = 300;

/// Limits of a [`Session`](super::Session).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Maximum number of waiting bytes in each direction; may be exceeded by one message. Default 65536.
    pub max_buffered: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { max_buffered: 65_536 }
    }
}

/// Events of a [`Session`](super::Session), for the owner's log. The text has at most 300 characters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum SessionEvent {
    /// A command was refused. The client was not notified.
    Refused { kind: CommandKind, refusal: Refusal },
    /// An invalid message was skipped.
    Malformed(DecodeError),
    /// An invalid length: the session is over.
    Length(LengthError),
}

impl fmt::Display for SessionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Refused { kind, refusal } => format!("{kind}: {refusal}"),
            Self::Malformed(error) => format!("skipped: {error}"),
            Self::Length(error) => format!("connection closed: {error}"),
        };
        match text.char_indices().nth(MAX_LINE) {
            Some((end, _)) => f.write_str(text.get(..end).unwrap_or_default()),
            None => f.write_str(&text),
        }
    }
}

/// Counters of one or several [`Session`](super::Session)s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatistics {
    /// Commands received.
    pub commands: u64,
    /// Answers given.
    pub answers: u64,
    /// Commands refused, by us or by the platform.
    pub refused: u64,
    /// Invalid messages, and invalid lengths.
    pub malformed: u64,
    /// Messages with unknown command numbers.
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

impl Statistics for ServerStatistics {
    fn refused(&self) -> u64 {
        self.refused + self.malformed + self.unknown
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("commands", self.commands),
            ("answers", self.answers),
            ("refused", self.refused),
            ("malformed messages", self.malformed),
            ("unknown commands", self.unknown),
        ]
    }
}
