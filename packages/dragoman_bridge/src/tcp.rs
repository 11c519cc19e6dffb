//! Common functions for the connections of all TCP servers and clients.

pub(crate) mod client;
pub(crate) mod server;

use std::io::{ErrorKind, Result};
use std::time::{Duration, Instant};

use dragoman_io::net::TcpStream;
use dragoman_time::{Sleep, sleep};

/// Reads at least one byte, or 0 at the end.
pub(crate) async fn read(stream: &TcpStream, buffer: &mut [u8]) -> Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read,
        }
    }
}

/// Sends as much as the peer accepts. Returns the number of bytes.
pub(crate) fn send(stream: &TcpStream, unsent: &[u8]) -> Result<usize> {
    if unsent.is_empty() {
        return Ok(0);
    }
    match stream.try_write(unsent) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        sent => sent,
    }
}

/// A time limit for consecutive calls, most of which end long before it.
///
/// In real time, setting a timer wakes tokio's driver, and sometimes another thread, which costs more than the rest of
/// a call. So the timer of the first call keeps running for the next ones, and is set again only when it expires too
/// early for the open call.
pub(crate) struct TimeLimit {
    limit: Duration,
    deadline: Instant,
    timer: Sleep,
}

impl TimeLimit {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, deadline: dragoman_time::now() + limit, timer: sleep(limit) }
    }

    /// Starts the time limit of a call.
    pub(crate) fn restart(&mut self) {
        self.deadline = dragoman_time::now() + self.limit;
    }

    /// Resolves when the current call has exceeded its time limit.
    pub(crate) async fn reached(&mut self) {
        loop {
            (&mut self.timer).await;
            if self.deadline <= dragoman_time::now() {
                return;
            }
            self.timer.reset(self.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_call_has_the_whole_limit() {
        const LIMIT: Duration = Duration::from_millis(100);
        let mut limit = TimeLimit::new(LIMIT);
        for pause in [0, 60, 150, 10] {
            sleep(Duration::from_millis(pause)).await;
            limit.restart();
            let begin = Instant::now();
            limit.reached().await;
            assert!(begin.elapsed() >= LIMIT, "{:?} after a pause of {pause} ms", begin.elapsed());
        }
    }
}
