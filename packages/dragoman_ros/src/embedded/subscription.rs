//! Subscriptions.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use futures::Stream;

use super::WrappedTypesupport;
use super::cdr::{self, Encoding};
use super::dds::Reader;
use crate::raw::SerializedMessage;

/// The messages of one topic. The reader's cache, with the depth of the quality of service, is the queue.
pub(crate) struct Subscription<T> {
    reader: Arc<Reader>,
    message: PhantomData<fn() -> T>,
}

impl<T> Subscription<T> {
    pub(crate) fn new(reader: Arc<Reader>) -> Self {
        Self { reader, message: PhantomData }
    }

    pub(crate) fn reader(&self) -> Arc<Reader> {
        Arc::clone(&self.reader)
    }
}

impl<T: WrappedTypesupport> Stream for Subscription<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<T>> {
        loop {
            let sample = ready!(self.reader.poll_take(task));
            match cdr::from_bytes(&sample.payload, sample.encoding) {
                Ok(message) => return Poll::Ready(Some(message)),
                Err(error) => self.reader.report_malformed(T::TYPE_NAME, &error),
            }
        }
    }
}

/// The serialized messages of one topic, with encapsulation header.
pub(crate) struct RawSubscription {
    reader: Arc<Reader>,
}

impl RawSubscription {
    pub(crate) fn new(reader: Arc<Reader>) -> Self {
        Self { reader }
    }
}

impl Stream for RawSubscription {
    type Item = SerializedMessage;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<SerializedMessage>> {
        let sample = ready!(self.reader.poll_take(task));
        let header = match sample.encoding {
            Encoding::BigEndian => [0, 0, 0, 0],
            Encoding::LittleEndian => [0, 1, 0, 0],
        };
        let data = [header.as_slice(), &sample.payload].concat();
        Poll::Ready(Some(SerializedMessage { data, source_time: sample.source_time }))
    }
}
