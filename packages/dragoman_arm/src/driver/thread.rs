//! The thread that runs a group of drives on a bus.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::config::{ConfigError, GroupConfig};
use super::group::{Group, State};
use crate::can::{Bus, BusFault, Received, SendError};

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
    epoch: Instant,
    stop: AtomicBool,
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
    /// Runs a group on a bus, in a thread of its own.
    ///
    /// # Errors
    /// `config` makes no sense; the system has no thread left.
    pub fn start(config: GroupConfig, mut bus: Box<dyn Bus>) -> Result<Self, StartError> {
        let group = Mutex::new(Group::new(Duration::ZERO, config)?);
        let shared = Arc::new(Shared { group, epoch: Instant::now(), stop: AtomicBool::new(false) });
        let run = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("drives".to_owned()).spawn(move || run.run(bus.as_mut()))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Uses the group. `use_group` gets the time on the group's clock.
    pub fn with<R>(&self, use_group: impl FnOnce(Duration, &mut Group) -> R) -> R {
        use_group(self.shared.epoch.elapsed(), &mut self.shared.lock())
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
                    self.lock().disable();
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
        let mut group = self.lock();
        for _ in 0..FRAMES_AT_ONCE {
            let Some(received) = bus.receive() else { break };
            group.receive(self.epoch.elapsed(), &received);
        }
        group.poll(self.epoch.elapsed());
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
                    group.receive(self.epoch.elapsed(), &Received::Fault(BusFault::Down));
                    break;
                }
            }
        }
        let wait = group.deadline().saturating_sub(self.epoch.elapsed());
        if full { wait.min(FULL_WAIT) } else { wait }
    }
}
