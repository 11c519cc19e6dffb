//! A lab that others cannot reach reports it, in the log and on `/diagnostics`, with the cause and what to do: a taken
//! port, interfaces that change, firewalls, a full receive buffer. Real, since these are the system's.
//!
//! Needs root and iproute2, as `hosts`; firewalls also nftables.

#![cfg(target_os = "linux")]

use std::io::Read;
use std::net::UdpSocket;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::hosts::{Hosts, hosts, ip};
use crate::common::lines_of;
use crate::common::peers::report;
use dragoman_ros::DiscoveryRange;
use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};

/// How long an expected line of the log may take, on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A lab on host 1, whose output is read.
struct Lab {
    child: Child,
    /// Standard output and log.
    lines: mpsc::Receiver<String>,
}

impl Lab {
    fn start(hosts: &Hosts) -> Self {
        let mut command = hosts.command(1, &[env!("CARGO_BIN_EXE_dragoman"), "up"]);
        command.env_remove("RUST_LOG").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let outputs: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        Self { child, lines: lines_of(outputs) }
    }

    /// Waits for a line with all these words.
    #[track_caller]
    fn logs(&self, words: &[&str]) {
        let (end, mut seen) = (Instant::now() + TIME_LIMIT, Vec::new());
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if words.iter().all(|word| line.contains(word)) {
                return;
            }
            seen.push(line);
        }
        panic!("the lab does not log {words:?}: {seen:#?}");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a state of the middleware on `/diagnostics` that `fits`, as a program on host 1 receives it.
#[track_caller]
fn diagnosed(hosts: &Hosts, what: &str, fits: impl Fn(&DiagnosticStatus) -> bool + Sync) {
    hosts.on(1, || {
        let mut beside = Beside::within(DiscoveryRange::Localhost, 0);
        let mut diagnostics = beside.subscribe::<DiagnosticArray>("/diagnostics");
        beside.find(what, &mut diagnostics, |array: &DiagnosticArray| {
            array.status.iter().any(|status| status.name == "dragoman: middleware" && fits(status))
        });
    });
}

/// Sets the rules of a firewall on host 1.
fn set_firewall(hosts: &Hosts, rules: &str) -> Result<(), String> {
    let text = format!("flush ruleset; table inet filter {{ {rules} }}");
    let output = hosts.command(1, &["nft", &text]).output().map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Rules that drop packets on their way in or out.
fn drops(way: &str, packets: &str) -> String {
    format!("chain {way} {{ type filter hook {way} priority 0; {packets} drop; }};")
}

#[test]
fn a_lab_that_is_reached_has_no_faults() {
    let Some(hosts) = hosts("reached", 1, true) else { return };
    let _lab = Lab::start(&hosts);
    diagnosed(&hosts, "many checks without a fault", |status| {
        assert!(status.values.iter().all(|value| value.key != "network"), "{status:?}");
        let checks = status.values.iter().find(|value| value.key == "checks of the network");
        checks.is_some_and(|checks| checks.value.parse::<u64>().unwrap() >= 8)
    });
}

#[test]
fn a_port_that_another_program_does_not_share_is_reported() {
    let Some(hosts) = hosts("taken", 1, true) else { return };
    let _stranger = hosts.on(1, || UdpSocket::bind("0.0.0.0:7400").unwrap());
    let lab = Lab::start(&hosts);
    let words = ["another program holds UDP port 7400", "ss -ulpn sport = :7400", "ROS_DOMAIN_ID"];
    lab.logs(&words);
    diagnosed(&hosts, "the taken port", |status| {
        status.level == 2 && words.iter().all(|word| status.message.contains(word))
    });
}

#[test]
fn an_interface_that_changes_is_reported() {
    let Some(hosts) = hosts("interface", 1, true) else { return };
    let lab = Lab::start(&hosts);
    lab.logs(&["ready"]);
    let host = hosts.name(1);
    hosts.cable(1, "down");
    lab.logs(&["interface cable (10.77.0.1) has no link", "check its cable"]);
    hosts.cable(1, "up");
    lab.logs(&["resolved: ", "has no link"]);
    ip(&format!("-n {host} link set cable down")).unwrap();
    lab.logs(&["interface cable (10.77.0.1) is switched off", "ip link set cable up"]);
    ip(&format!("-n {host} link set cable up")).unwrap();
    lab.logs(&["resolved: ", "is switched off"]);
    ip(&format!("-n {host} addr add 10.78.0.1/24 dev cable")).unwrap();
    lab.logs(&["interface cable has had the address 10.78.0.1 only since", "restart this program"]);
    ip(&format!("-n {host} addr del 10.77.0.1/24 dev cable")).unwrap();
    lab.logs(&["interface cable no longer has the address 10.77.0.1", "restart this program"]);
}

#[test]
fn a_firewall_that_filters_is_reported() {
    let Some(hosts) = hosts("firewall", 1, true) else { return };
    if let Err(reason) = set_firewall(&hosts, "") {
        assert!(std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(), "nft: {reason}");
        return report(&format!("SKIPPED: no firewall: nft: {reason}"));
    }
    let lab = Lab::start(&hosts);
    set_firewall(&hosts, &drops("input", "ip daddr 239.255.0.1")).unwrap();
    let multicast = ["interface cable (10.77.0.1)", "239.255.0.1, UDP port 7400", "ROS_STATIC_PEERS"];
    lab.logs(&multicast);
    diagnosed(&hosts, "filtered multicast", |status| {
        status.level == 2 && status.values.iter().any(|value| value.value.contains(multicast[1]))
    });
    set_firewall(&hosts, &drops("input", "udp dport 7411")).unwrap();
    let unicast = "UDP port 7411 of 10.77.0.1, 127.0.0.1";
    lab.logs(&[unicast, "A firewall of this machine drops them", "Allow UDP port 7411"]);
    set_firewall(&hosts, &drops("output", "ip daddr 239.255.0.1")).unwrap();
    lab.logs(&["239.255.0.1", "a firewall of this machine refuses packets that leave", "Allow outgoing UDP"]);
    set_firewall(&hosts, "").unwrap();
    lab.logs(&["resolved: ", "Allow outgoing UDP"]);
}

#[test]
fn a_full_receive_buffer_is_reported() {
    let Some(hosts) = hosts("flood", 1, true) else { return };
    let lab = Lab::start(&hosts);
    lab.logs(&["ready"]);
    let reported = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            hosts.on(1, || {
                let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
                while !reported.load(Ordering::Relaxed) {
                    let _ = sender.send_to(&[0; 60_000], "127.0.0.1:7411");
                }
            });
        });
        // Ends the flood even if the line does not come.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lab.logs(&["UDP port 7411", "receive buffer of the socket overflows", "net.core.rmem_max"]);
        }));
        reported.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}
