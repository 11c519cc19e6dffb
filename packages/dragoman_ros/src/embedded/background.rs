//! One thread per context that runs what the layer does on its own: replies to clients, parameters, `/clock`, the graph.

use std::thread::JoinHandle;

use futures::channel::mpsc::{UnboundedSender, unbounded};
use futures::executor::block_on;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use super::error::{Error, Result};

pub(crate) struct Background {
    tasks: UnboundedSender<BoxFuture<'static, ()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(crate) fn start() -> Result<Self> {
        let (tasks, mut incoming) = unbounded::<BoxFuture<'static, ()>>();
        let thread = std::thread::Builder::new()
            .name("ros background".into())
            .spawn(move || {
                block_on(async move {
                    let mut running = FuturesUnordered::new();
                    loop {
                        futures::select! {
                            task = incoming.next() => match task {
                                Some(task) => running.push(task),
                                None => return,
                            },
                            () = running.select_next_some() => {}
                        }
                    }
                });
            })
            .map_err(|error| Error::Middleware(format!("cannot start a thread: {error}")))?;
        Ok(Self { tasks, thread: Some(thread) })
    }

    /// Runs `task` until it ends or the context does.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        // Fails only when the thread has ended, and that happens only in `drop`.
        let _ = self.tasks.unbounded_send(Box::pin(task));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.tasks.close_channel();
        if let Some(thread) =
            self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id())
        {
            let _ = thread.join();
        }
    }
}
