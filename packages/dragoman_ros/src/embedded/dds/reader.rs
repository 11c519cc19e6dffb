//! Readers of serialized samples.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use parking_lot::Mutex;
use rustdds::no_key::SimpleDataReader;
use rustdds::{DomainParticipant, GUID, RTPSEntity};

use super::matches::Matches;
use super::memory::Memory;
use super::payload::{RawAdapter, RawDecoder, RawPayload};
use super::policies::{Role, policies};
use super::{
    Endpoint, Guid, Network, Participant, READER, Sample, SampleId, middleware, nanoseconds, sample_id,
};
use crate::embedded::error::{Error, Result};
use crate::embedded::local::{Inbox, Local};
use crate::embedded::qos::DurabilityPolicy;
use crate::embedded::rate_limit::RateLimit;

impl Participant {
    pub(crate) fn reader(&self, endpoint: Endpoint<'_>) -> Result<Reader> {
        let network = match &self.network {
            Some(network) => Some(NetworkReader::new(network, endpoint, self.local.memories.add())?),
            None => None,
        };
        let guid = network.as_ref().map_or_else(|| self.next_guid(READER), |reader| reader.guid());
        let inbox = self.local.reader(endpoint.topic, endpoint.type_name, endpoint.qos);
        inbox.identify(guid);
        Ok(Reader {
            guid,
            inbox,
            topic: endpoint.topic.to_owned(),
            type_name: endpoint.type_name.to_owned(),
            local: Arc::clone(&self.local),
            malformed: Mutex::default(),
            network,
        })
    }
}

/// Skips the samples that earlier readers of the topic have received: in the library all readers of a topic share a
/// cache, also with dropped readers. A service that is created again would otherwise execute old requests again.
fn forget_cached(reader: &SimpleDataReader<RawPayload, RawAdapter>, memory: &Memory) {
    loop {
        match reader.try_take_one_with(RawDecoder { memory: memory.clone() }) {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => tracing::debug!(%error, "reading an old sample failed"),
        }
    }
}

/// A reader of serialized samples.
pub(crate) struct Reader {
    guid: Guid,
    inbox: Arc<Inbox>,
    topic: String,
    type_name: String,
    local: Arc<Local>,
    malformed: Mutex<RateLimit>,
    network: Option<NetworkReader>,
}

impl Reader {
    /// The next sample; registers the task for the next arrival if there is none.
    pub(crate) fn poll_take(&self, task: &mut TaskContext<'_>) -> Poll<Sample> {
        if let Poll::Ready(sample) = self.inbox.poll_take(task) {
            return Poll::Ready(sample);
        }
        self.network.as_ref().map_or(Poll::Pending, |network| network.poll_take(task))
    }

    /// Delivers samples of this process to `sink` at once; those from the network must still be taken.
    pub(crate) fn hand_local_to(&self, sink: impl Fn(Sample) + Send + Sync + 'static) {
        self.inbox.hand_to(sink);
    }

    /// The names of its topic and type.
    pub(crate) fn names(&self) -> (&str, &str) {
        (&self.topic, &self.type_name)
    }

    pub(crate) fn guid(&self) -> Guid {
        self.guid
    }

    /// Logs that a sample is not a valid `type_name`. Rate-limited, since a sender may repeat it.
    pub(crate) fn report_malformed(&self, type_name: &str, error: &Error) {
        if let Some(more) = self.malformed.lock().admit(dragoman_time::now()) {
            let topic = self.topic.strip_prefix("rt").unwrap_or(&self.topic);
            tracing::warn!(topic, type_name, %error, more, "deserializing a sample failed");
        }
    }

    /// Number of matched writers.
    pub(crate) fn matched(&self) -> usize {
        let elsewhere = self.network.as_ref().map_or(0, NetworkReader::matched);
        elsewhere + self.local.writers_of(&self.topic, &self.inbox)
    }
}

/// The side of a reader towards other participants.
struct NetworkReader {
    reader: SimpleDataReader<RawPayload, RawAdapter>,
    topic: String,
    type_name: String,
    own: GUID,
    matches: Arc<Mutex<Matches>>,
    participant: DomainParticipant,
    /// Whether the samples of a writer are of our type, as far as discovered.
    writers: Mutex<BTreeMap<GUID, bool>>,
    memory: Memory,
}

/// Number of writers for which the type check is cached.
const REMEMBERED_WRITERS: usize = 1024;

impl NetworkReader {
    fn new(network: &Network, endpoint: Endpoint<'_>, memory: Memory) -> Result<Self> {
        let qos = policies(endpoint, Role::Reader);
        let topic = network.topic(endpoint, &qos)?;
        let reader = network
            .subscriber
            .create_simple_datareader_no_key::<RawPayload, RawAdapter>(&topic, Some(qos))
            .map_err(|e| middleware(&format!("create a reader of {}", endpoint.topic), &e))?;
        if endpoint.qos.durability != DurabilityPolicy::TransientLocal {
            forget_cached(&reader, &memory);
        }
        Ok(Self {
            reader,
            topic: endpoint.topic.to_owned(),
            type_name: endpoint.type_name.to_owned(),
            own: network.participant.guid(),
            matches: Arc::clone(&network.matches),
            participant: network.participant.clone(),
            writers: Mutex::default(),
            memory,
        })
    }

    fn guid(&self) -> Guid {
        self.reader.guid().to_bytes()
    }

    fn matched(&self) -> usize {
        self.matches.lock().count(&self.reader.guid())
    }

    fn poll_take(&self, task: &mut TaskContext<'_>) -> Poll<Sample> {
        // Registered before reading, so that a new arrival wakes the task.
        self.reader.set_waker(Some(task.waker().clone()));
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    fn take(&self) -> Option<Sample> {
        self.reader.drain_read_notifications();
        loop {
            match self.reader.try_take_one_with(RawDecoder { memory: self.memory.clone() }) {
                // Already delivered through memory.
                Ok(Some(change)) if change.writer_guid().prefix == self.own.prefix => {}
                Ok(Some(change)) if !self.is_of_our_type(change.writer_guid()) => {}
                Ok(Some(change)) => {
                    let id = SampleId {
                        writer: change.writer_guid().to_bytes(),
                        sequence: i64::from(change.sequence_number),
                    };
                    let related = change.related_sample_identity().map(sample_id);
                    let source_time = change.source_timestamp().and_then(nanoseconds);
                    let RawPayload { bytes, encoding } = change.into_value();
                    return Some(Sample { payload: bytes, encoding, id, related, source_time });
                }
                Ok(None) => return None,
                Err(error) => tracing::debug!(%error, "reading a sample failed"),
            }
        }
    }

    /// In the library all readers of a topic share a cache, whatever their types: it may hold samples of another
    /// reader's matches.
    fn is_of_our_type(&self, writer: GUID) -> bool {
        let mut writers = self.writers.lock();
        if let Some(known) = writers.get(&writer) {
            return *known;
        }
        let discovered = self.participant.discovered_writers();
        let Some(found) = discovered.iter().find(|other| other.publication_topic_data.key == writer) else {
            return true;
        };
        let is_ours = found.publication_topic_data.type_name == self.type_name;
        if !is_ours {
            let topic = self.topic.strip_prefix("rt").unwrap_or(&self.topic);
            let other = &found.publication_topic_data.type_name;
            tracing::debug!(topic, type_name = other, "writer of another type ignored");
        }
        if writers.len() >= REMEMBERED_WRITERS {
            writers.clear();
        }
        writers.insert(writer, is_ours);
        is_ours
    }
}

impl Drop for NetworkReader {
    fn drop(&mut self) {
        self.matches.lock().drop_local(self.reader.guid());
    }
}
