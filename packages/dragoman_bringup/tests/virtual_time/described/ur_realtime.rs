//! An arm of Universal Robots that streams its state.

use super::Described;
use dragoman_ros::geometry_msgs::msg::{PoseStamped, WrenchStamped};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64MultiArray, String as Text, UInt64};

const TEXT: &str = include_str!("../../../../dragoman_protocol/machines/ur_realtime.yaml");

/// Position and velocity of a joint.
fn joint(state: &JointState, name: &str) -> (f64, f64) {
    let at = state.name.iter().position(|one| one == name).unwrap();
    (state.position[at], state.velocity[at])
}

#[test]
fn joints_tool_and_modes_are_published() {
    let mut arm = Described::start("ur_realtime", TEXT, None);
    let mut joints = arm.beside.subscribe::<JointState>("/ur_realtime/joint_states");
    let mut poses = arm.beside.subscribe::<PoseStamped>("/ur_realtime/tcp_pose");
    let mut wrenches = arm.beside.subscribe::<WrenchStamped>("/ur_realtime/wrench");
    let mut inputs = arm.beside.subscribe::<UInt64>("/ur_realtime/digital_inputs");
    let mut modes = arm.beside.subscribe::<Text>("/ur_realtime/robot_mode");
    let mut temperatures = arm.beside.subscribe::<Float64MultiArray>("/ur_realtime/joint_temperatures");
    let state = arm.beside.next("joints", &mut joints);
    assert_eq!(joint(&state, "elbow_joint"), (1.57, 0.0));
    arm.send("set to0 1");
    let moving = |state: &JointState| joint(state, "shoulder_pan_joint").0 > 0.3;
    let state = arm.beside.find("a motion", &mut joints, moving);
    assert!(joint(&state, "shoulder_pan_joint").1 > 1.0 && joint(&state, "wrist_3_joint").1 == 0.0);
    let there = |state: &JointState| (joint(state, "shoulder_pan_joint").0 - 1.0).abs() < 0.01;
    arm.beside.find("its end", &mut joints, there);
    // Half a turn about y, as a rotation vector.
    let pose = arm.beside.next("the tool", &mut poses);
    assert_eq!(&*pose.header.frame_id, "base");
    let (position, turn) = (&pose.pose.position, &pose.pose.orientation);
    assert_eq!((position.x, position.y, position.z), (-0.3, -0.2, 0.4));
    assert!((turn.y - 1.0).abs() < 1e-6 && (turn.w - 0.0008).abs() < 1e-4 && turn.x == 0.0, "{turn:?}");
    arm.send("set ry 0");
    arm.beside.find("no turn", &mut poses, |pose| pose.pose.orientation.w == 1.0);
    arm.send("set fz -12.5");
    arm.send("set inputs 5");
    arm.send("set robot_mode 5");
    arm.beside.find("a force", &mut wrenches, |wrench| wrench.wrench.force.z == -12.5);
    arm.beside.find("inputs", &mut inputs, |inputs| inputs.data == 5);
    arm.beside.find("the mode", &mut modes, |mode| mode.data == "idle");
    assert_eq!(arm.beside.next("temperatures", &mut temperatures).data[..2], [30.0, 0.0]);
}

#[test]
fn stops_silence_and_a_lost_connection_are_diagnosed() {
    let mut arm = Described::start("ur_realtime", TEXT, None);
    arm.diagnosed(|message| message == "running");
    let mut safety = arm.beside.subscribe::<Text>("/ur_realtime/safety_mode");
    arm.send("set safety_mode 3");
    arm.beside.find("the stop", &mut safety, |mode| mode.data == "protective_stop");
    assert_eq!(arm.diagnosed(|message| message.contains("state")), "the machine is in state stopped");
    arm.send("set safety_mode 1");
    arm.diagnosed(|message| message == "running");
    arm.send("silence 4");
    arm.diagnosed(|message| message == "the machine is silent");
    arm.diagnosed(|message| message == "running");
    arm.send("cut 5");
    arm.diagnosed(|message| message.starts_with("no link"));
    arm.diagnosed(|message| message == "running");
    let mut joints = arm.beside.subscribe::<JointState>("/ur_realtime/joint_states");
    arm.beside.next("joints", &mut joints);
}
