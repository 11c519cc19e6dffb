//! The driver as one of several kinds.

use std::time::Duration;

use super::Driver;
use crate::base::{Base, Motion};
use crate::commander::Refusal;
use crate::limits::{LimitError, Limits};
use crate::motion::{Pose, Twist};
use crate::odometry::NotFinite;

impl Base for Driver {
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

    fn command(&mut self, now: Duration, twist: Twist) -> Result<&[u8], Refusal> {
        self.command(now, twist)
    }

    fn set_motor_power(&mut self, on: bool) -> Result<(), Refusal> {
        self.set_motor_power(on);
        Ok(())
    }

    fn set_odometry(&mut self, pose: Pose) -> Result<(), NotFinite> {
        self.set_odometry(pose)
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitError> {
        self.set_limits(limits)
    }

    fn motion(&self) -> Motion {
        let state = self.state();
        Motion {
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
