//! [`Command`]s as requests to the platform's services.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman_ros::{Node, Result};
use futures::future::{BoxFuture, FutureExt};
use parking_lot::Mutex;

use crate::clock;
use crate::neobotix::services::{PlatformServiceRow, rows};
use crate::neobotix::wire::{Command, CommandKind};
use crate::neobotix::{Outcome, Refusal, ServerConfig, Session};
use crate::services::Caller;
use crate::tcp::server::Services;

/// How long the client searches for a service that was absent. After a failed search, calls are refused at once for the
/// same time, so that commands do not accumulate and act later, unexpectedly.
const SEARCH_TIME: Duration = Duration::from_secs(1);

/// Clients of all services of a platform.
pub(super) struct PlatformClients {
    endpoints: BTreeMap<&'static str, Endpoint>,
    timeout: Duration,
    /// When a service was last not found.
    absent: Mutex<Option<Instant>>,
}

/// A service of the platform.
struct Endpoint {
    caller: Box<dyn Caller<Command, Outcome>>,
    /// Whether the service was found last time.
    is_known: AtomicBool,
}

impl Endpoint {
    fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    async fn ask(&self, command: Command) -> Outcome {
        match self.caller.ask(command).await {
            Ok(outcome) => {
                self.is_known.store(true, Ordering::Relaxed);
                outcome
            }
            Err(reason) => Outcome::Refused(Refusal::Rejected(reason)),
        }
    }
}

impl PlatformClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node, timeout: Duration) -> Result<Self> {
        let endpoint = |row: &PlatformServiceRow| {
            Ok((row.name(), Endpoint { caller: row.connect(node)?, is_known: AtomicBool::new(false) }))
        };
        let endpoints = rows().iter().map(endpoint).collect::<Result<_>>()?;
        Ok(Self { endpoints, timeout, absent: Mutex::default() })
    }

    /// Waits until the service of `command` is there. `false` on an error.
    pub(super) async fn wait_for(&self, command: CommandKind) -> bool {
        match self.endpoints.get(command.service()) {
            Some(endpoint) => endpoint.is_known() || endpoint.caller.find().await,
            None => false,
        }
    }

    async fn find_service(&self, endpoint: &Endpoint) -> bool {
        let absent = || self.absent.lock();
        if absent().is_some_and(|since| dragoman_time::since(since) < SEARCH_TIME) {
            return false;
        }
        let found = dragoman_time::timeout(SEARCH_TIME, endpoint.caller.find()).await == Ok(true);
        *absent() = if found { None } else { Some(dragoman_time::now()) };
        found
    }
}

impl Services for PlatformClients {
    type Session = Session;
    type CallInfo = CommandKind;

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

    fn call_info(command: &Command) -> CommandKind {
        command.kind()
    }

    fn call(self: &Arc<Self>, command: Command) -> BoxFuture<'static, Outcome> {
        let platform = Arc::clone(self);
        async move {
            let Some(endpoint) = platform.endpoints.get(command.kind().service()) else {
                return Outcome::Refused(Refusal::NotConnected);
            };
            if endpoint.is_known() || platform.find_service(endpoint).await {
                endpoint.ask(command).await
            } else {
                Outcome::Refused(Refusal::NotConnected)
            }
        }
        .boxed()
    }

    fn timed_out(&self, command: CommandKind) -> Outcome {
        if let Some(endpoint) = self.endpoints.get(command.service()) {
            endpoint.is_known.store(false, Ordering::Relaxed);
        }
        Outcome::Refused(Refusal::TimedOut)
    }
}
