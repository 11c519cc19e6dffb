//! Topics and services with any type.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::{Endings, Feedback, Sendings, Setting, Settings};

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
    /// At most one message within this time, s.
    #[serde(default)]
    pub period: Option<f64>,
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

/// What a message or a request of ROS sends.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The message that is sent.
    pub send: String,
    /// Its fields, from those of the ROS message.
    pub fields: Settings,
    /// Ranges of its fields, in their units: a value outside is refused.
    pub limits: BTreeMap<String, [f64; 2]>,
    /// It moves something: needs limits, stop and a time-out.
    pub moves: bool,
    /// Time after which a command that is not renewed ends in a stop, s.
    pub timeout: Option<f64>,
    /// Only in this state.
    pub state: Option<String>,
}

/// Defines what has the keys of a [`Command`] beside its own. `serde(flatten)` would do the same, but loses the place of an
/// error within.
macro_rules! commands {
    ($(
        $(#[$documentation:meta])*
        $name:ident, $keys:literal { $($(#[$text:meta])* $field:ident: $type:ty $(=> $key:ident $(= $value:literal)?)?,)* }
    )*) => {$(
        $(#[$documentation])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $($(#[$text])* pub $field: $type,)*
            /// What is sent.
            pub command: Command,
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields, rename = $keys)]
                struct Keys {
                    $($(#[serde($key $(= $value)?)])? $field: $type,)*
                    send: String,
                    #[serde(default)]
                    fields: Settings,
                    #[serde(default)]
                    limits: BTreeMap<String, [f64; 2]>,
                    #[serde(default)]
                    moves: bool,
                    #[serde(default)]
                    timeout: Option<f64>,
                    #[serde(default, rename = "in")]
                    state: Option<String>,
                }
                let Keys { $($field,)* send, fields, limits, moves, timeout, state } =
                    Keys::deserialize(deserializer)?;
                Ok(Self { $($field,)* command: Command { send, fields, limits, moves, timeout, state } })
            }
        }
    )*};
}

commands! {
    /// A topic whose messages are sent to the machine.
    Subscribe, "Subscribe" {
        /// Its name, below that of the machine.
        topic: String,
        /// Its type.
        kind: String => rename = "type",
        /// Quality of service.
        qos: Quality => default,
    }

    /// A service that asks the machine.
    Service, "Service" {
        /// Its name, below that of the machine.
        service: String,
        /// Its type.
        kind: String => rename = "type",
        /// Fields of the response, from those of the answer.
        response: Settings => default,
        /// Answers that are errors.
        fails: Option<Fails> => default,
    }

    /// An action whose goals the machine carries out.
    Action, "Action" {
        /// Its name, below that of the machine.
        action: String,
        /// Its type.
        kind: String => rename = "type",
        /// Answers to the goal's message with which the machine refuses it.
        fails: Option<Fails> => default,
        /// What it publishes meanwhile.
        feedback: Option<Feedback> => default,
        /// With what it has succeeded.
        done: Endings,
        /// With what it has failed.
        failed: Endings => default,
        /// Time after sending the goal before which no message ends it, s: it may still say what was before.
        settle: f64 => default,
        /// Messages that end it on request; by default those that stop the machine.
        cancel: Sendings => default,
    }
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
