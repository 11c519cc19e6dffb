//! `dragoman bridge` with machines that are other programs: a rover in Python on a pseudo-terminal, signals, exit codes. What
//! the bridge does is tested on virtual time.

#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::device::TIME_LIMIT;
use crate::common::peers::{Peer, Running};
use crate::common::{Lab, domain, lines_of};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_msgs::msg::{UInt8, UInt16, UInt16MultiArray};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile};

const ROVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/rover.yaml");

const MODBUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/modbus_io.yaml");

/// The rover in Python.
struct Rover {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Rover {
    /// `None` on a machine without Python.
    fn start() -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/rover.py");
        let started = Command::new("python3").args(["-B", script]).stdout(Stdio::piped()).spawn();
        let mut child = match started {
            Err(error) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none() => {
                println!("skipped: there is no python3 here ({error})");
                return None;
            }
            started => started.unwrap(),
        };
        let lines = lines_of([child.stdout.take().unwrap()]);
        Some(Self { child, lines })
    }

    /// The next line with this beginning.
    #[track_caller]
    fn prints(&self, start: &str) -> String {
        let end = Instant::now() + TIME_LIMIT;
        loop {
            let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|_| panic!("the rover does not print '{start}'"));
            if line.starts_with(start) {
                return line;
            }
        }
    }
}

impl Drop for Rover {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Commands a velocity until the rover has it.
fn drive(rover: &Rover, velocity: &Publisher<Twist>, linear: f64, expected: &str) {
    let mut twist = Twist::default();
    twist.linear.x = linear;
    let end = Instant::now() + TIME_LIMIT;
    loop {
        velocity.publish(&twist).unwrap();
        match rover.lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) if line == expected => return,
            _ => assert!(Instant::now() < end, "the rover does not print '{expected}'"),
        }
    }
}

/// Modbus TCP, with a server that knows nothing of Dragoman.
#[test]
fn an_io_block_of_somebody_else_is_read_and_switched() {
    let Some(command) = Peer::Pymodbus.command() else { return };
    let server = Running::start(command, domain(), &[]);
    let line = server.line(TIME_LIMIT);
    let address = format!("127.0.0.1:{}", line.strip_prefix("port ").unwrap());
    let bridge = Lab::start_with(domain(), &["bridge", MODBUS, "--link", &address], &[]);
    let mut beside = Beside::new(bridge.domain);
    let mut values = beside.subscribe::<UInt16MultiArray>("/modbus_io/values");
    let mut outputs = beside.subscribe::<UInt8>("/modbus_io/outputs");
    beside.find("registers", &mut values, |values| values.data == [11, 22, 33, 44]);
    for (on, bits) in [(true, 1), (false, 0)] {
        let answer = beside.call::<SetBool::Service>("/modbus_io/switch", SetBool::Request { data: on });
        assert!(answer.success, "{}", answer.message);
        beside.find("the output", &mut outputs, |outputs| outputs.data == bits);
    }
    let set = beside.node.create_publisher::<UInt16>("/modbus_io/set_value", QosProfile::default()).unwrap();
    beside.find("a register that is set", &mut values, |values| {
        set.publish(&UInt16 { data: 777 }).unwrap();
        values.data == [777, 22, 33, 44]
    });
}

#[test]
fn a_program_of_somebody_else_is_driven_and_stopped() {
    let Some(rover) = Rover::start() else { return };
    let line = rover.prints("line ");
    let port = line.strip_prefix("line ").unwrap();
    let mut bridge = Lab::start_with(domain(), &["bridge", ROVER, "--link", port], &[]);
    let mut beside = Beside::new(bridge.domain);
    let velocity = beside.node.create_publisher("/rover/cmd_vel", QosProfile::default()).unwrap();
    let mut odometry = beside.subscribe::<Odometry>("/rover/odom");
    let mut battery = beside.subscribe::<BatteryState>("/rover/battery_state");
    drive(&rover, &velocity, 0.3, "wheels 300 300");
    beside.find("motion", &mut odometry, |odometry| odometry.pose.pose.position.x > 0.02);
    let state = beside.next("the battery", &mut battery);
    assert!((state.voltage - 11.8).abs() < 1e-6, "{}", state.voltage);
    // The commander is gone, or the service is called.
    rover.prints("wheels 0 0");
    drive(&rover, &velocity, 0.2, "wheels 200 200");
    let stopped = beside.call::<Trigger::Service>("/rover/stop", Trigger::Request::default());
    assert!(stopped.success, "{}", stopped.message);
    rover.prints("wheels 0 0");
    let cleared = beside.call::<Trigger::Service>("/rover/clear", Trigger::Request::default());
    assert!(cleared.success, "{}", cleared.message);
    // The bridge ends.
    drive(&rover, &velocity, 0.2, "wheels 200 200");
    bridge.signal("-TERM");
    rover.prints("wheels 0 0");
    assert_eq!(bridge.child.wait().unwrap().code(), Some(0));
}
