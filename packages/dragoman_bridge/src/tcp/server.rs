//! Server side of all TCP protocols: ports, their connections, and their `/diagnostics`.

use std::fmt::Display;
use std::io::Result;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dragoman_io::net::{Keepalive, TcpListener, TcpStream};
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::tasks::NodeTasks;
use dragoman_time::{Held, TaskError, Tasks};
use futures::future::BoxFuture;
use parking_lot::Mutex;

use super::{TimeLimit, read, send};
use crate::clients::Clients;
use crate::clock;
use crate::session::{ServerSession, Statistics};

/// Maximum time for which a new client waits for one that has closed already.
const LEAVING_LIMIT: Duration = Duration::from_secs(10);

/// Services that carry out the calls of a protocol's sessions.
pub(crate) trait Services: Send + Sync + 'static {
    /// The protocol's side of a connection.
    type Session: ServerSession<Call: Send, Outcome: Send, Statistics: Send> + Send + 'static;
    /// The part of a call that its timeout outcome needs.
    type CallInfo: Copy + Send;

    /// Name of the protocol.
    const PROTOCOL: &'static str;
    /// Size of a connection's read buffer, bytes.
    const READ_LEN: usize;
    /// Whether a call is awaited after the client's connection is lost.
    const AWAITS_CALLS_OF_LOST_CLIENTS: bool;

    /// The session of a new connection.
    fn session(&self) -> Self::Session;

    /// Time limit of a call.
    fn timeout(&self) -> Duration;

    /// Describes a call in the words of the protocol.
    fn request(call: &Call<Self>) -> String;

    /// The part of a call that its timeout outcome needs.
    fn call_info(call: &Call<Self>) -> Self::CallInfo;

    /// Calls the service; the future resolves with the outcome. It has no time limit of its own.
    fn call(self: &Arc<Self>, call: Call<Self>) -> BoxFuture<'static, Outcome<Self>>;

    /// Outcome of a call that exceeds the time limit.
    fn timed_out(&self, call: Self::CallInfo) -> Outcome<Self>;
}

type Call<S> = <<S as Services>::Session as ServerSession>::Call;
type Outcome<S> = <<S as Services>::Session as ServerSession>::Outcome;
type Counters<S> = <<S as Services>::Session as ServerSession>::Statistics;

/// Serves the connections of a port.
pub(crate) trait Serve: Send + Sync + 'static {
    /// Name of the protocol, in the log and in `/diagnostics`.
    const NAME: &'static str;
    /// Counters of its connections.
    type Statistics: Statistics + Send;

    /// Serves a client until it disconnects.
    fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        keepalive: Keepalive,
        report: Arc<Report<Self::Statistics>>,
        leaving: Leaving,
    ) -> BoxFuture<'static, ()>;
}

/// Serves each connection by an independent session.
impl<S: Services> Serve for S {
    const NAME: &'static str = S::PROTOCOL;
    type Statistics = Counters<S>;

    fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        client: SocketAddr,
        keepalive: Keepalive,
        report: Arc<Report<Counters<S>>>,
        leaving: Leaving,
    ) -> BoxFuture<'static, ()> {
        Box::pin(serve(stream, client, self, keepalive, report, leaving))
    }
}

/// Counts the clients of a port that have closed their connection while their last requests are carried out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaving(Arc<AtomicUsize>);

impl Leaving {
    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Counts a client until the returned value is dropped.
    fn begin(&self) -> LeavingClient {
        self.0.fetch_add(1, Ordering::Relaxed);
        LeavingClient(self.clone())
    }
}

/// A counted client.
struct LeavingClient(Leaving);

impl Drop for LeavingClient {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The ports of a protocol. Clones share the report.
pub(crate) struct Ports<S> {
    pub(crate) services: Arc<S>,
    pub(crate) keepalive: Keepalive,
    /// Maximum number of clients of a port; additional connections are refused.
    pub(crate) max_clients: usize,
    /// Grace period for noticing that a client has disconnected when another one is already waiting.
    pub(crate) disconnect_grace: Duration,
    /// Message of `/diagnostics` when connections were refused.
    pub(crate) full: &'static str,
}

impl<S: Serve> Ports<S> {
    /// Serves these ports, and publishes `/diagnostics` about them as `hardware`.
    pub(crate) fn serve(
        self,
        tasks: &mut NodeTasks,
        listeners: Vec<TcpListener>,
        hardware: &str,
    ) -> dragoman_ros::Result<()> {
        let mut diagnostics = Diagnostics::new(tasks.node(), S::NAME, hardware)?;
        let (full, report) = (self.full, Arc::new(Report::<S::Statistics>::default()));
        report.clients.publish(tasks, S::NAME)?;
        let ports = Arc::new(self);
        for listener in listeners {
            let (ports, report) = (Arc::clone(&ports), Arc::clone(&report));
            tasks.spawn(async move {
                if let Err(error) = ports.accept(listener, report).await {
                    tracing::error!(%error, protocol = S::NAME, "server stopped");
                }
            });
        }
        let mut before = Figures::default();
        tasks.every(Duration::from_secs(1), move || {
            let now = report.figures.lock().clone();
            publish(&mut diagnostics, full, &before, &now, &report.clients.addresses());
            before = now;
        })
    }

    async fn accept(&self, listener: TcpListener, report: Arc<Report<S::Statistics>>) -> Result<()> {
        let mut connections = Tasks::new();
        let leaving = Leaving::default();
        let note_end = |ended: std::result::Result<(), TaskError>| {
            if let Err(error) = ended {
                tracing::error!(%error, "connection task failed");
            }
        };
        loop {
            tokio::select! {
                biased;
                Some(ended) = connections.join_next() => note_end(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, client)) => {
                        if connections.len() >= self.max_clients {
                            // One of them may just have disconnected.
                            let ended = dragoman_time::timeout(self.disconnect_grace, connections.join_next()).await;
                            ended.into_iter().flatten().for_each(note_end);
                        }
                        if connections.len() >= self.max_clients && leaving.any() {
                            let ended = dragoman_time::timeout(LEAVING_LIMIT, connections.join_next()).await;
                            ended.into_iter().flatten().for_each(note_end);
                        }
                        if connections.len() < self.max_clients {
                            report.clients.join(client);
                            let (services, report) = (Arc::clone(&self.services), Arc::clone(&report));
                            let listed = Listed { report: Arc::clone(&report), client };
                            let served = services.serve(stream, client, self.keepalive, report, leaving.clone());
                            connections.spawn(async move {
                                let _listed = listed;
                                served.await;
                            });
                        } else {
                            report.figures.lock().refused_connections += 1;
                            let max_clients = self.max_clients;
                            tracing::debug!(%client, max_clients, "connection refused: too many clients");
                        }
                    }
                    Err(error) => {
                        // No file descriptor is left, or the client has already disconnected.
                        tracing::warn!(%error, "accepting a connection failed");
                        dragoman_time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
    }
}

/// Lists a client in the report until it is dropped, at any end of the connection.
struct Listed<T: Statistics> {
    report: Arc<Report<T>>,
    client: SocketAddr,
}

impl<T: Statistics> Drop for Listed<T> {
    fn drop(&mut self) {
        self.report.clients.leave(self.client);
    }
}

/// The call whose outcome is awaited, with its time limit.
struct OpenCall<S: Services> {
    services: Arc<S>,
    call: Option<(S::CallInfo, BoxFuture<'static, Outcome<S>>)>,
    limit: TimeLimit,
}

impl<S: Services> OpenCall<S> {
    fn begin(&mut self, call: Call<S>) {
        self.call = Some((S::call_info(&call), self.services.call(call)));
        self.limit.restart();
    }

    /// Resolves with the outcome, at the time limit at the latest; never without a call.
    async fn end(&mut self) -> Outcome<S> {
        let Some((kind, call)) = &mut self.call else { return std::future::pending().await };
        let outcome = tokio::select! {
            biased;
            // Checked first: an available outcome counts even if the time limit has expired.
            outcome = call => outcome,
            () = self.limit.reached() => self.services.timed_out(*kind),
        };
        self.call = None;
        outcome
    }
}

/// Serves a client until it disconnects.
pub(crate) async fn serve<S: Services>(
    stream: TcpStream,
    client: SocketAddr,
    services: Arc<S>,
    keepalive: Keepalive,
    report: Arc<Report<Counters<S>>>,
    leaving: Leaving,
) {
    let mut session = services.session();
    let limit = TimeLimit::new(services.timeout());
    let mut open = OpenCall { services, call: None, limit };
    if let Err(error) = run(&stream, &mut session, &mut open, keepalive, client, &report, &leaving).await {
        tracing::debug!(%error, %client, protocol = S::PROTOCOL, "client connection lost");
    }
    drop(stream);
    if S::AWAITS_CALLS_OF_LOST_CLIENTS && open.call.is_some() {
        let _left = leaving.begin();
        session.handle_outcome(clock::now(), open.end().await);
    }
    report.add(&mut session);
}

async fn run<S: Services>(
    stream: &TcpStream,
    session: &mut S::Session,
    open: &mut OpenCall<S>,
    keepalive: Keepalive,
    client: SocketAddr,
    report: &Report<Counters<S>>,
    leaving: &Leaving,
) -> Result<()> {
    stream.set_nodelay(true)?;
    stream.acknowledge_quickly();
    stream.set_keepalive(&keepalive)?;
    let mut buffer = vec![0; S::READ_LEN];
    let waiting = Held::new("bytes of answers that wait for clients");
    // Set when the client has closed its direction. Requests received before are carried out.
    let mut left = None;
    loop {
        // Repeated after an answer was sent, because the buffer may have been too full for another answer.
        loop {
            if open.call.is_none()
                && let Some(call) = session.poll_call(clock::now())
            {
                report.asked(client, &S::request(&call));
                open.begin(call);
            }
            let sent = send(stream, session.unsent())?;
            if sent == 0 {
                break;
            }
            session.handle_sent(sent);
        }
        report.add(session);
        waiting.set(session.unsent().len());
        let has_unsent = !session.unsent().is_empty();
        if session.is_closing() || (left.is_some() && open.call.is_none() && !has_unsent) {
            return Ok(());
        }
        tokio::select! {
            biased;
            outcome = open.end() => session.handle_outcome(clock::now(), outcome),
            // All that can be sent was sent, so it is not ready again before the client reads.
            writable = stream.writable(), if has_unsent => writable?,
            read = read(stream, &mut buffer), if left.is_none() && session.wants_input() => match read? {
                0 => left = Some(leaving.begin()),
                len => {
                    session.handle_bytes(clock::now(), buffer.get(..len).unwrap_or_default());
                    stream.acknowledge_quickly();
                }
            },
        }
    }
}

/// Maximum number of addresses of clients in `/diagnostics`.
const MAX_ADDRESSES: usize = 16;

/// The addresses of clients for `/diagnostics`: at most [`MAX_ADDRESSES`], and the number of the others.
pub(crate) fn addresses(clients: &[SocketAddr]) -> String {
    let mut sorted = clients.to_vec();
    sorted.sort();
    let mut shown: Vec<String> = sorted.iter().take(MAX_ADDRESSES).map(SocketAddr::to_string).collect();
    if let Some(more @ 1..) = clients.len().checked_sub(MAX_ADDRESSES) {
        shown.push(format!("and {more} more"));
    }
    shown.join(", ")
}

/// Data of all connections for `/diagnostics`.
#[derive(Debug, Clone, Default)]
struct Figures<T> {
    statistics: T,
    last_refusal: String,
    refused_connections: u64,
}

/// Counters and recent events of all connections.
#[derive(Debug, Default)]
pub(crate) struct Report<T> {
    figures: Mutex<Figures<T>>,
    clients: Clients,
}

impl<T: Statistics> Report<T> {
    /// Records a client's request.
    pub(crate) fn asked(&self, client: SocketAddr, request: &dyn Display) {
        self.clients.request(client, request, 1);
    }

    /// Adds the counters and events of a session.
    fn add(&self, session: &mut impl ServerSession<Statistics = T>) {
        let news = session.poll_statistics();
        self.add_news(news, std::iter::from_fn(|| session.poll_event()));
    }

    /// Adds counters and events.
    pub(crate) fn add_news(&self, news: T, events: impl Iterator<Item: Display>) {
        if news != T::default() {
            self.figures.lock().statistics += news;
        }
        for event in events {
            let text = event.to_string();
            tracing::debug!(reason = text, "request refused");
            self.figures.lock().last_refusal = text;
        }
    }
}

fn publish<T: Statistics>(
    diagnostics: &mut Diagnostics,
    full: &str,
    before: &Figures<T>,
    now: &Figures<T>,
    clients: &[SocketAddr],
) {
    let counters = now.statistics.counters().into_iter().map(|(name, count)| (name, count.to_string()));
    let clients = [("clients", clients.len().to_string()), ("addresses", addresses(clients))];
    let values: Vec<_> = clients
        .into_iter()
        .chain(counters)
        .chain([("connections refused", now.refused_connections.to_string())])
        .collect();
    if now.statistics.refused() > before.statistics.refused() {
        // The log also gets at most one line per second.
        let message = format!("refused: {}", now.last_refusal);
        tracing::warn!(reason = now.last_refusal, "request refused");
        diagnostics.publish(Severity::Warn, &message, &values);
    } else if now.refused_connections > before.refused_connections {
        diagnostics.publish(Severity::Warn, full, &values);
    } else {
        diagnostics.publish(Severity::Ok, "serving", &values);
    }
}

#[cfg(test)]
mod tests;
