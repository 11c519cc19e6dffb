//! Everyday waiting times of programs, and the costs of a lab without an attack.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::{FigureRow, Run};
use crate::common::apolo::{ApoloClient, TRUE, request};
use crate::common::{domain, processor_time};
use crate::good::Times;
use crate::table::{Figure, number};

pub(super) const ROWS: &[FigureRow] = &[
    FigureRow { name: "latency", what: "`dragoman latency`", open: &[], run: latency },
    FigureRow { name: "signals", what: "signals", open: &[], run: signals },
    FigureRow { name: "base", what: "a base and its devices, at rest", open: &[], run: base },
    FigureRow {
        name: "apolo-steps",
        what: "1,000 steps of an Apolo program: move, update, odometry",
        open: &[],
        run: apolo_steps,
    },
    FigureRow {
        name: "apolo-clients",
        what: "50 Apolo clients, 20 questions/s each",
        open: &[],
        run: apolo_clients,
    },
];

/// Medians of topics and services in another process.
fn latency(run: &Run) -> Vec<Figure> {
    const NAMES: [&str; 6] = [
        "/odom",
        "/joint_states",
        "/mobile_base/sensors/core",
        "/simulation/sim_time",
        "/mobile_base/get_geometry",
        "/vrep/aux_console/print",
    ];
    let lab = run.lab(&[], &[]);
    let topics = NAMES.join(",");
    let samples = run.of(500, 50).to_string();
    let mut command = run.command(&lab, &["latency", "--topics", &topics, "--samples", &samples]);
    let output = command.stderr(Stdio::null()).output().expect("it starts");
    let table = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &&str| {
        let row = table.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap_or_default();
        // With r2r, messages without a header have no time.
        if row.ends_with("not stamped") {
            return Figure::new(*name, "not stamped");
        }
        let times: Vec<f64> = row.split_whitespace().skip(3).map_while(|word| word.parse().ok()).collect();
        let [median, _p90, p99, longest, ..] = times[..] else {
            return Figure::new(*name, "none").goal("median", f64::INFINITY, 0.0, 1.0);
        };
        let shown = format!("{} / {} / {}", number(median), number(p99), number(longest));
        Figure::new(format!("{name}: median / p99 / longest, ms"), shown).goal("median", median, 5.0, 2.0)
    };
    NAMES.iter().map(figure).collect()
}

/// Time from the signal to the end of the process.
fn signals(run: &Run) -> Vec<Figure> {
    let figure = |signal: &str| {
        let mut lab = run.lab(&[], &[]);
        lab.signal(signal);
        let sent = Instant::now();
        let _ = lab.child.wait();
        Figure::at_most(format!("{signal}: ended after, s"), sent.elapsed().as_secs_f64(), 1.0, 2.0)
    };
    ["-INT", "-TERM"].map(figure).into()
}

/// Shares of a core.
fn base(run: &Run) -> Vec<Figure> {
    let time = run.of(20, 5);
    let share = |process: u32| {
        let before = processor_time(process);
        std::thread::sleep(Duration::from_secs(time.into()));
        100.0 * (processor_time(process) - before) / f64::from(time)
    };
    let lab = run.lab(&["--only", "turtlebot"], &[]);
    let whole = share(lab.child.id());
    drop(lab);
    let pty = std::env::temp_dir().join(format!("dragoman_figures_{}_{}", std::process::id(), domain()));
    let mut command = std::process::Command::new(&run.program);
    command.args(["device", "kobuki", "--pty"]).arg(&pty).stdin(Stdio::null()).stdout(Stdio::null());
    let mut device = command.spawn().expect("it starts");
    let alone = share(device.id());
    let _ = device.kill();
    let _ = device.wait();
    let _ = std::fs::remove_file(pty);
    vec![
        Figure::at_most("`up --only turtlebot`, % of a core", whole, 8.0, 2.0),
        Figure::at_most("`device kobuki`, % of a core", alone, 5.0, 2.0),
    ]
}

fn apolo_steps(run: &Run) -> Vec<Figure> {
    let lab = run.lab(&[], &[]);
    let mut client = ApoloClient::new(lab.apolo);
    assert_eq!(client.ask(&request(b'p', "", &["Neo"], &[0.0, 3.0, 0.0, 0.0])), TRUE);
    let step = request(b'm', "", &["Neo"], &[0.1, 0.5, 0.01]);
    let (update, odometry) = (request(b'U', "", &[], &[]), request(b'o', "", &["Neo"], &[]));
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(client.ask(&step), TRUE);
        client.send(&update);
        client.ask(&odometry);
    }
    vec![Figure::at_most("s", start.elapsed().as_secs_f64(), 0.5, 2.0)]
}

fn apolo_clients(run: &Run) -> Vec<Figure> {
    const CLIENTS: u32 = 50;
    const PERIOD: Duration = Duration::from_millis(50);
    let lab = run.lab(&[], &[]);
    let odometry = request(b'o', "", &["Neo"], &[]);
    let begin = Instant::now() + Duration::from_millis(200);
    let turns = run.of(100, 60);
    let asking = |number: u32| {
        let (mut client, odometry) = (ApoloClient::new(lab.apolo), odometry.clone());
        std::thread::spawn(move || {
            let turns = (0..turns).map(|turn| {
                let due = begin + PERIOD * turn + PERIOD * number / CLIENTS;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                let asked = Instant::now();
                client.ask(&odometry);
                asked.elapsed()
            });
            turns.collect::<Vec<_>>()
        })
    };
    let threads: Vec<_> = (0..CLIENTS).map(asking).collect();
    let times = Times::of(threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()));
    vec![times.figure("p50 / p99 / longest, ms").goal("p99", times.percentile(99), 2.0, 5.0)]
}
