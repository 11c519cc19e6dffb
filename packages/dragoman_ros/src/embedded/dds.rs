//! The DDS library behind one small surface: a participant, raw CDR writers and raw CDR readers.
//!
//! Nothing else in this crate, but the parts below `dds/`, names `rustdds`. Facts about its behaviour towards Cyclone
//! DDS and Fast DDS that made a detour necessary are told where the detour is.

mod backlog;
mod first_request;
mod health;
mod matches;
mod memory;
mod payload;
mod policies;
mod postponed;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use backlog::Backlog;
use bytes::Bytes;
use first_request::FirstRequests;
use futures::StreamExt;
use futures::future::select;
use futures_timer::Delay;
use rustdds::dds::statusevents::{DomainParticipantStatusEvent as Event, StatusEvented};
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::rpc::SampleIdentity;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, GUID, LoopTurns, QosPolicies, RTPSEntity, SequenceNumber,
    Timestamp, Topic, TopicDescription, TopicKind, WriteOptionsBuilder,
};

use super::background::{Background, Spawner};
use super::cdr::Encoding;
use super::clock::lock;
use super::discovery::{Discovery, DiscoveryRange};
use super::error::{Error, Result};
use super::local::{Inbox, Local, Outlet};
use super::qos::{DurabilityPolicy, HistoryPolicy, QosProfile};
use super::rate_limit::RateLimit;
use matches::Matches;
use memory::Memory;
use payload::{RawAdapter, RawDecoder, RawPayload};
use policies::{Role, policies, profile};
use postponed::{Postponed, PostponedWrites};

/// Globally unique id of a participant, a writer or a reader: 12 bytes of participant, 4 of entity.
pub(crate) type Guid = [u8; 16];

/// Which sample of which writer: what a reply refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SampleId {
    pub(crate) writer: Guid,
    pub(crate) sequence: i64,
}

impl SampleId {
    /// The value that stands for "no sequence number" on the wire.
    pub(crate) const UNKNOWN_SEQUENCE: i64 = (u32::MAX as i64) << 32;
}

/// A received sample: payload without encapsulation header.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) payload: Bytes,
    pub(crate) encoding: Encoding,
    pub(crate) id: SampleId,
    pub(crate) related: Option<SampleId>,
    /// When it was written, in nanoseconds since 1970, if the writer tells.
    pub(crate) source_time: Option<u64>,
}

/// A reader, perhaps of another process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Peer {
    /// This one.
    Reader(Guid),
    /// Any of the participant that has this endpoint.
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

/// What an endpoint is announced as.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) topic: &'a str,
    pub(crate) type_name: &'a str,
    /// `RIHS01_...`, if it is known and is to be announced.
    pub(crate) type_hash: Option<&'a str>,
    pub(crate) qos: &'a QosProfile,
}

/// What a writer is announced as.
#[derive(Clone, Debug)]
pub(crate) struct WriterInfo {
    pub(crate) topic: String,
    pub(crate) type_name: String,
    pub(crate) guid: Guid,
    pub(crate) qos: QosProfile,
}

pub(crate) struct Participant {
    participant: DomainParticipant,
    turns: Arc<LoopTurns>,
    publisher: rustdds::Publisher,
    subscriber: rustdds::Subscriber,
    matches: Arc<Mutex<Matches>>,
    read_elsewhere: ReadElsewhere,
    local: Arc<Local>,
    postponed: Arc<PostponedWrites>,
    spawner: Spawner,
}

/// DDS topics that have readers in other participants.
type ReadElsewhere = Arc<Mutex<HashSet<String>>>;

/// How often the readers of other participants are listed.
const REVIEW_PERIOD: Duration = Duration::from_secs(1);

impl Participant {
    pub(crate) fn new(discovery: &Discovery, enclave: &str, background: &Background) -> Result<Self> {
        // The enclave as the middlewares of ROS announce it. What stays in the process goes through memory.
        let builder = DomainParticipantBuilder::new(discovery.domain_id)
            .user_data(format!("enclave={enclave};").into_bytes())
            .match_own_endpoints(false);
        let builder = match discovery.range {
            DiscoveryRange::Subnet => builder,
            // A participant that names its loopback address only could not be answered by a peer elsewhere.
            DiscoveryRange::Localhost if discovery.has_distant_peers() => {
                tracing::warn!("ROS_STATIC_PEERS on other machines: discovery reaches the subnet as well");
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
        let first_requests = FirstRequests::new(participant.clone(), discovery.bind_address())?;
        background.spawn(async move {
            let mut events = listener.as_async_status_stream();
            while let Some(event) = events.next().await {
                lock(&observed).observe(&event);
                match event {
                    Event::RemoteReaderMatched { .. } => awaited.write_matched(),
                    Event::RemoteWriterMatched { local_reader, remote_writer } => {
                        first_requests.ask(local_reader, remote_writer);
                    }
                    _ => {}
                }
            }
        });
        let read_elsewhere = ReadElsewhere::default();
        let (reviewed, listed) = (participant.clone(), Arc::clone(&read_elsewhere));
        background.spawn(async move {
            let own = reviewed.guid().prefix;
            loop {
                let readers = reviewed.discovered_readers().into_iter();
                let others = readers.filter(|reader| reader.reader_proxy.remote_reader_guid.prefix != own);
                *lock(&listed) =
                    others.map(|reader| reader.subscription_topic_data.topic_name().clone()).collect();
                Delay::new(REVIEW_PERIOD).await;
            }
        });
        Ok(Self {
            turns: participant.loop_turns(),
            participant,
            publisher,
            subscriber,
            matches,
            read_elsewhere,
            local: Arc::default(),
            postponed,
            spawner: background.spawner(),
        })
    }

    pub(crate) fn guid(&self) -> Guid {
        self.participant.guid().to_bytes()
    }

    pub(crate) fn writer(&self, endpoint: Endpoint<'_>) -> Result<Arc<Writer>> {
        let qos = policies(endpoint, Role::Writer);
        let topic = self.topic(endpoint, &qos)?;
        let writer = create_writer(&self.publisher, &topic, &qos)?;
        let outlet = self.local.writer(endpoint.topic, endpoint.type_name, endpoint.qos);
        outlet.identify(writer.guid().to_bytes());
        let writer = Arc::new_cyclic(|this| Writer {
            this: Weak::clone(this),
            postponed: Arc::clone(&self.postponed),
            spawner: self.spawner.clone(),
            state: Mutex::new(WriterState {
                writer: Arc::new(writer),
                unacknowledged: Backlog::default(),
                seen: 0,
                unsent: 0,
                sent: 0,
                is_leading: false,
                held: VecDeque::new(),
            }),
            overflow: Mutex::default(),
            keeps_all: endpoint.qos.history == HistoryPolicy::KeepAll,
            late_joiners: endpoint.qos.durability == DurabilityPolicy::TransientLocal,
            read_elsewhere: Arc::clone(&self.read_elsewhere),
            outlet,
            publisher: self.publisher.clone(),
            topic,
            reliable: qos.is_reliable(),
            qos,
            matches: Arc::clone(&self.matches),
            memory: Memory::default(),
        });
        Ok(writer)
    }

    pub(crate) fn reader(&self, endpoint: Endpoint<'_>) -> Result<Reader> {
        let qos = policies(endpoint, Role::Reader);
        let topic = self.topic(endpoint, &qos)?;
        let reader = self
            .subscriber
            .create_simple_datareader_no_key::<RawPayload, RawAdapter>(&topic, Some(qos))
            .map_err(|e| middleware(&format!("create a reader of {}", endpoint.topic), &e))?;
        Ok(Reader {
            reader,
            own: self.participant.guid(),
            matches: Arc::clone(&self.matches),
            inbox: self.local.reader(endpoint.topic, endpoint.type_name, endpoint.qos),
            topic: endpoint.topic.to_owned(),
            type_name: endpoint.type_name.to_owned(),
            local: Arc::clone(&self.local),
            participant: self.participant.clone(),
            writers: Mutex::default(),
            malformed: Mutex::default(),
            memory: Memory::default(),
        })
    }

    /// All writers: those of this context, and those that discovery has seen in others.
    ///
    /// The library discovers its own participant too, but by multicast only: what is our own is not asked of it.
    pub(crate) fn writers(&self) -> Vec<WriterInfo> {
        let own = self.participant.guid().prefix;
        let discovered = self.participant.discovered_writers().into_iter().map(|w| w.publication_topic_data);
        let remote = discovered.filter(|writer| writer.key.prefix != own).map(|writer| WriterInfo {
            guid: writer.key.to_bytes(),
            qos: profile(&writer),
            topic: writer.topic_name,
            type_name: writer.type_name,
        });
        self.local.writers().into_iter().chain(remote).collect()
    }

    fn topic(&self, endpoint: Endpoint<'_>, qos: &QosPolicies) -> Result<Topic> {
        self.participant
            .create_topic(endpoint.topic.to_owned(), endpoint.type_name.to_owned(), qos, TopicKind::NoKey)
            .map_err(|e| middleware(&format!("create topic {}", endpoint.topic), &e))
    }
}

fn create_writer(publisher: &rustdds::Publisher, topic: &Topic, qos: &QosPolicies) -> Result<RawWriter> {
    publisher
        .create_datawriter_no_key::<RawPayload, RawAdapter>(topic, Some(qos.clone()))
        .map_err(|e| middleware("create a writer", &e))
}

fn middleware(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Middleware(format!("cannot {what}: {error}"))
}

/// A writer of serialized samples. It never waits: neither for its readers nor for the network. The one exception is a
/// writer that keeps all samples, whose readers slow it down, as DDS has it; no node of ours has such a writer.
pub(crate) struct Writer {
    this: Weak<Writer>,
    postponed: Arc<PostponedWrites>,
    spawner: Spawner,
    state: Mutex<WriterState>,
    overflow: Mutex<RateLimit>,
    outlet: Arc<Outlet>,
    publisher: rustdds::Publisher,
    topic: Topic,
    qos: QosPolicies,
    reliable: bool,
    keeps_all: bool,
    /// Somebody who joins later is owed samples.
    late_joiners: bool,
    read_elsewhere: ReadElsewhere,
    matches: Arc<Mutex<Matches>>,
    memory: Memory,
}

type RawWriter = DataWriter<RawPayload, RawAdapter>;

struct WriterState {
    writer: Arc<RawWriter>,
    unacknowledged: Backlog,
    /// The number of matches that were known at the last write.
    seen: u64,
    /// How many samples stayed in this process.
    unsent: i64,
    /// The number of the last sample that the library has.
    sent: i64,
    /// Whether the first sample after a new match is on its way, and the samples that wait for it, oldest first.
    is_leading: bool,
    held: VecDeque<Held>,
}

/// A sample that goes to the network a little later.
struct Held {
    payload: Bytes,
    related: Option<SampleId>,
    time: Timestamp,
}

/// How long readers that are behind by a full backlog may take before they are given up.
const FULL_BACKLOG_PATIENCE: Duration = Duration::from_secs(3);

/// After a new match, a volatile Cyclone reader loses all samples of a burst but the last: the first sample goes out
/// alone, and the rest this much later.
const FIRST_SAMPLE_LEAD: Duration = Duration::from_millis(2);

/// So many samples are held back at most; then they go out early.
const MOST_HELD: usize = 1024;

/// Samples that stay in the process are numbered from here, so that no number is given twice.
const FIRST_UNSENT: i64 = 1 << 40;

impl Writer {
    /// An empty vector for the next payload, with the memory of an earlier one.
    pub(crate) fn room(&self) -> Vec<u8> {
        self.memory.take()
    }

    /// Writes one sample; `related` names the request that a reply answers.
    ///
    /// # Errors
    /// Readers in other processes are so far behind that they do not get it; those of this process do.
    pub(crate) fn write(&self, payload: Vec<u8>, related: Option<SampleId>) -> Result<SampleId> {
        let payload = self.memory.lend(payload);
        if self.keeps_all {
            self.wait_for_room();
        }
        let mut state = lock(&self.state);
        let now = Timestamp::now();
        let id = if self.is_read_elsewhere(&state) {
            self.write_to_network(&mut state, Held { payload: payload.clone(), related, time: now })
        } else {
            state.unsent += 1;
            Ok(state.unsent_id())
        };
        let local_id = id.as_ref().map_or_else(|_| state.unsent_id(), |id| *id);
        let source_time = nanoseconds(now);
        let sample = Sample { payload, encoding: Encoding::LittleEndian, id: local_id, related, source_time };
        self.outlet.deliver(&sample);
        id
    }

    fn write_to_network(&self, state: &mut WriterState, sample: Held) -> Result<SampleId> {
        if let Err(error) = self.make_room(state) {
            if let Some(more) = lock(&self.overflow).admit(Instant::now()) {
                tracing::warn!(topic = self.topic.name(), more, %error, "a sample is not sent");
            }
            return Err(error);
        }
        state.unacknowledged.add(sample.payload.len());
        if state.is_leading {
            let id = state.next_id();
            state.held.push_back(sample);
            if state.held.len() > MOST_HELD {
                state.send_held()?;
            }
            return Ok(id);
        }
        let matched = lock(&self.matches).generation(&state.writer.guid());
        let is_first = std::mem::replace(&mut state.seen, matched) != matched;
        let id = state.send(sample)?;
        if is_first {
            self.hold_next(state);
        }
        Ok(id)
    }

    /// Lets what is written from now on wait for a moment.
    fn hold_next(&self, state: &mut WriterState) {
        let writer = Weak::clone(&self.this);
        state.is_leading = true;
        self.spawner.spawn(async move {
            Delay::new(FIRST_SAMPLE_LEAD).await;
            if let Some(writer) = writer.upgrade()
                && let Err(error) = lock(&writer.state).send_held()
            {
                tracing::warn!(topic = writer.topic.name(), %error, "samples could not be sent");
            }
        });
    }

    /// Waits for readers that are far behind, for as long as the writer is announced to block.
    fn wait_for_room(&self) {
        let end = Instant::now() + policies::MAX_BLOCKING_TIME;
        while self.make_room(&mut lock(&self.state)).is_err() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether a sample has to go to the network. A match is told at once; the list of discovered readers, a little
    /// older, makes good for a match whose message was lost.
    fn is_read_elsewhere(&self, state: &WriterState) -> bool {
        self.late_joiners
            || lock(&self.matches).count(&state.writer.guid()) > 0
            || lock(&self.read_elsewhere).contains(&self.topic.name())
    }

    /// Keeps the samples that no reader has acknowledged within bounds.
    ///
    /// A reader that takes part in discovery but never acknowledges would otherwise keep every sample in memory and, once
    /// the library's window is full, block every write. A backlog that stays full makes the writer start afresh under a
    /// new identity: the stuck reader's samples are forgotten, and readers that keep up lose at most what is sent until
    /// they have matched the new writer. Twice a full backlog is never exceeded: further samples are refused until then.
    fn make_room(&self, state: &mut WriterState) -> Result<()> {
        if !self.reliable || !state.unacknowledged.is_large() {
            return Ok(());
        }
        state.unacknowledged.look(|| {
            let writer = Arc::clone(&state.writer);
            async move { matches!(writer.async_wait_for_acknowledgments().await, Ok(true)) }
        });
        if !state.unacknowledged.is_full() {
            return Ok(());
        }
        let now = Instant::now();
        if state.unacknowledged.full_for(now) > FULL_BACKLOG_PATIENCE {
            tracing::warn!(
                topic = self.topic.name(),
                "a reader does not acknowledge; the writer starts afresh"
            );
            state.writer = Arc::new(create_writer(&self.publisher, &self.topic, &self.qos)?);
            self.outlet.identify(state.writer.guid().to_bytes());
            (state.seen, state.sent, state.is_leading) = (0, 0, false);
            state.held.clear();
            state.unacknowledged = Backlog::default();
            for sample in self.outlet.recent() {
                let time = timestamp(sample.source_time);
                state.send(Held { payload: sample.payload, related: sample.related, time })?;
            }
        } else if state.unacknowledged.is_overfull() {
            return Err(Error::Timeout("readers do not keep up".into()));
        }
        Ok(())
    }

    pub(crate) fn guid(&self) -> Guid {
        lock(&self.state).writer.guid().to_bytes()
    }

    /// Lets all writes wait until this is dropped.
    #[cfg(test)]
    pub(crate) fn stall(&self) -> impl Drop {
        lock(&self.state)
    }

    /// Readers that are matched now.
    pub(crate) fn matched(&self) -> usize {
        let guid = lock(&self.state).writer.guid();
        lock(&self.matches).count(&guid) + self.outlet.readers()
    }

    /// Whether a reader is matched.
    pub(crate) fn is_matched(&self, reader: Peer) -> bool {
        let guid = lock(&self.state).writer.guid();
        let matches = lock(&self.matches);
        match reader {
            Peer::Reader(reader) => {
                let reader = GUID::from_bytes(reader);
                matches.is_own(&reader) || matches.has(&guid, &reader)
            }
            Peer::Beside(endpoint) => {
                let endpoint = GUID::from_bytes(endpoint);
                matches.is_own(&endpoint) || matches.has_one_beside(&guid, &endpoint)
            }
        }
    }

    /// As [`write`](Self::write), for one reader that may not be matched yet: the sample waits for that, but the caller does not.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub(crate) fn write_to(
        self: &Arc<Self>,
        reader: Peer,
        payload: Vec<u8>,
        related: Option<SampleId>,
    ) -> Result<()> {
        if self.is_matched(reader) {
            return self.write(payload, related).map(|_id| ());
        }
        let writer = Arc::clone(self);
        self.postponed.add(Postponed { writer, reader, payload, related }, &self.spawner);
        Ok(())
    }

    /// How long the first of the present matches has lasted; readers of this context count as old.
    pub(crate) fn matched_for(&self) -> Option<Duration> {
        if self.outlet.readers() > 0 {
            return Some(Duration::MAX);
        }
        let guid = lock(&self.state).writer.guid();
        lock(&self.matches).since(&guid).map(|since| since.elapsed())
    }
}

/// How long the last samples of a writer that is dropped may take to their readers.
const LAST_SAMPLES_TIME: Duration = Duration::from_millis(100);
/// Until a sample that nobody acknowledges is on its way.
const SEND_TIME: Duration = Duration::from_millis(10);

/// The last samples, a stop before a program ends say, are still sent: the library forgets them with its writer.
impl Drop for Writer {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // There is nobody left to tell.
        let _ = state.send_held();
        let (writer, is_reliable) = (Arc::clone(&state.writer), self.reliable);
        if state.sent == 0 || lock(&self.matches).count(&writer.guid()) == 0 {
            return;
        }
        self.spawner.spawn_last(async move {
            if is_reliable {
                let acknowledged = std::pin::pin!(writer.async_wait_for_acknowledgments());
                select(acknowledged, Delay::new(LAST_SAMPLES_TIME)).await;
            } else {
                Delay::new(SEND_TIME).await;
            }
        });
    }
}

impl WriterState {
    /// Hands a sample to the library.
    fn send(&mut self, sample: Held) -> Result<SampleId> {
        let related = sample.related.map(|id| SampleIdentity {
            writer_guid: GUID::from_bytes(id.writer),
            sequence_number: SequenceNumber::new(id.sequence),
        });
        let options = WriteOptionsBuilder::new()
            .related_sample_identity_opt(related)
            .source_timestamp(sample.time)
            .build();
        let payload = RawPayload { bytes: sample.payload, encoding: Encoding::LittleEndian };
        match self.writer.write_with_options(payload, options) {
            Ok(id) => {
                let id = sample_id(id);
                self.sent = id.sequence;
                Ok(id)
            }
            Err(rustdds::dds::WriteError::WouldBlock { .. }) => {
                Err(Error::Timeout("no reader acknowledges".into()))
            }
            Err(error) => Err(Error::Middleware(error.to_string())),
        }
    }

    /// Hands over what waits.
    fn send_held(&mut self) -> Result<()> {
        self.is_leading = false;
        while let Some(sample) = self.held.pop_front() {
            self.send(sample)?;
        }
        Ok(())
    }

    /// What the next sample that is held will be known by: the library counts them one by one.
    fn next_id(&self) -> SampleId {
        let held = i64::try_from(self.held.len()).unwrap_or(i64::MAX);
        SampleId { writer: self.writer.guid().to_bytes(), sequence: self.sent + held + 1 }
    }

    /// What a sample is known by that stays in this process.
    fn unsent_id(&self) -> SampleId {
        SampleId { writer: self.writer.guid().to_bytes(), sequence: FIRST_UNSENT + self.unsent }
    }
}

/// Nanoseconds since 1970; none for the values that mean "no time".
fn nanoseconds(time: Timestamp) -> Option<u64> {
    if time == Timestamp::INVALID || time == Timestamp::INFINITE || time == Timestamp::ZERO {
        return None;
    }
    let (seconds, fraction) = (time.to_ticks() >> 32, time.to_ticks() & 0xFFFF_FFFF);
    // The sender rounded down to 2^-32 s: half of that more gives its nanosecond again.
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

/// A reader of serialized samples.
pub(crate) struct Reader {
    reader: SimpleDataReader<RawPayload, RawAdapter>,
    own: GUID,
    matches: Arc<Mutex<Matches>>,
    inbox: Arc<Inbox>,
    topic: String,
    type_name: String,
    local: Arc<Local>,
    participant: DomainParticipant,
    /// Whether the samples of a writer are of our type, as far as discovery has told its type.
    writers: Mutex<HashMap<GUID, bool>>,
    malformed: Mutex<RateLimit>,
    memory: Memory,
}

/// Of so many writers it is remembered whether they are of a reader's type.
const REMEMBERED_WRITERS: usize = 1024;

impl Reader {
    /// The next sample; registers the task for the next arrival when there is none.
    pub(crate) fn poll_take(&self, task: &mut TaskContext<'_>) -> Poll<Sample> {
        if let Poll::Ready(sample) = self.inbox.poll_take(task) {
            return Poll::Ready(sample);
        }
        // Before the look, so that what arrives meanwhile wakes the task.
        self.reader.set_waker(Some(task.waker().clone()));
        self.take().map_or(Poll::Pending, Poll::Ready)
    }

    /// Hands samples of this process to `sink` at once; those from the network are still to be taken.
    pub(crate) fn hand_local_to(&self, sink: impl Fn(Sample) + Send + Sync + 'static) {
        self.inbox.hand_to(sink);
    }

    fn take(&self) -> Option<Sample> {
        self.reader.drain_read_notifications();
        loop {
            match self.reader.try_take_one_with(RawDecoder { memory: self.memory.clone() }) {
                // Came through memory already.
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
                Err(error) => tracing::debug!(%error, "a sample could not be read"),
            }
        }
    }

    /// The library matches by the names of topics alone: a writer of another type would be misread.
    fn is_of_our_type(&self, writer: GUID) -> bool {
        let mut writers = lock(&self.writers);
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
            tracing::debug!(topic, other, "a writer of another type is not read");
        }
        if writers.len() >= REMEMBERED_WRITERS {
            writers.clear();
        }
        writers.insert(writer, is_ours);
        is_ours
    }

    pub(crate) fn guid(&self) -> Guid {
        self.reader.guid().to_bytes()
    }

    /// Logs that a sample does not have the form of `type_name`. Whoever sends such may send many.
    pub(crate) fn report_malformed(&self, type_name: &str, error: &Error) {
        if let Some(more) = lock(&self.malformed).admit(Instant::now()) {
            let topic = self.topic.strip_prefix("rt").unwrap_or(&self.topic);
            tracing::warn!(topic, %error, more, "a sample is not of type {type_name}");
        }
    }

    /// Writers that are matched now.
    pub(crate) fn matched(&self) -> usize {
        lock(&self.matches).count(&self.reader.guid()) + self.local.writers_of(&self.topic, &self.inbox)
    }
}
