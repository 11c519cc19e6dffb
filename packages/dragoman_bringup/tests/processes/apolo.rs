//! Apolo's world in the lab, what needs processes: the figures, a port of the system that is taken, `dragoman world import`,
//! and Octave.

mod import;
mod octave;

use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, TRUE, request};
use crate::common::peers::report;
use crate::common::{Lab, domain, processor_time};

impl Lab {
    fn apolo(&self) -> ApoloClient {
        ApoloClient::new(self.apolo)
    }
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["--domain", &domain().to_string(), "--ros-args", "-p", "arm31:port:=0"])
        .args(["-p", &format!("apolo:port:={port}")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("apolo:port"),
        "{error}"
    );
}

/// Printed, not asserted: machines differ. `cargo test --release` gives the relevant figures.
#[test]
fn how_long_answers_take() {
    let lab = Lab::start();
    let mut client = lab.apolo();
    assert_eq!(client.ask(&request(b'p', "", &["Neo"], &[0.0, 3.0, 0.0, 0.0])), TRUE);
    let (step, update, odometry) = (
        request(b'm', "", &["Neo"], &[0.1, 0.5, 0.01]),
        request(b'U', "", &[], &[]),
        request(b'o', "", &["Neo"], &[]),
    );
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(client.ask(&step), TRUE);
        client.send(&update);
        client.ask(&odometry);
    }
    report(&format!("1000 steps of move, update and odometry: {:?}", start.elapsed()));

    const CLIENTS: u32 = 50;
    const PERIOD: Duration = Duration::from_millis(50);
    let begin = Instant::now() + Duration::from_millis(200);
    let asking = |number: u32| {
        let (mut client, odometry) = (ApoloClient::new(lab.apolo), odometry.clone());
        std::thread::spawn(move || {
            let turns = (0..100).map(|turn| {
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
    let mut all: Vec<Duration> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    all.sort();
    assert_eq!(all.len(), 5000);
    report(&format!("50 clients, 20 questions per second each: p50 {:?}, p99 {:?}", all[2500], all[4950]));
}

/// Processor load of the idle lab; printed, not asserted.
#[test]
fn the_lab_at_rest() {
    let start = Instant::now();
    let lab = Lab::start();
    let ready = start.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    let before = processor_time(lab.child.id());
    std::thread::sleep(Duration::from_secs(5));
    let share = (processor_time(lab.child.id()) - before) / 5.0 * 100.0;
    report(&format!("ready after {ready:?}; at rest {share} % of a processor, {} KiB", lab.resident_kib()));
}
