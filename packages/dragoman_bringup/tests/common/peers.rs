//! Runs the programs in `../peers`, and parses their output.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::implementation::embedded_does;
use super::lines_of;

#[derive(Clone, Copy)]
pub enum Peer {
    Cyclone,
    CycloneCamera,
    FastDds,
    Ros,
    RosActions,
    /// `Ros` with the messages of a later distribution.
    RosKilted,
    /// Programs that use rosbridge.
    Roslibpy,
    Roslib,
    /// A program that uses Foxglove's protocol.
    Foxglove,
    /// A Modbus TCP server.
    Pymodbus,
    /// A receiver of satellite navigation.
    NmeaReceiver,
    /// Clients of an arm of Universal Robots.
    UniversalRobots,
    /// A gripper on Modbus RTU.
    PymodbusGripper,
    /// A program that drives a Create 2.
    Pycreate2,
}

impl Peer {
    /// The peer's program with its first arguments; `None`, with a message, if it is missing.
    pub fn command(self) -> Option<Command> {
        let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");
        let (name, variable, script) = match self {
            Self::Cyclone => ("Cyclone DDS", "DRAGOMAN_PEER_PYTHON", Some("cyclone_peer.py")),
            Self::CycloneCamera => ("Cyclone DDS", "DRAGOMAN_PEER_PYTHON", Some("cyclone_camera.py")),
            Self::FastDds => ("Fast DDS", "DRAGOMAN_PEER_FASTDDS", None),
            Self::Ros => ("ROS 2", "DRAGOMAN_PEER_ROS_PYTHON", Some("ros_peer.py")),
            Self::RosActions => ("ROS 2", "DRAGOMAN_PEER_ROS_PYTHON", Some("ros_actions.py")),
            Self::RosKilted => ("ROS 2 Kilted", "DRAGOMAN_PEER_KILTED_PYTHON", Some("ros_peer.py")),
            Self::Roslibpy => ("roslibpy", "DRAGOMAN_PEER_ROSLIBPY_PYTHON", Some("roslibpy_peer.py")),
            Self::Pymodbus => ("pymodbus", "DRAGOMAN_PEER_PYMODBUS_PYTHON", Some("pymodbus_server.py")),
            Self::NmeaReceiver => ("NMEA", "DRAGOMAN_PEER_NMEA_PYTHON", Some("nmea_receiver.py")),
            Self::UniversalRobots => ("Universal Robots", "DRAGOMAN_PEER_UR_PYTHON", Some("ur_client.py")),
            Self::PymodbusGripper => {
                ("pymodbus", "DRAGOMAN_PEER_PYMODBUS_PYTHON", Some("pymodbus_gripper.py"))
            }
            Self::Pycreate2 => ("pycreate2", "DRAGOMAN_PEER_PYCREATE2_PYTHON", Some("pycreate2_client.py")),
            // The variables name folders, not programs.
            Self::Roslib => ("roslib", "DRAGOMAN_PEER_ROSLIB", Some("roslib_peer.mjs")),
            Self::Foxglove => ("Foxglove", "DRAGOMAN_PEER_FOXGLOVE", Some("foxglove_peer.mjs")),
        };
        let Some(program) = std::env::var_os(variable).filter(|program| !program.is_empty()) else {
            assert!(
                std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(),
                "{variable} does not name the {name} peer"
            );
            report(&format!("SKIPPED: no {name} peer ({variable} is not set)"));
            return None;
        };
        let of_jazzy = || {
            distribution() != "humble" && lab_middleware().is_some_and(|of_lab| of_lab == "rmw_fastrtps_cpp")
        };
        if matches!(self, Self::FastDds) && of_jazzy() && !embedded_does("plain Fast DDS 2.9") {
            return None;
        }
        let mut command = Command::new(&program);
        let script = script.map(|script| format!("{peers}/{script}"));
        if let (Self::Roslib | Self::Foxglove, Some(script)) = (self, &script) {
            command = Command::new("node");
            let text = std::fs::read_to_string(script).unwrap();
            // A script on the command line finds packages from the working folder.
            command.current_dir(program).args(["--input-type=module", "--eval", &text, "--"]);
        } else {
            command.args(script);
        }
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        if distribution() == "humble" {
            command.env("ROS_LOCALHOST_ONLY", "1");
        }
        if std::env::var_os("RMW_IMPLEMENTATION").is_none() {
            command.env("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp");
        }
        command.env("ROS_LOG_DIR", env!("CARGO_TARGET_TMPDIR"));
        Some(command)
    }

    /// As [`Peer::command`], for a peer that calls the lab's services: also `None`, with a message, if the lab's
    /// middleware maps services differently than the peer.
    pub fn caller(self) -> Option<Command> {
        let own = match self {
            Self::Cyclone | Self::CycloneCamera => "rmw_cyclonedds_cpp",
            Self::FastDds => "rmw_fastrtps_cpp",
            // On the same middleware as the lab.
            _ => return self.command(),
        };
        if lab_middleware().is_some_and(|of_lab| of_lab != own) && !embedded_does("both mappings of services")
        {
            return None;
        }
        self.command()
    }
}

/// The middleware of a lab of another build (`DRAGOMAN_TEST_PROGRAM`); `None` for ours, which supports all mappings.
pub fn lab_middleware() -> Option<String> {
    std::env::var_os("DRAGOMAN_TEST_PROGRAM")?;
    let named = std::env::var("RMW_IMPLEMENTATION").ok().filter(|name| !name.is_empty());
    Some(named.unwrap_or_else(|| "rmw_fastrtps_cpp".to_owned()))
}

/// The sourced ROS 2; Jazzy if there is none.
pub fn distribution() -> String {
    std::env::var("ROS_DISTRO").unwrap_or_else(|_| "jazzy".into())
}

/// Prints a line for passing tests too, unlike `println!`.
pub fn report(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A running peer; killed when dropped.
pub struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Running {
    pub fn start(mut command: Command, domain: u16, arguments: &[&str]) -> Self {
        let mut child = command
            .args(arguments)
            .env("ROS_DOMAIN_ID", domain.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let lines = lines_of([child.stdout.take().unwrap()]);
        Self { child, lines }
    }

    /// The next line of its output.
    #[track_caller]
    pub fn line(&self, time_limit: Duration) -> String {
        self.lines.recv_timeout(time_limit).expect("the peer prints a line")
    }

    /// Its output until it ends, within `time_limit`.
    pub fn facts(mut self, time_limit: Duration) -> Facts {
        let end = Instant::now() + time_limit;
        let mut facts = BTreeMap::new();
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
                    facts.insert(name.to_owned(), value.to_owned());
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("the peer is not done after {time_limit:?}: {facts:#?}")
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        let mut complaint = String::new();
        let _ = self.child.stderr.take().unwrap().read_to_string(&mut complaint);
        let status = self.child.wait().unwrap();
        assert!(status.success(), "the peer failed with {status}: {complaint}\n{facts:#?}");
        Facts(facts)
    }

    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parsed output of a peer.
#[derive(Debug)]
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("the peer does not print {name}: {self:#?}"))
    }

    pub fn number(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or_else(|_| panic!("{name} is not a number: {self:#?}"))
    }

    #[track_caller]
    pub fn accepted(&self, name: &str) {
        assert!(self.text(name).starts_with("True"), "{name}: {}", self.text(name));
    }

    /// Checks for a refusal with a reason that contains `reason`.
    #[track_caller]
    pub fn refused(&self, name: &str, reason: &str) {
        let text = self.text(name);
        assert!(text.starts_with("False ") && text.contains(reason), "{name}: {text}");
    }

    #[track_caller]
    pub fn contains(&self, name: &str, words: &[&str]) {
        for word in words {
            assert!(
                self.text(name).split(' ').any(|given| given == *word),
                "{word} in {name}: {}",
                self.text(name)
            );
        }
    }

    /// Prints some of the values on one line.
    pub fn show(&self, title: &str, names: &[&str]) {
        let figures: Vec<String> = names.iter().map(|name| format!("{name} {}", self.text(name))).collect();
        report(&format!("{title}: {}", figures.join(", ")));
    }
}
