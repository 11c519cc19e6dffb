//! The thread that owns the ROS node; on virtual time a task. With r2r only the thread that spins a node may change it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_ros::introspection::{Graph, Introspection};
use dragoman_ros::{Node, raw};
use dragoman_time::Thread;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use tokio::sync::{mpsc, oneshot};

/// Jobs that wait; more are refused.
const QUEUE_LENGTH: usize = 1024;
/// Maximum wait for messages with r2r, which delays jobs.
const SPIN_TIME: Duration = Duration::from_millis(10);
/// Age up to which a graph is shared. Reading it takes milliseconds, and every call without a type looks at it.
const FRESH: Duration = Duration::from_millis(20);

type Job = Box<dyn FnOnce(&mut Inside) + Send>;

/// What the thread owns.
pub(crate) struct Inside {
    pub(crate) node: Node,
    /// `None`: the graph is not read on this thread.
    introspection: Option<Introspection>,
    /// The graph that was read last, and when; `None` after a job that may have changed it.
    graph: Option<(Instant, Arc<Graph>)>,
}

impl Inside {
    fn graph(&mut self) -> Arc<Graph> {
        if let Some((read, graph)) = &self.graph
            && dragoman_time::since(*read) < FRESH
        {
            return Arc::clone(graph);
        }
        let read = self.introspection.as_mut().map(|introspection| introspection.graph(&self.node));
        let read = read.transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "reading the ROS graph failed");
            None
        });
        let graph = Arc::new(read.unwrap_or_default());
        self.graph = Some((dragoman_time::now(), Arc::clone(&graph)));
        graph
    }
}

/// Gives jobs to the thread.
#[derive(Clone)]
pub(crate) struct Ros {
    jobs: mpsc::Sender<Job>,
}

/// Ends the thread when it is dropped.
pub(crate) struct RosThread {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<Thread>,
}

/// The thread is busy or has ended.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("ROS is busy")]
pub(crate) struct Busy;

impl Ros {
    /// Runs `job`, which may change the node, on the thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Inside) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        self.do_inside(|inside| {
            inside.graph = None;
            job(inside)
        })
        .await
    }

    /// Looks at the graph and the node, on the thread.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Arc<Graph>, &Node) -> T + Send + 'static,
    ) -> Result<T, Busy> {
        self.do_inside(|inside| {
            let graph = inside.graph();
            job(&graph, &inside.node)
        })
        .await
    }

    async fn do_inside<T: Send + 'static>(
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
        let job: Job = Box::new(|inside| {
            inside.graph = None;
            job(inside);
        });
        if let Err(TrySendError::Full(_)) = self.jobs.try_send(job) {
            tracing::warn!("job dropped: ROS is busy");
        }
    }
}

/// Starts the thread with `node`; `introspection`: of the graph, if it is to be looked at.
pub(crate) fn start(
    node: Node,
    introspection: Option<Introspection>,
) -> Result<(Ros, RosThread), dragoman_ros::tasks::NodeError> {
    let (jobs, incoming) = mpsc::channel(QUEUE_LENGTH);
    let (stop, stopped) = oneshot::channel();
    let thread = dragoman_time::spawn_thread("console ros", async move {
        super::lower_priority();
        work(Inside { node, introspection, graph: None }, incoming, stopped).await;
    })?;
    Ok((Ros { jobs }, RosThread { stop: Some(stop), thread: Some(thread) }))
}

async fn work(mut inside: Inside, mut jobs: mpsc::Receiver<Job>, mut stopped: oneshot::Receiver<()>) {
    loop {
        if !raw::MUST_SPIN {
            let job = tokio::select! {
                biased;
                _ = &mut stopped => return,
                job = jobs.recv() => job,
            };
            match job {
                Some(job) => job(&mut inside),
                None => return,
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
        if !matches!(stopped.try_recv(), Err(oneshot::error::TryRecvError::Empty)) {
            return;
        }
    }
}

impl RosThread {
    /// Lets it end; nothing is waited for.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }

    /// Whether it has ended.
    pub(crate) fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(Thread::is_finished)
    }
}

impl Drop for RosThread {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
    }
}
