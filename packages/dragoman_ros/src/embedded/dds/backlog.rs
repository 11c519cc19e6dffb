//! Samples that a reliable writer has sent and its readers have not acknowledged.
//!
//! The library only reports whether everything up to a moment is acknowledged. Readers of large samples at a high rate
//! always lag, and never have acknowledged everything; so intermediate marks are set and counted from.

use std::collections::VecDeque;
use std::ops::{AddAssign, SubAssign};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;

/// Samples written since the last mark that all readers have passed.
#[derive(Default)]
pub(super) struct Backlog {
    total: Amount,
    /// Oldest first.
    marks: VecDeque<Mark>,
    /// Written after the last mark.
    since: Amount,
    /// Time since which it is full and no mark was passed.
    full_since: Option<Instant>,
}

struct Mark {
    /// Written before this mark and after the one before it.
    amount: Amount,
    /// Resolves when all readers have acknowledged the samples written before the mark; false if that cannot be
    /// determined.
    passed: BoxFuture<'static, bool>,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    samples: usize,
    bytes: usize,
}

impl Amount {
    fn is_beyond(self, samples: usize, bytes: usize) -> bool {
        self.samples >= samples || self.bytes >= bytes
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.samples += other.samples;
        self.bytes += other.bytes;
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        self.samples -= other.samples;
        self.bytes -= other.bytes;
    }
}

impl Backlog {
    /// Counts a written sample.
    pub(super) fn add(&mut self, bytes: usize) {
        let sample = Amount { samples: 1, bytes };
        self.since += sample;
        self.total += sample;
    }

    /// Whether every write must check if the readers have caught up.
    pub(super) fn is_large(&self) -> bool {
        self.total.is_beyond(4096, 8 << 20)
    }

    /// Whether the time limit of the readers runs.
    pub(super) fn is_full(&self) -> bool {
        self.total.is_beyond(32_768, 64 << 20)
    }

    /// Whether further samples must be refused.
    pub(super) fn is_overfull(&self) -> bool {
        self.total.is_beyond(65_536, 128 << 20)
    }

    /// Removes acknowledged samples. `mark` creates the future of the readers' acknowledgement; it is called at most
    /// once here, and must refer to the samples written until then.
    pub(super) fn look<F>(&mut self, mark: impl FnOnce() -> F)
    where
        F: Future<Output = bool> + Send + 'static,
    {
        // Polled again at the next write: no wake-up is needed.
        let mut task = TaskContext::from_waker(Waker::noop());
        while let Some(first) = self.marks.front_mut() {
            let Poll::Ready(is_passed) = first.passed.poll_unpin(&mut task) else { break };
            let amount = first.amount;
            self.marks.pop_front();
            if is_passed {
                self.total -= amount;
                self.full_since = None;
            } else {
                let next = self.marks.front_mut().map_or(&mut self.since, |next| &mut next.amount);
                *next += amount;
            }
        }
        if self.marks.is_empty() || self.since.is_beyond(2048, 4 << 20) {
            let mut passed = mark().boxed();
            if passed.poll_unpin(&mut task).is_ready() {
                *self = Self::default();
            } else {
                self.marks.push_back(Mark { amount: std::mem::take(&mut self.since), passed });
            }
        }
    }

    /// Time for which it has been full without any progress of the readers.
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
        let mut marks: Vec<oneshot::Sender<()>> = Vec::new();
        let start = Instant::now();
        for count in 1..100 {
            backlog.add(MIB);
            backlog.look(|| {
                let (acknowledge, acknowledged) = oneshot::channel();
                marks.push(acknowledge);
                async move { acknowledged.await.is_ok() }
            });
            assert_eq!(backlog.is_full(), count >= 64, "{count}");
            assert!(!backlog.is_overfull());
        }
        // One at first, then one every 4 MiB.
        assert_eq!(marks.len(), 25);
        assert_eq!(backlog.full_for(start), Duration::ZERO);
        assert_eq!(backlog.full_for(start + Duration::from_secs(2)), Duration::from_secs(2));
        (0..29).for_each(|_| backlog.add(MIB));
        assert!(backlog.is_overfull());
    }

    #[test]
    fn a_full_one_whose_readers_make_progress_is_not_given_up() {
        let mut backlog = Backlog::default();
        let start = Instant::now();
        (0..70).for_each(|_| backlog.add(MIB));
        let first = mark(&mut backlog);
        (0..20).for_each(|_| backlog.add(MIB));
        let second = mark(&mut backlog);
        (0..60).for_each(|_| backlog.add(MIB));
        assert_eq!(backlog.full_for(start), Duration::ZERO);
        first.send(()).unwrap();
        let third = mark(&mut backlog);
        // Samples after the mark are still unacknowledged.
        assert!(backlog.is_full());
        assert_eq!(backlog.full_for(start + Duration::from_secs(3)), Duration::ZERO);
        // Unknown, so they count until the next mark is passed.
        drop(second);
        backlog.look(|| async { panic!("asked for") });
        assert!(backlog.is_full());
        third.send(()).unwrap();
        let _fourth = mark(&mut backlog);
        assert!(!backlog.is_large());
    }

    #[test]
    fn it_is_empty_when_everything_is_acknowledged() {
        let mut backlog = Backlog::default();
        (0..100).for_each(|_| backlog.add(MIB));
        backlog.look(|| async { true });
        assert!(!backlog.is_large());
    }
}
