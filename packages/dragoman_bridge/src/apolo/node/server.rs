//! Server side: a TCP port in front of a world's services.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::parameters::{self, Declaration, Parameters, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::Backlog;
use tokio::task::JoinSet;

use super::clients::WorldClients;
use super::{ApoloNodeError, connection};
use crate::apolo::wire::{DEFAULT_PORT, SizeBase};
use crate::apolo::{Connection, ConnectionEvent, ServerConfig, ServerStatistics};

/// Length of the kernel's accept queue.
const BACKLOG: i32 = 1024;

/// Time limit of a service call, s. MATLAB programs wait 5 s for an answer. The limit leaves time for a preceding
/// command that is never answered and may wait for its service just as long.
const SERVICE_TIMEOUT: f64 = 2.0;

/// Open files reserved for the rest of the process.
const OTHER_FILES: u64 = 256;

/// The parameters of the node; `bind` is the default address.
pub fn server_declarations(bind: IpAddr) -> Vec<Declaration> {
    let config = ServerConfig::default();
    let declared = [
        Declaration::new(
            "bind",
            bind.to_string().as_str(),
            "Address of the interface to listen on; 0.0.0.0 is all.",
        ),
        Declaration::new("port", i64::from(DEFAULT_PORT), "TCP port to listen on.")
            .within(Range::Integer { from: 0, to: 65535 }),
        Declaration::new(
            "max_connections",
            1024,
            "Maximum number of connected clients; additional connections are refused.",
        )
        .within(Range::Integer { from: 1, to: 60000 }),
        Declaration::new(
            "size_base",
            256,
            "Base of sizes and counts in answers: 256 for programs since 2018, 255 as in the annex.",
        )
        .within(Range::Integer { from: 255, to: 256 }),
        Declaration::new(
            "move_reply",
            config.move_reply,
            "Answer moves of mobile robots; the oldest clients never read that answer.",
        ),
        Declaration::new(
            "silent_on_unknown",
            config.silent_on_unknown,
            "Do not answer questions about unknown names, as the original; if false, answer F.",
        ),
        Declaration::new("service_timeout", SERVICE_TIMEOUT, "Time limit of a service call, s.")
            .within(Range::Double { from: 0.01, to: 60.0 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// A running server side.
#[derive(Debug)]
pub struct ApoloServer {
    /// The node; it serves while it is polled, and closes all connections when it is dropped.
    pub node: RunningNode,
    /// The address on which it listens.
    pub address: SocketAddr,
}

/// Starts node `apolo` in the world's namespace, listening by default on `bind`.
///
/// # Errors
/// The port is in use; a wrong parameter; an error of the middleware.
pub fn start_server(context: &Context, namespace: &str, bind: IpAddr) -> Result<ApoloServer, ApoloNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo", namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), server_declarations(bind))?;
    tasks.spawn(server);
    let listener = open(&parameters)?;
    let address = listener.local_addr()?;
    let timeout = Duration::from_secs_f64(parameters.value("service_timeout"));
    let world = Arc::new(WorldClients::new(tasks.node(), timeout)?);
    let config = ServerConfig {
        size_base: SizeBase::try_from(parameters.value::<i64>("size_base")).unwrap_or_default(),
        move_reply: parameters.value("move_reply"),
        silent_on_unknown: parameters.value("silent_on_unknown"),
        ..ServerConfig::default()
    };
    let max_connections = usize::try_from(parameters.value::<i64>("max_connections")).unwrap_or(1);
    allow_files(max_connections as u64 + OTHER_FILES);
    let report = Arc::new(Report::default());
    let seen = Arc::clone(&report);
    tasks.spawn(async move {
        if let Err(error) = serve(listener, world, config, max_connections, report).await {
            tracing::error!(%error, "the server of Apolo's protocol has stopped");
        }
    });
    let mut diagnostics = Diagnostics::new(tasks.node(), "Apolo's protocol", &address.to_string())?;
    let mut before = Figures::default();
    tasks.every(Duration::from_secs(1), move || {
        let now = seen.figures();
        publish(&mut diagnostics, &before, &now);
        before = now;
    })?;
    Ok(ApoloServer { node: tasks.start()?, address })
}

fn open(parameters: &Parameters) -> Result<TcpListener, ApoloNodeError> {
    let text: String = parameters.value("bind");
    let ip: IpAddr = text.parse().map_err(|_parse| ApoloNodeError::Address { text })?;
    let port = u16::try_from(parameters.value::<i64>("port")).unwrap_or(DEFAULT_PORT);
    let address = SocketAddr::new(ip, port);
    let opened = TcpListener::bind(address).and_then(|listener| {
        // With the standard library's backlog of 128, some of a thousand clients that connect at once would wait a
        // second.
        nix::sys::socket::listen(&listener, Backlog::new(BACKLOG)?)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    opened.map_err(|source| ApoloNodeError::Bind { address, source })
}

/// Raises the process's limit of open files, as far as the system permits.
fn allow_files(wanted: u64) {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        if soft >= wanted { Ok(()) } else { setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard) }
    });
    if let Err(error) = raised {
        tracing::warn!(%error, wanted, "raising the limit of open files failed");
    }
}

async fn serve(
    listener: TcpListener,
    world: Arc<WorldClients>,
    config: ServerConfig,
    max_connections: usize,
    report: Arc<Report>,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut connections = JoinSet::new();
    loop {
        report.connections.store(connections.len(), Ordering::Relaxed);
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _client)) if connections.len() < max_connections => {
                    let connection = Connection::new(config.clone());
                    let (world, report) = (Arc::clone(&world), Arc::clone(&report));
                    connections.spawn(connection::serve(stream, connection, world, report));
                }
                Ok((_stream, client)) => {
                    report.refused_connections.fetch_add(1, Ordering::Relaxed);
                    tracing::debug!(%client, max_connections, "refused a connection: too many clients");
                }
                Err(error) => {
                    // No file descriptor is left, or the client has already disconnected.
                    tracing::warn!(%error, "accepting a client failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            Some(ended) = connections.join_next() => {
                if let Err(error) = ended {
                    tracing::error!(%error, "a connection task failed");
                }
            }
        }
    }
}

/// Counters and recent events of all connections.
#[derive(Debug, Default)]
pub(super) struct Report {
    statistics: Mutex<ServerStatistics>,
    last_refusal: Mutex<String>,
    connections: AtomicUsize,
    refused_connections: AtomicU64,
}

impl Report {
    /// Adds the counters and events of a connection.
    pub(super) fn add(&self, connection: &mut Connection) {
        let news = connection.take_statistics();
        if news != ServerStatistics::default() {
            *self.statistics.lock().unwrap_or_else(PoisonError::into_inner) += news;
        }
        while let Some(event) = connection.poll_event() {
            let text = match event {
                ConnectionEvent::Refused { request, refusal } => format!("{request}: {refusal}"),
                ConnectionEvent::Malformed { kind } => {
                    format!("frame '{}' is too short for its values", kind.escape_ascii())
                }
                ConnectionEvent::Unknown { kind } => {
                    format!("unknown frame '{}'", kind.escape_ascii())
                }
                ConnectionEvent::Garbage { bytes } => format!("skipped {bytes} bytes outside of frames"),
            };
            tracing::debug!(text, "refused");
            *self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }

    fn figures(&self) -> Figures {
        Figures {
            statistics: *self.statistics.lock().unwrap_or_else(PoisonError::into_inner),
            last_refusal: self.last_refusal.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            connections: self.connections.load(Ordering::Relaxed),
            refused_connections: self.refused_connections.load(Ordering::Relaxed),
        }
    }
}

/// A snapshot of a [`Report`].
#[derive(Debug, Default)]
struct Figures {
    statistics: ServerStatistics,
    last_refusal: String,
    connections: usize,
    refused_connections: u64,
}

impl Figures {
    fn refused(&self) -> u64 {
        let ServerStatistics { refused, malformed, unknown, garbage, .. } = self.statistics;
        refused + malformed + unknown + garbage
    }
}

fn publish(diagnostics: &mut Diagnostics, before: &Figures, now: &Figures) {
    let statistics = &now.statistics;
    let values = [
        ("clients", now.connections.to_string()),
        ("requests", statistics.requests.to_string()),
        ("answers", statistics.answers.to_string()),
        ("refused", statistics.refused.to_string()),
        ("malformed frames", statistics.malformed.to_string()),
        ("unknown frames", statistics.unknown.to_string()),
        ("bytes outside of frames", statistics.garbage.to_string()),
        ("connections refused", now.refused_connections.to_string()),
    ];
    if now.refused_connections > before.refused_connections {
        diagnostics.publish(Severity::Warn, "too many clients", &values);
    } else if now.refused() > before.refused() {
        // The log also gets at most one line per second.
        let message = format!("refused: {}", now.last_refusal);
        tracing::warn!("{message}");
        diagnostics.publish(Severity::Warn, &message, &values);
    } else {
        diagnostics.publish(Severity::Ok, "serving", &values);
    }
}
