//! Latency of a velocity command from `publish` to the wire, through the running node, with 50 Hz of feedback. The
//! measurement ends when the stream takes the bytes; delays of a serial port belong to the kernel.
//!
//! Two publishers: one in the node's process, whose messages go by memory, and one with its own participant, whose
//! messages go over DDS and the loopback interface like those of another process. Each is also measured with a bare
//! subscription instead of the node, whose callback only takes the time: the difference is the driver's share. `cargo
//! bench -p dragoman_base --bench latency` prints a table.

use std::io;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};
use std::time::{Duration, Instant};

use dragoman_base::kobuki::wire::{BaseControl, Command, CoreSensors, Decoder, Feedback, Inertia, frame};
use dragoman_base::node::{Role, start_kobuki};
use dragoman_io::Timeline;
use dragoman_io::serial::{Connection, Simulate, Stream};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex};
use tokio::sync::mpsc;

const COMMANDS: i16 = 500;
/// Rounds of as many commands each, alternating between the driver and the bare subscription.
const ROUNDS: usize = 4;
/// Messages of the bare subscription.
const BARE_TOPIC: &str = "/bare_cmd_vel";
const DOMAIN: u16 = 98;

/// A command as it was written.
struct Arrival {
    speed_mm_per_s: i16,
    at: Instant,
}

/// The driver's end of the line, which records the written speeds.
struct Wire {
    stream: DuplexStream,
    decoder: Decoder,
    written: mpsc::UnboundedSender<Arrival>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
        bytes: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(task, bytes)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut TaskContext<'_>,
        mut bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let at = Instant::now();
        let written = Pin::new(&mut self.stream).poll_write(task, bytes);
        let this = &mut *self;
        while let Some(payload) = this.decoder.next(&mut bytes) {
            for command in Command::read(payload).flatten() {
                if let Command::BaseControl(BaseControl { speed_mm_per_s, .. }) = command {
                    let _ = this.written.send(Arrival { speed_mm_per_s, at });
                }
            }
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let context = context();
    let (ends, mut new_ends) = mpsc::unbounded_channel();
    let (written, mut arrivals) = mpsc::unbounded_channel();
    let (bare_read, mut bare_arrivals) = mpsc::unbounded_channel();
    let simulate = move || {
        let (stream, far) = duplex(4096);
        ends.send(far).unwrap();
        let wire = Wire { stream, decoder: Decoder::new(), written: written.clone() };
        Box::pin(wire) as Pin<Box<dyn Stream>>
    };
    let _entered = runtime.enter();
    let base = start_kobuki(
        &context,
        "/",
        Connection::SimulatedUnlessPort(Simulate::new(simulate, Timeline::default())),
        Role::Robot,
    )
    .unwrap();
    runtime.spawn(base.node);
    runtime.spawn(async move {
        while let Some(end) = new_ends.recv().await {
            device(end).await;
        }
    });
    runtime.block_on(base.measured).unwrap();

    runtime.spawn(bare_reader(&context, bare_read).unwrap());

    println!("{:<44} {:>8} {:>8} {:>8} {:>8}", "us", "p50", "p90", "p99", "most");
    for (way, context) in [("by memory", context.clone()), ("over DDS, by loopback", self::context())] {
        let mut node = Node::create(context, "commander", "").unwrap();
        let mut measured = Vec::new();
        // Alternating, so that other load on the machine affects both alike.
        let mut publisher = |topic: &str| {
            let publisher = node.create_publisher::<Twist>(topic, QosProfile::default()).unwrap();
            runtime.block_on(publisher.wait_for_inter_process_subscribers().unwrap()).unwrap();
            publisher
        };
        let (to_base, to_bare) = (publisher("/cmd_vel"), publisher(BARE_TOPIC));
        std::thread::sleep(Duration::from_millis(500));
        let (mut driven, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            driven.extend(runtime.block_on(measure(&to_base, &mut arrivals)));
            bare.extend(runtime.block_on(measure(&to_bare, &mut bare_arrivals)));
        }
        for (name, mut times) in [("cmd_vel to the wire", driven), ("a bare subscription", bare)] {
            times.sort_unstable();
            let shares = [0.5, 0.9, 0.99, 1.0];
            let row =
                shares.map(|share| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6);
            print_row(&format!("{name}, {way}"), row);
            measured.push(row);
        }
        let [driven, bare] = measured[..] else { unreachable!("two rows") };
        println!(
            "{:<44} {:>+8.0} {:>8} {:>+8.0}",
            "the driver's own share",
            driven[0] - bare[0],
            "",
            driven[2] - bare[2]
        );
    }
}

fn print_row(name: &str, [p50, p90, p99, most]: [f64; 4]) {
    println!("{name:<44} {p50:>8.0} {p90:>8.0} {p99:>8.0} {most:>8.0}");
}

/// A node that only reads, like the driver's node, and records the time.
fn bare_reader(
    context: &Context,
    read: mpsc::UnboundedSender<Arrival>,
) -> Result<RunningNode, Box<dyn std::error::Error>> {
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "bare_reader", "")?);
    tasks.subscribe(BARE_TOPIC, QosProfile::default().keep_last(1), move |twist: Twist| {
        let at = Instant::now();
        let _ = read.send(Arrival { speed_mm_per_s: (twist.linear.x * 1000.0).round() as i16, at });
    })?;
    Ok(tasks.start()?)
}

fn context() -> Context {
    let discovery =
        Discovery { domain_id: DOMAIN, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

/// A base that reports its encoders 50 times a second.
async fn device(mut end: DuplexStream) {
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
                let Ok(1..) = read else { return };
            }
        }
    }
}

/// Sends one command every 5 ms, each with a unique speed; returns the latency of each.
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
        let sent = Instant::now();
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
            times.push(at.saturating_duration_since(sent));
        }
    }
    assert!(times.len() > usize::from(COMMANDS.unsigned_abs()) * 99 / 100, "commands are lost");
    times
}
