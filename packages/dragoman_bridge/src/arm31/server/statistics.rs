//! Counters of the server.

/// Counters of a [`Server`](super::Server) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatistics {
    /// Datagrams received, of any kind.
    pub datagrams: u64,
    /// Datagrams queued for sending: answers and warnings.
    pub answers: u64,
    /// Of these, `ER..` texts.
    pub errors_sent: u64,
    /// Received datagrams without an answer because they were empty or an `ER` or `WN` text.
    pub ignored: u64,
    /// Received datagrams dropped because the sender exceeded its rate.
    pub dropped_over_rate: u64,
    /// Received datagrams dropped because the sender's queue was full.
    pub dropped_queue_full: u64,
    /// Answers and warnings dropped because the owner did not collect them.
    pub dropped_transmits: u64,
    /// Service calls made.
    pub calls: u64,
    /// Service calls that got no result in time.
    pub call_timeouts: u64,
    /// Results after the time limit, or for unknown calls.
    pub late_results: u64,
    /// Requests refused because too many calls were open.
    pub refused_busy: u64,
    /// `ST` requests received.
    pub stops: u64,
    /// Waiting motion starts that a stop cancelled.
    pub cancelled_starts: u64,
    /// Stop calls repeated because a start may have been carried out after the stop.
    pub repeated_stops: u64,
    /// Measurements refused because a value was not finite or missing.
    pub refused_measurements: u64,
    /// Conditions sent to the clients.
    pub events_sent: u64,
    /// Conditions not sent because they repeated.
    pub events_suppressed: u64,
    /// Clients forgotten because the table was full.
    pub evicted_clients: u64,
    /// Clients remembered at present.
    pub clients: usize,
    /// Service calls open at present.
    pub open_calls: usize,
}
