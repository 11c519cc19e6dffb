//! A client's read of a `position2d` sample over the loopback interface, alone and beside 50 other clients: from the
//! request in mode pull to the end of its data.
//!
//! A base publishes odometry at 50 Hz. The measured client reads 25 times a second, so a sample is always there; the
//! others read as often as it, or without pause. For comparison, alternating in the same run: a bare tokio server that
//! answers the same number of bytes from memory; and with `DRAGOMAN_PEER_PLAYER=HOST:PORT` a real Player server with a
//! `position2d:0`, which the same clients read.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman_bridge::player::node::{Table, start_server};
use dragoman_bridge::player::wire::player::{
    MODE, OPEN, PULL, READ, REPLACE_RULE, ReplaceRule, SUBSCRIBE, SYNCH, Subscription,
};
use dragoman_bridge::player::wire::{
    Address, BANNER_LEN, Decoder, Device, HEADER_LEN, Header, MessageKind, Xdr, player, position2d,
};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const READS: usize = 250;
const ROUNDS: usize = 4;
const OTHERS: usize = 50;
/// Period of the measured reads.
const PERIOD: Duration = Duration::from_millis(40);
const TABLE: &str = "devices: [{ device: 'position2d:0', odometry: /odom, velocity: /cmd_vel }]";
const SERVER: Device = player::INTERFACE.device(0);
const BASE: Device = position2d::INTERFACE.device(0);

fn main() {
    // `cargo test --benches` only checks that it runs.
    let reads = if std::env::args().any(|argument| argument == "--bench") { READS } else { ROUNDS };
    let discovery = Discovery { domain_id: 78, range: DiscoveryRange::Off, static_peers: Vec::new() };
    let arguments = ["--ros-args", "-p", "player:port:=0"].map(str::to_owned);
    let context = Context::with_options(&discovery, Arguments::parse(arguments).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.spawn(base(&context));
    let table = Table::from_yaml(TABLE).unwrap();
    let _entered = runtime.enter();
    let server = start_server(&context, "/", IpAddr::V4(Ipv4Addr::LOCALHOST), &table).unwrap();
    runtime.spawn(server.node);
    let echo = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let bare = echo.local_addr().unwrap();
    let answer = sample();
    println!("a read has {} bytes", answer.len());
    runtime.spawn(answer_from_memory(echo, answer.into()));

    let real: Option<SocketAddr> =
        std::env::var("DRAGOMAN_PEER_PLAYER").ok().map(|address| address.parse().unwrap());
    let servers =
        [("ours", Some(server.address)), ("a real server", real), ("a bare tokio server", Some(bare))];
    for (load, others, pause) in [
        ("alone", 0, PERIOD),
        ("beside 50", OTHERS, PERIOD),
        ("beside 50 without pause", OTHERS, Duration::ZERO),
    ] {
        let mut measured = servers.map(|(name, address)| (name, address, Vec::new()));
        // Alternating, so that other load on the machine affects all alike.
        for _ in 0..ROUNDS {
            for (_, address, times) in &mut measured {
                let Some(address) = *address else { continue };
                let make = if address == bare { Client::bare } else { Client::new };
                times.extend(round(address, make, others, pause, reads));
            }
        }
        for (name, address, times) in measured {
            match address {
                Some(_) => report(&format!("{name}, {load}"), times),
                None => println!("{name}, {load}: not measured, DRAGOMAN_PEER_PLAYER is not set"),
            }
        }
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
}

/// A read's answer: acknowledgement, a sample, end.
fn sample() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |device, kind, subtype, body: &[u8]| {
        let address = Address { device, ..Address::default() };
        Header { address, kind, subtype, timestamp: 0.0, sequence: 0 }.write_message(body, &mut bytes);
    };
    add(SERVER, MessageKind::Acknowledge, READ.subtype, &[]);
    add(BASE, MessageKind::Data, position2d::STATE.subtype, &position2d::State::default().to_bytes());
    add(SERVER, MessageKind::Synch, SYNCH, &[]);
    bytes
}

/// The times of one client beside others.
fn round(
    address: SocketAddr,
    make: fn(SocketAddr) -> Client,
    others: usize,
    pause: Duration,
    reads: usize,
) -> Vec<Duration> {
    let ends = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..others)
        .map(|_| {
            let (ends, mut client) = (Arc::clone(&ends), make(address));
            std::thread::spawn(move || {
                while !ends.load(Ordering::Relaxed) {
                    client.read();
                    std::thread::sleep(pause);
                }
            })
        })
        .collect();
    let mut client = make(address);
    let begin = Instant::now();
    let times = (0..reads.div_ceil(ROUNDS))
        .map(|turn| {
            let due = begin + PERIOD * u32::try_from(turn + 1).unwrap();
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            client.read();
            asked.elapsed()
        })
        .collect();
    ends.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    times
}

/// A base at rest.
fn base(context: &Context) -> RunningNode {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "base", "").unwrap());
    let odometry = tasks.node().create_publisher::<Odometry>("/odom", QosProfile::default()).unwrap();
    let mut place = Odometry::default();
    place.pose.pose.orientation.w = 1.0;
    tasks.every(Duration::from_millis(20), move || odometry.publish(&place).unwrap()).unwrap();
    tasks.start().unwrap()
}

/// Answers each request for data with these bytes.
async fn answer_from_memory(listener: tokio::net::TcpListener, answer: Arc<[u8]>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        let answer = Arc::clone(&answer);
        tokio::spawn(async move {
            while stream.read_exact(&mut [0; HEADER_LEN]).await.is_ok() {
                if stream.write_all(&answer).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// A client that has opened the base.
struct Client {
    stream: TcpStream,
    decoder: Decoder,
}

impl Client {
    fn bare(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, decoder: Decoder::default() }
    }

    fn new(address: SocketAddr) -> Self {
        let mut client = Self::bare(address);
        client.stream.read_exact(&mut [0; BANNER_LEN]).unwrap();
        client.ask(MODE.subtype, &PULL);
        let rule =
            ReplaceRule { interface: -1, index: -1, kind: MessageKind::Data as i32, subtype: -1, replace: 1 };
        client.ask(REPLACE_RULE.subtype, &rule);
        let address = Address { device: BASE, ..Address::default() };
        client.ask(SUBSCRIBE.subtype, &Subscription { address, access: OPEN, ..Subscription::default() });
        // The first sample.
        while client.read() <= 2 * HEADER_LEN {}
        client
    }

    fn send(&mut self, subtype: u8, body: &impl Xdr) {
        let address = Address { device: SERVER, ..Address::default() };
        let header = Header { address, kind: MessageKind::Request, subtype, timestamp: 0.0, sequence: 0 };
        let mut bytes = Vec::new();
        header.write_message(&body.to_bytes(), &mut bytes);
        self.stream.write_all(&bytes).unwrap();
    }

    fn ask(&mut self, subtype: u8, body: &impl Xdr) {
        self.send(subtype, body);
        self.until(MessageKind::Acknowledge);
    }

    /// Reads up to a message of this kind; returns the number of bytes.
    fn until(&mut self, kind: MessageKind) -> usize {
        let mut len = 0;
        loop {
            while let Some(message) = self.decoder.next() {
                let message = message.unwrap();
                len += HEADER_LEN + message.body.len();
                if message.header.kind == kind {
                    return len;
                }
            }
            let mut buffer = [0; 4096];
            let received = self.stream.read(&mut buffer).unwrap();
            assert!(received > 0, "the server has closed the connection");
            self.decoder.push(&buffer[..received]);
        }
    }

    fn read(&mut self) -> usize {
        self.send(READ.subtype, &());
        self.until(MessageKind::Synch)
    }
}

fn report(what: &str, mut measured: Vec<Duration>) {
    measured.sort();
    let [p50, p99, most] = [50, 99, 100].map(|percent| measured[(measured.len() - 1) * percent / 100]);
    println!("{what:<48} p50 {p50:>10.1?} p99 {p99:>10.1?} most {most:>10.1?} ({})", measured.len());
}
