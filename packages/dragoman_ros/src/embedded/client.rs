//! Service clients, in the mapping that `RMW_IMPLEMENTATION` names: Fast DDS's unless it says `rmw_cyclonedds_cpp`.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::BoxFuture;
use futures_timer::Delay;

use super::WrappedServiceTypeSupport;
use super::background::{Background, Task};
use super::cdr;
use super::clock::lock;
use super::dds::{Reader, Sample, SampleId, Writer};
use super::error::{Error, Result};
use super::service::HEADER_LENGTH;

/// Matching is not symmetric: when we see a service, its reply writer may not have seen our reader yet, and a reply sent
/// in that time is lost. By this time it has.
const MATCH_SETTLE_TIME: Duration = Duration::from_millis(300);

/// Answers that are not fetched for this many requests are given up, the oldest first.
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
    pending: Mutex<Pending>,
}

#[derive(Default)]
struct Pending {
    last_sequence: i64,
    answers: HashMap<i64, oneshot::Sender<Sample>>,
}

impl<T: WrappedServiceTypeSupport> Client<T> {
    pub(crate) fn new(reader: Arc<Reader>, writer: Arc<Writer>, background: &Background) -> Self {
        let mapping = match std::env::var("RMW_IMPLEMENTATION") {
            Ok(name) if name.contains("cyclonedds") => Mapping::Header,
            _ => Mapping::RelatedIdentity,
        };
        let shared = Arc::new(Shared { reader, writer, mapping, pending: Mutex::default() });
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
        Self { shared, service: PhantomData, _listening: listening }
    }

    /// Asks; the future resolves with the answer. As in r2r it waits for as long as it takes: bound it with a timeout.
    ///
    /// # Errors
    /// A fixed array of another length than its type says; the middleware's refusal.
    pub fn request(
        &self,
        message: &T::Request,
    ) -> Result<impl Future<Output = Result<T::Response>> + Send + Unpin + use<T>> {
        let answer = self.shared.send(cdr::to_bytes(message)?)?;
        let mapping = self.shared.mapping;
        Ok(Box::pin(async move {
            let sample = answer.await.map_err(|_canceled| Error::RCL_RET_CLIENT_INVALID)?;
            let skipped = if mapping == Mapping::Header { HEADER_LENGTH } else { 0 };
            cdr::from_bytes(sample.payload.get(skipped..).unwrap_or_default(), sample.encoding)
        }))
    }
}

impl Shared {
    fn send(&self, body: Vec<u8>) -> Result<oneshot::Receiver<Sample>> {
        let (sender, receiver) = oneshot::channel();
        // Held while writing, so that no reply can arrive before it is expected.
        let mut pending = lock(&self.pending);
        let sequence = match self.mapping {
            Mapping::RelatedIdentity => {
                let reply_to = SampleId { writer: self.reader.guid(), sequence: SampleId::UNKNOWN_SEQUENCE };
                self.writer.write(body, Some(reply_to))?.sequence
            }
            Mapping::Header => {
                let sequence = pending.last_sequence + 1;
                let header = [self.client_id(), sequence.to_le_bytes()].concat();
                self.writer.write([header, body].concat(), None)?;
                sequence
            }
        };
        pending.last_sequence = sequence;
        pending.answers.retain(|_, answer| !answer.is_canceled());
        if pending.answers.len() >= MAX_PENDING {
            let oldest = pending.answers.keys().min().copied();
            oldest.map(|oldest| pending.answers.remove(&oldest));
        }
        pending.answers.insert(sequence, sender);
        Ok(receiver)
    }

    fn dispatch(&self, sample: Sample) {
        let sequence = match self.mapping {
            Mapping::RelatedIdentity => sample
                .related
                .filter(|id| id.writer == self.reader.guid() || id.writer == self.writer.guid())
                .map(|id| id.sequence),
            Mapping::Header => sample.payload.split_first_chunk::<HEADER_LENGTH>().and_then(|(header, _)| {
                let (client, sequence) = header.split_first_chunk::<8>()?;
                let sequence = i64::from_le_bytes(*sequence.first_chunk()?);
                (*client == self.client_id()).then_some(sequence)
            }),
        };
        // Replies to other clients of the service arrive here as well.
        if let Some(answer) = sequence.and_then(|sequence| lock(&self.pending).answers.remove(&sequence)) {
            let _ = answer.send(sample);
        }
    }

    /// Eight bytes that no other client has: of the request writer's GUID, those that differ within the network.
    fn client_id(&self) -> [u8; 8] {
        let guid = self.writer.guid();
        let mut id = [0; 8];
        id[..4].copy_from_slice(&guid[8..12]);
        id[4..].copy_from_slice(&guid[12..]);
        id.iter_mut().zip(&guid[..8]).for_each(|(byte, other)| *byte ^= other);
        id
    }
}

/// Clients whose server can be waited for.
pub trait IsAvailablePollable {
    /// Resolves when the server is there and ready to answer.
    fn available(&self) -> BoxFuture<'static, Result<()>>;
}

impl<T> IsAvailablePollable for Client<T> {
    fn available(&self) -> BoxFuture<'static, Result<()>> {
        let shared = Arc::downgrade(&self.shared);
        Box::pin(async move {
            loop {
                let client = shared.upgrade().ok_or(Error::RCL_RET_CLIENT_INVALID)?;
                let settled = client.writer.matched_for().is_some_and(|time| time >= MATCH_SETTLE_TIME);
                if settled && client.reader.matched() > 0 {
                    return Ok(());
                }
                drop(client);
                Delay::new(Duration::from_millis(20)).await;
            }
        })
    }
}
