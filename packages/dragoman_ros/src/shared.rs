//! Publishers shared by several tasks, latched switches, and whether a publisher has subscribers, on top of both
//! implementations.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::std_msgs::msg::Bool;
use crate::{Node, Publisher, QosProfile, Result, WrappedTypesupport};

/// Whether a topic has subscribers, in this process or elsewhere.
pub fn listened<T: WrappedTypesupport + 'static>(publisher: &Publisher<T>) -> bool {
    publisher.get_inter_process_subscription_count().is_ok_and(|count| count > 0)
}

/// A publisher whose clones share it. r2r's own is `Send`, but not `Sync`.
pub struct SharedPublisher<T: WrappedTypesupport + 'static>(Arc<Mutex<Publisher<T>>>);

impl<T: WrappedTypesupport> SharedPublisher<T> {
    /// Publishes `message`.
    ///
    /// # Errors
    /// As `Publisher::publish`.
    pub fn publish(&self, message: &T) -> Result<()> {
        self.0.lock().publish(message)
    }

    /// Whether its topic has subscribers, as [`listened`].
    pub fn is_listened(&self) -> bool {
        listened(&self.0.lock())
    }

    /// The number of subscriptions, in this and other processes.
    ///
    /// # Errors
    /// As `Publisher::get_inter_process_subscription_count`.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        self.0.lock().get_inter_process_subscription_count()
    }
}

impl<T: WrappedTypesupport> From<Publisher<T>> for SharedPublisher<T> {
    fn from(publisher: Publisher<T>) -> Self {
        Self(Arc::new(Mutex::new(publisher)))
    }
}

impl<T: WrappedTypesupport> Clone for SharedPublisher<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A latched topic for whether something is on. Its clones share it.
#[derive(Clone)]
pub struct Switch(Arc<Mutex<Shown>>);

struct Shown {
    publisher: Publisher<Bool>,
    last: Option<bool>,
}

impl Switch {
    /// The topic; nothing is published yet.
    ///
    /// # Errors
    /// As `Node::create_publisher`.
    pub fn new(node: &mut Node, topic: &str) -> Result<Self> {
        let publisher = node.create_publisher(topic, QosProfile::default().keep_last(1).transient_local())?;
        Ok(Self(Arc::new(Mutex::new(Shown { publisher, last: None }))))
    }

    /// Publishes it if it has changed.
    pub fn show(&self, is_on: bool) {
        let mut shown = self.0.lock();
        if shown.last.replace(is_on) != Some(is_on)
            && let Err(error) = shown.publisher.publish(&Bool { data: is_on })
        {
            tracing::warn!(%error, "publishing failed");
        }
    }
}
