//! A WidowX in use, what needs processes: a pseudo-terminal that is cut, descriptors, a signal. What it does is tested on
//! virtual time.

#![cfg(target_os = "linux")]

use crate::common::beside::Beside;
use crate::common::device::{Device, TestPath, widowx};
use crate::common::{Lab, domain};
use dragoman_ros::lifecycle_msgs::srv::GetState;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::Float64;
use futures::stream::BoxStream;
use std::time::Duration;

/// A loaded machine may suspend a process for longer than a servo may be silent.
const LONG_TIMEOUT: [&str; 2] = ["-p", "feedback_timeout:=1.5"];

/// Waits until the life cycle is in this state.
#[track_caller]
fn life(beside: &mut Beside, label: &str) {
    crate::common::until(label, || {
        let state = beside.call::<GetState::Service>("/widowx/get_state", GetState::Request::default());
        state.current_state.label == label
    });
}

/// A joint's position and velocity.
fn joint(state: &JointState, name: &str) -> Option<(f64, f64)> {
    state.name.iter().position(|known| known == name).map(|at| (state.position[at], state.velocity[at]))
}

/// Commands a joint until `fits`. On a loaded machine the arm may lose its servos at any time, and with them a command.
#[track_caller]
fn command(
    beside: &mut Beside,
    states: &mut BoxStream<'static, JointState>,
    (name, goal): (&str, f64),
    fits: impl Fn((f64, f64)) -> bool,
) {
    crate::common::until(name, || {
        beside.publish(&format!("/{name}/command"), &Float64 { data: goal });
        (0..50).any(|_| joint(&beside.next("joint states", states), name).is_some_and(&fits))
    });
}

#[test]
fn it_appears_moves_reconnects_and_stops() {
    let path = TestPath::new("widowx");
    let servos = widowx(&path.0, &[]);
    let mut device = Device::spawn(path, servos);
    let arguments = ["arm", "--kind", "widowx", "--port", device.path.0.to_str().unwrap()];
    let mut arm = Lab::start_with(domain(), &arguments, &LONG_TIMEOUT);
    let mut beside = Beside::new(arm.domain);
    let mut states = beside.subscribe::<JointState>("/joint_states");
    let descriptors = |arm: &Lab| std::fs::read_dir(format!("/proc/{}/fd", arm.child.id())).unwrap().count();
    let near = |goal: f64| move |(position, _): (f64, f64)| (position - goal).abs() < 0.006;
    beside.find("all joints", &mut states, |state| state.name.len() == 6);
    life(&mut beside, "active");
    let before = descriptors(&arm);
    for goal in [1.0, -1.0, 0.5] {
        command(&mut beside, &mut states, ("arm_2_joint", goal), near(goal));
        device.send("cut 4");
        life(&mut beside, "unconfigured");
        life(&mut beside, "active");
    }
    command(&mut beside, &mut states, ("arm_2_joint", -0.5), near(-0.5));
    assert!(descriptors(&arm) <= before + 1, "{before} files were open, now {}", descriptors(&arm));

    command(&mut beside, &mut states, ("arm_1_joint", -2.5), |(_, speed)| speed < -0.2);
    arm.signal("-TERM");
    arm.child.wait().unwrap();
    let mut truth = |what: &str| -> Vec<f64> {
        device.send(what);
        let line = device.prints(what);
        line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect()
    };
    assert_eq!(truth("torque"), [1.0; 6]);
    let mut stood = truth("positions");
    crate::common::until("it stands", || {
        std::thread::sleep(Duration::from_millis(50));
        let before = std::mem::replace(&mut stood, truth("positions"));
        (stood[0] - before[0]).abs() < 0.001
    });
    assert!(stood[0] > -2.4, "it has gone all the way: {stood:?}");
}
