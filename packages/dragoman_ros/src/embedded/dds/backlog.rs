//! Samples that a reliable writer has sent and its readers have not acknowledged.
//!
//! The library only reports whether everything up to a moment is acknowledged. Readers of large samples at a high rate
//! always lag, and never have acknowledged everything; so intermediate marks are set and counted from.

use std::task::{Context as TaskContext, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;

/// Samples written since the last mark that all readers have passed.
#[derive(Default)]
pub(super) struct Backlog {
    /// Up to the mark, and after it.
    before: Amount,
    since: Amount,
    /// Resolves when all readers have acknowledged the samples written before its creation; false if that cannot be
    /// determined.
    mark: Option<BoxFuture<'static, bool>>,
    /// Time since which it is full.
    full_since: Option<Instant>,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    samples: usize,
    bytes: usize,
}

impl Backlog {
    /// Counts a written sample.
    pub(super) fn add(&mut self, bytes: usize) {
        self.since.samples += 1;
        self.since.bytes += bytes;
    }

    /// Whether every write must check if the readers have caught up.
    pub(super) fn is_large(&self) -> bool {
        self.is_beyond(4096, 8 << 20)
    }

    /// Whether the time limit of the readers runs.
    pub(super) fn is_full(&self) -> bool {
        self.is_beyond(32_768, 64 << 20)
    }

    /// Whether further samples must be refused.
    pub(super) fn is_overfull(&self) -> bool {
        self.is_beyond(65_536, 128 << 20)
    }

    fn is_beyond(&self, samples: usize, bytes: usize) -> bool {
        self.before.samples + self.since.samples >= samples || self.before.bytes + self.since.bytes >= bytes
    }

    /// Removes acknowledged samples. `mark` creates the future of the readers' acknowledgement; it is called once here,
    /// and must refer to the samples written until then.
    pub(super) fn look<F>(&mut self, mark: impl FnOnce() -> F)
    where
        F: Future<Output = bool> + Send + 'static,
    {
        // Polled again at the next write: no wake-up is needed.
        let mut task = TaskContext::from_waker(Waker::noop());
        match self.mark.as_mut().map(|mark| mark.poll_unpin(&mut task)) {
            Some(std::task::Poll::Pending) => return,
            Some(std::task::Poll::Ready(true)) => {
                self.before = Amount::default();
                self.full_since = None;
            }
            Some(std::task::Poll::Ready(false)) | None => {}
        }
        self.before.samples += self.since.samples;
        self.before.bytes += self.since.bytes;
        self.since = Amount::default();
        let mut next = mark().boxed();
        if next.poll_unpin(&mut task).is_ready() {
            *self = Self::default();
        } else {
            self.mark = Some(next);
        }
    }

    /// Time for which it has been full.
    pub(super) fn full_for(&mut self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.full_since.get_or_insert(now))
    }
}

#[cfg(test)]
mod tests {
    use futures::channel::oneshot;

    use super::*;

    const MIB: usize = 1 << 20;

    /// Acknowledges everything before it on demand.
    fn mark(backlog: &mut Backlog) -> oneshot::Sender<()> {
        let (acknowledge, acknowledged) = oneshot::channel();
        backlog.look(|| async move { acknowledged.await.is_ok() });
        acknowledge
    }

    #[test]
    fn readers_that_are_always_some_behind_do_not_fill_it() {
        let mut backlog = Backlog::default();
        let mut last = None;
        for _ in 0..1000 {
            (0..10).for_each(|_| backlog.add(MIB));
            assert!(backlog.is_large() && !backlog.is_full());
            let next = mark(&mut backlog);
            // The readers have passed the mark before this one.
            if let Some(acknowledge) = last.replace(next) {
                let _ = acknowledge.send(());
            }
        }
    }

    #[test]
    fn a_reader_that_does_not_acknowledge_fills_it() {
        let mut backlog = Backlog::default();
        let first = mark(&mut backlog);
        let start = Instant::now();
        for count in 1..100 {
            backlog.add(MIB);
            // No new mark while the readers have not passed the previous one.
            backlog.look(|| async { panic!("asked for") });
            assert_eq!(backlog.is_full(), count >= 64, "{count}");
            assert!(!backlog.is_overfull());
        }
        assert_eq!(backlog.full_for(start), Duration::ZERO);
        assert_eq!(backlog.full_for(start + Duration::from_secs(2)), Duration::from_secs(2));
        // Samples after the mark are still unacknowledged.
        first.send(()).unwrap();
        let _second = mark(&mut backlog);
        assert!(backlog.is_full());
        assert_eq!(backlog.full_for(start + Duration::from_secs(3)), Duration::ZERO);
        (0..29).for_each(|_| backlog.add(MIB));
        assert!(backlog.is_overfull());
    }

    #[test]
    fn it_is_empty_when_everything_is_acknowledged() {
        let mut backlog = Backlog::default();
        (0..100).for_each(|_| backlog.add(MIB));
        backlog.look(|| async { true });
        assert!(!backlog.is_large());
    }
}
