//! Delivers messages between nodes of one process through memory, if that makes no difference to other processes.
//!
//! rcl would pass every message to the middleware and wake a thread for it, also within a process. Here
//! - a message goes through memory if its publisher keeps no samples for late subscribers and if it is matched only by
//!   subscriptions of this process; otherwise it goes through rcl, to all. No message takes both ways;
//! - a request goes through memory if this process has exactly one server of the service.
//!
//! The graph is unchanged: every endpoint exists in rcl.

use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use futures::Stream;
use parking_lot::{Mutex, MutexGuard};
use r2r::qos::{DurabilityPolicy, HistoryPolicy, LivelinessPolicy, ReliabilityPolicy};

use crate::QosProfile;

/// Maximum number of messages by which a subscription that keeps all may lag.
const KEEP_ALL_LIMIT: usize = 200_000;
/// Maximum number of pending requests of a server.
const REQUEST_LIMIT: usize = 1000;

/// All queues of topics and services, by name and type. r2r has one context per process, so this is one per process
/// too.
type Registry = Mutex<HashMap<(String, TypeId), Arc<dyn Any + Send + Sync>>>;

/// All queues of items `T` under the same name.
pub(super) struct Queues<T>(Mutex<Vec<Weak<Queue<T>>>>);

/// The queue of one subscription or server.
pub(super) struct Queue<T> {
    /// Of a subscription.
    reliable: bool,
    depth: usize,
    state: Mutex<QueueState<T>>,
}

struct QueueState<T> {
    items: VecDeque<T>,
    waker: Option<Waker>,
}

/// The policies of a publisher that decide between memory and rcl.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offer {
    reliable: bool,
    /// It keeps no samples for late subscribers, and has only policies that are compared here.
    plain: bool,
}

impl Offer {
    pub(super) fn new(qos: &QosProfile) -> Self {
        Self { reliable: matches!(qos.reliability, ReliabilityPolicy::Reliable), plain: is_plain(qos) }
    }
}

/// Whether an endpoint matches every other of its topic and type, except for reliability.
fn is_plain(qos: &QosProfile) -> bool {
    matches!(qos.reliability, ReliabilityPolicy::Reliable | ReliabilityPolicy::BestEffort)
        && matches!(qos.durability, DurabilityPolicy::Volatile)
        && matches!(qos.liveliness, LivelinessPolicy::Automatic | LivelinessPolicy::SystemDefault)
        && qos.deadline == Duration::ZERO
        && qos.liveliness_lease_duration == Duration::ZERO
        && !qos.avoid_ros_namespace_conventions
}

impl<T: Send + 'static> Queues<T> {
    /// The queues of `name`.
    pub(super) fn named(name: &str) -> Arc<Self> {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        let key = (name.to_owned(), TypeId::of::<T>());
        let mut registry = REGISTRY.get_or_init(Registry::default).lock();
        let new = || Arc::new(Self(Mutex::default())) as Arc<dyn Any + Send + Sync>;
        let queues = Arc::clone(registry.entry(key).or_insert_with(new));
        drop(registry);
        queues.downcast().unwrap_or_else(|_other| Arc::new(Self(Mutex::default())))
    }

    /// A queue for a subscription; `None` if policies besides its reliability decide about matches.
    pub(super) fn subscribe(&self, qos: &QosProfile) -> Option<Arc<Queue<T>>> {
        let depth = match qos.history {
            HistoryPolicy::KeepAll => KEEP_ALL_LIMIT,
            _ => qos.depth.max(1),
        };
        is_plain(qos).then(|| self.add(matches!(qos.reliability, ReliabilityPolicy::Reliable), depth))
    }

    /// A queue for a server.
    pub(super) fn serve(&self) -> Arc<Queue<T>> {
        self.add(true, REQUEST_LIMIT)
    }

    fn add(&self, reliable: bool, depth: usize) -> Arc<Queue<T>> {
        let state = Mutex::new(QueueState { items: VecDeque::new(), waker: None });
        let queue = Arc::new(Queue { reliable, depth, state });
        let mut queues = self.0.lock();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&queue));
        queue
    }

    /// Delivers `message` to all subscriptions that match `offer`, unless the publisher's `matched` subscriptions
    /// include others: then it delivers to none.
    pub(super) fn publish(&self, message: &T, offer: Offer, matched: usize) -> bool
    where
        T: Clone,
    {
        if !offer.plain {
            return false;
        }
        if matched == 0 {
            return true;
        }
        let queues = self.0.lock();
        let meets = |queue: &Arc<Queue<T>>| offer.reliable || !queue.reliable;
        let matching = || queues.iter().filter_map(Weak::upgrade).filter(meets);
        if matched > matching().count() {
            return false;
        }
        matching().for_each(|queue| queue.push_newest(message.clone()));
        true
    }

    /// The queue of the server, if there is exactly one.
    pub(super) fn only(&self) -> Option<Arc<Queue<T>>> {
        let queues = self.0.lock();
        let mut alive = queues.iter().filter_map(Weak::upgrade);
        let first = alive.next()?;
        alive.next().is_none().then_some(first)
    }
}

impl<T> Queue<T> {
    /// Adds a message; drops the oldest if full.
    fn push_newest(&self, item: T) {
        let mut state = self.state.lock();
        if state.items.len() >= self.depth {
            state.items.pop_front();
        }
        self.push_to(state, item);
    }

    /// Adds a request, or returns it if full.
    pub(super) fn push(&self, item: T) -> Result<(), T> {
        let state = self.state.lock();
        if state.items.len() >= self.depth {
            return Err(item);
        }
        self.push_to(state, item);
        Ok(())
    }

    fn push_to(&self, mut state: MutexGuard<'_, QueueState<T>>, item: T) {
        state.items.push_back(item);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll_take(&self, task: &mut TaskContext<'_>) -> Poll<T> {
        let mut state = self.state.lock();
        match state.items.pop_front() {
            Some(item) => Poll::Ready(item),
            None => {
                state.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Merges the messages from memory with those from rcl.
pub(super) struct Merged<T, S> {
    pub(super) local: Option<Arc<Queue<T>>>,
    pub(super) rcl: S,
}

impl<T, S: Stream<Item = T> + Unpin> Stream for Merged<T, S> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<T>> {
        if let Some(Poll::Ready(item)) = self.local.as_ref().map(|queue| queue.poll_take(task)) {
            return Poll::Ready(Some(item));
        }
        Pin::new(&mut self.rcl).poll_next(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &Queue<u8>) -> Vec<u8> {
        let mut task = TaskContext::from_waker(Waker::noop());
        let mut items = Vec::new();
        while let Poll::Ready(item) = queue.poll_take(&mut task) {
            items.push(item);
        }
        items
    }

    #[test]
    fn a_message_takes_one_way() {
        let queues = Queues::<u8>::named("one way");
        let queue = queues.subscribe(&QosProfile::default()).unwrap();
        let offer = Offer::new(&QosProfile::default());
        assert!(queues.publish(&1, offer, 1));
        // A subscription in another process.
        assert!(!queues.publish(&2, offer, 2));
        assert!(queues.publish(&3, offer, 1));
        assert!(!queues.publish(&4, Offer::new(&QosProfile::default().transient_local()), 1));
        assert_eq!(drain(&queue), [1, 3]);
        drop(queue);
        // rcl still lists it, and detects its end at the next message.
        assert!(!queues.publish(&5, offer, 1));
    }

    #[test]
    fn an_offer_below_the_request_is_not_matched() {
        let queues = Queues::<u8>::named("no match");
        let reliable = queues.subscribe(&QosProfile::default()).unwrap();
        let any = queues.subscribe(&QosProfile::sensor_data().keep_last(2)).unwrap();
        let offer = Offer::new(&QosProfile::sensor_data());
        assert!((1..=3).all(|number| queues.publish(&number, offer, 1)));
        assert_eq!((drain(&reliable), drain(&any)), (vec![], vec![2, 3]));
        assert!(queues.subscribe(&QosProfile::default().transient_local()).is_none());
    }

    #[test]
    fn of_several_servers_rcl_decides() {
        let queues = Queues::<u8>::named("servers");
        let first = queues.serve();
        assert!(queues.only().is_some_and(|only| Arc::ptr_eq(&only, &first)));
        let second = queues.serve();
        assert!(queues.only().is_none());
        drop(first);
        let only = queues.only().unwrap();
        assert!(Arc::ptr_eq(&only, &second));
        assert!((0..REQUEST_LIMIT).all(|_| only.push(0).is_ok()));
        assert_eq!(only.push(7), Err(7));
    }
}
