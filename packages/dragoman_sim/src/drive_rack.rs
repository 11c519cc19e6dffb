//! Several simulated drives at one place on a bus.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_arm::driver::Clock;
use dragoman_io::can::{Bus, Frame, InProcessBus, Received, SendError};

use crate::device::{Application, Device};

/// Frames taken from the bus before the drives may answer.
const FRAMES_AT_ONCE: usize = 256;
/// Frames that wait for a bus that is full; those beyond are lost.
const MAX_UNSENT: usize = 4096;
/// After this time a full bus is tried again.
const FULL_WAIT: Duration = Duration::from_millis(1);
/// The longest wait, so that the rack stops when it is told to and sees faults that were injected.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// Drives that share a place on a bus; clones are the same rack. They hear each other.
pub struct Rack<A> {
    drives: Arc<Mutex<Vec<Device<A>>>>,
    epoch: Instant,
    unsent: VecDeque<Frame>,
}

impl<A> Clone for Rack<A> {
    fn clone(&self) -> Self {
        Self { drives: Arc::clone(&self.drives), epoch: self.epoch, unsent: VecDeque::new() }
    }
}

impl<A: Application> Rack<A> {
    /// A rack whose real time begins now.
    pub fn new(drives: Vec<Device<A>>) -> Self {
        Self { drives: Arc::new(Mutex::new(drives)), epoch: Instant::now(), unsent: VecDeque::new() }
    }

    /// The drives, to look at them or to inject faults; the rack stands still meanwhile.
    pub fn drives(&self) -> MutexGuard<'_, Vec<Device<A>>> {
        self.drives.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time on the clock of [`Rack::run`].
    pub fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// Runs on the real clock until `stop` is set.
    pub fn run(mut self, mut bus: Box<dyn Bus>, stop: Arc<AtomicBool>) {
        while !stop.load(Ordering::Relaxed) {
            let next = self.step(self.now(), bus.as_mut());
            let longest = if self.unsent.is_empty() { LONGEST_WAIT } else { FULL_WAIT };
            let wait = next.map_or(longest, |next| next.saturating_sub(self.now()));
            if !wait.is_zero() {
                bus.wait(wait.min(longest));
            }
        }
    }

    /// One step at `now`, on a clock of the caller's: takes what has arrived, brings the drives up to date and sends what
    /// they have to say. Returns when there is something to do next, if nothing arrives before.
    pub fn step(&mut self, now: Duration, bus: &mut dyn Bus) -> Option<Duration> {
        let drives = Arc::clone(&self.drives);
        let mut drives = drives.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..FRAMES_AT_ONCE {
            match bus.receive() {
                Some(Received::Frame(frame)) => {
                    drives.iter_mut().for_each(|drive| drive.handle(now, &frame));
                }
                // What is wrong with the bus shows in what arrives and in what can be sent.
                Some(Received::Fault(_)) => {}
                None => break,
            }
        }
        drives.iter_mut().for_each(|drive| drive.advance(now));
        self.collect(now, &mut drives);
        self.send(bus);
        drives.iter().filter_map(Device::next_event).min()
    }

    fn collect(&mut self, now: Duration, drives: &mut [Device<A>]) {
        for sender in 0..drives.len() {
            while let Some(frame) = drives.get_mut(sender).and_then(Device::transmit) {
                let others = drives.iter_mut().enumerate().filter(|(at, _)| *at != sender);
                others.for_each(|(_, drive)| drive.handle(now, &frame));
                if self.unsent.len() < MAX_UNSENT {
                    self.unsent.push_back(frame);
                }
            }
        }
    }

    fn send(&mut self, bus: &mut dyn Bus) {
        while let Some(frame) = self.unsent.front() {
            match bus.send(frame) {
                Err(SendError::Full) => return,
                // Sent; or lost, as on a cable that is not there.
                Ok(()) | Err(_) => {
                    self.unsent.pop_front();
                }
            }
        }
    }
}

/// A bus of which a rack is the other end, so that driver and drives run in one thread on one clock.
pub struct RackBus<A> {
    rack: Rack<A>,
    ours: InProcessBus,
    theirs: InProcessBus,
    clock: Clock,
}

impl<A: Application> RackBus<A> {
    /// A bus with `rack` at its other end. `clock` is that of the driver at this end.
    pub fn new(rack: Rack<A>, clock: Clock) -> Self {
        let ours = InProcessBus::new();
        let theirs = ours.another();
        Self { rack, ours, theirs, clock }
    }
}

impl<A: Application> Bus for RackBus<A> {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        self.ours.send(frame)
    }

    fn receive(&mut self) -> Option<Received> {
        let waiting = self.ours.receive();
        if waiting.is_some() {
            return waiting;
        }
        self.rack.step(self.clock.now(), &mut self.theirs);
        self.ours.receive()
    }

    fn wait(&mut self, timeout: Duration) {
        let now = self.clock.now();
        let next = self.rack.step(now, &mut self.theirs);
        let quiet = next.map_or(timeout, |next| timeout.min(next.saturating_sub(now)));
        // Returns at once where the step brought something.
        self.ours.wait(quiet);
    }
}
