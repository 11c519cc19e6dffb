//! Between a driver without I/O and its byte stream: a serial port, or simulated firmware in the same process.
//!
//! One task reads, writes, and waits for the driver's deadline. A stream that ends, fails or takes no bytes is opened again
//! for as long as the task runs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::Instant;

/// What a link needs of a driver. Times count from the start of the link.
pub trait LinkDriver: Send + 'static {
    /// The stream is open: nothing of an earlier one is valid any more.
    fn opened(&mut self, now: Duration);
    /// The stream has ended.
    fn closed(&mut self, now: Duration);
    /// Bytes have come.
    fn receive(&mut self, now: Duration, bytes: &[u8]);
    /// Does what is due at `now`.
    fn poll(&mut self, now: Duration);
    /// When [`LinkDriver::poll`] has something to do next.
    fn deadline(&self) -> Option<Duration>;
    /// Moves what is to be sent to the end of `bytes`.
    fn take_output(&mut self, bytes: &mut Vec<u8>);
}

/// How long the stream may take to accept what a driver says in a turn.
const WRITE_TIME: Duration = Duration::from_millis(200);
/// How long to wait before a stream is opened again.
const REOPEN_TIME: Duration = Duration::from_millis(200);
/// What is read at once: more than comes in a turn.
const READ_SIZE: usize = 1024;

/// A driver that a link serves. Clones are the same.
pub struct Link<D> {
    shared: Arc<Shared<D>>,
}

struct Shared<D> {
    driver: Mutex<D>,
    wake: Notify,
    start: Instant,
}

impl<D> Clone for Link<D> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<D: LinkDriver> Link<D> {
    /// A link that is not open yet.
    pub fn new(driver: D) -> Self {
        let shared = Shared { driver: Mutex::new(driver), wake: Notify::new(), start: Instant::now() };
        Self { shared: Arc::new(shared) }
    }

    /// Lets the driver do something at the present time, and sends what it says then.
    pub fn with<R>(&self, action: impl FnOnce(Duration, &mut D) -> R) -> R {
        let result = self.quietly(action);
        self.shared.wake.notify_one();
        result
    }

    /// As [`Link::with`], where nothing is to be sent.
    fn quietly<R>(&self, action: impl FnOnce(Duration, &mut D) -> R) -> R {
        let mut driver = self.shared.driver.lock().unwrap_or_else(PoisonError::into_inner);
        action(self.shared.start.elapsed(), &mut driver)
    }

    /// Serves the driver for as long as the future is polled. `open` opens the stream; `changed` is called when bytes have
    /// come or gone, a deadline has passed, or the stream has been opened or lost.
    pub async fn run<S>(self, mut open: impl AsyncFnMut() -> io::Result<S>, mut changed: impl FnMut())
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut reported = None;
        loop {
            let error = match open().await {
                Ok(stream) => {
                    tracing::info!("the line is open");
                    reported = None;
                    self.quietly(|now, driver| driver.opened(now));
                    let error = self.serve(stream, &mut changed).await;
                    self.quietly(|now, driver| driver.closed(now));
                    changed();
                    error
                }
                Err(error) => error,
            };
            // Once for each reason, not at every attempt.
            let text = error.to_string();
            if reported.as_ref() != Some(&text) {
                tracing::error!(%error, "the line is down; trying again");
                reported = Some(text);
            }
            self.wait(REOPEN_TIME, &mut changed).await;
        }
    }

    /// Until the stream ends; returns why.
    async fn serve(
        &self,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        changed: &mut impl FnMut(),
    ) -> io::Error {
        let mut bytes = [0; READ_SIZE];
        let mut output = Vec::new();
        loop {
            let deadline = self.quietly(|now, driver| {
                driver.poll(now);
                driver.take_output(&mut output);
                driver.deadline()
            });
            changed();
            if !output.is_empty() {
                match tokio::time::timeout(WRITE_TIME, stream.write_all(&output)).await {
                    Ok(Ok(())) => output.clear(),
                    Ok(Err(error)) => return error,
                    Err(_) => return io::Error::new(io::ErrorKind::TimedOut, "the line takes no bytes"),
                }
            }
            let due = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(self.shared.start + deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                read = stream.read(&mut bytes) => match read {
                    Ok(0) => return io::ErrorKind::UnexpectedEof.into(),
                    Ok(count) => {
                        let read = bytes.get(..count).unwrap_or_default();
                        self.quietly(|now, driver| driver.receive(now, read));
                    }
                    Err(error) => return error,
                },
                () = self.shared.wake.notified() => {}
                () = due => {}
            }
        }
    }

    /// Keeps the driver's time going while there is no stream.
    async fn wait(&self, time: Duration, changed: &mut impl FnMut()) {
        tokio::time::sleep(time).await;
        self.quietly(|now, driver| driver.poll(now));
        changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::io::{DuplexStream, duplex};
    use tokio::sync::mpsc;

    /// Says what it is told to, a dot when it is due, and remembers what it heard.
    #[derive(Default)]
    struct Parrot {
        output: Vec<u8>,
        heard: Vec<u8>,
        opened: usize,
        closed: usize,
        due: Option<Duration>,
    }

    impl LinkDriver for Parrot {
        fn opened(&mut self, _now: Duration) {
            self.opened += 1;
        }

        fn closed(&mut self, _now: Duration) {
            self.closed += 1;
            self.output.clear();
        }

        fn receive(&mut self, _now: Duration, bytes: &[u8]) {
            self.heard.extend_from_slice(bytes);
        }

        fn poll(&mut self, now: Duration) {
            if self.due.is_some_and(|due| now >= due) {
                self.due = None;
                self.output.push(b'.');
            }
        }

        fn deadline(&self) -> Option<Duration> {
            self.due
        }

        fn take_output(&mut self, bytes: &mut Vec<u8>) {
            bytes.append(&mut self.output);
        }
    }

    /// A link whose streams' other ends come out of the receiver, each with room for `capacity` bytes.
    fn link(capacity: usize) -> (Link<Parrot>, mpsc::UnboundedReceiver<DuplexStream>) {
        let link = Link::new(Parrot::default());
        let (sender, receiver) = mpsc::unbounded_channel();
        let running = link.clone().run(
            async move || {
                let (near, far) = duplex(capacity);
                sender.send(far).map_err(io::Error::other)?;
                Ok(near)
            },
            || {},
        );
        tokio::spawn(running);
        (link, receiver)
    }

    #[tokio::test(start_paused = true)]
    async fn bytes_go_both_ways_and_deadlines_are_kept() {
        let (link, mut ends) = link(64);
        let mut far = ends.recv().await.unwrap();
        far.write_all(b"hello").await.unwrap();
        link.with(|now, parrot| {
            parrot.output.extend_from_slice(b"there");
            parrot.due = Some(now + Duration::from_secs(3));
        });
        let before = Instant::now();
        let mut bytes = [0; 6];
        far.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"there.");
        assert_eq!(before.elapsed().as_secs(), 3);
        link.with(|_, parrot| assert_eq!(parrot.heard, b"hello"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_ends_is_opened_again() {
        let (link, mut ends) = link(64);
        for count in 1..=1000 {
            drop(ends.recv().await.unwrap());
            link.with(|_, parrot| assert_eq!((parrot.opened, parrot.closed), (count, count - 1)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_takes_nothing_is_given_up() {
        let (link, mut ends) = link(4);
        let full = ends.recv().await.unwrap();
        link.with(|_, parrot| parrot.output.extend_from_slice(b"too much"));
        let mut far = ends.recv().await.unwrap();
        link.with(|_, parrot| {
            assert_eq!((parrot.opened, parrot.closed), (2, 1));
            parrot.output.push(b'!');
        });
        assert_eq!(far.read_u8().await.unwrap(), b'!', "nothing is left of what could not be said");
        drop(full);
    }

    #[tokio::test(start_paused = true)]
    async fn the_drivers_time_goes_on_without_a_stream() {
        let link = Link::new(Parrot { due: Some(Duration::from_secs(1)), ..Parrot::default() });
        let changes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&changes);
        let run = link.clone().run(
            async || Err::<DuplexStream, _>(io::ErrorKind::NotFound.into()),
            move || {
                counted.fetch_add(1, Ordering::Relaxed);
            },
        );
        assert!(tokio::time::timeout(Duration::from_secs(2), run).await.is_err());
        link.with(|_, parrot| assert_eq!(parrot.due, None));
        assert!(changes.load(Ordering::Relaxed) > 5);
    }
}
