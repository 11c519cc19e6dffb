//! Choices and times of the client side, counters and events.

use std::time::Duration;

use super::super::call::{CallId, Outcome};
use super::super::wire::{DecodeError, DocumentReply, Framing, LengthError, Position, Status};

/// Choices and times of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// How requests begin. Default: with the header, as real clients do.
    pub framing: Framing,
    /// How often the status is asked for. Default 100 ms.
    pub status_period: Duration,
    /// How often position and velocities are asked for; `None`: never. Default 50 ms.
    pub position_period: Option<Duration>,
    /// How often the map is asked for, which another client may have changed; `None`: only after connecting, and when this
    /// client has changed it. Default 10 s.
    pub map_period: Option<Duration>,
    /// A status without an answer for this long, or bytes that the platform does not read, end the connection. Default 2 s.
    pub answer_timeout: Duration,
    /// How long the effect of a command is waited for. Default 2 s.
    pub effect_timeout: Duration,
    /// Likewise of CMD_INIT_PLTF, which tests the platform. Default 20 s.
    pub initialize_timeout: Duration,
    /// A velocity of [`Client::handle_velocity`](super::Client::handle_velocity) that is not repeated for this long is
    /// followed by a stop. Default 0.6 s.
    pub velocity_timeout: Duration,
    /// Pause after the first failed attempt to connect; doubles each time. Default 100 ms.
    pub reconnect_min: Duration,
    /// The longest such pause. Default 2 s.
    pub reconnect_max: Duration,
    /// Calls that may be under way. Default 64.
    pub max_calls: usize,
    /// Bytes that may wait to be sent. Default 32 MiB.
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
    /// The stream is none of messages.
    #[error(transparent)]
    Garbage(#[from] LengthError),
    /// The owner of the connection says so.
    #[error("{0}")]
    Closed(String),
}

/// What a [`Client`](super::Client) reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// There is a connection.
    Connected,
    /// There is none any more: the owner closes its own end.
    Disconnected(Loss),
    /// The platform told its state.
    Status(Box<Status>),
    /// The platform told where it is and how it moves. All numbers are finite.
    Position(Position),
    /// The platform told its map.
    Map(DocumentReply),
    /// An answer that makes no sense was skipped.
    Undecodable(DecodeError),
    /// A call has ended.
    Result {
        /// The id given with the call.
        id: CallId,
        /// How it ended.
        outcome: Outcome,
    },
}

/// What a [`Client`](super::Client) has seen and done since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Messages sent.
    pub requests: u64,
    /// Answers to them.
    pub replies: u64,
    /// Questions that the platform passed over.
    pub unanswered: u64,
    /// Replies that nothing asked for.
    pub unsolicited: u64,
    /// Replies that make no sense.
    pub undecodable: u64,
    /// Connections made.
    pub connections: u64,
    /// Calls refused.
    pub refused: u64,
}
