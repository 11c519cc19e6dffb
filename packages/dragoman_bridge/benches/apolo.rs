//! From request to answer over the loopback interface, through the server side, ROS and a world's service and back.
//!
//! Prints medians and 99th percentiles, and the memory of the process. The world is that of the tests: it answers at
//! once. For comparison, alternating in the same run: a bare tokio server that answers the same number of bytes from
//! memory, which shows the share of the machine and of TCP in the times.

#[path = "../tests/fake_world/mod.rs"]
mod fake_world;

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use dragoman_bridge::apolo::node::start_server;
use dragoman_bridge::apolo::wire::{Request, SizeBase};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange};
use fake_world::World;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const CLIENTS: usize = 50;
/// Period of a guidance loop: 20 requests per second from each client.
const PERIOD: Duration = Duration::from_millis(50);
const REQUESTS: usize = 200;
/// Requests of a client in each of the compared rounds.
const ROUND_REQUESTS: usize = 20;
/// Pairs of rounds, one with the crowd and one without. Odd, so that there is a median.
const PAIRS: usize = 21;
/// Of the pairs sorted by their change, the one of this rank from either end bounds the true median with a probability
/// of 97 %: fewer than 6 of 21 fair coins show heads in 1.3 % of all cases.
const BOUND_RANK: usize = 5;
/// Pause after the crowd has disconnected.
const SETTLE_TIME: Duration = Duration::from_millis(500);
/// Bytes of an answer to [`odometry`].
const ANSWER_LEN: usize = 31;

fn main() {
    // `cargo test --benches` only checks that it runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let (requests, round_requests, pairs) =
        if is_bench { (REQUESTS, ROUND_REQUESTS, PAIRS) } else { (5, 1, 1) };
    let discovery = Discovery { domain_id: 78, range: DiscoveryRange::Off, static_peers: Vec::new() };
    let arguments = ["--ros-args", "-p", "apolo:port:=0"].map(str::to_owned);
    let context = Context::with_options(&discovery, Arguments::parse(arguments).unwrap()).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = World::new();
    runtime.spawn(fake_world::start(&context, "/apolo", &world));
    let server = start_server(&context, "/apolo", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap();
    let address = server.address;
    runtime.spawn(server.node);
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let bare_address = listener.local_addr().unwrap();
    runtime.spawn(answer_from_memory(listener, odometry().len()));
    let forget = || world.lock().unwrap().asked.clear();

    for (server, address) in [("", address), ("bare server: ", bare_address)] {
        let measured = latencies(address, 1, 10 * requests, Duration::ZERO);
        report(&format!("{server}1 client, one question after the other"), &measured);
    }
    // Alternating, so that other load on the machine affects both alike; the order alternates too.
    let (mut alone, mut beside, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    let round = || {
        let measured = latencies(address, CLIENTS, round_requests, PERIOD);
        forget();
        measured
    };
    let crowded_round = || {
        let crowd: Vec<TcpStream> = (0..900).map(|_| TcpStream::connect(address).unwrap()).collect();
        let full = never_reading(address);
        let measured = round();
        drop((crowd, full));
        std::thread::sleep(SETTLE_TIME);
        measured
    };
    report_memory("before the crowd");
    for pair in 0..pairs {
        if pair % 2 == 0 {
            alone.push(round());
            beside.push(crowded_round());
        } else {
            beside.push(crowded_round());
            alone.push(round());
        }
        bare.push(latencies(bare_address, CLIENTS, round_requests, PERIOD));
        if pair % 5 == 0 {
            report_memory(&format!("after {} crowds", pair + 1));
        }
    }
    report("50 clients, 20 questions per second each", &together(&alone));
    report("bare server: the same", &together(&bare));
    report("the same beside 900 idle clients and one that never reads", &together(&beside));
    compare(&alone, &beside);
    for (server, address) in [("", address), ("bare server: ", bare_address)] {
        let measured = latencies(address, CLIENTS, requests, Duration::ZERO);
        report(&format!("{server}50 clients, one question after the other"), &measured);
    }

    let took = steps(address, 5 * requests);
    println!("{} steps of move, update and odometry: {took:?}", 5 * requests);
    runtime.shutdown_timeout(Duration::from_secs(1));
}

fn bytes(request: &Request) -> Vec<u8> {
    request.encode(SizeBase::Full256).unwrap()
}

fn odometry() -> Vec<u8> {
    bytes(&Request::GetOdometry { world: String::new(), robot: "Neo".into() })
}

/// Sorted response times of `clients` clients with `requests` questions each, one per `period`.
fn latencies(address: SocketAddr, clients: usize, requests: usize, period: Duration) -> Vec<Duration> {
    let begin = Instant::now() + Duration::from_millis(200);
    let client = move |number: usize| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let question = odometry();
        let mut answer = [0; ANSWER_LEN];
        let phase = period * u32::try_from(number).unwrap() / u32::try_from(clients).unwrap();
        let mut measured = Vec::new();
        for turn in 0..requests {
            let due = begin + phase + period * u32::try_from(turn).unwrap();
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            stream.write_all(&question).unwrap();
            stream.read_exact(&mut answer).unwrap();
            measured.push(asked.elapsed());
        }
        measured
    };
    let threads: Vec<_> = (0..clients).map(|number| std::thread::spawn(move || client(number))).collect();
    let mut all: Vec<Duration> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    all.sort();
    all
}

/// Sends one answer per `question_len` received bytes.
async fn answer_from_memory(listener: tokio::net::TcpListener, question_len: usize) {
    while let Ok((mut stream, _)) = listener.accept().await {
        stream.set_nodelay(true).unwrap();
        tokio::spawn(async move {
            let mut question = vec![0; question_len];
            while stream.read_exact(&mut question).await.is_ok() {
                stream.write_all(&[0; ANSWER_LEN]).await.unwrap();
            }
        });
    }
}

/// A client that requests scans until the buffers are full, and never reads.
fn never_reading(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let question = bytes(&Request::GetLaserData { world: String::new(), laser: "LMS100".into() }).repeat(100);
    while (&stream).write_all(&question).is_ok() {}
    stream
}

fn steps(address: SocketAddr, count: usize) -> Duration {
    let mut stream = TcpStream::connect(address).unwrap();
    let (world, robot) = (String::new, || "Neo".to_owned());
    let (speed, rotation_speed, duration) = (0.1, 0.1, 0.01);
    let step = Request::MoveMRobot { world: world(), robot: robot(), speed, rotation_speed, duration };
    let (step, update) = (bytes(&step), bytes(&Request::Update { world: world() }));
    let question = odometry();
    let start = Instant::now();
    for _ in 0..count {
        stream.write_all(&step).unwrap();
        stream.read_exact(&mut [0; 5]).unwrap();
        stream.write_all(&update).unwrap();
        stream.write_all(&question).unwrap();
        stream.read_exact(&mut [0; ANSWER_LEN]).unwrap();
    }
    start.elapsed()
}

/// Resident memory, if the system reports it.
fn report_memory(when: &str) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmRSS")) {
        println!("{when}: {line}");
    }
}

fn together(rounds: &[Vec<Duration>]) -> Vec<Duration> {
    let mut all = rounds.concat();
    all.sort();
    all
}

fn sorted_p99(rounds: &[Vec<Duration>]) -> Vec<Duration> {
    let mut all: Vec<Duration> = rounds.iter().map(|round| percentile(round, 99)).collect();
    all.sort();
    all
}

/// How much the crowd changes the p99 of the others, with its confidence.
fn compare(alone: &[Vec<Duration>], beside: &[Vec<Duration>]) {
    for (name, rounds) in [("without", alone), ("with the crowd", beside)] {
        let p99 = sorted_p99(rounds);
        let [low, middle, high] = [25, 50, 75].map(|percent| percentile(&p99, percent));
        println!("p99 of {} rounds {name}: middle {middle:?}, half of them {low:?} to {high:?}", p99.len());
    }
    let change = |(alone, beside): (&Vec<Duration>, &Vec<Duration>)| {
        100.0 * (percentile(beside, 99).as_secs_f64() / percentile(alone, 99).as_secs_f64() - 1.0)
    };
    let mut changes: Vec<f64> = alone.iter().zip(beside).map(change).collect();
    changes.sort_by(f64::total_cmp);
    let last = changes.len() - 1;
    let bound = BOUND_RANK.min(last / 2);
    println!(
        "change of p99 by the crowd, pair by pair: middle {:+.1} %, sure to 97 % within {:+.1} % to {:+.1} %; all {:+.1} % to {:+.1} %",
        changes[last / 2],
        changes[bound],
        changes[last - bound],
        changes[0],
        changes[last]
    );
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() - 1) * percent / 100]
}

fn report(what: &str, sorted: &[Duration]) {
    let [p50, p99, most] = [50, 99, 100].map(|percent| percentile(sorted, percent));
    println!("{what}: p50 {p50:?}, p99 {p99:?}, most {most:?} ({} questions)", sorted.len());
}
