//! Options of the driver.

use std::time::Duration;

use dragoman_geometry::limits::{LimitError, Limits};

use super::BatteryConfig;

/// Source of the odometry's heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeadingSource {
    /// The gyro, relative to its first reading.
    #[default]
    Gyro,
    /// The difference of the wheels.
    Wheels,
}

/// Options of the driver.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Time without feedback after which the base counts as lost.
    pub feedback_timeout: Duration,
    /// Time for which a command holds.
    pub command_timeout: Duration,
    /// Interval between requests for missing parts of the identity.
    pub request_interval: Duration,
    /// Limits of velocities and accelerations.
    pub limits: Limits,
    /// Whether a dropped wheel switches the motors off until they are switched on again.
    pub motors_off_on_wheel_drop: bool,
    /// Source of the heading.
    pub heading: HeadingSource,
    /// Whether a reset of the odometry also sets the reported encoders to 0, as in the simulator of the TurtleBot
    /// thesis. A Kobuki has no command for that: its counters continue.
    pub reset_encoders: bool,
    /// Voltage thresholds of the battery.
    pub battery: BatteryConfig,
}

/// 0.1 s, 0.6 s, 0.5 s, no acceleration limits, motors stay on, heading from the gyro, encoders continue.
impl Default for Config {
    fn default() -> Self {
        Self {
            feedback_timeout: Duration::from_millis(100),
            command_timeout: Duration::from_millis(600),
            request_interval: Duration::from_millis(500),
            limits: Limits::KOBUKI,
            motors_off_on_wheel_drop: false,
            heading: HeadingSource::Gyro,
            reset_encoders: false,
            battery: BatteryConfig::default(),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.limits.check()?;
        let timeouts = [
            ("feedback_timeout", self.feedback_timeout),
            ("command_timeout", self.command_timeout),
            ("request_interval", self.request_interval),
        ];
        if let Some((name, _)) = timeouts.into_iter().find(|(_, timeout)| timeout.is_zero()) {
            return Err(ConfigError::Timeout(name));
        }
        let BatteryConfig { full, low, dangerous } = self.battery;
        if full.is_finite() && full > low && low > dangerous && dangerous > 0.0 {
            Ok(())
        } else {
            Err(ConfigError::Battery(self.battery))
        }
    }
}

/// Error in the options.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// An invalid limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A timeout is 0.
    #[error("{0} is 0")]
    Timeout(&'static str),
    /// Voltages do not fall from full to low to dangerous to 0.
    #[error("the battery cannot be full at {} V, low at {} V and dangerous at {} V", .0.full, .0.low, .0.dangerous)]
    Battery(BatteryConfig),
}
