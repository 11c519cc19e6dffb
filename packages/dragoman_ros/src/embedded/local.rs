//! Delivers messages between writers and readers through memory instead of the network: those of one context, or without
//! network those of all contexts of a domain.
//!
//! The DDS library would send a participant's samples to itself by UDP, and discovers itself by multicast only, which a
//! loopback interface does not have. All nodes of a process share one participant, so most messages go this way.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context as TaskContext, Poll, Waker};

use parking_lot::Mutex;

use super::dds::{Guid, Memories, Sample, WriterInfo};
use super::names::parts_of_topic;
use super::qos::{DurabilityPolicy, HistoryPolicy, QosProfile, ReliabilityPolicy};

/// Maximum number of samples by which a reader that keeps all may lag.
const KEEP_ALL_LIMIT: usize = 200_000;
/// Requests, and replies, by which a server or client may lag at least. Their usual depth of 10 is that of a queue
/// between processes; here several threads may send a burst of more calls at once, and the caller of a lost one waits
/// until its timeout.
const MIN_CALLS: usize = 1024;

/// All writers and readers of a context, or of a domain in memory, by DDS topic.
#[derive(Default)]
pub(crate) struct Local {
    topics: Mutex<BTreeMap<String, LocalTopic>>,
    /// How many writers and readers have gone.
    ended: Arc<AtomicU64>,
    pub(crate) memories: Memories,
}

#[derive(Default)]
struct LocalTopic {
    readers: Vec<Weak<Inbox>>,
    writers: Vec<Weak<Outlet>>,
}

impl LocalTopic {
    /// The complete writers of this topic, whose name is `topic`.
    fn writers(&self, topic: &str) -> impl Iterator<Item = WriterInfo> {
        self.writers.iter().filter_map(Weak::upgrade).filter_map(move |writer| {
            let guid = writer.state.lock().guid?;
            let (type_name, qos) = (writer.offer.type_name.clone(), writer.qos.clone());
            Some(WriterInfo { topic: topic.to_owned(), type_name, guid, qos })
        })
    }
}

/// The local side of a writer.
pub(crate) struct Outlet {
    offer: Offer,
    /// The requested profile, for graph queries.
    qos: QosProfile,
    state: Mutex<OutletState>,
    _end: End,
}

/// Counts the writers and readers that have ended, when it is dropped with one.
struct End(Arc<AtomicU64>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct OutletState {
    /// `None` until the writer is complete.
    guid: Option<Guid>,
    readers: Vec<Weak<Inbox>>,
    /// The last samples, for late subscribers.
    recent: VecDeque<Sample>,
}

/// The local side of a reader: its queue.
pub(crate) struct Inbox {
    offer: Offer,
    /// Empty until the reader is complete.
    guid: OnceLock<Guid>,
    queue: Mutex<Queue>,
    /// Takes samples on the writer's thread, in place of the queue.
    sink: OnceLock<Sink>,
    _end: End,
}

type Sink = Box<dyn Fn(Sample) + Send + Sync>;

#[derive(Default)]
struct Queue {
    samples: VecDeque<Sample>,
    waker: Option<Waker>,
}

/// Offered or requested policies of an endpoint.
struct Offer {
    type_name: String,
    reliable: bool,
    transient_local: bool,
    depth: usize,
}

impl Offer {
    fn new(type_name: &str, qos: &QosProfile) -> Self {
        let depth = if qos.history == HistoryPolicy::KeepAll { KEEP_ALL_LIMIT } else { qos.depth.max(1) };
        Self {
            type_name: type_name.to_owned(),
            reliable: qos.reliability != ReliabilityPolicy::BestEffort,
            transient_local: qos.durability == DurabilityPolicy::TransientLocal,
            depth,
        }
    }

    /// Whether an offer meets a request, by the rules of DDS 1.4, 2.2.3.
    fn meets(&self, request: &Self) -> bool {
        self.type_name == request.type_name
            && (self.reliable || !request.reliable)
            && (self.transient_local || !request.transient_local)
    }
}

impl Local {
    pub(crate) fn writer(&self, topic: &str, type_name: &str, qos: &QosProfile) -> Arc<Outlet> {
        let offer = Offer::new(type_name, qos);
        let outlet = Arc::new(Outlet { offer, qos: qos.clone(), state: Mutex::default(), _end: self.end() });
        let mut topics = self.topics.lock();
        let entry = topics.entry(topic.to_owned()).or_default();
        entry.readers.retain(|reader| reader.strong_count() > 0);
        for reader in entry.readers.iter().filter_map(Weak::upgrade) {
            if outlet.offer.meets(&reader.offer) {
                outlet.state.lock().readers.push(Arc::downgrade(&reader));
            }
        }
        entry.writers.push(Arc::downgrade(&outlet));
        outlet
    }

    pub(crate) fn reader(&self, topic: &str, type_name: &str, qos: &QosProfile) -> Arc<Inbox> {
        let mut offer = Offer::new(type_name, qos);
        if parts_of_topic(topic).is_some_and(|(prefix, _)| prefix != "rt") {
            offer.depth = offer.depth.max(MIN_CALLS);
        }
        let (guid, queue, sink) = Default::default();
        let inbox = Arc::new(Inbox { offer, guid, queue, sink, _end: self.end() });
        let mut topics = self.topics.lock();
        let entry = topics.entry(topic.to_owned()).or_default();
        entry.writers.retain(|writer| writer.strong_count() > 0);
        for writer in
            entry.writers.iter().filter_map(Weak::upgrade).filter(|writer| writer.offer.meets(&inbox.offer))
        {
            // Under the writer's lock, so that no sample is delivered twice or lost.
            let mut state = writer.state.lock();
            if inbox.offer.transient_local {
                state.recent.iter().for_each(|sample| inbox.push(sample.clone()));
            }
            state.readers.push(Arc::downgrade(&inbox));
        }
        entry.readers.push(Arc::downgrade(&inbox));
        inbox
    }

    /// All existing writers.
    pub(crate) fn writers(&self) -> Vec<WriterInfo> {
        self.topics.lock().iter().flat_map(|(topic, entry)| entry.writers(topic)).collect()
    }

    /// The existing writers of a DDS topic.
    pub(crate) fn writers_on(&self, topic: &str) -> Vec<WriterInfo> {
        self.topics.lock().get(topic).map_or_else(Vec::new, |entry| entry.writers(topic).collect())
    }

    /// Topic, type and id of all readers.
    pub(crate) fn readers(&self) -> Vec<(String, String, Guid)> {
        let topics = self.topics.lock();
        let live = topics.iter().flat_map(|(topic, entry)| {
            entry.readers.iter().filter_map(Weak::upgrade).map(move |reader| (topic, reader))
        });
        live.filter_map(|(topic, reader)| {
            Some((topic.clone(), reader.offer.type_name.clone(), *reader.guid.get()?))
        })
        .collect()
    }

    fn end(&self) -> End {
        End(Arc::clone(&self.ended))
    }

    /// How many writers and readers have gone so far.
    pub(crate) fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }

    /// Forgets writers and readers that are gone, and topics without any. What is left of a dropped one is a few hundred
    /// bytes, which the next message or endpoint of the topic would free too, but there may be none.
    pub(crate) fn purge(&self) {
        self.topics.lock().retain(|_, entry| {
            entry.readers.retain(|reader| reader.strong_count() > 0);
            entry.writers.retain(|writer| writer.strong_count() > 0);
            for writer in entry.writers.iter().filter_map(Weak::upgrade) {
                writer.state.lock().readers.retain(|reader| reader.strong_count() > 0);
            }
            !entry.readers.is_empty() || !entry.writers.is_empty()
        });
    }

    /// Number of writers matched with a reader.
    pub(crate) fn writers_of(&self, topic: &str, inbox: &Inbox) -> usize {
        let topics = self.topics.lock();
        let writers = topics.get(topic).map(|entry| entry.writers.iter().filter_map(Weak::upgrade));
        writers.map_or(0, |writers| writers.filter(|writer| writer.offer.meets(&inbox.offer)).count())
    }
}

impl Outlet {
    /// Sets the network identity of the writer.
    pub(crate) fn identify(&self, guid: Guid) {
        self.state.lock().guid = Some(guid);
    }

    /// Delivers `sample` to all local readers.
    pub(crate) fn deliver(&self, sample: &Sample) {
        let mut state = self.state.lock();
        state.readers.retain(|reader| match reader.upgrade() {
            Some(reader) => {
                reader.push(sample.clone());
                true
            }
            None => false,
        });
        if self.offer.transient_local {
            if state.recent.len() >= self.offer.depth {
                state.recent.pop_front();
            }
            state.recent.push_back(sample.clone());
        }
    }

    /// The last samples for a late subscriber, oldest first.
    pub(crate) fn recent(&self) -> Vec<Sample> {
        self.state.lock().recent.iter().cloned().collect()
    }

    pub(crate) fn readers(&self) -> usize {
        self.state.lock().readers.iter().filter(|reader| reader.strong_count() > 0).count()
    }
}

/// The domains in memory: contexts of one domain reach each other.
#[derive(Default)]
struct Domains(Mutex<BTreeMap<u16, Weak<Local>>>);

/// The writers and readers of a domain in memory.
pub(crate) fn domain(id: u16) -> Arc<Local> {
    let domains = dragoman_time::shared::<Domains>();
    let mut domains = domains.0.lock();
    domains.retain(|_, domain| domain.strong_count() > 0);
    if let Some(domain) = domains.get(&id).and_then(Weak::upgrade) {
        return domain;
    }
    let domain = Arc::<Local>::default();
    domains.insert(id, Arc::downgrade(&domain));
    domain
}

impl Inbox {
    /// Sets the network identity of the reader.
    pub(crate) fn identify(&self, guid: Guid) {
        // One reader has one identity.
        let _ = self.guid.set(guid);
    }

    /// Delivers future samples to `sink`, on the writer's thread, which saves waking a queue's reader. It must neither
    /// block nor write to the topic of the sample.
    pub(crate) fn hand_to(&self, sink: impl Fn(Sample) + Send + Sync + 'static) {
        // A reader has one owner, which calls this once.
        let _ = self.sink.set(Box::new(sink));
    }

    fn push(&self, sample: Sample) {
        if let Some(sink) = self.sink.get() {
            return sink(sample);
        }
        let mut queue = self.queue.lock();
        if queue.samples.len() >= self.offer.depth {
            queue.samples.pop_front();
        }
        queue.samples.push_back(sample);
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
    }

    pub(crate) fn poll_take(&self, task: &mut TaskContext<'_>) -> Poll<Sample> {
        let mut queue = self.queue.lock();
        match queue.samples.pop_front() {
            Some(sample) => Poll::Ready(sample),
            None => {
                queue.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cdr::Encoding;
    use super::super::dds::SampleId;
    use super::*;

    fn sample(number: u8) -> Sample {
        let id = SampleId { writer: [0; 16], sequence: number.into() };
        Sample {
            payload: vec![number].into(),
            encoding: Encoding::LittleEndian,
            id,
            related: None,
            source_time: None,
        }
    }

    fn drain(inbox: &Inbox) -> Vec<u8> {
        let mut task = TaskContext::from_waker(Waker::noop());
        let mut numbers = Vec::new();
        while let Poll::Ready(sample) = inbox.poll_take(&mut task) {
            numbers.extend_from_slice(&sample.payload);
        }
        numbers
    }

    #[test]
    fn a_reader_keeps_as_many_samples_as_it_asked_for() {
        let local = Local::default();
        let inbox = local.reader("t", "T", &QosProfile::default().keep_last(2));
        let outlet = local.writer("t", "T", &QosProfile::default());
        (1..=4).for_each(|number| outlet.deliver(&sample(number)));
        assert_eq!(drain(&inbox), [3, 4]);
    }

    #[test]
    fn a_burst_of_calls_is_not_lost() {
        let local = Local::default();
        let qos = QosProfile::default().keep_last(10);
        for topic in ["rq/sRequest", "rr/sReply"] {
            let (inbox, outlet) = (local.reader(topic, "T", &qos), local.writer(topic, "T", &qos));
            (0..200).for_each(|number| outlet.deliver(&sample(number)));
            assert_eq!(drain(&inbox).len(), 200, "{topic}");
        }
    }

    #[test]
    fn a_sink_gets_samples_at_once() {
        let local = Local::default();
        let inbox = local.reader("t", "T", &QosProfile::default());
        let outlet = local.writer("t", "T", &QosProfile::default());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        inbox.hand_to(move |sample| sink.lock().extend_from_slice(&sample.payload));
        (1..=3).for_each(|number| outlet.deliver(&sample(number)));
        assert_eq!((seen.lock().as_slice(), drain(&inbox)), (&[1, 2, 3][..], vec![]));
    }

    #[test]
    fn late_joiners_get_what_the_writer_keeps_once() {
        let local = Local::default();
        let latched = QosProfile::default().keep_last(2).transient_local();
        let outlet = local.writer("t", "T", &latched);
        (1..=3).for_each(|number| outlet.deliver(&sample(number)));
        let late = local.reader("t", "T", &latched);
        let volatile = local.reader("t", "T", &QosProfile::default());
        outlet.deliver(&sample(4));
        assert_eq!(drain(&late), [3, 4]);
        assert_eq!(drain(&volatile), [4]);
    }

    #[test]
    fn writers_are_listed_while_they_live() {
        let local = Local::default();
        let latched = QosProfile::default().keep_last(2).transient_local();
        let outlet = local.writer("t", "T", &latched);
        outlet.identify([7; 16]);
        let writers = local.writers();
        let writers: Vec<_> =
            writers.iter().map(|w| (w.topic.as_str(), w.type_name.as_str(), w.guid, &w.qos)).collect();
        assert_eq!(writers, [("t", "T", [7; 16], &latched)]);
        drop(outlet);
        assert!(local.writers().is_empty());
    }

    #[test]
    fn endpoints_that_are_gone_are_forgotten_with_their_topics() {
        let local = Local::default();
        let outlet = local.writer("t", "T", &QosProfile::default());
        for number in 0..100 {
            local.reader("t", "T", &QosProfile::default());
            local.writer("t", "T", &QosProfile::default());
            local.reader(&format!("t{number}"), "T", &QosProfile::default());
        }
        local.purge();
        let topics = local.topics.lock();
        assert_eq!(topics.len(), 1);
        assert_eq!((topics["t"].readers.len(), topics["t"].writers.len()), (0, 1));
        assert!(outlet.state.lock().readers.is_empty());
    }

    #[test]
    fn an_offer_below_the_request_is_not_matched() {
        let local = Local::default();
        let reliable = local.reader("t", "T", &QosProfile::default());
        let other = local.reader("t", "U", &QosProfile::sensor_data());
        let outlet = local.writer("t", "T", &QosProfile::sensor_data());
        assert_eq!((outlet.readers(), local.writers_of("t", &reliable)), (0, 0));
        outlet.deliver(&sample(1));
        assert!(drain(&reliable).is_empty() && drain(&other).is_empty());
    }
}
