//! The thread that runs a group of drives on a bus.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dragoman_io::can::{Bus, BusFault, Received, SendError};

use super::config::{ConfigError, GroupConfig};
use super::group::{Group, State};

/// How long to wait before a frame is offered again to a bus whose queue was full.
const FULL_WAIT: Duration = Duration::from_micros(500);
/// How long the drives may take to stop at the end.
const STOP_TIME: Duration = Duration::from_secs(1);
/// Frames that are taken from the bus before ours get their turn again.
const FRAMES_AT_ONCE: usize = 256;

/// A group of drives that is running. Dropping it stops the drives and switches them off.
pub struct Drives {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    group: Mutex<Group>,
    clock: Clock,
    stop: AtomicBool,
}

/// The time of a group and its bus. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock {
    longest_step: Duration,
    /// When the last turn began, and the time that it had.
    last: Arc<Mutex<(Instant, Duration)>>,
}

impl Clock {
    /// Real time, from now on.
    pub fn real() -> Self {
        Self::patient(Duration::MAX)
    }

    /// Real time, but from turn to turn of the driver's thread it goes on by `longest_step` at most: for simulated drives,
    /// to which a computer that is busy with something else must not look like a driver that is gone.
    pub fn patient(longest_step: Duration) -> Self {
        Self { longest_step, last: Arc::new(Mutex::new((Instant::now(), Duration::ZERO))) }
    }

    /// The time since the clock was made, as far as it counts.
    pub fn now(&self) -> Duration {
        let (turn, told) = *self.lock();
        told + turn.elapsed().min(self.longest_step)
    }

    /// A turn of the driver's thread begins.
    fn turn(&self) {
        let mut last = self.lock();
        let (turn, told) = *last;
        let now = Instant::now();
        *last = (now, told + now.duration_since(turn).min(self.longest_step));
    }

    fn lock(&self) -> MutexGuard<'_, (Instant, Duration)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why drives cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The group makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No thread left.
    #[error(transparent)]
    Thread(#[from] std::io::Error),
}

impl Drives {
    /// Runs a group on a bus, in a thread of its own, with the time of `clock`.
    ///
    /// # Errors
    /// `config` makes no sense; the system has no thread left.
    pub fn start(config: GroupConfig, mut bus: Box<dyn Bus>, clock: Clock) -> Result<Self, StartError> {
        let group = Mutex::new(Group::new(clock.now(), config)?);
        let shared = Arc::new(Shared { group, clock, stop: AtomicBool::new(false) });
        let run = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("drives".to_owned()).spawn(move || run.run(bus.as_mut()))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Whether the thread is at work: it ends when this is dropped, or when it has failed.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Uses the group. `use_group` gets the time on the group's clock.
    pub fn with<R>(&self, use_group: impl FnOnce(Duration, &mut Group) -> R) -> R {
        use_group(self.shared.clock.now(), &mut self.shared.lock())
    }
}

impl Drop for Drives {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told so.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, bus: &mut dyn Bus) {
        let mut stop_by = None;
        loop {
            let wait = self.turn(bus);
            if self.stop.load(Ordering::Relaxed) {
                let now = Instant::now();
                let by = *stop_by.get_or_insert_with(|| {
                    let time = self.clock.now();
                    self.lock().disable(time);
                    now + STOP_TIME
                });
                let running =
                    matches!(self.lock().state(), State::Enabled | State::Enabling | State::Stopping);
                if !running || by < now {
                    break;
                }
            }
            bus.wait(wait);
        }
    }

    /// Takes what has arrived, does what is due and sends; returns how long there is nothing else to do.
    fn turn(&self, bus: &mut dyn Bus) -> Duration {
        self.clock.turn();
        let mut group = self.lock();
        for _ in 0..FRAMES_AT_ONCE {
            let Some(received) = bus.receive() else { break };
            group.receive(self.clock.now(), &received);
        }
        group.poll(self.clock.now());
        let mut full = false;
        while let Some(frame) = group.transmit() {
            match bus.send(frame) {
                Ok(()) => group.sent(),
                Err(SendError::Full) => {
                    full = true;
                    break;
                }
                Err(error) => {
                    tracing::debug!(%error, "CAN");
                    group.receive(self.clock.now(), &Received::Fault(BusFault::Down));
                    break;
                }
            }
        }
        let wait = group.deadline().saturating_sub(self.clock.now());
        if full { wait.min(FULL_WAIT) } else { wait }
    }
}
