//! What has a standard meaning in ROS.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Fails, Sending, Sendings, Setting, Settings};

/// Velocity commands of a mobile base: `geometry_msgs/msg/Twist` or `TwistStamped` on `cmd_vel`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CmdVel {
    /// The message that is sent, or several with their fields.
    send: Sendings,
    /// Its fields, from `linear` and `lateral`, m/s, and `angular`, rad/s.
    #[serde(default)]
    fields: Settings,
    /// Maximum of `linear`, `lateral` and `angular`, both ways; larger velocities are limited.
    #[serde(default)]
    pub limits: BTreeMap<String, f64>,
    /// Time after which a command that is not renewed ends in a stop, s.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Only in this state.
    #[serde(default, rename = "in")]
    pub state: Option<String>,
}

impl CmdVel {
    /// The messages that are sent for each command. `fields` beside `send` are those of the first.
    pub fn messages(&self) -> Vec<Sending> {
        let mut all = self.send.0.clone();
        if let Some(first) = all.first_mut() {
            first.fields.extend(self.fields.clone());
        }
        all
    }
}

/// Odometry of a mobile base.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Odometry {
    /// The message with the measurement.
    pub from: String,
    /// A pose that the machine keeps.
    #[serde(default)]
    pub pose: Option<MeasuredPose>,
    /// Ways of two wheels.
    #[serde(default)]
    pub differential: Option<Differential>,
    /// Velocities that the machine measures; computed from the poses by default.
    #[serde(default)]
    pub twist: Option<MeasuredTwist>,
    /// Frame of the poses.
    #[serde(default = "odom")]
    pub frame: String,
    /// Frame of the base.
    #[serde(default = "base_footprint")]
    pub child_frame: String,
    /// Publish the transform between them.
    #[serde(default = "yes")]
    pub tf: bool,
}

fn odom() -> String {
    "odom".to_owned()
}

fn base_footprint() -> String {
    "base_footprint".to_owned()
}

fn yes() -> bool {
    true
}

/// A pose that the machine keeps: m and rad.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MeasuredPose {
    pub x: Setting,
    pub y: Setting,
    pub heading: Setting,
    /// `x` and `y` begin again after this way, m.
    #[serde(default)]
    pub overflow: Option<Setting>,
}

/// Velocities that the machine measures: m/s and rad/s.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MeasuredTwist {
    pub linear: Setting,
    #[serde(default)]
    pub lateral: Option<Setting>,
    pub angular: Setting,
}

/// Ways of two wheels, m.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Differential {
    /// Way of the left wheel, m: since the start, or with `since: last` since the last message.
    pub left: Setting,
    /// Way of the right wheel.
    pub right: Setting,
    /// Distance of the wheels, m.
    pub separation: Setting,
    /// Since when the ways are counted.
    #[serde(default)]
    pub since: Since,
    /// A counter that overflows: the way, in m, after which it begins again.
    #[serde(default)]
    pub overflow: Option<Setting>,
}

/// Since when ways are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Since {
    /// The start of the machine.
    #[default]
    Start,
    /// The last message.
    Last,
}

/// Angles of joints, on `joint_states`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct JointStates {
    pub from: String,
    /// By the names of the joints.
    pub joints: BTreeMap<String, Joint>,
}

/// A joint: rad or m, rad/s or m/s, N m or N.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Joint {
    pub position: Setting,
    #[serde(default)]
    pub velocity: Option<Setting>,
    #[serde(default)]
    pub effort: Option<Setting>,
}

/// Distances of a laser scanner, on `scan`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct LaserScan {
    #[serde(default = "scan")]
    pub topic: String,
    pub from: String,
    /// The list of distances, m; those outside of the range are infinite.
    pub ranges: String,
    /// What the distances are multiplied with.
    #[serde(default)]
    pub scale: Option<Setting>,
    /// Smaller values, before `scale`, are no measurements.
    #[serde(default)]
    pub valid_from: Option<Setting>,
    /// The list of intensities.
    #[serde(default)]
    pub intensities: Option<String>,
    /// Angle of the first distance, and from one to the next, rad.
    pub angle_min: Setting,
    pub angle_increment: Setting,
    pub range_min: Setting,
    pub range_max: Setting,
    /// Time of a turn, s.
    #[serde(default)]
    pub scan_time: Option<Setting>,
    #[serde(default = "laser")]
    pub frame: String,
}

/// Distances of single sensors, such as sonars: a `sensor_msgs/msg/Range` for each of them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Range {
    #[serde(default = "range")]
    pub topic: String,
    pub from: String,
    /// The field with the distance, m, or a list of them.
    pub ranges: String,
    /// The list with the numbers of their sensors; by default they are counted from 0.
    #[serde(default)]
    pub numbers: Option<String>,
    pub range_min: Setting,
    pub range_max: Setting,
    /// Angle of the cone, rad.
    pub field_of_view: Setting,
    /// Infrared rather than ultrasound.
    #[serde(default)]
    pub infrared: bool,
    /// Frame of the sensor; with several of them their numbers are appended.
    #[serde(default = "range")]
    pub frame: String,
}

fn range() -> String {
    "range".to_owned()
}

fn scan() -> String {
    "scan".to_owned()
}

fn laser() -> String {
    "laser".to_owned()
}

/// State of a battery, on `battery_state`: V, A, Ah, 0 to 1.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Battery {
    pub from: String,
    /// At most one message within this time, s.
    #[serde(default)]
    pub period: Option<f64>,
    pub voltage: Setting,
    #[serde(default)]
    pub current: Option<Setting>,
    #[serde(default)]
    pub charge: Option<Setting>,
    #[serde(default)]
    pub capacity: Option<Setting>,
    #[serde(default)]
    pub percentage: Option<Setting>,
    #[serde(default)]
    pub temperature: Option<Setting>,
    /// True while it is charged.
    #[serde(default)]
    pub charging: Option<Setting>,
}

/// Rates and accelerations, on `imu`: rad/s, m/s^2.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Imu {
    pub from: String,
    /// About x, y, z.
    #[serde(default)]
    pub angular_velocity: Option<[Setting; 3]>,
    #[serde(default)]
    pub linear_acceleration: Option<[Setting; 3]>,
    /// Roll, pitch and yaw, rad.
    #[serde(default)]
    pub orientation: Option<[Setting; 3]>,
    #[serde(default = "imu_link")]
    pub frame: String,
}

fn imu_link() -> String {
    "imu_link".to_owned()
}

/// Motors that are switched on and off, by the service `set_motor_power`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct MotorPower {
    pub on: Sending,
    pub off: Sending,
    /// Answers that are errors.
    #[serde(default)]
    pub fails: Option<Fails>,
}
