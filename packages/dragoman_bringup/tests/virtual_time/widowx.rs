//! A WidowX in use: `dragoman arm` on one end of a serial line, the simulated servos on the other, each a program of its
//! own, and a ROS node in the domain.

use std::f64::consts::FRAC_PI_4;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Lab, TIME_LIMIT, block_on, sleep, within};
use crate::device::Device;
use dragoman_io::serial::SerialPort;
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax, SetSpeed};
use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus};
use dragoman_ros::lifecycle_msgs::srv::{ChangeState, GetState};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::Float64;
use futures::FutureExt;
use futures::StreamExt;
use futures::stream::BoxStream;

const PORT: &str = "/dev/widowx";

/// Start positions of the joints.
const START: [f64; 6] = [FRAC_PI_4, 0.0, -FRAC_PI_4, -FRAC_PI_4, 0.0, 0.0];
const JOINTS: [&str; 6] =
    ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"];
/// A tick of the coarser servos, and the remaining distance.
const NEAR: f64 = 0.006;

/// A node in the domain of the arm.
struct Operator {
    arm: Lab,
    device: Device,
    beside: Beside,
    states: BoxStream<'static, JointState>,
    diagnostics: BoxStream<'static, DiagnosticArray>,
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
    fn new(device: &[&str]) -> Self {
        let device = Device::start(PORT, &[&["widowx"], device].concat());
        let arm = Lab::start_with(0, &["arm", "--kind", "widowx", "--port", PORT], &[]);
        let mut beside = Beside::new(arm.domain);
        let states = beside.subscribe("/joint_states");
        let diagnostics = beside.subscribe("/diagnostics");
        let mut operator = Self { arm, device, beside, states, diagnostics };
        operator.states("all joints", |_| true);
        operator
    }

    /// Positions and velocities of all joints by name, of the newest message that fits.
    #[track_caller]
    fn states(
        &mut self,
        what: &str,
        fits: impl Fn(&[(String, f64, f64)]) -> bool,
    ) -> Vec<(String, f64, f64)> {
        self.measured(what, |states| states.len() == JOINTS.len() && fits(states))
    }

    /// As [`Self::states`], of the joints that are measured.
    #[track_caller]
    fn measured(
        &mut self,
        what: &str,
        fits: impl Fn(&[(String, f64, f64)]) -> bool,
    ) -> Vec<(String, f64, f64)> {
        let start = dragoman_time::now();
        loop {
            let states = &mut self.states;
            let newest = block_on(async {
                let mut newest = dragoman_time::timeout(TIME_LIMIT, states.next()).await.ok().flatten();
                while let Some(Some(newer)) = states.next().now_or_never() {
                    newest = Some(newer);
                }
                newest
            });
            let message = newest.unwrap_or_else(|| panic!("{what}: no joint states"));
            let values = message.name.into_iter().zip(message.position).zip(message.velocity);
            let states: Vec<_> =
                values.map(|((name, position), velocity)| (name, position, velocity)).collect();
            if fits(&states) {
                return states;
            }
            assert!(dragoman_time::since(start) < TIME_LIMIT, "{what}: {states:?}");
        }
    }

    /// Waits until a joint is at a position.
    #[track_caller]
    fn arrives(&mut self, joint: usize, position: f64) {
        self.measured(&format!("{} at {position}", JOINTS[joint]), |states| {
            states.iter().any(|(name, at, _)| name == JOINTS[joint] && (at - position).abs() < NEAR)
        });
        // The servo may get the command first: the joint's position counts.
        let there = self.truth("positions")[joint];
        assert!((there - position).abs() < 2.0 * NEAR, "{} is at {there}, not {position}", JOINTS[joint]);
    }

    fn command(&mut self, joint: usize, position: f64) {
        self.publish(&format!("/{}/command", JOINTS[joint]), &Float64 { data: position });
    }

    fn relax(&mut self, joint: usize) {
        self.call::<Relax::Service>(&format!("/{}/relax", JOINTS[joint]), Relax::Request::default());
    }

    fn enable(&mut self, joint: usize, enable: bool) -> bool {
        self.call::<Enable::Service>(&format!("/{}/enable", JOINTS[joint]), Enable::Request { enable }).state
    }

    fn set_speed(&mut self, joint: usize, speed: f64) {
        self.call::<SetSpeed::Service>(&format!("/{}/set_speed", JOINTS[joint]), SetSpeed::Request { speed });
    }

    /// The output of the simulated arm for its six joints.
    fn truth(&self, what: &str) -> [f64; 6] {
        self.device.numbers(what)
    }

    /// Waits until the diagnostics contain this.
    #[track_caller]
    fn reports(&mut self, text: &str) -> DiagnosticStatus {
        let holds = |status: &DiagnosticStatus| status.message.contains(text);
        let array = self.beside.find(text, &mut self.diagnostics, |array| array.status.iter().any(holds));
        array.status.into_iter().find(holds).unwrap()
    }

    fn change(&mut self, id: u8) -> bool {
        let mut request = ChangeState::Request::default();
        request.transition.id = id;
        self.call::<ChangeState::Service>("/widowx/change_state", request).success
    }

    #[track_caller]
    fn life(&mut self, label: &str) {
        let start = dragoman_time::now();
        loop {
            let state = self.call::<GetState::Service>("/widowx/get_state", GetState::Request::default());
            if state.current_state.label == label {
                return;
            }
            assert!(
                dragoman_time::since(start) < TIME_LIMIT,
                "{} and not {label}",
                state.current_state.label
            );
            sleep(Duration::from_millis(20));
        }
    }
}

/// Whether their printed forms are equal.
fn is_near(positions: &[f64], expected: &[f64]) -> bool {
    positions.iter().zip(expected).all(|(position, expected)| (position - expected).abs() < 1e-4)
}

#[test]
fn every_command_topic_moves_its_joint() {
    let mut operator = Operator::new(&[]);
    let states = operator.states("all joints", |_| true);
    let names: Vec<&str> = states.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, JOINTS);
    let before = operator.truth("positions");
    for ((_, position, velocity), truth) in states.iter().zip(before) {
        assert!((position - truth).abs() < NEAR && *velocity == 0.0, "{states:?}");
    }
    assert!(is_near(&before, &START), "nothing has moved: {before:?}");
    for (joint, goal) in [(0, -1.0), (1, 0.6), (2, 1.2), (3, -1.5), (4, 2.0), (5, 1.0)] {
        operator.command(joint, goal);
        operator.arrives(joint, goal);
    }
    // The gripper presses where it is stopped.
    operator.device.send("grip 1.7");
    operator.command(5, 2.5);
    operator.states("the grip", |states| (states[5].1 - 1.7).abs() < NEAR);

    for (value, reason) in [
        (f64::NAN, "arm_2_joint: the position NaN is not finite"),
        (f64::INFINITY, "arm_2_joint: the position inf is not finite"),
        (1.6, "arm_2_joint: the position 1.6 rad is not in -1.5708 to 1.5708 rad"),
        (-2.0, "arm_2_joint: the position -2 rad is not in -1.5708 to 1.5708 rad"),
    ] {
        operator.command(1, value);
        operator.reports(reason);
    }
    operator.command(5, 2.6);
    operator.reports("gripper_1_joint: the position 2.6 rad is not in 0.0000 to 2.5000 rad");
    assert!((operator.truth("positions")[1] - 0.6).abs() < NEAR, "what is refused moves nothing");
}

#[test]
fn every_service_does_what_the_thesis_says() {
    let mut operator = Operator::new(&[]);
    for joint in 0..6 {
        let name = JOINTS[joint];
        // Relaxed: no torque until the next command.
        operator.relax(joint);
        operator.device.prints(&format!("{name} torque off"));
        operator.command(joint, 0.4);
        operator.device.prints(&format!("{name} torque on"));
        operator.arrives(joint, 0.4);
        // Disabled: no torque, no commands.
        assert!(!operator.enable(joint, false));
        operator.device.prints(&format!("{name} torque off"));
        operator.command(joint, 0.9);
        operator.reports(&format!("{name}: it is disabled"));
        assert_eq!(operator.truth("torque")[joint], 0.0);
        // Enabled: it holds its position.
        assert!(operator.enable(joint, true));
        operator.device.prints(&format!("{name} torque on"));
        assert!((operator.truth("positions")[joint] - 0.4).abs() < NEAR);
        // At the commanded speed.
        operator.set_speed(joint, 0.2);
        operator.command(joint, 1.2);
        operator.states("its speed", |states| (states[joint].2 - 0.2).abs() < 0.02);
        operator.set_speed(joint, 1.745);
        operator.arrives(joint, 1.2);
    }
    operator.set_speed(0, -1.0);
    operator.reports("arm_1_joint: a speed of -1 rad/s is not above 0 and up to 3.1416 rad/s");
    operator.set_speed(0, f64::NAN);
    operator.reports("arm_1_joint: a speed of NaN rad/s is not above 0");
    operator.command(0, 0.4);
    operator.arrives(0, 0.4);
}

#[test]
fn relaxed_joints_fall_and_enabled_ones_hold() {
    let mut operator = Operator::new(&[]);
    operator.device.send("load 2 1.5");
    operator.device.send("load 3 0.2");
    sleep(Duration::from_millis(300));
    let held = operator.truth("positions");
    assert!(is_near(&held, &START), "they hold: {held:?}");
    operator.relax(1);
    operator.relax(2);
    operator.states("the fall", |states| states[1].1 > 0.3);
    let fallen = operator.truth("positions");
    assert!(is_near(&fallen[2..], &START[2..]), "its friction is enough: {fallen:?}");
    assert!(operator.enable(1, true));
    operator.states("it stands", |states| states[1].2 == 0.0);
    let held = operator.truth("positions")[1];
    assert!((0.3..1.5).contains(&held), "{held}");
    operator.command(1, 0.0);
    operator.arrives(1, 0.0);
}

#[test]
fn the_arm_reconnects_when_its_cable_is_back() {
    let mut operator = Operator::new(&[]);
    operator.life("active");
    for goal in [1.0, -1.0, 0.5] {
        operator.device.send("cut 4");
        operator.life("unconfigured");
        operator.reports("the line is down");
        operator.command(1, -1.2);
        operator.life("active");
        let there = operator.truth("positions");
        assert!(there[1] > -1.1, "what was said without a line is not done: {there:?}");
        operator.command(1, goal);
        operator.arrives(1, goal);
    }
}

#[test]
fn noise_silence_heat_and_resets_are_reported_and_tolerated() {
    let mut operator = Operator::new(&[]);
    operator.device.send("corrupt 15");
    for goal in [0.8, -0.8] {
        operator.device.send("garbage 300");
        operator.command(1, goal);
        operator.arrives(1, goal);
    }
    operator.device.send("corrupt 0");
    // One servo stops answering, the others work.
    operator.device.send("silence 5 3");
    operator.reports("arm_3_joint: its servo (id 3) does not answer");
    operator.measured("five joints", |states| states.len() == 5);
    operator.command(1, 0.3);
    operator.arrives(1, 0.3);
    operator.states("six joints", |_| true);
    // A servo loses its power, and works again after the next command.
    operator.device.send("reset 2");
    operator.device.prints("arm_2_joint power on");
    operator.states("six joints", |_| true);
    operator.reports("5 of 6 joints hold");
    operator.command(1, -0.4);
    operator.arrives(1, -0.4);
    // Too hot.
    operator.device.send("heat 1 95");
    operator.device.prints("arm_1_joint shutdown: overheating");
    let status = operator.reports("arm_1_joint: overheating");
    assert!(status.values.iter().any(|value| value.key == "arm_1_joint" && value.value.contains("°C")));
    operator.command(0, 0.0);
    operator.reports("arm_1_joint: its servo is too hot (95 degrees Celsius)");
    operator.device.send("heat 1 30");
    operator.reports("5 of 6 joints hold");
    operator.command(0, 0.0);
    operator.arrives(0, 0.0);
    operator.reports("6 of 6 joints hold");
}

#[test]
fn the_life_cycle_relaxes_holds_and_gives_the_port_to_others() {
    let mut operator = Operator::new(&["--limp"]);
    operator.life("inactive");
    assert_eq!(operator.truth("torque"), [0.0; 6], "nothing is switched on at the start");
    assert!(operator.change(3), "activate");
    operator.life("active");
    // The servos follow in the next cycles.
    let switched = Duration::from_millis(100);
    within(switched, "all joints hold", || operator.truth("torque") == [1.0; 6]);
    let held = operator.truth("positions");
    assert!(is_near(&held, &START), "{held:?}");
    let is_free = || SerialPort::open(Path::new(PORT), 1_000_000).is_ok();
    assert!(!is_free());
    assert!(operator.change(4), "deactivate");
    operator.life("inactive");
    within(switched, "all joints are relaxed", || operator.truth("torque") == [0.0; 6]);
    assert!(operator.change(3), "activate");
    operator.life("active");
    assert!(operator.change(4) && operator.change(2), "deactivate, clean up");
    operator.life("unconfigured");
    assert!(is_free());
    assert!(operator.change(1), "configure");
    operator.life("inactive");
    assert!(!is_free());
}

#[test]
fn an_ordinary_end_stops_the_joints_and_leaves_the_arm_held() {
    let mut operator = Operator::new(&[]);
    operator.set_speed(0, 0.3);
    operator.command(0, -3.0);
    operator.states("it moves", |states| states[0].2 < -0.2);
    let (ended, _) = operator.arm.end();
    assert_eq!(ended, Ok(()));
    let stood = operator.truth("positions")[0];
    sleep(Duration::from_millis(500));
    let stands = operator.truth("positions")[0];
    assert!((stood - stands).abs() < 0.02 && stands > -2.5, "{stood} {stands}");
    assert_eq!(operator.truth("torque"), [1.0; 6]);
}

#[test]
fn a_missing_port_is_reported() {
    let error = Lab::try_start(1, &[], 0, &["arm"], &[]).err().expect("it is refused");
    assert!(error.contains("no serial port: name it with --port PATH"), "{error}");
}
