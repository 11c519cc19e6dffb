//! One joint and its drive: conversion to counts, the drive's reports, the present conversation.

use std::time::Duration;

use canopen_rs::NodeId;

use super::cia402::{self, DriveState};
use super::config::{AxisConfig, ControlMode, DriveKind, GroupConfig, QUEUE_ROWS};
use super::conversation::{Condition, Conversation, Step};
use super::fault::Fault;
use super::outbox::Outbox;
use super::queue::RowWriter;
use super::whistle;
use crate::drives::TEMPERATURE_ABSENT;
use crate::simpliq::{self, Argument, Command, DriveAnswer, Status};

/// Progress of a drive's set-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The drive is missing or its set-up failed; retried at this time.
    Absent {
        /// Time of the next attempt.
        retry: Duration,
    },
    /// Set-up is in progress.
    SettingUp,
    /// The drive is set up and reports.
    SetUp,
}

/// Consecutive reports at rest that count as standstill, and the counts by which they may differ.
const STILL_REPORTS: u8 = 5;
const STILL_COUNTS: f64 = 3.0;

/// A joint and its drive.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) config: AxisConfig,
    pub(super) mode: ControlMode,
    pub(super) node: NodeId,
    pub(super) stage: Stage,
    pub(super) conversation: Conversation,
    /// The joint's position at 0 counts, rad or m.
    origin: f64,
    counts: f64,
    /// Velocity in counts/s, smoothed.
    velocity: f64,
    /// Velocity in counts/s between the last two reports.
    rate: f64,
    reported: Option<Duration>,
    /// Reports received beyond one per SYNC; negative while some are awaited.
    pub(super) surplus: i32,
    still: u8,
    /// Status register, or status word.
    pub(super) status: u32,
    pub(super) heartbeat: Option<Duration>,
    pub(super) temperature: f64,
    pub(super) temperature_asked: Duration,
    /// The pending request outside the conversation, and its timeout.
    pub(super) asked: Option<(Command, Duration)>,
    pub(super) unanswered: u8,
    pub(super) rows: RowWriter,
    /// Whether `BG` was answered since it was sent.
    pub(super) begun: bool,
    /// CiA 402: the requested state of the power stage.
    pub(super) wanted_on: bool,
    /// Relaxed: its power is off while the others continue.
    pub(super) relaxed: bool,
    /// Position at the last report, whatever has happened since.
    last_known: Option<f64>,
    /// Whether the drive has lost its count since then.
    has_restarted: bool,
}

impl Axis {
    /// A joint; its drive has not reported yet.
    pub(super) fn new(config: &AxisConfig, group: &GroupConfig) -> Self {
        // A suppressed joint has no node and is never sent anything.
        let node = NodeId::new(config.node).unwrap_or(NodeId::BROADCAST);
        let suppressed = config.kind == DriveKind::Suppressed;
        Self {
            config: config.clone(),
            mode: group.mode,
            node,
            stage: if suppressed { Stage::SetUp } else { Stage::Absent { retry: Duration::ZERO } },
            conversation: Conversation::new(node),
            origin: config.home,
            counts: 0.0,
            velocity: 0.0,
            rate: 0.0,
            reported: None,
            surplus: 0,
            still: 0,
            status: 0,
            heartbeat: None,
            temperature: TEMPERATURE_ABSENT,
            temperature_asked: Duration::ZERO,
            asked: None,
            unanswered: 0,
            rows: RowWriter::new(QUEUE_ROWS, group.lead_rows(), group.cycle()),
            begun: false,
            wanted_on: false,
            relaxed: false,
            last_known: None,
            has_restarted: false,
        }
    }

    pub(super) fn has_drive(&self) -> bool {
        self.config.kind != DriveKind::Suppressed
    }

    /// Last measured position, rad or m; home before the first report.
    pub(super) fn position(&self) -> f64 {
        self.origin + self.counts / self.config.counts_per_unit
    }

    /// Last measured velocity, rad/s or m/s, smoothed over a few cycles.
    pub(super) fn velocity(&self) -> f64 {
        self.velocity / self.config.counts_per_unit
    }

    /// Velocity between the last two reports, rad/s or m/s.
    pub(super) fn rate(&self) -> f64 {
        self.rate / self.config.counts_per_unit
    }

    /// Current of the motor for a torque of the joint, A, within its limit.
    pub(super) fn current(&self, torque: f64) -> f64 {
        let current = torque / self.config.torque_per_ampere * self.config.counts_per_unit.signum();
        current.clamp(-self.config.max_current, self.config.max_current)
    }

    /// Counts for a position.
    pub(super) fn to_counts(&self, position: f64) -> f64 {
        (position - self.origin) * self.config.counts_per_unit
    }

    /// Declares the present position to be `position`; returns by how much all positions change.
    pub(super) fn recalibrate(&mut self, position: f64) -> f64 {
        let change = position - self.position();
        self.origin += change;
        self.last_known = self.last_known.map(|known| known + change);
        change
    }

    /// A suppressed joint is at its commanded position.
    pub(super) fn place(&mut self, position: f64, velocity: f64) {
        self.counts = self.to_counts(position);
        self.velocity = velocity * self.config.counts_per_unit;
    }

    /// Takes the position and status that the drive reported.
    /// `between` is the time between the last two SYNCs, which is longer than a cycle after a pause of this computer.
    pub(super) fn report(
        &mut self,
        now: Duration,
        counts: i32,
        status: u32,
        cycle: Duration,
        between: Duration,
    ) {
        let counts = f64::from(counts);
        if self.reported.is_some() {
            let moved = counts - self.counts;
            self.rate = moved / between.as_secs_f64();
            self.velocity += 0.3 * (moved / cycle.as_secs_f64() - self.velocity);
            self.still = if moved.abs() <= STILL_COUNTS { self.still.saturating_add(1) } else { 0 };
        }
        if let Some(position) = self.last_known.filter(|_| self.has_restarted) {
            // An incremental encoder counts from 0 again, but the joint has not moved.
            self.origin = position - counts / self.config.counts_per_unit;
        }
        self.has_restarted = false;
        self.counts = counts;
        self.last_known = Some(self.position());
        self.status = status;
        self.reported = Some(now);
        self.surplus = self.surplus.saturating_add(1);
    }

    /// Whether the drive has reported its position within this time without losing its count since.
    pub(super) fn is_fresh(&self, now: Duration, within: Duration) -> bool {
        !self.has_restarted && self.reported.is_some_and(|reported| now.saturating_sub(reported) <= within)
    }

    /// Time since the last report of a drive that reports at every cycle.
    pub(super) fn silence(&self, now: Duration) -> Duration {
        now.saturating_sub(self.reported.unwrap_or_default())
    }

    /// Excludes this time from the drive's silence.
    pub(super) fn excuse(&mut self, now: Duration, pause: Duration) {
        let later = |at: Duration| (at + pause).min(now);
        self.reported = self.reported.map(later);
        self.heartbeat = self.heartbeat.map(later);
    }

    /// Whether a condition of the conversation holds.
    pub(super) fn holds(&self, condition: Condition) -> bool {
        match condition {
            Condition::Reports => self.reported.is_some(),
            Condition::AtRest => self.still >= STILL_REPORTS,
            Condition::On => self.is_on(),
            // Power is on during a quick stop.
            Condition::Off if self.config.kind == DriveKind::Cia402 => !matches!(
                DriveState::of(self.status),
                DriveState::OperationEnabled | DriveState::QuickStopActive
            ),
            Condition::Off => !self.is_on(),
        }
    }

    /// Whether the drive's power stage is on.
    pub(super) fn is_on(&self) -> bool {
        match self.config.kind {
            DriveKind::Whistle => Status(self.status).is_motor_on(),
            DriveKind::Cia402 => DriveState::of(self.status) == DriveState::OperationEnabled,
            DriveKind::Suppressed => true,
        }
    }

    /// The fault that keeps the drive from following, if there is one.
    pub(super) fn failure(&self) -> Option<Fault> {
        let failed = self.config.kind == DriveKind::Whistle && Status(self.status).has_failed();
        let fault = Fault::MotorOff { node: self.config.node, status: self.status };
        (failed || !self.is_on()).then_some(fault)
    }

    /// Starts the drive's set-up.
    pub(super) fn set_up(&mut self, group: &GroupConfig) {
        self.stage = Stage::SettingUp;
        self.forget_reports();
        self.wanted_on = false;
        let steps = match self.config.kind {
            DriveKind::Whistle => whistle::set_up(group, self.node, self.mode),
            DriveKind::Cia402 => cia402::set_up(group, self.node),
            DriveKind::Suppressed => Vec::new(),
        };
        self.conversation.say(steps);
    }

    /// The drive must be set up again, not before `retry`.
    pub(super) fn lose(&mut self, retry: Duration) {
        if self.has_drive() {
            self.stage = Stage::Absent { retry };
            self.conversation.stop();
            self.asked = None;
        }
    }

    /// The drive has restarted and lost its count.
    pub(super) fn restarted(&mut self) {
        self.has_restarted = true;
    }

    /// Starts to switch on; the drive then holds its position. `stop_first` is for a drive that may be moving.
    pub(super) fn switch_on(&mut self, group: &GroupConfig, stop_first: bool) {
        self.wanted_on = true;
        self.begun = false;
        self.asked = None;
        let mut steps = Vec::new();
        match self.config.kind {
            DriveKind::Whistle => whistle::switch_on(&mut steps, group, self.mode, stop_first),
            DriveKind::Cia402 => steps.extend([Step::Await(Condition::AtRest), Step::Await(Condition::On)]),
            DriveKind::Suppressed => {}
        }
        self.conversation.say(steps);
    }

    /// Starts to stop and switch off.
    pub(super) fn switch_off(&mut self) {
        self.wanted_on = false;
        self.asked = None;
        match self.config.kind {
            DriveKind::Whistle => self.conversation.say(whistle::switch_off(self.is_on())),
            DriveKind::Cia402 => self.conversation.say([Step::Await(Condition::Off)]),
            DriveKind::Suppressed => {}
        }
    }

    /// Commands a drive that may not respond to stop and switch off; no answer is awaited.
    pub(super) fn stop_without_answer(&self, now: Duration, out: &mut Outbox) {
        match self.config.kind {
            DriveKind::Whistle => whistle::stop_without_answer(self.node, now, out),
            DriveKind::Cia402 => {
                out.push(now, cia402::command_frame(self.node, cia402::control::QUICK_STOP, self.counts));
            }
            DriveKind::Suppressed => {}
        }
    }

    /// Sends the cyclic message; `setpoint` is a position, velocity (rad/s, m/s) or current (A).
    ///
    /// A set-point that is not a number is ignored and the joint holds its position; converted to counts it would be 0.
    pub(super) fn cycle(&mut self, now: Duration, enabled: bool, setpoint: f64, out: &mut Outbox) {
        let setpoint = match self.mode {
            _ if setpoint.is_finite() => setpoint,
            ControlMode::Position => self.position(),
            ControlMode::Velocity | ControlMode::Torque | ControlMode::Host => 0.0,
        };
        match self.config.kind {
            DriveKind::Whistle if enabled => whistle::cycle(self, now, setpoint, out),
            DriveKind::Whistle => {}
            DriveKind::Cia402 if self.stage == Stage::SetUp => {
                let target = if enabled { self.to_counts(setpoint) } else { self.counts };
                let control =
                    DriveState::of(self.status).next_control(self.wanted_on, self.holds(Condition::AtRest));
                out.push(now, cia402::command_frame(self.node, control, target));
            }
            DriveKind::Cia402 => {}
            DriveKind::Suppressed => self.place(setpoint, 0.0),
        }
    }

    /// Cycles from sending a set-point until the drive reaches it.
    pub(super) fn delay(&self, lead_rows: u16) -> usize {
        match self.config.kind {
            // A current acts at once.
            DriveKind::Whistle if self.mode == ControlMode::Host => 1,
            DriveKind::Whistle => usize::from(lead_rows),
            DriveKind::Cia402 => 1,
            DriveKind::Suppressed => 0,
        }
    }

    /// Stores the values in an answer of the interpreter.
    pub(super) fn note(&mut self, now: Duration, answer: &DriveAnswer) {
        let Ok(Argument::Integer(value)) = answer.result else { return };
        if answer.command == Command::TEMPERATURE {
            self.temperature = f64::from(value);
        } else if answer.command == Command::PT {
            if let Ok(row) = u16::try_from(value) {
                self.rows.observe(now, row);
            }
        } else if answer.command == Command::POSITION {
            self.counts = f64::from(value);
        } else if answer.command == Command::BEGIN {
            self.begun = true;
        }
    }

    /// Sends a request outside the conversation, one at a time: a drive holds at most [`simpliq::MAX_UNANSWERED`]
    /// requests. The timeout of the answer is the drive's allowed silence.
    pub(super) fn ask(&mut self, now: Duration, command: Command, silence: Duration, out: &mut Outbox) {
        self.asked = Some((command, now + silence.max(super::conversation::ANSWER_TIME)));
        let request = simpliq::DriveRequest::Get(command);
        out.push(now, super::conversation::request_frame(self.node, &request));
    }

    fn forget_reports(&mut self) {
        self.reported = None;
        self.surplus = 0;
        self.still = 0;
        self.status = 0;
        self.heartbeat = None;
        self.velocity = 0.0;
        self.unanswered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setpoint_that_is_not_a_number_is_ignored() {
        let now = Duration::from_secs(1);
        let group = GroupConfig::default();
        let config = AxisConfig { kind: DriveKind::Cia402, ..AxisConfig::whistle(5, 1000.0, 0.5) };
        for setpoint in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut axis = Axis::new(&config, &group);
            axis.stage = Stage::SetUp;
            axis.report(now, 4321, 0, group.cycle(), group.cycle());
            let mut out = Outbox::new();
            axis.cycle(now, true, setpoint, &mut out);
            let target = out.first().unwrap().data().get(2..6).unwrap().to_vec();
            assert_eq!(target, 4321_i32.to_le_bytes(), "{setpoint}");
        }
    }
}
