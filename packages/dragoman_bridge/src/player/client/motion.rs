//! Velocities of bases: each is valid for a while, and then replaced by zero.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Client, Refusal};
use crate::player::wire::Device;
use crate::player::wire::common::Pose2d;
use crate::player::wire::position2d::{self, Velocity};

/// The bases with a velocity, and when their velocities expire.
#[derive(Debug, Default)]
pub(super) struct Motions(BTreeMap<Device, Duration>);

impl Motions {
    /// The next expiry.
    pub(super) fn deadline(&self) -> Option<Duration> {
        self.0.values().min().copied()
    }

    /// Commands that stop the bases whose velocity has expired.
    pub(super) fn expired(&mut self, now: Duration) -> Vec<(Device, Velocity)> {
        let late: Vec<Device> =
            self.0.iter().filter(|(_, due)| **due <= now).map(|(base, _)| *base).collect();
        late.into_iter()
            .map(|base| {
                self.0.remove(&base);
                (base, Velocity { velocity: Pose2d::default(), motors_on: true })
            })
            .collect()
    }
}

impl Client {
    /// Drives a base of interface `position2d` with a velocity in its own frame, m/s, m/s, rad/s. Without another one
    /// for [`velocity_timeout`](super::ClientConfig::velocity_timeout) the base gets the velocity zero.
    ///
    /// # Errors
    /// A number is not finite; there is no connection; the device is not open.
    pub fn handle_velocity(
        &mut self,
        now: Duration,
        device: Device,
        velocity: Pose2d,
    ) -> Result<(), Refusal> {
        if ![velocity.x, velocity.y, velocity.yaw].into_iter().all(f64::is_finite) {
            return Err(Refusal::NotFinite);
        }
        let is_zero = velocity == Pose2d::default();
        let sent =
            self.handle_command(device, &position2d::VELOCITY, &Velocity { velocity, motors_on: true });
        if sent == Err(Refusal::Busy) {
            // A velocity that has waited this long must not be carried out later.
            self.handle_disconnected(now, "the server does not read");
            return Err(Refusal::NotConnected);
        }
        sent?;
        if is_zero {
            self.motions.0.remove(&device);
        } else {
            self.motions.0.insert(device, now.saturating_add(self.config.velocity_timeout));
        }
        Ok(())
    }

    pub(super) fn send_velocity(&mut self, device: Device, command: &Velocity) {
        // A device that is not open any more does not need it.
        let _ = self.handle_command(device, &position2d::VELOCITY, command);
    }
}
