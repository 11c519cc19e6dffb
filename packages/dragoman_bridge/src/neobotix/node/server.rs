//! Server side: TCP ports in front of a platform's services, one client each.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::{Keepalive, TcpListener};
use dragoman_ros::parameters::{self, Declaration, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result};

use super::clients::PlatformClients;
use crate::BridgeError;
use crate::neobotix::wire::DEFAULT_PORTS;
use crate::ports;
use crate::tcp::server::{Ports, Services};

/// Grace period for noticing that a client has disconnected when the next one is already waiting.
const FAREWELL: Duration = Duration::from_millis(20);

/// The parameters of the node; `bind` is the default address.
pub fn server_declarations(bind: IpAddr) -> Vec<Declaration> {
    let declared = [
        ports::declaration(bind),
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
pub fn start_server(context: &Context, namespace: &str, bind: IpAddr) -> Result<NeobotixServer, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "neobotix", namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), server_declarations(bind))?;
    tasks.spawn(server);
    let numbers: Vec<i64> = parameters.value("ports");
    let open = |port| ports::tcp(PlatformClients::PROTOCOL, &parameters, port);
    let listeners = numbers.into_iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<std::io::Result<Vec<_>>>()?;
    let timeout = Duration::from_secs_f64(parameters.value("service_timeout"));
    let seconds = |name: &str| u32::try_from(parameters.value::<i64>(name)).unwrap_or(1);
    let ports = Ports {
        services: Arc::new(PlatformClients::new(tasks.node(), timeout)?),
        keepalive: Keepalive {
            idle_s: seconds("keepalive_idle"),
            interval_s: seconds("keepalive_interval"),
            probes: seconds("keepalive_probes"),
        },
        max_clients: 1,
        farewell: FAREWELL,
        full: "refused a connection: the port already has a client",
    };
    let hardware = addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ");
    ports.serve(&mut tasks, listeners, &hardware)?;
    Ok(NeobotixServer { node: tasks.start()?, addresses })
}
