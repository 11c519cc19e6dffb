//! A server side in front of a fake world on the system's sockets and in real time: for programs of others, and for what
//! depends on the system's TCP.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman_bridge::apolo::node::start_server;
use dragoman_ros::{Context, Discovery, DiscoveryRange};

use crate::apolo_node::client::{TRUE, request};
use crate::apolo_node::fake_world::{self, World};
use crate::apolo_node::lab::arguments;

pub(crate) struct RealLab {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) address: SocketAddr,
    _runtime: tokio::runtime::Runtime,
}

impl RealLab {
    pub(crate) fn start() -> Self {
        let discovery = Discovery { domain_id: 77, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, arguments("apolo", &["port:=0"])).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let world = World::new();
        runtime.spawn(fake_world::start(&context, "/apolo", &world));
        let server = start_server(&context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
        let address = server.address;
        runtime.spawn(server.node);
        Self { world, address, _runtime: runtime }
    }
}

/// Move, update, odometry: the loop of the users' programs. Update has no answer, so a client with Nagle's algorithm
/// waits for its acknowledgement, which the server sends at once: delayed ones take 40 ms each.
#[test]
fn a_loop_of_a_thousand_steps_is_answered() {
    let lab = RealLab::start();
    let mut stream = TcpStream::connect(lab.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let step = request(b'm', "", &["Neo"], &[0.1, 0.1, 0.01]);
    let update = request(b'U', "", &[], &[]);
    let odometry = request(b'o', "", &["Neo"], &[]);
    let start = Instant::now();
    for _ in 0..1000 {
        stream.write_all(&step).unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, *TRUE);
        stream.write_all(&update).unwrap();
        stream.write_all(&odometry).unwrap();
        stream.read_exact(&mut [0; 31]).unwrap();
    }
    println!("1000 steps of move, update and odometry took {:?}", start.elapsed());
    assert_eq!(lab.world.lock().unwrap().updates, 1000);
}
