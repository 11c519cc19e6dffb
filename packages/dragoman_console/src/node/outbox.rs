//! Messages that wait for one WebSocket client.
//!
//! A slow client loses messages of topics, the oldest first. Answers are not lost: a client that does not fetch them is
//! given up.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;

use super::bounds::Account;
use crate::rosbridge::Outgoing;

/// The bytes that wait for all clients, as a multiple of those that may wait for one. Beyond them no more than the same part
/// of its own may wait for a client.
const ALL_QUEUES: usize = 8;
/// Beyond them a client is given up that has taken nothing for this time, and has more answers than its part.
const SLOW_AFTER: Duration = Duration::from_secs(1);
/// Maximum number of messages that wait for a client, whole or to be sent in fragments.
const MAX_MESSAGES: usize = 2000;

/// Messages that wait for a client.
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    changed: Notify,
    overfull: Notify,
    /// Maximum number of bytes.
    most: usize,
    lost: AtomicU64,
}

struct Queue {
    frames: VecDeque<Outgoing>,
    bytes: Account,
    /// Frames that may not be dropped, and their bytes.
    kept: usize,
    kept_bytes: usize,
    /// When the client took something, or nothing waited for it.
    taken: Instant,
    is_ping_due: bool,
    is_given_up: bool,
}

pub(super) enum Next {
    Message(Outgoing),
    Ping,
}

impl Outbox {
    pub(super) fn new(most: usize, all: &Arc<AtomicUsize>) -> Self {
        Self {
            queue: Mutex::new(Queue {
                frames: VecDeque::new(),
                bytes: Account::new("bytes that wait for web clients", all),
                kept: 0,
                kept_bytes: 0,
                taken: dragoman_time::now(),
                is_ping_due: false,
                is_given_up: false,
            }),
            changed: Notify::new(),
            overfull: Notify::new(),
            most,
            lost: AtomicU64::new(0),
        }
    }

    /// Whether more waits for all clients than may.
    fn is_crowded(&self, queue: &Queue) -> bool {
        let (_, all) = queue.bytes.get();
        all > ALL_QUEUES * self.most
    }

    /// The number of bytes that may wait for a client while too much waits for all.
    fn share(&self) -> usize {
        self.most / ALL_QUEUES
    }

    /// Checks whether an answer of about this number of bytes may be created.
    ///
    /// # Errors
    /// It is long, and too much waits for all clients already: the reason for the client.
    pub(super) fn room(&self, bytes: usize) -> Result<(), String> {
        let queue = self.queue.lock();
        if bytes > self.share() && self.is_crowded(&queue) {
            let [all, share] = [ALL_QUEUES * self.most, self.share()];
            return Err(format!(
                "more than {all} bytes wait for all clients: an answer may have {share} bytes now"
            ));
        }
        Ok(())
    }

    pub(super) fn push(&self, frame: Outgoing) {
        let mut queue = self.queue.lock();
        if queue.is_given_up {
            return;
        }
        let length = frame.frame.len();
        let is_crowded = self.is_crowded(&queue);
        // What may wait already. Clients that read get a message of any length, however much waits for others.
        let before = if is_crowded { self.share() } else { self.most };
        if queue.frames.is_empty() {
            queue.taken = dragoman_time::now();
        }
        if frame.may_drop {
            if queue.kept_bytes > before || queue.kept_bytes + length > self.most {
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            while queue.frames.len() >= MAX_MESSAGES
                || queue.bytes.get().0 > before
                || queue.bytes.get().0 + length > self.most
            {
                self.lost.fetch_add(1, Ordering::Relaxed);
                let Some(oldest) = queue.frames.iter().position(|frame| frame.may_drop) else { return };
                let dropped = queue.frames.remove(oldest).map_or(0, |frame| frame.frame.len());
                queue.bytes.remove(dropped);
            }
        } else {
            // One answer of any length is allowed.
            let is_too_much = queue.kept > 0 && queue.kept_bytes + length > self.most;
            if queue.kept >= MAX_MESSAGES || is_too_much || self.is_slow(&queue, before) {
                return self.overflow(queue);
            }
            queue.kept += 1;
            queue.kept_bytes += length;
        }
        queue.bytes.add(length);
        queue.frames.push_back(frame);
        drop(queue);
        self.changed.notify_one();
    }

    /// Whether the client has taken nothing for a while, though more of its answers wait than these bytes.
    fn is_slow(&self, queue: &Queue, before: usize) -> bool {
        queue.kept_bytes > before && dragoman_time::since(queue.taken) > SLOW_AFTER
    }

    fn overflow(&self, queue: MutexGuard<'_, Queue>) {
        drop(queue);
        self.give_up();
        self.overfull.notify_one();
    }

    /// Waits until more waits than may, and is not taken: nothing more is kept for the client.
    pub(super) async fn overfull(&self) {
        self.overfull.notified().await;
    }

    /// Whether this number of bytes would exceed the limit of waiting answers and requests.
    pub(super) fn is_busy(&self, bytes: usize) -> bool {
        let queue = self.queue.lock();
        queue.kept > 0 && queue.kept_bytes + bytes > self.most
    }

    /// Messages of topics that the client lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Keeps nothing for the client any more.
    pub(super) fn give_up(&self) {
        let mut queue = self.queue.lock();
        queue.is_given_up = true;
        queue.frames = VecDeque::new();
        let (bytes, _) = queue.bytes.get();
        queue.bytes.remove(bytes);
        (queue.kept, queue.kept_bytes) = (0, 0);
    }

    /// Sends a ping, unless the client is disconnected because too much waits for it and for all.
    pub(super) fn ping(&self) {
        let mut queue = self.queue.lock();
        if self.is_crowded(&queue) && self.is_slow(&queue, self.share()) {
            return self.overflow(queue);
        }
        queue.is_ping_due = true;
        drop(queue);
        self.changed.notify_one();
    }

    /// Whether a ping is due, which is sent between the fragments of a long message as well.
    pub(super) fn take_ping(&self) -> bool {
        std::mem::take(&mut self.queue.lock().is_ping_due)
    }

    pub(super) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.take() {
                return next;
            }
            self.changed.notified().await;
        }
    }

    fn take(&self) -> Option<Next> {
        let mut queue = self.queue.lock();
        if std::mem::take(&mut queue.is_ping_due) {
            return Some(Next::Ping);
        }
        let frame = queue.frames.pop_front()?;
        let length = frame.frame.len();
        queue.taken = dragoman_time::now();
        queue.bytes.remove(length);
        if !frame.may_drop {
            queue.kept -= 1;
            queue.kept_bytes -= length;
        }
        Some(Next::Message(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rosbridge::{Frame, Split};

    fn frame(length: usize, may_drop: bool) -> Outgoing {
        Outgoing::whole(Frame::Text("x".repeat(length).into()), may_drop)
    }

    fn lengths(outbox: &Outbox) -> Vec<usize> {
        std::iter::from_fn(|| match outbox.take() {
            Some(Next::Message(outgoing)) => Some(outgoing.frame.len()),
            _ => None,
        })
        .collect()
    }

    fn outbox(most: usize) -> Outbox {
        Outbox::new(most, &Arc::default())
    }

    #[test]
    fn a_slow_client_loses_the_oldest_messages_but_no_answers() {
        let outbox = outbox(100);
        for (length, may_drop) in [(40, true), (10, false), (41, true), (42, true), (101, true)] {
            outbox.push(frame(length, may_drop));
        }
        assert_eq!(lengths(&outbox), [10, 41, 42]);
        assert_eq!(outbox.lost.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_message_in_many_fragments_is_one_message() {
        let outbox = outbox(8 << 20);
        let split = Some(Split { size: 1, id: 1 });
        for may_drop in [true, false] {
            outbox.push(Outgoing { split, ..frame(4 << 20, may_drop) });
            let Some(Next::Message(outgoing)) = outbox.take() else { panic!("it is lost") };
            assert_eq!(outgoing.into_frames().len(), 4096);
        }
        assert_eq!(outbox.lost.load(Ordering::Relaxed), 0);
    }

    fn is_given_up(outbox: &Outbox) -> bool {
        outbox.queue.lock().is_given_up
    }

    #[test]
    fn a_client_that_does_not_fetch_its_answers_is_given_up() {
        let outbox = outbox(100);
        outbox.push(frame(1000, false));
        assert_eq!(lengths(&outbox), [1000]);
        outbox.push(frame(60, false));
        outbox.push(frame(60, false));
        // Nothing is kept for it any more.
        outbox.push(frame(1, false));
        assert!(is_given_up(&outbox) && lengths(&outbox).is_empty());
        assert_eq!(outbox.queue.lock().bytes.get(), (0, 0));
    }

    #[test]
    fn many_slow_clients_have_no_more_than_their_share_of_all() {
        let all: Arc<AtomicUsize> = Arc::default();
        let slow: Vec<Outbox> = (0..20).map(|_| Outbox::new(80, &all)).collect();
        slow.iter().for_each(|outbox| (0..10).for_each(|_| outbox.push(frame(10, true))));
        // Eight times 80 bytes in all; beyond them an eighth of 80, and one message.
        let waiting = all.load(Ordering::Relaxed);
        assert!((7 * 80..=8 * 80 + 20 * 20).contains(&waiting), "{waiting}");
        drop(slow);
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_client_that_reads_loses_nothing_while_others_are_slow() {
        dragoman_time::Simulation::new(0).block_on(async {
            let all = Arc::new(AtomicUsize::new(8 * 80 + 1));
            let modest = Outbox::new(80, &all);
            for may_drop in [true, false] {
                modest.push(frame(70, may_drop));
                assert_eq!(lengths(&modest), [70]);
            }
            // Answers that are on their way.
            modest.push(frame(50, false));
            modest.push(frame(20, false));
            assert_eq!(lengths(&modest), [50, 20]);
            // It stops reading.
            modest.push(frame(50, false));
            modest.push(frame(20, true));
            assert_eq!(modest.lost.load(Ordering::Relaxed), 1);
            dragoman_time::sleep(SLOW_AFTER * 2).await;
            modest.push(frame(1, false));
            assert!(is_given_up(&modest));
            assert_eq!(all.load(Ordering::Relaxed), 8 * 80 + 1);
        });
    }

    #[test]
    fn long_answers_of_all_clients_are_bounded() {
        dragoman_time::Simulation::new(0).block_on(async {
            let all = Arc::new(AtomicUsize::new(0));
            let holding: Vec<Outbox> = (0..3).map(|_| Outbox::new(80, &all)).collect();
            for outbox in &holding[..2] {
                outbox.room(500).unwrap();
                outbox.push(frame(500, false));
            }
            let refused = holding[2].room(11).unwrap_err();
            assert_eq!(refused, "more than 640 bytes wait for all clients: an answer may have 10 bytes now");
            holding[2].room(10).unwrap();
            holding[2].push(frame(10, false));
            dragoman_time::sleep(SLOW_AFTER * 2).await;
            // The first client that gets a ping makes room; then no other has to.
            holding.iter().for_each(Outbox::ping);
            assert_eq!(holding.iter().map(is_given_up).collect::<Vec<_>>(), [true, false, false]);
            assert_eq!(all.load(Ordering::Relaxed), 510);
            holding[2].room(500).unwrap();
        });
    }
}
