//! Faults, with causes and remedies, from the participant's probes of its own addresses.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::IpAddr;

use rustdds::{
    FailingDestination, InterfaceReport, InterfaceState, LoopBackPath, LoopBackReport, OverflowingPort,
};

use crate::diagnostics::Severity;
use crate::health::Fault;

/// Consecutive lost probes that are normal: a busy machine may lose some.
const TOLERATED: u32 = 2;

/// Consecutive probes that may find a full send buffer, as they do while large messages are sent.
const TOLERATED_WHILE_SENDING: u32 = 10;

/// The faults that a report of the participant shows, with their causes and remedies. The same fault has the same text in
/// each report.
pub(super) fn faults(report: &LoopBackReport) -> Vec<Fault> {
    let mut faults: Vec<Fault> = report.closed_ports.iter().map(closed_port).collect();
    faults.extend(report.interfaces.iter().filter_map(changed_interface));
    faults.extend(lost_unicast(report));
    faults.extend(report.paths.iter().filter_map(|path| {
        let interface = interface_of(report, path.interface?)?;
        (is_lost(path) && is_usable(interface)).then(|| lost_multicast(report, path, interface))
    }));
    faults.extend(report.overflowing.iter().filter_map(|full| overflowing(report, full)));
    faults.extend(report.failing_destination.as_ref().and_then(failing_destination));
    faults
}

fn error(text: String) -> Fault {
    Fault { severity: Severity::Error, text }
}

fn is_lost(path: &LoopBackPath) -> bool {
    let tolerated = match path.failure {
        Some(ErrorKind::WouldBlock) => TOLERATED_WHILE_SENDING,
        _ => TOLERATED,
    };
    path.missed > tolerated
}

fn interface_of(report: &LoopBackReport, address: IpAddr) -> Option<&InterfaceReport> {
    report.interfaces.iter().find(|interface| interface.address == address)
}

/// Whether the state of the interface explains no loss.
fn is_usable(interface: &InterfaceReport) -> bool {
    matches!(interface.state, InterfaceState::Unchanged | InterfaceState::Returned | InterfaceState::New)
}

fn closed_port((port, reason): &(u16, ErrorKind)) -> Fault {
    let cause = match reason {
        ErrorKind::AddrInUse => format!(
            "another program holds UDP port {port} and does not share it. End that program ('ss -ulpn sport = :{port}' shows \
             it) and restart this one, or use another ROS_DOMAIN_ID"
        ),
        reason => format!("UDP port {port} cannot be opened: {reason}"),
    };
    error(format!(
        "nothing is received by multicast, so ROS nodes of other machines may not be found: {cause}"
    ))
}

fn changed_interface(interface: &InterfaceReport) -> Option<Fault> {
    let InterfaceReport { name, address, state } = interface;
    let (cause, remedy) = match state {
        InterfaceState::Gone => (
            format!("interface {name} no longer has the address {address}"),
            "bring it back, or restart this program, which then uses the present addresses".to_owned(),
        ),
        InterfaceState::Down => (
            format!("interface {name} ({address}) is switched off"),
            format!("switch it on: 'ip link set {name} up'"),
        ),
        InterfaceState::NoLink => {
            (format!("interface {name} ({address}) has no link"), "check its cable or its radio".to_owned())
        }
        InterfaceState::New => (
            format!("interface {name} has had the address {address} only since this program runs"),
            "restart this program to use it".to_owned(),
        ),
        InterfaceState::Unchanged | InterfaceState::Returned | InterfaceState::Unused => return None,
    };
    let text = format!("ROS nodes on the network of {address} are not reached: {cause}; {remedy}");
    Some(Fault { severity: Severity::Warn, text })
}

/// The faults of unicast, one for each port and cause.
fn lost_unicast(report: &LoopBackReport) -> Vec<Fault> {
    let mut lost = BTreeMap::<_, Vec<String>>::new();
    for path in report.paths.iter().filter(|path| path.interface.is_none() && is_lost(path)) {
        let (address, port) = (path.destination.ip(), path.destination.port());
        if interface_of(report, address).is_none_or(is_usable) {
            let cause = cause(report, port, path.failure).unwrap_or_else(|| {
                format!(
                    "its own packets to that port do not arrive. A firewall of this machine drops them, or another program \
                     takes them. Allow UDP port {port} in the firewall; 'ss -ulpn sport = :{port}' shows who has the port"
                )
            });
            lost.entry((port, cause)).or_default().push(address.to_string());
        }
    }
    let faults = lost.into_iter().map(|((port, cause), addresses)| {
        let addresses = addresses.join(", ");
        error(format!("ROS nodes do not reach this program at UDP port {port} of {addresses}: {cause}"))
    });
    faults.collect()
}

fn lost_multicast(report: &LoopBackReport, path: &LoopBackPath, interface: &InterfaceReport) -> Fault {
    let (group, port) = (path.destination.ip(), path.destination.port());
    let InterfaceReport { name, address, state } = interface;
    let cause = cause(report, port, path.failure).unwrap_or_else(|| match state {
        InterfaceState::Returned => "the interface was away since the start. Restart this program".to_owned(),
        _ => format!(
            "its own packets do not come back. A firewall of this machine filters them. Allow UDP port {port} for \
             {group} in the firewall, or name the other machines in ROS_STATIC_PEERS"
        ),
    });
    error(format!(
        "ROS nodes on the network of interface {name} ({address}) may not be found: multicast to {group}, UDP port {port}, \
         does not work: {cause}"
    ))
}

/// The cause of a loss as the system reports it, with the remedy.
fn cause(report: &LoopBackReport, port: u16, failure: Option<ErrorKind>) -> Option<String> {
    match failure {
        Some(failure) => Some(failed(failure)),
        None => report.overflowing.iter().any(|full| full.port == port).then(|| overflow(port)),
    }
}

fn failed(failure: ErrorKind) -> String {
    match failure {
        ErrorKind::PermissionDenied => {
            "a firewall of this machine refuses packets that leave. Allow outgoing UDP".to_owned()
        }
        ErrorKind::WouldBlock => {
            "the send buffer stays full. The interface sends nothing, or too slowly: check its link"
                .to_owned()
        }
        failure => format!("packets cannot be sent: {failure}. Check 'ip address' and 'ip route'"),
    }
}

fn overflow(port: u16) -> String {
    format!(
        "the receive buffer of the socket overflows. Find who sends so much ('tcpdump -n -i any udp port {port}'), or \
         enlarge the buffer ('sysctl -w net.core.rmem_max=8388608') and restart this program"
    )
}

/// A receive buffer that overflows while probes arrive now and then.
fn overflowing(report: &LoopBackReport, full: &OverflowingPort) -> Option<Fault> {
    let port = full.port;
    let is_named = report.paths.iter().any(|path| path.destination.port() == port && is_lost(path));
    (full.rounds > TOLERATED && !is_named).then(|| Fault {
        severity: Severity::Warn,
        text: format!("messages of ROS nodes to UDP port {port} are lost: {}", overflow(port)),
    })
}

/// Packets to another machine that do not leave.
fn failing_destination(failing: &FailingDestination) -> Option<Fault> {
    let FailingDestination { destination, failure, rounds } = failing;
    // Multicast has paths of its own.
    if *rounds <= TOLERATED || destination.ip().is_multicast() {
        return None;
    }
    let text = format!("the ROS node at {destination} gets nothing from this program: {}", failed(*failure));
    Some(Fault { severity: Severity::Warn, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, address: &str, state: InterfaceState) -> InterfaceReport {
        InterfaceReport { name: name.to_owned(), address: address.parse().unwrap(), state }
    }

    fn unicast(destination: &str) -> LoopBackPath {
        let destination = destination.parse().unwrap();
        LoopBackPath { destination, interface: None, missed: 0, failure: None }
    }

    fn multicast(destination: &str, interface: &str) -> LoopBackPath {
        LoopBackPath { interface: Some(interface.parse().unwrap()), ..unicast(destination) }
    }

    /// A machine with one interface besides loopback, on which all is well.
    fn healthy() -> LoopBackReport {
        LoopBackReport {
            interfaces: vec![
                interface("lo", "127.0.0.1", InterfaceState::Unchanged),
                interface("eth0", "10.0.0.7", InterfaceState::Unchanged),
            ],
            paths: vec![
                unicast("127.0.0.1:7411"),
                unicast("10.0.0.7:7411"),
                multicast("239.255.0.1:7400", "10.0.0.7"),
            ],
            ..Default::default()
        }
    }

    /// The only fault of a report.
    #[track_caller]
    fn fault(report: &LoopBackReport) -> (Severity, String) {
        let faults = faults(report);
        assert_eq!(faults.len(), 1, "{faults:?}");
        (faults[0].severity, faults[0].text.clone())
    }

    #[track_caller]
    fn names(report: &LoopBackReport, severity: Severity, words: &[&str]) {
        let (graveness, text) = fault(report);
        assert_eq!(graveness, severity, "{text}");
        for word in words {
            assert!(text.contains(word), "{word}: {text}");
        }
    }

    #[test]
    fn nothing_is_reported_where_all_is_well_or_a_machine_is_busy() {
        let mut report = healthy();
        assert_eq!(faults(&report), []);
        for path in &mut report.paths {
            path.missed = TOLERATED;
        }
        report.overflowing = vec![OverflowingPort { port: 7411, rounds: TOLERATED }];
        assert_eq!(faults(&report), []);
        // Large messages fill the send buffer for a while.
        for path in &mut report.paths {
            (path.missed, path.failure) = (TOLERATED_WHILE_SENDING, Some(ErrorKind::WouldBlock));
        }
        assert_eq!(faults(&report), []);
        assert_eq!(faults(&LoopBackReport::default()), [], "no network, or not yet a round");
    }

    #[test]
    fn a_port_that_receives_nothing_is_reported_once_for_all_addresses() {
        let mut report = healthy();
        for path in &mut report.paths[..2] {
            path.missed = 3;
        }
        let words = ["UDP port 7411 of 127.0.0.1, 10.0.0.7", "firewall", "ss -ulpn sport = :7411"];
        names(&report, Severity::Error, &words);
        let before = faults(&report);
        report.paths[0].missed = 4;
        assert_eq!(faults(&report), before, "a lasting fault keeps its text");
    }

    #[test]
    fn filtered_multicast_is_reported_with_the_interface() {
        let mut report = healthy();
        report.paths[2].missed = 3;
        let words = ["eth0 (10.0.0.7)", "239.255.0.1, UDP port 7400", "firewall", "ROS_STATIC_PEERS"];
        names(&report, Severity::Error, &words);
        report.interfaces[1].state = InterfaceState::Returned;
        names(&report, Severity::Error, &["the interface was away since the start", "Restart"]);
    }

    #[test]
    fn what_the_system_says_is_the_cause() {
        for (failure, words) in [
            (Some(ErrorKind::PermissionDenied), ["firewall", "Allow outgoing UDP"]),
            (Some(ErrorKind::NetworkUnreachable), ["network unreachable", "ip route"]),
            (Some(ErrorKind::WouldBlock), ["send buffer stays full", "link"]),
            (None, ["receive buffer", "net.core.rmem_max"]),
        ] {
            for index in [0, 2] {
                let mut report = healthy();
                let path = &mut report.paths[index];
                (path.missed, path.failure) = (11, failure);
                if failure.is_none() {
                    report.overflowing = vec![OverflowingPort { port: path.destination.port(), rounds: 4 }];
                }
                names(&report, Severity::Error, &words);
            }
        }
    }

    #[test]
    fn a_receive_buffer_that_overflows_for_long_is_named() {
        let overflowing = vec![OverflowingPort { port: 7411, rounds: TOLERATED + 1 }];
        let report = LoopBackReport { overflowing, ..healthy() };
        names(&report, Severity::Warn, &["UDP port 7411", "tcpdump", "net.core.rmem_max"]);
    }

    #[test]
    fn a_port_that_another_program_holds_is_named() {
        let report = LoopBackReport { closed_ports: vec![(7400, ErrorKind::AddrInUse)], ..healthy() };
        names(&report, Severity::Error, &["UDP port 7400", "ss -ulpn sport = :7400", "ROS_DOMAIN_ID"]);
    }

    #[test]
    fn an_interface_that_changed_is_named_and_explains_its_losses() {
        for (state, remedy) in [
            (InterfaceState::Gone, "restart this program"),
            (InterfaceState::Down, "ip link set eth0 up"),
            (InterfaceState::NoLink, "cable"),
        ] {
            let mut report = healthy();
            report.interfaces[1].state = state;
            for path in &mut report.paths[1..] {
                (path.missed, path.failure) = (9, Some(ErrorKind::NetworkUnreachable));
            }
            names(&report, Severity::Warn, &["10.0.0.7", "eth0", remedy]);
        }
        // As the network of containers of which none runs.
        let mut report = healthy();
        report.interfaces[1].state = InterfaceState::Unused;
        report.paths[2].missed = 9;
        assert_eq!(faults(&report), []);
        let mut report = healthy();
        report.interfaces.push(interface("wlan0", "10.1.0.7", InterfaceState::New));
        names(&report, Severity::Warn, &["10.1.0.7", "wlan0", "restart this program"]);
    }

    #[test]
    fn a_machine_that_cannot_be_sent_to_is_named_when_it_lasts() {
        let failing = |rounds| FailingDestination {
            destination: "10.0.0.9:7411".parse().unwrap(),
            failure: ErrorKind::PermissionDenied,
            rounds,
        };
        let mut report = LoopBackReport { failing_destination: Some(failing(2)), ..healthy() };
        assert_eq!(faults(&report), []);
        report.failing_destination = Some(failing(3));
        names(&report, Severity::Warn, &["10.0.0.9:7411", "firewall"]);
    }
}
