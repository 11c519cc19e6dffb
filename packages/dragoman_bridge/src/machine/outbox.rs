//! Messages of ROS that are made, and published once nothing is locked.

use dragoman_ros::{Publisher, WrappedTypesupport, raw};

/// Messages in the order in which they are published.
#[derive(Default)]
pub(crate) struct Outbox(Vec<Box<dyn FnOnce() -> Result<(), String> + Send>>);

impl Outbox {
    /// Adds a message, if its topic is there.
    pub(crate) fn send<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        publisher: Option<&Publisher<T>>,
        message: T,
    ) {
        let Some(publisher) = publisher.cloned() else { return };
        self.0.push(Box::new(move || publisher.publish(&message).map_err(|error| error.to_string())));
    }

    /// Adds a message that is serialized already.
    pub(crate) fn send_raw(&mut self, topic: &str, publisher: &raw::Publisher, data: Vec<u8>) {
        let (topic, publisher) = (topic.to_owned(), publisher.clone());
        self.0.push(Box::new(move || publisher.publish(&data).map_err(|error| format!("{topic}: {error}"))));
    }

    /// Publishes all messages.
    ///
    /// # Errors
    /// The first error of the middleware.
    pub(crate) fn publish(self) -> Result<(), String> {
        self.0.into_iter().fold(Ok(()), |result, publish| result.and(publish()))
    }
}
