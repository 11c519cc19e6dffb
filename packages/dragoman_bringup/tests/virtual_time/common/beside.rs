//! A ROS node of another program than the tested ones. Waits run the lab.

use std::time::Duration;

use dragoman_ros::{Node, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::{block_on, context, sleep, until};

/// Time limit of an answer or a message.
const TIME_LIMIT: Duration = Duration::from_secs(30);

pub(crate) struct Beside {
    pub(crate) node: Node,
}

impl Beside {
    pub(crate) fn new(domain: u16) -> Self {
        Self { node: Node::create(context(domain), "operator", "").unwrap() }
    }

    pub(crate) fn subscribe<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
    ) -> BoxStream<'static, T> {
        self.node.subscribe(topic, QosProfile::default().keep_last(100)).unwrap().boxed()
    }

    pub(crate) fn latched<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
    ) -> BoxStream<'static, T> {
        self.node.subscribe(topic, QosProfile::default().keep_last(1).transient_local()).unwrap().boxed()
    }

    #[track_caller]
    pub(crate) fn next<T>(&self, what: &str, stream: &mut BoxStream<'static, T>) -> T {
        let next = block_on(async { dragoman_time::timeout(TIME_LIMIT, stream.next()).await });
        next.unwrap_or_else(|_| panic!("{what} does not come")).expect("the stream goes on")
    }

    /// The first message that `fits`.
    #[track_caller]
    pub(crate) fn find<T: std::fmt::Debug>(
        &self,
        what: &str,
        stream: &mut BoxStream<'static, T>,
        fits: impl Fn(&T) -> bool,
    ) -> T {
        let start = dragoman_time::now();
        loop {
            let message = self.next(what, stream);
            if fits(&message) {
                return message;
            }
            let waited = dragoman_time::since(start);
            assert!(waited < TIME_LIMIT, "{what} does not come; the last was {message:?}");
        }
    }

    #[track_caller]
    pub(crate) fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.answer::<S>(name, request, TIME_LIMIT).unwrap_or_else(|| panic!("{name} does not answer"))
    }

    /// The response, if it comes within two seconds.
    pub(crate) fn try_call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> Option<S::Response> {
        self.answer::<S>(name, request, Duration::from_secs(2))
    }

    fn answer<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
        limit: Duration,
    ) -> Option<S::Response> {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        let called = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        block_on(async { dragoman_time::timeout(limit, called).await }).ok()
    }

    /// Publishes one message when a subscriber is matched, and gives it a moment to take effect.
    #[track_caller]
    pub(crate) fn publish<T: WrappedTypesupport + 'static>(&mut self, topic: &str, message: &T) {
        let publisher = self.node.create_publisher::<T>(topic, QosProfile::default()).unwrap();
        until(topic, || publisher.get_inter_process_subscription_count().unwrap() > 0);
        publisher.publish(message).unwrap();
        sleep(Duration::from_millis(10));
    }
}
