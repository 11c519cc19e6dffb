//! Common functions for the connections of all TCP servers and clients.

pub(crate) mod client;
pub(crate) mod server;

use std::io::{ErrorKind, Result};
use std::time::{Duration, Instant};

use dragoman_time::{Sleep, sleep};
use futures::future::FutureExt;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Acknowledges received data at once. A client that waits for the acknowledgement of a request without an answer would
/// otherwise lose up to 40 ms. The kernel resets the option, so it is set again after every read.
pub(crate) fn acknowledge_quickly(stream: &TcpStream) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = stream.set_quickack(true) {
        tracing::debug!(%error, "TCP_QUICKACK");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = stream;
}

/// Settings for detecting that a client's machine has vanished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keepalive {
    /// Silence before the first probe, s.
    pub(crate) idle_s: u32,
    /// Time between two probes, s.
    pub(crate) interval_s: u32,
    /// Number of unanswered probes.
    pub(crate) probes: u32,
}

impl Keepalive {
    /// Enables TCP keepalive. A client that does not acknowledge sent data for the same time is disconnected as well,
    /// because TCP sends no probes while it has unsent data.
    pub(crate) fn apply(&self, stream: &TcpStream) -> nix::Result<()> {
        setsockopt(stream, sockopt::KeepAlive, &true)?;
        setsockopt(stream, sockopt::TcpKeepIdle, &self.idle_s)?;
        setsockopt(stream, sockopt::TcpKeepInterval, &self.interval_s)?;
        setsockopt(stream, sockopt::TcpKeepCount, &self.probes)?;
        self.limit_unread(stream, true)
    }

    /// Sets whether a client that does not acknowledge sent data is disconnected, as [`apply`](Self::apply) sets it. For
    /// the system, a client that does not read is one of them; without the limit it stays, and one that has vanished
    /// meanwhile is noticed after minutes.
    pub(crate) fn limit_unread(&self, stream: &TcpStream, is_limited: bool) -> nix::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let limit = if is_limited { self.total_s().saturating_mul(1000) } else { 0 };
            setsockopt(stream, sockopt::TcpUserTimeout, &limit)?;
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = (stream, is_limited);
        Ok(())
    }

    fn total_s(&self) -> u32 {
        self.idle_s.saturating_add(self.interval_s.saturating_mul(self.probes))
    }
}

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

/// Whether the peer has closed the connection, or is lost. Unlike [`read`], it notices this also while received bytes are not read
/// yet.
pub(crate) fn has_ended(stream: &TcpStream) -> bool {
    let ready = stream.ready(Interest::READABLE).now_or_never();
    ready.and_then(Result::ok).is_some_and(|ready| ready.is_read_closed())
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
/// In real time, setting a timer wakes tokio's driver, and sometimes another thread: more than the rest of a call
/// costs. So the timer of the first call keeps running for the next ones, and is set again only when it expires too
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

    #[tokio::test]
    async fn an_end_is_found_behind_unread_bytes() {
        use std::io::Write;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().await.unwrap();
        client.write_all(&[1; 100_000]).unwrap();
        server.readable().await.unwrap();
        assert!(!has_ended(&server));
        drop(client);
        let end = Instant::now() + Duration::from_secs(10);
        while !has_ended(&server) {
            assert!(Instant::now() < end);
            sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn the_system_looks_after_silent_clients() {
        use nix::sys::socket::getsockopt;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        Keepalive { idle_s: 7, interval_s: 3, probes: 2 }.apply(&client).unwrap();
        assert!(getsockopt(&client, sockopt::KeepAlive).unwrap());
        assert_eq!(getsockopt(&client, sockopt::TcpKeepIdle).unwrap(), 7);
        assert_eq!(getsockopt(&client, sockopt::TcpKeepInterval).unwrap(), 3);
        assert_eq!(getsockopt(&client, sockopt::TcpKeepCount).unwrap(), 2);
        #[cfg(target_os = "linux")]
        {
            assert_eq!(getsockopt(&client, sockopt::TcpUserTimeout).unwrap(), 13_000);
            Keepalive { idle_s: 7, interval_s: 3, probes: 2 }.limit_unread(&client, false).unwrap();
            assert_eq!(getsockopt(&client, sockopt::TcpUserTimeout).unwrap(), 0);
        }
    }
}
