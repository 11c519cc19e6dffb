//! Hosts, as network namespaces on one switch: discovery by multicast and by `ROS_STATIC_PEERS`; a lab spread over
//! three of them; replies to unknown senders. Real, since namespaces are the system's.
//!
//! Needs root and iproute2; otherwise the tests are reported as skipped, and with `DRAGOMAN_REQUIRE_PEERS` they fail.

#![cfg(target_os = "linux")]

use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::Output;
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::device::{Device, TestPath};
use crate::common::hosts::{Hosts, hosts};
use crate::common::until;
use dragoman_ros::DiscoveryRange;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{PlatformGetStatus, PlatformMoveVelocity, PlatformSetMode};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_srvs::srv::Trigger;
use futures::stream::BoxStream;

/// Timeout of effects of a network change, on a loaded machine.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The recording on host 2 of everything below `/ranger`, for some seconds.
fn record(hosts: &Hosts, variables: &[(&str, &str)]) -> Output {
    let file = std::env::temp_dir().join(format!("{}.mcap", hosts.name(2)));
    let _ = std::fs::remove_file(&file);
    let file = file.display().to_string();
    let program =
        ["timeout", "-s", "INT", "8", env!("CARGO_BIN_EXE_dragoman"), "record", "-o", &file, "ranger/"];
    let output = hosts.command(2, &program).envs(variables.iter().copied()).output().unwrap();
    let _ = std::fs::remove_file(&file);
    output
}

/// The number of recorded joint states.
fn joint_states(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("/ranger/joint_states"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

#[test]
fn hosts_of_a_subnet_find_each_other_by_default() {
    let Some(mut hosts) = hosts("subnet", 2, true) else { return };
    hosts.start_lab(&[]);
    until("the other host finds the lab", || joint_states(&record(&hosts, &[])) > 0);
    let alone = record(&hosts, &[("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]);
    assert_eq!(joint_states(&alone), 0, "{alone:?}");
    let other_domain = record(&hosts, &[("ROS_DOMAIN_ID", "3")]);
    assert_eq!(joint_states(&other_domain), 0, "{other_domain:?}");
}

#[test]
fn a_static_peer_is_found_without_multicast() {
    let Some(mut hosts) = hosts("peers", 2, false) else { return };
    hosts.start_lab(&[]);
    assert_eq!(joint_states(&record(&hosts, &[])), 0, "no host knows of the other");
    let peer = [("ROS_STATIC_PEERS", "10.77.0.1")];
    until("the other host finds the lab", || joint_states(&record(&hosts, &peer)) > 0);
}

/// A program on a host that drives the platform.
struct Driver {
    beside: Beside,
    odometry: BoxStream<'static, Odometry>,
}

impl Driver {
    fn new() -> Self {
        let mut beside = Beside::within(DiscoveryRange::Subnet, 0);
        let odometry = beside.subscribe::<Odometry>("/odom");
        Self { beside, odometry }
    }

    /// Whether the platform accepts a command now; lost requests are repeated.
    fn order(&mut self, name: &str) -> Option<Result<(), String>> {
        let name = format!("/neobotix/{name}");
        let answer = self.beside.try_call::<Trigger::Service>(&name, Trigger::Request::default())?;
        Some(if answer.success { Ok(()) } else { Err(answer.message) })
    }

    /// Brings the platform from any mode to velocity mode, and drives until its base reports motion.
    #[track_caller]
    fn drives(&mut self) {
        let end = Instant::now() + TIME_LIMIT;
        let mut last = String::new();
        while Instant::now() < end {
            for order in ["connect_to_pltf", "init_pltf"] {
                last = format!("{order}: {:?}", self.order(order));
            }
            let mode = PlatformSetMode::Request { mode: 3 };
            let _ = self.beside.try_call::<PlatformSetMode::Service>("/neobotix/set_mode", mode);
            if self.order("start") != Some(Ok(())) {
                continue;
            }
            let before = self.travelled();
            for _ in 0..10 {
                let velocity = PlatformMoveVelocity::Request { translation: 0.1, ..Default::default() };
                let _ = self.beside.try_call::<PlatformMoveVelocity::Service>("/neobotix/move_vel", velocity);
                std::thread::sleep(Duration::from_millis(100));
            }
            if self.travelled() - before > 0.02 {
                return;
            }
        }
        panic!("the base does not move; {last}");
    }

    /// Waits until the platform is in this state.
    #[track_caller]
    fn sees(&mut self, what: &str, operation: u32) {
        until(what, || {
            let answer = self
                .beside
                .try_call::<PlatformGetStatus::Service>("/neobotix/get_status", Default::default());
            answer.is_some_and(|answer| u32::from(answer.status.operation_state) == operation)
        });
    }

    /// The present x of the base, m; messages received so far are outdated.
    #[track_caller]
    fn travelled(&mut self) -> f64 {
        let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        let fresh = self.beside.find("fresh odometry", &mut self.odometry, |odometry: &Odometry| {
            f64::from(odometry.header.stamp.sec) + f64::from(odometry.header.stamp.nanosec) * 1e-9 > start
        });
        fresh.pose.pose.position.x
    }
}

/// The base is on one host, its platform on the second, and the platform's client on the third.
#[test]
fn a_lab_on_three_hosts_recovers_from_a_cut_cable_and_a_restarted_host() {
    let Some(mut hosts) = hosts("spread", 3, true) else { return };
    let device = Device::start_at(TestPath::new("spread"), &[]);
    let port = device.path.0.display().to_string();
    hosts.start(1, &["base", "--port", &port]);
    let leader = ["platform", "--scan", ""];
    let mut platform = hosts.start(2, &leader);
    let hosts = &mut hosts;
    let mut driver = hosts.on(3, Driver::new);
    driver.drives();

    // The base's cable: the base stops by itself, and reconnects when the cable is back.
    hosts.cable(1, "down");
    // The other two still receive each other.
    driver.sees("the platform knows that its base is lost", PlatformStatus::NOT_INITIALIZED);
    hosts.cable(1, "up");
    driver.drives();

    // The cable of the second host.
    hosts.cable(2, "down");
    std::thread::sleep(Duration::from_secs(10));
    hosts.cable(2, "up");
    driver.drives();

    // A host that fails and restarts.
    hosts.kill(platform);
    std::thread::sleep(Duration::from_secs(3));
    platform = hosts.start(2, &leader);
    driver.drives();
    hosts.kill(platform);
}

/// Whether a TCP port of host 1 accepts a connection from host 2.
fn answers(hosts: &Hosts, port: u16) -> bool {
    let address = SocketAddr::from(([10, 77, 0, 1], port));
    hosts.on(2, || TcpStream::connect_timeout(&address, Duration::from_secs(3)).is_ok())
}

/// Whether the 31-byte protocol of host 1 answers host 2.
fn arm_answers(hosts: &Hosts) -> bool {
    hosts.on(2, || {
        let socket = UdpSocket::bind("10.77.0.2:0").unwrap();
        socket.connect("10.77.0.1:5031").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let mut question = [0; 31];
        question[..2].copy_from_slice(b"PS");
        let answered = |_| socket.send(&question).and_then(|_| socket.recv(&mut [0; 64])).is_ok();
        (0..3).any(answered)
    })
}

#[test]
fn only_interfaces_that_were_opened_answer() {
    let Some(mut hosts) = hosts("closed", 2, true) else { return };
    let lab = hosts.start(1, &["up"]);
    let ports = [12000, 10000, 10002];
    let inside = |port: u16| {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        hosts.on(1, || TcpStream::connect(address).is_ok())
    };
    until("the lab starts", || ports.into_iter().all(inside));
    assert_eq!(ports.map(|port| answers(&hosts, port)), [false; 3]);
    assert!(!arm_answers(&hosts));
    hosts.kill(lab);

    hosts.start(1, &["up", "--bind", "10.77.0.1"]);
    until("the opened ports answer", || ports.into_iter().all(|port| answers(&hosts, port)));
    until("the arm answers", || arm_answers(&hosts));
    let inside = SocketAddr::from(([127, 0, 0, 1], 12000));
    assert!(hosts.on(1, || TcpStream::connect(inside).is_err()), "the other interface is closed");
}

/// The announcement of a participant on host 2 (RTPS 2.5, 9.6.2.2): it receives answers on a port of its own.
fn announcement(port: u16) -> Vec<u8> {
    let parameter = |id: u16, value: &[u8]| {
        let length = u16::try_from(value.len()).unwrap();
        [&id.to_le_bytes(), &length.to_le_bytes(), value].concat()
    };
    let locator =
        [&1_u32.to_le_bytes()[..], &u32::from(port).to_le_bytes(), &[0; 12], &[10, 77, 0, 2]].concat();
    let prefix = *b"\x01\x10stranger..";
    let participant = [&prefix[..], &[0, 0, 1, 0xC1]].concat();
    let parameters = [
        parameter(0x15, &[2, 3, 0, 0]),
        parameter(0x16, &[1, 0x10, 0, 0]),
        parameter(0x50, &participant),
        parameter(0x32, &locator),
        parameter(0x31, &locator),
        parameter(0x58, &0xC3F_u32.to_le_bytes()),
        parameter(0x02, &[20, 0, 0, 0, 0, 0, 0, 0]),
        parameter(1, &[]),
    ];
    // From the writer of participants to their reader, sequence number 1, parameter list in little endian.
    let data = [
        &[0, 0, 16, 0, 0, 1, 0, 0xC7, 0, 1, 0, 0xC2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0][..],
        &parameters.concat(),
    ]
    .concat();
    let length = u16::try_from(data.len()).unwrap();
    [b"RTPS\x02\x03\x01\x10".as_slice(), &prefix, &[0x15, 5], &length.to_le_bytes(), &data].concat()
}

/// The number of packets from host 1 to a participant that announces itself to all its ports, by unicast and multicast.
fn answers_to_an_unknown_participant(hosts: &Hosts) -> usize {
    hosts.on(2, || {
        let stranger = UdpSocket::bind("10.77.0.2:0").unwrap();
        stranger.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
        let announcement = announcement(stranger.local_addr().unwrap().port());
        for _ in 0..3 {
            for port in (7400..7440).chain([5031]) {
                for host in [[10, 77, 0, 1], [239, 255, 0, 1]] {
                    // A closed port is reported, and is not a failure here.
                    let _ = stranger.send_to(&announcement, (std::net::Ipv4Addr::from(host), port));
                }
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        let mut answers = 0;
        while answers < 5 {
            match stranger.recv(&mut [0; 65536]) {
                Ok(_) => answers += 1,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        answers
    })
}

/// The local addresses of the UDP sockets of host 1, from `/proc/net/udp`.
fn bound(hosts: &Hosts) -> Vec<String> {
    let table = hosts.on(1, || std::fs::read_to_string("/proc/thread-self/net/udp").unwrap());
    table.lines().skip(1).filter_map(|line| Some(line.split_whitespace().nth(1)?.to_owned())).collect()
}

#[test]
fn a_lab_on_localhost_receives_nothing_from_other_hosts() {
    let Some(mut hosts) = hosts("loopback", 2, true) else { return };
    for (range, is_open) in [("SUBNET", true), ("LOCALHOST", false), ("OFF", false)] {
        let lab = hosts.start_with(1, &["up"], &[("ROS_AUTOMATIC_DISCOVERY_RANGE", range)]);
        std::thread::sleep(Duration::from_secs(3));
        let answers = answers_to_an_unknown_participant(&hosts);
        assert_eq!(answers > 0, is_open, "{range}: {answers} answers");
        let bound = bound(&hosts);
        assert!(!bound.is_empty());
        // 127.0.0.1, and the group of discovery, 239.255.0.1.
        let is_local =
            |address: &String| address.starts_with("0100007F:") || address.starts_with("0100FFEF:");
        assert_eq!(!bound.iter().all(is_local), is_open, "{range}: {bound:?}");
        hosts.kill(lab);
    }
}
