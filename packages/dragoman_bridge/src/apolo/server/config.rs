//! Choices and limits, counters and events of the server side.

use std::ops::AddAssign;

use super::super::call::Refusal;
use super::super::wire::{Request, SizeBase};

/// Choices and limits of a [`Connection`](super::Connection).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// Base of sizes and counts in answers. Default 256.
    pub size_base: SizeBase,
    /// `m` is answered. Default true; clients of the seed's age never read that answer.
    pub move_reply: bool,
    /// Questions about unknown names get no answer, as from the original. Default false: `F`.
    pub silent_on_unknown: bool,
    /// Bytes that may wait, on each of the two ways; one message more may be there. Default 16384.
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

/// What the owner of a [`Connection`](super::Connection) should know, for its log.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConnectionEvent {
    /// A request was refused. The client may not have been told.
    Refused {
        /// What was asked for.
        request: Request,
        /// Why not.
        refusal: Refusal,
    },
    /// A frame of this known kind is too small for what it should hold.
    Malformed {
        /// Kind of the frame.
        kind: u8,
    },
    /// A frame of another kind was skipped.
    Unknown {
        /// Kind of the frame.
        kind: u8,
    },
    /// Bytes that belong to no frame were skipped.
    Garbage {
        /// How many.
        bytes: u64,
    },
}

/// What one or several [`Connection`](super::Connection)s have seen and done.
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
    /// Frames too small for what they should hold.
    pub malformed: u64,
    /// Frames of unknown kinds.
    pub unknown: u64,
    /// Bytes that belong to no frame.
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
