//! Configuration, counters and events of the client side.

use std::time::Duration;

use super::super::call::Outcome;
use super::super::wire::SizeBase;
use crate::CallId;

/// Configuration of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Base of sizes and counts in requests; also decides for long lists in answers whose layout fits both. Default
    /// 256.
    pub size_base: SizeBase,
    /// The server answers `m`. Default true. If false, every move counts as done.
    pub move_reply: bool,
    /// Time limit of an answer. Default 1 s.
    pub answer_timeout: Duration,
    /// Pause after the first failed attempt to connect; doubles each time. Default 100 ms.
    pub reconnect_min: Duration,
    /// The longest such pause. Default 2 s.
    pub reconnect_max: Duration,
    /// Maximum number of waiting calls. Default 256.
    pub max_waiting: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            size_base: SizeBase::default(),
            move_reply: true,
            answer_timeout: Duration::from_secs(1),
            reconnect_min: Duration::from_millis(100),
            reconnect_max: Duration::from_secs(2),
            max_waiting: 256,
        }
    }
}

/// Events of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// A call has ended.
    Result {
        /// The id given with the call.
        id: CallId,
        /// How it ended.
        outcome: Outcome,
    },
    /// Connected to the server.
    Connected,
    /// Connection closed or lost.
    Disconnected,
}

/// Counters of a [`Client`](super::Client) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Requests sent.
    pub requests: u64,
    /// Answers to them.
    pub replies: u64,
    /// Replies without an open request, or of the wrong kind.
    pub unsolicited: u64,
    /// Frames that are not replies.
    pub undecodable: u64,
    /// Questions without an answer in time.
    pub timeouts: u64,
    /// Connections made.
    pub connections: u64,
}
