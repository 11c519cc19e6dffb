//! A server side in front of a fake world, on virtual time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dragoman_bridge::apolo::node::start_server;
use dragoman_ros::{Arguments, Context};
use dragoman_time::Tasks;

use crate::apolo_node::client::ApoloClient;
use crate::apolo_node::fake_world::{self, World};
use crate::common::{Simulated, sleep};

pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// A separate context, invisible to all others, with `name:=value` parameters of the server side.
pub(crate) fn context(parameters: &[&str]) -> Context {
    context_of("apolo", parameters)
}

/// The same for the client side.
pub(crate) fn client_context(parameters: &[&str]) -> Context {
    context_of("apolo_client", parameters)
}

/// Command line arguments that set `name:=value` parameters of a node.
pub(crate) fn arguments(node: &str, parameters: &[&str]) -> Arguments {
    let mut arguments = vec!["--ros-args".to_owned()];
    for parameter in parameters {
        arguments.extend(["-p".to_owned(), format!("{node}:{parameter}")]);
    }
    Arguments::parse(arguments).unwrap()
}

fn context_of(node: &str, parameters: &[&str]) -> Context {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let domain = NEXT.fetch_add(1, Ordering::Relaxed) % 200;
    Context::in_memory(domain, arguments(node, parameters)).unwrap()
}

pub(crate) struct Lab {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: SocketAddr,
    pub(crate) context: Context,
    /// Dropped, its nodes end when the simulation runs.
    pub(crate) nodes: Tasks<()>,
    // The last, since the others end in it.
    pub(crate) simulated: Rc<Simulated>,
}

impl Lab {
    pub(crate) fn start(parameters: &[&str]) -> Self {
        let simulated = Simulated::present();
        let context = context(parameters);
        let world = World::new();
        let mut nodes = Tasks::new();
        nodes.spawn(fake_world::start(&context, "/apolo", &world));
        let server = start_server(&context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        let address = server.address;
        nodes.spawn(server.node);
        Self { world, address, context, nodes, simulated }
    }

    pub(crate) fn client(&self) -> ApoloClient {
        ApoloClient::new(self.address)
    }
}

/// Runs all nodes until `holds` returns true. It is asked every millisecond.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = dragoman_time::now();
    while !holds() {
        assert!(dragoman_time::since(start) < TIME_LIMIT, "{what} timed out");
        sleep(Duration::from_millis(1));
    }
}
