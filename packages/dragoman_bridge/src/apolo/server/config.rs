//! Limits, counters and events of the server side.

use std::fmt;
use std::ops::AddAssign;

use super::super::call::Refusal;
use super::super::wire::{Request, SizeBase};
use crate::session::Statistics;

/// Limits and options of a [`Connection`](super::Connection).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Base of sizes and counts in answers. Default 256.
    pub size_base: SizeBase,
    /// Answer `m`. Default true; clients as old as the manual never read that answer.
    pub move_reply: bool,
    /// Do not answer questions about unknown names, as the original. Default false: answer `F`.
    pub silent_on_unknown: bool,
    /// Maximum number of waiting bytes in each direction; may be exceeded by one message. Default 16384.
    pub max_buffered: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            size_base: SizeBase::default(),
            move_reply: true,
            silent_on_unknown: false,
            max_buffered: 16_384,
        }
    }
}

/// Events of a [`Connection`](super::Connection), for the owner's log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ConnectionEvent {
    /// A request was refused. The client may have received no answer.
    Refused { request: Request, refusal: Refusal },
    /// A frame of this known kind is too short for its content.
    Malformed {
        /// Kind of the frame.
        kind: u8,
    },
    /// A frame of an unknown kind was skipped.
    Unknown {
        /// Kind of the frame.
        kind: u8,
    },
    /// Bytes outside of frames were skipped.
    Garbage {
        /// Number of bytes.
        bytes: u64,
    },
}

impl fmt::Display for ConnectionEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { request, refusal } => write!(f, "{request}: {refusal}"),
            Self::Malformed { kind } => {
                write!(f, "frame '{}' is too short for its values", kind.escape_ascii())
            }
            Self::Unknown { kind } => write!(f, "unknown frame '{}'", kind.escape_ascii()),
            Self::Garbage { bytes } => write!(f, "skipped {bytes} bytes outside of frames"),
        }
    }
}

/// Counters of one or several [`Connection`](super::Connection)s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatistics {
    /// Bytes received.
    pub bytes: u64,
    /// Requests received.
    pub requests: u64,
    /// Answers given.
    pub answers: u64,
    /// Requests refused, by us or by the service.
    pub refused: u64,
    /// Frames too short for their content.
    pub malformed: u64,
    /// Frames of unknown kinds.
    pub unknown: u64,
    /// Bytes outside of frames.
    pub garbage: u64,
}

impl AddAssign for ServerStatistics {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.requests += other.requests;
        self.answers += other.answers;
        self.refused += other.refused;
        self.malformed += other.malformed;
        self.unknown += other.unknown;
        self.garbage += other.garbage;
    }
}

impl Statistics for ServerStatistics {
    fn refused(&self) -> u64 {
        self.refused + self.malformed + self.unknown + self.garbage
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("requests", self.requests),
            ("answers", self.answers),
            ("refused", self.refused),
            ("malformed frames", self.malformed),
            ("unknown frames", self.unknown),
            ("bytes outside of frames", self.garbage),
        ]
    }
}
