//! The interface to the DDS library: a participant, raw CDR writers and raw CDR readers.
//!
//! The network is optional: participants in memory reach each other through [`local`](super::local).
//!
//! In this crate only this file and those below `dds/` use `rustdds`. Workarounds for its behaviour towards Cyclone DDS
//! and Fast DDS are explained in place.

mod backlog;
mod health;
mod loop_back;
mod matches;
mod memory;
mod network_writer;
mod payload;
mod policies;
mod postponed;
mod reader;
mod writer;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use dragoman_time::precise_sleep;
use futures::StreamExt;
use parking_lot::Mutex;
use rustdds::dds::statusevents::{DomainParticipantStatusEvent as Event, StatusEvented};
use rustdds::rpc::SampleIdentity;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, LoopBack, LoopTurns, QosPolicies, RTPSEntity, Timestamp,
    Topic, TopicKind,
};

use super::background::{Background, Spawner};
use super::cdr::Encoding;
use super::discovery::{Discovery, DiscoveryRange};
use super::error::{Error, Result};
use super::local::Local;
use super::qos::QosProfile;
use matches::Matches;
pub(crate) use memory::Memories;
use policies::profile;
use postponed::PostponedWrites;
pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

/// Globally unique id of a participant, a writer or a reader: 12 bytes of participant, 4 of entity.
pub(crate) type Guid = [u8; 16];

/// A writer and sequence number, to which a reply refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SampleId {
    pub(crate) writer: Guid,
    pub(crate) sequence: i64,
}

impl SampleId {
    /// The value for "no sequence number" on the wire.
    pub(crate) const UNKNOWN_SEQUENCE: i64 = (u32::MAX as i64) << 32;
}

/// A received sample: payload without encapsulation header.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) payload: Bytes,
    pub(crate) encoding: Encoding,
    pub(crate) id: SampleId,
    pub(crate) related: Option<SampleId>,
    /// When it was written, in nanoseconds since 1970, if the writer sends it.
    pub(crate) source_time: Option<u64>,
}

/// A reader, possibly of another process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peer {
    /// This one.
    Reader(Guid),
    /// Any reader of the participant of this endpoint.
    Beside(Guid),
}

impl Peer {
    /// The 12 bytes of its participant.
    fn participant(&self) -> [u8; 12] {
        let (Self::Reader(guid) | Self::Beside(guid)) = self;
        let mut prefix = [0; 12];
        prefix.copy_from_slice(&guid[..12]);
        prefix
    }
}

/// Announced properties of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) topic: &'a str,
    pub(crate) type_name: &'a str,
    /// `RIHS01_...`, if it is known and announced.
    pub(crate) type_hash: Option<&'a str>,
    pub(crate) qos: &'a QosProfile,
}

/// Announced properties of a writer.
#[derive(Clone, Debug)]
pub(crate) struct WriterInfo {
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) guid: Guid,
    pub(crate) qos: QosProfile,
}

/// The owner of all writers and readers of a context.
pub(crate) struct Participant {
    guid: Guid,
    local: Arc<Local>,
    spawner: Spawner,
    /// The participant on the network; `None` in memory.
    network: Option<Network>,
    /// Number of endpoints in memory.
    endpoints: AtomicU32,
}

/// A participant on the network.
struct Network {
    participant: DomainParticipant,
    turns: Arc<LoopTurns>,
    loop_back: Arc<LoopBack>,
    publisher: rustdds::Publisher,
    subscriber: rustdds::Subscriber,
    matches: Arc<Mutex<Matches>>,
    read_elsewhere: ReadElsewhere,
    postponed: Arc<PostponedWrites>,
}

/// The last octet of the id of a writer and of a reader without key (RTPS 2.5, 9.3.1.2).
const WRITER: u8 = 0x03;
const READER: u8 = 0x04;

/// DDS topics with readers in other participants.
type ReadElsewhere = Arc<Mutex<BTreeSet<String>>>;

/// Interval of listing the readers of other participants.
const REVIEW_PERIOD: Duration = Duration::from_secs(1);

impl Participant {
    /// A participant on the network.
    pub(crate) fn new(discovery: &Discovery, enclave: &str, background: &Background) -> Result<Self> {
        let network = Network::new(discovery, enclave, background)?;
        let guid = network.participant.guid().to_bytes();
        Ok(Self {
            guid,
            local: Arc::default(),
            spawner: background.spawner(),
            network: Some(network),
            endpoints: AtomicU32::new(0),
        })
    }

    /// A participant without network: it reaches the others of its domain that have none either.
    pub(crate) fn in_memory(domain: u16, background: &Background) -> Self {
        let mut guid: Guid = dragoman_time::random_bytes("participant");
        // The id of participants (RTPS 2.5, 9.3.1.3).
        guid[12..].copy_from_slice(&[0, 0, 1, 0xC1]);
        Self {
            guid,
            local: super::local::domain(domain),
            spawner: background.spawner(),
            network: None,
            endpoints: AtomicU32::new(0),
        }
    }

    /// The id of the next endpoint in memory, of kind [`WRITER`] or [`READER`].
    fn next_guid(&self, kind: u8) -> Guid {
        let number = self.endpoints.fetch_add(1, Ordering::Relaxed);
        let mut guid = self.guid;
        guid[12..15].copy_from_slice(&number.to_be_bytes()[1..]);
        guid[15] = kind;
        guid
    }

    pub(crate) fn guid(&self) -> Guid {
        self.guid
    }

    /// Whether it is on the network, and not in memory alone.
    pub(crate) fn has_network(&self) -> bool {
        self.network.is_some()
    }

    /// What is delivered without network.
    pub(crate) fn local(&self) -> &Arc<Local> {
        &self.local
    }

    /// All writers: those of this context, and those discovered in others.
    ///
    /// The library discovers its own participant too, but only by multicast: our own writers are listed directly.
    pub(crate) fn writers(&self) -> Vec<WriterInfo> {
        let mut writers = self.local.writers();
        if let Some(network) = &self.network {
            writers.extend(network.writers_elsewhere(|_| true));
        }
        writers
    }

    /// Those of a DDS topic.
    pub(crate) fn writers_on(&self, topic: &str) -> Vec<WriterInfo> {
        let mut writers = self.local.writers_on(topic);
        if let Some(network) = &self.network {
            writers.extend(network.writers_elsewhere(|name| name == topic));
        }
        writers
    }

    /// Topic, type and id of the readers discovered in other participants.
    pub(crate) fn readers_elsewhere(&self) -> Vec<(String, String, Guid)> {
        match &self.network {
            Some(network) => network.readers_elsewhere(),
            None => {
                let mut readers = self.local.readers();
                readers.retain(|(_, _, reader)| reader[..12] != self.guid[..12]);
                readers
            }
        }
    }
}

impl Network {
    fn new(discovery: &Discovery, enclave: &str, background: &Background) -> Result<Self> {
        // The enclave as ROS's middlewares announce it. Messages within the process go through memory.
        let builder = DomainParticipantBuilder::new(discovery.domain_id)
            .user_data(format!("enclave={enclave};").into_bytes())
            .match_own_endpoints(false);
        let builder = match discovery.range {
            DiscoveryRange::Subnet => builder,
            // A participant that announces only its loopback address could not be answered by peers on other hosts.
            DiscoveryRange::Localhost if discovery.has_distant_peers() => {
                tracing::warn!("discovery extended to the subnet: ROS_STATIC_PEERS names other machines");
                builder
            }
            DiscoveryRange::Localhost => builder.with_only_networks([IpAddr::V4(Ipv4Addr::LOCALHOST)]),
            DiscoveryRange::Off => builder.with_only_networks(Vec::<IpAddr>::new()).same_host_loopback(false),
        };
        let participant = builder.build().map_err(|e| middleware("create a participant", &e))?;
        let qos = QosPolicies::qos_none();
        let publisher =
            participant.create_publisher(&qos).map_err(|e| middleware("create a publisher", &e))?;
        let subscriber =
            participant.create_subscriber(&qos).map_err(|e| middleware("create a subscriber", &e))?;
        let matches = Arc::new(Mutex::new(Matches::new(participant.guid())));
        let (listener, observed) = (participant.status_listener(), Arc::clone(&matches));
        let postponed = Arc::<PostponedWrites>::default();
        let awaited = Arc::clone(&postponed);
        background.spawn(async move {
            let mut events = listener.as_async_status_stream();
            while let Some(event) = events.next().await {
                observed.lock().observe(&event);
                if let Event::RemoteReaderMatched { .. } = event {
                    awaited.write_matched();
                }
            }
        });
        let read_elsewhere = ReadElsewhere::default();
        let (reviewed, listed) = (participant.clone(), Arc::clone(&read_elsewhere));
        let reviewed_matches = Arc::clone(&matches);
        background.spawn(async move {
            let own = reviewed.guid().prefix;
            let mut long_names = rustdds::refused::refused().names;
            loop {
                reviewed_matches.lock().review();
                let refused = rustdds::refused::refused().names;
                if refused > long_names {
                    // At most one line a second.
                    tracing::warn!(
                        count = refused - long_names,
                        "participants, topics or endpoints ignored: names or user data too long"
                    );
                    long_names = refused;
                }
                let readers = reviewed.discovered_readers().into_iter();
                let others = readers.filter(|reader| reader.reader_proxy.remote_reader_guid.prefix != own);
                *listed.lock() =
                    others.map(|reader| reader.subscription_topic_data.topic_name().clone()).collect();
                precise_sleep(REVIEW_PERIOD).await;
            }
        });
        Ok(Self {
            turns: participant.loop_turns(),
            loop_back: participant.loop_back(),
            participant,
            publisher,
            subscriber,
            matches,
            read_elsewhere,
            postponed,
        })
    }

    /// The writers discovered in other participants, of topics that are `wanted`.
    fn writers_elsewhere(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = WriterInfo> {
        let own = self.participant.guid().prefix;
        let discovered = self.participant.discovered_writers().into_iter().map(|w| w.publication_topic_data);
        let others = discovered.filter(move |w| w.key.prefix != own && wanted(&w.topic_name));
        others.map(|writer| WriterInfo {
            guid: writer.key.to_bytes(),
            qos: profile(&writer),
            topic: writer.topic_name,
            type_name: writer.type_name,
        })
    }

    fn readers_elsewhere(&self) -> Vec<(String, String, Guid)> {
        let own = self.participant.guid().prefix;
        let discovered = self.participant.discovered_readers().into_iter();
        let others = discovered.filter(|reader| reader.reader_proxy.remote_reader_guid.prefix != own);
        let names = others.map(|reader| {
            let data = &reader.subscription_topic_data;
            let guid = reader.reader_proxy.remote_reader_guid.to_bytes();
            (data.topic_name().clone(), data.type_name().clone(), guid)
        });
        names.collect()
    }

    fn topic(&self, endpoint: Endpoint<'_>, qos: &QosPolicies) -> Result<Topic> {
        self.participant
            .create_topic(endpoint.topic.to_owned(), endpoint.type_name.to_owned(), qos, TopicKind::NoKey)
            .map_err(|e| middleware(&format!("create topic {}", endpoint.topic), &e))
    }
}

fn middleware(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Middleware(format!("cannot {what}: {error}"))
}

/// Nanoseconds since 1970; `None` for the values that mean "no time".
fn nanoseconds(time: Timestamp) -> Option<u64> {
    if time == Timestamp::INVALID || time == Timestamp::INFINITE || time == Timestamp::ZERO {
        return None;
    }
    let (seconds, fraction) = (time.to_ticks() >> 32, time.to_ticks() & 0xFFFF_FFFF);
    // The sender rounded down to 2^-32 s: adding half of that restores its nanosecond.
    Some(seconds * 1_000_000_000 + ((fraction * 1_000_000_000 + (1 << 31)) >> 32))
}

/// The inverse of [`nanoseconds`].
fn timestamp(nanoseconds: Option<u64>) -> Timestamp {
    nanoseconds.map_or(Timestamp::INVALID, |time| {
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        Timestamp::from_ticks((seconds << 32) + (rest << 32) / 1_000_000_000)
    })
}

fn sample_id(id: SampleIdentity) -> SampleId {
    SampleId { writer: id.writer_guid.to_bytes(), sequence: i64::from(id.sequence_number) }
}
