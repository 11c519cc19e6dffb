//! Options of the driver.

use std::time::Duration;

use crate::dynamixel::widowx::{JOINTS, SPEED};
use crate::dynamixel::wire::MAX_ID;

/// Maximum number of joints of a chain: their goals fit in one packet, their answers in a cycle.
pub const MAX_JOINTS: usize = 32;

/// A joint and its servo.
#[derive(Debug, Clone, PartialEq)]
pub struct JointConfig {
    /// Its name, in ROS and in messages.
    pub name: String,
    /// Id of the servo.
    pub id: u8,
    /// Whether the joint's direction is opposite to the servo's.
    pub is_inverted: bool,
    /// The servo's position when the joint is at 0, from the middle of the servo's range, rad.
    pub offset: f64,
    /// The lowest and the highest commanded position, rad.
    pub limits: [f64; 2],
    /// Default speed, rad/s.
    pub speed: f64,
    /// Highest commanded speed, rad/s.
    pub max_speed: f64,
}

/// Options of the driver.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The joints, base first.
    pub joints: Vec<JointConfig>,
    /// Period of reading all servos.
    pub period: Duration,
    /// Timeout of an answer. USB adapters delay bytes by up to 16 ms.
    pub answer_timeout: Duration,
    /// Time without an answer after which a servo counts as silent.
    pub silence: Duration,
    /// Interval between pings of a silent servo.
    pub probe_interval: Duration,
}

impl Config {
    /// A WidowX: its six joints, 30 Hz.
    pub fn widowx() -> Self {
        let joint = |joint: &crate::dynamixel::widowx::Joint| JointConfig {
            name: joint.name.to_owned(),
            id: joint.id,
            is_inverted: joint.is_inverted,
            offset: 0.0,
            limits: joint.limits,
            speed: SPEED,
            max_speed: std::f64::consts::PI,
        };
        Self {
            joints: JOINTS.iter().map(joint).collect(),
            period: Duration::from_secs_f64(1.0 / 30.0),
            answer_timeout: Duration::from_millis(30),
            silence: Duration::from_millis(500),
            probe_interval: Duration::from_millis(500),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !(1..=MAX_JOINTS).contains(&self.joints.len()) {
            return Err(ConfigError::Joints(self.joints.len()));
        }
        for (index, joint) in self.joints.iter().enumerate() {
            let name = || joint.name.clone();
            if joint.id > MAX_ID {
                return Err(ConfigError::Id { joint: name(), id: joint.id });
            }
            let earlier = self.joints.iter().take(index);
            if let Some(other) =
                earlier.clone().find(|other| other.id == joint.id || other.name == joint.name)
            {
                return Err(ConfigError::Twice { joint: name(), other: other.name.clone(), id: joint.id });
            }
            let [low, high] = joint.limits;
            if !(low.is_finite() && high.is_finite() && low < high && joint.offset.is_finite()) {
                return Err(ConfigError::Limits { joint: name(), low, high });
            }
            let (speed, max) = (joint.speed, joint.max_speed);
            if !(max.is_finite() && speed > 0.0 && speed <= max) {
                return Err(ConfigError::Speed { joint: name(), speed, max });
            }
        }
        let times = [
            ("period", self.period),
            ("answer_timeout", self.answer_timeout),
            ("silence", self.silence),
            ("probe_interval", self.probe_interval),
        ];
        match times.into_iter().find(|(_, time)| time.is_zero()) {
            Some((name, _)) => Err(ConfigError::Time(name)),
            None => Ok(()),
        }
    }
}

/// Error in the options.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ConfigError {
    /// No joints, or too many.
    #[error("{0} joints are not 1 to {MAX_JOINTS}")]
    Joints(usize),
    /// An id outside the valid range.
    #[error("{joint}: no servo has id {id}; the highest is {MAX_ID}")]
    Id {
        /// Name of the joint.
        joint: String,
        id: u8,
    },
    /// Two joints have the same name or servo.
    #[error("{joint} (id {id}) and {other} have the same name or id")]
    Twice {
        /// One of them.
        joint: String,
        other: String,
        /// The first one's id.
        id: u8,
    },
    /// Limits or offset are not finite, or the limits are in the wrong order.
    #[error("{joint}: it cannot go from {low} to {high} rad, or its offset is not finite")]
    Limits {
        /// Name of the joint.
        joint: String,
        /// Lower limit, rad.
        low: f64,
        /// Upper limit, rad.
        high: f64,
    },
    /// A speed is not positive, or above the maximum.
    #[error("{joint}: a speed of {speed} rad/s is not above 0 and up to {max} rad/s")]
    Speed {
        /// Name of the joint.
        joint: String,
        /// The speed, rad/s.
        speed: f64,
        /// The maximum, rad/s.
        max: f64,
    },
    /// A time is 0.
    #[error("{0} is 0")]
    Time(&'static str),
}
