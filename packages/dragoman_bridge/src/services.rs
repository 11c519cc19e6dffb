//! Tables of services, one row per service. Both sides of a protocol use one table: the server side calls the services,
//! the client side offers them.

use std::any::Any;
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, SelectAll, StreamExt};

/// A conversion between a service and a protocol.
pub type Convert<From, To> = Arc<dyn Fn(From) -> To + Send + Sync>;

/// A service, and the conversions between it and a protocol, whose cores know calls `C` and their outcomes `O`.
pub struct Service<S: WrappedServiceTypeSupport, C, O> {
    /// Its name in the namespace of the protocol's node.
    pub name: &'static str,
    /// The request for a call. Error: the outcome for a call that the service cannot represent, or that belongs to
    /// another row.
    pub request: Convert<C, Result<S::Request, O>>,
    /// The call for a request. Error: why the request is invalid.
    pub call: Convert<S::Request, Result<C, String>>,
    /// The outcome in a response.
    pub outcome: Convert<S::Response, O>,
    /// The response for an outcome, or for the reason of a failure.
    pub response: Convert<Result<O, String>, S::Response>,
}

/// A row of a table: the [`Service`] with this name and these conversions.
pub(crate) fn row<S, C, O>(
    name: &'static str,
    request: impl Fn(C) -> Result<S::Request, O> + Send + Sync + 'static,
    call: impl Fn(S::Request) -> Result<C, String> + Send + Sync + 'static,
    outcome: impl Fn(S::Response) -> O + Send + Sync + 'static,
    response: impl Fn(Result<O, String>) -> S::Response + Send + Sync + 'static,
) -> Box<dyn ServiceRow<C, O>>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
    C: 'static,
    O: Send + 'static,
{
    Box::new(Service::<S, C, O> {
        name,
        request: Arc::new(request),
        call: Arc::new(call),
        outcome: Arc::new(outcome),
        response: Arc::new(response),
    })
}

/// A row of the table: a [`Service`] of any type.
pub trait ServiceRow<C, O>: Any {
    /// Name of the service.
    fn name(&self) -> &'static str;

    /// Offers the service in the namespace of `node`.
    ///
    /// # Errors
    /// Those of the middleware.
    fn offer(&self, node: &mut Node, complete: Option<Complete>) -> Result<BoxStream<'static, Asked<C, O>>>;

    /// Creates a client of the service in the namespace of `node`.
    ///
    /// # Errors
    /// Those of the middleware.
    fn connect(&self, node: &mut Node) -> Result<Box<dyn Caller<C, O>>>;

    /// Converts a call to a request and back. Errors: as [`Service::request`] and [`Service::call`].
    #[doc(hidden)]
    fn call_there_and_back(&self, call: C) -> Result<Result<C, String>, O>;

    /// Converts an outcome to a response and back.
    #[doc(hidden)]
    fn outcome_there_and_back(&self, outcome: Result<O, String>) -> O;
}

/// Completes a response with data that the protocol does not transmit, such as the time.
pub type Complete = Arc<dyn Fn(&mut dyn Any) + Send + Sync>;

/// A request of a ROS client, and how to answer it.
pub struct Asked<C, O> {
    /// The call. Error: why the request is invalid.
    pub call: Result<C, String>,
    /// Answers with the outcome, or with the reason of a failure.
    pub respond: Respond<O>,
}

/// Answers a request of a ROS client.
pub type Respond<O> = Box<dyn FnOnce(Result<O, String>) + Send>;

/// A client of a service of any type.
pub trait Caller<C, O>: Send + Sync {
    /// Sends a request; the future resolves with the outcome. The error is the middleware's reason.
    fn ask(&self, call: C) -> BoxFuture<'static, Result<O, String>>;

    /// Resolves with `true` when the service is available, with `false` on an error.
    fn find(&self) -> BoxFuture<'static, bool>;
}

/// Offers all services of a table in the namespace of `node`.
pub(crate) fn offer<C: 'static, O: 'static>(
    node: &mut Node,
    rows: &[Box<dyn ServiceRow<C, O>>],
    complete: Option<&Complete>,
) -> Result<SelectAll<BoxStream<'static, Asked<C, O>>>> {
    rows.iter().map(|row| row.offer(node, complete.cloned())).collect()
}

/// Clients of all services of a table, by the names of the services.
pub(crate) struct Callers<C, O>(BTreeMap<&'static str, Box<dyn Caller<C, O>>>);

impl<C: 'static, O: 'static> Callers<C, O> {
    /// Creates the clients in the namespace of `node`.
    pub(crate) fn new(node: &mut Node, rows: &[Box<dyn ServiceRow<C, O>>]) -> Result<Self> {
        rows.iter().map(|row| Ok((row.name(), row.connect(node)?))).collect::<Result<_>>().map(Self)
    }

    /// The names of the services.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Sends a request to the service of this name; the future resolves with the outcome.
    pub(crate) fn ask(&self, service: &str, call: C) -> BoxFuture<'static, Result<O, String>>
    where
        O: Send + 'static,
    {
        match self.0.get(service) {
            Some(caller) => caller.ask(call),
            None => ready(Err(format!("there is no service {service}"))).boxed(),
        }
    }
}

impl<S, C, O> ServiceRow<C, O> for Service<S, C, O>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
    C: 'static,
    O: Send + 'static,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn offer(&self, node: &mut Node, complete: Option<Complete>) -> Result<BoxStream<'static, Asked<C, O>>> {
        let (name, call, response) = (self.name, self.call.clone(), self.response.clone());
        let requests = node.create_service::<S>(name, QosProfile::services_default())?;
        let asked = requests.map(move |request| {
            let (complete, response) = (complete.clone(), response.clone());
            let call = call(request.message.clone());
            let respond = move |result| {
                let mut response = response(result);
                if let Some(complete) = complete {
                    complete(&mut response);
                }
                if let Err(error) = request.respond(response) {
                    tracing::warn!(%error, service = name, "sending a response failed");
                }
            };
            Asked { call, respond: Box::new(respond) }
        });
        Ok(asked.boxed())
    }

    fn connect(&self, node: &mut Node) -> Result<Box<dyn Caller<C, O>>> {
        let client = node.create_client::<S>(self.name, QosProfile::services_default())?;
        Ok(Box::new(ServiceCaller { request: self.request.clone(), outcome: self.outcome.clone(), client }))
    }

    fn call_there_and_back(&self, call: C) -> Result<Result<C, String>, O> {
        (self.request)(call).map(|request| (self.call)(request))
    }

    fn outcome_there_and_back(&self, outcome: Result<O, String>) -> O {
        (self.outcome)((self.response)(outcome))
    }
}

struct ServiceCaller<S: WrappedServiceTypeSupport, C, O> {
    request: Convert<C, Result<S::Request, O>>,
    outcome: Convert<S::Response, O>,
    client: Client<S>,
}

impl<S, C, O> Caller<C, O> for ServiceCaller<S, C, O>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
    O: Send + 'static,
{
    fn ask(&self, call: C) -> BoxFuture<'static, Result<O, String>> {
        let request = match (self.request)(call) {
            Ok(request) => request,
            Err(outcome) => return ready(Ok(outcome)).boxed(),
        };
        let outcome = self.outcome.clone();
        match self.client.request(&request) {
            Ok(answer) => answer
                .map(move |answer| {
                    answer.map(|response| outcome(response)).map_err(|error| error.to_string())
                })
                .boxed(),
            Err(error) => ready(Err(error.to_string())).boxed(),
        }
    }

    fn find(&self) -> BoxFuture<'static, bool> {
        match Node::is_available(&self.client) {
            Ok(available) => available.map(|found| found.is_ok()).boxed(),
            Err(_) => ready(false).boxed(),
        }
    }
}
