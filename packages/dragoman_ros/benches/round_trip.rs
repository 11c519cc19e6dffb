//! Round-trip time of a small message to another process: `cargo bench -p dragoman_ros --bench round_trip`.
//!
//! Two processes on the loopback interface; the second one echoes messages. A message is sent when the previous one is
//! back, and then every 10 ms, like a controller's messages. A bare UDP socket with a thread on each side shows the
//! time of the system itself.

use std::net::UdpSocket;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, std_msgs::msg::String as Text,
};
use futures::StreamExt;
use futures::executor::block_on;

const DOMAIN: u16 = 97;
const ECHO_PORT: u16 = 49_797;
const MESSAGES: usize = 5000;
/// Characters of a message.
const LENGTH: usize = 90;

fn node(name: &str) -> Node {
    let discovery =
        Discovery { domain_id: DOMAIN, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Node::create(Context::with_options(&discovery, Arguments::default()).unwrap(), name, "").unwrap()
}

/// The second process.
fn echo() {
    std::thread::spawn(|| {
        let socket = UdpSocket::bind(("127.0.0.1", ECHO_PORT)).unwrap();
        let mut bytes = [0; 1500];
        while let Ok((length, from)) = socket.recv_from(&mut bytes) {
            socket.send_to(&bytes[..length], from).unwrap();
        }
    });
    let mut node = node("echo");
    for (there, back, qos) in topics() {
        let mut messages = node.subscribe::<Text>(there, qos.clone()).unwrap();
        let publisher = node.create_publisher::<Text>(back, qos).unwrap();
        std::thread::spawn(move || {
            block_on(async {
                while let Some(message) = messages.next().await {
                    publisher.publish(&message).unwrap();
                }
            });
        });
    }
    loop {
        std::thread::park();
    }
}

fn topics() -> [(&'static str, &'static str, QosProfile); 2] {
    [
        ("reliable_there", "reliable_back", QosProfile::default()),
        ("best_effort_there", "best_effort_back", QosProfile::sensor_data()),
    ]
}

/// A row of the table: `round_trip` repeated without pause, and 100 times a second.
fn measure(name: &str, mut round_trip: impl FnMut()) {
    let mut row = format!("{name:<28}");
    for (count, pause) in [(MESSAGES, Duration::ZERO), (MESSAGES / 10, Duration::from_millis(10))] {
        (0..count / 10).for_each(|_| round_trip());
        let mut times = Vec::new();
        for _ in 0..count {
            let start = Instant::now();
            round_trip();
            times.push(start.elapsed().as_secs_f64() * 1e6);
            std::thread::sleep(pause);
        }
        times.sort_by(f64::total_cmp);
        for rank in [times.len() / 2, times.len() * 99 / 100] {
            row += &format!("{:>10.1}", times[rank]);
        }
    }
    println!("{row}");
}

/// Ends the second process with the first.
struct Echo(Child);

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn main() {
    if std::env::args().any(|argument| argument == "echo") {
        return echo();
    }
    let _echo = Echo(Command::new(std::env::current_exe().unwrap()).arg("echo").spawn().unwrap());
    let mut node = node("round_trip");
    println!("round trip of {LENGTH} bytes, us      at once               every 10 ms");
    println!("{:<28}{:>10}{:>10}{:>10}{:>10}", "", "median", "99 %", "median", "99 %");

    let message = Text { data: "x".repeat(LENGTH) };
    for (there, back, qos) in topics() {
        let name = if there.starts_with("reliable") { "reliable" } else { "best effort" };
        let mut answers = node.subscribe::<Text>(back, qos.clone()).unwrap();
        let publisher = node.create_publisher::<Text>(there, qos).unwrap();
        block_on(publisher.wait_for_inter_process_subscribers().unwrap()).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        measure(name, || {
            publisher.publish(&message).unwrap();
            block_on(answers.next()).unwrap();
        });
    }
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(("127.0.0.1", ECHO_PORT)).unwrap();
    measure("a UDP socket without ROS", || {
        socket.send(message.data.as_bytes()).unwrap();
        socket.recv(&mut [0; 1500]).unwrap();
    });
}
