//! One direction of a connection in the network of a lab.

use std::collections::VecDeque;
use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use dragoman_time::Sleep;
use parking_lot::Mutex;

use super::network::{Network, happens};

/// Bytes that may be on their way or unread: about those of a connection of Linux on one machine.
const CAPACITY: usize = 256 << 10;

/// One direction of a connection.
pub(super) struct Pipe {
    /// `from -> to`, for the history.
    name: String,
    network: Arc<Network>,
    state: Mutex<PipeState>,
}

#[derive(Default)]
struct PipeState {
    /// Bytes on their way or unread, in the order of their arrival.
    segments: VecDeque<(Instant, Vec<u8>)>,
    /// Number of bytes of the first segment that were read.
    read: usize,
    bytes: usize,
    last_arrival: Option<Instant>,
    /// When the end of the stream arrives.
    end: Option<Instant>,
    /// The connection was reset.
    is_reset: bool,
    /// The reader is gone. The writer is notified when the answer to its next bytes arrives.
    is_left: bool,
    /// When that is.
    refusal: Option<Instant>,
    /// The path was cut at this time: nothing arrives any more.
    cut: Option<Instant>,
    /// Time after the cut after which it is noticed.
    keepalive: Option<Duration>,
    /// Time for which the reader may take nothing while the pipe is full.
    unread_limit: Option<Duration>,
    full_since: Option<Instant>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Wakes the reader at the next arrival.
    timer: Option<Sleep>,
    /// Wakes the writer when the reader is lost.
    writer_timer: Option<Sleep>,
}

impl PipeState {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
    }

    /// When a cut path, or a reader that takes nothing, is noticed.
    fn loss(&self) -> Option<Instant> {
        let cut = self.cut.zip(self.keepalive);
        let full = self.full_since.zip(self.unread_limit);
        [cut, full].into_iter().flatten().map(|(since, limit)| since + limit).min()
    }

    fn is_lost(&self, now: Instant) -> bool {
        self.loss().is_some_and(|loss| loss <= now)
    }
}

fn reset() -> Error {
    Error::new(ErrorKind::ConnectionReset, "Connection reset by peer (os error 104)")
}

fn lost() -> Error {
    Error::new(ErrorKind::TimedOut, "Connection timed out (os error 110)")
}

impl Pipe {
    pub(super) fn new(name: String, network: &Arc<Network>) -> Arc<Self> {
        Arc::new(Self { name, network: Arc::clone(network), state: Mutex::default() })
    }

    /// Accepts a part of `bytes`. [`ErrorKind::WouldBlock`]: too many are unread.
    pub(super) fn try_write(&self, bytes: &[u8]) -> Result<usize> {
        let conditions = self.network.conditions();
        let mut state = self.state.lock();
        let now = dragoman_time::now();
        let is_refused = state.refusal.is_some_and(|refusal| refusal <= now);
        if state.is_reset || state.end.is_some() || is_refused {
            return Err(Error::new(ErrorKind::BrokenPipe, "Broken pipe (os error 32)"));
        }
        if state.is_lost(now) {
            return Err(lost());
        }
        if state.is_left && !bytes.is_empty() {
            dragoman_time::note("stream", &self.name, bytes);
            state.refusal.get_or_insert(now + 2 * conditions.delay);
            return Ok(bytes.len());
        }
        let taken = bytes.get(..bytes.len().min(CAPACITY - state.bytes.min(CAPACITY))).unwrap_or_default();
        if taken.is_empty() {
            if bytes.is_empty() {
                return Ok(0);
            }
            state.full_since.get_or_insert_with(dragoman_time::now);
            return Err(ErrorKind::WouldBlock.into());
        }
        if happens(conditions.reset) {
            state.is_reset = true;
            state.segments.clear();
            state.wake();
            dragoman_time::note("reset", &self.name, &[]);
            return Err(reset());
        }
        if state.cut.is_none() && happens(conditions.cut) {
            state.cut = Some(dragoman_time::now());
            // The waiting tasks must set the timer of the keepalive.
            state.wake();
            dragoman_time::note("cut", &self.name, &[]);
        }
        dragoman_time::note("stream", &self.name, taken);
        state.bytes += taken.len();
        if state.cut.is_none() {
            let arrival = conditions.arrival().max(state.last_arrival.unwrap_or_else(dragoman_time::now));
            state.last_arrival = Some(arrival);
            state.segments.push_back((arrival, taken.to_vec()));
            state.wake_reader();
        }
        Ok(taken.len())
    }

    /// Reads what has arrived; 0 at the end. [`ErrorKind::WouldBlock`]: nothing has.
    pub(super) fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        let now = dragoman_time::now();
        let mut state = self.state.lock();
        let mut count = 0;
        while count < buffer.len() {
            let read = state.read;
            let Some((arrival, bytes)) = state.segments.front() else { break };
            if *arrival > now {
                break;
            }
            let rest = bytes.get(read..).unwrap_or_default();
            let room = buffer.get_mut(count..).unwrap_or_default();
            let part = rest.len().min(room.len());
            room.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            count += part;
            if part == rest.len() {
                state.segments.pop_front();
                state.read = 0;
            } else {
                state.read += part;
            }
        }
        state.bytes -= count.min(state.bytes);
        if count > 0 {
            state.full_since = None;
            if let Some(writer) = state.writer.take() {
                writer.wake();
            }
            return Ok(count);
        }
        if buffer.is_empty() {
            return Ok(0);
        }
        if state.is_reset {
            return Err(reset());
        }
        if state.is_lost(now) {
            return Err(lost());
        }
        match state.end {
            Some(end) if end <= now && state.segments.is_empty() => Ok(0),
            _ => Err(ErrorKind::WouldBlock.into()),
        }
    }

    pub(super) fn poll_readable(&self, task: &mut Context<'_>) -> Poll<()> {
        let now = dragoman_time::now();
        let mut state = self.state.lock();
        let first = state.segments.front().map(|(arrival, _)| *arrival).or(state.end);
        let next = [first, state.loss()].into_iter().flatten().min();
        if state.is_reset || next.is_some_and(|time| time <= now) {
            return Poll::Ready(());
        }
        state.reader = Some(task.waker().clone());
        state.timer = next.map(dragoman_time::precise_sleep_until);
        if let Some(timer) = &mut state.timer {
            // It has not expired: that was checked.
            let _ = Pin::new(timer).poll(task);
        }
        Poll::Pending
    }

    pub(super) fn poll_writable(&self, task: &mut Context<'_>) -> Poll<()> {
        let now = dragoman_time::now();
        let mut state = self.state.lock();
        let is_over = state.is_reset || state.is_left || state.end.is_some() || state.is_lost(now);
        if is_over || state.bytes < CAPACITY {
            return Poll::Ready(());
        }
        state.full_since.get_or_insert(now);
        state.writer = Some(task.waker().clone());
        state.writer_timer = state.loss().map(dragoman_time::precise_sleep_until);
        if let Some(timer) = &mut state.writer_timer {
            // It has not expired: that was checked.
            let _ = Pin::new(timer).poll(task);
        }
        Poll::Pending
    }

    /// Whether the writer has closed, also while bytes are unread.
    pub(super) fn has_ended(&self) -> bool {
        let now = dragoman_time::now();
        let state = self.state.lock();
        state.is_reset || state.is_lost(now) || state.end.is_some_and(|end| end <= now)
    }

    /// The writer closes.
    pub(super) fn close(&self) {
        let arrival = self.network.conditions().arrival();
        let mut state = self.state.lock();
        if state.cut.is_none() {
            let end = arrival.max(state.last_arrival.unwrap_or(arrival));
            state.end.get_or_insert(end);
            state.wake();
        }
    }

    /// The reader is gone: what it has not read is lost.
    pub(super) fn leave(&self) {
        let mut state = self.state.lock();
        if state.cut.is_none() {
            state.is_left = true;
            (state.bytes, state.read) = (0, 0);
            state.segments.clear();
            state.wake();
        }
    }

    /// The connection ends with unread bytes.
    pub(super) fn reset(&self) {
        let mut state = self.state.lock();
        if state.cut.is_none() {
            state.is_reset = true;
            state.segments.clear();
            state.wake();
        }
    }

    /// Bytes on their way or unread.
    pub(super) fn unread(&self) -> usize {
        self.state.lock().bytes
    }

    pub(super) fn set_keepalive(&self, limit: Duration) {
        self.state.lock().keepalive = Some(limit);
    }

    /// Sets for how long the reader may take nothing.
    pub(super) fn limit_unread(&self, limit: Option<Duration>) {
        let mut state = self.state.lock();
        state.unread_limit = limit;
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
    }
}

impl PipeState {
    fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}
