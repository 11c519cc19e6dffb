//! Endpoints of types known at run time, embedded.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};

use super::Body;
use crate::embedded::IsAvailablePollable;
use crate::embedded::cdr::Encoding;
use crate::embedded::client::RawClient;
use crate::embedded::dds::Writer;
use crate::embedded::service::{RawRequest, RawServer};
use crate::{Error, Node, QosProfile, Result};

/// Publishes serialized messages.
#[derive(Clone)]
pub struct Publisher {
    writer: Arc<Writer>,
}

impl Publisher {
    /// Publishes a message, CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// Not little-endian CDR; reliable readers that do not keep up.
    pub fn publish(&self, data: &[u8]) -> Result<()> {
        self.writer.write(body(data)?, None).map(|_id| ())
    }
}

/// A publisher of messages of `topic_type`.
///
/// # Errors
/// As `Node::create_publisher`.
pub fn create_publisher(
    node: &mut Node,
    topic: &str,
    topic_type: &str,
    qos: QosProfile,
) -> Result<Publisher> {
    Ok(Publisher { writer: node.topic_writer(topic, topic_type, qos)? })
}

/// Removes a publisher from its node.
pub fn destroy_publisher(_node: &mut Node, publisher: Publisher) {
    drop(publisher);
}

/// A client of one service.
pub struct Client {
    client: RawClient,
}

impl Client {
    /// Sends a request; the future resolves with the response. There is no timeout: callers add one.
    ///
    /// # Errors
    /// Not little-endian CDR; an error of the middleware.
    pub fn request(&self, request: Body) -> Result<BoxFuture<'static, Result<Body>>> {
        let Body::Cdr(data) = request else { return Err(invalid("a request is not CDR")) };
        let answer = self.client.request(body(&data)?)?;
        Ok(answer
            .map(|answer| answer.map(|(body, encoding)| Body::Cdr(with_header(&body, encoding))))
            .boxed())
    }

    /// Resolves when the service is available.
    ///
    /// # Errors
    /// The future's: the client has been dropped.
    pub fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        Ok(self.client.available())
    }

    /// Whether a server is there now. On r2r always false.
    pub fn is_available_now(&self) -> bool {
        matches!(self.client.available().now_or_never(), Some(Ok(())))
    }
}

/// A client of `service`.
///
/// # Errors
/// As `Node::create_client`.
pub fn create_client(node: &mut Node, service: &str, service_type: &str) -> Result<Client> {
    let types = [format!("{service_type}_Request"), format!("{service_type}_Response")];
    let [request, response] = &types;
    let (reader, writer) =
        node.client_endpoints(service, [request, response], &QosProfile::services_default())?;
    Ok(Client { client: RawClient::new(reader, writer, node.context().background()) })
}

/// A serialized request waiting for its response.
pub struct Request {
    /// CDR with its four bytes of encapsulation header.
    pub data: Vec<u8>,
    request: RawRequest,
}

impl Request {
    /// Sends the response, CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// Not little-endian CDR; an error of the middleware.
    pub fn respond(self, data: &[u8]) -> Result<()> {
        self.request.respond(body(data)?)
    }
}

/// Offers `service`: a stream of requests.
///
/// # Errors
/// As `Node::create_service`.
pub fn create_service(
    node: &mut Node,
    service: &str,
    service_type: &str,
) -> Result<impl Stream<Item = Request> + Send + Unpin + use<>> {
    let types = [format!("{service_type}_Request"), format!("{service_type}_Response")];
    let [request, response] = &types;
    let (reader, writer) =
        node.server_endpoints(service, [request, response], &QosProfile::services_default())?;
    Ok(RawServer::new(reader, writer).map(|mut request| {
        let body = std::mem::take(&mut request.body);
        Request { data: with_header(&body, request.encoding), request }
    }))
}

/// A message without its encapsulation header, padded: see `cdr::to_bytes`.
fn body(data: &[u8]) -> Result<Vec<u8>> {
    match data.split_first_chunk() {
        Some(([0, 1, _, _], body)) => {
            let mut padded = Vec::with_capacity(body.len().next_multiple_of(4));
            padded.extend_from_slice(body);
            padded.resize(body.len().next_multiple_of(4), 0);
            Ok(padded)
        }
        _ => Err(invalid("a message is not little-endian CDR")),
    }
}

fn with_header(body: &Bytes, encoding: Encoding) -> Vec<u8> {
    let header = match encoding {
        Encoding::BigEndian => [0, 0, 0, 0],
        Encoding::LittleEndian => [0, 1, 0, 0],
    };
    [header.as_slice(), body].concat()
}

fn invalid(reason: &str) -> Error {
    Error::SerdeError { err: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use crate::embedded::{Arguments, Context, Discovery, DiscoveryRange};
    use crate::introspection::Introspection;
    use crate::std_srvs::srv::SetBool;
    use crate::{WrappedTypesupport, std_msgs};

    fn node() -> Node {
        let discovery = Discovery { domain_id: 91, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        Node::create(context, "node", "/raw").unwrap()
    }

    #[test]
    fn messages_of_types_known_at_run_time_are_those_of_typed_endpoints() {
        let mut node = node();
        let mut typed = node.subscribe::<std_msgs::msg::String>("text", QosProfile::default()).unwrap();
        let publisher =
            create_publisher(&mut node, "text", "std_msgs/msg/String", QosProfile::default()).unwrap();
        let message = std_msgs::msg::String { data: "a".into() };
        publisher.publish(&message.to_serialized_bytes().unwrap()).unwrap();
        assert_eq!(block_on(typed.next()).unwrap(), message);
        for wrong in [&[][..], &[0, 1, 0], &[0, 0, 0, 0, 1, 0, 0, 0, 0]] {
            assert!(publisher.publish(wrong).is_err());
        }
    }

    #[test]
    fn services_of_types_known_at_run_time_answer_each_other() {
        let mut node = node();
        let mut requests = create_service(&mut node, "switch", "std_srvs/srv/SetBool").unwrap();
        let client = create_client(&mut node, "switch", "std_srvs/srv/SetBool").unwrap();
        let typed = node.create_client::<SetBool::Service>("switch", QosProfile::services_default()).unwrap();
        let sent = SetBool::Request { data: true };
        let answer = client.request(Body::Cdr(sent.to_serialized_bytes().unwrap())).unwrap();
        let typed_answer = typed.request(&sent).unwrap();
        let expected = SetBool::Response { success: true, message: "on".into() };
        let bytes = expected.to_serialized_bytes().unwrap();
        for _ in 0..2 {
            let request = block_on(requests.next()).unwrap();
            assert_eq!(SetBool::Request::from_serialized_bytes(&request.data).unwrap(), sent);
            request.respond(&bytes).unwrap();
        }
        assert_eq!(block_on(answer).unwrap(), Body::Cdr(bytes));
        assert_eq!(block_on(typed_answer).unwrap(), expected);
    }

    #[test]
    fn the_graph_has_nodes_topics_and_services() {
        let mut node = node();
        let mut introspection = Introspection::new(&mut node).unwrap();
        let _publisher =
            create_publisher(&mut node, "text", "std_msgs/msg/String", QosProfile::default()).unwrap();
        let _subscription = node.subscribe::<std_msgs::msg::Bool>("/flag", QosProfile::default()).unwrap();
        let _service = create_service(&mut node, "switch", "std_srvs/srv/SetBool").unwrap();
        let graph = introspection.graph(&node).unwrap();
        let names = |endpoints: &[crate::introspection::Endpoint]| {
            endpoints
                .iter()
                .map(|endpoint| (endpoint.name.clone(), endpoint.type_name.clone(), endpoint.node.clone()))
                .collect::<Vec<_>>()
        };
        let own = |name: &str, of: &str| (name.to_owned(), of.to_owned(), Some("/raw/node".to_owned()));
        assert_eq!(graph.nodes, ["/raw/node".to_owned()].into());
        assert_eq!(names(&graph.publishers), [own("/raw/text", "std_msgs/msg/String")]);
        assert_eq!(names(&graph.subscriptions), [own("/flag", "std_msgs/msg/Bool")]);
        assert_eq!(names(&graph.services), [own("/raw/switch", "std_srvs/srv/SetBool")]);
        assert_eq!(graph.topic_types("/flag"), ["std_msgs/msg/Bool"].into());
    }
}
