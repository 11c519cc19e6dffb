//! Topics: forwards messages. Each direction is a separate task with a bounded queue, so that a slow side does not
//! delay others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Node, QosProfile, Result, WrappedTypesupport};
use futures::future::{AbortHandle, BoxFuture, abortable};
use futures::{FutureExt, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::table::Topic;
use crate::worker::Worker;

/// Queue depth; beyond that the oldest message is lost.
const DEPTH: usize = 10;
/// Polling interval for subscribers.
const DEMAND_PERIOD: Duration = Duration::from_millis(100);

/// Counters of forwarded messages.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Messages to the robots.
    pub(crate) commands: AtomicU64,
    /// Messages from the first robot.
    pub(crate) data: AtomicU64,
    /// Messages that could not be published.
    pub(crate) lost: AtomicU64,
}

/// A function that returns the number of subscribers at a robot.
pub(crate) type Listeners = Box<dyn Fn() -> usize + Send>;

impl Topic {
    fn qos(&self) -> QosProfile {
        let qos = QosProfile::default().keep_last(if self.latched { 1 } else { DEPTH });
        if self.latched { qos.transient_local() } else { qos }
    }

    /// Quality of service of the subscription at a robot: the least that it may offer.
    fn asked(&self) -> QosProfile {
        if self.latched { self.qos() } else { QosProfile::sensor_data().keep_last(DEPTH) }
    }
}

/// Forwards messages of `from` to all of `to`; returns functions for the numbers of subscribers.
pub(crate) fn to_robots<T: WrappedTypesupport + Send + 'static>(
    tasks: &mut NodeTasks,
    topic: &Topic,
    from: &str,
    to: &[String],
    counts: &Arc<Counts>,
) -> Result<Vec<Listeners>> {
    let mut publishers: Vec<SharedPublisher<T>> = Vec::new();
    let mut listeners: Vec<Listeners> = Vec::new();
    for name in to {
        let publisher: SharedPublisher<T> = tasks.node().create_publisher(name, topic.qos())?.into();
        publishers.push(publisher.clone());
        listeners.push(Box::new(move || publisher.get_inter_process_subscription_count().unwrap_or(0)));
    }
    let counts = Arc::clone(counts);
    tasks.subscribe(from, topic.asked(), move |message: T| {
        for publisher in &publishers {
            count(&counts.commands, &counts, publisher.publish(&message));
        }
    })?;
    Ok(listeners)
}

/// Forwards messages of `from` to `to`.
pub(crate) fn to_programs<T: WrappedTypesupport + Send + 'static>(
    tasks: &mut NodeTasks,
    topic: &Topic,
    from: &str,
    to: &str,
    counts: &Arc<Counts>,
) -> Result<()> {
    let publisher = tasks.node().create_publisher::<T>(to, topic.qos())?;
    let counts = Arc::clone(counts);
    tasks.subscribe(from, topic.asked(), move |message: T| {
        count(&counts.data, &counts, publisher.publish(&message));
    })
}

fn count(passed: &AtomicU64, counts: &Counts, result: Result<()>) {
    let counter = if result.is_ok() { passed } else { &counts.lost };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Topics that the relay subscribes to only while they have subscribers, so that no camera renders without need. They
/// have their own node and thread: with r2r only the thread that spins a node may subscribe. It only subscribes; a task
/// forwards the messages.
#[derive(Default)]
pub(crate) struct OnDemand {
    lanes: Vec<Lane>,
}

/// A topic; only its two functions know the type of the messages.
struct Lane {
    subscribers: Box<dyn Fn() -> Result<usize> + Send>,
    /// Subscribes; the future forwards the messages.
    forward: Box<Forward>,
    /// Ends the subscription.
    subscribed: Option<AbortHandle>,
}

/// Forwards the messages of a topic.
pub(crate) type Forwarding = BoxFuture<'static, ()>;

type Forward = dyn Fn(&mut Node) -> Result<Forwarding> + Send;

impl Lane {
    /// Starts or ends the subscription.
    fn review(&mut self, node: &mut Node, begun: &UnboundedSender<Forwarding>) -> Result<()> {
        let is_wanted = (self.subscribers)()? > 0;
        match (&self.subscribed, is_wanted) {
            (None, true) => {
                let (passing, handle) = abortable((self.forward)(node)?);
                // Fails only when the relay ends.
                let _ = begun.send(passing.map(drop).boxed());
                self.subscribed = Some(handle);
            }
            (Some(subscribed), false) => {
                subscribed.abort();
                self.subscribed = None;
            }
            (None, false) | (Some(_), true) => {}
        }
        Ok(())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        if let Some(subscribed) = &self.subscribed {
            subscribed.abort();
        }
    }
}

impl OnDemand {
    /// Adds a topic.
    pub(crate) fn add<T: WrappedTypesupport + Send + Sync + 'static>(
        &mut self,
        node: &mut Node,
        topic: &Topic,
        from: &str,
        to: &str,
        counts: &Arc<Counts>,
    ) -> Result<()> {
        let publisher: SharedPublisher<T> = node.create_publisher(to, topic.qos())?.into();
        let watched = publisher.clone();
        let (from, asked, counts) = (from.to_owned(), topic.asked(), Arc::clone(counts));
        let forward = move |node: &mut Node| {
            let mut messages = node.subscribe::<T>(&from, asked.clone())?;
            let (publisher, counts) = (publisher.clone(), Arc::clone(&counts));
            Ok(async move {
                while let Some(message) = messages.next().await {
                    count(&counts.data, &counts, publisher.publish(&message));
                }
            }
            .boxed())
        };
        self.lanes.push(Lane {
            subscribers: Box::new(move || watched.get_inter_process_subscription_count()),
            forward: Box::new(forward),
            subscribed: None,
        });
        Ok(())
    }

    /// Serves the topics until the worker is dropped. Also returns the subscriptions, as they begin.
    ///
    /// # Errors
    /// The system refused another thread.
    pub(crate) fn start(
        mut self,
        mut node: Node,
    ) -> std::io::Result<(Worker, UnboundedReceiver<Forwarding>)> {
        let (begun, beginning) = unbounded_channel();
        let worker = Worker::start("relay demand", |mut stop| async move {
            loop {
                for lane in &mut self.lanes {
                    if let Err(error) = lane.review(&mut node, &begun) {
                        tracing::warn!(%error, "relaying a topic failed");
                    }
                }
                if stop.spin(&mut node, DEMAND_PERIOD).await {
                    return;
                }
            }
        })?;
        Ok((worker, beginning))
    }
}
