//! Switching on and off, and stopping the drives.

use std::time::Duration;

use super::super::axis::{Axis, Stage};
use super::super::config::DriveKind;
use super::super::execution::End;
use super::super::fault::Fault;
use super::super::whistle;
use super::{Event, Group, GroupState, MAX_EVENTS, START_PAUSE};
use crate::simpliq::Command;

/// Delay before a missing drive is addressed again.
const RETRY: Duration = Duration::from_secs(1);

/// Time a drive may take to begin after the SYNC.
const BEGIN_TIME: Duration = Duration::from_millis(200);

/// Consecutive interruptions that are not yet a fault, and the time without one after which the count restarts.
const MAX_INTERRUPTIONS: u32 = 3;
const CALM: Duration = Duration::from_secs(10);

/// Progress of switching on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enabling {
    SwitchingOn,
    Priming,
    Beginning { deadline: Duration },
}

/// A joint in transition from relaxed to following.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joining {
    pub(super) joint: usize,
    /// `None` while it is still being switched off.
    pub(super) step: Option<Enabling>,
    /// Where it moves then. `None`: it was halted, and stays.
    pub(super) target: Option<f64>,
}

/// Progress of switching on, and interruptions.
#[derive(Debug)]
pub(super) struct Switching {
    enabling: Enabling,
    /// The relaxed joint that is being switched on again, its progress and its target.
    pub(super) joining: Option<Joining>,
    interruptions: u32,
    interrupted_at: Duration,
}

impl Switching {
    pub(super) fn new(now: Duration) -> Self {
        Self { enabling: Enabling::SwitchingOn, joining: None, interruptions: 0, interrupted_at: now }
    }

    /// Counts an interruption; whether there were too many in a short time.
    fn is_interrupted_often(&mut self, now: Duration) -> bool {
        if now.saturating_sub(self.interrupted_at) > CALM {
            self.interruptions = 0;
        }
        self.interrupted_at = now;
        self.interruptions += 1;
        self.interruptions > MAX_INTERRUPTIONS
    }
}

impl Group {
    pub(super) fn switch_on(&mut self, stop_first: bool) {
        self.switching.enabling = Enabling::SwitchingOn;
        self.switching.joining = None;
        if self.is_host() {
            self.rest_here();
        }
        for axis in &mut self.axes {
            if !stop_first {
                axis.relaxed = false;
            }
            if axis.relaxed {
                // Relaxed joints stay without power.
                axis.switch_off();
            } else {
                axis.switch_on(&self.config, stop_first);
            }
        }
        self.set_state(GroupState::Enabling);
    }

    /// All conversations are done: starts the next step of switching on.
    pub(super) fn enable_on(&mut self, now: Duration) {
        let follows = |axis: &Axis| axis.config.kind == DriveKind::Whistle && !axis.relaxed;
        match self.switching.enabling {
            Enabling::SwitchingOn => {
                // The controller holds each joint since its motor is on.
                if !self.is_host() {
                    self.rest_here();
                }
                self.setpoints.rates.fill(0.0);
                for axis in self.axes.iter_mut().filter(|axis| follows(axis)) {
                    whistle::prime(axis, now, &mut self.outbox);
                }
                self.switching.enabling = Enabling::Priming;
            }
            Enabling::Priming => {
                for axis in self.axes.iter_mut().filter(|axis| follows(axis)) {
                    whistle::begin(axis, now, self.timing.next_cycle, &mut self.outbox);
                }
                self.switching.enabling = Enabling::Beginning { deadline: now + BEGIN_TIME };
            }
            Enabling::Beginning { deadline } => {
                let slow = self.axes.iter().find(|axis| follows(axis) && !axis.begun);
                match slow.map(|axis| axis.config.node) {
                    None => self.set_state(GroupState::Enabled),
                    Some(node) if deadline <= now => {
                        self.stop_for(now, Fault::NoAnswer { node, command: Command::BEGIN });
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// The set-points are where the joints are.
    fn rest_here(&mut self) {
        let position: Vec<f64> = self.axes.iter().map(Axis::position).collect();
        self.setpoints.rest_at(&position);
        self.host.rest();
    }

    /// The next step of switching a relaxed joint on.
    pub(super) fn join(&mut self, now: Duration) {
        let Some(Joining { joint, step, target }) = self.switching.joining else { return };
        let Some(axis) = self.axes.get_mut(joint).filter(|axis| axis.conversation.is_done()) else { return };
        let is_whistle = axis.config.kind == DriveKind::Whistle;
        let next = match step {
            None => {
                axis.switch_on(&self.config, false);
                // Until the joint follows.
                axis.relaxed = true;
                Enabling::SwitchingOn
            }
            Some(Enabling::SwitchingOn) if is_whistle => {
                whistle::prime(axis, now, &mut self.outbox);
                Enabling::Priming
            }
            Some(Enabling::Priming) => {
                whistle::begin(axis, now, self.timing.next_cycle, &mut self.outbox);
                Enabling::Beginning { deadline: now + BEGIN_TIME }
            }
            Some(Enabling::Beginning { deadline }) if !axis.begun => {
                if deadline <= now {
                    let node = axis.config.node;
                    self.stop_for(now, Fault::NoAnswer { node, command: Command::BEGIN });
                }
                return;
            }
            _ => {
                axis.relaxed = false;
                self.switching.joining = None;
                // The mode and state were checked when the command came.
                let _ = target.map(|target| self.command_joint(now, joint, target));
                return;
            }
        };
        self.switching.joining = Some(Joining { joint, step: Some(next), target });
    }

    pub(super) fn switch_off(&mut self, now: Duration) {
        self.outbox.clear();
        self.switching.joining = None;
        let position: Vec<f64> = self.positions().collect();
        self.setpoints.reference.rest_at(&position);
        self.setpoints.rates.fill(0.0);
        for axis in self.axes.iter_mut().filter(|axis| axis.has_drive()) {
            if axis.stage == Stage::SetUp {
                axis.switch_off();
            } else {
                axis.stop_without_answer(now, &mut self.outbox);
            }
        }
        self.set_state(GroupState::Stopping);
    }

    /// The motion was interrupted but the drives work: they continue from their present positions, unless this happens
    /// repeatedly.
    pub(super) fn interrupt(&mut self, now: Duration, fault: Fault) {
        if self.state == GroupState::Enabling && self.switching.enabling == Enabling::SwitchingOn {
            // The fault belongs to the motion that is being stopped.
            return;
        }
        if self.switching.is_interrupted_often(now) {
            return self.stop_for(now, fault);
        }
        self.end_trajectory(End::Stopped(fault.to_string()));
        self.push_event(Event::Interrupted(fault));
        self.outbox.clear();
        self.switch_on(true);
    }

    /// A drive failed; the effect depends on the group's state.
    pub(super) fn axis_failed(&mut self, now: Duration, index: usize, fault: Fault) {
        let lost = matches!(
            fault,
            Fault::NoAnswer { .. }
                | Fault::Object { .. }
                | Fault::Silent { .. }
                | Fault::Restarted { .. }
                | Fault::Duplicate { .. }
        );
        let setting_up = self.axes.get(index).is_some_and(|axis| axis.stage == Stage::SettingUp);
        if let Some(axis) = self.axes.get_mut(index).filter(|_| lost || setting_up) {
            // A drive that has just restarted is ready at once; one that does not answer may need time.
            let pause = if matches!(fault, Fault::Restarted { .. }) { START_PAUSE } else { RETRY };
            axis.lose(now + pause);
        }
        match self.state {
            GroupState::Enabled | GroupState::Enabling => self.stop_for(now, fault),
            GroupState::Disabled if lost => self.unconfigure(fault),
            GroupState::Unconfigured => self.unconfigure(fault),
            GroupState::Stopping => {
                // Its motor may still be on: set-up first switches it off.
                if let Some(axis) = self.axes.get_mut(index) {
                    axis.stop_without_answer(now, &mut self.outbox);
                    axis.lose(now);
                }
                self.record(fault);
            }
            GroupState::Disabled | GroupState::Faulted => {}
        }
    }

    pub(super) fn unconfigure(&mut self, fault: Fault) {
        if self.faults.set_up.as_ref() != Some(&fault) {
            self.push_event(Event::SetUpFailed(fault.clone()));
        }
        self.faults.set_up = Some(fault);
        self.set_state(GroupState::Unconfigured);
    }

    /// Stops all axes.
    pub(super) fn stop_for(&mut self, now: Duration, fault: Fault) {
        if matches!(self.state, GroupState::Enabled | GroupState::Enabling) {
            self.record(fault);
            self.switch_off(now);
        }
    }

    /// Keeps the first fault; those that follow are consequences.
    pub(super) fn record(&mut self, fault: Fault) {
        self.end_trajectory(End::Stopped(fault.to_string()));
        if self.faults.current.is_none() {
            self.faults.current = Some(fault.clone());
            self.push_event(Event::Fault(fault));
        }
    }

    pub(super) fn end_trajectory(&mut self, end: End) {
        if let Some(id) = self.setpoints.end_trajectory(&end) {
            self.push_event(Event::Trajectory { id, end });
        }
    }

    pub(super) fn set_state(&mut self, state: GroupState) {
        if self.state != state {
            self.state = state;
            self.push_event(Event::State(state));
        }
    }

    pub(super) fn push_event(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
