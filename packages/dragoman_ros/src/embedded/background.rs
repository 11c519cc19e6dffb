//! One thread per context for the layer's own tasks: replies to clients, parameters, `/clock`, the graph.

use std::time::Duration;

use dragoman_time::{Thread, precise_sleep};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{AbortHandle, BoxFuture, abortable, select};
use futures::stream::{FuturesUnordered, StreamExt};

use super::error::{Error, Result};

pub(crate) struct Background {
    spawner: Spawner,
    thread: Option<Thread>,
}

/// Spawns tasks. It does not keep the thread alive. The queue is not bounded: each caller bounds the tasks it spawns.
#[derive(Clone)]
pub(crate) struct Spawner(UnboundedSender<Job>);

enum Job {
    /// Ends with the context.
    Task(BoxFuture<'static, ()>),
    /// The end of the context waits for it, but at most [`LINGER_TIME`].
    Last(BoxFuture<'static, ()>),
}

/// Maximum duration of ending a context.
const LINGER_TIME: Duration = Duration::from_millis(200);

/// A task that ends when this is dropped.
pub(crate) struct Task(AbortHandle);

impl Background {
    pub(crate) fn start() -> Result<Self> {
        let (tasks, incoming) = unbounded::<Job>();
        let thread = dragoman_time::spawn_thread("ros background", run(incoming))
            .map_err(|error| Error::Middleware(format!("cannot start a thread: {error}")))?;
        Ok(Self { spawner: Spawner(tasks), thread: Some(thread) })
    }

    /// Runs `task` until it or the context ends.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(task);
    }

    pub(crate) fn spawner(&self) -> Spawner {
        self.spawner.clone()
    }
}

async fn run(mut incoming: UnboundedReceiver<Job>) {
    let mut running = FuturesUnordered::new();
    let mut last = FuturesUnordered::new();
    loop {
        futures::select_biased! {
            job = incoming.next() => match job {
                Some(Job::Task(task)) => running.push(task),
                Some(Job::Last(task)) => last.push(task),
                None => break,
            },
            () = last.select_next_some() => {}
            () = running.select_next_some() => {}
        }
    }
    drop(running);
    select(last.collect::<()>(), precise_sleep(LINGER_TIME)).await;
}

impl Spawner {
    /// Runs `task` until it or the context ends. It must not block: all other tasks wait for it.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Fails only when the context is gone.
        let _ = self.0.unbounded_send(Job::Task(Box::pin(task)));
    }

    /// As [`spawn`](Self::spawn), but the end of the context waits a moment for it.
    pub(crate) fn spawn_last(&self, task: impl Future<Output = ()> + Send + 'static) {
        let _ = self.0.unbounded_send(Job::Last(Box::pin(task)));
    }

    /// As [`spawn`](Self::spawn), until the returned value is dropped.
    pub(crate) fn spawn_owned(&self, task: impl Future<Output = ()> + Send + 'static) -> Task {
        let (task, handle) = abortable(task);
        self.spawn(async move {
            let _ = task.await;
        });
        Task(handle)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.spawner.0.close_channel();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}
