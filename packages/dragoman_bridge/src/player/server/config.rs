//! Devices, limits, counters, events.

use std::fmt;
use std::ops::AddAssign;

use crate::player::wire::{self, BANNER, BANNER_LEN, Device, StreamError};
use crate::session::Statistics;

/// A device that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its interface and number.
    pub device: Device,
    /// The name of its driver, of at most 63 bytes.
    pub driver: String,
    /// The robot that has the device, for the name service.
    pub robot: String,
}

/// Settings of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// The version in the banner, which is sent to new clients.
    pub version: String,
    /// The key that clients must send first.
    pub key: Option<String>,
    /// Maximum number of data messages that wait for a client.
    pub max_data: usize,
    /// Number of waiting bytes of requests or answers from which on the owner does not read from a client.
    pub max_buffered: usize,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { version: "3.1.1-dev".to_owned(), key: None, max_data: 1024, max_buffered: 64 << 10 }
    }
}

impl ServerConfig {
    /// The banner for new clients.
    pub fn banner(&self) -> [u8; BANNER_LEN] {
        let mut banner = [0; BANNER_LEN];
        let text = BANNER.bytes().chain(self.version.bytes());
        // The last byte stays 0.
        banner.iter_mut().take(BANNER_LEN - 1).zip(text).for_each(|(byte, letter)| *byte = letter);
        banner
    }
}

/// Events for the owner's log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ServerEvent {
    /// A command or request was not carried out.
    Refused { device: Device, reason: String },
    /// A subscription was denied.
    Denied { device: Device, reason: &'static str },
    /// A device could not be opened.
    NotOpened { device: Device, reason: String },
    /// A client does not send Player messages; its connection is closed.
    Stream(StreamError),
    /// Too many bytes of all clients cannot be carried out yet; the connection with the most bytes is closed.
    TooMuch {
        /// Bytes of all clients.
        bytes: usize,
    },
}

impl fmt::Display for ServerEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { device, reason } => write!(formatter, "{}: {reason}", name(*device)),
            Self::Denied { device, reason } => {
                write!(formatter, "{}: the subscription is denied: {reason}", name(*device))
            }
            Self::NotOpened { device, reason } => {
                write!(formatter, "{} could not be opened: {reason}", name(*device))
            }
            Self::TooMuch { bytes } => {
                write!(
                    formatter,
                    "{bytes} bytes of incomplete messages and requests: a client is disconnected"
                )
            }
            Self::Stream(error) => write!(formatter, "a client does not speak Player's protocol: {error}"),
        }
    }
}

/// A device's name, as in configuration files: `position2d:0`.
pub(super) fn name(device: Device) -> String {
    match wire::interface(device.interface) {
        Some(interface) => format!("{}:{}", interface.name, device.index),
        None => format!("interface {}:{}", device.interface, device.index),
    }
}

/// Counters of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct ServerStatistics {
    /// Received bytes.
    pub bytes: u64,
    /// Received messages.
    pub messages: u64,
    /// Streams that could not be decoded.
    pub malformed: u64,
    pub answers: u64,
    /// Commands, requests and subscriptions that were not carried out.
    pub refused: u64,
    /// Data messages that were dropped because a client does not read.
    pub dropped: u64,
}

impl AddAssign for ServerStatistics {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.messages += other.messages;
        self.malformed += other.malformed;
        self.answers += other.answers;
        self.refused += other.refused;
        self.dropped += other.dropped;
    }
}

impl Statistics for ServerStatistics {
    fn refused(&self) -> u64 {
        self.refused + self.malformed
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("bytes", self.bytes),
            ("messages", self.messages),
            ("malformed", self.malformed),
            ("answers", self.answers),
            ("refused", self.refused),
            ("data dropped", self.dropped),
        ]
    }
}
