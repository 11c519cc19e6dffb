//! [`ArmCall`]s as requests to the arm's services.

use std::collections::HashMap;
use std::time::Duration;

use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::future::{BoxFuture, FutureExt};

use crate::CallId;
use crate::arm31::services::{self, Service, Visitor};
use crate::arm31::{ArmCall, Outcome, Refusal};

/// How long the answer to a request is awaited; the server core gives up earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// Clients of all services of one arm, by the names of the services.
pub(super) struct ArmClients(HashMap<&'static str, Box<dyn Ask>>);

/// A service, whatever its type.
trait Ask: Send + Sync {
    fn ask(&self, call: &ArmCall) -> Result<BoxFuture<'static, Outcome>>;
}

struct Endpoint<S: WrappedServiceTypeSupport> {
    service: Service<S>,
    client: Client<S>,
}

impl<S> Ask for Endpoint<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn ask(&self, call: &ArmCall) -> Result<BoxFuture<'static, Outcome>> {
        const REJECTED: Outcome = Outcome::Refused(Refusal::Rejected);
        let Some(request) = (self.service.request)(call) else {
            return Ok(std::future::ready(REJECTED).boxed());
        };
        let (answer, outcome) = (self.client.request(&request)?, self.service.outcome);
        Ok(answer.map(move |answer| answer.map_or(REJECTED, outcome)).boxed())
    }
}

/// Creates a client for every row.
struct Connecting<'a> {
    node: &'a mut Node,
    endpoints: HashMap<&'static str, Box<dyn Ask>>,
}

impl Visitor for Connecting<'_> {
    fn visit<S>(&mut self, service: Service<S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let client = self.node.create_client::<S>(service.name, QosProfile::services_default())?;
        self.endpoints.insert(service.name, Box::new(Endpoint { service, client }));
        Ok(())
    }
}

impl ArmClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node) -> Result<Self> {
        let mut connecting = Connecting { node, endpoints: HashMap::new() };
        services::visit(&mut connecting)?;
        Ok(Self(connecting.endpoints))
    }

    /// Calls the service; the future resolves with the outcome.
    pub(super) fn call(&self, id: CallId, call: ArmCall) -> BoxFuture<'static, (CallId, Outcome)> {
        let rejected = || std::future::ready(Outcome::Refused(Refusal::Rejected)).boxed();
        let answer = match self.0.get(call.service()).map(|endpoint| endpoint.ask(&call)) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                tracing::warn!(%error, service = call.service(), "sending a request failed");
                rejected()
            }
            None => rejected(),
        };
        async move {
            let outcome = tokio::time::timeout(ANSWER_TIMEOUT, answer).await;
            (id, outcome.unwrap_or(Outcome::Refused(Refusal::TimedOut)))
        }
        .boxed()
    }
}
