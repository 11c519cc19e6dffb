//! Times and limits of the client side, counters and events.

use std::time::Duration;

use super::super::call::Outcome;
use super::super::wire::{DecodeError, DocumentReply, Framing, LengthError, Position, Status};
use crate::CallId;

/// Times and limits of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Framing of requests. Default: with the header, as real clients.
    pub framing: Framing,
    /// Period of status queries. Default 100 ms.
    pub status_period: Duration,
    /// Period of queries for position and velocities; `None`: never. Default 50 ms.
    pub position_period: Option<Duration>,
    /// Period of map queries, since another client may change the map; `None`: only after connecting and after this
    /// client's changes. Default 10 s.
    pub map_period: Option<Duration>,
    /// Time limit for a status and for the platform to read; after it the connection is closed. Default 2 s.
    pub answer_timeout: Duration,
    /// Time limit for the effect of a command. Default 2 s.
    pub effect_timeout: Duration,
    /// Time limit for the effect of CMD_INIT_PLTF, which tests the platform. Default 20 s.
    pub initialize_timeout: Duration,
    /// A stop is sent when a velocity of [`Client::handle_velocity`](super::Client::handle_velocity) is not repeated
    /// for this long. Default 0.6 s.
    pub velocity_timeout: Duration,
    /// Pause after the first failed attempt to connect; doubles each time. Default 100 ms.
    pub reconnect_min: Duration,
    /// The longest such pause. Default 2 s.
    pub reconnect_max: Duration,
    /// Maximum number of open calls. Default 64.
    pub max_calls: usize,
    /// Maximum number of unsent bytes. Default 32 MiB.
    pub max_unsent: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            framing: Framing::Header,
            status_period: Duration::from_millis(100),
            position_period: Some(Duration::from_millis(50)),
            map_period: Some(Duration::from_secs(10)),
            answer_timeout: Duration::from_secs(2),
            effect_timeout: Duration::from_secs(2),
            initialize_timeout: Duration::from_secs(20),
            velocity_timeout: Duration::from_millis(600),
            reconnect_min: Duration::from_millis(100),
            reconnect_max: Duration::from_secs(2),
            max_calls: 64,
            max_unsent: 32 << 20,
        }
    }
}

/// Why a connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Loss {
    /// The platform does not answer.
    #[error("it does not answer")]
    Silent,
    /// The platform does not read what is sent.
    #[error("it does not read")]
    Stalled,
    /// The stream is not a sequence of messages.
    #[error(transparent)]
    Garbage(#[from] LengthError),
    /// Reported by the owner of the connection.
    #[error("{0}")]
    Closed(String),
}

/// Events of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Connected to the platform.
    Connected,
    /// Disconnected: the owner closes its side.
    Disconnected(Loss),
    /// The platform reported its state.
    Status(Box<Status>),
    /// The platform reported its pose and velocities. All numbers are finite.
    Position(Position),
    /// The platform sent its map.
    Map(DocumentReply),
    /// An invalid answer was skipped.
    Undecodable(DecodeError),
    /// A call has ended.
    Result {
        /// The id given with the call.
        id: CallId,
        /// How it ended.
        outcome: Outcome,
    },
}

/// Counters of a [`Client`](super::Client) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Messages sent.
    pub requests: u64,
    /// Answers to them.
    pub replies: u64,
    /// Questions that the platform skipped.
    pub unanswered: u64,
    /// Replies without an open request.
    pub unsolicited: u64,
    /// Invalid replies.
    pub undecodable: u64,
    /// Connections made.
    pub connections: u64,
    /// Calls refused.
    pub refused: u64,
}
