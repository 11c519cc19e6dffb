//! Devices on a serial line.
//!
//! | file | holds |
//! | --- | --- |
//! | `sender` | the sending half of a device's line, and its faults |
//! | `edge` | a device on any byte stream, in real time (feature `tokio`) |

#[cfg(feature = "tokio")]
pub mod edge;
mod sender;

use std::time::Duration;

pub(crate) use sender::Sender;

/// A simulated device on a serial line. It reads no clock: the same bytes at the same times give the same answers.
pub trait SerialDevice: Send {
    /// Takes bytes that arrived at `now`, in pieces of any size.
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]);

    /// Advances it to `now`. Earlier times have no effect.
    fn handle_timeout(&mut self, now: Duration);

    /// The next packet or line to send; `None` if there is none.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;

    /// The latest time for the next call of `handle_timeout`.
    fn poll_timeout(&self) -> Duration;
}
