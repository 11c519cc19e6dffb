//! Failures of parts, shutdown, and two processes with the same names.

#![cfg(unix)]

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, FALSE, request};
use crate::common::implementation::embedded_does;
use crate::common::{Answer, Lab, domain};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::msg::NamespaceClaim;
use dragoman_ros::dragoman_msgs::srv::GetLocation;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::executor::block_on;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};
use nix::libc;

/// Timeout on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A lab on free ports, with its stderr.
fn lab(domain: u16, arguments: &[&str]) -> Command {
    let program = std::env::var_os("DRAGOMAN_TEST_PROGRAM");
    let mut command = Command::new(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_dragoman").into()));
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
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    (status, reader.join().unwrap())
}

fn node(domain: u16) -> Node {
    let discovery =
        Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Node::create(Context::with_options(&discovery, Arguments::default()).unwrap(), "observer", "").unwrap()
}

/// The first value that `find` returns.
fn find<T, R>(stream: &mut (impl Stream<Item = T> + Unpin), find: impl Fn(T) -> Option<R>) -> R {
    let found = async {
        loop {
            if let Some(found) = find(stream.next().await.unwrap()) {
                return found;
            }
        }
    };
    match block_on(select(Box::pin(found), futures_timer::Delay::new(PATIENCE))) {
        Either::Left((found, _)) => found,
        Either::Right(_) => panic!("nothing is found"),
    }
}

#[test]
fn a_port_whose_node_panics_is_served_again_and_diagnostics_say_so() {
    let domain = domain();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let lab = Lab::start_with(
        domain,
        &["up", "--only", "ranger", "--fault", "/ranger/arm31=panic@3"],
        &["-p", &format!("arm31:port:={port}")],
    );
    let mut node = node(domain);
    let mut diagnostics = node.subscribe::<DiagnosticArray>("/diagnostics", QosProfile::default()).unwrap();
    let mut state_of = |is_wanted: fn(&str) -> bool| {
        find(&mut diagnostics, |array: DiagnosticArray| {
            let status = array.status.into_iter().find(|status| status.name == "dragoman: parts")?;
            let state = status.values.into_iter().find(|value| value.key == "/ranger/arm31")?.value;
            is_wanted(&state).then_some((status.level, state))
        })
    };
    assert_eq!(state_of(|state| state == "running").0, 0);
    let (level, state) = state_of(|state| state.contains("restarted 1 times"));
    assert_eq!(level, 1, "{state}");
    assert!(state.contains("has panicked: a fault on purpose"), "{state}");
    assert!(matches!(lab.client().ask("PS", [0.0; 7], 0), Answer::Values(..)));
}

#[test]
fn a_driver_that_fails_ends_the_lab_with_its_reason() {
    for (kind, reason) in [("panic", "has panicked: a fault on purpose"), ("end", "has ended")] {
        let fault = format!("/mobile_base={kind}@2");
        let (status, errors) = end(lab(domain(), &["up", "--fault", &fault]).spawn().unwrap());
        assert_eq!(status.code(), Some(1), "{errors}");
        assert!(errors.contains(&format!("dragoman: /mobile_base {reason}")), "{errors}");
    }
}

/// One bit for each signal that this process ignores.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[test]
fn signals_are_obeyed_from_the_start_on() {
    for (signal, number) in [("-INT", libc::SIGINT), ("-TERM", libc::SIGTERM), ("-HUP", libc::SIGHUP)] {
        // A shell makes its background processes ignore SIGINT, and they and their children inherit this.
        if ignored_signals() & (1 << (number - 1)) != 0 {
            println!("{signal} is ignored here");
            continue;
        }
        for delay in [0, 30, 100, 200, 400, 2000] {
            let child = lab(domain(), &["up"]).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(delay));
            let sent = Instant::now();
            let id = child.id().to_string();
            assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
            let (status, errors) = end(child);
            // Before it has installed its handlers, the system ends it.
            let is_early = delay < 200 && status.signal() == Some(number);
            assert!(is_early || status.code() == Some(0), "{signal} after {delay} ms: {status}: {errors}");
            assert!(
                sent.elapsed() < Duration::from_secs(10),
                "{signal} after {delay} ms: {:?}",
                sent.elapsed()
            );
        }
    }
}

#[test]
fn of_two_labs_the_older_one_goes_on_whatever_their_distance_in_time() {
    for apart in [700, 3000] {
        let domain = domain();
        let first = Lab::start_with(domain, &["up"], &["-p", "arm31:port:=0"]);
        std::thread::sleep(Duration::from_millis(apart));
        let (status, errors) = end(lab(domain, &["up"]).spawn().unwrap());
        assert_eq!(status.code(), Some(1), "{apart} ms: {errors}");
        assert!(errors.contains("is served by `dragoman up`") && errors.contains("in a circle"), "{errors}");
        assert_ne!(
            ApoloClient::new(first.apolo).ask(&request(b'G', "", &["pieza"], &[])),
            FALSE,
            "{apart} ms"
        );
    }
}

#[test]
fn of_two_labs_that_start_together_one_goes_on() {
    let domain = domain();
    let mut labs: Vec<Child> = (0..2).map(|_| lab(domain, &["up"]).spawn().unwrap()).collect();
    let start = Instant::now();
    let ended = loop {
        if let Some(index) = labs.iter_mut().position(|lab| lab.try_wait().unwrap().is_some()) {
            break index;
        }
        assert!(start.elapsed() < PATIENCE, "both go on");
        std::thread::sleep(Duration::from_millis(20));
    };
    let (status, errors) = end(labs.remove(ended));
    assert_eq!(status.code(), Some(1), "{errors}");
    let mut other = labs.remove(0);
    std::thread::sleep(Duration::from_secs(4));
    let is_running = other.try_wait().unwrap().is_none();
    other.kill().unwrap();
    let (_, errors) = end(other);
    assert!(is_running, "both have ended: {errors}");
}

#[test]
fn a_strangers_announcements_end_nothing() {
    let domain = domain();
    let mut stranger = node(domain);
    // A former crash: another process has a writer on the topic of a service's responses.
    let _before = stranger
        .create_service::<GetLocation::Service>("/apolo/get_location", QosProfile::services_default());
    let mut lab = Lab::start_with(domain, &["up"], &["-p", "arm31:port:=0"]);
    let _after =
        stranger.create_service::<GetLocation::Service>("/apolo/get_location", QosProfile::default());
    let claims = stranger
        .create_publisher::<NamespaceClaim>("/dragoman/_claims", QosProfile::default().transient_local())
        .unwrap();
    block_on(claims.wait_for_inter_process_subscribers().unwrap()).unwrap();
    for count in 1..20 {
        let namespaces = ["/apolo", "/ranger", "/neobotix"].map(str::to_owned).to_vec();
        let claim = NamespaceClaim { holder: "stranger".to_owned(), count, namespaces, ..Default::default() };
        claims.publish(&claim).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(lab.child.try_wait().unwrap(), None, "it has ended");
    assert!(matches!(lab.client().ask("PS", [0.0; 7], 0), Answer::Values(..)));
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
