//! Configuration, counters and events of the client side.

use std::time::Duration;

use super::map::GridMap;
use crate::CallId;
use crate::player::wire::{Answer, Data, Device, XdrError};

/// Configuration of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Period of requests for data; `None`: the server sends new data by itself. Default `None`.
    pub pull_period: Option<Duration>,
    /// Time limit of an answer. Default 5 s.
    pub answer_timeout: Duration,
    /// Time limit of a subscription: the server starts the device's driver first. Default 15 s.
    pub subscription_timeout: Duration,
    /// How long a velocity is valid. Default 0.6 s.
    pub velocity_timeout: Duration,
    /// After this time without a byte from the server the client sends a test request. A device of Stage that sends no
    /// data for this time is opened again. Default 5 s.
    pub silence_timeout: Duration,
    /// Period in which maps are requested again, because servers do not announce changes. Default 5 s.
    pub map_period: Duration,
    /// Pause before a refused subscription is tried again. Default 10 s.
    pub retry_period: Duration,
    /// Pause after the first failed attempt to connect; doubles each time. Default 100 ms.
    pub reconnect_min: Duration,
    /// The longest such pause. Default 2 s.
    pub reconnect_max: Duration,
    /// Maximum number of open calls. Default 64.
    pub max_calls: usize,
    /// Maximum number of unsent bytes; the connection is closed when there are more. Default 256 KiB.
    pub max_unsent: usize,
    /// Maximum number of devices; further ones are ignored. Default 256.
    pub max_devices: usize,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            pull_period: None,
            answer_timeout: Duration::from_secs(5),
            subscription_timeout: Duration::from_secs(15),
            velocity_timeout: Duration::from_millis(600),
            silence_timeout: Duration::from_secs(5),
            map_period: Duration::from_secs(5),
            retry_period: Duration::from_secs(10),
            reconnect_min: Duration::from_millis(100),
            reconnect_max: Duration::from_secs(2),
            max_calls: 64,
            max_unsent: 256 << 10,
            max_devices: 256,
        }
    }
}

/// Why a call or a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no connection, or it was lost.
    #[error("not connected to the server")]
    NotConnected,
    /// The device is not open.
    #[error("the server has not opened the device")]
    NotOpen,
    /// Too many calls are open.
    #[error("too many open requests")]
    Busy,
    /// A number is infinite or NaN.
    #[error("a value is not finite")]
    NotFinite,
    /// The server refused the request.
    #[error("the server refused the request")]
    Refused,
    /// The server did not answer in time.
    #[error("the server did not answer in time")]
    TimedOut,
    /// The answer is malformed.
    #[error("invalid answer: {0}")]
    Invalid(#[from] XdrError),
}

/// State of a device.
#[derive(Debug, Clone, PartialEq)]
pub enum DeviceState {
    /// The device is open; its data is received.
    Open,
    /// The server refused to open it.
    Refused(Refusal),
    /// It is not opened, because its interface is not known.
    NotShown,
}

/// A device of the server.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceInfo {
    /// Interface and number of the device.
    pub device: Device,
    /// Name of its driver; empty if the server does not report it.
    pub driver: String,
    /// Whether it is open.
    pub state: DeviceState,
    /// Geometry and configuration, as far as the device reported them.
    pub facts: Vec<Answer>,
}

/// Events of a [`Client`](super::Client).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ClientEvent {
    /// A server answered. Its devices follow.
    Connected {
        /// The text of its banner, for example `Player v.3.1.0`.
        version: String,
    },
    /// The connection was closed or lost, or an attempt failed to reach a Player server.
    Disconnected(String),
    /// The list of devices; sent again when a refused device could be opened.
    Devices(Vec<DeviceInfo>),
    /// Data of a device.
    Data {
        device: Device,
        /// When it was measured, s since 1970, or since the start of a simulation.
        timestamp: f64,
        data: Data,
    },
    /// A map was read.
    Map {
        /// The device that has it.
        device: Device,
        map: GridMap,
    },
    /// A call has ended.
    Result {
        /// The id given with the call.
        id: CallId,
        /// The answer's body.
        outcome: Result<Vec<u8>, Refusal>,
    },
    /// An error occurred; the client continues.
    Problem {
        device: Device,
        /// Description of the error.
        reason: String,
    },
}

/// Counters of a [`Client`](super::Client) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientStatistics {
    /// Requests sent.
    pub requests: u64,
    /// Answers to them.
    pub answers: u64,
    /// Requests without an answer in time.
    pub timeouts: u64,
    /// Answers without an open request.
    pub unsolicited: u64,
    /// Commands sent.
    pub commands: u64,
    /// Data messages received.
    pub data: u64,
    /// Data messages of unknown number, or of devices that are not open.
    pub ignored: u64,
    /// Messages whose body is malformed.
    pub undecodable: u64,
    /// Messages that the server dropped because the client read too slowly.
    pub dropped: u64,
    /// Connections made.
    pub connections: u64,
}
