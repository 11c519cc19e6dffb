//! The driver's published state.

use std::fmt;

use super::servo::Mode;
use crate::dynamixel::wire::{self, ErrorFlags, Model};

/// What is known of a joint and its servo.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct JointState {
    pub name: String,
    /// Id of its servo.
    pub id: u8,
    /// Whether its servo answers.
    pub is_online: bool,
    /// Its mode; `None` before its servo's registers were read.
    pub mode: Option<Mode>,
    /// Whether its motor has torque, as last known.
    pub has_torque: bool,
    /// Its measurements; `None`: not measured in the last complete cycle.
    pub motion: Option<Motion>,
    /// Its goal, rad; `None`: no goal.
    pub goal: Option<f64>,
    /// Speed of commanded motions, rad/s.
    pub speed: f64,
    /// Error flags of its servo.
    pub errors: ErrorFlags,
    /// Model of its servo; `None` before it was read.
    pub model: Option<Model>,
    /// Firmware version of its servo.
    pub firmware: Option<u8>,
    /// Why it cannot be moved.
    pub problem: Option<Problem>,
}

/// Measurements of a servo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Motion {
    /// Position, rad.
    pub position: f64,
    /// Velocity, rad/s.
    pub velocity: f64,
    /// Torque of the motor, N m: the reported load times the model's stall torque.
    pub effort: f64,
    /// Supply voltage, V.
    pub volts: f64,
    /// Temperature, degrees Celsius.
    pub celsius: f64,
}

/// Why a servo cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The model, and so its units, is unknown.
    UnknownModel(u16),
    /// Its angle limits select wheel mode (endless turn), in which it accepts no positions.
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

/// Counters since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Readings of all servos that answer.
    pub cycles: u64,
    /// Readings that took longer than their period.
    pub late_cycles: u64,
    /// Packets that were sent.
    pub requests: u64,
    /// Answers to them.
    pub answers: u64,
    /// Requests without an answer.
    pub timeouts: u64,
    /// Requests that reached a servo corrupted.
    pub damaged: u64,
    /// Packets that are not the answer to a request, or too late.
    pub unexpected: u64,
}

/// State of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainState {
    /// Whether the line is open.
    pub is_connected: bool,
    /// The joints, as configured.
    pub joints: Vec<JointState>,
    /// Counters of the driver.
    pub statistics: Statistics,
    /// Counters of the line.
    pub line: wire::Statistics,
}

impl ChainState {
    /// Whether all servos answer, can be used, and have reported their mode.
    pub fn is_alive(&self) -> bool {
        self.joints.iter().all(|joint| joint.is_online && joint.problem.is_none() && joint.mode.is_some())
    }
}

/// A change, reported once. Joints are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "joint: which")]
pub enum Event {
    /// A servo started or stopped answering.
    Servo {
        joint: usize,
        /// Whether it answers.
        online: bool,
    },
    /// A servo has lost its torque, for example after a power cycle. Its joint is relaxed.
    Reset { joint: usize },
    /// A servo has switched its motor off to protect it. Its joint is relaxed.
    Shutdown {
        joint: usize,
        /// The error flags.
        errors: ErrorFlags,
    },
    /// The error flags of a servo have changed.
    Alarm {
        joint: usize,
        /// The present flags; none: no error.
        errors: ErrorFlags,
    },
    /// A servo does not accept its goal or another write.
    Refused {
        joint: usize,
        /// The error flags of its answer; none: it reports none.
        errors: ErrorFlags,
    },
    /// A servo cannot be used.
    Problem { joint: usize, problem: Problem },
}

/// Why a command was refused. The refusal causes no motion.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "joint: its name")]
pub enum Refusal {
    /// The joint index is out of range.
    #[error("there is no joint {joint}; the chain has {joints}")]
    NoSuchJoint {
        joint: usize,
        /// Number of joints.
        joints: usize,
    },
    /// NaN or infinite.
    #[error("{joint}: the position {position} is not finite")]
    NotFinite {
        joint: String,
        /// The position as given.
        position: f64,
    },
    /// Beyond the joint's limits.
    #[error("{joint}: the position {position} rad is not in {low:.4} to {high:.4} rad")]
    OutOfLimits {
        joint: String,
        /// The position, rad.
        position: f64,
        /// Lower limit, rad.
        low: f64,
        /// Upper limit, rad.
        high: f64,
    },
    /// Beyond the angle limits stored in the servo.
    #[error("{joint}: its servo's own angle limits do not allow {position} rad")]
    ServoLimits {
        joint: String,
        /// The position, rad.
        position: f64,
    },
    /// The speed is not positive, or above the maximum.
    #[error("{joint}: a speed of {speed} rad/s is not above 0 and up to {max:.4} rad/s")]
    Speed {
        joint: String,
        /// The speed as given.
        speed: f64,
        /// The maximum, rad/s.
        max: f64,
    },
    /// Disabled joints accept no commands.
    #[error("{joint}: it is disabled")]
    Disabled { joint: String },
    /// The servo does not answer.
    #[error("{joint}: its servo (id {id}) does not answer")]
    Silent {
        joint: String,
        /// Id of the servo.
        id: u8,
    },
    /// The servo is above its temperature limit.
    #[error("{joint}: its servo is too hot ({celsius:.0} degrees Celsius)")]
    TooHot {
        joint: String,
        /// Temperature, degrees Celsius.
        celsius: f64,
    },
    /// The servo cannot be used.
    #[error("{joint}: {problem}")]
    Problem { joint: String, problem: Problem },
}
