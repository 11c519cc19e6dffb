//! Limits, counters and events of the server side.

use std::ops::AddAssign;

use super::super::call::Refusal;
use super::super::wire::{Request, SizeBase};

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
pub enum ConnectionEvent {
    /// A request was refused. The client may have received no answer.
    Refused {
        /// The request.
        request: Request,
        /// The reason.
        refusal: Refusal,
    },
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
        let pairs = [
            (&mut self.bytes, other.bytes),
            (&mut self.requests, other.requests),
            (&mut self.answers, other.answers),
            (&mut self.refused, other.refused),
            (&mut self.malformed, other.malformed),
            (&mut self.unknown, other.unknown),
            (&mut self.garbage, other.garbage),
        ];
        for (sum, term) in pairs {
            *sum += term;
        }
    }
}
