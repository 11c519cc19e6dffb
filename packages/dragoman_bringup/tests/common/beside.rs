//! A ROS node in the domain of the tested program.

use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport, health,
};
use futures::StreamExt;
use futures::stream::BoxStream;

use super::device::TIME_LIMIT;

pub struct Beside {
    pub runtime: tokio::runtime::Runtime,
    pub node: Node,
    context: Context,
    /// The subscriptions.
    topics: Vec<String>,
}

impl Beside {
    pub fn new(domain: u16) -> Self {
        Self::within(DiscoveryRange::Localhost, domain)
    }

    pub fn within(range: DiscoveryRange, domain: u16) -> Self {
        let discovery = Discovery { domain_id: domain, range, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let node = Node::create(context.clone(), "operator", "").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, node, context, topics: Vec::new() }
    }

    /// The endpoints that the middleware has found, for the message of a failed test.
    fn found(&self) -> String {
        let topics = self.node.get_topic_names_and_types().map(|topics| topics.len());
        let publishers = self.topics.iter().map(|topic| {
            let publishers = self.node.get_publishers_info_by_topic(topic, false).map(|found| found.len());
            format!("{topic}: {publishers:?}")
        });
        let publishers: Vec<String> = publishers.collect();
        let health = health::of(&self.context);
        let later = {
            std::thread::sleep(Duration::from_secs(3));
            health::of(&self.context).turns
        };
        format!("topics: {topics:?}; publishers: {publishers:?}; {health:?}; turns 3 s later: {later:?}")
    }

    pub fn subscribe<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
    ) -> BoxStream<'static, T> {
        self.topics.push(topic.to_owned());
        self.node.subscribe(topic, QosProfile::default().keep_last(100)).unwrap().boxed()
    }

    pub fn latched<T: WrappedTypesupport + Send + 'static>(&mut self, topic: &str) -> BoxStream<'static, T> {
        self.topics.push(topic.to_owned());
        self.node.subscribe(topic, QosProfile::default().keep_last(100).transient_local()).unwrap().boxed()
    }

    #[track_caller]
    pub fn next<T>(&self, what: &str, stream: &mut BoxStream<'static, T>) -> T {
        let next = self.runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, stream.next()).await });
        next.unwrap_or_else(|_| panic!("{what} does not come; {}", self.found())).expect("the stream goes on")
    }

    /// The first message that `fits`.
    #[track_caller]
    pub fn find<T: std::fmt::Debug>(
        &self,
        what: &str,
        stream: &mut BoxStream<'static, T>,
        fits: impl Fn(&T) -> bool,
    ) -> T {
        let end = Instant::now() + TIME_LIMIT;
        loop {
            let message = self.next(what, stream);
            if fits(&message) {
                return message;
            }
            assert!(Instant::now() < end, "{what} does not come; the last was {message:?}");
        }
    }

    #[track_caller]
    pub fn call<S: WrappedServiceTypeSupport + 'static>(
        &mut self,
        name: &str,
        request: S::Request,
    ) -> S::Response {
        self.answer::<S>(name, request, TIME_LIMIT).unwrap_or_else(|| panic!("{name} does not answer"))
    }

    /// The response, if it comes within two seconds.
    pub fn try_call<S: WrappedServiceTypeSupport + 'static>(
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
        time_limit: Duration,
    ) -> Option<S::Response> {
        let client = self.node.create_client::<S>(name, QosProfile::services_default()).unwrap();
        let called = async {
            Node::is_available(&client).unwrap().await.unwrap();
            client.request(&request).unwrap().await.unwrap()
        };
        self.runtime.block_on(async { tokio::time::timeout(time_limit, called).await }).ok()
    }

    /// Publishes one message when a subscriber is matched.
    #[track_caller]
    pub fn publish<T: WrappedTypesupport + 'static>(&mut self, topic: &str, message: &T) {
        let publisher = self.node.create_publisher::<T>(topic, QosProfile::default()).unwrap();
        let end = Instant::now() + TIME_LIMIT;
        while publisher.get_inter_process_subscription_count().unwrap() == 0 {
            assert!(Instant::now() < end, "no subscriber to {topic}");
            std::thread::sleep(Duration::from_millis(10));
        }
        // The reader matches shortly after the writer.
        std::thread::sleep(Duration::from_millis(300));
        publisher.publish(message).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    }
}
