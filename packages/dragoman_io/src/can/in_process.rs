//! A bus between threads or tasks of one process: every frame reaches all other connections at once.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
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
    wire: Arc<Wire>,
    inbox: Arc<Inbox>,
}

/// What the connections share.
#[derive(Default)]
struct Wire {
    places: Mutex<Vec<Weak<Inbox>>>,
    is_down: AtomicBool,
}

/// The buses of a lab on virtual time, by the names of their interfaces.
#[derive(Default)]
struct Buses(Mutex<BTreeMap<String, Arc<Wire>>>);

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

    /// A connection to the bus of this interface in the present lab, which exists from the first one on.
    pub fn of_lab(interface: &str) -> Self {
        let buses = dragoman_time::shared::<Buses>();
        let wire = Arc::clone(buses.0.lock().entry(interface.to_owned()).or_default());
        Self::on(wire)
    }

    fn on(wire: Arc<Wire>) -> Self {
        let inbox = Arc::new(Inbox::default());
        if wire.is_down.load(Ordering::Relaxed) {
            inbox.put(Received::Fault(BusFault::Down));
        }
        wire.places.lock().push(Arc::downgrade(&inbox));
        Self { wire, inbox }
    }

    /// Takes the bus down for all connections, or up again. They are told; a bus that is down takes no frames.
    pub fn set_up(&self, is_up: bool) {
        if self.wire.is_down.swap(!is_up, Ordering::Relaxed) != is_up {
            return;
        }
        let fault = if is_up { BusFault::Up } else { BusFault::Down };
        for place in self.wire.places.lock().iter().filter_map(Weak::upgrade) {
            place.put(Received::Fault(fault.clone()));
        }
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
        if self.wire.is_down.load(Ordering::Relaxed) {
            return Err(SendError::Down);
        }
        self.wire.places.lock().retain(|place| {
            let Some(place) = place.upgrade() else { return false };
            if !Arc::ptr_eq(&place, &self.inbox) {
                place.put(Received::Frame(*frame));
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
    fn put(&self, received: Received) {
        let mut waiting = self.waiting.lock();
        let is_frame = matches!(received, Received::Frame(_));
        // Faults are few, and none is lost.
        if waiting.len() < CAPACITY || !is_frame {
            waiting.push_back(received);
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
    fn a_bus_that_is_down_takes_no_frames_and_says_so() {
        let mut first = InProcessBus::new();
        let mut second = first.another();
        let frame = Frame::standard(1, &[1]).unwrap();
        first.send(&frame).unwrap();
        first.set_up(false);
        first.set_up(false);
        assert!(matches!(second.send(&frame), Err(SendError::Down)));
        let mut late = second.another();
        assert_eq!(late.receive(), Some(Received::Fault(BusFault::Down)));
        second.set_up(true);
        second.send(&frame).unwrap();
        let received = |bus: &mut InProcessBus| std::iter::from_fn(|| bus.receive()).collect::<Vec<_>>();
        let [down, up] = [BusFault::Down, BusFault::Up].map(Received::Fault);
        assert_eq!(received(&mut first), [down.clone(), up.clone(), Received::Frame(frame)]);
        assert_eq!(received(&mut second), [Received::Frame(frame), down, up.clone()]);
        assert_eq!(received(&mut late), [up, Received::Frame(frame)]);
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
