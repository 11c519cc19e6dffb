//! A subscribed topic of a client: throttling and queue. A client may subscribe several times, with an id each; as in
//! rosbridge the most demanding requests count for all.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Compression, Sample};

/// Maximum length of the queue of a topic; bytes of one with more than a message.
const MAX_QUEUED: usize = 1000;
const MAX_QUEUED_BYTES: usize = 8 << 20;
/// Maximum number of subscriptions of a client to one topic.
pub(super) const MAX_REQUESTS: usize = 64;

/// One `subscribe`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SubscribeRequest {
    pub(super) id: Option<Value>,
    /// Minimum time between messages.
    pub(super) throttle: Duration,
    pub(super) queue_length: usize,
    pub(super) fragment_size: Option<usize>,
    pub(super) compression: Compression,
}

#[derive(Debug, Default)]
pub(super) struct Subscription {
    requests: Vec<SubscribeRequest>,
    throttle: Duration,
    queue_length: usize,
    pub(super) fragment_size: Option<usize>,
    pub(super) compression: Compression,
    /// Earliest time of the next message.
    next: Duration,
    queue: VecDeque<Arc<Sample>>,
    queued_bytes: usize,
}

impl Subscription {
    /// Adds a request, or replaces that of the same id. Returns whether there was room.
    pub(super) fn add(&mut self, request: SubscribeRequest) -> bool {
        self.requests.retain(|other| other.id != request.id);
        if self.requests.len() >= MAX_REQUESTS {
            return false;
        }
        self.requests.push(request);
        self.combine();
        true
    }

    /// Removes the request of this id, or all. Returns whether none is left.
    pub(super) fn remove(&mut self, id: Option<&Value>) -> bool {
        self.requests.retain(|request| id.is_some() && request.id.as_ref() != id);
        self.combine();
        self.requests.is_empty()
    }

    fn combine(&mut self) {
        let requests = &self.requests;
        self.throttle = requests.iter().map(|request| request.throttle).min().unwrap_or_default();
        self.queue_length =
            requests.iter().map(|request| request.queue_length).min().unwrap_or(0).min(MAX_QUEUED);
        self.fragment_size = requests.iter().filter_map(|request| request.fragment_size).min();
        self.compression = requests.iter().map(|request| request.compression).max().unwrap_or_default();
        while self.queue.len() > self.queue_length {
            self.pop();
        }
        if self.throttle.is_zero() {
            self.next = Duration::ZERO;
        }
    }

    /// Takes a message; returns it if it is to be sent now.
    pub(super) fn take(&mut self, now: Duration, sample: &Arc<Sample>) -> Option<Arc<Sample>> {
        if now >= self.next && self.queue.is_empty() {
            self.next = now + self.throttle;
            return Some(Arc::clone(sample));
        }
        if self.queue_length > 0 {
            let length = sample.data().len();
            while self.queue.len() >= self.queue_length
                || (!self.queue.is_empty() && self.queued_bytes + length > MAX_QUEUED_BYTES)
            {
                self.pop();
            }
            self.queue.push_back(Arc::clone(sample));
            self.queued_bytes += length;
        }
        None
    }

    /// Takes the oldest message from the queue.
    fn pop(&mut self) -> Option<Arc<Sample>> {
        let sample = self.queue.pop_front()?;
        self.queued_bytes -= sample.data().len();
        Some(sample)
    }

    /// Drops the messages in the queue.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.queued_bytes = 0;
    }

    /// Bytes of the messages in the queue.
    pub(super) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// A queued message that is due.
    pub(super) fn due(&mut self, now: Duration) -> Option<Arc<Sample>> {
        if now < self.next {
            return None;
        }
        let sample = self.pop()?;
        self.next = now + self.throttle;
        Some(sample)
    }

    /// When a queued message is due.
    pub(super) fn timeout(&self) -> Option<Duration> {
        (!self.queue.is_empty()).then_some(self.next)
    }
}
