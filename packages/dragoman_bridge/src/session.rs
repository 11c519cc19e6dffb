//! The common interface of the server sides of all TCP protocols.

use std::fmt::Display;
use std::ops::AddAssign;
use std::time::Duration;

/// The server's side of one connection. It owns no socket and no clock; times are durations since any fixed time.
///
/// After every input, drain [`poll_call`](Self::poll_call), send the [`unsent`](Self::unsent) bytes, and drain
/// [`poll_event`](Self::poll_event).
pub trait ServerSession {
    /// A service to call.
    type Call;
    /// The result of a call.
    type Outcome;
    /// An event for the owner's log.
    type Event: Display;
    /// Counters.
    type Statistics: Statistics;

    /// Whether more bytes should be read from the client.
    fn wants_input(&self) -> bool;

    /// Receives bytes from the client, in pieces of any size.
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]);

    /// The next service to call. Report its outcome with [`handle_outcome`](Self::handle_outcome) before the next call.
    fn poll_call(&mut self, now: Duration) -> Option<Self::Call>;

    /// The outcome of the open call. Ignored without an open call.
    fn handle_outcome(&mut self, now: Duration, outcome: Self::Outcome);

    /// Bytes to send to the client.
    fn unsent(&self) -> &[u8];

    /// The first `len` of the [`unsent`](Self::unsent) bytes were sent.
    fn handle_sent(&mut self, len: usize);

    /// Whether to close the connection after sending the bytes that can be sent now.
    fn is_closing(&self) -> bool;

    /// Events for the owner, oldest first.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// The counters since the last call of this function.
    fn poll_statistics(&mut self) -> Self::Statistics;
}

/// Counters of one or several sessions.
pub trait Statistics: Copy + Default + PartialEq + AddAssign {
    /// Number of requests that were not carried out, for whatever reason.
    fn refused(&self) -> u64;

    /// All counters with their names, for `/diagnostics`.
    fn counters(&self) -> Vec<(&'static str, u64)>;
}
