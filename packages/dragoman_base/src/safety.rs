//! What brings a base to a standstill, the same for every base: silence, commands that expire, motors that are switched off.

use std::time::Duration;

use crate::commander::{Commander, Link};

/// The connection to a base, and when the base was heard on it.
#[derive(Debug)]
pub(crate) struct Contact {
    /// What is known of the connection.
    pub(crate) link: Link,
    /// When a measurement came last, on this connection.
    pub(crate) heard: Option<Duration>,
    /// How long the base may say nothing.
    timeout: Duration,
}

impl Contact {
    /// None yet.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { link: Link::Disconnected, heard: None, timeout }
    }

    /// When the base counts as silent, if it says nothing.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let heard = self.heard.filter(|_| self.link == Link::Alive);
        heard.map(|heard| heard.saturating_add(self.timeout))
    }

    fn is_silent(&self, now: Duration) -> bool {
        self.link == Link::Alive && self.deadline().is_none_or(|deadline| now >= deadline)
    }
}

/// What has changed, of every base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The base is heard, or is not any more.
    Robot { online: bool },
    /// The motors were switched on or off.
    MotorPower { on: bool },
    /// Commands stopped coming while the base was moving; it was stopped.
    CommandExpired,
}

/// A driver, as far as it has a base stand still.
pub(crate) trait Safety {
    /// What the base is told to do.
    fn commander(&mut self) -> &mut Commander;

    /// How it is heard.
    fn contact(&mut self) -> &mut Contact;

    /// Tells the base to stand, as well as it can be told.
    fn tell_stop(&mut self);

    /// Notes what has changed.
    fn note(&mut self, change: Change);

    /// Stands still at once, whatever was commanded.
    fn stand(&mut self) {
        if self.commander().stop() {
            self.tell_stop();
        }
    }

    /// Stops what is too old.
    fn expire(&mut self, now: Duration) {
        if self.commander().expire(now) {
            self.tell_stop();
            self.note(Change::CommandExpired);
        }
    }

    /// Stands still if the base has fallen silent; whether it just has.
    fn notice_silence(&mut self, now: Duration) -> bool {
        let silent = self.contact().is_silent(now);
        if silent {
            self.stand();
            self.set_link(Link::Silent);
        }
        silent
    }

    /// Something else is known of the connection.
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
