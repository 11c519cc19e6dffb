//! Options of the driver.

use std::f64::consts::TAU;
use std::time::Duration;

use dragoman_geometry::limits::{AxisLimits, LimitError, Limits};
use dragoman_geometry::{Pose, Twist};

use crate::geometry::Geometry;
use crate::odometry::WheelGeometry;

/// Properties of the base and of its protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Distance of the wheels' centres, m.
    pub wheel_separation: f64,
    /// Radius of the wheels, m.
    pub wheel_radius: f64,
    /// Encoder ticks per turn of a wheel.
    pub ticks_per_turn: f64,
    /// Rate of the base's controller, Hz; speeds are sent in ticks per period.
    pub controller_rate: f64,
    /// Size of the body, and its centre relative to the centre of rotation.
    pub geometry: Geometry,
    /// Limits of velocities and accelerations.
    pub limits: Limits,
    /// Time for which a command holds.
    pub command_timeout: Duration,
    /// Time without encoder readings after which the base counts as lost.
    pub feedback_timeout: Duration,
    /// Time after which an answer counts as lost.
    pub answer_timeout: Duration,
    /// Period of reading the encoders.
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

    /// Wheel speeds for a motion, ticks per period of the controller. If one exceeds the range of the protocol, both
    /// are scaled, so that the arc stays the same.
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

/// Error in the options.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ConfigError {
    /// An invalid limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A dimension or a time is not finite, or not positive.
    #[error("{name} is {value}; it must be finite and more than 0")]
    Value {
        /// Name of the option.
        name: &'static str,
        value: f64,
    },
    /// The centre of the body is not finite.
    #[error("the centre of the body is not finite: {0:?}")]
    Center(Pose),
}
