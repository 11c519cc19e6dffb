//! Server side: a TCP port in front of a world's services.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::parameters;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result, startup};

use super::clients::WorldClients;
use crate::BridgeError;
use crate::apolo::ServerConfig;
use crate::apolo::wire::{DEFAULT_PORT, SizeBase};
use crate::ports::BindParameters;
use crate::tcp::server::{Ports, Services};
use dragoman_io::net::Keepalive;

/// Detects a lost client after two minutes, also while answers to it are unsent.
const KEEPALIVE: Keepalive = Keepalive { idle_s: 60, interval_s: 10, probes: 6 };

/// Time limit of a service call, s. MATLAB programs wait 5 s for an answer. The limit leaves time for a preceding
/// command that is never answered and may wait for its service just as long.
const SERVICE_TIMEOUT: f64 = 2.0;

/// Open files reserved for the rest of the process.
const OTHER_FILES: u64 = 256;

parameters! {
    /// The parameters of the node of the server side.
    pub struct ServerParameters {
        ..bind: BindParameters;
        /// TCP port to listen on.
        port: u16 = DEFAULT_PORT;
        /// Maximum number of connected clients; additional connections are refused.
        max_connections: usize = 1024, in 1..=60000;
        /// Base of sizes and counts in answers: 256 for programs since 2018, 255 as in the annex.
        size_base: i64 = 256, in 255..=256;
        /// Answer moves of mobile robots; the oldest clients never read that answer.
        move_reply: bool = ServerConfig::default().move_reply;
        /// Do not answer questions about unknown names, as the original; if false, answer F.
        silent_on_unknown: bool = ServerConfig::default().silent_on_unknown;
        /// Time limit of a service call, s.
        service_timeout: Duration = SERVICE_TIMEOUT, in 0.01..=60.0;
    }
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
pub fn start_server(context: &Context, namespace: &str, bind: IpAddr) -> Result<ApoloServer, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo", namespace)?);
    let bind = BindParameters::new(bind);
    let parameters = tasks.declare(ServerParameters { bind, ..ServerParameters::default() })?.read();
    let listener = parameters.bind.tcp(WorldClients::PROTOCOL, parameters.port)?;
    let address = listener.local_addr()?;
    let config = ServerConfig {
        size_base: SizeBase::try_from(parameters.size_base).unwrap_or_default(),
        move_reply: parameters.move_reply,
        silent_on_unknown: parameters.silent_on_unknown,
        ..ServerConfig::default()
    };
    startup::allow_files(parameters.max_connections as u64 + OTHER_FILES);
    let ports = Ports {
        services: Arc::new(WorldClients::new(tasks.node(), parameters.service_timeout, config)?),
        keepalive: KEEPALIVE,
        max_clients: parameters.max_connections,
        disconnect_grace: Duration::ZERO,
        full: "too many clients",
    };
    ports.serve(&mut tasks, vec![listener], &address.to_string())?;
    Ok(ApoloServer { node: tasks.start()?, address })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use dragoman_ros::{Arguments, Discovery, DiscoveryRange};
    use nix::sys::socket::{setsockopt, sockopt};
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::tcp::server::{Leaving, serve};

    /// The client sends more requests than the buffers of both sides hold, and reads no answers: TCP has unsent data,
    /// and no keepalive probes are sent.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_client_that_takes_no_answers_is_given_up() {
        let discovery =
            Discovery { domain_id: 88, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "vanished", "/nowhere").unwrap();
        // Without a service, each question is refused at once.
        let world = Arc::new(
            WorldClients::new(&mut node, Duration::from_micros(1), ServerConfig::default()).unwrap(),
        );
        let listener = tokio::net::TcpListener::bind((IpAddr::from([127, 0, 0, 1]), 0)).await.unwrap();
        let client = tokio::net::TcpSocket::new_v4().unwrap();
        client.set_recv_buffer_size(4096).unwrap();
        let (client, accepted) =
            tokio::join!(client.connect(listener.local_addr().unwrap()), listener.accept());
        let (mut client, (stream, _)) = (client.unwrap(), accepted.unwrap());
        setsockopt(&stream, sockopt::SndBuf, &4096).unwrap();
        let keepalive = Keepalive { idle_s: 1, interval_s: 1, probes: 1 };
        let address = client.local_addr().unwrap();
        let served = dragoman_time::spawn(serve(
            stream.into(),
            address,
            world,
            keepalive,
            Arc::default(),
            Leaving::default(),
        ));
        let asking = tokio::spawn(async move {
            // `G` about robot "Neo" of the world without a name.
            let question = b"aa\x0b\0G\0\x04Neo\0".repeat(1000);
            while client.write_all(&question).await.is_ok() {}
        });
        let begin = Instant::now();
        tokio::time::timeout(Duration::from_secs(60), served)
            .await
            .expect("the connection was not closed")
            .unwrap();
        println!("closed after {:?}", begin.elapsed());
        asking.abort();
    }

    #[test]
    fn the_time_limit_is_the_documented_one() {
        assert_eq!(KEEPALIVE.idle_s + KEEPALIVE.probes * KEEPALIVE.interval_s, 120);
    }
}
