//! A shaft with an arm as its load: the arm moves it, and the position loop commands the current that brings it to its
//! set-point.

use super::{Axis, AxisEvent, Motion};

/// Bandwidth of the position loop, rad/s, with an arm as its load.
const LOOP_BANDWIDTH: f64 = 25.0;

/// A shaft with an arm as its load. Position and velocity of [`Axis`] are then its set-points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shaft {
    pub(super) position: f64,
    pub(super) velocity: f64,
    /// Sum of the position loop's errors, counts s.
    sum: f64,
    /// The brake is engaged: the shaft has the motion of [`Axis`], whatever the torque.
    pub(super) is_braked: bool,
}

/// What moves a loaded shaft.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drive {
    /// The motor, A.
    Current(f64),
    /// The brake: the velocity that it leaves, counts/s.
    Brake(f64),
}

impl Axis {
    /// Attaches an arm to the shaft, which is at rest with its brake engaged. From now on [`Axis::load_moved`] moves
    /// it.
    pub(crate) fn attach_load(&mut self) {
        self.load = Some(Shaft { position: self.position, velocity: 0.0, sum: 0.0, is_braked: true });
    }

    /// What moves the shaft in the present loop, with an arm on it.
    pub(crate) fn drive(&self) -> Drive {
        match &self.load {
            Some(shaft) if shaft.is_braked => Drive::Brake(self.velocity),
            _ => Drive::Current(self.current),
        }
    }

    /// The shaft is where the arm has moved it: counts since the start as [`Axis::shaft_position`], counts/s.
    pub(crate) fn load_moved(&mut self, position: f64, velocity: f64) {
        let Some(shaft) = &mut self.load else { return };
        if !shaft.is_braked {
            (shaft.position, shaft.velocity) = (position - self.shaft_offset, velocity);
            if matches!(self.motion, Motion::Current(_)) {
                (self.position, self.velocity) = (shaft.position, shaft.velocity);
            }
        }
    }

    /// The brake lets the shaft go.
    pub(super) fn release(&mut self) {
        if let Some(shaft) = self.load.as_mut().filter(|shaft| shaft.is_braked) {
            *shaft = Shaft { position: self.position, velocity: self.velocity, sum: 0.0, is_braked: false };
        }
    }

    /// The current of the position loop, with an arm on the shaft; until the arm moves it, the shaft keeps its velocity.
    pub(super) fn run_loaded(&mut self, period: f64) -> Option<AxisEvent> {
        let settings = &self.settings;
        let shaft = self.load.as_mut()?;
        if shaft.is_braked {
            self.current = 0.0;
            return None;
        }
        shaft.position += shaft.velocity * period;
        let mut is_limited = false;
        if matches!(self.motion, Motion::Current(_)) {
            (self.position, self.velocity) = (shaft.position, shaft.velocity);
            let [lowest, highest] = settings.position_limits;
            is_limited = shaft.position < lowest || shaft.position > highest;
        } else {
            let error = self.position - shaft.position;
            let acceleration = LOOP_BANDWIDTH.powi(2) * error
                + 2.0 * LOOP_BANDWIDTH * (self.velocity - shaft.velocity)
                + 0.2 * LOOP_BANDWIDTH.powi(3) * shaft.sum;
            let needed = settings.inertia * acceleration;
            self.current = needed.clamp(-settings.current_limit, settings.current_limit);
            // At the limit the sum would only grow.
            if self.current == needed {
                shaft.sum += error * period;
            }
        }
        if shaft.velocity.abs() > settings.velocity_limit {
            return Some(AxisEvent::TooFast);
        }
        is_limited.then_some(AxisEvent::OutOfRange)
    }
}
