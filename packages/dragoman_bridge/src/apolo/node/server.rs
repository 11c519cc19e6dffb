//! Server side: a TCP port in front of a world's services.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::parameters::{self, Declaration, Range};
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Result, startup};

use super::clients::WorldClients;
use crate::BridgeError;
use crate::apolo::ServerConfig;
use crate::apolo::wire::{DEFAULT_PORT, SizeBase};
use crate::ports;
use crate::tcp::server::{Ports, Services};
use dragoman_io::net::Keepalive;

/// Detects a vanished client after two minutes, also while answers to it are unsent.
const KEEPALIVE: Keepalive = Keepalive { idle_s: 60, interval_s: 10, probes: 6 };

/// Time limit of a service call, s. MATLAB programs wait 5 s for an answer. The limit leaves time for a preceding
/// command that is never answered and may wait for its service just as long.
const SERVICE_TIMEOUT: f64 = 2.0;

/// Open files reserved for the rest of the process.
const OTHER_FILES: u64 = 256;

/// The parameters of the node; `bind` is the default address.
pub fn server_declarations(bind: IpAddr) -> Vec<Declaration> {
    let config = ServerConfig::default();
    let declared = [
        ports::declaration(bind),
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
pub fn start_server(context: &Context, namespace: &str, bind: IpAddr) -> Result<ApoloServer, BridgeError> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "apolo", namespace)?);
    let (parameters, server) = parameters::declare(tasks.node(), server_declarations(bind))?;
    tasks.spawn(server);
    let listener = ports::tcp(WorldClients::PROTOCOL, &parameters, parameters.value("port"))?;
    let address = listener.local_addr()?;
    let config = ServerConfig {
        size_base: SizeBase::try_from(parameters.value::<i64>("size_base")).unwrap_or_default(),
        move_reply: parameters.value("move_reply"),
        silent_on_unknown: parameters.value("silent_on_unknown"),
        ..ServerConfig::default()
    };
    let timeout = Duration::from_secs_f64(parameters.value("service_timeout"));
    let max_clients = usize::try_from(parameters.value::<i64>("max_connections")).unwrap_or(1);
    startup::allow_files(max_clients as u64 + OTHER_FILES);
    let ports = Ports {
        services: Arc::new(WorldClients::new(tasks.node(), timeout, config)?),
        keepalive: KEEPALIVE,
        max_clients,
        farewell: Duration::ZERO,
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
