//! A server side in front of a fake world, in this process.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman_bridge::apolo::node::start_server;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange};

use crate::apolo_node::client::ApoloClient;
use crate::apolo_node::fake_world::{self, World};

pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A separate context, invisible to other processes, with `name:=value` parameters of the server side.
pub(crate) fn context(parameters: &[&str]) -> Context {
    context_of("apolo", parameters)
}

/// The same for the client side.
pub(crate) fn client_context(parameters: &[&str]) -> Context {
    context_of("apolo_client", parameters)
}

fn context_of(node: &str, parameters: &[&str]) -> Context {
    let mut arguments = vec!["--ros-args".to_owned()];
    for parameter in parameters {
        arguments.extend(["-p".to_owned(), format!("{node}:{parameter}")]);
    }
    let discovery = Discovery { domain_id: 77, range: DiscoveryRange::Off, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::parse(arguments).unwrap()).unwrap()
}

pub(crate) struct Lab {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: SocketAddr,
    pub(crate) context: Context,
    pub(crate) runtime: tokio::runtime::Runtime,
}

impl Lab {
    pub(crate) fn start(parameters: &[&str]) -> Self {
        let context = context(&[&["port:=0"], parameters].concat());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = World::new();
        runtime.spawn(fake_world::start(&context, "/apolo", &world));
        let server = start_server(&context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        let address = server.address;
        runtime.spawn(server.node);
        Self { world, address, context, runtime }
    }

    pub(crate) fn client(&self) -> ApoloClient {
        ApoloClient::new(self.address)
    }
}

/// Waits until `holds` returns true.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < TIME_LIMIT, "{what} timed out");
        std::thread::sleep(Duration::from_millis(2));
    }
}
