//! [`Request`]s as requests to the world's services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{Node, Result};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

use crate::apolo::services::rows;
use crate::apolo::wire::Request;
use crate::apolo::{Connection, Outcome, Refusal, ServerConfig};
use crate::services::Callers;
use crate::tcp::server::Services;

/// Maximum number of open requests to one service. A service queues ten (its quality of service) and then drops the
/// oldest; this limit leaves some room for other ROS nodes.
const MAX_OPEN: usize = 8;

/// Clients of all services of a world.
pub(super) struct WorldClients {
    clients: Callers<Request, Outcome>,
    /// How many more requests may be sent now, by service.
    free: BTreeMap<&'static str, Semaphore>,
    timeout: Duration,
    config: ServerConfig,
}

impl WorldClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node, timeout: Duration, config: ServerConfig) -> Result<Self> {
        let clients = Callers::new(node, &rows())?;
        let free = clients.names().map(|name| (name, Semaphore::new(MAX_OPEN))).collect();
        Ok(Self { clients, free, timeout, config })
    }

    async fn ask(&self, request: Request) -> Outcome {
        let service = request.command().ros_name();
        let _permit = match self.free.get(service) {
            Some(free) => free.acquire().await.ok(),
            None => None,
        };
        let answer = self.clients.ask(service, request).await;
        answer.unwrap_or_else(|reason| Outcome::Refused(Refusal::Rejected(reason)))
    }
}

impl Services for WorldClients {
    type Session = Connection;
    type CallInfo = ();

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

    fn request(request: &Request) -> String {
        request.to_string()
    }

    fn call_info(_request: &Request) {}

    fn call(self: &Arc<Self>, request: Request) -> BoxFuture<'static, Outcome> {
        let world = Arc::clone(self);
        async move { world.ask(request).await }.boxed()
    }

    fn timed_out(&self, _request: ()) -> Outcome {
        let reason = format!("the world's service did not answer within {:?}", self.timeout);
        Outcome::Refused(Refusal::Rejected(reason))
    }
}
