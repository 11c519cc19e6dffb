//! Service clients, in the mapping of `RMW_IMPLEMENTATION`: Cyclone DDS's for `rmw_cyclonedds_cpp`, else Fast DDS's.

use std::collections::{BTreeMap, VecDeque};
use std::marker::PhantomData;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;
use dragoman_time::precise_sleep;
use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::WrappedServiceTypeSupport;
use super::background::{Background, Task};
use super::cdr::{self, Encoding};
use super::dds::{Guid, Reader, Sample, SampleId, Writer};
use super::error::{Error, Result};
use super::service::HEADER_LENGTH;

/// Matching is not symmetric: when we see a service, its reply writer may not have seen our reader yet, and a reply
/// sent in that time is lost. After this time it has.
const MATCH_SETTLE_TIME: Duration = Duration::from_millis(300);

/// Maximum number of unfetched responses; beyond that the oldest are dropped.
const MAX_PENDING: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mapping {
    RelatedIdentity,
    Header,
}

/// A client of one service.
pub struct Client<T> {
    shared: Arc<Shared>,
    service: PhantomData<fn() -> T>,
    _listening: Task,
}

impl<T> std::fmt::Debug for Client<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

struct Shared {
    reader: Arc<Reader>,
    writer: Arc<Writer>,
    mapping: Mapping,
    /// Eight bytes unique to this client, which identify it in Cyclone's mapping.
    client_id: [u8; 8],
    /// The number of the last request. Locked while one is being written, which may wait for a remote server that
    /// hangs.
    last_sequence: Mutex<i64>,
    /// Never locked across a wait: responders lock it on their own threads.
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    asked: BTreeMap<i64, Asked>,
    /// Responses without a known request, received while a request is being written: one may belong to it.
    early: Option<VecDeque<(SampleId, Sample)>>,
}

/// A request waiting for its response.
struct Asked {
    /// The writer of the request.
    writer: Guid,
    answer: oneshot::Sender<Sample>,
}

impl<T: WrappedServiceTypeSupport> Client<T> {
    pub(crate) fn new(reader: Arc<Reader>, writer: Arc<Writer>, background: &Background) -> Self {
        let (shared, listening) = Shared::start(reader, writer, background);
        Self { shared, service: PhantomData, _listening: listening }
    }

    /// Sends a request; the future resolves with the response. As in r2r there is no timeout: callers add one.
    ///
    /// # Errors
    /// A fixed array of a wrong length; an error of the middleware.
    pub fn request(
        &self,
        message: &T::Request,
    ) -> Result<impl Future<Output = Result<T::Response>> + Send + Unpin + use<T>> {
        let answer = self.shared.request(cdr::to_bytes(message)?)?;
        Ok(answer.map(|answer| answer.and_then(|(body, encoding)| cdr::from_bytes(&body, encoding))))
    }
}

/// A client of serialized requests and responses without encapsulation header.
pub(crate) struct RawClient {
    shared: Arc<Shared>,
    _listening: Task,
}

impl RawClient {
    pub(crate) fn new(reader: Arc<Reader>, writer: Arc<Writer>, background: &Background) -> Self {
        let (shared, listening) = Shared::start(reader, writer, background);
        Self { shared, _listening: listening }
    }

    /// Sends a request; the future resolves with the response and its byte order.
    pub(crate) fn request(&self, body: Vec<u8>) -> Result<BoxFuture<'static, Result<(Bytes, Encoding)>>> {
        self.shared.request(body)
    }
}

impl IsAvailablePollable for RawClient {
    fn available(&self) -> BoxFuture<'static, Result<()>> {
        available(Arc::downgrade(&self.shared)).boxed()
    }
}

impl Shared {
    fn start(reader: Arc<Reader>, writer: Arc<Writer>, background: &Background) -> (Arc<Self>, Task) {
        let mapping = match dragoman_time::variable("RMW_IMPLEMENTATION") {
            Some(name) if name.contains("cyclonedds") => Mapping::Header,
            _ => Mapping::RelatedIdentity,
        };
        let client_id = client_id(&writer.guid());
        let (last_sequence, pending) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Self { reader, writer, mapping, client_id, last_sequence, pending });
        let (replies, client) = (Arc::clone(&shared.reader), Arc::downgrade(&shared));
        let local_client = Weak::clone(&client);
        replies.hand_local_to(move |sample| {
            if let Some(client) = local_client.upgrade() {
                client.dispatch(sample);
            }
        });
        let listening = background.spawner().spawn_owned(async move {
            loop {
                let sample = std::future::poll_fn(|task| replies.poll_take(task)).await;
                let Some(client) = client.upgrade() else { return };
                client.dispatch(sample);
            }
        });
        (shared, listening)
    }

    /// Sends a request; the future resolves with the serialized response.
    fn request(&self, body: Vec<u8>) -> Result<BoxFuture<'static, Result<(Bytes, Encoding)>>> {
        let answer = self.send(body)?;
        let skipped = if self.mapping == Mapping::Header { HEADER_LENGTH } else { 0 };
        Ok(Box::pin(async move {
            let sample = answer.await.map_err(|_canceled| Error::RCL_RET_CLIENT_INVALID)?;
            let mut body = sample.payload;
            Ok((body.split_off(skipped.min(body.len())), sample.encoding))
        }))
    }

    fn send(&self, body: Vec<u8>) -> Result<oneshot::Receiver<Sample>> {
        let (answer, receiver) = oneshot::channel();
        let mut last_sequence = self.last_sequence.lock();
        self.pending.lock().early = Some(VecDeque::new());
        let next = *last_sequence + 1;
        let written = match self.mapping {
            Mapping::RelatedIdentity => {
                let reply_to = SampleId { writer: self.reader.guid(), sequence: SampleId::UNKNOWN_SEQUENCE };
                self.writer.write(body, Some(reply_to))
            }
            Mapping::Header => {
                let header = [self.client_id, next.to_le_bytes()].concat();
                let written = self.writer.write([header, body].concat(), None);
                written.map(|id| SampleId { sequence: next, ..id })
            }
        };
        let mut pending = self.pending.lock();
        let early = pending.early.take().unwrap_or_default();
        let SampleId { writer, sequence } = written?;
        *last_sequence = sequence;
        pending.expect(sequence, Asked { writer, answer });
        for (request, sample) in early {
            pending.settle(&self.reader.guid(), request, sample);
        }
        Ok(receiver)
    }

    fn dispatch(&self, sample: Sample) {
        let request = match self.mapping {
            Mapping::RelatedIdentity => sample.related,
            Mapping::Header => sample.payload.split_first_chunk::<HEADER_LENGTH>().and_then(|(header, _)| {
                let (client, sequence) = header.split_first_chunk::<8>()?;
                let sequence = i64::from_le_bytes(*sequence.first_chunk()?);
                (*client == self.client_id).then(|| SampleId { writer: self.reader.guid(), sequence })
            }),
        };
        // Replies to other clients of the service arrive here as well.
        if let Some(request) = request {
            self.pending.lock().settle(&self.reader.guid(), request, sample);
        }
    }
}

impl Pending {
    fn expect(&mut self, sequence: i64, asked: Asked) {
        self.asked.retain(|_, asked| !asked.answer.is_canceled());
        if self.asked.len() >= MAX_PENDING {
            let oldest = self.asked.keys().min().copied();
            oldest.map(|oldest| self.asked.remove(&oldest));
        }
        self.asked.insert(sequence, asked);
    }

    /// Delivers a response to its waiting request. `request` contains the client's `reader`, or the writer of the
    /// request.
    fn settle(&mut self, reader: &Guid, request: SampleId, sample: Sample) {
        let names_us = |asked: &Asked| request.writer == *reader || request.writer == asked.writer;
        if self.asked.get(&request.sequence).is_some_and(names_us) {
            if let Some(asked) = self.asked.remove(&request.sequence) {
                let _ = asked.answer.send(sample);
            }
        } else if let Some(early) = &mut self.early {
            if early.len() >= MAX_PENDING {
                early.pop_front();
            }
            early.push_back((request, sample));
        }
    }
}

impl<T> Client<T> {
    /// Resolves when the server has been missing for a while: it has ended, or is unreachable.
    pub(crate) fn server_lost(&self) -> impl Future<Output = ()> + Send + use<T> {
        server_lost(Arc::downgrade(&self.shared))
    }
}

async fn server_lost(client: Weak<Shared>) {
    let mut missed = 0;
    while missed < LOST_AFTER {
        precise_sleep(SERVER_REVIEW_PERIOD).await;
        let Some(client) = client.upgrade() else { return };
        missed = if client.writer.matched() == 0 { missed + 1 } else { 0 };
    }
}

/// Polling interval for the server, and number of polls it must be missing: its writers may be recreated.
const SERVER_REVIEW_PERIOD: Duration = Duration::from_millis(250);
const LOST_AFTER: u32 = 4;

/// The bytes of a GUID that differ within the network.
fn client_id(guid: &Guid) -> [u8; 8] {
    let mut id = [0; 8];
    id[..4].copy_from_slice(&guid[8..12]);
    id[4..].copy_from_slice(&guid[12..]);
    id.iter_mut().zip(&guid[..8]).for_each(|(byte, other)| *byte ^= other);
    id
}

/// Clients that can wait for their server.
pub trait IsAvailablePollable {
    /// Resolves when the server exists and can respond.
    fn available(&self) -> BoxFuture<'static, Result<()>>;
}

impl<T> IsAvailablePollable for Client<T> {
    fn available(&self) -> BoxFuture<'static, Result<()>> {
        available(Arc::downgrade(&self.shared)).boxed()
    }
}

async fn available(client: Weak<Shared>) -> Result<()> {
    loop {
        let client = client.upgrade().ok_or(Error::RCL_RET_CLIENT_INVALID)?;
        let settled = client.writer.matched_for().is_some_and(|time| time >= MATCH_SETTLE_TIME);
        if settled && client.reader.matched() > 0 {
            return Ok(());
        }
        drop(client);
        precise_sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
    use super::*;
    use crate::std_srvs::srv::SetBool;
    use futures::StreamExt;
    use futures::executor::block_on;

    const TIME_LIMIT: Duration = Duration::from_secs(20);

    fn request(data: bool) -> SetBool::Request {
        SetBool::Request { data }
    }

    /// Like a remote server that does not acknowledge: the next request waits, but a response to an earlier one does
    /// not.
    #[test]
    fn a_response_does_not_wait_for_the_next_request_to_be_written() {
        let discovery = Discovery { domain_id: 93, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "client", "").unwrap();
        let mut served =
            node.create_service::<SetBool::Service>("switch", QosProfile::services_default()).unwrap();
        let client =
            node.create_client::<SetBool::Service>("switch", QosProfile::services_default()).unwrap();
        let client = Arc::new(client);
        let first = client.request(&request(true)).unwrap();
        let asked = block_on(served.next()).unwrap();
        let stalled = client.shared.writer.stall();
        let next = std::thread::spawn({
            let client = Arc::clone(&client);
            move || client.request(&request(false)).map(|_answer| ())
        });
        // The request is being written.
        let start = std::time::Instant::now();
        while client.shared.last_sequence.try_lock().is_some() {
            assert!(start.elapsed() < TIME_LIMIT);
            std::thread::sleep(Duration::from_millis(1));
        }
        let (done, answered) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            asked.respond(SetBool::Response { success: true, ..Default::default() }).unwrap();
            done.send(()).unwrap();
        });
        assert!(answered.recv_timeout(TIME_LIMIT).is_ok(), "the service's thread waits for the request");
        assert!(block_on(first).unwrap().success);
        drop(stalled);
        next.join().unwrap().unwrap();
    }

    fn sample() -> Sample {
        let id = SampleId { writer: [0; 16], sequence: 0 };
        let encoding = cdr::Encoding::LittleEndian;
        Sample { payload: Vec::new().into(), encoding, id, related: None, source_time: None }
    }

    #[test]
    fn an_answer_that_comes_while_its_request_is_written_is_kept() {
        let (reader, writer) = ([1; 16], [2; 16]);
        for named in [reader, writer] {
            let (answer, mut receiver) = oneshot::channel();
            let mut pending = Pending { early: Some(VecDeque::new()), ..Default::default() };
            pending.settle(&reader, SampleId { writer: named, sequence: 7 }, sample());
            pending.settle(&reader, SampleId { writer: [3; 16], sequence: 7 }, sample());
            let early = pending.early.take().unwrap();
            assert_eq!(early.len(), 2);
            pending.expect(7, Asked { writer, answer });
            for (request, sample) in early.into_iter().rev() {
                // A response for another client does not count.
                assert!(receiver.try_recv().unwrap().is_none());
                pending.settle(&reader, request, sample);
            }
            assert!(receiver.try_recv().unwrap().is_some());
        }
    }
}
