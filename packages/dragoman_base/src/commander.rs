//! What a base is told to do: whether it may, how fast, and until when. The same for every base.

use std::time::Duration;

use dragoman_geometry::Twist;

use dragoman_geometry::limits::{LimitError, Limits, Ramp};

/// Why a base stands still. Of several the first in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Standstill {
    /// There is no connection.
    #[error("the base is not connected")]
    Disconnected,
    /// Nothing was heard since the connection was opened.
    #[error("nothing was heard of the base yet")]
    Unheard,
    /// Nothing is heard any more.
    #[error("the base has fallen silent")]
    Silent,
    /// A wheel has dropped, and that is to switch the motors off.
    #[error("the motors are off, a wheel has dropped")]
    WheelDrop,
    /// The motors were switched off.
    #[error("the motors are off")]
    MotorsOff,
    /// The last command is too old.
    #[error("commands have stopped coming")]
    CommandExpired,
    /// It may move, and was not told to.
    #[error("there is no command")]
    NoCommand,
}

/// Why a command is refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// NaN or infinite.
    #[error("a velocity of {0} is not finite")]
    NotFinite(Twist),
    /// The base would not move.
    #[error("{0}")]
    Standstill(Standstill),
}

/// The connection to a base, as far as it decides whether it moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Link {
    /// There is none.
    Disconnected,
    /// It is there; nothing was heard yet.
    Unheard,
    /// The base is heard.
    Alive,
    /// It was heard, and is not any more.
    Silent,
}

/// Accepts commands and lets them expire.
#[derive(Debug, Clone)]
pub struct Commander {
    ramp: Ramp,
    timeout: Duration,
    /// What was told last, and when.
    command: Option<(Twist, Duration)>,
    expired: bool,
    stepped: Duration,
    /// Until when standing still is repeated, in case it was not heard.
    stopping: Option<Duration>,
    /// Whether the motors are switched on.
    pub motor_power: bool,
    /// Whether a wheel that dropped has switched them off.
    pub wheel_dropped: bool,
}

impl Commander {
    /// With motors on and no command. A command expires after `timeout`.
    ///
    /// # Errors
    /// A limit is none.
    pub fn new(limits: Limits, timeout: Duration) -> Result<Self, LimitError> {
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

    /// Takes a command, in place of the last.
    ///
    /// # Errors
    /// Not finite, or the base would not move; the last command holds on in the first case.
    pub fn accept(&mut self, now: Duration, twist: Twist, link: Link) -> Result<(), Refusal> {
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

    /// Why the base may not move.
    pub fn prohibition(&self, link: Link) -> Option<Standstill> {
        match link {
            Link::Disconnected => Some(Standstill::Disconnected),
            Link::Unheard => Some(Standstill::Unheard),
            Link::Silent => Some(Standstill::Silent),
            Link::Alive if self.wheel_dropped => Some(Standstill::WheelDrop),
            Link::Alive if !self.motor_power => Some(Standstill::MotorsOff),
            Link::Alive => None,
        }
    }

    /// Why the base is not told to move; `None`: it is.
    pub fn standstill(&self, link: Link) -> Option<Standstill> {
        let idle = if self.expired { Standstill::CommandExpired } else { Standstill::NoCommand };
        self.prohibition(link).or((!self.is_moving()).then_some(idle))
    }

    /// The velocity to be told now; goes along the ramp.
    pub fn velocity(&mut self, now: Duration) -> Twist {
        let step = now.saturating_sub(self.stepped);
        self.stepped = now;
        self.ramp.step(self.command.map_or(Twist::ZERO, |(twist, _)| twist), step)
    }

    /// Whether the base is told to move, or is on its way to standing still.
    pub fn is_moving(&self) -> bool {
        self.command.is_some_and(|(twist, _)| twist != Twist::ZERO) || self.ramp.velocity() != Twist::ZERO
    }

    /// Forgets the command, and stands still at once. Whether there was motion.
    pub fn stop(&mut self) -> bool {
        let moving = self.is_moving();
        self.command = None;
        self.expired = false;
        self.ramp.stop();
        moving
    }

    /// The base is told something now, or nobody knows what it was told before; standing still is repeated for as long as a command holds.
    pub fn tell(&mut self, now: Duration) {
        self.stopping = Some(now.saturating_add(self.timeout));
    }

    /// Whether standing still is to be told again.
    pub fn repeats_stop(&self, now: Duration) -> bool {
        self.stopping.is_some_and(|until| now < until)
    }

    /// Our clock has gone back to `now`.
    pub fn set_back(&mut self, now: Duration) {
        self.stopping = self.stopping.map(|_| now.saturating_add(self.timeout));
    }

    /// Stands still, and tells nobody: there is nobody.
    pub fn forget(&mut self) {
        self.stop();
        self.stopping = None;
    }

    /// Stops what is too old; whether there was motion.
    pub fn expire(&mut self, now: Duration) -> bool {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return false;
        }
        let moving = self.stop();
        self.expired = moving;
        moving
    }

    /// When the command expires.
    pub fn deadline(&self) -> Option<Duration> {
        self.command.map(|(_, told)| told.saturating_add(self.timeout))
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.ramp.limits()
    }

    /// Sets other limits.
    ///
    /// # Errors
    /// A limit is none; the old ones stay.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.ramp.set_limits(limits)
    }
}
