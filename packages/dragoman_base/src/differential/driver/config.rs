//! Options of the driver.

use std::f64::consts::TAU;
use std::time::Duration;

use dragoman_geometry::limits::{AxisLimits, LimitError, Limits};
use dragoman_geometry::{Pose, Twist};

use crate::geometry::Geometry;
use crate::odometry::WheelGeometry;

/// What the base is like, and how it is talked to.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Between the wheels' middles, m.
    pub wheel_separation: f64,
    /// m.
    pub wheel_radius: f64,
    /// Of an encoder per turn of its wheel.
    pub ticks_per_turn: f64,
    /// How often the base's controller works, Hz; speeds are told in ticks per period of it.
    pub controller_rate: f64,
    /// Size of the body, and where its middle is, seen from the centre of rotation.
    pub geometry: Geometry,
    /// Velocities and accelerations.
    pub limits: Limits,
    /// A command holds for so long.
    pub command_timeout: Duration,
    /// Without counts of the encoders for so long the base is not alive.
    pub feedback_timeout: Duration,
    /// An answer that has not come after so long will not come.
    pub answer_timeout: Duration,
    /// From one reading of the encoders to the next.
    pub period: Duration,
}

/// A small base: wheels 0.3 m apart, 0.0325 m in radius, 1440 ticks per turn; 0.5 m/s, 2 rad/s; 30 Hz.
impl Default for Config {
    fn default() -> Self {
        Self {
            wheel_separation: 0.3,
            wheel_radius: 0.0325,
            ticks_per_turn: 1440.0,
            controller_rate: 30.0,
            geometry: Geometry { size: [0.3, 0.3, 0.15], center: Pose::ORIGIN },
            limits: Limits { linear: AxisLimits::velocity(0.5), angular: AxisLimits::velocity(2.0) },
            command_timeout: Duration::from_millis(600),
            feedback_timeout: Duration::from_millis(500),
            answer_timeout: Duration::from_millis(100),
            period: Duration::from_millis(33),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.limits.check()?;
        let [length, width, height] = self.geometry.size;
        let measures = [
            ("wheel_separation", self.wheel_separation),
            ("wheel_radius", self.wheel_radius),
            ("ticks_per_turn", self.ticks_per_turn),
            ("controller_rate", self.controller_rate),
            ("length", length),
            ("width", width),
            ("height", height),
            ("command_timeout", self.command_timeout.as_secs_f64()),
            ("feedback_timeout", self.feedback_timeout.as_secs_f64()),
            ("answer_timeout", self.answer_timeout.as_secs_f64()),
            ("period", self.period.as_secs_f64()),
        ];
        match measures.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            Some((name, value)) => Err(ConfigError::Value { name, value }),
            None if !self.geometry.center.is_finite() => Err(ConfigError::Center(self.geometry.center)),
            None => Ok(()),
        }
    }

    pub(super) fn wheel_geometry(&self) -> WheelGeometry {
        let fastest = Twist::new(self.limits.linear.velocity, self.limits.angular.velocity);
        let geometry = WheelGeometry {
            separation: self.wheel_separation,
            radius: self.wheel_radius,
            ticks_per_metre: self.ticks_per_turn / (TAU * self.wheel_radius),
            tick_modulus: 1 << 32,
            max_speed: 0.0,
        };
        let [_, right] = geometry.wheel_speeds(fastest);
        WheelGeometry { max_speed: 3.0 * right, ..geometry }
    }

    /// Speeds of the wheels for a motion, ticks per period of the controller. If one is too fast to be told, both are slower, so that the arc
    /// stays.
    pub(super) fn speeds(&self, twist: Twist) -> [i16; 2] {
        let geometry = self.wheel_geometry();
        let per_period = geometry.ticks_per_metre / self.controller_rate;
        let speeds = geometry.wheel_speeds(twist).map(|speed| speed * per_period);
        let fastest = speeds[0].abs().max(speeds[1].abs());
        let scale = (f64::from(i16::MAX) / fastest).min(1.0);
        // Conversion of floats saturates.
        speeds.map(|speed| (speed * scale).round() as i16)
    }
}

/// Options that make no sense.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A limit is none.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A measure or a time is not finite, or not more than 0.
    #[error("{name} is {value}; it has to be finite and more than 0")]
    Value {
        /// Which.
        name: &'static str,
        /// What it is.
        value: f64,
    },
    /// The middle of the body is nowhere.
    #[error("the middle of the body is at {0:?}")]
    Center(Pose),
}
