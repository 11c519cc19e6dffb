//! A gripper on Modbus RTU: activation, positions, a thing between its fingers, faults of the line.

use std::time::Duration;

use super::operator::{Operator, STEP};
use crate::common::sleep;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/modbus_gripper.yaml");

/// A gripper that is activated.
fn operator() -> Operator {
    let mut gripper = Operator::new("modbus_gripper", TEXT, &[]);
    gripper.diagnosed(|message| message == "running");
    let mut state = gripper.beside.subscribe::<Text>("/modbus_gripper/state");
    gripper.beside.find("no activation", &mut state, |state| state.data == "reset");
    let (success, reason) = gripper.call("open");
    assert!(!success && reason == "the machine is in state inactive, not in ready", "{reason}");
    assert_eq!(gripper.call("activate"), (true, String::new()));
    gripper.beside.find("activation", &mut state, |state| state.data == "activating");
    gripper.beside.find("its end", &mut state, |state| state.data == "active");
    sleep(STEP);
    gripper
}

#[test]
fn it_moves_to_positions_and_holds_things() {
    let mut gripper = operator();
    let mut joints = gripper.beside.subscribe::<JointState>("/modbus_gripper/joint_states");
    let mut object = gripper.beside.subscribe::<Text>("/modbus_gripper/object");
    gripper.beside.publish("/modbus_gripper/cmd_position", &Float64 { data: 0.04 });
    let half = (0.085 - 0.04) / 0.085 * 0.8;
    let reached = |state: &JointState| (state.position[0] - half).abs() < 0.01;
    let state = gripper.beside.find("the position", &mut joints, reached);
    assert_eq!(state.name, ["robotiq_85_left_knuckle_joint"]);
    gripper.beside.find("its end", &mut object, |object| object.data == "at_goal");
    for wrong in [0.09, -0.01, f64::NAN] {
        gripper.beside.publish("/modbus_gripper/cmd_position", &Float64 { data: wrong });
    }
    let refused = gripper.diagnosed(|message| message.contains("refused"));
    assert!(refused.contains("cmd_position: position: "), "{refused}");
    gripper.set("width", 0.02);
    assert!(gripper.call("close").0);
    gripper.beside.find("a thing", &mut object, |object| object.data == "held_while_closing");
    gripper.is_near("position", 0.02);
    assert!(gripper.call("open").0);
    gripper.beside.find("open", &mut object, |object| object.data == "at_goal");
    // While it moves.
    gripper.set("width", 0.0);
    assert!(gripper.call("close").0);
    sleep(2 * STEP);
    assert!(gripper.call("stop").0);
    sleep(STEP);
    let stopped = gripper.value("position");
    sleep(5 * STEP);
    assert_eq!((gripper.value("position"), gripper.value("action")), (stopped, 1.0));
    assert!(stopped > 0.03, "{stopped}");
}

#[test]
fn silence_and_a_cut_line_are_noticed_and_the_end_stops_it() {
    let mut gripper = operator();
    gripper.device.send("late 0.5");
    sleep(STEP);
    let (success, reason) = gripper.call("open");
    assert!(!success && reason == "no answer to write_registers within 0.3 s", "{reason}");
    gripper.device.send("late 0");
    gripper.device.send("corrupt 3");
    sleep(STEP);
    gripper.device.send("silence 3");
    gripper.diagnosed(|message| message.contains("silent"));
    gripper.diagnosed(|message| message == "running");
    gripper.device.send("cut 1");
    gripper.diagnosed(|message| message.starts_with("no link"));
    gripper.diagnosed(|message| message == "running");
    sleep(Duration::from_secs(1));
    assert!(gripper.call("close").0);
    sleep(2 * STEP);
    assert_eq!(gripper.value("action"), 9.0);
    assert_eq!(gripper.lab.end().0, Ok(()));
    assert_eq!(gripper.value("action"), 1.0);
}
