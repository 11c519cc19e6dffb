//! Connects a driver, of a base or an arm, with its byte stream: a serial port, or simulated firmware in the same
//! process.
//!
//! One task reads, writes, and waits for the driver's deadline; a velocity is written by the calling thread if the
//! stream accepts it at once. A stream that ends, fails or accepts no bytes is reopened while the line is open.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use dragoman_time::watch;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

use super::driver::SerialDriver;
use crate::Timeline;

/// Timeout of writing a driver's bytes of one turn.
const WRITE_TIME: Duration = Duration::from_millis(200);
/// Delay before a stream is reopened.
pub const REOPEN_TIME: Duration = Duration::from_millis(200);
/// Polling interval for a closed stream.
const CLOSING_STEP: Duration = Duration::from_millis(2);
/// Read buffer: more than arrives in a turn.
const READ_SIZE: usize = 1024;

/// A driver and its line. Clones share it.
pub struct Line<B> {
    shared: Arc<Shared<B>>,
}

struct Shared<B> {
    inner: Mutex<Inner<B>>,
    /// There is something to send, or the deadline has changed.
    wake: Notify,
    /// Whether the stream should be open.
    wanted: watch::Sender<bool>,
    /// The driver's time.
    timeline: Timeline,
    reopen_time: Duration,
}

struct Inner<B> {
    driver: B,
    /// Bytes waiting for the stream.
    output: Vec<u8>,
    /// The write half; `None` while the line's task writes, and without a stream.
    writer: Option<Writer>,
    /// Why the stream is not open.
    failure: Option<String>,
}

type Writer = Pin<Box<dyn AsyncWrite + Send>>;

impl<B> Clone for Line<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<B: SerialDriver> Line<B> {
    /// A closed line, which is reopened after `reopen_time`, for example [`REOPEN_TIME`].
    pub fn new(driver: B, reopen_time: Duration) -> Self {
        Self::in_time(driver, reopen_time, Timeline::default())
    }

    /// A line whose driver lives in this time: that of a simulated device. Reopening takes real time.
    pub fn in_time(driver: B, reopen_time: Duration, timeline: Timeline) -> Self {
        let failure = Some("it has not been opened yet".to_owned());
        let inner = Inner { driver, output: Vec::new(), writer: None, failure };
        let shared = Shared {
            inner: Mutex::new(inner),
            wake: Notify::new(),
            wanted: watch::Sender::new(true),
            timeline,
            reopen_time,
        };
        Self { shared: Arc::new(shared) }
    }

    /// Calls `action` with the driver and the present time, and sends the resulting bytes.
    pub fn with<R>(&self, action: impl FnOnce(Duration, &mut B) -> R) -> R {
        let result = self.call_driver(action);
        self.shared.wake.notify_one();
        result
    }

    /// As [`Line::with`], but sends the bytes that `action` returns at once if the stream is free, without waking a
    /// task first.
    ///
    /// # Errors
    /// The errors of `action`.
    pub fn send_now<E>(&self, action: impl FnOnce(Duration, &mut B) -> Result<&[u8], E>) -> Result<(), E> {
        self.inner(|now, inner| {
            let bytes = action(now, &mut inner.driver)?;
            inner.output.extend_from_slice(bytes);
            inner.write_free();
            Ok(())
        })?;
        // The driver's deadline has changed, and the stream may not have accepted everything.
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Reads from the driver, or takes its events.
    pub fn look<R>(&self, look: impl FnOnce(&mut B) -> R) -> R {
        self.inner(|_, inner| look(&mut inner.driver))
    }

    /// Why the stream is not open; `None`: it is.
    pub fn failure(&self) -> Option<String> {
        self.inner(|_, inner| inner.failure.clone())
    }

    /// Whether it was closed on request.
    pub fn is_closed(&self) -> bool {
        !*self.shared.wanted.borrow()
    }

    /// Reopens the stream after [`Line::close`].
    pub fn open(&self) {
        self.shared.wanted.send_replace(true);
    }

    /// Stops all motion, sends that, and closes the stream for other programs. Waits for it, with a timeout.
    pub async fn close(&self) {
        self.with(|_, driver| driver.stop());
        self.shared.wanted.send_replace(false);
        let closed = async {
            while self.failure().is_none() {
                dragoman_time::sleep(CLOSING_STEP).await;
            }
        };
        if dragoman_time::timeout(2 * WRITE_TIME, closed).await.is_err() {
            tracing::warn!("closing the serial port timed out");
        }
    }

    /// Runs the driver while the future is polled. `port` names the stream in the log; `open` opens it; `changed` is
    /// called after each measurement, when a deadline has passed, and when the stream cannot be opened or was lost.
    pub async fn run<S>(
        self,
        port: String,
        mut open: impl AsyncFnMut() -> io::Result<S>,
        mut changed: impl FnMut(),
    ) where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let mut wanted = self.shared.wanted.subscribe();
        let mut reported = None;
        loop {
            // The sender in `self` keeps the channel open.
            let _ = wanted.wait_for(|wanted| *wanted).await;
            let (text, failure) = match open().await {
                Ok(stream) => {
                    tracing::info!(%port, "serial port opened");
                    reported = None;
                    let (reader, writer) = tokio::io::split(stream);
                    self.opened(Box::pin(writer));
                    ("serial port lost", self.serve(reader, &mut wanted, &mut changed).await.to_string())
                }
                Err(error) => ("opening the serial port failed", error.to_string()),
            };
            // Logged once per reason, not at every attempt.
            if reported.as_ref() != Some(&failure) {
                if *wanted.borrow() {
                    tracing::warn!(%port, error = %failure, "{text}");
                } else {
                    tracing::info!(%port, "serial port closed");
                }
                reported = Some(failure.clone());
            }
            self.lost(failure);
            changed();
            dragoman_time::sleep(self.shared.reopen_time).await;
        }
    }

    /// Runs until the stream ends or is closed; returns the reason.
    async fn serve(
        &self,
        mut stream: impl AsyncRead + Unpin,
        wanted: &mut watch::Receiver<bool>,
        changed: &mut impl FnMut(),
    ) -> io::Error {
        let mut bytes = [0; READ_SIZE];
        let mut output = Vec::new();
        loop {
            // Checked first, so that bytes from before the close request are sent.
            let is_wanted = *wanted.borrow_and_update();
            let (deadline, writer) = self.inner(|_, inner| {
                std::mem::swap(&mut output, &mut inner.output);
                let writer = if output.is_empty() { None } else { inner.writer.take() };
                (inner.driver.poll_timeout(), writer)
            });
            if let Some(mut writer) = writer {
                match dragoman_time::timeout(WRITE_TIME, writer.write_all(&output)).await {
                    Ok(Ok(())) => {
                        dragoman_time::note("serial", "written", &output);
                        output.clear();
                    }
                    Ok(Err(error)) => return error,
                    Err(_) => return io::Error::new(io::ErrorKind::TimedOut, "the line takes no bytes"),
                }
                if self.inner(|_, inner| {
                    inner.writer = Some(writer);
                    !inner.output.is_empty()
                }) {
                    continue;
                }
            }
            if !is_wanted {
                return io::Error::other("it was closed on request");
            }
            let due = async {
                match deadline {
                    Some(deadline) => self.shared.timeline.sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // Read before detecting silence: this task may be late itself.
                read = stream.read(&mut bytes) => match read {
                    Ok(0) => return io::Error::new(io::ErrorKind::UnexpectedEof, "the line has ended"),
                    Ok(count) => {
                        let mut rest = bytes.get(..count).unwrap_or_default();
                        dragoman_time::note("serial", "read", rest);
                        while self.call_driver(|now, driver| driver.handle_bytes(now, &mut rest)) {
                            changed();
                        }
                    }
                    Err(error) => return error,
                },
                _ = wanted.changed() => {}
                () = self.shared.wake.notified() => {}
                () = due => {
                    self.call_driver(|now, driver| driver.handle_timeout(now));
                    changed();
                }
            }
        }
    }

    /// Calls `action` with the driver, and keeps the bytes that the driver wants to send.
    fn call_driver<R>(&self, action: impl FnOnce(Duration, &mut B) -> R) -> R {
        self.inner(|now, inner| {
            let result = action(now, &mut inner.driver);
            inner.output.extend_from_slice(inner.driver.poll_transmit());
            result
        })
    }

    fn opened(&self, writer: Writer) {
        self.inner(|now, inner| {
            inner.output.clear();
            inner.driver.handle_connected(now);
            inner.writer = Some(writer);
            inner.failure = None;
        });
    }

    fn lost(&self, failure: String) {
        self.inner(|now, inner| {
            inner.output.clear();
            inner.driver.handle_disconnected(now);
            inner.writer = None;
            inner.failure = Some(failure);
        });
    }

    fn inner<R>(&self, action: impl FnOnce(Duration, &mut Inner<B>) -> R) -> R {
        let mut inner = self.shared.inner.lock();
        action(self.shared.timeline.now(), &mut inner)
    }
}

impl<B> Inner<B> {
    /// Writes what the stream accepts without waiting. The rest, and any error, is left to the line's task.
    fn write_free(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        // No task waits for this stream to accept more: the line's task does not own it.
        let written = writer.as_mut().poll_write(&mut Context::from_waker(Waker::noop()), &self.output);
        if let Poll::Ready(Ok(count)) = written {
            self.output.drain(..count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{DuplexStream, duplex};
    use tokio::sync::mpsc;

    /// A driver that sends `m` on a move command, a dot at its deadline, and stores received bytes.
    #[derive(Default)]
    struct TestDriver {
        output: Vec<u8>,
        said: Vec<u8>,
        received: Vec<u8>,
        opened: usize,
        lost: usize,
        due: Option<Duration>,
    }

    impl SerialDriver for TestDriver {
        fn handle_connected(&mut self, _now: Duration) {
            self.opened += 1;
        }

        fn handle_disconnected(&mut self, _now: Duration) {
            self.lost += 1;
            self.output.clear();
        }

        fn handle_bytes(&mut self, _now: Duration, bytes: &mut &[u8]) -> bool {
            let Some((first, rest)) = bytes.split_first() else { return false };
            self.received.push(*first);
            *bytes = rest;
            true
        }

        fn handle_timeout(&mut self, now: Duration) {
            if self.due.is_some_and(|due| now >= due) {
                self.due = None;
                self.output.push(b'.');
            }
        }

        fn poll_timeout(&self) -> Option<Duration> {
            self.due
        }

        fn poll_transmit(&mut self) -> &[u8] {
            self.said = std::mem::take(&mut self.output);
            &self.said
        }

        fn stop(&mut self) {
            self.output.push(b's');
        }

        fn is_alive(&self) -> bool {
            true
        }

        fn has_power(&self) -> bool {
            true
        }

        fn set_power(&mut self, _now: Duration, _on: bool) -> bool {
            true
        }

        fn trouble(&self) -> Option<String> {
            None
        }
    }

    /// Sends `m`.
    fn send_command(line: &Line<TestDriver>) {
        let said = line.send_now(|_, driver| {
            driver.output.push(b'm');
            Ok::<_, Infallible>(driver.poll_transmit())
        });
        assert_eq!(said, Ok(()));
    }

    /// A line whose streams' other ends come from the receiver, each with a buffer of `capacity` bytes.
    fn line(capacity: usize) -> (Line<TestDriver>, mpsc::UnboundedReceiver<DuplexStream>) {
        let line = Line::new(TestDriver::default(), REOPEN_TIME);
        let (sender, receiver) = mpsc::unbounded_channel();
        let running = line.clone().run(
            "test".to_owned(),
            async move || {
                let (near, far) = duplex(capacity);
                sender.send(far).map_err(io::Error::other)?;
                Ok(near)
            },
            || {},
        );
        dragoman_time::spawn(running);
        (line, receiver)
    }

    #[test]
    fn bytes_go_both_ways_and_deadlines_are_kept() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (line, mut ends) = line(64);
            let mut far = ends.recv().await.unwrap();
            far.write_all(b"hello").await.unwrap();
            send_command(&line);
            line.with(|now, driver| driver.due = Some(now + Duration::from_secs(3)));
            let before = dragoman_time::now();
            let mut bytes = [0; 2];
            far.read_exact(&mut bytes).await.unwrap();
            assert_eq!(&bytes, b"m.");
            assert_eq!(dragoman_time::since(before).as_secs(), 3);
            line.with(|_, driver| assert_eq!(driver.received, b"hello"));
            assert_eq!(line.failure(), None);
        });
    }

    #[test]
    fn a_stream_that_ends_is_opened_again() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (line, mut ends) = line(64);
            for count in 1..=1000 {
                let far = ends.recv().await.unwrap();
                dragoman_time::yield_now().await;
                line.with(|_, driver| assert_eq!((driver.opened, driver.lost), (count, count - 1)));
                drop(far);
            }
        });
    }

    #[test]
    fn a_stream_that_takes_nothing_is_given_up() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (line, mut ends) = line(4);
            let full = ends.recv().await.unwrap();
            line.with(|_, driver| driver.output.extend_from_slice(b"too much"));
            let mut far = ends.recv().await.unwrap();
            dragoman_time::yield_now().await;
            line.with(|_, driver| assert_eq!((driver.opened, driver.lost), (2, 1)));
            send_command(&line);
            assert_eq!(far.read_u8().await.unwrap(), b'm', "nothing is left of what could not be said");
            drop(full);
        });
    }

    #[test]
    fn a_line_is_given_to_others_on_request_when_the_base_has_been_stopped() {
        dragoman_time::Simulation::new(1).block_on(async {
            let (line, mut ends) = line(64);
            for _ in 0..200 {
                let mut far = ends.recv().await.unwrap();
                dragoman_time::yield_now().await;
                line.close().await;
                assert_eq!(line.failure().as_deref(), Some("it was closed on request"));
                assert!(line.is_closed());
                let mut said = Vec::new();
                far.read_to_end(&mut said).await.unwrap();
                assert_eq!(said, b"s");
                dragoman_time::sleep(Duration::from_secs(10)).await;
                assert!(ends.try_recv().is_err(), "it stays closed");
                line.open();
                assert!(!line.is_closed());
            }
        });
    }

    #[test]
    fn a_line_that_cannot_be_opened_is_tried_again_and_says_why() {
        dragoman_time::Simulation::new(1).block_on(async {
            let line = Line::new(TestDriver::default(), REOPEN_TIME);
            let changes = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&changes);
            let run = line.clone().run(
                "test".to_owned(),
                async || Err::<DuplexStream, _>(io::Error::other("no such port")),
                move || {
                    counted.fetch_add(1, Ordering::Relaxed);
                },
            );
            assert!(dragoman_time::timeout(Duration::from_secs(2), run).await.is_err());
            assert_eq!(line.failure().as_deref(), Some("no such port"));
            assert!((9..=11).contains(&changes.load(Ordering::Relaxed)));
        });
    }

    /// Real pseudo-terminals, which end when the master is closed.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_thousand_cables_leave_nothing_behind() {
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let line = Line::new(TestDriver::default(), Duration::from_micros(100));
        let (sender, mut masters) = mpsc::channel(1);
        let running = line.clone().run(
            "test".to_owned(),
            async move || {
                let pty = nix::pty::openpty(None, None).map_err(io::Error::from)?;
                let descriptor = std::os::fd::AsRawFd::as_raw_fd(&pty.slave);
                let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}"))?;
                let port = crate::serial::SerialPort::open(&path, 115_200)?;
                sender.send(pty.master).await.map_err(io::Error::other)?;
                Ok(port)
            },
            || {},
        );
        let running = dragoman_time::spawn(running);
        drop(masters.recv().await.unwrap());
        let before = descriptors();
        for _ in 0..1000 {
            drop(masters.recv().await.unwrap());
        }
        let opened = line.with(|_, driver| driver.opened);
        running.abort();
        assert!(opened >= 1000, "{opened}");
        // Other tests of this process open and close files too, but not a thousand.
        assert!(descriptors() < before + 100, "{before} before, {} after", descriptors());
    }
}
