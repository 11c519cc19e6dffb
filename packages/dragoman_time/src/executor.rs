//! An executor for one thread: its ready queue, its timers and its clock.
//!
//! With virtual time it is that of a [`Simulation`](crate::Simulation): when no task is ready, the clock jumps to the
//! next timer. In real time it runs a thread with one task: see [`spawn_thread`](crate::spawn_thread).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::program::Program;
use crate::simulation::Lab;

type Body = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) struct Executor {
    ready: Mutex<VecDeque<u64>>,
    tasks: Mutex<Tasks>,
    timers: Mutex<Timers>,
    time: Time,
    /// The thread that runs it in real time.
    thread: Thread,
    /// What belongs to the lab; `None` in real time.
    pub(crate) lab: Option<Lab>,
}

enum Time {
    Real,
    Virtual {
        start: Instant,
        /// Nanoseconds since `start`.
        passed: AtomicU64,
    },
}

#[derive(Default)]
struct Tasks {
    /// The number of the last task; 0 is the future of `block_on`.
    last: u64,
    running: BTreeMap<u64, Running>,
}

struct Running {
    /// `None` while it is polled.
    body: Option<Body>,
    wakeup: Arc<Wakeup>,
    /// The program that has spawned it.
    program: Option<Program>,
}

#[derive(Default)]
struct Timers {
    last: u64,
    waiting: BTreeMap<(Instant, u64), Waker>,
}

/// The number of the future of `block_on`.
const ROOT: u64 = 0;

/// Polls of a thread in real time after which it looks at its timers although tasks are ready.
const POLLS_BETWEEN_TIMERS: u64 = 64;
/// Polls at one instant of virtual time after which it counts as standing still.
const MAX_POLLS: u64 = 10_000_000;

/// Wakes one task.
struct Wakeup {
    task: u64,
    /// Where the task was spawned.
    place: &'static std::panic::Location<'static>,
    is_queued: AtomicBool,
    executor: Weak<Executor>,
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_queued.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Some(executor) = self.executor.upgrade() {
            executor.ready.lock().push_back(self.task);
            executor.thread.unpark();
        }
    }
}

/// What a thread runs in.
#[derive(Clone)]
struct Current {
    executor: Arc<Executor>,
    /// `None` in real time.
    program: Option<Program>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
    /// Whether this thread is in `block_on`.
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// `None` outside an executor, and while the thread ends.
fn with_current<R>(ask: impl FnOnce(&Current) -> R) -> Option<R> {
    CURRENT.try_with(|current| current.borrow().as_ref().map(ask)).ok().flatten()
}

/// The executor of this thread.
pub(crate) fn current() -> Option<Arc<Executor>> {
    with_current(|current| Arc::clone(&current.executor))
}

/// The program that this thread runs on virtual time.
pub(crate) fn current_program() -> Option<Program> {
    with_current(|current| current.program.clone()).flatten()
}

/// Calls `ask` with the lab whose virtual time this thread runs in.
pub(crate) fn with_lab<R>(ask: impl FnOnce(&Executor, &Lab) -> R) -> Option<R> {
    let executor = current()?;
    executor.lab.as_ref().map(|lab| ask(&executor, lab))
}

/// Takes this thread out of its executor until the result is dropped.
pub(crate) fn leave() -> Entered {
    Entered(CURRENT.replace(None))
}

/// Restores what a thread was in, when it is dropped.
pub(crate) struct Entered(Option<Current>);

impl Drop for Entered {
    fn drop(&mut self) {
        // Dropped without the borrow: it may be the last part of a program, and its end may read the time.
        drop(CURRENT.replace(self.0.take()));
    }
}

impl Executor {
    /// In real time, for this thread.
    pub(crate) fn real() -> Arc<Self> {
        Arc::new(Self::new(Time::Real, None))
    }

    /// On virtual time.
    pub(crate) fn of_lab(lab: Lab) -> Arc<Self> {
        let time = Time::Virtual { start: Instant::now(), passed: AtomicU64::new(0) };
        Arc::new(Self::new(time, Some(lab)))
    }

    fn new(time: Time, lab: Option<Lab>) -> Self {
        Self {
            ready: Mutex::default(),
            tasks: Mutex::default(),
            timers: Mutex::default(),
            time,
            thread: std::thread::current(),
            lab,
        }
    }

    pub(crate) fn enter(self: &Arc<Self>) -> Entered {
        self.enter_program(self.lab.as_ref().map(|lab| lab.program.clone()))
    }

    pub(crate) fn enter_program(self: &Arc<Self>, program: Option<Program>) -> Entered {
        Entered(CURRENT.replace(Some(Current { executor: Arc::clone(self), program })))
    }

    pub(crate) fn now(&self) -> Instant {
        match &self.time {
            Time::Real => Instant::now(),
            Time::Virtual { start, passed } => *start + Duration::from_nanos(passed.load(Ordering::Relaxed)),
        }
    }

    /// Virtual time since the start; zero in real time.
    pub(crate) fn passed(&self) -> Duration {
        match &self.time {
            Time::Real => Duration::ZERO,
            Time::Virtual { passed, .. } => Duration::from_nanos(passed.load(Ordering::Relaxed)),
        }
    }

    #[track_caller]
    pub(crate) fn spawn(self: &Arc<Self>, body: impl Future<Output = ()> + Send + 'static) {
        let place = std::panic::Location::caller();
        let mut tasks = self.tasks.lock();
        tasks.last += 1;
        let task = tasks.last;
        let wakeup = Arc::new(Wakeup {
            task,
            place,
            is_queued: AtomicBool::new(false),
            executor: Arc::downgrade(self),
        });
        let running =
            Running { body: Some(Box::pin(body)), wakeup: Arc::clone(&wakeup), program: current_program() };
        tasks.running.insert(task, running);
        drop(tasks);
        wakeup.wake();
    }

    /// Numbers of tasks that have not ended, by the places where they were spawned.
    pub(crate) fn tasks(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for running in self.tasks.lock().running.values() {
            *counts.entry(running.wakeup.place.to_string()).or_default() += 1;
        }
        counts
    }

    /// Drops all tasks, the newest first.
    pub(crate) fn clear(self: &Arc<Self>) {
        let _entered = self.enter();
        loop {
            // Dropped without the lock: a task may spawn or wake others when it ends.
            let Some((_, task)) = self.tasks.lock().running.pop_last() else { return };
            let _entered = self.enter_program(task.program.clone());
            drop(task);
        }
    }

    /// Registers a timer; returns its number.
    pub(crate) fn add_timer(&self, at: Instant, waker: Waker) -> u64 {
        let mut timers = self.timers.lock();
        timers.last += 1;
        let number = timers.last;
        timers.waiting.insert((at, number), waker);
        number
    }

    /// Sets the waker of a timer that has not expired.
    pub(crate) fn renew_timer(&self, at: Instant, number: u64, waker: &Waker) {
        if let Some(registered) = self.timers.lock().waiting.get_mut(&(at, number)) {
            registered.clone_from(waker);
        }
    }

    pub(crate) fn remove_timer(&self, at: Instant, number: u64) {
        let removed = self.timers.lock().waiting.remove(&(at, number));
        drop(removed);
    }

    /// Runs all tasks until `future` is ready. Other tasks are kept for the next call.
    ///
    /// # Panics
    /// On virtual time if neither a task nor a timer is left that could make it ready.
    #[track_caller]
    pub(crate) fn block_on<F: Future>(self: &Arc<Self>, future: F) -> F::Output {
        let place = std::panic::Location::caller();
        assert!(!IS_RUNNING.replace(true), "a task of an executor cannot wait for another executor");
        let _running = NotRunning;
        let _entered = self.enter();
        let mut future = pin!(future);
        let root = Arc::new(Wakeup {
            task: ROOT,
            place,
            is_queued: AtomicBool::new(false),
            executor: Arc::downgrade(self),
        });
        let waker = Waker::from(Arc::clone(&root));
        root.wake_by_ref();
        let mut polls = 0;
        loop {
            // On its own, so that the lock is not held while a task is polled.
            let next = self.ready.lock().pop_front();
            if next.is_some() {
                polls += 1;
                self.count(polls);
            } else {
                polls = 0;
            }
            match next {
                Some(ROOT) => {
                    // Acquire: sees what the wakers wrote that found it queued.
                    root.is_queued.swap(false, Ordering::AcqRel);
                    let polled =
                        self.watched(place, || future.as_mut().poll(&mut Context::from_waker(&waker)));
                    if let Poll::Ready(output) = polled {
                        self.forget_root();
                        return output;
                    }
                }
                Some(task) => self.poll_task(task),
                None => self.wait(),
            }
        }
    }

    /// Called for every poll, with their number since the last wait: tasks that are always ready must neither stop the
    /// timers of a thread nor virtual time.
    fn count(&self, polls: u64) {
        match &self.time {
            Time::Real => {
                if polls.is_multiple_of(POLLS_BETWEEN_TIMERS) {
                    self.fire();
                }
            }
            Time::Virtual { .. } => {
                if polls > MAX_POLLS {
                    self.report_standstill("tasks are ready again and again");
                }
            }
        }
    }

    /// The waker of a future that is ready may still wake it.
    fn forget_root(&self) {
        self.ready.lock().retain(|task| *task != ROOT);
    }

    fn poll_task(self: &Arc<Self>, task: u64) {
        let taken = self.tasks.lock().running.get_mut(&task).and_then(|running| {
            running.wakeup.is_queued.swap(false, Ordering::AcqRel);
            Some((running.body.take()?, Arc::clone(&running.wakeup), running.program.clone()))
        });
        let Some((mut body, wakeup, program)) = taken else { return };
        let _entered = self.enter_program(program);
        let place = wakeup.place;
        let waker = Waker::from(wakeup);
        let polled = self.watched(place, || body.as_mut().poll(&mut Context::from_waker(&waker)));
        let mut tasks = self.tasks.lock();
        if polled.is_pending()
            && let Some(running) = tasks.running.get_mut(&task)
        {
            running.body = Some(body);
            return;
        }
        let ended = tasks.running.remove(&task);
        drop(tasks);
        drop((ended, body));
    }

    /// Polls; meanwhile the watchdog of the simulation knows where the task was spawned.
    fn watched<R>(&self, place: &'static std::panic::Location<'static>, poll: impl FnOnce() -> R) -> R {
        let Some(lab) = &self.lab else { return poll() };
        let _watched = lab.watchdog.polling(place);
        poll()
    }

    /// Waits for the next timer, or for a task that becomes ready.
    fn wait(&self) {
        let next = self.timers.lock().waiting.first_key_value().map(|((at, _), _)| *at);
        match &self.time {
            Time::Real => {
                let now = Instant::now();
                match next {
                    Some(at) if at <= now => {}
                    Some(at) => std::thread::park_timeout(at - now),
                    None => std::thread::park(),
                }
            }
            Time::Virtual { start, passed } => {
                let Some(at) = next else {
                    self.report_standstill("no task is ready and no timer is set");
                };
                let at = u64::try_from(at.saturating_duration_since(*start).as_nanos()).unwrap_or(u64::MAX);
                passed.fetch_max(at, Ordering::Relaxed);
            }
        }
        self.fire();
    }

    /// Wakes those whose timers have expired, in the order of time and of registration.
    fn fire(&self) {
        let now = self.now();
        loop {
            let expired = {
                let mut timers = self.timers.lock();
                match timers.waiting.first_entry() {
                    Some(first) if first.key().0 <= now => Some(first.remove()),
                    _ => None,
                }
            };
            match expired {
                Some(waker) => waker.wake(),
                None => return,
            }
        }
    }

    #[expect(clippy::panic, reason = "a test that stands still has failed")]
    fn report_standstill(&self, reason: &str) -> ! {
        let tasks = self.tasks.lock();
        let places: Vec<String> =
            tasks.running.values().map(|running| running.wakeup.place.to_string()).collect();
        drop(tasks);
        panic!("virtual time stands still at {:?}: {reason}; tasks: {}", self.passed(), places.join(", "));
    }
}

/// Leaves `block_on`.
struct NotRunning;

impl Drop for NotRunning {
    fn drop(&mut self) {
        IS_RUNNING.set(false);
    }
}
