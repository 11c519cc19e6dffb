//! How a machine appears in ROS: what is sent when, and what becomes topics and services; and how it is simulated.
//!
//! These sections are read here with the rest of a description. What they mean is checked where they are carried out, in
//! `dragoman_bridge::machine`, which knows the types of ROS.

mod actions;
mod constants;
mod serve;
mod standard;
mod topics;

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

pub use actions::{Ending, Endings, Feedback};
pub use constants::Constant;
pub use serve::{Motion, Reaction, Serve};
pub use standard::{
    Battery, CmdVel, Differential, Imu, Joint, JointStates, LaserScan, MeasuredPose, MeasuredTwist,
    MotorPower, Odometry, Range, Since,
};
pub use topics::{Action, Command, Fails, Publish, Quality, Service, Subscribe};

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
    /// Numbers with names, for expressions; parameters of the node.
    pub constants: BTreeMap<String, Constant>,
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
    /// What is done with messages whose code the description does not have.
    pub others: Others,
    /// The states of a machine that has some; it begins in the first.
    pub states: Vec<NamedState>,
    /// Topics of what the machine says.
    pub publish: Vec<Publish>,
    /// Topics whose messages are sent to the machine.
    pub subscribe: Vec<Subscribe>,
    /// Services that ask the machine.
    pub services: Vec<Service>,
    /// Actions whose goals the machine carries out.
    pub actions: Vec<Action>,
    /// Velocity commands of a mobile base.
    pub cmd_vel: Option<CmdVel>,
    /// Odometry of a mobile base.
    pub odometry: Option<Odometry>,
    /// Angles of joints.
    pub joint_states: Vec<JointStates>,
    /// Distances of a laser scanner.
    pub laser_scan: Vec<LaserScan>,
    /// Distances of single sensors.
    pub range: Vec<Range>,
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

/// What is done with messages whose code the description does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Others {
    /// They are reported as what is no message.
    #[default]
    Report,
    /// The machine has messages that are not used.
    Ignore,
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
    /// Otherwise it is something that the machine says by itself.
    #[serde(default)]
    pub when: Option<Setting>,
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
    /// Only in this state; of `bridge`.
    #[serde(default, rename = "in")]
    pub state: Option<String>,
    /// Only while this is true; of `serve`.
    #[serde(default)]
    pub when: Option<Setting>,
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
    /// ... or after so many seconds ...
    #[serde(default)]
    pub after: Option<f64>,
    /// ... or when the machine is silent.
    #[serde(default)]
    pub silent: bool,
}
