//! Queue of changed parameters for the tasks that use them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures::Stream;
use parking_lot::Mutex;

/// A queue that holds each name once, and so never more than the number of parameters: a slow task reads the newest
/// value anyway.
#[derive(Default)]
struct Queue {
    names: VecDeque<Cow<'static, str>>,
    waker: Option<Waker>,
    is_closed: bool,
}

/// The stream of names.
pub(super) struct Changes(Arc<Mutex<Queue>>);

/// The sender of the names. The stream ends when this is dropped.
pub(super) struct Listener(Arc<Mutex<Queue>>);

/// A stream and its sender.
pub(super) fn channel() -> (Listener, Changes) {
    let queue = Arc::<Mutex<Queue>>::default();
    (Listener(Arc::clone(&queue)), Changes(queue))
}

impl Listener {
    /// Adds a name that is not already queued. False if the stream was dropped.
    pub(super) fn notify(&self, name: Cow<'static, str>) -> bool {
        let mut queue = self.0.lock();
        if !queue.names.contains(&name) {
            queue.names.push_back(name);
        }
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
        Arc::strong_count(&self.0) > 1
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.is_closed = true;
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
    }
}

impl Stream for Changes {
    type Item = Cow<'static, str>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Cow<'static, str>>> {
        let mut queue = self.0.lock();
        match queue.names.pop_front() {
            Some(name) => Poll::Ready(Some(name)),
            None if queue.is_closed => Poll::Ready(None),
            None => {
                queue.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

    #[test]
    fn a_name_waits_once() {
        let (listener, mut changes) = channel();
        for _ in 0..1000 {
            assert!(listener.notify("rate".into()) && listener.notify("frame".into()));
        }
        assert_eq!(changes.next().now_or_never(), Some(Some("rate".into())));
        assert!(listener.notify("rate".into()));
        drop(listener);
        assert_eq!(changes.collect::<Vec<_>>().now_or_never(), Some(vec!["frame".into(), "rate".into()]));
    }

    #[test]
    fn adding_fails_once_the_stream_is_dropped() {
        let (listener, changes) = channel();
        drop(changes);
        assert!(!listener.notify("rate".into()));
    }
}
