//! Tables of services, one row per service. Both sides of a protocol use one table: the server side calls the services,
//! the client side offers them.

use std::collections::BTreeMap;
use std::future::ready;

use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{BoxStream, SelectAll, StreamExt};

/// A protocol with such a table.
pub(crate) trait Protocol: Sized + 'static {
    /// A call of a service, as the protocol's cores know it.
    type Call: Send + 'static;
    type Outcome: Send + 'static;

    /// Passes every row to `visitor`.
    fn visit_services(visitor: &mut impl Visitor<Self>) -> Result<()>;

    /// Passes the rows without a command to `visitor`: only the client side has these services.
    fn visit_further_services(_visitor: &mut impl Visitor<Self>) -> Result<()> {
        Ok(())
    }
}

/// A row: a service, and the conversions between it and the protocol.
pub(crate) struct Service<P: Protocol, S: WrappedServiceTypeSupport> {
    pub(crate) name: &'static str,
    /// The service's request; `None` for a call of another row.
    pub(crate) request: fn(P::Call) -> Option<S::Request>,
    /// The call that a service's request stands for, or why it is invalid.
    pub(crate) call: fn(S::Request) -> Result<P::Call, String>,
    /// The outcome in a response.
    pub(crate) outcome: fn(S::Response) -> P::Outcome,
    /// The response for an outcome, or for the reason of a failure.
    pub(crate) response: fn(Result<P::Outcome, String>) -> S::Response,
}

/// A function over rows of any service type.
pub(crate) trait Visitor<P: Protocol> {
    /// Visits a row.
    fn visit<S>(&mut self, service: Service<P, S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send;
}

/// A request of a ROS client, and how to answer it.
pub(crate) struct Asked<P: Protocol> {
    /// The call, or why the request is invalid.
    pub(crate) call: Result<P::Call, String>,
    /// Answers with the outcome, or with the reason of a failure.
    pub(crate) respond: Respond<P>,
}

/// Answers a request of a ROS client.
pub(crate) type Respond<P> = Box<dyn FnOnce(Result<<P as Protocol>::Outcome, String>) + Send>;

/// Offers all services of a table in the namespace of `node`.
pub(crate) fn offer<P: Protocol>(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Asked<P>>>> {
    let mut offering = Offering { node, requests: SelectAll::new() };
    P::visit_services(&mut offering)?;
    P::visit_further_services(&mut offering)?;
    Ok(offering.requests)
}

struct Offering<'a, P: Protocol> {
    node: &'a mut Node,
    requests: SelectAll<BoxStream<'static, Asked<P>>>,
}

impl<P: Protocol> Visitor<P> for Offering<'_, P> {
    fn visit<S>(&mut self, service: Service<P, S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let Service { name, call, response, .. } = service;
        let requests = self.node.create_service::<S>(name, QosProfile::services_default())?;
        let asked = requests.map(move |request| Asked {
            call: call(request.message.clone()),
            respond: Box::new(move |result| {
                if let Err(error) = request.respond(response(result)) {
                    tracing::warn!(%error, service = name, "sending a response failed");
                }
            }),
        });
        self.requests.push(asked.boxed());
        Ok(())
    }
}

/// The result of a request; the error is the middleware's reason.
type Answer<P> = BoxFuture<'static, Result<<P as Protocol>::Outcome, String>>;

/// Clients of all services of a table, by the names of the services.
pub(crate) struct Clients<P: Protocol>(BTreeMap<&'static str, Box<dyn Ask<P>>>);

impl<P: Protocol> Clients<P> {
    /// Creates the clients in the namespace of `node`.
    pub(crate) fn new(node: &mut Node) -> Result<Self> {
        let mut connecting = Connecting { node, clients: BTreeMap::new() };
        P::visit_services(&mut connecting)?;
        Ok(Self(connecting.clients))
    }

    /// The names of the services.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Sends a request to the service of this name; the future resolves with the outcome.
    pub(crate) fn ask(&self, service: &str, call: P::Call) -> Answer<P> {
        match self.0.get(service) {
            Some(client) => client.ask(call),
            None => ready(Err(format!("there is no service {service}"))).boxed(),
        }
    }
}

/// A client, whatever the type of its service.
trait Ask<P: Protocol>: Send + Sync {
    fn ask(&self, call: P::Call) -> Answer<P>;
}

struct Endpoint<P: Protocol, S: WrappedServiceTypeSupport> {
    service: Service<P, S>,
    client: Client<S>,
}

impl<P, S> Ask<P> for Endpoint<P, S>
where
    P: Protocol,
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn ask(&self, call: P::Call) -> Answer<P> {
        let Some(request) = (self.service.request)(call) else {
            return ready(Err(format!("{} is for another call", self.service.name))).boxed();
        };
        let outcome = self.service.outcome;
        match self.client.request(&request) {
            Ok(answer) => {
                answer.map(move |answer| answer.map(outcome).map_err(|error| error.to_string())).boxed()
            }
            Err(error) => ready(Err(error.to_string())).boxed(),
        }
    }
}

struct Connecting<'a, P: Protocol> {
    node: &'a mut Node,
    clients: BTreeMap<&'static str, Box<dyn Ask<P>>>,
}

impl<P: Protocol> Visitor<P> for Connecting<'_, P> {
    fn visit<S>(&mut self, service: Service<P, S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let client = self.node.create_client::<S>(service.name, QosProfile::services_default())?;
        self.clients.insert(service.name, Box::new(Endpoint { service, client }));
        Ok(())
    }
}
