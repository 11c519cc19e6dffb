//! A bus between threads of one process: every frame reaches all other connections at once.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::bus::{Bus, BusFault, Received, SendError};
use super::frame::Frame;

/// Frames that may wait at a connection; further ones are lost, as in a controller.
const CAPACITY: usize = 4096;

/// A connection to a bus within this process.
pub struct InProcessBus {
    wire: Arc<Mutex<Vec<Weak<Inbox>>>>,
    inbox: Arc<Inbox>,
}

#[derive(Default)]
struct Inbox {
    waiting: Mutex<VecDeque<Received>>,
    arrived: Condvar,
}

impl InProcessBus {
    /// The first connection to a new bus.
    pub fn new() -> Self {
        Self::on(Arc::default())
    }

    /// Another connection to the same bus.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::on(Arc::clone(&self.wire))
    }

    fn on(wire: Arc<Mutex<Vec<Weak<Inbox>>>>) -> Self {
        let inbox = Arc::new(Inbox::default());
        lock(&wire).push(Arc::downgrade(&inbox));
        Self { wire, inbox }
    }
}

impl Default for InProcessBus {
    fn default() -> Self {
        Self::new()
    }
}

impl Bus for InProcessBus {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        lock(&self.wire).retain(|place| {
            let Some(place) = place.upgrade() else { return false };
            if !Arc::ptr_eq(&place, &self.inbox) {
                place.put(*frame);
            }
            true
        });
        Ok(())
    }

    fn receive(&mut self) -> Option<Received> {
        lock(&self.inbox.waiting).pop_front()
    }

    fn wait(&mut self, timeout: Duration) {
        let waiting = lock(&self.inbox.waiting);
        let arrived = self.inbox.arrived.wait_timeout_while(waiting, timeout, |waiting| waiting.is_empty());
        drop(arrived);
    }
}

impl Inbox {
    fn put(&self, frame: Frame) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() < CAPACITY {
            waiting.push_back(Received::Frame(frame));
        } else if waiting.back() != Some(&Received::Fault(BusFault::Overrun)) {
            waiting.push_back(Received::Fault(BusFault::Overrun));
        }
        self.arrived.notify_one();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_others_receive_in_order_and_the_sender_does_not() {
        let mut first = InProcessBus::new();
        let (mut second, mut third) = (first.another(), first.another());
        let frames = [Frame::standard(1, &[1]).unwrap(), Frame::standard(2, &[]).unwrap()];
        for frame in &frames {
            first.send(frame).unwrap();
        }
        for place in [&mut second, &mut third] {
            place.wait(Duration::from_secs(10));
            assert_eq!(place.receive(), Some(Received::Frame(frames[0])));
            assert_eq!(place.receive(), Some(Received::Frame(frames[1])));
            assert_eq!(place.receive(), None);
        }
        assert_eq!(first.receive(), None);
    }

    #[test]
    fn an_unread_connection_loses_frames_and_reports_it() {
        let mut sender = InProcessBus::new();
        let mut reader = sender.another();
        for _ in 0..2 * CAPACITY {
            sender.send(&Frame::standard(1, &[]).unwrap()).unwrap();
        }
        let received: Vec<_> = std::iter::from_fn(|| reader.receive()).collect();
        assert_eq!(received.len(), CAPACITY + 1);
        assert_eq!(received.last(), Some(&Received::Fault(BusFault::Overrun)));
    }
}
