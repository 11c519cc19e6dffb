//! From `CMD_GET_STATUS` to its reply over the loopback interface: through the server side, ROS and the platform's node
//! and back, with a scan of 541 points in it.
//!
//! The platform's node runs with a base that publishes odometry at 50 Hz and scans at 20 Hz. For comparison,
//! alternating in the same run: a bare tokio server that answers the same number of bytes from memory, which shows the
//! share of the machine and of TCP in the times.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use dragoman_bridge::neobotix::node::start_server;
use dragoman_bridge::neobotix::wire::{Command, Decoder, Framing, Message, Reply};
use dragoman_platform::node::Setup;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BEAMS: usize = 541;
const REQUESTS: usize = 1000;
const ROUNDS: usize = 5;
/// Period of a user interface.
const PERIOD: Duration = Duration::from_millis(20);

fn main() {
    // `cargo test --benches` only checks that it runs.
    let requests = if std::env::args().any(|argument| argument == "--bench") { REQUESTS } else { ROUNDS };
    let discovery = Discovery { domain_id: 79, range: DiscoveryRange::Off, static_peers: Vec::new() };
    let arguments = ["--ros-args", "-p", "neobotix:ports:=[0]"].map(str::to_owned);
    let context = Context::with_options(&discovery, Arguments::parse(arguments).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.spawn(base(&context));
    runtime.spawn(dragoman_platform::node::start(&context, "/neobotix", &Setup::default()).unwrap());
    let server = start_server(&context, "/neobotix", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
    runtime.spawn(server.node);

    let mut client = Client::new(server.addresses[0]);
    let reply = client.connect();
    let echo = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let mut peer = Client::new(echo.local_addr().unwrap());
    runtime.spawn(answer_from_memory(echo, reply.len()));
    println!("a reply has {} bytes", reply.len());

    for (what, period) in
        [("one question after the other", Duration::ZERO), ("50 questions a second", PERIOD)]
    {
        let (mut ours, mut bare) = (Vec::new(), Vec::new());
        let count = if period.is_zero() { requests } else { requests.div_ceil(ROUNDS) };
        // Alternating, so that other load on the machine affects both alike.
        for _ in 0..ROUNDS {
            ours.extend(client.latencies(count, period));
            bare.extend(peer.latencies(count, period));
        }
        report(&format!("CMD_GET_STATUS, {what}"), ours);
        report(&format!("bare tokio server, {what}"), bare);
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
}

/// A base at rest in front of a round wall.
fn base(context: &Context) -> RunningNode {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "base", "").unwrap());
    let odometry = tasks.node().create_publisher::<Odometry>("/odom", QosProfile::default()).unwrap();
    let scan = tasks.node().create_publisher::<LaserScan>("/scan", QosProfile::sensor_data()).unwrap();
    let mut place = Odometry::default();
    place.pose.pose.orientation.w = 1.0;
    tasks.every(Duration::from_millis(20), move || odometry.publish(&place).unwrap()).unwrap();
    let seen = LaserScan {
        angle_min: -2.356_194_5,
        angle_increment: 0.008_726_646,
        range_min: 0.05,
        range_max: 20.0,
        ranges: (0..BEAMS).map(|beam| 3.0 + 0.001 * beam as f32).collect(),
        ..Default::default()
    };
    tasks.every(Duration::from_millis(50), move || scan.publish(&seen).unwrap()).unwrap();
    tasks.start().unwrap()
}

/// Sends one answer per eight received bytes.
async fn answer_from_memory(listener: tokio::net::TcpListener, len: usize) {
    let mut reply = vec![0; len];
    reply[4..8].copy_from_slice(&u32::try_from(len - 8).unwrap().to_be_bytes());
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.set_nodelay(true).unwrap();
    while stream.read_exact(&mut [0; 9]).await.is_ok() {
        stream.write_all(&reply).await.unwrap();
    }
}

struct Client {
    stream: TcpStream,
    question: Vec<u8>,
}

impl Client {
    fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, question: Command::GetStatus.encode(Framing::Header).unwrap() }
    }

    fn ask(&mut self) -> Vec<u8> {
        self.stream.write_all(&self.question).unwrap();
        let mut bytes = vec![0; 8];
        self.stream.read_exact(&mut bytes).unwrap();
        let len = u32::from_be_bytes(bytes[4..].try_into().unwrap()) as usize;
        bytes.resize(8 + len, 0);
        self.stream.read_exact(&mut bytes[8..]).unwrap();
        bytes
    }

    /// Waits until the platform's status has scan points.
    fn connect(&mut self) -> Vec<u8> {
        let connect = Command::ConnectToPltf.encode(Framing::Header).unwrap();
        for _ in 0..500 {
            self.stream.write_all(&connect).unwrap();
            let bytes = self.ask();
            let mut decoder = Decoder::<Reply>::default();
            decoder.push(&bytes);
            match decoder.next().unwrap().unwrap().message.unwrap() {
                Reply::GetStatus(status) if status.scan.len() == BEAMS => return bytes,
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
        panic!("the platform sees nothing");
    }

    fn latencies(&mut self, count: usize, period: Duration) -> Vec<Duration> {
        let begin = Instant::now();
        (0..count)
            .map(|turn| {
                let due = begin + period * u32::try_from(turn).unwrap();
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let asked = Instant::now();
                self.ask();
                asked.elapsed()
            })
            .collect()
    }
}

fn report(what: &str, mut measured: Vec<Duration>) {
    measured.sort();
    let [p50, p99, most] = [50, 99, 100].map(|percent| measured[(measured.len() - 1) * percent / 100]);
    println!("{what:<48} p50 {p50:>10.1?} p99 {p99:>10.1?} most {most:>10.1?} ({})", measured.len());
}
