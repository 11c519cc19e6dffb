//! How long a velocity command takes from `publish` to the wire, through the running node, beside 50 Hz of feedback.
//!
//! Two publishers: one in the node's process, whose messages go by memory, and one with a participant of its own, whose messages go
//! over DDS and the loopback interface as another process' do. `cargo bench -p dragoman_base --bench latency` prints a table.

use std::pin::Pin;
use std::time::{Duration, Instant};

use dragoman_base::kobuki::wire::{BaseControl, Command, CoreSensors, Decoder, Feedback, Inertia, frame};
use dragoman_base::node::{Connection, Stream, start_kobuki};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::sync::mpsc;

const COMMANDS: i16 = 2000;
const DOMAIN: u16 = 98;

/// A command as it came out at the other end.
struct Arrival {
    speed_mm_per_s: i16,
    at: Instant,
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let context = context();
    let (ends, mut new_ends) = mpsc::unbounded_channel();
    let simulate = move || {
        let (near, far) = duplex(4096);
        ends.send(far).unwrap();
        Box::pin(near) as Pin<Box<dyn Stream>>
    };
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    let _entered = runtime.enter();
    let base = start_kobuki(&context, "/", Connection::SimulatedUnlessPort(Box::new(simulate))).unwrap();
    runtime.spawn(base.node);
    runtime.spawn(async move {
        while let Some(end) = new_ends.recv().await {
            device(end, &arrived).await;
        }
    });
    runtime.block_on(base.measured).unwrap();

    println!("{:<28} {:>8} {:>8} {:>8} {:>8}", "cmd_vel to the wire, us", "p50", "p90", "p99", "most");
    for (name, context) in [("by memory", context.clone()), ("over DDS, by loopback", self::context())] {
        let mut node = Node::create(context, "commander", "").unwrap();
        let publisher = node.create_publisher::<Twist>("/cmd_vel", QosProfile::default()).unwrap();
        runtime.block_on(publisher.wait_for_inter_process_subscribers().unwrap()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let times = runtime.block_on(measure(&publisher, &mut arrivals));
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        println!("{name:<28} {:>8.0} {:>8.0} {:>8.0} {:>8.0}", at(0.5), at(0.9), at(0.99), at(1.0));
    }
}

fn context() -> Context {
    let discovery =
        Discovery { domain_id: DOMAIN, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

/// A base that tells its encoders 50 times a second, and notes the speeds that it is told.
async fn device(mut end: DuplexStream, arrived: &mpsc::UnboundedSender<Arrival>) {
    let mut decoder = Decoder::new();
    let mut bytes = [0; 1024];
    let mut period = tokio::time::interval(Duration::from_millis(20));
    let start = Instant::now();
    loop {
        tokio::select! {
            _ = period.tick() => {
                let timestamp_ms = (start.elapsed().as_millis() % 65_536) as u16;
                let mut packet = Vec::new();
                let framed = frame::encode(&mut packet, |payload| {
                    Feedback::Core(CoreSensors { timestamp_ms, ..CoreSensors::default() }).encode(payload);
                    Feedback::Inertia(Inertia::default()).encode(payload);
                });
                if framed.is_err() || end.write_all(&packet).await.is_err() {
                    return;
                }
            }
            read = end.read(&mut bytes) => {
                let at = Instant::now();
                let Ok(count @ 1..) = read else { return };
                let mut rest = &bytes[..count];
                while let Some(payload) = decoder.next(&mut rest) {
                    for command in Command::read(payload).flatten() {
                        if let Command::BaseControl(BaseControl { speed_mm_per_s, .. }) = command {
                            let _ = arrived.send(Arrival { speed_mm_per_s, at });
                        }
                    }
                }
            }
        }
    }
}

/// One command every 5 ms, each with a speed of its own among its neighbours; sorted times.
async fn measure(
    publisher: &Publisher<Twist>,
    arrivals: &mut mpsc::UnboundedReceiver<Arrival>,
) -> Vec<Duration> {
    let mut times = Vec::new();
    let mut period = tokio::time::interval(Duration::from_millis(5));
    for index in 0..COMMANDS {
        period.tick().await;
        let speed = 1 + index % 600;
        let mut twist = Twist::default();
        twist.linear.x = f64::from(speed) / 1000.0;
        let told = Instant::now();
        publisher.publish(&twist).unwrap();
        let arrival = async {
            loop {
                let arrival = arrivals.recv().await.expect("the device runs");
                if arrival.speed_mm_per_s == speed {
                    return arrival.at;
                }
            }
        };
        if let Ok(at) = tokio::time::timeout(Duration::from_secs(1), arrival).await {
            times.push(at.saturating_duration_since(told));
        }
    }
    assert!(times.len() > usize::from(COMMANDS.unsigned_abs()) * 99 / 100, "commands are lost");
    times.sort_unstable();
    times
}
