//! What is told to others.

use std::fmt;

use super::servo::Mode;
use crate::dynamixel::wire::{self, ErrorFlags, Model};

/// What is known of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct JointState {
    /// Its name.
    pub name: String,
    /// Id of its servo.
    pub id: u8,
    /// Whether its servo answers.
    pub is_online: bool,
    /// What it is to do; `None`: not known before its servo has told what it does.
    pub mode: Option<Mode>,
    /// Whether its motor has torque, as far as is known.
    pub has_torque: bool,
    /// Where it is, how it moves; `None`: not measured.
    pub motion: Option<Motion>,
    /// Where it is to be, rad; `None`: nowhere.
    pub goal: Option<f64>,
    /// How fast commands move it, rad/s.
    pub speed: f64,
    /// What is wrong with its servo.
    pub errors: ErrorFlags,
    /// What its servo is; `None` before it has told.
    pub model: Option<Model>,
    /// Version of its servo's firmware.
    pub firmware: Option<u8>,
    /// Why it cannot be moved at all.
    pub problem: Option<Problem>,
}

/// What a servo measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// rad.
    pub position: f64,
    /// rad/s.
    pub velocity: f64,
    /// What its motor gives, N m: what the servo tells, by the stall torque of its model.
    pub effort: f64,
    /// Supply, V.
    pub volts: f64,
    /// Degrees Celsius.
    pub celsius: f64,
}

/// Why a servo cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Its units are not known.
    UnknownModel(u16),
    /// Its angle limits say that it turns without end, so that it takes no positions.
    WheelMode,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownModel(number) => write!(f, "a servo with model number {number} is not known"),
            Self::WheelMode => f.write_str("it is set up as a wheel: both its angle limits are 0"),
        }
    }
}

/// What was done since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Readings of all servos that answer.
    pub cycles: u64,
    /// Of them, those that took longer than their period.
    pub late_cycles: u64,
    /// Packets that were sent.
    pub requests: u64,
    /// Answers to them.
    pub answers: u64,
    /// Requests without an answer.
    pub timeouts: u64,
    /// Requests that reached a servo damaged.
    pub damaged: u64,
    /// Packets that answer nothing, or too late.
    pub unexpected: u64,
}

/// All that is known of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Whether the line is open.
    pub is_connected: bool,
    /// The joints, as configured.
    pub joints: Vec<JointState>,
    /// What was done.
    pub statistics: Statistics,
    /// What came over the line.
    pub line: wire::Statistics,
}

impl State {
    /// Whether all servos answer, can be used, and have told what they do.
    pub fn is_alive(&self) -> bool {
        self.joints.iter().all(|joint| joint.is_online && joint.problem.is_none() && joint.mode.is_some())
    }
}

/// What has changed, told once. Joints are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "joint: which")]
pub enum Event {
    /// A servo answers, or does not any more.
    Servo {
        joint: usize,
        /// Whether it does.
        online: bool,
    },
    /// A servo has lost its torque, as after it was switched off and on. Its joint is relaxed.
    Reset { joint: usize },
    /// A servo has switched its motor off to protect it. Its joint is relaxed.
    Shutdown {
        joint: usize,
        /// Why.
        errors: ErrorFlags,
    },
    /// What is wrong with a servo has changed.
    Alarm {
        joint: usize,
        /// What it is now; none: nothing.
        errors: ErrorFlags,
    },
    /// A servo does not take its goal, or what else it was told.
    Refused {
        joint: usize,
        /// What it says; none: it does not tell.
        errors: ErrorFlags,
    },
    /// A servo cannot be used.
    Problem {
        joint: usize,
        /// Why.
        problem: Problem,
    },
}

/// Why something is not done. Nothing moves because of it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "joint: its name")]
pub enum Refusal {
    /// There are fewer.
    #[error("there is no joint {joint}; the chain has {joints}")]
    NoSuchJoint {
        /// The index.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// NaN or infinite.
    #[error("{joint}: the position {position} is not finite")]
    NotFinite {
        joint: String,
        /// As given.
        position: f64,
    },
    /// Beyond the joint's limits.
    #[error("{joint}: the position {position} rad is not in {low:.4} to {high:.4} rad")]
    OutOfLimits {
        joint: String,
        /// rad.
        position: f64,
        /// rad.
        low: f64,
        /// rad.
        high: f64,
    },
    /// Beyond the limits that are kept in the servo.
    #[error("{joint}: its servo's own angle limits do not allow {position} rad")]
    ServoLimits {
        joint: String,
        /// rad.
        position: f64,
    },
    /// No speed, or above the highest.
    #[error("{joint}: a speed of {speed} rad/s is not above 0 and up to {max:.4} rad/s")]
    Speed {
        joint: String,
        /// As given.
        speed: f64,
        /// rad/s.
        max: f64,
    },
    /// Disabled joints take no commands.
    #[error("{joint}: it is disabled")]
    Disabled { joint: String },
    /// No servo is heard.
    #[error("{joint}: its servo (id {id}) does not answer")]
    Silent {
        joint: String,
        /// Of the servo.
        id: u8,
    },
    /// The servo is hotter than it may be.
    #[error("{joint}: its servo is too hot ({celsius:.0} degrees Celsius)")]
    TooHot {
        joint: String,
        /// Degrees Celsius.
        celsius: f64,
    },
    /// The servo cannot be used.
    #[error("{joint}: {problem}")]
    Problem {
        joint: String,
        /// Why.
        problem: Problem,
    },
}
