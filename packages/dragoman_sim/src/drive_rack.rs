//! Several simulated drives on one bus interface.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman_arm::driver::Clock;
use dragoman_io::can::{Bus, Frame, InProcessBus, Received, SendError};
use parking_lot::{Mutex, MutexGuard};

use crate::arm::ArmLoad;
use crate::device::{Application, Device};

/// Maximum number of frames received before the drives may answer.
const FRAMES_AT_ONCE: usize = 256;
/// Maximum number of frames that wait while the bus is full; more are lost.
const MAX_UNSENT: usize = 4096;
/// Delay before a full bus is tried again.
const FULL_WAIT: Duration = Duration::from_millis(1);
/// Maximum wait, so that the rack notices a stop request and injected faults.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Drives on one bus interface; clones are the same rack. The drives receive each other's frames.
pub struct Rack<A> {
    drives: Arc<Mutex<Vec<Device<A>>>>,
    /// The arm that is their load; locked after the drives.
    arm: Arc<Mutex<Option<ArmLoad>>>,
    epoch: Instant,
    unsent: VecDeque<Frame>,
}

impl<A> Clone for Rack<A> {
    fn clone(&self) -> Self {
        let (drives, arm) = (Arc::clone(&self.drives), Arc::clone(&self.arm));
        Self { drives, arm, epoch: self.epoch, unsent: VecDeque::new() }
    }
}

impl<A: Application> Rack<A> {
    /// A rack whose real time begins now.
    pub fn new(drives: Vec<Device<A>>) -> Self {
        let (drives, arm) = (Arc::new(Mutex::new(drives)), Arc::new(Mutex::new(None)));
        Self { drives, arm, epoch: dragoman_time::now(), unsent: VecDeque::new() }
    }

    /// The same with an arm on the shafts of the drives. Without one they are independent.
    #[must_use]
    pub fn with_arm(self, arm: ArmLoad) -> Self {
        arm.attach(&mut self.drives());
        *self.arm.lock() = Some(arm);
        self
    }

    /// Locks the drives, to read them or to inject faults; the rack pauses meanwhile.
    pub fn drives(&self) -> MutexGuard<'_, Vec<Device<A>>> {
        self.drives.lock()
    }

    /// The time on the clock of [`Rack::run`].
    pub fn now(&self) -> Duration {
        dragoman_time::since(self.epoch)
    }

    /// Runs on the real clock until `stop` is set.
    pub fn run(mut self, mut bus: Box<dyn Bus>, stop: Arc<AtomicBool>) {
        while !stop.load(Ordering::Relaxed) {
            let next = self.step(self.now(), bus.as_mut());
            let longest = if self.unsent.is_empty() { MAX_WAIT } else { FULL_WAIT };
            let wait = next.map_or(longest, |next| next.saturating_sub(self.now()));
            if !wait.is_zero() {
                bus.wait(wait.min(longest));
            }
        }
    }

    /// One step at `now`, on the caller's clock: receives frames, advances the drives and sends their frames. Returns
    /// when the next step is due, if no frame arrives before.
    pub fn step(&mut self, now: Duration, bus: &mut dyn Bus) -> Option<Duration> {
        let drives = Arc::clone(&self.drives);
        let mut drives = drives.lock();
        // Before the frames, each of which would advance its drive alone.
        match self.arm.lock().as_mut() {
            Some(arm) => arm.advance(&mut drives, now),
            None => drives.iter_mut().for_each(|drive| drive.handle_timeout(now)),
        }
        for _ in 0..FRAMES_AT_ONCE {
            match bus.receive() {
                Some(Received::Frame(frame)) => {
                    drives.iter_mut().for_each(|drive| drive.handle_frame(now, &frame));
                }
                // Errors of the bus show when receiving and sending.
                Some(Received::Fault(_)) => {}
                None => break,
            }
        }
        drives.iter_mut().for_each(|drive| drive.handle_timeout(now));
        self.collect(now, &mut drives);
        self.send(bus);
        drives.iter().filter_map(Device::poll_timeout).min()
    }

    fn collect(&mut self, now: Duration, drives: &mut [Device<A>]) {
        for sender in 0..drives.len() {
            while let Some(frame) = drives.get_mut(sender).and_then(Device::poll_transmit) {
                let others = drives.iter_mut().enumerate().filter(|(at, _)| *at != sender);
                others.for_each(|(_, drive)| drive.handle_frame(now, &frame));
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
                // Sent; or lost, as on a disconnected cable.
                Ok(()) | Err(_) => {
                    self.unsent.pop_front();
                }
            }
        }
    }
}

/// A bus with a rack at its other end, so that driver and drives run in one thread with one clock.
pub struct RackBus<A> {
    rack: Rack<A>,
    ours: InProcessBus,
    theirs: InProcessBus,
    clock: Clock,
}

impl<A: Application> RackBus<A> {
    /// Connects to `rack`. `clock` is that of the driver.
    pub fn new(rack: Rack<A>, clock: Clock) -> Self {
        let ours = InProcessBus::new();
        let theirs = ours.another();
        Self { rack, ours, theirs, clock }
    }
}

impl<A: Application> RackBus<A> {
    /// Advances the drives to the present time; returns the time until the next step, at most `timeout`.
    fn advance(&mut self, timeout: Duration) -> Duration {
        let now = self.clock.now();
        let next = self.rack.step(now, &mut self.theirs);
        next.map_or(timeout, |next| timeout.min(next.saturating_sub(now)))
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
        let quiet = self.advance(timeout);
        // Returns at once if the step delivered a frame.
        self.ours.wait(quiet);
    }

    fn pause(&mut self, timeout: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        let quiet = self.advance(timeout);
        self.ours.pause(quiet)
    }
}
