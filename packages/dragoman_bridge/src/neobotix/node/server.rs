//! Server side: TCP ports in front of a platform's services, one client each.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::net::{Keepalive, TcpListener};
use dragoman_ros::parameters;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result};

use super::clients::PlatformClients;
use crate::BridgeError;
use crate::neobotix::wire::DEFAULT_PORTS;
use crate::ports::BindParameters;
use crate::tcp::server::{Ports, Services};

/// Grace period for noticing that a client has disconnected when the next one is already waiting.
const DISCONNECT_GRACE: Duration = Duration::from_millis(20);

parameters! {
    /// The parameters of the node of the server side.
    pub struct ServerParameters {
        ..bind: BindParameters;
        /// TCP ports to listen on; each has one client.
        ports: Vec<i64> = DEFAULT_PORTS.map(i64::from), in 0..=65535;
        /// Time limit of a service call, s.
        service_timeout: Duration = 5.0, in 0.01..=60.0;
        /// Silence after which TCP sends the first keepalive probe, s.
        keepalive_idle: u32 = 10, in 1..=7200;
        /// Time between two keepalive probes, s.
        keepalive_interval: u32 = 2, in 1..=600;
        /// Number of unanswered keepalive probes after which the connection is closed and the port is free.
        keepalive_probes: u32 = 3, in 1..=100;
    }
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
    let bind = BindParameters::new(bind);
    let parameters = tasks.declare(ServerParameters { bind, ..ServerParameters::default() })?.read();
    // The declaration ensures that the numbers are ports.
    let numbers = parameters.ports.iter().map(|&port| u16::try_from(port).unwrap_or_default());
    let open = |port| parameters.bind.tcp(PlatformClients::PROTOCOL, port);
    let listeners = numbers.map(open).collect::<Result<Vec<_>, _>>()?;
    let addresses = listeners.iter().map(TcpListener::local_addr).collect::<std::io::Result<Vec<_>>>()?;
    let ports = Ports {
        services: Arc::new(PlatformClients::new(tasks.node(), parameters.service_timeout)?),
        keepalive: Keepalive {
            idle_s: parameters.keepalive_idle,
            interval_s: parameters.keepalive_interval,
            probes: parameters.keepalive_probes,
        },
        max_clients: 1,
        disconnect_grace: DISCONNECT_GRACE,
        full: "refused a connection: the port already has a client",
    };
    let hardware = addresses.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(", ");
    ports.serve(&mut tasks, listeners, &hardware)?;
    Ok(NeobotixServer { node: tasks.start()?, addresses })
}
