//! Devices on a serial line.
//!
//! | file | holds |
//! | --- | --- |
//! | `sender` | what a device has to send, and what can go wrong with it |
//! | `edge` | such a device on any byte stream, in real time (feature `tokio`) |

#[cfg(feature = "tokio")]
pub mod edge;
mod sender;

use std::time::Duration;

pub(crate) use sender::Sender;

/// A simulated device at the end of a serial line. It reads no clock: the same bytes at the same times give the same answers.
pub trait SerialDevice: Send {
    /// Takes bytes that arrived at `now`, in pieces of any size.
    fn receive(&mut self, now: Duration, bytes: &[u8]);

    /// Brings it up to `now`. Times that have been do nothing.
    fn advance(&mut self, now: Duration);

    /// What it sends next, a packet or a line; `None` where there is nothing.
    fn transmit(&mut self) -> Option<Vec<u8>>;

    /// When it wants to be brought up next, at the latest.
    fn next_event(&self) -> Duration;
}
