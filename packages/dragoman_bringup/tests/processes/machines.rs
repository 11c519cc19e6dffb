//! Machines of `packages/dragoman_protocol/machines/` with programs that are not ours, on pseudo-terminals. What their bridges
//! do is tested on virtual time.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::beside::Beside;
use crate::common::device::{Device, TIME_LIMIT, TestPath};
use crate::common::peers::{Peer, Running};
use crate::common::{Lab, domain};
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use dragoman_ros::std_srvs::srv::Trigger;

const CREATE2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/create2.yaml");
const GRIPPER: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/modbus_gripper.yaml");

/// `dragoman device machine`.
fn machine(test: &str, file: &str) -> Device {
    let path = TestPath::new(test);
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["device", "machine", file, "--pty"]).arg(&path.0);
    Device::spawn(path, command)
}

/// The client is another program.
#[test]
fn a_simulated_create_is_driven_by_a_program_of_somebody_else() {
    let Some(command) = Peer::Pycreate2.command() else { return };
    let mut create = machine("create2", CREATE2);
    create.send("set bump_left 1");
    let port = create.path.0.to_str().unwrap().to_owned();
    let facts = Running::start(command, 0, &[&port]).facts(TIME_LIMIT);
    for (name, value) in [
        ("open_interface_mode", 2.0),
        ("velocity_left", 200.0),
        ("velocity_right", 100.0),
        ("battery_capacity", 2696.0),
        ("stopped_left", 0.0),
    ] {
        assert!((facts.number(name) - value).abs() < 0.5, "{name}: {facts:?}");
    }
    assert!((facts.number("voltage") - 16600.0).abs() < 10.0, "{facts:?}");
    let seen = ["bump_left", "bump_right", "cliff_front_left"].map(|name| facts.text(name));
    assert_eq!(seen, ["True", "False", "False"]);
    // Half a second or more on a loaded machine; the left wheel is twice as fast.
    let ratio = facts.number("counts_left") / facts.number("counts_right");
    assert!((1.8..2.2).contains(&ratio) && facts.number("counts_right") > 50.0, "{facts:?}");
}

/// The machine is another program.
#[test]
fn a_gripper_of_somebody_else_is_activated_and_moved() {
    let Some(command) = Peer::PymodbusGripper.command() else { return };
    let gripper = Running::start(command, domain(), &[]);
    let line = gripper.line(TIME_LIMIT);
    let port = line.strip_prefix("line ").unwrap();
    let bridge = Lab::start_with(domain(), &["bridge", GRIPPER, "--link", port], &[]);
    let mut beside = Beside::new(bridge.domain);
    let mut state = beside.subscribe::<Text>("/modbus_gripper/state");
    let mut object = beside.subscribe::<Text>("/modbus_gripper/object");
    let mut joints = beside.subscribe::<JointState>("/modbus_gripper/joint_states");
    beside.find("its state", &mut state, |state| state.data == "reset");
    let activated = beside.call::<Trigger::Service>("/modbus_gripper/activate", Trigger::Request::default());
    assert!(activated.success, "{}", activated.message);
    assert!(gripper.line(TIME_LIMIT).starts_with("command 0100 "));
    beside.find("activation", &mut state, |state| state.data == "active");
    let goal = beside
        .node
        .create_publisher::<Float64>("/modbus_gripper/cmd_position", QosProfile::default())
        .unwrap();
    let half = (0.085 - 0.04) / 0.085 * 0.8;
    beside.find("the position", &mut joints, |state| {
        goal.publish(&Float64 { data: 0.04 }).unwrap();
        (state.position[0] - half).abs() < 0.01
    });
    // 135 steps of 1/3 mm from open, 0.1 m/s, 60 N.
    assert_eq!(gripper.line(TIME_LIMIT), "command 0900 0087 9d30");
    beside.find("its end", &mut object, |object| object.data == "at_goal");
    let stopped = beside.call::<Trigger::Service>("/modbus_gripper/stop", Trigger::Request::default());
    assert!(stopped.success, "{}", stopped.message);
    assert!(gripper.line(TIME_LIMIT).starts_with("command 0100 "));
}
