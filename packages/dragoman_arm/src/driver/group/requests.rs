//! Requests of users.

use std::time::Duration;

use dragoman_io::can::BusFault;

use super::super::axis::{Axis, Stage};
use super::super::config::ControlMode;
use super::super::conversation::Condition;
use super::super::execution::End;
use super::super::fault::Fault;
use super::super::trajectory::{Tolerances, Trajectory};
use super::switching::Joining;
use super::{Group, GroupState};
use crate::drives::{DriveError, check_joint_values};

impl Group {
    /// Starts to switch the drives on; they hold their present positions.
    ///
    /// # Errors
    /// A drive is missing, or a fault has not been acknowledged.
    pub fn enable(&mut self) -> Result<(), DriveError> {
        match self.state {
            GroupState::Enabled | GroupState::Enabling => Ok(()),
            GroupState::Disabled => {
                if let Some(passive @ BusFault::Passive) = &self.bus.warning {
                    return Err(DriveError::Fault(passive.to_string()));
                }
                self.switch_on(false);
                Ok(())
            }
            GroupState::Stopping => Err(DriveError::Fault("the drives are being stopped".to_owned())),
            GroupState::Unconfigured | GroupState::Faulted => Err(self.refusal()),
        }
    }

    /// Starts to stop the drives and to switch them off.
    pub fn disable(&mut self, now: Duration) {
        if matches!(self.state, GroupState::Enabled | GroupState::Enabling) {
            self.end_trajectory(End::Stopped("the drives were disabled".to_owned()));
            self.switch_off(now);
        }
    }

    /// Brings the joints to rest; they then hold.
    pub fn halt(&mut self) {
        self.end_trajectory(End::Cancelled);
        self.setpoints.reference.brake();
        self.setpoints.rates.fill(0.0);
        if let Some(joining) = &mut self.switching.joining {
            joining.target = None;
        }
    }

    /// Acknowledges a fault; the drives stay off.
    ///
    /// # Errors
    /// A drive is still missing.
    pub fn recover(&mut self) -> Result<(), DriveError> {
        match self.state {
            GroupState::Unconfigured => Err(self.refusal()),
            GroupState::Faulted if !self.is_set_up() => Err(self.refusal()),
            GroupState::Faulted => {
                self.faults.current = None;
                self.faults.emergencies.clear();
                self.set_state(GroupState::Disabled);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Commands positions, rad or m, which came at `now`. With the time at which they were sent, `stamp`, a sender's motion
    /// keeps its course although its commands and the drives' cycles have clocks of their own, and messages are late; that
    /// time may be on any clock.
    ///
    /// # Errors
    /// Wrong number of values, not finite, not enabled, or not in this control mode.
    pub fn command(
        &mut self,
        now: Duration,
        stamp: Option<Duration>,
        position: &[f64],
    ) -> Result<(), DriveError> {
        self.check_command(position, ControlMode::Position)?;
        self.end_trajectory(End::Cancelled);
        self.setpoints.reference.follow(now, stamp, position);
        Ok(())
    }

    /// Commands the position of one joint, rad or m; the others keep their targets. A relaxed joint is switched on
    /// first.
    ///
    /// # Errors
    /// As [`Group::command`]; or another relaxed joint is being switched on.
    pub fn command_joint(&mut self, now: Duration, joint: usize, position: f64) -> Result<(), DriveError> {
        let mut target = self.setpoints.reference.target().to_vec();
        let slot = target.get_mut(joint).ok_or_else(|| DriveError::Fault(format!("no joint {joint}")))?;
        *slot = position;
        self.check_command(&target, ControlMode::Position)?;
        if !self.axes.get(joint).is_some_and(|axis| axis.relaxed) {
            return self.command(now, None, &target);
        }
        match &mut self.switching.joining {
            Some(joining) if joining.joint == joint => joining.target = Some(position),
            Some(_) => return Err(DriveError::Fault("another joint is being switched on".to_owned())),
            None => self.switching.joining = Some(Joining { joint, step: None, target: Some(position) }),
        }
        Ok(())
    }

    /// Switches the power of one joint off, while the others continue; the next [`Group::command_joint`] switches it
    /// on.
    ///
    /// # Errors
    /// Not enabled, or no such joint.
    pub fn relax(&mut self, joint: usize) -> Result<(), DriveError> {
        if self.state != GroupState::Enabled {
            return Err(DriveError::Disabled);
        }
        if self.config.mode != ControlMode::Position {
            return Err(DriveError::Fault("joints are relaxed in position mode only".to_owned()));
        }
        if joint >= self.axes.len() {
            return Err(DriveError::Fault(format!("no joint {joint}")));
        }
        self.end_trajectory(End::Cancelled);
        self.setpoints.reference.brake();
        if let Some(axis) = self.axes.get_mut(joint).filter(|axis| axis.has_drive()) {
            self.switching.joining = self.switching.joining.filter(|joining| joining.joint != joint);
            axis.switch_off();
            axis.relaxed = true;
        }
        Ok(())
    }

    /// Sets velocities (rad/s or m/s) or currents (A), by the group's control mode; they hold for
    /// [`GroupConfig::command_loss`](crate::driver::GroupConfig::command_loss).
    ///
    /// # Errors
    /// Wrong number of values, not finite, too fast, not enabled, or not in this control mode.
    pub fn command_rates(
        &mut self,
        now: Duration,
        mode: ControlMode,
        rates: &[f64],
    ) -> Result<(), DriveError> {
        self.check_command(rates, mode)?;
        let limit = |joint: usize| match mode {
            ControlMode::Torque => self.config.axes.get(joint).map(|axis| axis.max_current),
            _ => self.setpoints.reference.max_velocity().get(joint).copied(),
        };
        let beyond = |(joint, rate): (usize, &f64)| limit(joint).is_none_or(|limit| rate.abs() > limit);
        if let Some(joint) = rates.iter().enumerate().position(beyond) {
            return Err(DriveError::Fault(
                format!("joint {joint}: {mode:?} beyond its limit").to_lowercase(),
            ));
        }
        self.setpoints.set_rates(now, rates);
        Ok(())
    }

    /// Starts a trajectory now; it replaces a trajectory in progress. Returns its number, which
    /// [`Event::Trajectory`](super::Event::Trajectory) carries.
    ///
    /// # Errors
    /// Not enabled, or not in position mode.
    pub fn follow_trajectory(
        &mut self,
        trajectory: Trajectory,
        tolerances: Tolerances,
    ) -> Result<u64, DriveError> {
        self.check_command(trajectory.goal(), ControlMode::Position)?;
        if let Some(joint) = self.axes.iter().position(|axis| axis.relaxed) {
            return Err(DriveError::Fault(format!("joint {joint} is relaxed")));
        }
        self.end_trajectory(End::Cancelled);
        Ok(self.setpoints.follow_trajectory(trajectory, tolerances))
    }

    /// Limits how fast commands move a joint, rad/s or m/s; not above its configured maximum.
    ///
    /// # Errors
    /// Not positive, or not finite.
    pub fn set_speed(&mut self, joint: usize, speed: f64) -> Result<(), DriveError> {
        if !speed.is_finite() {
            return Err(DriveError::NotFinite { joint, value: speed });
        }
        let most = self.config.axes.get(joint).map(|axis| axis.max_velocity);
        match most.filter(|_| speed > 0.0) {
            Some(most) => {
                self.setpoints.reference.limit(joint, speed.min(most));
                Ok(())
            }
            None => Err(DriveError::Fault(format!("joint {joint} cannot move at {speed}"))),
        }
    }

    /// Declares the present positions to be `position`, without motion.
    ///
    /// # Errors
    /// Wrong number of values, not finite, or the joints are moving.
    pub fn recalibrate(&mut self, position: &[f64]) -> Result<(), DriveError> {
        check_joint_values(position, self.axes.len())?;
        if !self.is_set_up() {
            return Err(self.refusal());
        }
        let commanded = self.setpoints.reference.velocity().iter().any(|velocity| *velocity != 0.0)
            || self.setpoints.execution.is_some();
        let moves = |axis: &Axis| axis.has_drive() && !axis.holds(Condition::AtRest);
        if commanded || self.axes.iter().any(moves) {
            return Err(DriveError::Fault("the arm is moving".to_owned()));
        }
        for (joint, (axis, position)) in self.axes.iter_mut().zip(position).enumerate() {
            let change = axis.recalibrate(*position);
            self.setpoints.reference.shift(joint, change);
        }
        self.setpoints.history.reset(self.setpoints.reference.setpoint());
        Ok(())
    }

    pub(super) fn check_command(&self, values: &[f64], mode: ControlMode) -> Result<(), DriveError> {
        check_joint_values(values, self.axes.len())?;
        // In both the commands are positions.
        let accepted = mode == self.config.mode || (mode == ControlMode::Position && self.is_host());
        if !accepted {
            let wrong = format!("the drives are in {:?} mode, not in {mode:?} mode", self.config.mode);
            return Err(DriveError::Fault(wrong.to_lowercase()));
        }
        match self.state {
            GroupState::Enabled => Ok(()),
            GroupState::Unconfigured | GroupState::Faulted => Err(self.refusal()),
            GroupState::Disabled | GroupState::Enabling | GroupState::Stopping => Err(DriveError::Disabled),
        }
    }

    pub(super) fn refusal(&self) -> DriveError {
        let missing = self.axes.iter().filter(|axis| axis.stage != Stage::SetUp);
        let nodes: Vec<String> = missing.map(|axis| axis.config.node.to_string()).collect();
        let mut text = self.fault().map(Fault::to_string).unwrap_or_default();
        if self.state == GroupState::Faulted {
            text = format!("stopped: {text}; recover acknowledges it");
        }
        if !nodes.is_empty() {
            let separator = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{separator}waiting for node {}", nodes.join(", "));
        }
        DriveError::Fault(text)
    }
}
