//! How a machine is simulated.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Periodic, Sendings, Setting, Settings};

/// How a machine is simulated for tests.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Values with names, as they are at the start.
    pub state: BTreeMap<String, f64>,
    /// What changes them by itself, with the time.
    pub changes: Vec<Motion>,
    /// What it sends to a client that has connected.
    pub start: Sendings,
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
