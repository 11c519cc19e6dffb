//! Joints of the lab's arms, and the motion pipeline that shares one of them.

use super::*;

const ARMS: [(u16, usize, f32); 2] = [(0, 5, 0.3), (1, 6, 1.2)];
/// The arm with a motion pipeline.
const RANGER: Device = actarray::INTERFACE.device(1);
const TOOL: Device = limb::INTERFACE.device(0);

fn positions(client: &mut PlayerClient, arm: Device) -> Vec<f32> {
    let state = actarray::STATE.body(&client.newest(arm).body).unwrap();
    state.joints.iter().map(|joint| joint.position).collect()
}

#[track_caller]
fn until_at(client: &mut PlayerClient, arm: Device, joint: usize, goal: f32) {
    let end = now() + TIME_LIMIT;
    loop {
        let position = positions(client, arm)[joint];
        if (position - goal).abs() < 0.03 {
            return;
        }
        assert!(now() < end, "{arm:?}, joint {joint} is at {position} instead of {goal}");
    }
}

fn move_to(client: &mut PlayerClient, arm: Device, joint: i32, position: f32) {
    let goal = actarray::JointPosition { joint, position };
    client.send(arm, MessageKind::Command, actarray::POSITION.subtype, &goal);
}

#[test]
fn every_arm_of_the_lab_goes_home() {
    let arguments = ["up", "--only", "turtlebot,ranger,player"];
    let lab = Lab::start_with(0, &arguments, &[]);
    let mut client = PlayerClient::connect(lab.player);
    let hand = gripper::INTERFACE.device(0);
    client.subscribe(hand);
    let body = client.granted(hand, gripper::GET_GEOMETRY.subtype, &());
    let pose = gripper::GET_GEOMETRY.answer(&body).unwrap().pose;
    assert!(pose.position.z > 0.3, "{pose:?}");
    for (index, joints, elsewhere) in ARMS {
        let arm = actarray::INTERFACE.device(index);
        client.subscribe(arm);
        move_to(&mut client, arm, 0, elsewhere);
        until_at(&mut client, arm, 0, elsewhere);
        let body = client.granted(arm, actarray::GET_GEOMETRY.subtype, &());
        let geometry = actarray::GET_GEOMETRY.answer(&body).unwrap();
        let homes: Vec<f32> = geometry.joints.iter().map(|joint| joint.home).collect();
        assert_eq!(homes.len(), joints);
        // From the description.
        let reach: f32 = geometry.joints.iter().map(|joint| joint.length).sum();
        assert!((0.4..3.0).contains(&reach), "{geometry:?}");
        client.send(arm, MessageKind::Command, actarray::HOME.subtype, &-1_i32);
        for (joint, home) in homes.iter().enumerate() {
            until_at(&mut client, arm, joint, *home);
        }
        // One joint alone.
        move_to(&mut client, arm, 0, elsewhere);
        until_at(&mut client, arm, 0, elsewhere);
        client.send(arm, MessageKind::Command, actarray::HOME.subtype, &0_i32);
        until_at(&mut client, arm, 0, homes[0]);
    }
}

/// In its own modes the pipeline commands all joints all the time, also after the motion.
#[test]
fn joints_accept_commands_during_and_after_a_motion_of_the_limb() {
    let lab = Lab::only("ranger,player");
    let mut client = PlayerClient::connect(lab.player);
    client.subscribe(RANGER);
    client.subscribe(TOOL);
    client.granted(TOOL, limb::POWER.subtype, &true);
    let tool = |client: &mut PlayerClient| limb::STATE.body(&client.newest(TOOL).body).unwrap();
    let along = |z: f64, length| limb::Move { direction: Point3d { x: 0.0, y: 0.0, z }, length };
    let start = tool(&mut client).position;
    client.send(TOOL, MessageKind::Command, limb::MOVE_ALONG.subtype, &along(1.0, 0.03));
    let end = now() + TIME_LIMIT;
    while (tool(&mut client).position.z - start.z - 0.03).abs() > 1e-3 {
        assert!(now() < end, "the limb does not move");
    }
    let mut beside = Beside::new(lab.domain);
    let mut status = beside.latched::<MotionStatus>("/ranger/motion_status");
    beside.find("the mode of before", &mut status, |status| !status.moving && status.mode == 0);
    let first = positions(&mut client, RANGER)[0];
    move_to(&mut client, RANGER, 0, first - 0.3);
    until_at(&mut client, RANGER, 0, first - 0.3);

    // Another client has left the pipeline in a mode; and the last command counts while it moves the arm.
    let mode = SetCommandMode::Request { mode: 1 };
    assert!(beside.call::<SetCommandMode::Service>("/ranger/set_command_mode", mode).success);
    beside.find("the mode", &mut status, |status| status.mode == 1);
    move_to(&mut client, RANGER, 0, first);
    until_at(&mut client, RANGER, 0, first);
    client.send(TOOL, MessageKind::Command, limb::HOME.subtype, &());
    beside.find("the motion", &mut status, |status| status.moving);
    move_to(&mut client, RANGER, 0, first - 0.2);
    until_at(&mut client, RANGER, 0, first - 0.2);
}

/// Five joints: the rotation about the tool's z axis is free.
#[test]
fn a_widowx_is_a_limb() {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/player_widowx.yaml");
    let arguments = ["up", "--robot", "widowx", "--only", "ranger,player", "--player-devices", table];
    let lab = Lab::start_with(0, &arguments, &[]);
    let mut client = PlayerClient::connect(lab.player);
    client.subscribe(TOOL);
    client.granted(TOOL, limb::POWER.subtype, &true);
    let tool = |client: &mut PlayerClient| limb::STATE.body(&client.newest(TOOL).body).unwrap().position;
    client.send(TOOL, MessageKind::Command, limb::HOME.subtype, &());
    let joints = actarray::INTERFACE.device(0);
    client.subscribe(joints);
    for (joint, home) in [0.0, 0.3, 0.3, 0.0, 0.0].into_iter().enumerate() {
        until_at(&mut client, joints, joint, home);
    }
    move_to(&mut client, joints, 1, 0.6);
    until_at(&mut client, joints, 1, 0.6);
    let start = tool(&mut client);
    let way = limb::Move { direction: Point3d { x: 0.0, y: 0.0, z: -1.0 }, length: 0.05 };
    client.send(TOOL, MessageKind::Command, limb::MOVE_ALONG.subtype, &way);
    let end = now() + TIME_LIMIT;
    loop {
        let at = tool(&mut client);
        if (at.z - start.z + 0.05).abs() < 5e-3 && (at.x - start.x).hypot(at.y - start.y) < 5e-3 {
            break;
        }
        assert!(now() < end, "{start:?} {at:?}");
    }
}
