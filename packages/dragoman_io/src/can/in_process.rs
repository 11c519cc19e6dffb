//! A bus between threads or tasks of one process: every frame reaches all other connections at once.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

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
    /// The task in [`Bus::pause`].
    pausing: Mutex<Option<Waker>>,
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
        wire.lock().push(Arc::downgrade(&inbox));
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
        if dragoman_time::is_virtual() {
            dragoman_time::note("frame", &format!("{:?}", frame.id()), frame.data());
        }
        self.wire.lock().retain(|place| {
            let Some(place) = place.upgrade() else { return false };
            if !Arc::ptr_eq(&place, &self.inbox) {
                place.put(*frame);
            }
            true
        });
        Ok(())
    }

    fn receive(&mut self) -> Option<Received> {
        self.inbox.waiting.lock().pop_front()
    }

    fn wait(&mut self, timeout: Duration) {
        let mut waiting = self.inbox.waiting.lock();
        self.inbox.arrived.wait_while_for(&mut waiting, |waiting| waiting.is_empty(), timeout);
    }

    fn pause(&mut self, timeout: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let mut timer = dragoman_time::precise_sleep(timeout);
        Box::pin(poll_fn(move |task| {
            *self.inbox.pausing.lock() = Some(task.waker().clone());
            if self.inbox.waiting.lock().is_empty() {
                Pin::new(&mut timer).poll(task)
            } else {
                Poll::Ready(())
            }
        }))
    }
}

impl Inbox {
    fn put(&self, frame: Frame) {
        let mut waiting = self.waiting.lock();
        if waiting.len() < CAPACITY {
            waiting.push_back(Received::Frame(frame));
        } else if waiting.back() != Some(&Received::Fault(BusFault::Overrun)) {
            waiting.push_back(Received::Fault(BusFault::Overrun));
        }
        drop(waiting);
        self.arrived.notify_one();
        if let Some(task) = self.pausing.lock().take() {
            task.wake();
        }
    }
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
