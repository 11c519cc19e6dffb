//! Stops a base on failures, the same for all bases: silence, expired commands, motors switched off.

use std::time::Duration;

use crate::commander::{Commander, Link};

/// The connection to a base, and the time of its last data.
#[derive(Debug)]
pub(crate) struct Contact {
    /// State of the connection.
    pub(crate) link: Link,
    /// Time of the last measurement on this connection.
    pub(crate) last_received: Option<Duration>,
    /// Time without data after which the base counts as silent.
    timeout: Duration,
}

impl Contact {
    /// None yet.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { link: Link::Disconnected, last_received: None, timeout }
    }

    /// When the base counts as silent, without further data.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        let received = self.last_received.filter(|_| self.link == Link::Alive);
        received.map(|received| received.saturating_add(self.timeout))
    }

    fn is_silent(&self, now: Duration) -> bool {
        self.link == Link::Alive && self.poll_timeout().is_none_or(|deadline| now >= deadline)
    }
}

/// A change, common to all bases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Data of the base started or stopped arriving.
    Robot { online: bool },
    /// The motors were switched on or off.
    MotorPower { on: bool },
    /// The last command expired while the base was moving; it was stopped.
    CommandExpired,
}

/// The parts of a driver that stopping the base needs.
pub(crate) trait Safety {
    fn commander(&mut self) -> &mut Commander;

    fn contact(&mut self) -> &mut Contact;

    /// Sends a stop command, as far as the connection allows.
    fn send_stop(&mut self);

    /// Records a change.
    fn note(&mut self, change: Change);

    /// Drops the command, and stops the base at once if it was moving.
    fn stand(&mut self) {
        if self.commander().stop() {
            self.send_stop();
        }
    }

    /// Stops on an expired command.
    fn expire(&mut self, now: Duration) {
        if self.commander().expire(now) {
            self.send_stop();
            self.note(Change::CommandExpired);
        }
    }

    /// Stops if the base has become silent; returns whether it just has.
    fn notice_silence(&mut self, now: Duration) -> bool {
        let silent = self.contact().is_silent(now);
        if silent {
            self.stand();
            self.set_link(Link::Silent);
        }
        silent
    }

    /// The state of the connection has changed.
    fn set_link(&mut self, link: Link) {
        let before = std::mem::replace(&mut self.contact().link, link);
        let online = link == Link::Alive;
        if online != (before == Link::Alive) {
            self.note(Change::Robot { online });
        }
    }

    /// Switches the motors on or off; off, the base stands still.
    fn switch_motors(&mut self, on: bool) {
        if !on {
            self.stand();
        }
        if std::mem::replace(&mut self.commander().motor_power, on) != on {
            self.note(Change::MotorPower { on });
        }
    }
}
