//! [`Request`]s as requests to the world's services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

use crate::apolo::services::{self, Service, Visitor};
use crate::apolo::wire::{Command, Request};
use crate::apolo::{Connection, Outcome, Refusal, ServerConfig};
use crate::tcp::server::Services;

/// Maximum number of open requests to one service. A service queues ten (its quality of service) and then drops the
/// oldest; this limit leaves some room for other ROS nodes.
const MAX_OPEN: usize = 8;

/// One service, and how many more requests may be sent now.
struct Endpoint<S: WrappedServiceTypeSupport> {
    service: Service<S>,
    client: Client<S>,
    free: Semaphore,
}

/// A service, whatever its type.
trait Ask: Send + Sync {
    fn ask(&self, request: Request) -> BoxFuture<'_, std::result::Result<Outcome, Refusal>>;
}

impl<S> Ask for Endpoint<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn ask(&self, request: Request) -> BoxFuture<'_, std::result::Result<Outcome, Refusal>> {
        let rejected = |error: &dyn std::fmt::Display| Refusal::Rejected(error.to_string());
        async move {
            let request = (self.service.request)(request).ok_or_else(|| rejected(&"another command"))?;
            let _permit = self.free.acquire().await.map_err(|error| rejected(&error))?;
            let answer = self.client.request(&request).map_err(|error| rejected(&error))?;
            Ok((self.service.outcome)(answer.await.map_err(|error| rejected(&error))?))
        }
        .boxed()
    }
}

/// Clients of all services of a world.
pub(super) struct WorldClients {
    endpoints: BTreeMap<Command, Box<dyn Ask>>,
    timeout: Duration,
    config: ServerConfig,
}

/// Creates a client for every row.
struct Connecting<'a> {
    node: &'a mut Node,
    endpoints: BTreeMap<Command, Box<dyn Ask>>,
}

impl Visitor for Connecting<'_> {
    fn visit<S>(&mut self, service: Service<S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let client = self.node.create_client::<S>(service.name, QosProfile::services_default())?;
        let command = service.command;
        let endpoint = Endpoint { service, client, free: Semaphore::new(MAX_OPEN) };
        self.endpoints.insert(command, Box::new(endpoint));
        Ok(())
    }
}

impl WorldClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node, timeout: Duration, config: ServerConfig) -> Result<Self> {
        let mut connecting = Connecting { node, endpoints: BTreeMap::new() };
        services::visit(&mut connecting)?;
        Ok(Self { endpoints: connecting.endpoints, timeout, config })
    }

    async fn ask(&self, request: Request) -> Outcome {
        let Some(endpoint) = self.endpoints.get(&request.command()) else {
            return Outcome::Refused(Refusal::NotConnected);
        };
        endpoint.ask(request).await.unwrap_or_else(Outcome::Refused)
    }
}

impl Services for WorldClients {
    type Session = Connection;
    type Kind = ();

    const PROTOCOL: &'static str = "Apolo's protocol";
    const READ_LEN: usize = 4096;
    // The service keeps the request in its queue until it answers, so its slot stays occupied until then.
    const AWAITS_CALLS_OF_LOST_CLIENTS: bool = true;

    fn session(&self) -> Connection {
        Connection::new(self.config.clone())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn kind(_request: &Request) {}

    fn call(self: &Arc<Self>, request: Request) -> BoxFuture<'static, Outcome> {
        let world = Arc::clone(self);
        async move { world.ask(request).await }.boxed()
    }

    fn timed_out(&self, _request: ()) -> Outcome {
        let reason = format!("the world's service did not answer within {:?}", self.timeout);
        Outcome::Refused(Refusal::Rejected(reason))
    }
}
