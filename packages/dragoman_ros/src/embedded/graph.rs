//! `ros_discovery_info`: the endpoints of each node, for `ros2 node list` and `ros2 node info`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dragoman_time::precise_sleep;
use parking_lot::Mutex;

use super::background::Background;
use super::cdr;
use super::dds::{Endpoint, Guid, Participant, Reader, Writer};
use super::error::Result;
use super::names::dds_type;
use super::qos::QosProfile;
use super::type_hash;
use crate::WrappedTypesupport;
use crate::names::NodeName;
use crate::rmw_dds_common::msg::{Gid, NodeEntitiesInfo, ParticipantEntitiesInfo};

/// Changes within this time are published as one message.
const SETTLE_TIME: Duration = Duration::from_millis(20);

/// Period of updating the messages for replaced writers.
const REVIEW_PERIOD: Duration = Duration::from_millis(500);
/// Time after which unused memory for large samples is given back. Changes of the graph do not shorten it: a slow
/// camera would lose its memory between two pictures.
const UNUSED_TIME: Duration = Duration::from_secs(2);

/// All nodes of a context.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Mutex<Vec<Arc<GraphNode>>>,
    changed: AtomicBool,
}

/// The endpoints of one node, while they live.
pub(crate) struct GraphNode {
    name: NodeName,
    readers: Mutex<Vec<Weak<Reader>>>,
    writers: Mutex<Vec<Weak<Writer>>>,
}

/// A node of this context.
pub(crate) struct LocalNode {
    /// Its full name.
    pub(crate) name: String,
    pub(crate) writers: Vec<Guid>,
    /// DDS names of topic and type.
    pub(crate) readers: Vec<(String, String)>,
}

impl GraphNode {
    pub(crate) fn add_reader(&self, reader: &Arc<Reader>, graph: &Graph) {
        self.readers.lock().push(Arc::downgrade(reader));
        graph.changed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn add_writer(&self, writer: &Arc<Writer>, graph: &Graph) {
        self.writers.lock().push(Arc::downgrade(writer));
        graph.changed.store(true, Ordering::Relaxed);
    }
}

impl Graph {
    pub(crate) fn add_node(&self, name: NodeName) -> Arc<GraphNode> {
        let node = Arc::new(GraphNode { name, readers: Mutex::default(), writers: Mutex::default() });
        self.nodes.lock().push(Arc::clone(&node));
        self.changed.store(true, Ordering::Relaxed);
        node
    }

    pub(crate) fn remove_node(&self, node: &Arc<GraphNode>) {
        self.nodes.lock().retain(|other| !Arc::ptr_eq(other, node));
        self.changed.store(true, Ordering::Relaxed);
    }

    /// The node of this context that owns a writer.
    pub(crate) fn node_of(&self, writer: Guid) -> Option<NodeName> {
        let nodes = self.nodes.lock();
        let owner = nodes.iter().find(|node| {
            node.writers.lock().iter().filter_map(Weak::upgrade).any(|candidate| candidate.guid() == writer)
        });
        owner.map(|node| node.name.clone())
    }

    /// The nodes of this context with the ids of their writers, and topic and type of their readers.
    pub(crate) fn nodes(&self) -> Vec<LocalNode> {
        let nodes = self.nodes.lock();
        let node = |node: &Arc<GraphNode>| LocalNode {
            name: node.name.fully_qualified(),
            writers: node
                .writers
                .lock()
                .iter()
                .filter_map(Weak::upgrade)
                .map(|writer| writer.guid())
                .collect(),
            readers: node
                .readers
                .lock()
                .iter()
                .filter_map(Weak::upgrade)
                .map(|reader| {
                    let (topic, type_name) = reader.names();
                    (topic.to_owned(), type_name.to_owned())
                })
                .collect(),
        };
        nodes.iter().map(node).collect()
    }

    fn message(&self, participant: Guid) -> ParticipantEntitiesInfo {
        let nodes = self.nodes.lock();
        ParticipantEntitiesInfo {
            gid: gid(participant),
            node_entities_info_seq: nodes
                .iter()
                .map(|node| {
                    let mut readers = node.readers.lock();
                    let mut writers = node.writers.lock();
                    readers.retain(|reader| reader.strong_count() > 0);
                    writers.retain(|writer| writer.strong_count() > 0);
                    NodeEntitiesInfo {
                        node_namespace: node.name.namespace.clone(),
                        node_name: node.name.name.clone(),
                        reader_gid_seq: readers
                            .iter()
                            .filter_map(Weak::upgrade)
                            .map(|r| gid(r.guid()))
                            .collect(),
                        writer_gid_seq: writers
                            .iter()
                            .filter_map(Weak::upgrade)
                            .map(|w| gid(w.guid()))
                            .collect(),
                    }
                })
                .collect(),
        }
    }
}

fn gid(guid: Guid) -> Gid {
    Gid { data: guid.to_vec() }
}

/// Announces `graph` on `participant`, now and whenever it changes.
pub(crate) fn announce(graph: &Arc<Graph>, participant: &Participant, background: &Background) -> Result<()> {
    let qos = QosProfile::default().keep_last(1).transient_local();
    let writer = participant.writer(Endpoint {
        topic: "ros_discovery_info",
        type_name: &dds_type(ParticipantEntitiesInfo::TYPE_NAME),
        type_hash: type_hash(ParticipantEntitiesInfo::TYPE_NAME),
        qos: &qos,
    })?;
    let local = Arc::clone(participant.local());
    // Without a network no writer is replaced.
    let review_period = participant.has_network().then_some(REVIEW_PERIOD);
    let (graph, participant) = (Arc::downgrade(graph), participant.guid());
    background.spawn(async move {
        let mut announced = None;
        let mut ended = 0;
        let mut reviewed = Duration::ZERO;
        let mut unused = Duration::ZERO;
        while let Some(graph) = graph.upgrade() {
            let changed = graph.changed.swap(false, Ordering::Relaxed);
            let have_ended = std::mem::replace(&mut ended, local.ended()) != ended;
            if have_ended {
                local.purge();
            }
            if changed || have_ended || review_period.is_some_and(|period| reviewed >= period) {
                reviewed = Duration::ZERO;
                let message = graph.message(participant);
                if announced.as_ref() != Some(&message) {
                    match cdr::to_bytes(&message).and_then(|payload| writer.write(payload, None)) {
                        Ok(_) => announced = Some(message),
                        Err(error) => tracing::warn!(%error, "publishing the graph failed"),
                    }
                }
            }
            if unused >= UNUSED_TIME {
                unused = Duration::ZERO;
                local.memories.review();
            }
            drop(graph);
            let pause = if announced.is_some() && !changed { SETTLE_TIME * 5 } else { SETTLE_TIME };
            reviewed += pause;
            unused += pause;
            precise_sleep(pause).await;
        }
    });
    Ok(())
}
