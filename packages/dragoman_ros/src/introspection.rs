//! The graph: nodes, topics and services, as far as the middleware shows them.

use std::collections::BTreeSet;

#[cfg(not(feature = "r2r"))]
pub use with_discovery::Introspection;
#[cfg(feature = "r2r")]
pub use with_rcl::Introspection;

/// An endpoint of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// The full name of its topic or service.
    pub name: String,
    /// `package/msg/Name` or `package/srv/Name`.
    pub type_name: String,
    /// The full name of its node, if it is known.
    pub node: Option<String>,
}

/// The graph at one time; all lists are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Full names of nodes.
    pub nodes: BTreeSet<String>,
    /// Publishers of topics.
    pub publishers: Vec<Endpoint>,
    /// Subscriptions to topics. rcl does not separate them from publishers: there it is empty.
    pub subscriptions: Vec<Endpoint>,
    /// Offered services; empty with r2r, which does not list them.
    pub services: Vec<Endpoint>,
    /// Clients of services; empty with r2r.
    pub clients: Vec<Endpoint>,
}

impl Graph {
    /// The types of `topic` that its publishers and subscriptions announce; more than one if they disagree.
    pub fn topic_types(&self, topic: &str) -> BTreeSet<&str> {
        let endpoints = self.publishers.iter().chain(&self.subscriptions);
        endpoints
            .filter(|endpoint| endpoint.name == topic)
            .map(|endpoint| endpoint.type_name.as_str())
            .collect()
    }
}

#[cfg(not(feature = "r2r"))]
mod with_discovery {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::task::{Context as TaskContext, Poll, Waker};

    use futures::StreamExt;
    use parking_lot::Mutex;

    use super::{Endpoint, Graph};
    use crate::embedded::background::Task;
    use crate::embedded::dds;
    use crate::embedded::names::{dds_type, parts_of_topic, ros_type};
    use crate::embedded::rate_limit::RateLimit;
    use crate::embedded::subscription::Subscription;
    use crate::rmw_dds_common::msg::ParticipantEntitiesInfo;
    use crate::{Node, QosProfile, Result, WrappedTypesupport};

    /// Follows the graph.
    pub struct Introspection {
        announced: Arc<Mutex<Announced>>,
        _following: Task,
    }

    /// What participants have announced.
    struct Announced {
        messages: Subscription<ParticipantEntitiesInfo>,
        own: Gid,
        /// The nodes of each other participant: full name, and its writers and readers.
        participants: BTreeMap<Gid, Vec<(String, Vec<Gid>)>>,
        ignored: RateLimit,
        /// Of the task that takes messages.
        waker: Option<Waker>,
    }

    type Gid = [u8; 16];

    /// Maximum number of participants whose nodes are kept.
    const MAX_PARTICIPANTS: usize = 1000;
    /// Maximum number of nodes of a participant, and endpoints of a node, that are kept.
    const MAX_NODES: usize = 1000;
    const MAX_ENDPOINTS: usize = 4096;
    /// Maximum length of the name of a node, and of its namespace, as in `rmw`.
    const MAX_NAME: usize = 255;

    impl Introspection {
        /// Follows the graph of the context of `node`.
        ///
        /// # Errors
        /// An error of the middleware.
        pub fn new(node: &mut Node) -> Result<Self> {
            let qos = QosProfile::default().keep_last(MAX_PARTICIPANTS).transient_local();
            let endpoint = dds::Endpoint {
                topic: "ros_discovery_info",
                type_name: &dds_type(ParticipantEntitiesInfo::TYPE_NAME),
                type_hash: None,
                qos: &qos,
            };
            // This subscription belongs to the middleware, and is not listed as one of the node's.
            let context = node.context();
            let reader = context.participant().reader(endpoint)?;
            let announced = Arc::new(Mutex::new(Announced {
                messages: Subscription::new(Arc::new(reader)),
                own: context.participant().guid(),
                participants: BTreeMap::new(),
                ignored: RateLimit::default(),
                waker: None,
            }));
            // Taken when they arrive, not when the graph is read: that may be days later, and each new endpoint of this
            // process alone makes a message.
            let followed = Arc::clone(&announced);
            let following = context.background().spawner().spawn_owned(std::future::poll_fn(move |task| {
                let mut announced = followed.lock();
                announced.take_all(task);
                announced.waker = Some(task.waker().clone());
                Poll::Pending
            }));
            Ok(Self { announced, _following: following })
        }

        /// The graph now.
        ///
        /// # Errors
        /// None in this implementation.
        pub fn graph(&mut self, node: &Node) -> Result<Graph> {
            let mut announced = self.announced.lock();
            // What has come since the task took messages.
            announced.take_all(&mut TaskContext::from_waker(Waker::noop()));
            if let Some(task) = announced.waker.take() {
                task.wake();
            }
            let context = node.context();
            let mut graph = Graph::default();
            let mut owners: BTreeMap<Gid, &str> = BTreeMap::new();
            let local = context.graph().nodes();
            for node in &local {
                graph.nodes.insert(node.name.clone());
                owners.extend(node.writers.iter().map(|writer| (*writer, node.name.as_str())));
                for (topic, type_name) in &node.readers {
                    graph.add_reader(topic, type_name, Some(&node.name));
                }
            }
            let writers = context.participant().writers();
            let readers = context.participant().readers_elsewhere();
            // Participants that have ended are not announced: their endpoints disappear.
            let alive: std::collections::BTreeSet<[u8; 12]> = writers
                .iter()
                .map(|writer| writer.guid)
                .chain(readers.iter().map(|(_, _, guid)| *guid))
                .map(prefix)
                .collect();
            announced.participants.retain(|gid, _| alive.contains(&prefix(*gid)));
            for (name, endpoints) in announced.participants.values().flatten() {
                graph.nodes.insert(name.clone());
                for endpoint in endpoints {
                    owners.entry(*endpoint).or_insert(name);
                }
            }
            for writer in writers {
                graph.add_writer(&writer.topic, &writer.type_name, owners.get(&writer.guid).copied());
            }
            for (topic, type_name, guid) in readers {
                graph.add_reader(&topic, &type_name, owners.get(&guid).copied());
            }
            for list in
                [&mut graph.publishers, &mut graph.subscriptions, &mut graph.services, &mut graph.clients]
            {
                list.sort();
            }
            Ok(graph)
        }
    }

    impl Announced {
        fn take_all(&mut self, task: &mut TaskContext<'_>) {
            while let Poll::Ready(Some(info)) = self.messages.poll_next_unpin(task) {
                self.take(&info);
            }
        }

        fn take(&mut self, info: &ParticipantEntitiesInfo) {
            let Some(participant) = gid(&info.gid.data).filter(|gid| *gid != self.own) else { return };
            if self.participants.len() >= MAX_PARTICIPANTS && !self.participants.contains_key(&participant) {
                // Participants that have ended are removed only when the graph is read.
                self.participants.pop_first();
            }
            let (nodes, more) = bounded(info);
            if more > 0
                && let Some(withheld) = self.ignored.admit(dragoman_time::now())
            {
                tracing::warn!(more, withheld, "nodes of a participant ignored: too many, or names too long");
            }
            self.participants.insert(participant, nodes);
        }
    }

    /// The nodes of a participant, and how many of them are ignored.
    fn bounded(info: &ParticipantEntitiesInfo) -> (Vec<(String, Vec<Gid>)>, usize) {
        let all = &info.node_entities_info_seq;
        let named = all
            .iter()
            .filter(|node| node.node_name.len() <= MAX_NAME && node.node_namespace.len() <= MAX_NAME);
        let nodes = named.take(MAX_NODES).map(|node| {
            let namespace = node.node_namespace.trim_end_matches('/');
            let endpoints = node.writer_gid_seq.iter().chain(&node.reader_gid_seq);
            let endpoints = endpoints.filter_map(|endpoint| gid(&endpoint.data)).take(MAX_ENDPOINTS);
            (format!("{namespace}/{}", node.node_name), endpoints.collect())
        });
        let nodes: Vec<_> = nodes.collect();
        let ignored = all.len() - nodes.len();
        (nodes, ignored)
    }

    impl Graph {
        fn add_writer(&mut self, topic: &str, type_name: &str, node: Option<&str>) {
            match parts_of_topic(topic) {
                Some(("rt", name)) => add(&mut self.publishers, name, type_name, "", node),
                Some(("rr", name)) => add(&mut self.services, name, type_name, "_Response", node),
                Some(("rq", name)) => add(&mut self.clients, name, type_name, "_Request", node),
                _ => {}
            }
        }

        fn add_reader(&mut self, topic: &str, type_name: &str, node: Option<&str>) {
            if let Some(("rt", name)) = parts_of_topic(topic) {
                add(&mut self.subscriptions, name, type_name, "", node);
            }
        }
    }

    fn add(list: &mut Vec<Endpoint>, name: &str, dds_type: &str, ending: &str, node: Option<&str>) {
        let Some(type_name) = ros_type(dds_type) else { return };
        let Some(type_name) = type_name.strip_suffix(ending) else { return };
        list.push(Endpoint {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            node: node.map(str::to_owned),
        });
    }

    /// Humble's have 24 bytes, of which 16 count.
    fn gid(data: &[u8]) -> Option<Gid> {
        data.first_chunk().copied()
    }

    fn prefix(gid: Gid) -> [u8; 12] {
        let mut prefix = [0; 12];
        prefix.copy_from_slice(&gid[..12]);
        prefix
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::rmw_dds_common::msg::{Gid, NodeEntitiesInfo};

        fn node(name: &str) -> NodeEntitiesInfo {
            NodeEntitiesInfo { node_name: name.to_owned(), ..Default::default() }
        }

        #[test]
        fn the_nodes_of_a_participant_take_a_bounded_amount_of_memory() {
            let names = [30_000, 255, 256].map(|length| "x".repeat(length));
            let nodes = names.iter().map(String::as_str).chain(["one"]).rev().map(node).collect();
            let mut info = ParticipantEntitiesInfo { node_entities_info_seq: nodes, ..Default::default() };
            info.node_entities_info_seq[0].reader_gid_seq = vec![Gid { data: vec![1; 16] }; 10_000];
            let (nodes, ignored) = bounded(&info);
            assert_eq!((nodes.len(), ignored), (2, 2));
            assert_eq!((nodes[0].0.as_str(), nodes[0].1.len()), ("/one", 4096));
            info.node_entities_info_seq = vec![node("one"); 2000];
            let (nodes, ignored) = bounded(&info);
            assert_eq!((nodes.len(), ignored), (1000, 1000));
        }
    }
}

#[cfg(feature = "r2r")]
mod with_rcl {
    use super::{Endpoint, Graph};
    use crate::{Node, Result};

    /// Follows the graph.
    #[derive(Debug)]
    pub struct Introspection;

    impl Introspection {
        /// Follows the graph of the context of `node`.
        ///
        /// # Errors
        /// None in this implementation.
        pub fn new(_node: &mut Node) -> Result<Self> {
            Ok(Self)
        }

        /// The graph now.
        ///
        /// # Errors
        /// An error of rcl.
        pub fn graph(&mut self, node: &Node) -> Result<Graph> {
            let mut graph = Graph::default();
            for (name, types) in node.get_topic_names_and_types()? {
                let endpoint = |type_name: String| Endpoint { name: name.clone(), type_name, node: None };
                graph.publishers.extend(types.into_iter().map(endpoint));
            }
            graph.publishers.sort();
            // Every node has a publisher of one of these.
            for topic in ["/rosout", "/parameter_events"] {
                for publisher in node.get_publishers_info_by_topic(topic, false)? {
                    let namespace = publisher.node_namespace.trim_end_matches('/');
                    graph.nodes.insert(format!("{namespace}/{}", publisher.node_name));
                }
            }
            Ok(graph)
        }
    }
}
