//! What a reliable writer has sent and its readers have not acknowledged.
//!
//! The library tells only whether everything up to a moment is acknowledged. Readers of large samples at a high rate are
//! always some behind, and never have acknowledged everything; so marks are set on the way, and counted from.

use std::task::{Context as TaskContext, Waker};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;

/// What has been written since the last mark that all readers have passed.
#[derive(Default)]
pub(super) struct Backlog {
    /// Up to the mark, and from there on.
    before: Amount,
    since: Amount,
    /// Resolves when all readers have acknowledged what was written before it was made; false if that cannot be told.
    mark: Option<BoxFuture<'static, bool>>,
    /// Since when it has been as large as it may become.
    full_since: Option<Instant>,
}

#[derive(Clone, Copy, Default)]
struct Amount {
    samples: usize,
    bytes: usize,
}

impl Backlog {
    /// Counts a sample that is written now.
    pub(super) fn add(&mut self, bytes: usize) {
        self.since.samples += 1;
        self.since.bytes += bytes;
    }

    /// From here on every write looks whether the readers have caught up.
    pub(super) fn is_large(&self) -> bool {
        self.is_beyond(4096, 8 << 20)
    }

    /// From here on the readers have a time limit.
    pub(super) fn is_full(&self) -> bool {
        self.is_beyond(32_768, 64 << 20)
    }

    /// From here on nothing more is sent to them.
    pub(super) fn is_overfull(&self) -> bool {
        self.is_beyond(65_536, 128 << 20)
    }

    fn is_beyond(&self, samples: usize, bytes: usize) -> bool {
        self.before.samples + self.since.samples >= samples || self.before.bytes + self.since.bytes >= bytes
    }

    /// Forgets what is acknowledged. `mark` makes what waits for the readers from now on; it is asked once here, and has
    /// to know from then on what it waits for.
    pub(super) fn look<F>(&mut self, mark: impl FnOnce() -> F)
    where
        F: Future<Output = bool> + Send + 'static,
    {
        // It is asked at the next write again: nobody has to be woken.
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

    /// How long it has been full.
    pub(super) fn full_for(&mut self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.full_since.get_or_insert(now))
    }
}

#[cfg(test)]
mod tests {
    use futures::channel::oneshot;

    use super::*;

    const MIB: usize = 1 << 20;

    /// Acknowledges everything before it at will.
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
            // No new mark while the readers have not passed the one before.
            backlog.look(|| async { panic!("asked for") });
            assert_eq!(backlog.is_full(), count >= 64, "{count}");
            assert!(!backlog.is_overfull());
        }
        assert_eq!(backlog.full_for(start), Duration::ZERO);
        assert_eq!(backlog.full_for(start + Duration::from_secs(2)), Duration::from_secs(2));
        // What came after the mark is still unacknowledged.
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
