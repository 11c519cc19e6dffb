//! How a machine appears in ROS: what is sent when, and what becomes topics and services; and how it is simulated.
//!
//! These sections are read here with the rest of a description. What they mean is checked where they are carried out, in
//! `dragoman_bridge::machine`, which knows the types of ROS.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::short::{Never, Written, written};

/// A value: a number, an expression over the fields of a message, or a text in single quotes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, expecting = "expected a number, true, false, an expression, or a text in single quotes")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Setting {
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(String),
}

/// Values by the names of fields.
pub type Settings = BTreeMap<String, Setting>;

/// A message to send, with its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// Name of the message.
    pub send: String,
    /// Its fields; those that are not named are 0.
    pub fields: Settings,
}

/// [`Sending`], written as a mapping.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Filled {
    send: String,
    #[serde(default)]
    fields: Settings,
}

impl From<Filled> for Sending {
    fn from(Filled { send, fields }: Filled) -> Self {
        Self { send, fields }
    }
}

impl<'de> Deserialize<'de> for Sending {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "the name of a message, or a mapping with send and fields";
        match written::<D, Filled, Never>(deserializer, true, EXPECTED)? {
            Written::Text(send) => Ok(Self { send, fields: Settings::new() }),
            Written::Mapping(filled) => Ok(filled.into()),
            Written::Number(_) | Written::List(_) => Err(D::Error::custom(format!("expected {EXPECTED}"))),
        }
    }
}

/// Messages to send, one after the other; a single one is written without a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sendings(pub Vec<Sending>);

impl<'de> Deserialize<'de> for Sendings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "the name of a message, a mapping with send and fields, or a list of these";
        match written::<D, Filled, Vec<Sending>>(deserializer, true, EXPECTED)? {
            Written::Text(send) => Ok(Self(vec![Sending { send, fields: Settings::new() }])),
            Written::Mapping(filled) => Ok(Self(vec![filled.into()])),
            Written::List(all) => Ok(Self(all)),
            Written::Number(_) => Err(D::Error::custom(format!("expected {EXPECTED}"))),
        }
    }
}

/// How a machine appears in ROS.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bridge {
    /// Numbers with names, for expressions.
    pub constants: BTreeMap<String, f64>,
    /// Times and limits of the conversation.
    pub timing: Timing,
    /// What is sent when the link is there, in this order; a question's answer is waited for.
    pub start: Sendings,
    /// What is sent again and again.
    pub every: Vec<Periodic>,
    /// What stops the machine.
    pub stop: Sendings,
    /// Answers that have a code of their own.
    pub answers: Vec<OtherAnswer>,
    /// The states of a machine that has some; it begins in the first.
    pub states: Vec<NamedState>,
    /// Topics of what the machine says.
    pub publish: Vec<Publish>,
    /// Topics whose messages are sent to the machine.
    pub subscribe: Vec<Subscribe>,
    /// Services that ask the machine.
    pub services: Vec<Service>,
    /// Velocity commands of a mobile base.
    pub cmd_vel: Option<CmdVel>,
    /// Odometry of a mobile base.
    pub odometry: Option<Odometry>,
    /// Angles of joints.
    pub joint_states: Vec<JointStates>,
    /// Distances of a laser scanner.
    pub laser_scan: Vec<LaserScan>,
    /// State of a battery.
    pub battery: Vec<Battery>,
    /// Rates and accelerations.
    pub imu: Vec<Imu>,
    /// Motors that are switched on and off.
    pub motor_power: Option<MotorPower>,
}

/// Times and limits of the conversation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Timing {
    /// Time within which a question is answered, s.
    pub answer: f64,
    /// How often a question that may be repeated is asked again.
    pub retries: u32,
    /// Questions that may be open at the same time.
    pub in_flight: usize,
    /// Minimum time between two messages to the machine, s.
    pub pace: f64,
    /// Time without any message after which the machine counts as silent, s.
    pub silence: f64,
    /// Time before a lost link is opened again, s; doubled after each failure, to `reconnect_max`.
    pub reconnect: f64,
    /// See `reconnect`.
    pub reconnect_max: f64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            answer: 0.5,
            retries: 0,
            in_flight: 1,
            pace: 0.0,
            silence: 2.0,
            reconnect: 0.2,
            reconnect_max: 5.0,
        }
    }
}

/// An answer that has a code of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherAnswer {
    /// The message of the machine.
    pub from: String,
    /// The questions that it answers.
    pub of: Vec<String>,
    /// It says that the machine refuses.
    #[serde(default)]
    pub fails: bool,
    /// A field with the reason: a text, or a number whose values have names.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What is sent again and again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Periodic {
    pub send: String,
    #[serde(default)]
    pub fields: Settings,
    /// Seconds from one to the next.
    pub period: f64,
    /// Only in this state.
    #[serde(default, rename = "in")]
    pub state: Option<String>,
}

/// A state of a machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedState {
    /// Its name.
    pub name: String,
    /// What is sent on entering it.
    #[serde(default)]
    pub enter: Sendings,
    /// Where it leads.
    #[serde(default)]
    pub next: Vec<Change>,
    /// It is a fault: diagnostics say so.
    #[serde(default)]
    pub fault: bool,
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The next state.
    pub to: String,
    /// When a message of this name comes, or is answered ...
    #[serde(default)]
    pub from: Option<String>,
    /// ... for which this is true ...
    #[serde(default)]
    pub when: Option<Setting>,
    /// ... or after so many seconds.
    #[serde(default)]
    pub after: Option<f64>,
}

/// Quality of service of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quality {
    /// Reliable rather than best effort.
    pub reliable: bool,
    /// Late subscribers get the last messages.
    pub transient_local: bool,
    /// Messages that are kept.
    pub depth: usize,
}

impl Default for Quality {
    fn default() -> Self {
        Self { reliable: true, transient_local: false, depth: 10 }
    }
}

/// A topic of what the machine says.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    /// Its name, below that of the machine.
    pub topic: String,
    /// Its type: `std_msgs/msg/Float64`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message of the machine, or the question whose answer it is.
    pub from: String,
    /// Only messages for which this is true.
    #[serde(default)]
    pub when: Option<Setting>,
    /// `header.frame_id`.
    #[serde(default)]
    pub frame: Option<String>,
    /// Fields of the ROS message.
    #[serde(default)]
    pub fields: Settings,
    /// Quality of service.
    #[serde(default)]
    pub qos: Quality,
}

/// A topic whose messages are sent to the machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    /// Its name, below that of the machine.
    pub topic: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message that is sent.
    pub send: String,
    /// Its fields, from those of the ROS message.
    #[serde(default)]
    pub fields: Settings,
    /// Ranges of its fields, in their units: a value outside is refused.
    #[serde(default)]
    pub limits: BTreeMap<String, [f64; 2]>,
    /// It moves something: needs limits, stop and a time-out.
    #[serde(default)]
    pub moves: bool,
    /// Time after which a command that is not renewed ends in a stop, s.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Only in this state.
    #[serde(default, rename = "in")]
    pub state: Option<String>,
    /// Quality of service.
    #[serde(default)]
    pub qos: Quality,
}

/// A service that asks the machine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Its name, below that of the machine.
    pub service: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The message that is sent.
    pub send: String,
    /// Its fields, from those of the request.
    #[serde(default)]
    pub fields: Settings,
    /// Ranges of its fields.
    #[serde(default)]
    pub limits: BTreeMap<String, [f64; 2]>,
    /// It moves something.
    #[serde(default)]
    pub moves: bool,
    /// Time after which what it moves is stopped, s.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Fields of the response, from those of the answer.
    #[serde(default)]
    pub response: Settings,
    /// Answers that are errors.
    #[serde(default)]
    pub fails: Option<Fails>,
    /// Only in this state.
    #[serde(default, rename = "in")]
    pub state: Option<String>,
}

/// Which answers are errors.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fails {
    /// Those for which this is true.
    pub when: Setting,
    /// A field with the reason: a text, or a number whose values have names.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Velocity commands of a mobile base: `geometry_msgs/msg/Twist` or `TwistStamped` on `cmd_vel`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CmdVel {
    /// The message that is sent.
    pub send: String,
    /// Its fields, from `linear` and `lateral`, m/s, and `angular`, rad/s.
    pub fields: Settings,
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
#[allow(missing_docs, reason = "the names say it")]
pub struct MotorPower {
    pub on: Sending,
    pub off: Sending,
}

/// How a machine is simulated for tests.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Values with names, as they are at the start.
    pub state: BTreeMap<String, f64>,
    /// What changes them by itself, with the time.
    pub changes: Vec<Motion>,
    /// What it sends again and again.
    pub every: Vec<Periodic>,
    /// What a message of a client does.
    pub on: Vec<Reaction>,
}

/// A value that changes with the time.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The value.
    pub value: String,
    /// It approaches this value, with `time_constant` ...
    #[serde(default)]
    pub follows: Option<Setting>,
    /// ... in s ...
    #[serde(default)]
    pub time_constant: Option<f64>,
    /// ... or it grows by this per second.
    #[serde(default)]
    pub rate: Option<Setting>,
    /// Its range; it begins again at the other end if `wraps`.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
    /// See `range`.
    #[serde(default)]
    pub wraps: bool,
}

/// What a message of a client does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The message.
    pub receive: String,
    /// Only if this is true.
    #[serde(default)]
    pub when: Option<Setting>,
    /// New values.
    #[serde(default)]
    pub set: Settings,
    /// Fields of the answer, if it has one.
    #[serde(default)]
    pub answer: Settings,
    /// Bytes of an answer that was recorded, in hexadecimal digits.
    #[serde(default)]
    pub recorded: Option<String>,
    /// Nothing is answered.
    #[serde(default)]
    pub silent: bool,
    /// Further messages.
    #[serde(default)]
    pub send: Sendings,
}
