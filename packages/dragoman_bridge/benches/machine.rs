//! A machine by its description, beside a node that is written by hand for the same machine: the times from the machine to a
//! topic and back, and what many of them need in one process.
//!
//! `cargo bench -p dragoman_bridge --bench machine` prints two tables. The machine is a UDP socket in a thread of its own; the
//! subscriber and the publisher belong to another participant of the same process, so that messages go through RTPS. Both
//! kinds of bridges are measured in turn, in the same run.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dragoman_bridge::machine::link::Place;
use dragoman_bridge::machine::node::{Link, start, types};
use dragoman_bridge::machine::{Interface, MachineNode};
use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Codec;
use dragoman_ros::std_msgs::msg::UInt32;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::StreamExt;
use tokio::runtime::Runtime;

const DESCRIPTION: &str = "
protocol: counter
title: Counter
source: this bench
link: { udp: 4000 }
order: little
frame:
  cut: { datagram: 5 }
  fields: [{ name: code, type: u8, is: code }, { name: data, is: body }]
messages:
  - { name: value, code: 1, from: server, meaning: a number, fields: [{ name: count, type: u32 }] }
  - { name: command, code: 2, meaning: another one, fields: [{ name: count, type: u32 }] }
bridge:
  timing: { silence: 3600 }
  publish: [{ topic: value, type: std_msgs/msg/UInt32, from: value, fields: { data: count } }]
  subscribe: [{ topic: command, type: std_msgs/msg/UInt32, send: command, fields: { count: data } }]
";

/// Period of messages whose time is measured, and their number in each round.
const PERIOD: Duration = Duration::from_millis(5);
const MESSAGES: u32 = 400;
const ROUNDS: usize = 5;
/// Many machines, each with a message and a command at this period, for so long.
const MANY: usize = 50;
const MANY_PERIOD: Duration = Duration::from_millis(100);
const MANY_TIME: Duration = Duration::from_secs(10);
/// Time to find each other.
const MATCH_TIME: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Described,
    ByHand,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Described => "by its description",
            Self::ByHand => "written by hand",
        }
    }
}

fn context(domain: u16) -> Context {
    let discovery =
        Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn frame(code: u8, count: u32) -> [u8; 5] {
    let [a, b, c, d] = count.to_le_bytes();
    [code, a, b, c, d]
}

/// The machine's socket, and the address of its bridge.
fn machine() -> (UdpSocket, SocketAddr) {
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), free.local_addr().unwrap())
}

/// A bridge between a machine and the topics `value` and `command` in `namespace`.
fn bridge(
    runtime: &Runtime,
    context: &Context,
    namespace: &str,
    kind: Kind,
    local: SocketAddr,
    peer: SocketAddr,
) {
    match kind {
        Kind::Described => {
            let codec = Arc::new(Codec::new(Protocol::read(DESCRIPTION).unwrap()).unwrap());
            let types = types();
            let interface = Interface::new(codec, &types).unwrap();
            let place = Place::Udp { local, peer: Some(peer), broadcast: false };
            let link = Link { given: place.to_string(), open: Box::new(|_| Ok(place)) };
            let MachineNode { client, .. } = start(context, namespace, interface, &types, link, "").unwrap();
            runtime.spawn(client.node);
        }
        Kind::ByHand => {
            let mut node = Node::create(context.clone(), "by_hand", namespace).unwrap();
            let publisher = node.create_publisher::<UInt32>("value", QosProfile::default()).unwrap();
            let mut commands = node.subscribe::<UInt32>("command", QosProfile::default()).unwrap();
            let mut tasks = NodeTasks::new(node);
            let socket = {
                let _runtime = runtime.enter();
                let socket = UdpSocket::bind(local).unwrap();
                socket.set_nonblocking(true).unwrap();
                tokio::net::UdpSocket::from_std(socket).unwrap()
            };
            tasks.spawn(async move {
                let mut buffer = [0; 64];
                loop {
                    tokio::select! {
                        received = socket.recv_from(&mut buffer) => {
                            if let (Ok((5, _)), [1, a, b, c, d, ..]) = (received, buffer) {
                                let _ = publisher.publish(&UInt32 { data: u32::from_le_bytes([a, b, c, d]) });
                            }
                        }
                        Some(UInt32 { data }) = commands.next() => {
                            let _ = socket.send_to(&frame(2, data), peer).await;
                        }
                    }
                }
            });
            runtime.spawn(tasks.start().unwrap());
        }
    }
}

/// Sorted times from the machine to the topic, and from the topic to the machine.
struct Ends {
    socket: UdpSocket,
    bridge: SocketAddr,
    values: std::sync::mpsc::Receiver<(u32, Instant)>,
    publisher: dragoman_ros::Publisher<UInt32>,
}

impl Ends {
    fn new(runtime: &Runtime, contexts: &[Context; 2], kind: Kind, namespace: &str) -> Self {
        let (socket, local) = machine();
        bridge(runtime, &contexts[0], namespace, kind, local, socket.local_addr().unwrap());
        let mut node = Node::create(contexts[1].clone(), "operator", namespace).unwrap();
        let publisher = node.create_publisher::<UInt32>("command", QosProfile::default()).unwrap();
        let mut values = node.subscribe::<UInt32>("value", QosProfile::default()).unwrap();
        let (sender, received) = std::sync::mpsc::channel();
        let mut tasks = NodeTasks::new(node);
        tasks.spawn(async move {
            while let Some(value) = values.next().await {
                let _ = sender.send((value.data, Instant::now()));
            }
        });
        runtime.spawn(tasks.start().unwrap());
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        Self { socket, bridge: local, values: received, publisher }
    }

    fn to_topic(&self, messages: u32) -> Vec<f64> {
        let mut times = Vec::new();
        for count in 0..messages {
            let sent = Instant::now();
            self.socket.send_to(&frame(1, count), self.bridge).unwrap();
            while let Ok((found, at)) = self.values.recv_timeout(Duration::from_secs(1)) {
                if found == count {
                    times.push((at - sent).as_secs_f64() * 1e6);
                    break;
                }
            }
            std::thread::sleep(PERIOD);
        }
        times
    }

    fn to_machine(&self, messages: u32) -> Vec<f64> {
        let mut times = Vec::new();
        let mut buffer = [0; 64];
        for count in 0..messages {
            let sent = Instant::now();
            self.publisher.publish(&UInt32 { data: count }).unwrap();
            while let Ok((len, _)) = self.socket.recv_from(&mut buffer) {
                if buffer[..len] == frame(2, count) {
                    times.push(sent.elapsed().as_secs_f64() * 1e6);
                    break;
                }
            }
            std::thread::sleep(PERIOD);
        }
        times
    }
}

fn latencies(runtime: &Runtime, contexts: &[Context; 2], messages: u32, rounds: usize) {
    let kinds = [Kind::Described, Kind::ByHand];
    let ends = kinds.map(|kind| Ends::new(runtime, contexts, kind, &format!("/latency_{}", kind as u8)));
    std::thread::sleep(MATCH_TIME);
    let mut times: [[Vec<f64>; 2]; 2] = Default::default();
    for _ in 0..rounds {
        for (ends, [to_topic, to_machine]) in ends.iter().zip(&mut times) {
            to_topic.extend(ends.to_topic(messages));
            to_machine.extend(ends.to_machine(messages));
        }
    }
    println!("| one machine | way | messages | median, us | p99, us |\n| --- | --- | ---: | ---: | ---: |");
    for (kind, times) in kinds.into_iter().zip(&mut times) {
        for (way, times) in ["machine to topic", "topic to machine"].into_iter().zip(times) {
            times.sort_by(f64::total_cmp);
            let rank = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or(f64::NAN);
            println!("| {} | {way} | {} | {:.0} | {:.0} |", kind.name(), times.len(), rank(50), rank(99));
        }
    }
}

/// Processor time of this process (`self`) or thread (`thread-self`), s.
fn processor_time(of: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{of}/stat")).unwrap_or_default();
    // After the name, which may contain any character, the fields from the third on.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Resident memory in MB, and threads.
fn status() -> [f64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    [number("VmRSS:") / 1024.0, number("Threads:")]
}

/// What `count` bridges need, each with a message and a command every period.
fn many(kind: Kind, count: usize, time: Duration) {
    let runtime = Runtime::new().unwrap();
    let contexts = [context(79), context(79)];
    let [memory, threads] = status();
    let machines: Vec<_> = (0..count)
        .map(|number| {
            let (socket, local) = machine();
            bridge(
                &runtime,
                &contexts[0],
                &format!("/many_{number}"),
                kind,
                local,
                socket.local_addr().unwrap(),
            );
            (socket, local)
        })
        .collect();
    let [with, with_threads] = status();
    // One command for all of them would be another load: each has its publisher.
    let mut operator = Node::create(contexts[1].clone(), "operator", "").unwrap();
    let publishers: Vec<_> = (0..count)
        .map(|number| {
            let topic = format!("/many_{number}/command");
            operator.create_publisher::<UInt32>(&topic, QosProfile::default()).unwrap()
        })
        .collect();
    std::thread::sleep(MATCH_TIME);
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let machines = std::thread::spawn(move || {
        let mut turn = 0;
        let mut buffer = [0; 64];
        let mut received = 0_u64;
        while !over.load(Ordering::Relaxed) {
            for (socket, bridge) in &machines {
                socket.set_nonblocking(true).unwrap();
                let _ = socket.send_to(&frame(1, turn), *bridge);
                while socket.recv_from(&mut buffer).is_ok() {
                    received += 1;
                }
            }
            turn += 1;
            std::thread::sleep(MANY_PERIOD);
        }
        (processor_time("thread-self"), received)
    });
    let (begun, before, own) = (Instant::now(), processor_time("self"), processor_time("thread-self"));
    let mut turns = 0;
    while begun.elapsed() < time {
        publishers.iter().for_each(|publisher| publisher.publish(&UInt32 { data: turns }).unwrap());
        turns += 1;
        std::thread::sleep(MANY_PERIOD);
    }
    let took = begun.elapsed().as_secs_f64();
    let ours = processor_time("thread-self") - own;
    let all = processor_time("self") - before;
    is_over.store(true, Ordering::Relaxed);
    let (machines, received) = machines.join().unwrap();
    let used = all - ours - machines;
    println!(
        "| {} | {count} | {:.3} | {:.3} | {:.1} | {received} of {} |",
        kind.name(),
        100.0 * used / took / count as f64,
        (with - memory) / count as f64,
        with_threads - threads,
        u64::from(turns) * count as u64,
    );
    runtime.shutdown_timeout(Duration::from_secs(1));
}

fn main() {
    // `cargo test --benches` only checks that it runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (messages, rounds, count, time) =
        if is_bench { (MESSAGES, ROUNDS, MANY, MANY_TIME) } else { (2, 1, 2, Duration::from_millis(200)) };
    let runtime = Runtime::new().unwrap();
    latencies(&runtime, &[context(78), context(78)], messages, rounds);
    runtime.shutdown_timeout(Duration::from_secs(1));
    println!(
        "\n| many machines | number | processor, % of a core each | memory, MB each | threads more | commands |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |"
    );
    for kind in [Kind::ByHand, Kind::Described] {
        many(kind, count, time);
    }
}
