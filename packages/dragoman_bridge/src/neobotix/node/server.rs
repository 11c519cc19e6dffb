//! Server side: TCP ports in front of a platform's services, one client each.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dragoman_ros::diagnostics::Diagnostics;
use dragoman_ros::parameters::{self, Declaration, Parameters, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::NeobotixNodeError;
use super::clients::PlatformClients;
use super::connection;
use super::report::{Figures, Report, publish};
use crate::neobotix::wire::DEFAULT_PORTS;
use crate::neobotix::{ServerConfig, Session};
use crate::tcp::Keepalive;

/// Grace period for noticing that a client has disconnected when the next one is already waiting.
const FAREWELL: Duration = Duration::from_millis(20);

/// The parameters of the node; `bind` is the default address.
pub fn server_declarations(bind: IpAddr) -> Vec<Declaration> {
    let declared = [
        Declaration::new(
            "bind",
            bind.to_string().as_str(),
            "Address of the interface to listen on; 0.0.0.0 is all.",
        ),
        Declaration::new(
            "ports",
            DEFAULT_PORTS.map(i64::from).to_vec(),
            "TCP ports to listen on; each has one client.",
        )
        .within(Range::Integer { from: 0, to: 65535 }),
        Declaration::new("service_timeout", 5.0, "Time limit of a service call, s.")
            .within(Range::Double { from: 0.01, to: 60.0 }),
        Declaration::new(
            "keepalive_idle",
            10,
            "Silence after which TCP sends the first keepalive probe, s.",
        )
        .within(Range::Integer { from: 1, to: 7200 }),
        Declaration::new("keepalive_interval", 2, "Time between two keepalive probes, s.")
            .within(Range::Integer { from: 1, to: 600 }),
        Declaration::new(
            "keepalive_probes",
            3,
            "Number of unanswered keepalive probes after which the connection is closed and the port is free.",
        )
        .within(Range::Integer { from: 1, to: 100 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// A running server side.
#[derive(Debug)]
pub struct NeobotixServer {
    /// The node; it serves while it is polled, and closes all connections when it is dropped.
    pub node: RunningNode,
    /// The addresses on which it listens.
    pub addresses: Vec<SocketAddr>,
}

/// Starts node `neobotix` in the platform's namespace, listening by default on `bind`.
///
/// # Errors
/// A port is in use; a wrong parameter; an error of the middleware.
pub fn start_server(
    context: &Context,
    namespace: &str,
    bind: IpAddr,
) -> Result<NeobotixServer, NeobotixNodeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "neobotix", namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), server_declarations(bind))?;
    tasks.spawn(server);
    let listeners = open(&parameters)?;
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<std::io::Result<Vec<_>>>()?;
    let timeout = Duration::from_secs_f64(parameters.value("service_timeout"));
    let seconds = |name: &str| u32::try_from(parameters.value::<i64>(name)).unwrap_or(1);
    let report = Arc::new(Report::default());
    let port = Port {
        platform: Arc::new(PlatformClients::new(tasks.node(), timeout)?),
        keepalive: Keepalive {
            idle_s: seconds("keepalive_idle"),
            interval_s: seconds("keepalive_interval"),
            probes: seconds("keepalive_probes"),
        },
        report: Arc::clone(&report),
        start: Instant::now(),
    };
    for listener in listeners {
        let port = port.clone();
        tasks.spawn(async move {
            if let Err(error) = port.serve(listener).await {
                tracing::error!(%error, "the server of a port of Neobotix' protocol has stopped");
            }
        });
    }
    let name = addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ");
    let mut diagnostics = Diagnostics::new(tasks.node(), "Neobotix' protocol", &name)?;
    let mut before = Figures::default();
    tasks.every(Duration::from_secs(1), move || {
        let now = report.figures();
        publish(&mut diagnostics, &before, &now);
        before = now;
    })?;
    Ok(NeobotixServer { node: tasks.start()?, addresses })
}

fn open(parameters: &Parameters) -> Result<Vec<TcpListener>, NeobotixNodeError> {
    let text: String = parameters.value("bind");
    let ip: IpAddr = text.parse().map_err(|_parse| NeobotixNodeError::Address { text })?;
    let ports: Vec<i64> = parameters.value("ports");
    let open = |port: i64| {
        // The declaration ensures that the parameter is an address.
        let address = SocketAddr::new(ip, u16::try_from(port).unwrap_or_default());
        let opened = TcpListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        opened.map_err(|source| NeobotixNodeError::Bind { address, source })
    };
    ports.into_iter().map(open).collect()
}

/// State shared by the connections of a port.
#[derive(Clone)]
struct Port {
    platform: Arc<PlatformClients>,
    keepalive: Keepalive,
    report: Arc<Report>,
    start: Instant,
}

impl Port {
    /// Serves one client after the other. Additional connections are refused.
    async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let mut sessions = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                Some(ended) = sessions.join_next() => self.note_end(ended),
                accepted = listener.accept() => match accepted {
                    Ok((stream, client)) => {
                        if !sessions.is_empty() {
                            // It may just have disconnected.
                            let ended = tokio::time::timeout(FAREWELL, sessions.join_next()).await;
                            ended.into_iter().flatten().for_each(|ended| self.note_end(ended));
                        }
                        if sessions.is_empty() {
                            self.begin(&mut sessions, stream);
                        } else {
                            self.report.refused_connections.fetch_add(1, Ordering::Relaxed);
                            tracing::debug!(%client, "refused a connection: the port already has a client");
                        }
                    }
                    Err(error) => {
                        // No file descriptor is left, or the client has already disconnected.
                        tracing::warn!(%error, "accepting a client failed");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
    }

    fn begin(&self, sessions: &mut JoinSet<()>, stream: TcpStream) {
        let session = Session::new(ServerConfig::default(), self.start.elapsed());
        let (platform, report) = (Arc::clone(&self.platform), Arc::clone(&self.report));
        self.report.clients.fetch_add(1, Ordering::Relaxed);
        sessions.spawn(connection::serve(stream, session, platform, self.keepalive, report, self.start));
    }

    fn note_end(&self, ended: std::result::Result<(), tokio::task::JoinError>) {
        self.report.clients.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = ended {
            tracing::error!(%error, "a session failed");
        }
    }
}
