//! The task that runs a group of drives on a bus. In real time it has a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman_io::can::{Bus, BusFault, Received, SendError};
use dragoman_time::Thread;
use parking_lot::Mutex;

use super::config::{ConfigError, GroupConfig};
use super::group::{Group, GroupState};

/// Delay before a frame is offered again to a bus whose queue was full.
const FULL_WAIT: Duration = Duration::from_micros(500);
/// Timeout of stopping the drives at the end.
const STOP_TIME: Duration = Duration::from_secs(1);
/// Frames received in a row before frames are sent again.
const FRAMES_AT_ONCE: usize = 256;

/// A running group of drives. Dropping it stops the drives and switches them off; on virtual time the drives stop after that.
pub struct Drives {
    shared: Arc<Shared>,
    thread: Option<Thread>,
}

struct Shared {
    group: Mutex<Group>,
    clock: Clock,
    stop: AtomicBool,
}

/// The clock of a group and its bus. Clones share the same time.
#[derive(Debug, Clone)]
pub struct Clock {
    max_step: Duration,
    /// Start of the last turn, and the clock's time then.
    last: Arc<Mutex<(Instant, Duration)>>,
}

impl Clock {
    /// Real time, starting now.
    pub fn real() -> Self {
        Self::with_max_step(Duration::MAX)
    }

    /// Real time, but each turn of the driver's thread advances it by at most `max_step`: for simulated drives,
    /// which must not mistake a busy computer for a lost driver.
    pub fn with_max_step(max_step: Duration) -> Self {
        Self { max_step, last: Arc::new(Mutex::new((dragoman_time::now(), Duration::ZERO))) }
    }

    /// The time since the clock was created, with the limit on steps.
    pub fn now(&self) -> Duration {
        let (turn, time) = *self.last.lock();
        time + dragoman_time::since(turn).min(self.max_step)
    }

    /// Starts a turn of the driver's thread.
    fn turn(&self) {
        let mut last = self.last.lock();
        let (turn, time) = *last;
        let now = dragoman_time::now();
        *last = (now, time + now.duration_since(turn).min(self.max_step));
    }
}

/// Error starting the drives.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration of the group is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The system refused another thread.
    #[error(transparent)]
    Thread(#[from] std::io::Error),
}

impl Drives {
    /// Runs a group on a bus, in its own thread, with the time of `clock`.
    ///
    /// # Errors
    /// Invalid `config`; the system refused another thread.
    pub fn start(config: GroupConfig, bus: Box<dyn Bus>, clock: Clock) -> Result<Self, StartError> {
        let group = Group::new(clock.now(), config)?;
        Self::run(group, bus, clock)
    }

    /// Runs a group that was made with the time of `clock`.
    ///
    /// # Errors
    /// The system refused another thread.
    pub fn run(group: Group, mut bus: Box<dyn Bus>, clock: Clock) -> Result<Self, StartError> {
        let group = Mutex::new(group);
        let shared = Arc::new(Shared { group, clock, stop: AtomicBool::new(false) });
        let run = Arc::clone(&shared);
        let thread = dragoman_time::spawn_thread("drives", async move { run.run(bus.as_mut()).await })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Whether the thread is running: it ends when this is dropped, or on failure.
    pub fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Calls `use_group` with the group and the time on its clock.
    pub fn with<R>(&self, use_group: impl FnOnce(Duration, &mut Group) -> R) -> R {
        use_group(self.shared.clock.now(), &mut self.shared.group.lock())
    }
}

impl Drop for Drives {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}

impl Shared {
    async fn run(&self, bus: &mut dyn Bus) {
        let mut stop_by = None;
        loop {
            let wait = self.turn(bus);
            if self.stop.load(Ordering::Relaxed) {
                let now = dragoman_time::now();
                let by = *stop_by.get_or_insert_with(|| {
                    let time = self.clock.now();
                    self.group.lock().disable(time);
                    now + STOP_TIME
                });
                let running = matches!(
                    self.group.lock().state(),
                    GroupState::Enabled | GroupState::Enabling | GroupState::Stopping
                );
                if !running || by < now {
                    break;
                }
            }
            bus.pause(wait).await;
        }
    }

    /// Takes received frames, does the due work and sends; returns the time until the next work.
    fn turn(&self, bus: &mut dyn Bus) -> Duration {
        self.clock.turn();
        let mut group = self.group.lock();
        for _ in 0..FRAMES_AT_ONCE {
            let Some(received) = bus.receive() else { break };
            group.handle_received(self.clock.now(), &received);
        }
        group.handle_timeout(self.clock.now());
        let mut full = false;
        while let Some(frame) = group.poll_transmit() {
            match bus.send(frame) {
                Ok(()) => group.handle_sent(),
                Err(SendError::Full) => {
                    full = true;
                    break;
                }
                Err(error) => {
                    tracing::debug!(%error, "sending a CAN frame failed");
                    group.handle_received(self.clock.now(), &Received::Fault(BusFault::Down));
                    break;
                }
            }
        }
        let wait = group.poll_timeout().saturating_sub(self.clock.now());
        if full { wait.min(FULL_WAIT) } else { wait }
    }
}
