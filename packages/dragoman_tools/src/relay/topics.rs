//! Topics: forwards messages. Each direction is a separate task with a bounded queue, so that a slow side does not
//! delay others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Node, QosProfile, Result, WrappedTypesupport};
use futures::StreamExt;
use futures::future::{AbortHandle, abortable};
use tokio::runtime::Handle;

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
    for name in to {
        publishers.push(tasks.node().create_publisher::<T>(name, topic.qos())?.into());
    }
    let listeners = publishers.iter().cloned().map(|publisher| {
        Box::new(move || publisher.get_inter_process_subscription_count().unwrap_or(0)) as Listeners
    });
    let listeners = listeners.collect();
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

/// Topics that the relay subscribes to only while they have subscribers, so that no camera renders in vain. They have
/// their own node and thread: with r2r only the thread that spins a node may subscribe.
#[derive(Default)]
pub(crate) struct OnDemand {
    lanes: Vec<Box<dyn Lane>>,
}

trait Lane: Send {
    /// Starts or ends the subscription.
    fn review(&mut self, node: &mut Node, runtime: &Handle) -> Result<()>;
}

struct Demanded<T: WrappedTypesupport + 'static> {
    topic: Topic,
    from: String,
    publisher: SharedPublisher<T>,
    counts: Arc<Counts>,
    /// Ends the subscription.
    subscribed: Option<AbortHandle>,
}

impl<T: WrappedTypesupport + Send + Sync + 'static> Lane for Demanded<T> {
    fn review(&mut self, node: &mut Node, runtime: &Handle) -> Result<()> {
        let is_wanted = self.publisher.get_inter_process_subscription_count()? > 0;
        match (&self.subscribed, is_wanted) {
            (None, true) => {
                let mut messages = node.subscribe::<T>(&self.from, self.topic.asked())?;
                let (publisher, counts) = (self.publisher.clone(), Arc::clone(&self.counts));
                let (passing, handle) = abortable(async move {
                    while let Some(message) = messages.next().await {
                        count(&counts.data, &counts, publisher.publish(&message));
                    }
                });
                runtime.spawn(passing);
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

impl<T: WrappedTypesupport + 'static> Drop for Demanded<T> {
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
        self.lanes.push(Box::new(Demanded::<T> {
            topic: topic.clone(),
            from: from.to_owned(),
            publisher: node.create_publisher(to, topic.qos())?.into(),
            counts: Arc::clone(counts),
            subscribed: None,
        }));
        Ok(())
    }

    /// Serves the topics until it is dropped.
    pub(crate) fn start(mut self, mut node: Node, runtime: Handle) -> std::io::Result<Worker> {
        Worker::start("relay demand", move |stopped| {
            while !stopped.load(Ordering::Relaxed) {
                for lane in &mut self.lanes {
                    if let Err(error) = lane.review(&mut node, &runtime) {
                        tracing::warn!(%error, "a topic cannot be relayed");
                    }
                }
                node.spin_once(DEMAND_PERIOD);
            }
        })
    }
}
