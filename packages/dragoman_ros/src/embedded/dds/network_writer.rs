//! The side of a writer towards other participants.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use dragoman_time::precise_sleep;
use futures::future::select;
use parking_lot::Mutex;
use rustdds::no_key::DataWriter;
use rustdds::rpc::SampleIdentity;
use rustdds::{
    GUID, QosPolicies, RTPSEntity, SequenceNumber, Timestamp, Topic, TopicDescription, WriteOptionsBuilder,
};

use super::backlog::Backlog;
use super::matches::Matches;
use super::payload::{RawAdapter, RawPayload};
use super::policies::{self, Role, policies};
use super::postponed::PostponedWrites;
use super::{
    Endpoint, Guid, Network, Peer, ReadElsewhere, Sample, SampleId, middleware, sample_id, timestamp,
};
use crate::embedded::background::Spawner;
use crate::embedded::cdr::Encoding;
use crate::embedded::error::{Error, Result};
use crate::embedded::local::Outlet;
use crate::embedded::qos::{DurabilityPolicy, HistoryPolicy};
use crate::embedded::rate_limit::RateLimit;

fn create_writer(publisher: &rustdds::Publisher, topic: &Topic, qos: &QosPolicies) -> Result<RawWriter> {
    publisher
        .create_datawriter_no_key::<RawPayload, RawAdapter>(topic, Some(qos.clone()))
        .map_err(|e| middleware("create a writer", &e))
}

/// Writes to readers in other participants.
pub(super) struct NetworkWriter {
    /// Itself.
    this: Weak<NetworkWriter>,
    pub(super) postponed: Arc<PostponedWrites>,
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
}

type RawWriter = DataWriter<RawPayload, RawAdapter>;

struct WriterState {
    writer: Arc<RawWriter>,
    unacknowledged: Backlog,
    /// The generation of the matches at the last write.
    seen: u64,
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

/// Maximum number of delayed samples; beyond that they are sent early.
const MAX_HELD: usize = 1024;

impl NetworkWriter {
    /// A writer whose local side is `outlet`.
    pub(super) fn new(
        network: &Network,
        spawner: Spawner,
        endpoint: Endpoint<'_>,
        outlet: Arc<Outlet>,
    ) -> Result<Arc<Self>> {
        let qos = policies(endpoint, Role::Writer);
        let topic = network.topic(endpoint, &qos)?;
        let writer = create_writer(&network.publisher, &topic, &qos)?;
        Ok(Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            postponed: Arc::clone(&network.postponed),
            spawner,
            state: Mutex::new(WriterState {
                writer: Arc::new(writer),
                unacknowledged: Backlog::default(),
                seen: 0,
                sent: 0,
                is_leading: false,
                held: VecDeque::new(),
            }),
            overflow: Mutex::default(),
            keeps_all: endpoint.qos.history == HistoryPolicy::KeepAll,
            late_joiners: endpoint.qos.durability == DurabilityPolicy::TransientLocal,
            read_elsewhere: Arc::clone(&network.read_elsewhere),
            outlet,
            publisher: network.publisher.clone(),
            topic,
            reliable: qos.is_reliable(),
            qos,
            matches: Arc::clone(&network.matches),
        }))
    }

    /// Writes a sample if it is read elsewhere; returns its number.
    pub(super) fn write(&self, sample: &Sample) -> Option<Result<SampleId>> {
        let mut state = self.state.lock();
        let time = timestamp(sample.source_time);
        self.is_read_elsewhere(&state).then(|| {
            let held = Held { payload: sample.payload.clone(), related: sample.related, time };
            self.write_to_network(&mut state, held)
        })
    }

    fn write_to_network(&self, state: &mut WriterState, sample: Held) -> Result<SampleId> {
        if let Err(error) = self.make_room(state) {
            if let Some(more) = self.overflow.lock().admit(dragoman_time::now()) {
                tracing::warn!(topic = self.topic.name(), more, %error, "sample not sent");
            }
            return Err(error);
        }
        if self.keeps_all {
            state.unacknowledged.add(sample.payload.len());
        }
        if state.is_leading {
            let id = state.next_id();
            state.held.push_back(sample);
            if state.held.len() > MAX_HELD {
                state.send_held()?;
            }
            return Ok(id);
        }
        let matched = self.matches.lock().generation(&state.writer.guid());
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
            precise_sleep(FIRST_SAMPLE_LEAD).await;
            if let Some(writer) = writer.upgrade()
                && let Err(error) = writer.state.lock().send_held()
            {
                tracing::warn!(topic = writer.topic.name(), %error, "sending samples failed");
            }
        });
    }

    /// Waits for lagging readers of a writer that keeps all samples, up to the announced blocking time.
    pub(super) fn wait_for_room(&self) {
        if !self.keeps_all {
            return;
        }
        let end = dragoman_time::now() + policies::MAX_BLOCKING_TIME;
        while self.make_room(&mut self.state.lock()).is_err() && dragoman_time::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether a sample must go to the network. A match is reported at once; the list of discovered readers, a little
    /// older, covers lost match events.
    fn is_read_elsewhere(&self, state: &WriterState) -> bool {
        self.late_joiners
            || self.matches.lock().count(&state.writer.guid()) > 0
            || self.read_elsewhere.lock().contains(&self.topic.name())
    }

    /// Limits the number of unacknowledged samples of a writer that keeps all. Others have a limit in the library: their
    /// newest samples displace older ones.
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
        let now = dragoman_time::now();
        if state.unacknowledged.full_for(now) > FULL_BACKLOG_TIMEOUT {
            tracing::warn!(topic = self.topic.name(), "reader does not acknowledge; recreating the writer");
            let stuck = state.writer.guid();
            state.writer = Arc::new(create_writer(&self.publisher, &self.topic, &self.qos)?);
            self.matches.lock().drop_local(stuck);
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

    pub(super) fn guid(&self) -> Guid {
        self.state.lock().writer.guid().to_bytes()
    }

    /// Number of matched readers.
    pub(super) fn matched(&self) -> usize {
        let guid = self.state.lock().writer.guid();
        self.matches.lock().count(&guid)
    }

    /// Whether a reader is matched.
    pub(super) fn is_matched(&self, reader: Peer) -> bool {
        let guid = self.state.lock().writer.guid();
        let matches = self.matches.lock();
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

    /// Age of the oldest match.
    pub(super) fn matched_for(&self) -> Option<Duration> {
        let guid = self.state.lock().writer.guid();
        self.matches.lock().since(&guid).map(dragoman_time::since)
    }
}

/// Time for delivering the last samples of a dropped writer.
const LAST_SAMPLES_TIME: Duration = Duration::from_millis(100);
/// Time for sending a sample without acknowledgement.
const SEND_TIME: Duration = Duration::from_millis(10);

/// The last samples, for example a stop before a program ends, are still sent: the library drops them with its writer.
impl Drop for NetworkWriter {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        // No caller is left to get the error.
        let _ = state.send_held();
        let (writer, is_reliable) = (Arc::clone(&state.writer), self.reliable);
        let mut matches = self.matches.lock();
        matches.drop_local(writer.guid());
        if state.sent == 0 || matches.count(&writer.guid()) == 0 {
            return;
        }
        drop(matches);
        self.spawner.spawn_last(async move {
            if is_reliable {
                let acknowledged = std::pin::pin!(writer.async_wait_for_acknowledgments());
                select(acknowledged, precise_sleep(LAST_SAMPLES_TIME)).await;
            } else {
                precise_sleep(SEND_TIME).await;
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
}
