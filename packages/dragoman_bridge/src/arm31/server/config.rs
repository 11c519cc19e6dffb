//! Limits of the server.

use std::time::Duration;

/// Limits and times of a [`Server`](super::Server). The defaults suit an arm with a few clients that poll every 25 ms.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Maximum number of clients; beyond it the one silent longest is removed. At least 1. Default 1024.
    pub max_clients: usize,
    /// Maximum number of one client's requests that wait for its open call. Default 128.
    pub max_waiting_per_client: usize,
    /// Maximum number of open service calls of all clients. Stops may use as many again. Default 1024.
    pub max_open_calls: usize,
    /// Maximum number of unsent datagrams. Default 4096.
    pub max_transmits: usize,
    /// Time limit of a service call; after it the client gets an error. Default 5 s.
    pub service_timeout: Duration,
    /// Warnings are sent to clients that were active within this time. Default 10 s.
    pub listening_window: Duration,
    /// A repeating condition is sent once in this many events. Default 11.
    pub event_period: u32,
    /// A condition that was not met for this long is sent at once when it returns. Default 1 s, which is long compared
    /// with the cycle of 20 ms in which a lasting condition repeats.
    pub event_pause: Duration,
    /// Maximum rate of datagrams per client, 1/s. Default 20000.
    pub rate_per_second: f64,
    /// Maximum number of datagrams that one client may send at once. Default 2000.
    pub burst: f64,
    /// Age at which a measurement is too old for an answer (`ER20` instead). Default `None`: never too old.
    pub measurement_timeout: Option<Duration>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            max_clients: 1024,
            max_waiting_per_client: 128,
            max_open_calls: 1024,
            max_transmits: 4096,
            service_timeout: Duration::from_secs(5),
            listening_window: Duration::from_secs(10),
            event_period: 11,
            event_pause: Duration::from_secs(1),
            rate_per_second: 20_000.0,
            burst: 2000.0,
            measurement_timeout: None,
        }
    }
}
