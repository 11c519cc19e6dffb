//! The node's parameters, and the chain of servos that they configure.

use std::time::Duration;

use dragoman_ros::parameters;

use super::DynamixelNodeError;
use crate::dynamixel::driver::{Config, JointConfig};
use crate::dynamixel::wire::MAX_ID;

parameters! {
    /// The parameters of the node.
    pub struct DynamixelParameters {
        /// Serial port, for example /dev/ttyUSB0; empty: simulated in this process by `dragoman up`.
        device_port: String;
        /// Bits per second on the serial port.
        baud: u32 = 115_200, in 9600..=4_000_000;
        /// Rate of reading all servos and publishing joint states, Hz.
        rate: f64 = 20.0, in 1.0..=200.0;
        /// Timeout of an answer, s; USB adapters delay bytes by up to 0.016.
        answer_timeout: Duration, in 0.001..=1.0;
        /// Time without answers after which a servo counts as disconnected, s.
        feedback_timeout: Duration, in 0.02..=10.0;
        /// Topic of the joint states; not joint_states if a node merges them with other joints.
        joint_states_topic: String;
        /// The joints, base of the arm first.
        joint_names: Vec<String>;
        /// Id of each joint's servo.
        ids: Vec<i64>, in 0..=i64::from(MAX_ID);
        /// Whether each joint's direction is opposite to its servo's.
        inverted: Vec<bool>;
        /// Position of each servo when its joint is at 0, from the middle of the servo's range, rad.
        offsets: Vec<f64>, in -10.0..=10.0;
        /// The lowest position of each joint, rad; the gripper is open there.
        min_positions: Vec<f64>, in -10.0..=10.0;
        /// The highest position of each joint, rad; the gripper is closed there.
        max_positions: Vec<f64>, in -10.0..=10.0;
        /// Default speed of each joint, rad/s; set_speed changes it.
        speeds: Vec<f64>, in 0.012..=12.0;
        /// The highest speed that set_speed accepts, rad/s.
        max_speeds: Vec<f64>, in 0.012..=12.0;
    }
}

impl DynamixelParameters {
    /// The defaults for a WidowX at this serial port.
    pub fn new(port: &str, joint_states: &str) -> Self {
        let Config { joints, answer_timeout, silence, .. } = Config::widowx();
        let all = |of: fn(&JointConfig) -> f64| joints.iter().map(of).collect();
        Self {
            device_port: port.to_owned(),
            answer_timeout,
            feedback_timeout: silence,
            joint_states_topic: joint_states.to_owned(),
            joint_names: joints.iter().map(|joint| joint.name.clone()).collect(),
            ids: joints.iter().map(|joint| joint.id.into()).collect(),
            inverted: joints.iter().map(|joint| joint.is_inverted).collect(),
            offsets: all(|joint| joint.offset),
            min_positions: all(|joint| joint.limits[0]),
            max_positions: all(|joint| joint.limits[1]),
            speeds: all(|joint| joint.speed),
            max_speeds: all(|joint| joint.max_speed),
            ..Self::default()
        }
    }

    /// The chain that the parameters configure.
    pub(super) fn config(&self) -> Result<Config, DynamixelNodeError> {
        let joints = self.joint_names.len();
        for (name, given) in [
            ("ids", self.ids.len()),
            ("inverted", self.inverted.len()),
            ("min_positions", self.min_positions.len()),
            ("max_positions", self.max_positions.len()),
            ("speeds", self.speeds.len()),
            ("max_speeds", self.max_speeds.len()),
            ("offsets", self.offsets.len()),
        ] {
            if given != joints {
                return Err(DynamixelNodeError::Length { name, given, joints });
            }
        }
        let servos = self.joint_names.iter().zip(&self.ids).zip(&self.inverted).zip(&self.offsets);
        let bounds = self.min_positions.iter().zip(&self.max_positions);
        let bounds = bounds.zip(self.speeds.iter().zip(&self.max_speeds));
        let joints = servos.zip(bounds).map(
            |((((name, id), inverted), offset), ((low, high), (speed, max_speed)))| JointConfig {
                name: name.clone(),
                // The range of the parameter has been checked.
                id: u8::try_from(*id).unwrap_or(u8::MAX),
                is_inverted: *inverted,
                offset: *offset,
                limits: [*low, *high],
                speed: *speed,
                max_speed: *max_speed,
            },
        );
        Ok(Config {
            joints: joints.collect(),
            period: Duration::from_secs_f64(1.0 / self.rate),
            answer_timeout: self.answer_timeout,
            silence: self.feedback_timeout,
            ..Config::widowx()
        })
    }
}
