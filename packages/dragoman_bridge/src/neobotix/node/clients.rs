//! [`Command`]s as requests to the platform's services.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport};
use futures::future::{BoxFuture, FutureExt};

use crate::clock;
use crate::neobotix::services::{self, Service, Visitor};
use crate::neobotix::wire::{Command, CommandKind};
use crate::neobotix::{Outcome, Refusal, ServerConfig, Session};
use crate::tcp::server::Services;

/// How long the client searches for a service that was absent. After a failed search, calls are refused at once for the
/// same time, so that commands do not accumulate and act later, unexpectedly.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// Clients of all services of a platform.
pub(super) struct PlatformClients {
    endpoints: BTreeMap<CommandKind, Arc<dyn Ask>>,
    timeout: Duration,
    /// When a service was last not found.
    absent: Mutex<Option<Instant>>,
}

/// A service, whatever its type.
trait Ask: Send + Sync {
    /// Whether the service was found last time.
    fn is_known(&self) -> bool;

    /// Notes that the service did not answer.
    fn forget(&self);

    /// Resolves with `true` when the service is available, with `false` on an error.
    fn find(&self) -> BoxFuture<'static, bool>;

    fn ask(self: Arc<Self>, command: Command) -> BoxFuture<'static, Outcome>;
}

struct Endpoint<S: WrappedServiceTypeSupport> {
    service: Service<S>,
    client: Client<S>,
    is_known: AtomicBool,
}

impl<S> Ask for Endpoint<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Send,
{
    fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    fn forget(&self) {
        self.is_known.store(false, Ordering::Relaxed);
    }

    fn find(&self) -> BoxFuture<'static, bool> {
        match Node::is_available(&self.client) {
            Ok(available) => available.map(|found| found.is_ok()).boxed(),
            Err(_) => futures::future::ready(false).boxed(),
        }
    }

    fn ask(self: Arc<Self>, command: Command) -> BoxFuture<'static, Outcome> {
        let rejected = |error: &dyn std::fmt::Display| Outcome::Refused(Refusal::Rejected(error.to_string()));
        async move {
            let request = match self.service.request(command) {
                Ok(request) => request,
                Err(refusal) => return Outcome::Refused(refusal),
            };
            let answer = match self.client.request(&request) {
                Ok(answer) => answer,
                Err(error) => return rejected(&error),
            };
            match answer.await {
                Ok(response) => {
                    self.is_known.store(true, Ordering::Relaxed);
                    self.service.outcome(response)
                }
                Err(error) => rejected(&error),
            }
        }
        .boxed()
    }
}

/// Creates a client for every row.
struct Connecting<'a> {
    node: &'a mut Node,
    endpoints: BTreeMap<CommandKind, Arc<dyn Ask>>,
}

impl Visitor for Connecting<'_> {
    type Error = dragoman_ros::Error;

    fn visit<S>(&mut self, service: Service<S>) -> Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
    {
        let client = self.node.create_client(service.kind.service(), QosProfile::services_default())?;
        let endpoint = Endpoint::<S> { service, client, is_known: AtomicBool::new(false) };
        self.endpoints.insert(service.kind, Arc::new(endpoint));
        Ok(())
    }
}

impl PlatformClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node, timeout: Duration) -> Result<Self> {
        let mut connecting = Connecting { node, endpoints: BTreeMap::new() };
        services::visit(&mut connecting)?;
        Ok(Self { endpoints: connecting.endpoints, timeout, absent: Mutex::default() })
    }

    /// Waits until the service of `command` is there. `false` on an error.
    pub(super) async fn wait_for(&self, command: CommandKind) -> bool {
        match self.endpoints.get(&command) {
            Some(endpoint) => endpoint.is_known() || endpoint.find().await,
            None => false,
        }
    }

    async fn finds(&self, endpoint: &dyn Ask) -> bool {
        let absent = || self.absent.lock().unwrap_or_else(PoisonError::into_inner);
        if absent().is_some_and(|since| dragoman_time::since(since) < SEARCH_TIME) {
            return false;
        }
        let found = dragoman_time::timeout(SEARCH_TIME, endpoint.find()).await == Ok(true);
        *absent() = if found { None } else { Some(dragoman_time::now()) };
        found
    }
}

impl Services for PlatformClients {
    type Session = Session;
    type Kind = CommandKind;

    const PROTOCOL: &'static str = "Neobotix' protocol";
    const READ_LEN: usize = 16_384;
    const AWAITS_CALLS_OF_LOST_CLIENTS: bool = false;

    fn session(&self) -> Session {
        Session::new(ServerConfig::default(), clock::now())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn request(command: &Command) -> String {
        command.kind().to_string()
    }

    fn kind(command: &Command) -> CommandKind {
        command.kind()
    }

    fn call(self: &Arc<Self>, command: Command) -> BoxFuture<'static, Outcome> {
        let platform = Arc::clone(self);
        async move {
            let Some(endpoint) = platform.endpoints.get(&command.kind()) else {
                return Outcome::Refused(Refusal::NotConnected);
            };
            if endpoint.is_known() || platform.finds(endpoint.as_ref()).await {
                Arc::clone(endpoint).ask(command).await
            } else {
                Outcome::Refused(Refusal::NotConnected)
            }
        }
        .boxed()
    }

    fn timed_out(&self, command: CommandKind) -> Outcome {
        if let Some(endpoint) = self.endpoints.get(&command) {
            endpoint.forget();
        }
        Outcome::Refused(Refusal::TimedOut)
    }
}
