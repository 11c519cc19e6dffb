//! The ends of processes: their exit codes and the last lines of their stderr, signals at any time, refused security. What goes
//! on in a lab whose parts fail runs on virtual time.

#![cfg(unix)]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, FALSE, request};
use crate::common::implementation::embedded_does;
use crate::common::{Lab, domain, program};
use nix::libc;

/// Timeout on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A lab on free ports, with its stderr.
fn lab(domain: u16, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(arguments)
        .args(["--console", "127.0.0.1:0", "--foxglove", "127.0.0.1:0"])
        .args(["--domain", &domain.to_string(), "--ros-args"])
        .args([
            "-p",
            "arm31:port:=0",
            "-p",
            "apolo:port:=0",
            "-p",
            "neobotix:ports:=[0,0]",
            "-p",
            "player:port:=0",
        ])
        .env_remove("ROS_DOMAIN_ID")
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Exit status of a process, and its stderr.
fn end(mut child: Child) -> (ExitStatus, String) {
    let mut errors = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > TIME_LIMIT {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    (status, reader.join().unwrap())
}

#[test]
fn a_driver_that_fails_ends_the_lab_with_its_reason() {
    let (status, errors) = end(lab(domain(), &["up", "--fault", "/mobile_base=panic@2"]).spawn().unwrap());
    assert_eq!(status.code(), Some(1), "{errors}");
    assert!(errors.contains("dragoman: /mobile_base has panicked: a fault on purpose"), "{errors}");
}

/// One bit for each signal that this process ignores.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[test]
fn signals_are_handled_from_the_start() {
    for (signal, number) in [("-INT", libc::SIGINT), ("-TERM", libc::SIGTERM), ("-HUP", libc::SIGHUP)] {
        // A shell makes its background processes ignore SIGINT, and they and their children inherit this.
        if ignored_signals() & (1 << (number - 1)) != 0 {
            println!("{signal} is ignored here");
            continue;
        }
        for delay in [0, 30, 100, 200, 400, 2000] {
            let child = lab(domain(), &["up"]).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(delay));
            let id = child.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            let (status, errors) = end(child);
            // The system ends it before it has installed its handlers, which it does before its first output.
            let is_early = errors.is_empty() && status.signal() == Some(number);
            assert!(is_early || status.code() == Some(0), "{signal} after {delay} ms: {status}: {errors}");
        }
    }
}

#[test]
fn of_two_labs_the_older_one_goes_on() {
    let domain = domain();
    let first = Lab::start_with(domain, &["up"], &["-p", "arm31:port:=0"]);
    let (status, errors) = end(lab(domain, &["up"]).spawn().unwrap());
    assert_eq!(status.code(), Some(1), "{errors}");
    assert!(errors.contains("is served by `dragoman up`") && errors.contains("in a circle"), "{errors}");
    assert_ne!(ApoloClient::new(first.apolo).ask(&request(b'G', "", &["pieza"], &[])), FALSE);
}

#[test]
fn security_that_cannot_be_honoured_is_refused_at_the_start() {
    if !embedded_does("security is refused") {
        return;
    }
    for (name, value) in [("ROS_SECURITY_STRATEGY", "Enforce"), ("ROS_SECURITY_KEYSTORE", "/keys")] {
        let mut command = lab(domain(), &["up"]);
        let (status, errors) =
            end(command.envs([("ROS_SECURITY_ENABLE", "true"), (name, value)]).spawn().unwrap());
        assert_eq!(status.code(), Some(1), "{errors}");
        assert!(errors.contains(name) && errors.contains("has no DDS security"), "{errors}");
    }
    let (status, errors) = end(lab(domain(), &["up"]).args(["--enclave", "nonexistent"]).spawn().unwrap());
    assert_eq!(status.code(), Some(1), "{errors}");
    assert!(errors.contains("--enclave: 'nonexistent'"), "{errors}");
}
