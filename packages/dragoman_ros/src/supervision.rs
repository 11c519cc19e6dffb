//! The owner of all running parts: nodes, devices and threads.
//!
//! A part that ends or panics is reported, and restarted if possible: after a pause, and not more than a few times a
//! minute. Otherwise the process ends with a reason; it also does when a thread panics that belongs to no part. No
//! failure is ignored.

mod fault;

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::error::Error;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Once, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use dragoman_time::{Task, sleep_until, timeout};
use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::diagnostics::Severity;
use crate::tasks::RunningNode;
use fault::Failing;
pub use fault::Fault;

/// The pause before a restart, doubled with every restart of the last minute.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Maximum number of restarts of a part within [`RESTART_WINDOW`].
const MAX_RESTARTS: usize = 5;
const RESTART_WINDOW: Duration = Duration::from_secs(60);
/// Timeout of stopping the machines.
const STOP_TIME: Duration = Duration::from_secs(3);
/// Timeout of ending a part.
const END_TIME: Duration = Duration::from_secs(2);

/// Clones share the same supervisor.
#[derive(Clone)]
pub struct Supervisor {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<SupervisorState>,
    /// A part has ended, or the process must end.
    changed: Notify,
}

#[derive(Default)]
struct SupervisorState {
    /// In order of their start.
    parts: Vec<Part>,
    /// The functions that stop the machines.
    stops: Vec<BoxFuture<'static, ()>>,
    /// The reason to end the process.
    failure: Option<String>,
    faults: Vec<Fault>,
    is_stopping: bool,
}

struct Part {
    name: String,
    task: Option<Task<()>>,
    /// The reason of its end, until it is handled.
    ended: Option<String>,
    /// `None` for a part that cannot be restarted.
    start_again: Option<StartAgain>,
    /// The time of the next restart.
    starts_at: Option<Instant>,
    /// Times of its restarts, oldest first.
    restarts: VecDeque<Instant>,
    /// Total number of restarts, and the last reason.
    restart_count: usize,
    last_reason: String,
}

type StartAgain = Box<dyn FnMut() -> Result<BoxFuture<'static, ()>, Box<dyn Error>> + Send>;

/// The supervisor that is notified of panics.
#[derive(Default)]
struct PanicWatch(Mutex<Weak<Shared>>);

thread_local! {
    /// Whether this thread runs a part, whose end is supervised.
    static IS_SUPERVISED: Cell<bool> = const { Cell::new(false) };
}

impl Supervisor {
    /// A supervisor without parts. `faults` are injected into parts.
    pub fn new(faults: Vec<Fault>) -> Self {
        let state = Mutex::new(SupervisorState { faults, ..SupervisorState::default() });
        Self { shared: Arc::new(Shared { state, changed: Notify::new() }) }
    }

    /// From now on logs every panic of this process, or of this lab. A panic that belongs to no part, for example in a
    /// thread of a driver or of the middleware, ends the process.
    pub fn watch_panics(&self) {
        static HOOK: Once = Once::new();
        *dragoman_time::own::<PanicWatch>().0.lock() = Arc::downgrade(&self.shared);
        HOOK.call_once(|| {
            let default = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                let supervisor = dragoman_time::own::<PanicWatch>().0.lock().upgrade();
                let Some(supervisor) = supervisor else { return default(panic) };
                let thread = dragoman_time::thread_name();
                let place = panic.location().map(ToString::to_string).unwrap_or_default();
                let message = message_of(panic.payload());
                tracing::error!(thread, place, "thread panicked: {message}");
                if !IS_SUPERVISED.get() {
                    supervisor.fail(format!("thread '{thread}' has panicked at {place}: {message}"));
                }
            }));
        });
    }

    /// Runs a part that the process needs.
    pub fn spawn(&self, name: impl Into<String>, part: impl Future<Output = ()> + Send + 'static) {
        self.add(name.into(), part.boxed(), None);
    }

    /// Runs a part that can be restarted.
    pub fn spawn_restartable<F, E>(
        &self,
        name: impl Into<String>,
        part: impl Future<Output = ()> + Send + 'static,
        mut start_again: impl FnMut() -> Result<F, E> + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
        E: Into<Box<dyn Error>>,
    {
        let start_again: StartAgain =
            Box::new(move || start_again().map(FutureExt::boxed).map_err(Into::into));
        self.add(name.into(), part.boxed(), Some(start_again));
    }

    /// Runs a node that the process needs, under its own name.
    pub fn spawn_node(&self, node: RunningNode) {
        self.spawn(node.name().to_owned(), node);
    }

    /// Runs a node that can be restarted, under its own name.
    pub fn spawn_restartable_node<E>(
        &self,
        node: RunningNode,
        start_again: impl FnMut() -> Result<RunningNode, E> + Send + 'static,
    ) where
        E: Into<Box<dyn Error>>,
    {
        self.spawn_restartable(node.name().to_owned(), node, start_again);
    }

    /// Registers `stop` for a machine; it is called before anything else ends, in every case.
    pub fn on_stop(&self, stop: BoxFuture<'static, ()>) {
        self.shared.state.lock().stops.push(stop);
    }

    /// Ends the process in an orderly way.
    pub fn fail(&self, reason: String) {
        self.shared.fail(reason);
    }

    fn add(&self, name: String, part: BoxFuture<'static, ()>, start_again: Option<StartAgain>) {
        let mut state = self.shared.state.lock();
        let index = state.parts.len();
        let task = self.run(&mut state, index, &name, part);
        state.parts.push(Part {
            name,
            task: Some(task),
            ended: None,
            start_again,
            starts_at: None,
            restarts: VecDeque::new(),
            restart_count: 0,
            last_reason: String::new(),
        });
    }

    fn run(
        &self,
        state: &mut SupervisorState,
        index: usize,
        name: &str,
        part: BoxFuture<'static, ()>,
    ) -> Task<()> {
        let fault = state.faults.iter_mut().find(|fault| fault.takes(name)).map(Fault::kind);
        let part = Supervised(Failing::new(part, fault));
        let shared = Arc::clone(&self.shared);
        dragoman_time::spawn(async move {
            let ended = AssertUnwindSafe(part).catch_unwind().await;
            let reason = match ended {
                Ok(()) => "has ended".to_owned(),
                Err(panic) => format!("has panicked: {}", message_of(panic.as_ref())),
            };
            if let Some(part) = shared.state.lock().parts.get_mut(index) {
                part.ended = Some(reason);
            }
            shared.changed.notify_one();
        })
    }

    /// The reason why the process must end.
    pub fn failure(&self) -> Option<String> {
        self.shared.state.lock().failure.clone()
    }

    /// Supervises the parts; resolves when the process must end.
    pub async fn watch(&self) {
        loop {
            let next = match self.review(dragoman_time::now()) {
                Ok(next) => next,
                Err(reason) => return self.fail(reason),
            };
            let pause = async {
                match next {
                    Some(time) => sleep_until(time).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.shared.changed.notified() => {}
                () = pause => {}
            }
        }
    }

    /// Handles ended parts; returns the time of the next check, or the reason to end the process.
    fn review(&self, now: Instant) -> Result<Option<Instant>, String> {
        let mut state = self.shared.state.lock();
        if let Some(reason) = &state.failure {
            return Err(reason.clone());
        }
        for part in &mut state.parts {
            part.plan(now)?;
        }
        let due = state.parts.iter().position(|part| part.starts_at.is_some_and(|time| time <= now));
        let Some(index) = due else {
            return Ok(state.parts.iter().filter_map(|part| part.starts_at).min());
        };
        // The started part may call the supervisor.
        let part = state.parts.get_mut(index).map(|part| {
            part.starts_at = None;
            (part.name.clone(), part.start_again.take())
        });
        drop(state);
        if let Some((name, Some(mut start_again))) = part {
            tracing::info!(part = name, "restarting after a failure");
            let started = start_again();
            let mut state = self.shared.state.lock();
            let (task, ended) = match started {
                Ok(future) => (Some(self.run(&mut state, index, &name, future)), None),
                Err(error) => (None, Some(format!("cannot start: {error}"))),
            };
            if let Some(part) = state.parts.get_mut(index) {
                part.start_again = Some(start_again);
                part.task = task;
                if ended.is_some() {
                    part.ended = ended;
                }
            }
        }
        // More parts may have ended.
        Ok(Some(now))
    }

    /// Stops all machines at the same time, then ends the parts, the newest first. `hurry` shortens the machines'
    /// timeout.
    pub async fn shut_down(&self, hurry: impl Future<Output = ()>) {
        let (stops, parts) = {
            let mut state = self.shared.state.lock();
            state.is_stopping = true;
            (std::mem::take(&mut state.stops), std::mem::take(&mut state.parts))
        };
        tokio::select! {
            biased;
            stopped = timeout(STOP_TIME, join_all(stops)) => if stopped.is_err() {
                tracing::error!(seconds = STOP_TIME.as_secs(), "stopping the machines timed out");
            },
            () = hurry => {}
        }
        for part in parts.into_iter().rev() {
            let Some(task) = part.task else { continue };
            task.abort();
            if timeout(END_TIME, task).await.is_err() {
                tracing::error!(part = part.name, "shutdown timed out");
            }
        }
    }

    /// The state of the parts, for `/diagnostics`.
    pub fn report(&self) -> (Severity, String, Vec<(String, String)>) {
        let state = self.shared.state.lock();
        let now = dragoman_time::now();
        let mut troubled = Vec::new();
        let values = state.parts.iter().map(|part| {
            let is_recent = part.restarts.iter().any(|time| now.duration_since(*time) < RESTART_WINDOW);
            if is_recent || part.starts_at.is_some() {
                troubled.push(part.name.as_str());
            }
            let value = match (part.starts_at, part.restart_count) {
                (Some(_), _) => format!("restarts soon; {}", part.last_reason),
                (None, 0) => "running".to_owned(),
                (None, count) => format!("running; restarted {count} times; {}", part.last_reason),
            };
            (part.name.clone(), value)
        });
        let values = values.collect();
        if troubled.is_empty() {
            return (Severity::Ok, "all parts are running".to_owned(), values);
        }
        (Severity::Warn, format!("restarted: {}", troubled.join(", ")), values)
    }
}

impl Part {
    /// Handles the end of a part: schedules its restart, or returns the reason to end the process.
    fn plan(&mut self, now: Instant) -> Result<(), String> {
        let Some(reason) = self.ended.take() else { return Ok(()) };
        self.task = None;
        tracing::error!(part = self.name, reason, "part failed");
        if self.start_again.is_none() {
            return Err(format!("{} {reason}", self.name));
        }
        self.restarts.retain(|time| now.duration_since(*time) < RESTART_WINDOW);
        if self.restarts.len() >= MAX_RESTARTS {
            return Err(format!("{} {reason}, {} times within a minute", self.name, MAX_RESTARTS + 1));
        }
        let pause = FIRST_PAUSE * (1 << self.restarts.len());
        self.restarts.push_back(now);
        self.restart_count += 1;
        self.starts_at = Some(now + pause);
        self.last_reason = reason;
        Ok(())
    }
}

impl Shared {
    /// The first reason is kept.
    fn fail(&self, reason: String) {
        let mut state = self.state.lock();
        if !state.is_stopping {
            state.failure.get_or_insert(reason);
            self.changed.notify_one();
        }
    }
}

/// Marks its thread as supervised while it runs.
struct Supervised<F>(F);

impl<F: Future<Output = ()> + Unpin> Future for Supervised<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        struct Mark(bool);
        impl Drop for Mark {
            fn drop(&mut self) {
                IS_SUPERVISED.set(self.0);
            }
        }
        let _mark = Mark(IS_SUPERVISED.replace(true));
        self.0.poll_unpin(task)
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::channel::oneshot;

    use super::*;

    /// Runs a test on virtual time.
    fn virtually(test: impl Future<Output = ()>) {
        dragoman_time::Simulation::new(1).block_on(test);
    }

    /// Resolves after `seconds` without any event of the parts.
    async fn watch_for(supervisor: &Supervisor, seconds: u64) -> Option<String> {
        timeout(Duration::from_secs(seconds), supervisor.watch()).await.ok()?;
        supervisor.failure()
    }

    #[test]
    fn the_end_of_a_part_that_cannot_be_started_again_ends_the_process() {
        virtually(async {
            let supervisor = Supervisor::new(Vec::new());
            let (end, ended) = oneshot::channel::<()>();
            supervisor.spawn("driver", async { ended.await.unwrap_or_default() });
            assert_eq!(watch_for(&supervisor, 100).await, None);
            end.send(()).unwrap();
            assert_eq!(watch_for(&supervisor, 1).await.unwrap(), "driver has ended");
        });
    }

    #[test]
    fn a_panic_is_an_end() {
        virtually(async {
            let supervisor = Supervisor::new(Vec::new());
            supervisor.spawn("driver", async { panic!("no {}", "hands") });
            assert_eq!(watch_for(&supervisor, 1).await.unwrap(), "driver has panicked: no hands");
        });
    }

    #[tokio::test]
    async fn a_panic_in_a_thread_that_belongs_to_no_part_ends_the_process() {
        let supervisor = Supervisor::new(Vec::new());
        supervisor.watch_panics();
        let thread = std::thread::Builder::new().name("event loop".to_owned());
        thread.spawn(|| panic!("no such reader")).unwrap().join().unwrap_err();
        let reason = watch_for(&supervisor, 10).await.unwrap();
        assert!(
            reason.starts_with("thread 'event loop' has panicked at ")
                && reason.ends_with(": no such reader"),
            "{reason}"
        );
    }

    #[test]
    fn a_part_is_started_again_with_longer_and_longer_pauses_and_in_the_end_given_up() {
        virtually(async {
            let supervisor = Supervisor::new(Vec::new());
            let starts = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&starts);
            supervisor.spawn_restartable("port", async {}, move || {
                match counted.fetch_add(1, Ordering::Relaxed) {
                    1 => Err("the port is taken"),
                    _ => Ok(async {}),
                }
            });
            let begun = dragoman_time::now();
            supervisor.watch().await;
            assert_eq!(supervisor.failure().unwrap(), "port has ended, 6 times within a minute");
            assert_eq!(starts.load(Ordering::Relaxed), 5);
            // 0.5, 1, 2, 4 and 8 s.
            assert_eq!(dragoman_time::since(begun).as_millis() / 100, 155);
        });
    }

    #[test]
    fn restarts_of_long_ago_do_not_count() {
        virtually(async {
            let supervisor = Supervisor::new(Vec::new());
            let live = || dragoman_time::sleep(Duration::from_secs(61));
            supervisor.spawn_restartable("port", live(), move || Ok::<_, String>(live()));
            assert_eq!(watch_for(&supervisor, 3600).await, None);
            let (severity, message, values) = supervisor.report();
            assert_eq!((severity, message.as_str()), (Severity::Warn, "restarted: port"));
            assert!(values[0].1.contains("58 times; has ended"), "{values:?}");
        });
    }

    #[test]
    fn machines_stop_before_parts_end_and_the_newest_part_ends_first() {
        virtually(async {
            struct Note(&'static str, Arc<Mutex<Vec<&'static str>>>);
            impl Drop for Note {
                fn drop(&mut self) {
                    self.1.lock().push(self.0);
                }
            }
            let supervisor = Supervisor::new(Vec::new());
            let notes = Arc::new(Mutex::new(Vec::new()));
            for name in ["first", "second"] {
                let note = Note(name, Arc::clone(&notes));
                supervisor.spawn(name, async move {
                    let _note = note;
                    std::future::pending().await
                });
            }
            let stopped = Note("machine", Arc::clone(&notes));
            supervisor.on_stop(async move { drop(stopped) }.boxed());
            // A part that does not end.
            supervisor.on_stop(std::future::pending().boxed());
            dragoman_time::yield_now().await;
            supervisor.shut_down(std::future::pending()).await;
            assert_eq!(*notes.lock(), ["machine", "second", "first"]);
        });
    }
}
