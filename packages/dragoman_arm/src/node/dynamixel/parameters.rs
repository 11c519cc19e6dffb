//! The node's parameters, and the chain of servos that they configure.

use std::time::Duration;

use dragoman_ros::parameters::{Declaration, Parameters, Range};

use super::DynamixelNodeError;
use crate::dynamixel::driver::{Config, JointConfig};
use crate::dynamixel::wire::MAX_ID;

/// The parameters of the node; the joints' defaults are a WidowX.
pub fn declarations(port: &str, joint_states: &str) -> Vec<Declaration> {
    let config = Config::widowx();
    let joints = &config.joints;
    let all = |of: fn(&JointConfig) -> f64| -> Vec<f64> { joints.iter().map(of).collect() };
    let names: Vec<String> = joints.iter().map(|joint| joint.name.clone()).collect();
    let ids: Vec<i64> = joints.iter().map(|joint| i64::from(joint.id)).collect();
    let inverted: Vec<bool> = joints.iter().map(|joint| joint.is_inverted).collect();
    let angle = Range::Double { from: -10.0, to: 10.0 };
    let speed = Range::Double { from: 0.012, to: 12.0 };
    let declared = vec![
        Declaration::new(
            "device_port",
            port,
            "Serial port, for example /dev/ttyUSB0; empty: simulated in this process by `dragoman up`.",
        ),
        Declaration::new("baud", 115_200, "Bits per second on the serial port.")
            .within(Range::Integer { from: 9600, to: 4_000_000 }),
        Declaration::new("rate", 20.0, "Rate of reading all servos and publishing joint states, Hz.")
            .within(Range::Double { from: 1.0, to: 200.0 }),
        Declaration::new(
            "answer_timeout",
            config.answer_timeout.as_secs_f64(),
            "Timeout of an answer, s; USB adapters delay bytes by up to 0.016.",
        )
        .within(Range::Double { from: 0.001, to: 1.0 }),
        Declaration::new(
            "feedback_timeout",
            config.silence.as_secs_f64(),
            "Time without answers after which a servo counts as disconnected, s.",
        )
        .within(Range::Double { from: 0.02, to: 10.0 }),
        Declaration::new(
            "joint_states_topic",
            joint_states,
            "Topic of the joint states; not joint_states if a node merges them with other joints.",
        ),
        Declaration::new("joint_names", names, "The joints, base of the arm first."),
        Declaration::new("ids", ids, "Id of each joint's servo.")
            .within(Range::Integer { from: 0, to: i64::from(MAX_ID) }),
        Declaration::new("inverted", inverted, "Whether each joint's direction is opposite to its servo's."),
        Declaration::new(
            "offsets",
            all(|joint| joint.offset),
            "Position of each servo when its joint is at 0, from the middle of the servo's range, rad.",
        )
        .within(angle.clone()),
        Declaration::new(
            "min_positions",
            all(|joint| joint.limits[0]),
            "The lowest position of each joint, rad; the gripper is open there.",
        )
        .within(angle.clone()),
        Declaration::new(
            "max_positions",
            all(|joint| joint.limits[1]),
            "The highest position of each joint, rad; the gripper is closed there.",
        )
        .within(angle),
        Declaration::new(
            "speeds",
            all(|joint| joint.speed),
            "Default speed of each joint, rad/s; set_speed changes it.",
        )
        .within(speed.clone()),
        Declaration::new(
            "max_speeds",
            all(|joint| joint.max_speed),
            "The highest speed that set_speed accepts, rad/s.",
        )
        .within(speed),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
}

/// The chain that the parameters configure.
pub(super) fn config(values: &Parameters) -> Result<Config, DynamixelNodeError> {
    let names: Vec<String> = values.value("joint_names");
    let joints = names.len();
    let check = |name: &'static str, given: usize| match given == joints {
        true => Ok(()),
        false => Err(DynamixelNodeError::Length { name, given, joints }),
    };
    let doubles = |name: &'static str| {
        let list: Vec<f64> = values.value(name);
        check(name, list.len()).map(|()| list)
    };
    let ids: Vec<i64> = values.value("ids");
    check("ids", ids.len())?;
    let inverted: Vec<bool> = values.value("inverted");
    check("inverted", inverted.len())?;
    let (low, high) = (doubles("min_positions")?, doubles("max_positions")?);
    let (speeds, max_speeds, offsets) = (doubles("speeds")?, doubles("max_speeds")?, doubles("offsets")?);
    let servos = names.into_iter().zip(ids).zip(inverted).zip(offsets);
    let bounds = low.into_iter().zip(high).zip(speeds.into_iter().zip(max_speeds));
    let joint = |((((name, id), is_inverted), offset), ((low, high), (speed, max_speed)))| JointConfig {
        name,
        // The range of the parameter has been checked.
        id: u8::try_from(id).unwrap_or(u8::MAX),
        is_inverted,
        offset,
        limits: [low, high],
        speed,
        max_speed,
    };
    let seconds = |name: &str| Duration::from_secs_f64(values.value(name));
    Ok(Config {
        joints: servos.zip(bounds).map(joint).collect(),
        period: Duration::from_secs_f64(1.0 / values.value::<f64>("rate")),
        answer_timeout: seconds("answer_timeout"),
        silence: seconds("feedback_timeout"),
        ..Config::widowx()
    })
}
