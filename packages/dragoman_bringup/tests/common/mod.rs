//! A lab in another process, and a client of the 31-byte protocol.

#![allow(dead_code, unreachable_pub, unused_imports)] // Every test target uses its part.

#[path = "../../../dragoman_bridge/tests/apolo_node/client.rs"]
pub mod apolo;
mod arm31;
#[cfg(target_os = "linux")]
pub mod beside;
#[cfg(target_os = "linux")]
pub mod device;
#[cfg(target_os = "linux")]
pub mod hosts;
pub mod implementation;
pub mod neobotix;
pub mod peers;
#[cfg(target_os = "linux")]
pub mod platform;
pub mod player;
pub mod recording;
#[cfg(target_os = "linux")]
pub mod undiscovered;
pub mod web;

pub use arm31::{ArmClient, ArmReply, distance, roll_pitch_yaw};

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{OnceLock, mpsc};
use std::time::{Duration, Instant};

/// Waits until a condition holds, at most for the time that a busy machine may take.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < web::TIME_LIMIT, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The lines of outputs of a program, which are read to their end: a program whose output is full or closed would stop.
pub fn lines_of<O: Read + Send + 'static>(outputs: impl IntoIterator<Item = O>) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    for output in outputs {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
    }
    lines
}

/// Processor time of a process so far, s.
pub fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // After the name, which may contain any character, the fields from the third on.
    let fields = stat.rsplit(')').next().unwrap().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap()).sum();
    ticks / 100.0
}

/// Domains from 1 on that these tests use. From 60 on are those of the clients' tests, which may run at the same time
/// (`packages/dragoman_clients/python/tests/support.py`); from 101 on the ports are among the system's ephemeral ones.
const DOMAINS: u16 = 59;

/// A domain without participants on this machine. A long test keeps its domain while others use all remaining ones.
pub fn domain() -> u16 {
    static NEXT: OnceLock<AtomicU16> = OnceLock::new();
    let next = NEXT.get_or_init(|| AtomicU16::new((std::process::id() % u32::from(DOMAINS)) as u16));
    let candidates = (0..DOMAINS).map(|_| 1 + next.fetch_add(1, Ordering::Relaxed) % DOMAINS);
    let mut free = candidates.filter(|domain| {
        // The first participants of a domain listen there (DDSI-RTPS 9.6.2). A test may have killed the very first.
        let mut ports = (0..4).map(|participant| 7400 + 250 * domain + 10 + 2 * participant);
        ports.all(|port| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok())
    });
    free.next().expect("a domain is free")
}

/// Makes a lab on Cyclone DDS discoverable for the peers, which have no multicast. Jazzy's middleware does so itself.
const WITHOUT_MULTICAST: &str = r#"<CycloneDDS><Domain><Discovery><ParticipantIndex>auto</ParticipantIndex>
    <Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>"#;

/// The program under test: the one that cargo has built, or another, for example on r2r.
pub fn program() -> OsString {
    std::env::var_os("DRAGOMAN_TEST_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_dragoman").into())
}

pub struct Lab {
    pub child: Child,
    pub domain: u16,
    /// Address of the 31-byte protocol.
    pub address: SocketAddr,
    /// Address of Apolo's protocol.
    pub apolo: SocketAddr,
    /// Address of PlatformCtrl's protocol.
    pub neobotix: Vec<SocketAddr>,
    /// Address of Player's protocol.
    pub player: SocketAddr,
    /// Address of the console.
    pub console: SocketAddr,
    /// Address of Foxglove's protocol.
    pub foxglove: SocketAddr,
    /// Its output up to `ready`.
    pub banner: Vec<String>,
}

impl Lab {
    /// Starts `dragoman up` on free ports.
    pub fn start() -> Self {
        Self::start_with(domain(), &["up"], &["-p", "arm31:port:=0"])
    }

    pub fn start_with(domain: u16, arguments: &[&str], ros_arguments: &[&str]) -> Self {
        Self::start_in(&[], domain, arguments, ros_arguments)
    }

    /// With more environment variables.
    pub fn start_in(
        variables: &[(&str, &str)],
        domain: u16,
        arguments: &[&str],
        ros_arguments: &[&str],
    ) -> Self {
        let mut command = Command::new(program());
        command.envs(variables.iter().copied());
        Self::start_as(command, domain, arguments, ros_arguments)
    }

    /// With this program.
    pub fn start_as(mut command: Command, domain: u16, arguments: &[&str], ros_arguments: &[&str]) -> Self {
        // Tests run in parallel.
        let free_ports: &[&str] = match arguments.first() {
            Some(&"up") => &["-p", "apolo:port:=0", "-p", "neobotix:ports:=[0,0]", "-p", "player:port:=0"],
            Some(&"platform") => &["-p", "neobotix:ports:=[0,0]"],
            _ => &[],
        };
        let mut free_console = Vec::new();
        if arguments.first() == Some(&"up") && !arguments.contains(&"--console") {
            free_console.extend(["--console", "127.0.0.1:0"]);
        }
        if matches!(arguments.first(), Some(&("up" | "console"))) && !arguments.contains(&"--foxglove") {
            free_console.extend(["--foxglove", "127.0.0.1:0"]);
        }
        if peers::lab_middleware().is_some_and(|name| name == "rmw_cyclonedds_cpp") {
            command.env("CYCLONEDDS_URI", WITHOUT_MULTICAST);
        }
        let mut child = command
            .args(arguments)
            .args(free_console)
            .args(["--domain", &domain.to_string(), "--ros-args"])
            .args(free_ports)
            .args(ros_arguments)
            .env_remove("ROS_DOMAIN_ID")
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = lines_of([child.stdout.take().unwrap()]);
        let mut banner = Vec::new();
        loop {
            let line = lines.recv_timeout(Duration::from_secs(30)).expect("the lab says that it is ready");
            if line == "ready" {
                break;
            }
            banner.push(line);
        }
        let addresses = |protocol: &str| -> Vec<SocketAddr> {
            let rows = banner.iter().filter(|line| line.contains(protocol));
            rows.filter_map(|row| row.split_whitespace().find_map(|word| word.parse().ok())).collect()
        };
        let address = |protocol: &str| {
            addresses(protocol).first().copied().unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 0)))
        };
        let (arm31, apolo) = (address("31-byte arm protocol"), address("Apolo's protocol"));
        let player = address("Player's protocol");
        let neobotix = addresses("PlatformCtrl's protocol");
        let after = |text: &str| -> SocketAddr {
            let found = banner.iter().find_map(|line| line.strip_prefix(text)?.split('/').next());
            found.and_then(|found| found.parse().ok()).unwrap_or_else(|| ([127, 0, 0, 1], 0).into())
        };
        let console = after("console: open http://");
        let foxglove = after("Foxglove and Lichtblick: connect to ws://");
        Self { child, domain, address: arm31, apolo, neobotix, player, console, foxglove, banner }
    }

    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub fn client(&self) -> ArmClient {
        ArmClient::new(self.address)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
