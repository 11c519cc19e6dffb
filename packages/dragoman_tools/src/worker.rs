//! Tasks with a thread of their own that end when their owner drops them.

use std::time::Duration;

use dragoman_ros::{Node, raw};
use dragoman_time::Thread;
use tokio::sync::oneshot;

/// A task with a thread of its own that ends when this is dropped.
pub(crate) struct Worker {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<Thread>,
}

/// Signals a worker to end.
pub(crate) struct Stop(oneshot::Receiver<()>);

impl Stop {
    /// Lets the node receive for `time`, or until the worker has to end; returns whether it has to. Where messages come
    /// by themselves it only waits; else it blocks the thread.
    pub(crate) async fn spin(&mut self, node: &mut Node, time: Duration) -> bool {
        if !raw::MUST_SPIN {
            return dragoman_time::timeout(time, &mut self.0).await.is_ok();
        }
        node.spin_once(time);
        !matches!(self.0.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }
}

impl Worker {
    /// Starts a worker. It has to end soon after [`Stop::spin`] has returned true.
    ///
    /// # Errors
    /// The system refused another thread.
    #[track_caller]
    pub(crate) fn start<F>(name: &str, work: impl FnOnce(Stop) -> F) -> std::io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        let thread = dragoman_time::spawn_thread(name, work(Stop(stopped)))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}
