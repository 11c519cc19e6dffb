//! Endpoints of types known at run time, on r2r.

use futures::future::BoxFuture;
use futures::{FutureExt, Stream};

use super::Body;
use crate::{Error, Node, QosProfile, Result};

/// Publishes serialized messages.
#[derive(Clone)]
pub struct Publisher(r2r::PublisherUntyped);

impl Publisher {
    /// Publishes a message, CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// The node is gone; an error of rcl.
    pub fn publish(&self, data: &[u8]) -> Result<()> {
        self.0.publish_raw(data)
    }
}

/// A publisher of messages of `topic_type`.
///
/// # Errors
/// As `Node::create_publisher`; a type whose package is not built into the program.
pub fn create_publisher(
    node: &mut Node,
    topic: &str,
    topic_type: &str,
    qos: QosProfile,
) -> Result<Publisher> {
    node.create_publisher_untyped(topic, topic_type, qos).map(Publisher)
}

/// Removes a publisher from its node.
pub fn destroy_publisher(node: &mut Node, publisher: Publisher) {
    node.destroy_publisher_untyped(publisher.0);
}

/// A client of one service.
pub struct Client(r2r::ClientUntyped);

impl Client {
    /// Sends a request; the future resolves with the response. There is no timeout: callers add one.
    ///
    /// # Errors
    /// A request that is not JSON; the node is gone; an error of rcl.
    pub fn request(&self, request: Body) -> Result<BoxFuture<'static, Result<Body>>> {
        let Body::Json(request) = request else {
            return Err(Error::SerdeError { err: "a request is not JSON".to_owned() });
        };
        Ok(self.0.request(request)?.map(|answer| answer.and_then(|inner| inner).map(Body::Json)).boxed())
    }

    /// Resolves when the service is available.
    ///
    /// # Errors
    /// The client has been dropped.
    pub fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        Ok(r2r::Node::is_available(&self.0)?.boxed())
    }

    /// Whether a server is there now: always false, since r2r has no such question without waiting.
    pub fn is_available_now(&self) -> bool {
        false
    }
}

/// A client of `service`.
///
/// # Errors
/// As `Node::create_client`; a type whose package is not built into the program.
pub fn create_client(node: &mut Node, service: &str, service_type: &str) -> Result<Client> {
    node.waits();
    node.create_client_untyped(service, service_type, QosProfile::services_default()).map(Client)
}

/// A serialized request waiting for its response.
pub struct Request {
    /// CDR with its four bytes of encapsulation header.
    pub data: Vec<u8>,
}

impl Request {
    /// Sends the response.
    ///
    /// # Errors
    /// Always: r2r has no servers of types known at run time.
    pub fn respond(self, _data: &[u8]) -> Result<()> {
        Err(Error::RCL_RET_UNSUPPORTED)
    }
}

/// Offers `service`.
///
/// # Errors
/// Always: r2r has no servers of types known at run time.
pub fn create_service(
    _node: &mut Node,
    _service: &str,
    _service_type: &str,
) -> Result<impl Stream<Item = Request> + Send + Unpin + use<>> {
    Err::<futures::stream::Pending<Request>, _>(Error::RCL_RET_UNSUPPORTED)
}
