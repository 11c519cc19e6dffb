//! `dragoman bridge` with the motor of a DBC file on a CAN bus of the lab, `dragoman device machine` as the motor, and others on
//! the same bus.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Lab, sleep, until};
use crate::device::Device;
use dragoman_io::can::{Bus, Frame, InProcessBus, Received};
use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float32, Float64, String as Text};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{Publisher, QosProfile};

const MOTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/motor_can.yaml");
const BUS: &str = "can0";
const STEP: Duration = Duration::from_millis(100);
/// rad/s.
const RPM: f64 = std::f64::consts::PI / 30.0;

struct Operator {
    device: Device,
    beside: Beside,
    speed: Publisher<Float64>,
    lab: Lab,
    /// Somebody else on the bus.
    stranger: InProcessBus,
}

impl Operator {
    /// With the motor switched on.
    fn new() -> Self {
        let device = Device::start_at(BUS, &["machine", MOTOR, "--link", BUS]);
        let lab = Lab::start_with(0, &["bridge", MOTOR, "--link", BUS], &[]);
        let stranger = InProcessBus::of_lab(BUS);
        let mut beside = Beside::new(lab.domain);
        let speed = beside.node.create_publisher("/motor_can/speed", QosProfile::default()).unwrap();
        until("a subscriber", || speed.get_inter_process_subscription_count().unwrap() > 0);
        let mut joints = beside.subscribe::<JointState>("/motor_can/joint_states");
        beside.next("joint states", &mut joints);
        let mut motor = Self { device, beside, speed, lab, stranger };
        motor.power(true);
        motor
    }

    fn power(&mut self, is_on: bool) {
        let request = SetBool::Request { data: is_on };
        let answer = self.beside.call::<SetBool::Service>("/motor_can/set_motor_power", request);
        assert!(answer.success, "{}", answer.message);
        // The state of the motor tells it.
        sleep(STEP);
    }

    /// Commands a speed in rpm.
    fn drive(&self, rpm: f64) {
        self.speed.publish(&Float64 { data: rpm * RPM }).unwrap();
        sleep(STEP);
    }

    /// A value of the motor.
    fn value(&self, name: &str) -> f64 {
        self.device.send(&format!("show {name}"));
        let line = self.device.prints(name);
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn call(&mut self, name: &str) -> (bool, String) {
        let name = format!("/motor_can/{name}");
        let answer = self.beside.call::<Trigger::Service>(&name, Trigger::Request::default());
        (answer.success, answer.message)
    }

    /// The next diagnostics for which `fits` holds.
    fn diagnosed(&mut self, fits: impl Fn(&str) -> bool) -> DiagnosticStatus {
        let mut all = self.beside.subscribe::<DiagnosticArray>("/diagnostics");
        let is_ours = |array: &DiagnosticArray| {
            array.status.iter().any(|status| status.name.contains("motor_can") && fits(&status.message))
        };
        self.beside.find("diagnostics", &mut all, is_ours).status.remove(0)
    }

    /// A frame of somebody else.
    fn say(&mut self, frame: &str) {
        self.stranger.send(&frame.parse().unwrap()).unwrap();
    }
}

fn counter(status: &DiagnosticStatus, name: &str) -> u64 {
    let value = status.values.iter().find(|value| value.key == name).unwrap();
    value.value.parse().unwrap()
}

#[test]
fn a_motor_turns_and_is_seen_in_ros() {
    let mut motor = Operator::new();
    let mut joints = motor.beside.subscribe::<JointState>("/motor_can/joint_states");
    let mut torque = motor.beside.subscribe::<Float32>("/motor_can/torque");
    let mut voltage = motor.beside.subscribe::<Float32>("/motor_can/voltage");
    let begin = motor.beside.next("a position", &mut joints).position[0];
    for _ in 0..20 {
        motor.drive(600.0);
    }
    assert_eq!(motor.value("wanted"), 600.0);
    let is_fast = |joints: &JointState| (joints.velocity[0] - 600.0 * RPM).abs() < 0.2 * RPM;
    let fast = motor.beside.find("the speed", &mut joints, is_fast);
    assert_eq!(fast.name, ["motor_shaft"]);
    assert!(fast.position[0] > begin + 10.0, "{} {begin}", fast.position[0]);
    motor.beside.next("a torque", &mut torque);
    // One of two pages has it.
    assert!((motor.beside.next("a voltage", &mut voltage).data - 48.0).abs() < 1e-3);
    // Nobody commands any more.
    sleep(Duration::from_secs(1));
    assert_eq!(motor.value("wanted"), 0.0);
    for wrong in [4000.0, -4000.0, f64::NAN] {
        motor.drive(wrong);
        assert_eq!(motor.value("wanted"), 0.0, "{wrong}");
    }
    let refused = motor.diagnosed(|message| message.contains("refused")).message;
    assert!(refused.contains("speed: "), "{refused}");
}

#[test]
fn a_stop_and_the_end_of_the_program_stop_the_motor() {
    let mut motor = Operator::new();
    motor.drive(-300.0);
    assert_eq!(motor.value("wanted"), -300.0);
    assert_eq!(motor.call("stop"), (true, "stopping the machine".to_owned()));
    sleep(STEP);
    assert_eq!((motor.value("wanted"), motor.value("brake")), (0.0, 1.0));
    motor.power(false);
    motor.drive(300.0);
    assert_eq!(motor.value("wanted"), 0.0, "the power stage is off");
    motor.power(true);
    motor.drive(300.0);
    assert_eq!(motor.value("wanted"), 300.0);
    assert_eq!(motor.lab.end().0, Ok(()));
    sleep(STEP);
    assert_eq!(motor.value("wanted"), 0.0);
}

#[test]
fn a_fault_stops_the_motor_until_it_is_cleared() {
    let mut motor = Operator::new();
    let mut faults = motor.beside.subscribe::<Text>("/motor_can/fault");
    motor.drive(300.0);
    motor.device.send("set fault 2");
    motor.beside.find("the fault", &mut faults, |text| text.data == "over_temperature");
    sleep(STEP);
    assert_eq!(motor.value("wanted"), 0.0);
    motor.drive(300.0);
    assert_eq!(motor.value("wanted"), 0.0);
    assert_eq!(motor.diagnosed(|message| message.contains("state")).message, "the machine is in state fault");
    assert!(motor.call("clear_fault").0);
    motor.beside.find("no fault", &mut faults, |text| text.data == "none");
    sleep(STEP);
    motor.drive(300.0);
    assert_eq!(motor.value("wanted"), 300.0);
}

/// Other identifiers, also the same number with the other number of bits, remote frames, and frames of the right identifier that
/// are too short or too long.
#[test]
fn frames_of_others_are_none_of_ours() {
    let mut motor = Operator::new();
    let before = motor.value("beats");
    for frame in [
        "001#0102030405060708",
        "00000401#000000000000",
        "00000201#0000000000000000",
        "00000200#00",
        "1FFFFFFF#",
        // The state's identifier has 29 bits.
        "001#",
        "18FF0001#R8",
        "401#R6",
        "200#R1",
        "201#R8",
    ] {
        motor.say(frame);
    }
    sleep(Duration::from_secs(2));
    let beats = motor.value("beats") - before;
    let status = motor.diagnosed(|_| true);
    assert_eq!((&*status.message, counter(&status, "frames that are no message")), ("running", 0));
    assert!((19.0..=22.0).contains(&beats), "{beats} heartbeats in 2 s: remote frames are none");
    motor.say("18FF0001#00");
    motor.say("18FF0001#");
    motor.say("401#0000000000000000");
    let status = motor.diagnosed(|message| message != "running");
    assert!(status.message.starts_with("no message: "), "{}", status.message);
    assert_eq!(counter(&status, "frames that are no message"), 3);
    motor.diagnosed(|message| message == "running");
}

#[test]
fn a_bus_that_is_lost_comes_back_without_old_commands() {
    let mut motor = Operator::new();
    for _ in 0..3 {
        motor.drive(300.0);
        assert_eq!(motor.value("wanted"), 300.0);
        motor.stranger.set_up(false);
        let status = motor.diagnosed(|message| message.starts_with("no link"));
        assert_eq!(status.message, "no link: the CAN interface is down");
        assert_eq!(motor.call("clear_fault"), (false, "the machine is not connected".to_owned()));
        motor.speed.publish(&Float64 { data: 1.0 }).unwrap();
        sleep(Duration::from_secs(1));
        // Without heartbeat it has stopped by itself.
        assert!(motor.value("wanted").abs() < 1e-3 && motor.value("speed").abs() < 1.0);
        motor.stranger.set_up(true);
        motor.diagnosed(|message| message == "running");
        sleep(Duration::from_secs(1));
        assert!(motor.value("wanted").abs() < 1e-3, "the command is an old one");
    }
}

#[test]
fn a_motor_that_is_silent_is_stopped() {
    let mut motor = Operator::new();
    motor.drive(300.0);
    motor.device.send("silence 3");
    assert_eq!(motor.diagnosed(|message| message.contains("silent")).message, "the machine is silent");
    assert_eq!(motor.value("wanted"), 0.0);
    motor.diagnosed(|message| message == "running");
}

/// More frames than a controller can hold, of others and in the name of the motor, do not hold up a stop.
#[test]
fn a_flood_of_frames_does_not_hold_up_a_stop() {
    let mut motor = Operator::new();
    let [state, other]: [Frame; 2] =
        ["18FF0001#0000000000000010", "700#0000000000000000"].map(|frame| frame.parse().unwrap());
    for round in 0..20 {
        motor.drive(300.0);
        assert_eq!(motor.value("wanted"), 300.0, "{round}");
        for _ in 0..5000 {
            motor.stranger.send(&state).unwrap();
            motor.stranger.send(&other).unwrap();
        }
        assert!(motor.call("stop").0);
        sleep(STEP);
        assert_eq!(motor.value("wanted"), 0.0, "{round}");
        while let Some(Received::Frame(_) | Received::Fault(_)) = motor.stranger.receive() {}
    }
    motor.diagnosed(|message| message == "running");
}

/// Whatever happened, the motor stands still when commands end and the bus is there again.
#[test]
fn any_history_ends_still() {
    let state: Frame = "18FF0001#0000000000000010".parse().unwrap();
    for seed in 0..8 {
        let mut random = oorandom::Rand32::new(seed);
        let mut motor = Operator::new();
        for _ in 0..40 {
            let time = random.rand_range(1..400);
            match random.rand_range(0..9) {
                0..=2 => motor.drive(300.0),
                3 => motor.stranger.set_up(false),
                4 => motor.stranger.set_up(true),
                5 => motor.device.send(&format!("silence 0.{time:03}")),
                6 => motor.device.send(&format!("late 0.{time:03}")),
                7 => motor.device.send(&format!("set fault {}", time % 3)),
                // A bus that is down takes none.
                _ => (0..time * 10).for_each(|_| drop(motor.stranger.send(&state))),
            }
            sleep(Duration::from_millis(time.into()));
        }
        motor.stranger.set_up(true);
        for command in ["late 0", "silence 0", "set fault 0"] {
            motor.device.send(command);
        }
        sleep(Duration::from_secs(3));
        // What the bridge could not send while the bus was down, the motor has done by itself.
        assert!(motor.value("speed").abs() < 1.0, "seed {seed}");
        let status = motor.diagnosed(|message| message == "running");
        assert_eq!(counter(&status, "frames that are no message"), 0, "seed {seed}");
        motor.power(true);
        motor.drive(300.0);
        assert_eq!(motor.value("wanted"), 300.0, "seed {seed}");
    }
}
