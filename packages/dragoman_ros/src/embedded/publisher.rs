//! Publishers.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use dragoman_time::precise_sleep;

use super::WrappedTypesupport;
use super::cdr;
use super::dds::Writer;
use super::error::Result;

/// Publishes messages of type `T` on one topic. Clones share the publisher.
pub struct Publisher<T> {
    writer: Arc<Writer>,
    message: PhantomData<fn(T)>,
}

impl<T> Clone for Publisher<T> {
    fn clone(&self) -> Self {
        Self { writer: Arc::clone(&self.writer), message: PhantomData }
    }
}

impl<T> std::fmt::Debug for Publisher<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Publisher").finish_non_exhaustive()
    }
}

impl<T: WrappedTypesupport> Publisher<T> {
    pub(crate) fn new(writer: Arc<Writer>) -> Self {
        Self { writer, message: PhantomData }
    }

    /// Sends one message to all matched subscribers.
    ///
    /// # Errors
    /// A fixed array of a wrong length; reliable readers that do not keep up.
    pub fn publish(&self, message: &T) -> Result<()> {
        self.writer.write(cdr::write(message, self.writer.room())?, None).map(|_id| ())
    }

    /// The number of subscriptions that are matched now.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        Ok(self.writer.matched())
    }

    /// Resolves when at least one subscription is matched.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn wait_for_inter_process_subscribers(
        &self,
    ) -> Result<impl Future<Output = Result<()>> + Send + use<T>> {
        let writer = Arc::clone(&self.writer);
        Ok(async move {
            while writer.matched() == 0 {
                precise_sleep(Duration::from_millis(10)).await;
            }
            Ok(())
        })
    }
}
