//! Messages of ROS that are made, and published once nothing is locked.

use std::time::Duration;

use dragoman_protocol::codec::CodecError;
use dragoman_ros::{Publisher, WrappedTypesupport, raw};

use super::plan::seconds;

/// A time within which at most one message is published.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Period {
    length: Duration,
    last: Option<Duration>,
}

impl Period {
    /// So many seconds; without them every message is published.
    ///
    /// # Errors
    /// They are no time.
    pub(crate) fn new(place: &str, described: Option<f64>) -> Result<Self, CodecError> {
        let length =
            described.map(|period| seconds(&format!("{place}: period"), period, 0.001)).transpose()?;
        Ok(Self { length: length.unwrap_or_default(), last: None })
    }

    /// Whether a message may be published. A clock that was set back begins again.
    pub(crate) fn is_over(&self, now: Duration) -> bool {
        self.last.and_then(|last| now.checked_sub(last)).is_none_or(|passed| passed >= self.length)
    }

    /// A message is published.
    pub(crate) fn begins(&mut self, now: Duration) {
        self.last = Some(now);
    }
}

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
        let mut result = Ok(());
        for publish in self.0 {
            let published = publish();
            result = result.and(published);
        }
        result
    }
}
