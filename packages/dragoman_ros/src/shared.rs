//! Publishers shared by several tasks, and whether anybody listens to one, on top of both implementations.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{Publisher, Result, WrappedTypesupport};

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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).publish(message)
    }

    /// Whether its topic has subscribers, as [`listened`].
    pub fn is_listened(&self) -> bool {
        listened(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The number of subscriptions, in this and other processes.
    ///
    /// # Errors
    /// As `Publisher::get_inter_process_subscription_count`.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_inter_process_subscription_count()
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
