//! The common interface of all base drivers.

use std::time::Duration;

use dragoman_geometry::limits::{LimitError, Limits};
use dragoman_geometry::{Pose, Twist};
use dragoman_io::serial::SerialDriver;

use crate::commander::{Refusal, Standstill};
use crate::differential::driver as differential;
use crate::kobuki::driver as kobuki;
use crate::odometry::{NotFinite, Wheel};

/// A base's driver.
pub trait Base: SerialDriver {
    /// Moves with this velocity until the next command, or until it expires. Returns all bytes to send.
    ///
    /// # Errors
    /// Not finite, or the base must not move; nothing changes then.
    fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal>;

    /// Switches the motors on or off; off stops the base and refuses commands.
    ///
    /// # Errors
    /// They must not be switched on now.
    fn set_motor_power(&mut self, on: bool) -> Result<(), Refusal>;

    /// Sets the pose of the odometry; the origin is a reset, including the wheels.
    ///
    /// # Errors
    /// Not finite.
    fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite>;

    /// Sets other limits.
    ///
    /// # Errors
    /// An invalid limit; the old ones stay.
    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError>;

    /// The last measured motion.
    fn motion(&self) -> Motion;
}

/// Pose and velocity of a base, and why it stands still.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Whether measurements arrive.
    pub alive: bool,
    /// Whether the motors are on.
    pub motor_power: bool,
    /// Why the base is commanded to stand still; `None`: it is commanded to move.
    pub standstill: Option<Standstill>,
    /// Pose relative to the start of its odometry.
    pub pose: Pose,
    /// Covariance of the pose: x, y, z and rotations about them, row by row.
    pub pose_covariance: [f64; 36],
    /// Velocity in its own frame.
    pub twist: Twist,
    /// The left and the right wheel.
    pub wheels: [Wheel; 2],
}

/// Forwards to the drivers' methods, which have the same names for all bases.
macro_rules! base {
    ($driver:ty, $state:ty, $set_motor_power:expr) => {
        impl SerialDriver for $driver {
            dragoman_io::forward_to_driver!();

            fn stop(&mut self) {
                // Switching off is never refused.
                let _ = Base::set_motor_power(self, false);
            }

            fn is_alive(&self) -> bool {
                self.state().alive
            }

            fn has_power(&self) -> bool {
                self.state().motor_power
            }

            fn set_power(&mut self, _now: Duration, on: bool) -> bool {
                Base::set_motor_power(self, on).is_ok()
            }

            fn trouble(&self) -> Option<String> {
                self.state().standstill.map(|reason| reason.to_string())
            }
        }

        impl Base for $driver {
            fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
                self.command(now, twist)
            }

            fn set_motor_power(&mut self, on: bool) -> Result<(), Refusal> {
                $set_motor_power(self, on)
            }

            fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
                self.set_odometry(pose)
            }

            fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
                self.set_limits(limits)
            }

            fn motion(&self) -> Motion {
                (&self.state()).into()
            }
        }

        impl From<&$state> for Motion {
            fn from(state: &$state) -> Self {
                Self {
                    alive: state.alive,
                    motor_power: state.motor_power,
                    standstill: state.standstill,
                    pose: state.pose,
                    pose_covariance: state.pose_covariance,
                    twist: state.twist,
                    wheels: state.wheels,
                }
            }
        }
    };
}

base!(kobuki::Driver, kobuki::KobukiState, kobuki::Driver::set_motor_power);
base!(differential::Driver, differential::DifferentialState, |driver: &mut differential::Driver, on| {
    driver.set_motor_power(on);
    Ok(())
});
