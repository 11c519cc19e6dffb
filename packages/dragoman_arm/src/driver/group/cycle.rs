//! Timed work: cycles, requests, supervision.

use std::time::Duration;

use canopen_rs::{NmtState, NodeId};

use super::super::axis::{Axis, Stage};
use super::super::config::{ControlMode, DriveKind};
use super::super::execution::End;
use super::super::fault::Fault;
use super::super::whistle;
use super::{Group, GroupState};
use crate::canopen::Service;
use crate::simpliq::Command;

/// Maximum age of a frame waiting to be sent.
const MAX_WAIT: Duration = Duration::from_millis(50);

/// Heartbeats of a drive that may be missing.
const LOST_HEARTBEATS: u32 = 3;

/// Reports beyond one per SYNC that reveal two devices with one number.
const MAX_SURPLUS: i32 = 8;

/// Consecutive requests outside a conversation that may remain unanswered.
const MAX_UNANSWERED: u8 = 3;

/// Period of the temperature requests.
const TEMPERATURE_PERIOD: Duration = Duration::from_secs(1);

impl Group {
    /// Does all due work. Call it at [`Group::poll_timeout`], and after every [`Group::handle_received`].
    pub fn handle_timeout(&mut self, now: Duration) {
        if self.bus.lost {
            return self.timing.pause(now, self.config.cycle());
        }
        if self.outbox.waited(now) > MAX_WAIT {
            let waited = self.outbox.waited(now);
            self.outbox.clear();
            self.stop_for(now, Fault::Congested(waited));
        }
        if self.timing.next_heartbeat <= now {
            self.timing.next_heartbeat = now + self.config.heartbeat;
            let master = NodeId::new(self.config.master).unwrap_or(NodeId::BROADCAST);
            self.outbox.push(now, Service::Heartbeat(master).frame(&[NmtState::Operational as u8]));
        }
        self.run_cycles(now);
        self.talk(now);
        self.change_state(now);
    }

    /// Whether all drives have a queue, which still accepts late set-points.
    fn is_queued(&self) -> bool {
        let queued = |axis: &Axis| axis.config.kind != DriveKind::Cia402;
        self.config.mode == ControlMode::Position && self.axes.iter().all(queued)
    }

    pub(super) fn run_cycles(&mut self, now: Duration) {
        let cycle = self.config.cycle();
        let late = now.saturating_sub(self.timing.next_cycle);
        if late > cycle {
            for axis in &mut self.axes {
                // Without SYNC there was nothing to report.
                axis.excuse(now, late);
            }
        }
        if late > cycle && !self.is_queued() {
            // Without a queue, the drives would execute all missed set-points at once.
            self.timing.next_cycle = now;
        } else if late > cycle * u32::from(self.config.lead_rows()) {
            // The missing set-points would come too late.
            self.timing.next_cycle = now;
            if self.state == GroupState::Enabled {
                self.interrupt(now, Fault::Paused(late));
            }
        }
        while self.timing.next_cycle <= now {
            let due = self.timing.next_cycle;
            self.timing.next_cycle += cycle;
            self.cycle(now, due);
        }
    }

    /// The cycle that was due at `due`; several are made up for at once.
    pub(super) fn cycle(&mut self, now: Duration, due: Duration) {
        self.outbox.push(now, Service::Sync.frame(&[]));
        self.timing.begin_cycle(now, self.config.cycle());
        let enabled = self.state == GroupState::Enabled;
        if enabled {
            let relaxed = self.axes.iter().enumerate().filter(|(_, axis)| axis.relaxed);
            let relaxed = relaxed.map(|(joint, axis)| (joint, axis.position()));
            self.setpoints.advance(now, due, &self.config, relaxed);
        }
        if self.is_host() {
            self.control(now);
            return;
        }
        let rates = self.config.mode != ControlMode::Position;
        let setpoints = if rates { &self.setpoints.rates } else { self.setpoints.reference.setpoint() };
        // A drive holds two unanswered requests. A velocity takes two, so every other cycle is for queries.
        if !rates || self.timing.cycles.is_multiple_of(2) {
            for (axis, setpoint) in self.axes.iter_mut().zip(setpoints) {
                axis.cycle(now, enabled && !axis.relaxed, *setpoint, &mut self.outbox);
            }
        }
        if !rates || !self.timing.cycles.is_multiple_of(2) {
            self.ask_one(now);
        }
        self.check_execution();
        self.supervise(now);
    }

    /// A cycle of control at the host: currents for all motors that are on, also while others are still being switched on,
    /// so that gravity does not move them. A drive holds two unanswered requests; a current and a query are two.
    fn control(&mut self, now: Duration) {
        if matches!(self.state, GroupState::Enabled | GroupState::Enabling) {
            let period = self.config.cycle().as_secs_f64();
            // The drives reported at the SYNC before this one.
            let since = self.timing.between_syncs.min(self.config.feedback_loss).as_secs_f64();
            let measured = self.axes.iter().map(|axis| (axis.position() + axis.rate() * since, axis.rate()));
            let reference = &self.setpoints.reference;
            let set = [reference.setpoint(), reference.velocity()];
            let torques = self.host.torques(measured, set, period);
            for (joint, axis) in self.axes.iter_mut().enumerate() {
                let torque = torques.and_then(|torques| torques.get(joint)).copied().unwrap_or(0.0);
                let current = axis.current(torque);
                axis.cycle(now, axis.is_on(), current, &mut self.outbox);
            }
        }
        if self.timing.cycles.is_multiple_of(2) {
            self.ask_one(now);
        }
        self.check_execution();
        self.supervise(now);
    }

    /// Queries the drives in turn, unless a conversation is in progress.
    pub(super) fn ask_one(&mut self, now: Duration) {
        let turn = usize::try_from(self.timing.cycles / 2).unwrap_or_default() % self.axes.len().max(1);
        let moving = self.state == GroupState::Enabled && self.config.mode == ControlMode::Position;
        let Some(axis) = self.axes.get_mut(turn) else { return };
        let quiet = axis.conversation.is_done() && axis.asked.is_none() && axis.stage == Stage::SetUp;
        if axis.config.kind != DriveKind::Whistle || !quiet {
            return;
        }
        if now.saturating_sub(axis.temperature_asked) > TEMPERATURE_PERIOD {
            axis.temperature_asked = now;
            axis.ask(now, Command::TEMPERATURE, self.config.feedback_loss, &mut self.outbox);
        } else if moving {
            axis.ask(now, Command::PT, self.config.feedback_loss, &mut self.outbox);
        }
    }

    pub(super) fn check_execution(&mut self) {
        if let Some(end) = self.setpoints.check(&self.config, &self.axes) {
            let reached = end == End::Reached;
            self.end_trajectory(end);
            if !reached {
                self.setpoints.reference.brake();
            }
        }
    }

    /// Whether all drives still report once per cycle and are on when they should be.
    pub(super) fn supervise(&mut self, now: Duration) {
        let enabled = self.state == GroupState::Enabled;
        let is_off =
            matches!(self.state, GroupState::Disabled | GroupState::Faulted | GroupState::Unconfigured);
        let awaited = self.config.awaited_reports();
        for index in 0..self.axes.len() {
            let Some(axis) = self.axes.get_mut(index) else { continue };
            if axis.stage != Stage::SetUp || !axis.has_drive() {
                continue;
            }
            let node = axis.config.node;
            let silence = axis.silence(now);
            let heartbeat = now.saturating_sub(axis.heartbeat.unwrap_or(now));
            // Late reports arrive together; reports later than the allowed silence never arrive.
            axis.surplus = (axis.surplus - 1).max(-awaited);
            let twice = axis.surplus > MAX_SURPLUS;
            let overdue = axis.asked.is_some_and(|(_, deadline)| deadline < now);
            let asked = axis.asked;
            if overdue {
                axis.asked = None;
                axis.unanswered += 1;
            }
            let lost = heartbeat > whistle::DRIVE_HEARTBEAT * LOST_HEARTBEATS;
            let fault = match asked {
                _ if silence > self.config.feedback_loss => Some(Fault::Silent { node, silence }),
                _ if lost => Some(Fault::Silent { node, silence: heartbeat }),
                _ if twice => Some(Fault::Duplicate { node }),
                Some((command, _)) if axis.unanswered >= MAX_UNANSWERED => {
                    axis.unanswered = 0;
                    Some(Fault::NoAnswer { node, command })
                }
                _ if enabled && !axis.relaxed => axis.failure(),
                _ if is_off && axis.is_on() && axis.conversation.is_done() => {
                    // Another master has switched it on, or it has not switched off.
                    axis.switch_off();
                    None
                }
                _ => None,
            };
            if let Some(fault) = fault {
                self.axis_failed(now, index, fault);
            }
        }
    }

    pub(super) fn talk(&mut self, now: Duration) {
        for index in 0..self.axes.len() {
            let Self { axes, outbox, .. } = self;
            let Some(axis) = axes.get_mut(index) else { continue };
            if let Err(fault) = axis.conversation.handle_timeout(now, |frame| outbox.push(now, frame)) {
                self.axis_failed(now, index, fault);
            }
        }
    }

    pub(super) fn change_state(&mut self, now: Duration) {
        for axis in &mut self.axes {
            match axis.stage {
                Stage::Absent { retry } if retry <= now => axis.set_up(&self.config),
                Stage::SettingUp if axis.conversation.is_done() => {
                    axis.stage = Stage::SetUp;
                    // Any number of its reports, and its heartbeat, may still be on the way.
                    axis.surplus = -self.config.awaited_reports();
                    axis.heartbeat = Some(now);
                }
                _ => {}
            }
        }
        let quiet = |axis: &Axis| axis.stage != Stage::SetUp || axis.conversation.is_done();
        match self.state {
            GroupState::Unconfigured if self.is_set_up() => {
                self.faults.set_up = None;
                self.set_state(GroupState::Disabled);
            }
            GroupState::Enabling if self.axes.iter().all(quiet) => self.enable_on(now),
            GroupState::Enabled => self.join(now),
            GroupState::Stopping if self.axes.iter().all(quiet) => {
                let end = match self.faults.current {
                    Some(_) => GroupState::Faulted,
                    None if self.is_set_up() => GroupState::Disabled,
                    None => GroupState::Unconfigured,
                };
                self.set_state(end);
            }
            _ => {}
        }
    }

    pub(super) fn is_set_up(&self) -> bool {
        self.axes.iter().all(|axis| axis.stage == Stage::SetUp)
    }
}
