//! The velocity commanded to a base: permission, limits and timeout. The same for all bases.

use std::time::Duration;

use dragoman_geometry::Twist;

use dragoman_geometry::limits::{LimitError, Limits, Ramp};

/// Why a base stands still. If several apply, the first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Standstill {
    /// There is no connection.
    #[error("the base is not connected")]
    Disconnected,
    /// Nothing was received since the connection was opened.
    #[error("no data of the base received yet")]
    NoFeedback,
    /// No data is received any more.
    #[error("the base has stopped sending")]
    Silent,
    /// A wheel has dropped, and is configured to switch the motors off.
    #[error("the motors are off, a wheel has dropped")]
    WheelDrop,
    /// The motors were switched off.
    #[error("the motors are off")]
    MotorsOff,
    /// The last command is too old.
    #[error("the last command has expired")]
    CommandExpired,
    /// It may move, but there is no command.
    #[error("there is no command")]
    NoCommand,
}

/// Why a command was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The velocity is not finite.
    #[error("a velocity of {0} is not finite")]
    NotFinite(Twist),
    /// The base must not move.
    #[error("{0}")]
    Standstill(Standstill),
}

/// State of the connection to a base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Link {
    /// Not connected.
    Disconnected,
    /// Connected; nothing was received yet.
    NoFeedback,
    /// Data is received.
    Alive,
    /// Data has stopped.
    Silent,
}

/// Accepts commands and lets them expire.
#[derive(Debug, Clone)]
pub(crate) struct Commander {
    ramp: Ramp,
    timeout: Duration,
    /// The last command and its time.
    command: Option<(Twist, Duration)>,
    expired: bool,
    stepped: Duration,
    /// Time until which the stop command is repeated, in case one was lost.
    stopping: Option<Duration>,
    /// Whether the motors are switched on.
    pub motor_power: bool,
    /// Whether a dropped wheel has switched them off.
    pub wheel_dropped: bool,
}

impl Commander {
    /// Motors on, no command. A command expires after `timeout`.
    ///
    /// # Errors
    /// An invalid limit.
    pub(crate) fn new(limits: Limits, timeout: Duration) -> Result<Self, LimitError> {
        Ok(Self {
            ramp: Ramp::new(limits)?,
            timeout,
            command: None,
            expired: false,
            stepped: Duration::ZERO,
            stopping: None,
            motor_power: true,
            wheel_dropped: false,
        })
    }

    /// Takes a command, which replaces the last.
    ///
    /// # Errors
    /// Not finite, or the base must not move; in the first case the last command stays valid.
    pub(crate) fn accept(&mut self, now: Duration, twist: Twist, link: Link) -> Result<(), Refusal> {
        if !twist.is_finite() {
            return Err(Refusal::NotFinite(twist));
        }
        if let Some(reason) = self.prohibition(link) {
            return Err(Refusal::Standstill(reason));
        }
        self.command = Some((twist, now));
        self.expired = false;
        Ok(())
    }

    /// Why the base must not move.
    pub(crate) fn prohibition(&self, link: Link) -> Option<Standstill> {
        match link {
            Link::Disconnected => Some(Standstill::Disconnected),
            Link::NoFeedback => Some(Standstill::NoFeedback),
            Link::Silent => Some(Standstill::Silent),
            Link::Alive if self.wheel_dropped => Some(Standstill::WheelDrop),
            Link::Alive if !self.motor_power => Some(Standstill::MotorsOff),
            Link::Alive => None,
        }
    }

    /// Why the base is commanded to stand still; `None`: it is commanded to move.
    pub(crate) fn standstill(&self, link: Link) -> Option<Standstill> {
        let idle = if self.expired { Standstill::CommandExpired } else { Standstill::NoCommand };
        self.prohibition(link).or((!self.is_moving()).then_some(idle))
    }

    /// The velocity to send now; advances along the ramp.
    pub(crate) fn velocity(&mut self, now: Duration) -> Twist {
        let step = now.saturating_sub(self.stepped);
        self.stepped = now;
        self.ramp.step(self.command.map_or(Twist::ZERO, |(twist, _)| twist), step)
    }

    /// Whether the base is commanded to move, or still decelerates.
    pub(crate) fn is_moving(&self) -> bool {
        self.command.is_some_and(|(twist, _)| twist != Twist::ZERO) || self.ramp.velocity() != Twist::ZERO
    }

    /// Drops the command, and sets the velocity to 0 at once. Returns whether there was motion.
    pub(crate) fn stop(&mut self) -> bool {
        let moving = self.is_moving();
        self.command = None;
        self.expired = false;
        self.ramp.stop();
        moving
    }

    /// Repeats stop commands for as long as a command holds: one is being sent, or the base may follow an unknown old one.
    pub(crate) fn extend_stop(&mut self, now: Duration) {
        self.stopping = Some(now.saturating_add(self.timeout));
    }

    /// Whether the stop command must be repeated.
    pub(crate) fn repeats_stop(&self, now: Duration) -> bool {
        self.stopping.is_some_and(|until| now < until)
    }

    /// Our clock has gone back to `now`.
    pub(crate) fn set_back(&mut self, now: Duration) {
        self.stopping = self.stopping.map(|_| now.saturating_add(self.timeout));
    }

    /// Clears its state without sending; not connected.
    pub(crate) fn forget(&mut self) {
        self.stop();
        self.stopping = None;
    }

    /// Drops an expired command; returns whether there was motion.
    pub(crate) fn expire(&mut self, now: Duration) -> bool {
        if self.poll_timeout().is_none_or(|deadline| now < deadline) {
            return false;
        }
        let moving = self.stop();
        self.expired = moving;
        moving
    }

    /// When the command expires.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        self.command.map(|(_, time)| time.saturating_add(self.timeout))
    }

    /// The limits in force.
    pub(crate) fn limits(&self) -> Limits {
        self.ramp.limits()
    }

    /// Sets other limits.
    ///
    /// # Errors
    /// An invalid limit; the old ones stay.
    pub(crate) fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.ramp.set_limits(limits)
    }
}
