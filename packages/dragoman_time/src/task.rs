//! Tasks: futures that run by themselves.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use parking_lot::Mutex;
use tracing::Instrument;

use crate::executor;

/// Whether [`spawn`] can be called: not in real time outside tokio, as at the end of a process.
pub fn can_spawn() -> bool {
    executor::current().is_some() || tokio::runtime::Handle::try_current().is_ok()
}

/// Runs `future` until it ends, or is aborted.
///
/// # Panics
/// In real time outside tokio: see [`can_spawn`].
#[track_caller]
pub fn spawn<F>(future: F) -> Task<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // Its log lines are those of the node that has spawned it.
    let future = future.in_current_span();
    let Some(executor) = executor::current() else {
        return Task(TaskKind::Tokio(tokio::spawn(future)));
    };
    let end = Arc::new(End::<F::Output>::default());
    executor.spawn(Spawned { future: Some(Box::pin(future)), end: Arc::clone(&end) });
    Task(TaskKind::Own(end))
}

/// A spawned task; a future of its output. The task goes on when this is dropped.
pub struct Task<T>(TaskKind<T>);

/// In real time a task of tokio, otherwise one of an executor of this crate.
enum TaskKind<T> {
    Tokio(tokio::task::JoinHandle<T>),
    Own(Arc<End<T>>),
}

/// How a task ends.
struct End<T> {
    shared: Arc<Shared>,
    output: Mutex<Option<Result<T, TaskError>>>,
}

impl<T> Default for End<T> {
    fn default() -> Self {
        Self { shared: Arc::default(), output: Mutex::new(None) }
    }
}

#[derive(Default)]
struct Shared {
    is_aborted: AtomicBool,
    has_ended: AtomicBool,
    /// Wakes the task.
    task: Mutex<Option<Waker>>,
    /// Wakes the task that waits for its end.
    waiting: Mutex<Option<Waker>>,
}

impl Shared {
    fn abort(&self) {
        self.is_aborted.store(true, Ordering::Release);
        if let Some(task) = self.task.lock().take() {
            task.wake();
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

/// Why a task has no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// It was aborted.
    #[error("the task was aborted")]
    Aborted,
    /// It has panicked.
    #[error("the task has panicked: {}", message(.0.as_ref()))]
    Panicked(Box<dyn Any + Send>),
}

impl TaskError {
    /// Whether it has panicked.
    pub fn is_panic(&self) -> bool {
        matches!(self, Self::Panicked(_))
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

impl From<tokio::task::JoinError> for TaskError {
    fn from(error: tokio::task::JoinError) -> Self {
        match error.try_into_panic() {
            Ok(panic) => Self::Panicked(panic),
            Err(_) => Self::Aborted,
        }
    }
}

impl<T> Task<T> {
    /// Ends the task at its next turn.
    pub fn abort(&self) {
        match &self.0 {
            TaskKind::Tokio(task) => task.abort(),
            TaskKind::Own(end) => end.shared.abort(),
        }
    }

    /// Ends the task, and can be kept without knowing the type of its output.
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle(match &self.0 {
            TaskKind::Tokio(task) => Handle::Tokio(task.abort_handle()),
            TaskKind::Own(end) => Handle::Own(Arc::clone(&end.shared)),
        })
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            TaskKind::Tokio(task) => task.is_finished(),
            TaskKind::Own(end) => end.shared.has_ended(),
        }
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            TaskKind::Tokio(running) => running.poll_unpin(task).map_err(TaskError::from),
            TaskKind::Own(end) => {
                // Before checking the output: if the task ends between the two lines, the waker is called.
                *end.shared.waiting.lock() = Some(task.waker().clone());
                end.output.lock().take().map_or(Poll::Pending, Poll::Ready)
            }
        }
    }
}

impl<T> std::fmt::Debug for Task<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Task").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Ends a task. See [`Task::abort_handle`].
#[derive(Clone)]
pub struct AbortHandle(Handle);

#[derive(Clone)]
enum Handle {
    Tokio(tokio::task::AbortHandle),
    Own(Arc<Shared>),
}

impl AbortHandle {
    /// As [`Task::abort`].
    pub fn abort(&self) {
        match &self.0 {
            Handle::Tokio(task) => task.abort(),
            Handle::Own(shared) => shared.abort(),
        }
    }

    /// As [`Task::is_finished`].
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Tokio(task) => task.is_finished(),
            Handle::Own(shared) => shared.has_ended(),
        }
    }
}

impl std::fmt::Debug for AbortHandle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("AbortHandle").finish_non_exhaustive()
    }
}

/// A future that stores its output, and can be aborted.
struct Spawned<F: Future> {
    future: Option<Pin<Box<F>>>,
    end: Arc<End<F::Output>>,
}

impl<F: Future> Future for Spawned<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let shared = &self.end.shared;
        *shared.task.lock() = Some(task.waker().clone());
        let ended = if shared.is_aborted.load(Ordering::Acquire) {
            Err(TaskError::Aborted)
        } else {
            let Some(future) = self.future.as_mut() else { return Poll::Ready(()) };
            match std::panic::catch_unwind(AssertUnwindSafe(|| future.poll_unpin(task))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(panic) => Err(TaskError::Panicked(panic)),
            }
        };
        self.finish(ended);
        Poll::Ready(())
    }
}

impl<F: Future> Spawned<F> {
    fn finish(&mut self, ended: Result<F::Output, TaskError>) {
        // Its parts are dropped before others can see that it has ended.
        let future = self.future.take();
        let dropped = std::panic::catch_unwind(AssertUnwindSafe(|| drop(future)));
        let ended = dropped.map_err(TaskError::Panicked).and(ended);
        *self.end.output.lock() = Some(ended);
        let shared = &self.end.shared;
        shared.has_ended.store(true, Ordering::Release);
        shared.task.lock().take();
        let waiting = shared.waiting.lock().take();
        if let Some(waiting) = waiting {
            waiting.wake();
        }
    }
}

impl<F: Future> Drop for Spawned<F> {
    fn drop(&mut self) {
        if !self.end.shared.has_ended() {
            self.finish(Err(TaskError::Aborted));
        }
    }
}

/// Lets other tasks that are ready have a turn.
pub async fn yield_now() {
    let mut has_yielded = false;
    std::future::poll_fn(|task| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Tasks that end when this is dropped.
pub struct Tasks<T> {
    running: FuturesUnordered<Owned<T>>,
}

/// Aborts its task when it is dropped.
struct Owned<T>(Task<T>);

impl<T> Future for Owned<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.poll_unpin(task)
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T: Send + 'static> Tasks<T> {
    /// No tasks.
    pub fn new() -> Self {
        Self { running: FuturesUnordered::new() }
    }

    /// Runs `future`, as [`spawn`].
    #[track_caller]
    pub fn spawn(&mut self, future: impl Future<Output = T> + Send + 'static) {
        self.running.push(Owned(spawn(future)));
    }

    /// Resolves when a task ends; `None` if there are none.
    pub async fn join_next(&mut self) -> Option<Result<T, TaskError>> {
        self.running.next().await
    }

    /// A task that has ended.
    pub fn try_join_next(&mut self) -> Option<Result<T, TaskError>> {
        self.join_next().now_or_never().flatten()
    }

    /// Number of tasks whose end was not fetched.
    pub fn len(&self) -> usize {
        self.running.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

impl<T: Send + 'static> Default for Tasks<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> std::fmt::Debug for Tasks<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Tasks").field("running", &self.running.len()).finish()
    }
}
