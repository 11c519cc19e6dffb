//! What every base's driver does, whatever the base: what a line and a node need of it. What a line alone needs an arm's driver does too.

use std::time::Duration;

use crate::commander::{Refusal, Standstill};
use crate::differential::driver as differential;
use crate::kobuki::driver as kobuki;
use crate::limits::{LimitError, Limits};
use crate::motion::{Pose, Twist};
use crate::odometry::{NotFinite, Wheel};

/// A driver of what is at the end of a serial line, a base or an arm, without I/O. Times are those of a clock that begins anywhere.
pub trait SerialDriver: Send + 'static {
    /// The line was opened.
    fn opened(&mut self, now: Duration);

    /// The line was lost, or closed.
    fn lost(&mut self, now: Duration);

    /// Takes bytes up to the next measurement. `true`: there was one, it can be read, and there may be more in the rest; `false`: all was
    /// taken.
    fn receive(&mut self, now: Duration, bytes: &mut &[u8]) -> bool;

    /// Lets time pass.
    fn poll(&mut self, now: Duration);

    /// When [`SerialDriver::poll`] has to be called at the latest.
    fn deadline(&self) -> Option<Duration>;

    /// All bytes that are to be sent; none are left.
    fn transmit(&mut self) -> &[u8];

    /// Brings to rest what moves: the line is given to others.
    fn stop(&mut self);

    /// Whether everything at the end of the line is heard.
    fn is_alive(&self) -> bool;

    /// Whether motors are on.
    fn has_power(&self) -> bool;

    /// Switches the motors on or off. `false`: they may not be switched now.
    fn set_power(&mut self, now: Duration, on: bool) -> bool;

    /// Why nothing moves, or what is not heard.
    fn trouble(&self) -> Option<String>;
}

/// A base's driver.
pub trait Base: SerialDriver {
    /// Moves with this velocity until the next command, or until it expires. Returns all bytes that are to be sent.
    ///
    /// # Errors
    /// NaN or infinite, or the base would not move; nothing changes then.
    fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal>;

    /// Switches the motors on or off; off stops the base and refuses commands.
    ///
    /// # Errors
    /// They may not be switched on now.
    fn set_motor_power(&mut self, on: bool) -> Result<(), Refusal>;

    /// Declares the base to be here; the origin is a reset, wheels included.
    ///
    /// # Errors
    /// NaN or infinite.
    fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite>;

    /// Sets other limits.
    ///
    /// # Errors
    /// A limit is none; the old ones stay.
    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError>;

    /// The motion as it was measured last.
    fn motion(&self) -> Motion;
}

/// Where a base is, how it moves, and why it does not.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Whether measurements come.
    pub alive: bool,
    /// Whether the motors are on.
    pub motor_power: bool,
    /// Why the base is not told to move; `None`: it is.
    pub standstill: Option<Standstill>,
    /// Seen from where its odometry began.
    pub pose: Pose,
    /// Of the pose: x, y, z and turns about them, row by row.
    pub pose_covariance: [f64; 36],
    /// In its own frame.
    pub twist: Twist,
    /// The left and the right wheel.
    pub wheels: [Wheel; 2],
}

/// The drivers' own methods are the same for all bases.
macro_rules! base {
    ($driver:ty, $state:ty, $set_motor_power:expr) => {
        impl SerialDriver for $driver {
            fn opened(&mut self, now: Duration) {
                self.opened(now);
            }

            fn lost(&mut self, now: Duration) {
                self.lost(now);
            }

            fn receive(&mut self, now: Duration, bytes: &mut &[u8]) -> bool {
                self.receive(now, bytes)
            }

            fn poll(&mut self, now: Duration) {
                self.poll(now);
            }

            fn deadline(&self) -> Option<Duration> {
                self.deadline()
            }

            fn transmit(&mut self) -> &[u8] {
                self.transmit()
            }

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

base!(kobuki::Driver, kobuki::State, kobuki::Driver::set_motor_power);
base!(differential::Driver, differential::State, |driver: &mut differential::Driver, on| {
    driver.set_motor_power(on);
    Ok(())
});
