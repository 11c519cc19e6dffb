//! Another program than the lab's, in ROS, for tests of processes.

use std::sync::{Arc, Mutex};

use crate::common::Lab;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{
    Arguments, Client, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile,
    WrappedServiceTypeSupport, WrappedTypesupport,
};
use futures::executor::block_on;

pub(crate) type Log<T> = Arc<Mutex<Vec<T>>>;

/// A program in another process than the lab.
pub(crate) struct Program {
    tasks: NodeTasks,
}

impl Program {
    pub(crate) fn new(lab: &Lab) -> Self {
        let discovery =
            Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        Self { tasks: NodeTasks::new(Node::create(context, "program", "").unwrap()) }
    }

    pub(crate) fn record<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Log<T> {
        let log = Log::default();
        let sink = Arc::clone(&log);
        self.tasks.subscribe(topic, qos, move |message: T| sink.lock().unwrap().push(message)).unwrap();
        log
    }

    pub(crate) fn publisher<T: WrappedTypesupport>(&mut self, topic: &str) -> Publisher<T> {
        self.tasks.node().create_publisher(topic, QosProfile::default()).unwrap()
    }

    pub(crate) fn client<S: WrappedServiceTypeSupport + 'static>(&mut self, name: &str) -> Client<S> {
        self.tasks.node().create_client(name, QosProfile::services_default()).unwrap()
    }

    pub(crate) fn start(self) {
        let node = self.tasks.start().unwrap();
        std::thread::spawn(move || block_on(node));
    }
}

pub(crate) fn call<S: WrappedServiceTypeSupport + 'static>(
    client: &Client<S>,
    request: &S::Request,
) -> S::Response {
    block_on(async {
        Node::is_available(client).unwrap().await.unwrap();
        client.request(request).unwrap().await.unwrap()
    })
}

pub(crate) fn last<T: Clone>(log: &Log<T>) -> Option<T> {
    log.lock().unwrap().last().cloned()
}

pub(crate) fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}
