//! A mobile base in use, what needs processes: signals, descriptors and memory over cut lines, another implementation of DDS.
//! What it does is tested on virtual time.

#![cfg(target_os = "linux")]

use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::device::{Device, TIME_LIMIT};
use crate::common::implementation::embedded_does;
use crate::common::peers::{Peer, Running};
use crate::common::{Lab, domain};
use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::kobuki_ros_interfaces::msg as kobuki;
use dragoman_ros::{Publisher, QosProfile};

/// A loaded machine may suspend a process for longer than the 0.1 s after which a Kobuki counts as silent.
const LONG_TIMEOUT: [&str; 2] = ["-p", "feedback_timeout_sec:=1.0"];

/// A node in the domain of the base.
struct Operator {
    base: Lab,
    device: Device,
    beside: Beside,
    velocity: Publisher<Twist>,
}

impl Deref for Operator {
    type Target = Beside;

    fn deref(&self) -> &Beside {
        &self.beside
    }
}

impl DerefMut for Operator {
    fn deref_mut(&mut self) -> &mut Beside {
        &mut self.beside
    }
}

impl Operator {
    fn new(test: &str) -> Self {
        let device = Device::start(&format!("base_{test}"), &[]);
        let port = device.path.0.to_str().unwrap();
        let base = Lab::start_with(domain(), &["base", "--port", port], &LONG_TIMEOUT);
        let mut beside = Beside::new(base.domain);
        let velocity = beside.node.create_publisher("/cmd_vel", QosProfile::default()).unwrap();
        let mut operator = Self { base, device, beside, velocity };
        // A message published at once would have no receiver yet.
        operator.call::<GetGeometry::Service>("/mobile_base/get_geometry", GetGeometry::Request::default());
        operator.wait("the base reads cmd_vel", |operator| {
            operator.velocity.get_inter_process_subscription_count().unwrap() > 0
        });
        operator
    }

    #[track_caller]
    fn wait(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + TIME_LIMIT;
        while !holds(self) {
            assert!(Instant::now() < end, "{what}: not within {TIME_LIMIT:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Files that the base's process has open.
    fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.base.child.id())).unwrap().count()
    }

    fn command(&self, linear: f64, angular: f64) {
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        self.velocity.publish(&twist).unwrap();
    }

    /// Drives ahead until the base moves. A lab on Fast DDS may discover a writer seconds after the writer discovers
    /// it.
    #[track_caller]
    fn starts_moving(&mut self) {
        self.wait("the base starts moving", |operator| {
            operator.command(0.2, 0.0);
            operator.device.pose()[0] > 0.05
        });
    }

    /// Waits until the base stands.
    #[track_caller]
    fn stands(&mut self, why: &str) {
        let mut before = None;
        self.wait(why, |operator| {
            std::thread::sleep(Duration::from_millis(100));
            let now = Some(operator.device.pose());
            std::mem::replace(&mut before, now) == now
        });
    }
}

#[test]
fn a_stopped_driver_stops_the_base_and_a_continued_one_does_not_go_on() {
    let mut operator = Operator::new("gone");
    operator.starts_moving();
    operator.base.signal("-STOP");
    operator.stands("SIGSTOP");
    // Stopped programs continue, but not with their old commands.
    operator.base.signal("-CONT");
    operator.stands("SIGCONT");
    let before = operator.device.pose()[0];
    operator.wait("it drives again", |operator| {
        operator.command(0.2, 0.0);
        operator.device.pose()[0] > before + 0.05
    });
    operator.base.signal("-KILL");
    operator.stands("SIGKILL");
}

#[test]
fn an_ordinary_end_stops_the_base() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let mut operator = Operator::new(&format!("end{signal}"));
        operator.starts_moving();
        operator.base.signal(signal);
        operator.device.prints("speed 0.000");
        assert!(operator.base.child.wait().unwrap().success(), "SIG{signal}");
    }
}

#[test]
fn cut_lines_leave_no_descriptors_and_no_memory() {
    let mut operator = Operator::new("cut");
    let mut robot = operator.latched::<kobuki::RobotStateEvent>("/mobile_base/events/robot_state");
    // The base knows the subscription from here on.
    operator.find("online", &mut robot, |event| event.state == 1);
    let mut cut = |operator: &mut Operator| {
        operator.device.send("cut 0.05");
        operator.find("offline", &mut robot, |event| event.state == 0);
        operator.find("online", &mut robot, |event| event.state == 1);
    };
    cut(&mut operator);
    let (descriptors, memory) = (operator.descriptors(), operator.base.resident_kib());
    for _ in 0..30 {
        cut(&mut operator);
    }
    assert!(operator.descriptors() <= descriptors + 1, "file descriptors grow");
    assert!(operator.base.resident_kib() < memory + 2048, "memory grows");
}

#[test]
fn a_peer_that_is_not_ours_uses_the_base() {
    let Some(peer) = Peer::Cyclone.command() else { return };
    let mut operator = Operator::new("peer");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/cyclone_base.py");
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(peer.get_program());
        command.arg(script).env("PYTHONDONTWRITEBYTECODE", "1");
        Running::start(command, operator.base.domain, arguments)
    };
    let facts = run(&["watch", "3"]).facts(Duration::from_secs(60));
    for topic in ["core", "dock_ir", "imu_data", "battery_state", "odom", "joint_states", "tf"] {
        assert_eq!(facts.text(&format!("{topic}_repeated")), "0", "{topic}: {facts:#?}");
    }
    facts.show(
        "rates, Hz",
        &["core_hz", "imu_data_hz", "imu_data_raw_hz", "odom_hz", "joint_states_hz", "tf_hz"],
    );
    assert_eq!(facts.text("odom"), "odom base_footprint 0.1 0.05");
    assert_eq!(facts.text("tf"), "odom->base_footprint");
    assert_eq!(facts.text("joint_states"), "wheel_left_joint wheel_right_joint");
    assert!(facts.text("version_info").contains("udid 98434864 959859523 1126263088"), "{facts:#?}");
    assert_eq!(facts.text("controller_info"), "type 0 100.000 0.100 2.000");
    assert_eq!(facts.text("robot_state"), "1");
    assert!(facts.text("dock_ir").starts_with("dock_ir_link"), "{facts:#?}");

    let stamped = embedded_does("several types on a topic");
    let commands = run(&["command", if stamped { "TwistStamped" } else { "Twist" }]);
    for said in ["led1 green", "led2 red", "sound error", "external power 5V off", "output 0 on", "gains"] {
        operator.device.prints(said);
    }
    let facts = commands.facts(Duration::from_secs(60));
    assert!(facts.number("driven_m") > 0.05, "{facts:#?}");
    assert_eq!(facts.number("speed_after_silence"), 0.0);

    let events = run(&["events"]);
    assert_eq!(events.line(Duration::from_secs(30)), "listening");
    for (line, received) in [
        ("bump right on", "bumper: 2 1"),
        ("press 1", "button: 1 1"),
        ("drop right on", "wheel_drop: 1 1"),
        ("charger adapter", "power_system: 1"),
        ("input 0 on", "digital_input: 1 0 0 0"),
    ] {
        operator.device.send(line);
        assert_eq!(events.line(TIME_LIMIT), received);
    }
}
