//! Velocity of the tool while keys or the joystick are held.

use std::time::Duration;

use super::{Action, Level, Page, SPEED, Station};

/// Time without messages of the joystick after which it counts as released.
const JOYSTICK_TIME: Duration = Duration::from_millis(500);
/// Time after which a key that has been repeated counts as released: slow terminals repeat ten times a second.
const REPEAT_TIME: Duration = Duration::from_millis(400);
/// Zero twists after the last one, in case one is lost.
pub(super) const ZEROS: u32 = 3;

/// A held key of the twist page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) axis: usize,
    pub(super) sign: f64,
}

impl Station {
    /// Handles a message of a joystick.
    pub(in crate::station) fn handle_joystick(&mut self, now: Duration, axes: &[f64], buttons: &[bool]) {
        self.now = now;
        let deflection = self.setup.joystick.deflection(axes, buttons);
        self.dead_man = Some(deflection.is_some());
        self.joystick = deflection.map(|deflection| (deflection, now));
        if deflection.is_none() {
            self.twist();
        }
    }

    /// The joystick is gone.
    pub(in crate::station) fn handle_joystick_lost(&mut self, now: Duration, reason: String) {
        self.now = now;
        (self.dead_man, self.joystick) = (None, None);
        self.note(Level::Error, reason);
        self.twist();
    }

    /// Releases all keys and the joystick.
    pub(super) fn release(&mut self) {
        self.held.clear();
        self.joystick = None;
        self.twist();
    }

    pub(super) fn hold(&mut self, axis: usize, sign: f64) {
        if !self.setup.has_twist {
            self.note(Level::Warning, "the 31-byte protocol has no twists; use the other pages".to_owned());
            return;
        }
        if !self.is_ready() {
            return;
        }
        let is_repeated = self.held.iter().any(|held| held.axis == axis && held.sign == sign);
        // Without reports of releases only the last key is known to be held.
        if self.setup.reports_release {
            self.held.retain(|held| held.axis != axis);
        } else {
            self.held.clear();
        }
        self.held.push(Held { axis, sign });
        let hold = if is_repeated { self.setup.hold.min(REPEAT_TIME) } else { self.setup.hold };
        self.held_until = self.now + hold;
        self.twist();
    }

    /// The twist that keys and joystick ask for, in parts of the speed; `None`: nothing is held.
    pub(super) fn deflection(&self) -> Option<[f64; 6]> {
        if self.page != Page::Twist || self.obstacle().is_some() || !self.setup.has_twist {
            return None;
        }
        let mut sum = [0.0; 6];
        let joystick = self.joystick.filter(|(_, at)| self.now.saturating_sub(*at) < JOYSTICK_TIME);
        if self.held.is_empty() && joystick.is_none() {
            return None;
        }
        if let Some((deflection, _)) = joystick {
            sum = deflection;
        }
        for held in &self.held {
            if let Some(sum) = sum.get_mut(held.axis) {
                *sum = (*sum + held.sign).clamp(-1.0, 1.0);
            }
        }
        Some(sum)
    }

    /// The twist that is commanded now, m/s and rad/s.
    pub(in crate::station) fn commanded(&self) -> [f64; 6] {
        let mut twist = self.deflection().unwrap_or_default();
        for (axis, value) in twist.iter_mut().enumerate() {
            *value *= self.scale * if axis < 3 { SPEED.0 } else { SPEED.1 };
        }
        twist
    }

    /// Publishes the twist while something is held, and a few zeros afterwards.
    pub(super) fn twist(&mut self) {
        if self.now >= self.held_until {
            self.held.clear();
        }
        if self.deflection().is_some() {
            self.zeros = 0;
        } else if self.zeros < ZEROS {
            self.zeros += 1;
        } else {
            return;
        }
        self.actions.push_back(Action::Twist(self.commanded()));
    }
}
