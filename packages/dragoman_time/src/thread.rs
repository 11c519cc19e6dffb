//! Tasks with a thread of their own, for what must not wait for other tasks.

use std::io;
use std::thread::JoinHandle;

use tracing::Instrument;

use crate::clock::is_virtual;
use crate::executor::Executor;
use crate::task::{Task, spawn};

/// Runs `future` in a thread of its own, which has the precise timers of [`precise_sleep`](crate::precise_sleep), but not
/// tokio's sockets. On virtual time it is a task as any other.
///
/// # Errors
/// The system refused another thread.
#[track_caller]
pub fn spawn_thread(name: &str, future: impl Future<Output = ()> + Send + 'static) -> io::Result<Thread> {
    if is_virtual() {
        return Ok(Thread(ThreadKind::Task(spawn(future))));
    }
    let future = future.in_current_span();
    let thread = std::thread::Builder::new().name(name.to_owned());
    let thread = thread.spawn(move || {
        let executor = Executor::real();
        executor.block_on(future);
        executor.clear();
    })?;
    Ok(Thread(ThreadKind::Thread(thread)))
}

/// Runs `future`, and what it spawns, in a thread of its own with tokio's sockets. The result resolves when all of it has
/// ended. On virtual time it is a task as any other.
///
/// # Errors
/// The system refused another thread, or what its sockets need.
#[track_caller]
pub fn spawn_server(
    name: &str,
    future: impl Future<Output = ()> + Send + 'static,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let (ended, end) = futures::channel::oneshot::channel::<()>();
    if is_virtual() {
        spawn(async move {
            let _ended = ended;
            future.await;
        });
    } else {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Dropped last.
            let _ended = ended;
            runtime.block_on(future);
            drop(runtime);
        })?;
    }
    // Nothing is sent: it resolves when the other end is dropped.
    Ok(async move {
        let _ = end.await;
    })
}

/// A task with a thread of its own. It goes on when this is dropped.
#[derive(Debug)]
pub struct Thread(ThreadKind);

#[derive(Debug)]
enum ThreadKind {
    Thread(JoinHandle<()>),
    Task(Task<()>),
}

impl Thread {
    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            ThreadKind::Thread(thread) => thread.is_finished(),
            ThreadKind::Task(task) => task.is_finished(),
        }
    }

    /// Waits for its end, which must have been requested: blocks this thread. In virtual time the task ends by itself, and
    /// this returns at once. It also does if it is called in the thread itself.
    pub fn join(self) {
        if let ThreadKind::Thread(thread) = self.0
            && thread.thread().id() != std::thread::current().id()
        {
            // The hook for panics has reported a panic.
            let _ = thread.join();
        }
    }
}
