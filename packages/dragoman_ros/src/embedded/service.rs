//! Service servers, in the mappings of both middlewares.
//!
//! Fast DDS refers to the request of a reply in the inline QoS `related_sample_identity`; Cyclone DDS puts a 16-byte
//! header (client id, sequence number) before request and reply. A client's mapping is recognized from its request.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{Stream, StreamExt};

use super::cdr;
use super::dds::{Guid, Peer, Reader, Sample, SampleId, Writer};
use super::error::{Error, Result};
use super::{WrappedServiceTypeSupport, WrappedTypesupport};
use crate::service_calls::{OpenCall, RecordedService};
use crate::tasks::warn_unanswered;

/// Length of Cyclone's header before the request or reply data.
pub(crate) const HEADER_LENGTH: usize = 16;

/// How to address the reply.
#[derive(Clone, Debug)]
enum ReplyTo {
    Identity(SampleId),
    Header([u8; HEADER_LENGTH]),
}

/// A request waiting for its response.
#[derive(Clone)]
pub struct ServiceRequest<T: WrappedServiceTypeSupport> {
    /// The request message.
    pub message: T::Request,
    /// For the record of calls; none for the services of actions.
    pub(super) call: Option<OpenCall>,
    sender: RequestSender,
}

/// The sender of a request, and how to respond to it.
#[derive(Clone)]
struct RequestSender {
    reply_to: ReplyTo,
    /// The sample identity of the request.
    asked_by: Guid,
    writer: Arc<Writer>,
}

impl<T: WrappedServiceTypeSupport> ServiceRequest<T> {
    /// Sends the response without waiting. The response to a client that discovery does not find is lost.
    ///
    /// # Errors
    /// A fixed array of a wrong length; an error of the middleware.
    pub fn respond(self, message: T::Response) -> Result<()> {
        let body = cdr::to_bytes(&message)?;
        if let Some(call) = &self.call {
            call.answered(&self.message, &message);
        }
        self.sender.reply(body)
    }

    fn from_sample(sample: &Sample, writer: &Arc<Writer>) -> Result<Self> {
        let (sender, body) = RequestSender::of(sample, writer)?;
        Ok(Self { message: cdr::from_bytes(body, sample.encoding)?, call: None, sender })
    }
}

impl RequestSender {
    /// The sender of a request, and the body of the request.
    fn of<'a>(sample: &'a Sample, writer: &Arc<Writer>) -> Result<(Self, &'a [u8])> {
        let (reply_to, body) = match sample.related {
            Some(related) => {
                // A client may name only its reply reader, without a sequence number: then the request's own number
                // counts.
                let sequence = if related.sequence > 0 { related.sequence } else { sample.id.sequence };
                (ReplyTo::Identity(SampleId { writer: related.writer, sequence }), &sample.payload[..])
            }
            None => {
                let (header, body) = sample.payload.split_first_chunk().ok_or_else(|| Error::SerdeError {
                    err: format!("a request of {} bytes has no header", sample.payload.len()),
                })?;
                (ReplyTo::Header(*header), body)
            }
        };
        Ok((Self { reply_to, asked_by: sample.id.writer, writer: Arc::clone(writer) }, body))
    }

    /// Sends a serialized response.
    fn reply(self, body: Vec<u8>) -> Result<()> {
        const IS_READER: u8 = 0x04;
        match self.reply_to {
            // A request of the Fast DDS mapping names the reader of its response, except for some clients that name
            // their writer.
            ReplyTo::Identity(id) if id.writer[15] & IS_READER == 0 => {
                self.writer.write(body, Some(id)).map(|_id| ())
            }
            ReplyTo::Identity(id) => self.writer.write_to(Peer::Reader(id.writer), body, Some(id)),
            // For Cyclone's mapping, a reader of the client's participant.
            ReplyTo::Header(header) => {
                let body = [header.as_slice(), &body].concat();
                self.writer.write_to(Peer::Beside(self.asked_by), body, None)
            }
        }
    }
}

/// The requests of one service.
pub(crate) struct Server<T> {
    reader: Arc<Reader>,
    writer: Arc<Writer>,
    service: PhantomData<fn() -> T>,
}

impl<T> Server<T> {
    pub(crate) fn new(reader: Arc<Reader>, writer: Arc<Writer>) -> Self {
        Self { reader, writer, service: PhantomData }
    }
}

impl<T: WrappedServiceTypeSupport> Stream for Server<T> {
    type Item = ServiceRequest<T>;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let sample = ready!(self.reader.poll_take(task));
            match ServiceRequest::from_sample(&sample, &self.writer) {
                Ok(request) => return Poll::Ready(Some(request)),
                Err(error) => self.reader.report_malformed(T::Request::TYPE_NAME, &error),
            }
        }
    }
}

/// Takes a serialized request, and returns a future of the serialized response. Errors: a malformed request; a response
/// that cannot be serialized.
pub(crate) type RequestHandler =
    Box<dyn FnMut(&[u8], cdr::Encoding, OpenCall) -> Result<BoxFuture<'static, Result<Vec<u8>>>> + Send>;

/// A handler of requests of service type `T` that calls `act`.
pub(crate) fn request_handler<T, F>(mut act: impl FnMut(T::Request) -> F + Send + 'static) -> RequestHandler
where
    T: WrappedServiceTypeSupport,
    F: Future<Output = T::Response> + Send + 'static,
{
    Box::new(move |body, encoding, call| {
        let request: T::Request = cdr::from_bytes(body, encoding)?;
        let asked = call.is_recorded().then(|| request.clone());
        let answered = act(request);
        Ok(Box::pin(async move {
            let response = answered.await;
            let body = cdr::to_bytes(&response)?;
            if let Some(asked) = asked {
                call.answered(&asked, &response);
            }
            Ok(body)
        }))
    })
}

/// Answers the requests of `service`, up to `limit` at the same time; more wait. Not generic, so that it is compiled once.
pub(crate) async fn answer_all(
    (reader, writer): (Arc<Reader>, Arc<Writer>),
    service: RecordedService,
    limit: usize,
    mut handle: RequestHandler,
) {
    let requests = futures::stream::poll_fn(|task| reader.poll_take(task).map(Some));
    let answered = requests.for_each_concurrent(limit, |sample| {
        let begun = RequestSender::of(&sample, &writer)
            .and_then(|(sender, body)| Ok((sender, handle(body, sample.encoding, service.call())?)));
        let (reader, service) = (&reader, &service);
        async move {
            match begun {
                Err(error) => reader.report_malformed(service.request_type(), &error),
                Ok((sender, answered)) => {
                    if let Err(error) = answered.await.and_then(|body| sender.reply(body)) {
                        warn_unanswered(service.name(), &error);
                    }
                }
            }
        }
    });
    answered.await;
}

/// The serialized requests of one service.
pub(crate) struct RawServer {
    reader: Arc<Reader>,
    writer: Arc<Writer>,
}

/// A serialized request waiting for its response.
pub(crate) struct RawRequest {
    /// Without encapsulation header.
    pub(crate) body: Bytes,
    pub(crate) encoding: cdr::Encoding,
    sender: RequestSender,
}

impl RawServer {
    pub(crate) fn new(reader: Arc<Reader>, writer: Arc<Writer>) -> Self {
        Self { reader, writer }
    }
}

impl RawRequest {
    /// Sends the response, which has no encapsulation header.
    pub(crate) fn respond(self, body: Vec<u8>) -> Result<()> {
        self.sender.reply(body)
    }
}

impl Stream for RawServer {
    type Item = RawRequest;

    fn poll_next(self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let sample = ready!(self.reader.poll_take(task));
            match RequestSender::of(&sample, &self.writer) {
                Ok((sender, body)) => {
                    let body = Bytes::copy_from_slice(body);
                    return Poll::Ready(Some(RawRequest { body, encoding: sample.encoding, sender }));
                }
                Err(error) => self.reader.report_malformed("a request", &error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use futures::executor::block_on;

    use super::*;
    use crate::embedded::dds::Endpoint;
    use crate::embedded::names::dds_type;
    use crate::embedded::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
    use crate::std_srvs::srv::SetBool;

    /// A client whose reader discovery never finds, for example behind a firewall or with hostile intent.
    #[test]
    fn answers_to_a_client_that_is_never_matched_delay_no_others() {
        let discovery =
            Discovery { domain_id: 94, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = || Context::with_options(&discovery, Arguments::default()).unwrap();
        let namespace = format!("/run{}", std::process::id());
        let mut served = Node::create(context(), "server", &namespace).unwrap();
        let mut requests =
            served.create_service::<SetBool::Service>("switch", QosProfile::services_default()).unwrap();

        let client_context = context();
        let type_name = dds_type(SetBool::Request::TYPE_NAME);
        let (topic, qos) = (format!("rq{namespace}/switchRequest"), QosProfile::services_default());
        let endpoint = Endpoint { topic: &topic, type_name: &type_name, type_hash: None, qos: &qos };
        let writer = client_context.participant().writer(endpoint).unwrap();
        let mut reader = client_context.participant().guid();
        reader[12..].copy_from_slice(&[9, 9, 9, 0x04]);
        let reply_to = SampleId { writer: reader, sequence: SampleId::UNKNOWN_SEQUENCE };
        while writer.matched() == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut answering = Duration::ZERO;
        // More than may wait at once. Before, each took 100 ms of this thread, 20 s in total.
        for _ in 0..200 {
            writer.write(vec![1, 0, 0, 0], Some(reply_to)).unwrap();
            let request = block_on(requests.next()).unwrap();
            let start = Instant::now();
            request.respond(SetBool::Response::default()).unwrap();
            answering += start.elapsed();
        }
        assert!(answering < Duration::from_secs(5), "{answering:?}");
    }
}
