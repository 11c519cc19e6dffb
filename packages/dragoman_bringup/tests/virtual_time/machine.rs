//! `dragoman bridge FILE`: the rover of the book in ROS, and `dragoman device machine` as the rover, on every link.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, sleep, until};
use crate::device::Device;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_msgs::msg::{Float32, String as Text};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Publisher, QosProfile};

const ROVER: &str = include_str!("../../../dragoman_protocol/machines/rover.yaml");
const PORT: &str = "/dev/rover";
const STEP: Duration = Duration::from_millis(100);

struct Operator {
    device: Device,
    beside: Beside,
    velocity: Publisher<Twist>,
    lab: Lab,
    _folder: Folder,
}

impl Operator {
    fn new() -> Self {
        Self::on("{ serial: 57600 }", PORT, &["--link", PORT], &["--pty", PORT])
    }

    /// On another link; `bridge` and `device` are the options of the two programs.
    fn on(link: &str, port: &str, bridge: &[&str], device: &[&str]) -> Self {
        let folder = Folder::new();
        let file = folder.write("rover.yaml", &ROVER.replacen("{ serial: 57600 }", link, 1));
        let device = Device::start_at(port, &[&["machine", &file], device].concat());
        let lab = Lab::start_with(0, &[&["bridge", &file], bridge].concat(), &[]);
        let mut beside = Beside::new(lab.domain);
        let velocity = beside.node.create_publisher("/rover/cmd_vel", QosProfile::default()).unwrap();
        until("a subscriber", || velocity.get_inter_process_subscription_count().unwrap() > 0);
        // Commands are taken once the machine is there.
        let mut odometry = beside.subscribe::<Odometry>("/rover/odom");
        beside.next("odometry", &mut odometry);
        Self { device, beside, velocity, lab, _folder: folder }
    }

    fn drive(&self, linear: f64, angular: f64) {
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        self.velocity.publish(&twist).unwrap();
    }

    /// A value of the machine.
    fn value(&self, name: &str) -> f64 {
        self.device.send(&format!("show {name}"));
        let line = self.device.prints(name);
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn call(&mut self, name: &str) -> (bool, String) {
        let answer =
            self.beside.call::<Trigger::Service>(&format!("/rover/{name}"), Trigger::Request::default());
        (answer.success, answer.message)
    }

    /// The text of the next diagnostics for which `fits` holds.
    fn diagnosed(&mut self, fits: impl Fn(&str) -> bool) -> String {
        let mut all = self.beside.subscribe::<DiagnosticArray>("/diagnostics");
        let is_ours = |array: &DiagnosticArray| {
            array.status.iter().any(|status| status.name.contains("rover") && fits(&status.message))
        };
        let array = self.beside.find("diagnostics", &mut all, is_ours);
        array.status[0].message.clone()
    }
}

#[test]
fn a_machine_drives_and_is_seen_in_ros() {
    let mut rover = Operator::new();
    let mut odometry = rover.beside.subscribe::<Odometry>("/rover/odom");
    let mut battery = rover.beside.subscribe::<BatteryState>("/rover/battery_state");
    for _ in 0..30 {
        rover.drive(0.4, 0.0);
        sleep(STEP);
    }
    let fast = rover.beside.find("motion", &mut odometry, |odom| odom.pose.pose.position.x > 1.0);
    assert!((fast.twist.twist.linear.x - 0.4).abs() < 0.02, "{:?}", fast.twist.twist);
    assert_eq!((&*fast.header.frame_id, &*fast.child_frame_id), ("odom", "base_footprint"));
    let state = rover.beside.next("the battery", &mut battery);
    assert!((state.voltage - 12.6).abs() < 1e-6);
    // Faster than it may: limited. The commander is gone: stopped.
    rover.drive(5.0, 0.0);
    sleep(STEP);
    assert_eq!((rover.value("wanted_left"), rover.value("wanted_right")), (0.5, 0.5));
    sleep(Duration::from_millis(600));
    assert_eq!(rover.value("wanted_left"), 0.0);
    // A turn: both wheels in opposite directions.
    rover.drive(0.0, 1.0);
    sleep(STEP);
    assert_eq!((rover.value("wanted_left"), rover.value("wanted_right")), (-0.15, 0.15));
}

#[test]
fn a_stop_and_the_end_of_the_program_stop_the_machine() {
    let mut rover = Operator::new();
    rover.drive(0.3, 0.0);
    sleep(STEP);
    assert_eq!(rover.value("wanted_left"), 0.3);
    assert_eq!(rover.call("stop"), (true, "stopping the machine".to_owned()));
    assert_eq!(rover.value("wanted_left"), 0.0);
    rover.drive(0.3, 0.0);
    sleep(STEP);
    assert_eq!(rover.value("wanted_left"), 0.3);
    assert_eq!(rover.lab.end().0, Ok(()));
    assert_eq!(rover.value("wanted_left"), 0.0);
}

#[test]
fn values_are_sent_within_their_limits_and_faults_are_seen() {
    let mut rover = Operator::new();
    let mut faults = rover.beside.subscribe::<Text>("/rover/fault");
    rover.beside.publish("/rover/lamp", &Float32 { data: 0.5 });
    assert_eq!(rover.value("level"), 50.0);
    for wrong in [1.5, -0.1, f32::NAN] {
        rover.beside.publish("/rover/lamp", &Float32 { data: wrong });
        sleep(STEP);
        assert_eq!(rover.value("level"), 50.0, "{wrong}");
    }
    let refused = rover.diagnosed(|message| message.contains("refused"));
    assert!(refused.contains("lamp: level: "), "{refused}");
    rover.device.send("set fault 1");
    rover.beside.find("the fault", &mut faults, |text| text.data == "motor");
    sleep(STEP);
    // In a state that is a fault it does not drive.
    rover.drive(0.3, 0.0);
    sleep(STEP);
    assert_eq!(rover.value("wanted_left"), 0.0);
    assert_eq!(rover.diagnosed(|message| message.contains("state")), "the machine is in state fault");
    rover.device.send("set fault 2");
    sleep(STEP);
    assert_eq!(rover.call("clear"), (false, "still there".to_owned()));
    rover.device.send("set fault 1");
    sleep(STEP);
    assert_eq!(rover.call("clear"), (true, String::new()));
    rover.beside.find("no fault", &mut faults, |text| text.data == "none");
    sleep(STEP);
    rover.drive(0.3, 0.0);
    sleep(STEP);
    assert_eq!(rover.value("wanted_left"), 0.3);
}

#[test]
fn a_machine_that_is_silent_late_or_says_everything_twice_is_noticed() {
    let mut rover = Operator::new();
    rover.device.send("late 0.5");
    sleep(STEP);
    let (success, reason) = rover.call("clear");
    assert!(!success && reason == "no answer to clear within 0.3 s", "{reason}");
    rover.device.send("late 0");
    rover.device.send("twice on");
    sleep(STEP);
    assert!(rover.call("clear").0);
    rover.device.send("twice off");
    rover.device.send("garbage 300");
    rover.device.send("corrupt 3");
    let wrong = rover.diagnosed(|message| message.contains("no message"));
    assert!(wrong.contains("check sum") || wrong.contains("bytes"), "{wrong}");
    rover.diagnosed(|message| message == "running");
    rover.device.send("silence 5");
    assert_eq!(rover.diagnosed(|message| message.contains("silent")), "the machine is silent");
    rover.diagnosed(|message| message == "running");
}

#[test]
fn a_cable_that_is_pulled_loses_nothing_but_what_was_under_way() {
    let mut rover = Operator::new();
    let mut odometry = rover.beside.subscribe::<Odometry>("/rover/odom");
    for _ in 0..5 {
        rover.drive(0.3, 0.0);
        sleep(STEP);
        rover.device.send("cut 1");
        rover.diagnosed(|message| message.starts_with("no link"));
        let (success, reason) = rover.call("clear");
        assert!(!success && reason == "the machine is not connected", "{reason}");
        rover.diagnosed(|message| message == "running");
        // An old command is not sent on the new line: the machine has stopped by itself, or not at all.
        rover.device.send("set wanted_left 0");
        sleep(Duration::from_secs(1));
        assert_eq!(rover.value("wanted_left"), 0.0);
        rover.beside.next("odometry", &mut odometry);
    }
}

#[test]
fn a_machine_is_on_tcp_either_way_and_on_udp() {
    for (link, port, bridge, device) in [
        ("{ tcp: 5000 }", "tcp", &["--link", "127.0.0.1"][..], &[][..]),
        ("{ tcp: { port: 5000, listen: true } }", "listen", &[], &[]),
        ("{ udp: 5000 }", "udp", &["--link", "127.0.0.1"], &[]),
        ("{ udp: { port: 0, local: 5000, listen: true } }", "begins", &[], &[]),
    ] {
        let rover = Operator::on(link, port, bridge, device);
        until("it drives", || {
            rover.drive(0.3, 0.0);
            sleep(STEP);
            rover.value("wanted_left") == 0.3
        });
        sleep(Duration::from_secs(1));
        assert_eq!(rover.value("wanted_left"), 0.0, "{link}");
    }
}

#[test]
fn two_machines_of_one_protocol_have_their_own_names_and_frames() {
    let folder = Folder::new();
    let file = folder.write("rover.yaml", ROVER);
    let ports = ["/dev/left", "/dev/right"];
    let devices = ports.map(|port| Device::start(port, &["machine", &file]));
    let machines = [format!("left={file}@/dev/left"), format!("right={file}@/dev/right")];
    let lab = Lab::start_with(
        0,
        &["up", "--only", "machines", "--machine", &machines[0], "--machine", &machines[1]],
        &[],
    );
    let mut beside = Beside::new(lab.domain);
    let velocity = beside.node.create_publisher::<Twist>("/left/cmd_vel", QosProfile::default()).unwrap();
    until("a subscriber", || velocity.get_inter_process_subscription_count().unwrap() > 0);
    for name in ["left", "right"] {
        let mut odometry = beside.subscribe::<Odometry>(&format!("/{name}/odom"));
        let odometry = beside.next("odometry", &mut odometry);
        assert_eq!(odometry.header.frame_id, format!("{name}/odom"));
        assert_eq!(odometry.child_frame_id, format!("{name}/base_footprint"));
    }
    let mut twist = Twist::default();
    twist.linear.x = 0.3;
    velocity.publish(&twist).unwrap();
    sleep(STEP);
    for (device, expected) in devices.iter().zip(["wanted_left 0.3", "wanted_left 0"]) {
        device.send("show wanted_left");
        assert_eq!(device.prints("wanted_left"), expected);
    }
}

#[test]
fn a_name_is_given_once() {
    let folder = Folder::new();
    let file = folder.write("rover.yaml", ROVER);
    let machine = format!("{file}@/dev/rover");
    let arguments = ["up", "--only", "machines", "--machine", &machine, "--machine", &machine];
    let error = Lab::try_start(1, &[], 0, &arguments, &[]).err().expect("an error");
    assert!(error.ends_with("/rover is there twice; NAME=FILE gives it another name"), "{error}");
}
