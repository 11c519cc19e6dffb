//! Computations and files that would delay other tasks.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::clock::{is_virtual, now};
use crate::executor;
use crate::sleep::{sleep, sleep_until};
use crate::task::TaskError;

/// A kind of work, and what it costs on virtual time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    name: &'static str,
    /// Cost of every piece of work.
    start: Duration,
    /// Cost of an iteration: see [`WorkClock::step`].
    step: Duration,
}

const fn work(name: &'static str, start_us: u64, step_us: u64) -> Work {
    Work { name, start: Duration::from_micros(start_us), step: Duration::from_micros(step_us) }
}

/// The table of costs: about those of a release build on a desktop computer.
impl Work {
    /// Reads or writes a file, with its conversion.
    pub const FILE: Self = work("file", 5_000, 0);
    /// Draws, encodes or converts a picture.
    pub const PICTURE: Self = work("picture", 8_000, 0);
    /// Plans a path of a mobile platform; an iteration expands a cell or a node.
    pub const PATH: Self = work("path", 1_000, 1);
    /// Plans a motion of an arm; an iteration checks one motion for collisions.
    pub const MOTION: Self = work("motion", 1_000, 20);
    /// Solves inverse kinematics; an iteration is one of the solver. Requests count a million of them as a second.
    pub const INVERSE_KINEMATICS: Self = work("inverse kinematics", 50, 1);
    /// Advances simulated worlds to their next event.
    pub const WORLDS: Self = work("worlds", 100, 0);
    /// Reads a description or a recording.
    pub const READ: Self = work("read", 10_000, 0);

    /// The name of the kind of work, also of its threads.
    pub fn name(self) -> &'static str {
        self.name
    }
}

/// The clock for the time limits of a piece of work: real time, or what its iterations cost on virtual time.
#[derive(Debug)]
pub struct WorkClock {
    began: Instant,
    /// `None` in real time.
    spent: Option<Cell<Duration>>,
    step: Duration,
}

impl WorkClock {
    /// A clock for work that runs in its caller's thread.
    pub fn start(work: Work) -> Self {
        let spent = executor::with_lab(|_, _| Cell::new(work.start));
        Self { began: now(), spent, step: work.step }
    }

    /// Counts an iteration.
    pub fn step(&self) {
        self.steps(1);
    }

    /// Counts iterations of work that counts them itself.
    pub fn steps(&self, count: u32) {
        if let Some(spent) = &self.spent {
            spent.set(spent.get() + self.step * count);
        }
    }

    /// The present time of the work.
    pub fn now(&self) -> Instant {
        match &self.spent {
            Some(spent) => self.began + spent.get(),
            None => now(),
        }
    }

    /// The time since its start.
    pub fn elapsed(&self) -> Duration {
        self.now().saturating_duration_since(self.began)
    }
}

/// Lets other tasks run between two pieces of work, for a task that never waits. On virtual time the cost of `work`
/// passes.
pub async fn yield_after(work: Work) {
    if executor::with_lab(|_, _| ()).is_some() {
        sleep(work.start).await;
    } else {
        tokio::task::yield_now().await;
    }
}

/// Runs `run` without delaying other tasks: on another thread, or on virtual time in place, while the clock passes as
/// the table of [`Work`] says.
///
/// # Errors
/// `run` has panicked; the system has no thread.
pub async fn off_thread<T: Send + 'static>(
    work: Work,
    run: impl FnOnce(&WorkClock) -> T + Send + 'static,
) -> Result<T, TaskError> {
    if is_virtual() {
        let clock = WorkClock::start(work);
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&clock)));
        sleep_until(clock.now()).await;
        return done.map_err(TaskError::Panicked);
    }
    let run = move || run(&WorkClock::start(work));
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        return runtime.spawn_blocking(run).await.map_err(TaskError::from);
    }
    let (sender, done) = futures::channel::oneshot::channel();
    let thread = std::thread::Builder::new().name(work.name.to_owned());
    let started = thread.spawn(move || {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        // The caller may be gone.
        let _ = sender.send(done);
    });
    started.map_err(|error| TaskError::Panicked(Box::new(error.to_string())))?;
    done.await.map_err(|_| TaskError::Aborted)?.map_err(TaskError::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    #[test]
    fn on_virtual_time_work_takes_what_the_table_says() {
        let simulation = Simulation::new(1);
        let spent = simulation.block_on(off_thread(Work::MOTION, |clock| {
            clock.step();
            clock.steps(9);
            clock.elapsed()
        }));
        assert_eq!(spent.unwrap(), Work::MOTION.start + 10 * Work::MOTION.step);
        assert_eq!(simulation.elapsed(), Work::MOTION.start + 10 * Work::MOTION.step);
        simulation.block_on(yield_after(Work::WORLDS));
        assert_eq!(simulation.elapsed(), Work::MOTION.start + 10 * Work::MOTION.step + Work::WORLDS.start);
    }
}
