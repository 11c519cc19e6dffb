//! A lab on virtual time, in one thread.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::chance::Streams;
use crate::executor::{Entered, Executor};
use crate::held::{Figures, Kinds};
use crate::history::{Event, Fingerprint, History};
use crate::program::{Program, Values};
use crate::surroundings::Surroundings;
use crate::watchdog::Watchdog;

/// Runs tasks on virtual time, in the thread that calls [`Simulation::block_on`]. Several of them, each in its thread, do
/// not know of each other.
pub struct Simulation {
    executor: Arc<Executor>,
}

/// What belongs to a lab on virtual time.
pub(crate) struct Lab {
    /// The program of tasks that belong to no other.
    pub(crate) program: Program,
    pub(crate) wall_start: Duration,
    pub(crate) streams: Mutex<Streams>,
    /// Values that all programs share.
    pub(crate) shared: Values,
    pub(crate) history: Mutex<History>,
    pub(crate) watchdog: Arc<Watchdog>,
}

impl Simulation {
    /// Nothing runs yet; the time is zero. The environment is empty.
    pub fn new(seed: u64) -> Self {
        Self::with_surroundings(seed, Surroundings::default())
    }

    /// As [`Simulation::new`], in these surroundings. Further [`Program`]s have their own.
    pub fn with_surroundings(seed: u64, surroundings: Surroundings) -> Self {
        let lab = Lab {
            wall_start: surroundings.wall_time,
            program: Program::new(surroundings),
            streams: Mutex::new(Streams { seed, by_name: BTreeMap::new() }),
            shared: Mutex::default(),
            history: Mutex::default(),
            watchdog: Watchdog::start(),
        };
        Self { executor: Executor::of_lab(lab) }
    }

    fn lab(&self) -> Option<&Lab> {
        self.executor.lab.as_ref()
    }

    /// Runs all tasks until `future` is ready. Time stands still afterwards, until the next call. Timers that were made
    /// before this call are not on virtual time: `future` is best an `async` block.
    ///
    /// # Panics
    /// No task is ready and no timer is set, so that `future` can never become ready; `future` panics.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.executor.block_on(future)
    }

    /// Runs all tasks for `time`.
    #[track_caller]
    pub fn run_for(&self, time: Duration) {
        self.block_on(async { crate::sleep(time).await });
    }

    /// Calls `act` as if in a task: with the time and the surroundings of this simulation.
    pub fn enter<R>(&self, act: impl FnOnce() -> R) -> R {
        let _entered = self.executor.enter();
        act()
    }

    /// As [`enter`](Self::enter), until the result is dropped.
    #[must_use]
    pub fn guard(&self) -> SimulationGuard {
        SimulationGuard { _entered: self.executor.enter(), _of_thread: PhantomData }
    }

    /// The virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.executor.passed()
    }

    /// Numbers of tasks that have not ended, by the places in the source where they were spawned.
    pub fn tasks(&self) -> BTreeMap<String, usize> {
        self.executor.tasks()
    }

    /// What bounded things hold, by their names; those of which nothing was ever held are left out.
    pub fn held(&self) -> BTreeMap<&'static str, Figures> {
        self.enter(crate::surroundings::shared::<Kinds>).figures()
    }

    /// What was printed on standard output since the last call.
    pub fn take_output(&self) -> String {
        self.lab().map(|lab| lab.program.take_output()).unwrap_or_default()
    }

    /// The history up to now, as a number.
    pub fn fingerprint(&self) -> Fingerprint {
        self.lab().map(|lab| lab.history.lock().fingerprint()).unwrap_or(Fingerprint { hash: 0, events: 0 })
    }

    /// Calls `observe` with every event of the history, in place of an earlier observer. It must neither log nor note
    /// anything itself.
    pub fn observe(&self, observe: impl FnMut(Event<'_>) + Send + 'static) {
        if let Some(lab) = self.lab() {
            lab.history.lock().observer = Some(Box::new(observe));
        }
    }
}

/// A thread is in a simulation while this exists. See [`Simulation::guard`].
pub struct SimulationGuard {
    _entered: Entered,
    _of_thread: PhantomData<*const ()>,
}

impl std::fmt::Debug for SimulationGuard {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SimulationGuard").finish_non_exhaustive()
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.executor.clear();
        if let Some(lab) = self.lab() {
            let _entered = self.executor.enter();
            for values in [&lab.program.0.own, &lab.shared] {
                let values = std::mem::take(&mut *values.lock());
                drop(values);
            }
            lab.history.lock().observer = None;
        }
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Simulation").field("elapsed", &self.elapsed()).finish_non_exhaustive()
    }
}
