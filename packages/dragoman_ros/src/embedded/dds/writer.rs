//! Writers of serialized samples.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::select;
use futures_timer::Delay;
use rustdds::no_key::DataWriter;
use rustdds::rpc::SampleIdentity;
use rustdds::{
    GUID, QosPolicies, RTPSEntity, SequenceNumber, Timestamp, Topic, TopicDescription, WriteOptionsBuilder,
};

use super::backlog::Backlog;
use super::matches::Matches;
use super::memory::Memory;
use super::payload::{RawAdapter, RawPayload};
use super::policies::{self, Role, policies};
use super::postponed::{Postponed, PostponedWrites};
use super::{
    Endpoint, Guid, Participant, Peer, ReadElsewhere, Sample, SampleId, middleware, nanoseconds, sample_id,
    timestamp,
};
use crate::embedded::background::Spawner;
use crate::embedded::cdr::Encoding;
use crate::embedded::clock::lock;
use crate::embedded::error::{Error, Result};
use crate::embedded::local::Outlet;
use crate::embedded::qos::{DurabilityPolicy, HistoryPolicy};
use crate::embedded::rate_limit::RateLimit;

impl Participant {
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
}

fn create_writer(publisher: &rustdds::Publisher, topic: &Topic, qos: &QosPolicies) -> Result<RawWriter> {
    publisher
        .create_datawriter_no_key::<RawPayload, RawAdapter>(topic, Some(qos.clone()))
        .map_err(|e| middleware("create a writer", &e))
}

/// A writer of serialized samples. It waits neither for its readers nor for the network. The one exception is a writer
/// that keeps all samples, whose readers slow it down, as DDS defines; none of our nodes has one.
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
    /// Whether late subscribers get earlier samples.
    late_joiners: bool,
    read_elsewhere: ReadElsewhere,
    matches: Arc<Mutex<Matches>>,
    memory: Memory,
}

type RawWriter = DataWriter<RawPayload, RawAdapter>;

struct WriterState {
    writer: Arc<RawWriter>,
    unacknowledged: Backlog,
    /// The generation of the matches at the last write.
    seen: u64,
    /// Number of samples delivered within this process only.
    unsent: i64,
    /// The number of the library's last sample.
    sent: i64,
    /// Whether the first sample after a new match is on its way, and the samples waiting for it, oldest first.
    is_leading: bool,
    held: VecDeque<Held>,
}

/// A sample sent to the network with a delay.
struct Held {
    payload: Bytes,
    related: Option<SampleId>,
    time: Timestamp,
}

/// Time after which readers that lag by a full backlog are given up.
const FULL_BACKLOG_TIMEOUT: Duration = Duration::from_secs(3);

/// After a new match, a volatile Cyclone reader loses all samples of a burst but the last: the first sample is sent
/// alone, and the rest this much later.
const FIRST_SAMPLE_LEAD: Duration = Duration::from_millis(2);

/// Most delayed samples; beyond that they are sent early.
const MOST_HELD: usize = 1024;

/// Samples within the process are numbered from here, so that numbers are unique.
const FIRST_UNSENT: i64 = 1 << 40;

impl Writer {
    /// An empty vector for the next payload, with the memory of an earlier one.
    pub(crate) fn room(&self) -> Vec<u8> {
        self.memory.take()
    }

    /// Writes one sample; `related` is the request that a reply answers.
    ///
    /// # Errors
    /// Readers in other processes lag so far that they do not get it; those of this process do.
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
                tracing::warn!(topic = self.topic.name(), more, %error, "a sample was not sent");
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

    /// Delays the samples written from now on for a moment.
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

    /// Waits for lagging readers, up to the announced blocking time.
    fn wait_for_room(&self) {
        let end = Instant::now() + policies::MAX_BLOCKING_TIME;
        while self.make_room(&mut lock(&self.state)).is_err() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether a sample must go to the network. A match is reported at once; the list of discovered readers, a little
    /// older, covers lost match events.
    fn is_read_elsewhere(&self, state: &WriterState) -> bool {
        self.late_joiners
            || lock(&self.matches).count(&state.writer.guid()) > 0
            || lock(&self.read_elsewhere).contains(&self.topic.name())
    }

    /// Limits the number of unacknowledged samples.
    ///
    /// A reader that takes part in discovery but never acknowledges would otherwise keep every sample in memory and,
    /// once the library's window is full, block every write. A backlog that stays full makes the writer restart under a
    /// new identity: the samples for the stuck reader are dropped, and other readers lose at most those sent until they
    /// have matched the new writer. The size never exceeds twice a full backlog: further samples are refused until
    /// then.
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
        if state.unacknowledged.full_for(now) > FULL_BACKLOG_TIMEOUT {
            tracing::warn!(topic = self.topic.name(), "a reader does not acknowledge; the writer restarts");
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

    /// Makes all writes wait until the returned value is dropped.
    #[cfg(test)]
    pub(crate) fn stall(&self) -> impl Drop {
        lock(&self.state)
    }

    /// Number of matched readers.
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

    /// As [`write`](Self::write), for one reader that may not be matched yet: the sample waits for that, but the caller
    /// does not.
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

    /// Age of the oldest match; readers of this context count as old.
    pub(crate) fn matched_for(&self) -> Option<Duration> {
        if self.outlet.readers() > 0 {
            return Some(Duration::MAX);
        }
        let guid = lock(&self.state).writer.guid();
        lock(&self.matches).since(&guid).map(|since| since.elapsed())
    }
}

/// Time for delivering the last samples of a dropped writer.
const LAST_SAMPLES_TIME: Duration = Duration::from_millis(100);
/// Time for sending a sample without acknowledgement.
const SEND_TIME: Duration = Duration::from_millis(10);

/// The last samples, for example a stop before a program ends, are still sent: the library drops them with its writer.
impl Drop for Writer {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // No caller is left to get the error.
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
    /// Passes a sample to the library.
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

    /// Passes the delayed samples.
    fn send_held(&mut self) -> Result<()> {
        self.is_leading = false;
        while let Some(sample) = self.held.pop_front() {
            self.send(sample)?;
        }
        Ok(())
    }

    /// The number of the next delayed sample: the library counts them one by one.
    fn next_id(&self) -> SampleId {
        let held = i64::try_from(self.held.len()).unwrap_or(i64::MAX);
        SampleId { writer: self.writer.guid().to_bytes(), sequence: self.sent + held + 1 }
    }

    /// The number of a sample within this process.
    fn unsent_id(&self) -> SampleId {
        SampleId { writer: self.writer.guid().to_bytes(), sequence: FIRST_UNSENT + self.unsent }
    }
}
