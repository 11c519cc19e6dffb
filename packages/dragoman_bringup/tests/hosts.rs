//! Hosts, as network namespaces on one switch: who finds whom, by multicast and by `ROS_STATIC_PEERS`; a lab that is spread
//! over three of them; what answers to others at all.
//!
//! Needs root and iproute2; elsewhere the tests say that they were skipped, and with `DRAGOMAN_REQUIRE_PEERS` they fail.

#![cfg(target_os = "linux")]

mod common;

use std::fs::File;
use std::io::Write;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::beside::Beside;
use common::device::{Device, TestPath};
use dragoman_ros::DiscoveryRange;
use dragoman_ros::dragoman_msgs::msg::PlatformStatus;
use dragoman_ros::dragoman_msgs::srv::{PlatformGetStatus, PlatformMoveVelocity, PlatformSetMode};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_srvs::srv::Trigger;
use futures::stream::BoxStream;
use nix::sched::{CloneFlags, setns};

/// How long a loaded machine may take for what follows a change of the network.
const PATIENCE: Duration = Duration::from_secs(60);

/// Hosts with the addresses 10.77.0.1 and so on, each with a cable to the switch.
struct Hosts {
    names: Vec<String>,
    switch: String,
    programs: Vec<Child>,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(arguments.split_whitespace()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

impl Hosts {
    fn new(test: &str, count: usize, multicast: bool) -> Result<Self, String> {
        let id = std::process::id() % 100_000;
        let name = |what: &str| format!("dragoman_{test}_{id}_{what}");
        let names = (1..=count).map(|host| name(&host.to_string())).collect();
        let hosts = Self { names, switch: name("switch"), programs: Vec::new() };
        for name in hosts.names.iter().chain([&hosts.switch]) {
            ip(&format!("netns add {name}"))?;
        }
        let switch = &hosts.switch;
        ip(&format!("-n {switch} link add switch type bridge mcast_snooping 0"))?;
        ip(&format!("-n {switch} link set switch up"))?;
        let multicast = if multicast { "on" } else { "off" };
        for (host, name) in (1..).zip(&hosts.names) {
            ip(&format!("-n {switch} link add cable{host} type veth peer name cable netns {name}"))?;
            ip(&format!("-n {switch} link set cable{host} master switch up"))?;
            ip(&format!("-n {name} addr add 10.77.0.{host}/24 dev cable"))?;
            ip(&format!("-n {name} link set lo up"))?;
            ip(&format!("-n {name} link set cable up multicast {multicast}"))?;
        }
        Ok(hosts)
    }

    /// Pulls the cable of a host, or puts it in again.
    fn cable(&self, host: usize, state: &str) {
        ip(&format!("-n {} link set cable{host} {state}", self.switch)).unwrap();
    }

    /// Does something on a host, in a thread of its own.
    fn on<T: Send>(&self, host: usize, act: impl FnOnce() -> T + Send) -> T {
        let namespace = File::open(format!("/run/netns/{}", self.name(host))).unwrap();
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                act()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn name(&self, host: usize) -> &str {
        &self.names[host - 1]
    }

    fn command(&self, host: usize, program: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.name(host)]).args(program);
        for variable in
            ["ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "ROS_STATIC_PEERS", "ROS_LOCALHOST_ONLY"]
        {
            command.env_remove(variable);
        }
        command
    }

    /// Starts `dragoman` on a host; its place among the programs.
    fn start(&mut self, host: usize, arguments: &[&str]) -> usize {
        let mut command = self.command(host, &[env!("CARGO_BIN_EXE_dragoman")]);
        command.args(arguments).args(["--log", "warn"]);
        self.programs.push(command.stdout(Stdio::null()).spawn().unwrap());
        self.programs.len() - 1
    }

    /// Ends a program as a power failure does. `ip netns exec` has become the program itself.
    fn kill(&mut self, program: usize) {
        self.programs[program].kill().unwrap();
        self.programs[program].wait().unwrap();
    }

    fn start_lab(&mut self) {
        self.start(1, &["up"]);
        std::thread::sleep(Duration::from_secs(2));
    }

    /// What host 2 records in some seconds of everything below `/ranger`.
    fn record(&self, variables: &[(&str, &str)]) -> Output {
        let file = std::env::temp_dir().join(format!("{}.mcap", self.name(2)));
        let _ = std::fs::remove_file(&file);
        let file = file.display().to_string();
        let program =
            ["timeout", "-s", "INT", "8", env!("CARGO_BIN_EXE_dragoman"), "record", "-o", &file, "ranger/"];
        let output = self.command(2, &program).envs(variables.iter().copied()).output().unwrap();
        let _ = std::fs::remove_file(&file);
        output
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for program in 0..self.programs.len() {
            let _ = self.programs[program].kill();
            let _ = self.programs[program].wait();
        }
        for name in self.names.iter().chain([&self.switch]) {
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

/// The number of recorded joint states.
fn joint_states(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.starts_with("/ranger/joint_states"));
    line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
}

fn hosts(test: &str, count: usize, multicast: bool) -> Option<Hosts> {
    match Hosts::new(test, count, multicast) {
        Ok(hosts) => Some(hosts),
        Err(why) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_some() => panic!("{why}"),
        Err(why) => {
            // Past the capture of the test's output.
            let _ = writeln!(std::io::stderr(), "SKIPPED: {test}: {why}");
            None
        }
    }
}

#[test]
fn hosts_of_a_subnet_find_each_other_unless_told_otherwise() {
    let Some(mut hosts) = hosts("subnet", 2, true) else { return };
    hosts.start_lab();
    let found = hosts.record(&[]);
    assert!(joint_states(&found) > 200, "{found:?}");
    let alone = hosts.record(&[("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")]);
    assert_eq!(joint_states(&alone), 0, "{alone:?}");
    let other_domain = hosts.record(&[("ROS_DOMAIN_ID", "3")]);
    assert_eq!(joint_states(&other_domain), 0, "{other_domain:?}");
}

#[test]
fn a_static_peer_is_found_without_multicast() {
    let Some(mut hosts) = hosts("peers", 2, false) else { return };
    hosts.start_lab();
    assert_eq!(joint_states(&hosts.record(&[])), 0, "nothing tells one host of the other");
    let found = hosts.record(&[("ROS_STATIC_PEERS", "10.77.0.1")]);
    assert!(joint_states(&found) > 200, "{found:?}");
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

    /// Whether the platform takes a command now: what is lost on the way is asked again.
    fn order(&mut self, name: &str) -> Option<Result<(), String>> {
        let name = format!("/neobotix/{name}");
        let answer = self.beside.try_call::<Trigger::Service>(&name, Trigger::Request::default())?;
        Some(if answer.success { Ok(()) } else { Err(answer.message) })
    }

    /// Brings the platform to velocity mode, whatever it was in, and drives until its base tells that it moves.
    #[track_caller]
    fn drives(&mut self) {
        let end = Instant::now() + PATIENCE;
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
                let velocity = PlatformMoveVelocity::Request { translation: 0.1, rotation: 0.0 };
                let _ = self.beside.try_call::<PlatformMoveVelocity::Service>("/neobotix/move_vel", velocity);
                std::thread::sleep(Duration::from_millis(100));
            }
            if self.travelled() - before > 0.02 {
                return;
            }
        }
        panic!("the base does not move; {last}");
    }

    /// Where the base is now, x in m: what has come until now is old.
    #[track_caller]
    fn travelled(&mut self) -> f64 {
        let start = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
        let fresh = self.beside.find("fresh odometry", &mut self.odometry, |odometry: &Odometry| {
            f64::from(odometry.header.stamp.sec) + f64::from(odometry.header.stamp.nanosec) * 1e-9 > start
        });
        fresh.pose.pose.position.x
    }
}

/// The base is on one host, what leads it on the second, and a program that leads that on the third.
#[test]
fn a_lab_on_three_hosts_survives_a_cut_cable_and_a_restarted_host() {
    let Some(mut hosts) = hosts("spread", 3, true) else { return };
    let device = Device::start_at(TestPath::new("spread"), &[]);
    let port = device.path.0.display().to_string();
    hosts.start(1, &["base", "--port", &port]);
    let leader = ["platform", "--scan", ""];
    let mut platform = hosts.start(2, &leader);
    let hosts = &mut hosts;
    let mut driver = hosts.on(3, Driver::new);
    driver.drives();

    // The base's cable: the base stops by itself, and comes back when the cable does.
    hosts.cable(1, "down");
    std::thread::sleep(Duration::from_secs(10));
    let lost =
        driver.beside.try_call::<PlatformGetStatus::Service>("/neobotix/get_status", Default::default());
    let status = lost.expect("the other two still hear each other").status;
    let operation = u32::from(status.operation_state);
    assert_eq!(operation, PlatformStatus::NOT_INITIALIZED, "the platform knows that its base is lost");
    hosts.cable(1, "up");
    driver.drives();

    // The cable of the host in the middle.
    hosts.cable(2, "down");
    std::thread::sleep(Duration::from_secs(10));
    hosts.cable(2, "up");
    driver.drives();

    // A host that fails, and starts again.
    hosts.kill(platform);
    std::thread::sleep(Duration::from_secs(3));
    platform = hosts.start(2, &leader);
    driver.drives();
    hosts.kill(platform);
}

/// Whether a TCP port of host 1 takes a connection from host 2.
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
    std::thread::sleep(Duration::from_secs(3));
    let ports = [12000, 10000, 10002];
    let inside = SocketAddr::from(([127, 0, 0, 1], 12000));
    assert!(hosts.on(1, || TcpStream::connect(inside).is_ok()), "the lab has started");
    assert_eq!(ports.map(|port| answers(&hosts, port)), [false; 3]);
    assert!(!arm_answers(&hosts));
    hosts.kill(lab);

    hosts.start(1, &["up", "--bind", "10.77.0.1"]);
    let end = Instant::now() + PATIENCE;
    while !answers(&hosts, 12000) {
        assert!(Instant::now() < end, "the opened port answers");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(arm_answers(&hosts));
    assert!(hosts.on(1, || TcpStream::connect(inside).is_err()), "the other interface is closed");
}
