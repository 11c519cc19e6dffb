//! The thread that owns the ROS node. With r2r only the thread that spins a node may change it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use dragoman_ros::introspection::{Graph, Introspection};
use dragoman_ros::{Node, raw};
use tokio::sync::oneshot;

/// Jobs that wait; more are refused.
const QUEUE_LENGTH: usize = 1024;
/// Longest wait for messages with r2r, which delays jobs.
const SPIN_TIME: Duration = Duration::from_millis(10);
/// Interval of looking whether to end.
const IDLE_TIME: Duration = Duration::from_millis(100);

type Job = Box<dyn FnOnce(&mut Inside) + Send>;

/// What the thread owns.
pub(crate) struct Inside {
    pub(crate) node: Node,
    introspection: Introspection,
}

impl Inside {
    /// The graph now.
    pub(crate) fn graph(&mut self) -> Graph {
        self.introspection.graph(&self.node).unwrap_or_else(|error| {
            tracing::warn!(%error, "the graph could not be read");
            Graph::default()
        })
    }
}

/// Gives jobs to the thread.
#[derive(Clone)]
pub(crate) struct Ros {
    jobs: SyncSender<Job>,
}

/// Ends the thread when it is dropped.
pub(crate) struct RosThread {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The thread is busy or has ended.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("ROS is busy")]
pub(crate) struct Busy;

impl Ros {
    /// Runs `job` on the thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        let (sender, done) = oneshot::channel();
        let job: Job = Box::new(move |inside| {
            // The client may be gone.
            let _ = sender.send(job(inside));
        });
        self.jobs.try_send(job).map_err(|_full| Busy)?;
        done.await.map_err(|_ended| Busy)
    }

    /// As [`run`](Self::run), without waiting.
    pub(crate) fn later(&self, job: impl FnOnce(&mut Inside) + Send + 'static) {
        // The console may have ended.
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(Box::new(job)) {
            tracing::warn!("ROS is busy: a job is lost");
        }
    }
}

/// Starts the thread with `node`.
pub(crate) fn start(mut node: Node) -> Result<(Ros, RosThread), dragoman_ros::tasks::NodeError> {
    let introspection = Introspection::new(&mut node)?;
    let (jobs, incoming) = sync_channel(QUEUE_LENGTH);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let thread = std::thread::Builder::new().name("console ros".into()).spawn(move || {
        super::lower_priority();
        work(Inside { node, introspection }, &incoming, &stopped);
    })?;
    Ok((Ros { jobs }, RosThread { stop, thread: Some(thread) }))
}

fn work(mut inside: Inside, jobs: &Receiver<Job>, stopped: &AtomicBool) {
    while !stopped.load(Ordering::Relaxed) {
        if !raw::MUST_SPIN {
            match jobs.recv_timeout(IDLE_TIME) {
                Ok(job) => job(&mut inside),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            continue;
        }
        loop {
            match jobs.try_recv() {
                Ok(job) => job(&mut inside),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return,
            }
        }
        inside.node.spin_once(SPIN_TIME);
    }
}

impl Drop for RosThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
