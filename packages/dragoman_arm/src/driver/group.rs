//! The drives of one arm: they start, move and stop together.

use std::collections::VecDeque;
use std::time::Duration;

use canopen_rs::{NmtState, NodeId};

use super::axis::{Axis, Stage};
use super::config::{ConfigError, ControlMode, DriveKind, GroupConfig};
use super::execution::{End, Execution, History};
use super::fault::{EmergencyLog, Fault};
use super::outbox::Outbox;
use super::reference::Reference;
use super::trajectory::{Tolerances, Trajectory};
use super::{cia402, whistle};
use crate::can::{BusFault, Frame, Received};
use crate::canopen::{Emergency, Service};
use crate::drives::{DriveError, check_joint_values};
use crate::simpliq::{self, Command, emergencies};

/// What a group does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Not all drives are there and set up; it goes on trying.
    Unconfigured,
    /// All drives are set up, their motors are off.
    Disabled,
    /// The drives are being switched on.
    Enabling,
    /// The drives hold or follow.
    Enabled,
    /// The drives are being stopped and switched off.
    Stopping,
    /// The drives were stopped because of a fault; somebody must acknowledge it.
    Faulted,
}

/// How far switching on has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Enabling {
    SwitchingOn,
    Priming,
    Beginning { deadline: Duration },
}

/// What happened, for whoever runs the group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The state changed.
    State(State),
    /// The drives were stopped.
    Fault(Fault),
    /// The motion was interrupted and the drives have been started again where they stood.
    Interrupted(Fault),
    /// A drive cannot be set up; it is tried again.
    SetUpFailed(Fault),
    /// A trajectory ended.
    Trajectory {
        /// Its number.
        id: u64,
        /// How.
        end: End,
    },
}

/// How long a drive that is not there is left alone.
const RETRY: Duration = Duration::from_secs(1);
/// How long a drive that has just started is left alone.
const START_PAUSE: Duration = Duration::from_millis(100);
/// How long a frame may wait to be sent.
const MAX_WAIT: Duration = Duration::from_millis(50);
/// How long a drive may take to begin after the SYNC.
const BEGIN_TIME: Duration = Duration::from_millis(200);
/// Heartbeats of a drive that may be missing.
const LOST_HEARTBEATS: u32 = 3;
/// Reports beyond one per SYNC that tell of two devices with one number.
const MAX_SURPLUS: i32 = 8;
/// Interruptions in a row that are not yet a fault, and the time without one after which the count starts anew.
const MAX_INTERRUPTIONS: u32 = 3;
const CALM: Duration = Duration::from_secs(10);
/// Answers to questions beside a conversation that may be missing in a row.
const MAX_UNANSWERED: u8 = 3;
/// How often a drive's temperature is asked for.
const TEMPERATURE_PERIOD: Duration = Duration::from_secs(1);
/// Events that are kept for a reader who is late.
const MAX_EVENTS: usize = 256;

/// The drives of one arm. Times are on one steady clock, from any epoch.
#[derive(Debug)]
pub struct Group {
    config: GroupConfig,
    axes: Vec<Axis>,
    /// Which axis has a node number.
    by_node: [Option<u8>; 128],
    state: State,
    enabling: Enabling,
    fault: Option<Fault>,
    /// Why a drive could not be set up last.
    set_up_fault: Option<Fault>,
    outbox: Outbox,
    next_cycle: Duration,
    cycles: u64,
    next_heartbeat: Duration,
    bus_lost: bool,
    reference: Reference,
    /// Velocities or currents as they were told last, and when.
    rates: Vec<f64>,
    rates_at: Duration,
    history: History,
    execution: Option<Execution>,
    executions: u64,
    interruptions: u32,
    interrupted_at: Duration,
    emergencies: EmergencyLog,
    events: VecDeque<Event>,
}

impl Group {
    /// A group of which no drive has been heard of yet.
    ///
    /// # Errors
    /// What makes no sense in `config`.
    pub fn new(now: Duration, config: GroupConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let axes: Vec<Axis> = config.axes.iter().map(|axis| Axis::new(axis, &config)).collect();
        let mut by_node = [None; 128];
        for (index, axis) in axes.iter().enumerate().filter(|(_, axis)| axis.has_drive()) {
            if let Some(slot) = by_node.get_mut(usize::from(axis.node.raw())) {
                *slot = u8::try_from(index).ok();
            }
        }
        let home: Vec<f64> = axes.iter().map(Axis::position).collect();
        let limits = |of: fn(&super::AxisConfig) -> f64| config.axes.iter().map(of).collect();
        let reference =
            Reference::new(&home, limits(|axis| axis.max_velocity), limits(|axis| axis.max_deceleration));
        Ok(Self {
            by_node,
            state: State::Unconfigured,
            enabling: Enabling::SwitchingOn,
            fault: None,
            set_up_fault: None,
            outbox: Outbox::new(),
            next_cycle: now,
            cycles: 0,
            next_heartbeat: now,
            bus_lost: false,
            reference,
            rates: vec![0.0; axes.len()],
            rates_at: now,
            history: History::new(axes.len(), usize::from(config.lead_rows()) + 1),
            execution: None,
            executions: 0,
            interruptions: 0,
            interrupted_at: now,
            emergencies: EmergencyLog::new(),
            events: VecDeque::with_capacity(MAX_EVENTS),
            config,
            axes,
        })
    }

    /// What the group is made of.
    pub fn config(&self) -> &GroupConfig {
        &self.config
    }

    /// What it does.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why it was stopped, until that is acknowledged; or why it cannot be set up.
    pub fn fault(&self) -> Option<&Fault> {
        let set_up = self.set_up_fault.as_ref().filter(|_| self.state == State::Unconfigured);
        self.fault.as_ref().or(set_up)
    }

    /// The emergencies of the drives.
    pub fn emergencies(&self) -> &EmergencyLog {
        &self.emergencies
    }

    /// Measured positions, rad or m.
    pub fn positions(&self) -> impl Iterator<Item = f64> {
        self.axes.iter().map(Axis::position)
    }

    /// Measured velocities, rad/s or m/s.
    pub fn velocities(&self) -> impl Iterator<Item = f64> {
        self.axes.iter().map(Axis::velocity)
    }

    /// Temperatures in degrees Celsius, [`crate::TEMPERATURE_ABSENT`] where a drive has not told.
    pub fn temperatures(&self) -> impl Iterator<Item = f64> {
        self.axes.iter().map(|axis| axis.temperature)
    }

    /// The set-points of this cycle.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Where the drives should be by now: the set-points of the time that the drives need ago.
    pub fn desired(&self) -> impl Iterator<Item = f64> {
        let lead = self.config.lead_rows();
        let joints = self.axes.iter().enumerate();
        joints.map(move |(joint, axis)| self.history.ago(joint, axis.delay(lead)))
    }

    /// What has happened since the last call.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next frame to send; say [`Group::sent`] when it was taken.
    pub fn transmit(&self) -> Option<&Frame> {
        self.outbox.first()
    }

    /// The frame of [`Group::transmit`] was sent.
    pub fn sent(&mut self) {
        self.outbox.take_first();
    }

    /// Frames sent since the start.
    pub fn frames_sent(&self) -> u64 {
        self.outbox.sent()
    }

    /// When [`Group::poll`] has something to do.
    pub fn deadline(&self) -> Duration {
        let axes = self.axes.iter().filter_map(|axis| axis.conversation.deadline());
        axes.fold(self.next_cycle.min(self.next_heartbeat), Duration::min)
    }

    // ---- What users ask for ----

    /// Begins to switch the drives on; they hold the positions that they are at.
    ///
    /// # Errors
    /// A drive is missing, or a fault has not been acknowledged.
    pub fn enable(&mut self) -> Result<(), DriveError> {
        match self.state {
            State::Enabled | State::Enabling => Ok(()),
            State::Disabled => {
                self.switch_on(false);
                Ok(())
            }
            State::Stopping => Err(DriveError::Fault("the drives are being stopped".to_owned())),
            State::Unconfigured | State::Faulted => Err(self.refusal()),
        }
    }

    /// Begins to stop the drives and to switch them off.
    pub fn disable(&mut self) {
        if matches!(self.state, State::Enabled | State::Enabling) {
            self.end_trajectory(End::Stopped("the drives were disabled".to_owned()));
            self.switch_off();
        }
    }

    /// Brings the joints to rest; they hold then.
    pub fn halt(&mut self) {
        self.end_trajectory(End::Cancelled);
        self.reference.brake();
        self.rates.fill(0.0);
    }

    /// Acknowledges a fault; the drives stay off.
    ///
    /// # Errors
    /// A drive is still missing.
    pub fn recover(&mut self) -> Result<(), DriveError> {
        match self.state {
            State::Unconfigured => Err(self.refusal()),
            State::Faulted if !self.is_set_up() => Err(self.refusal()),
            State::Faulted => {
                self.fault = None;
                self.emergencies.clear();
                self.set_state(State::Disabled);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sets the positions to go to, rad or m.
    ///
    /// # Errors
    /// Wrong number of values, not finite, not enabled, or not in this control mode.
    pub fn command(&mut self, now: Duration, position: &[f64]) -> Result<(), DriveError> {
        self.check_command(position, ControlMode::Position)?;
        self.end_trajectory(End::Cancelled);
        self.reference.follow(now.as_secs_f64(), position);
        Ok(())
    }

    /// Sets velocities (rad/s or m/s) or currents (A), by the group's control mode; they hold for
    /// [`GroupConfig::command_loss`].
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
        if mode == ControlMode::Velocity {
            let limits = self.reference.max_velocity();
            let fast = rates.iter().zip(limits).position(|(rate, limit)| rate.abs() > *limit);
            if let Some(joint) = fast {
                return Err(DriveError::Fault(format!("joint {joint} may not move as fast")));
            }
        }
        self.rates.copy_from_slice(rates);
        self.rates_at = now;
        Ok(())
    }

    /// Goes along a trajectory from now on; a trajectory before ends. Returns its number, which [`Event::Trajectory`] tells.
    ///
    /// # Errors
    /// Not enabled, or not in position mode.
    pub fn follow_trajectory(
        &mut self,
        trajectory: Trajectory,
        tolerances: Tolerances,
    ) -> Result<u64, DriveError> {
        self.check_command(trajectory.goal(), ControlMode::Position)?;
        self.end_trajectory(End::Cancelled);
        self.executions += 1;
        self.reference.follow_trajectory(trajectory);
        self.execution = Some(Execution::new(self.executions, tolerances));
        Ok(self.executions)
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
                self.reference.limit(joint, speed.min(most));
                Ok(())
            }
            None => Err(DriveError::Fault(format!("joint {joint} cannot move at {speed}"))),
        }
    }

    /// Declares the present positions to be `position`; nothing moves.
    ///
    /// # Errors
    /// Wrong number of values, not finite, or the joints are moving.
    pub fn recalibrate(&mut self, position: &[f64]) -> Result<(), DriveError> {
        check_joint_values(position, self.axes.len())?;
        if self.reference.velocity().iter().any(|velocity| *velocity != 0.0) || self.execution.is_some() {
            return Err(DriveError::Fault("the arm is moving".to_owned()));
        }
        for (joint, (axis, position)) in self.axes.iter_mut().zip(position).enumerate() {
            let change = axis.recalibrate(*position);
            self.reference.shift(joint, change);
        }
        self.history.reset(self.reference.setpoint());
        Ok(())
    }

    fn check_command(&self, values: &[f64], mode: ControlMode) -> Result<(), DriveError> {
        check_joint_values(values, self.axes.len())?;
        if mode != self.config.mode {
            let wrong = format!("the drives are in {:?} mode, not in {mode:?} mode", self.config.mode);
            return Err(DriveError::Fault(wrong.to_lowercase()));
        }
        match self.state {
            State::Enabled => Ok(()),
            State::Unconfigured | State::Faulted => Err(self.refusal()),
            State::Disabled | State::Enabling | State::Stopping => Err(DriveError::Disabled),
        }
    }

    fn refusal(&self) -> DriveError {
        let missing = self.axes.iter().filter(|axis| axis.stage != Stage::SetUp);
        let nodes: Vec<String> = missing.map(|axis| axis.config.node.to_string()).collect();
        let mut text = self.fault().map(Fault::to_string).unwrap_or_default();
        if !nodes.is_empty() {
            let separator = if text.is_empty() { "" } else { "; " };
            text = format!("{text}{separator}waiting for node {}", nodes.join(", "));
        }
        DriveError::Fault(text)
    }

    // ---- What comes from the bus ----

    /// Takes what came from the bus.
    pub fn receive(&mut self, now: Duration, received: &Received) {
        match received {
            Received::Fault(fault) => self.bus_fault(now, fault),
            Received::Frame(frame) => {
                let service = frame.standard_id().and_then(Service::of);
                let Some((service, node)) = service.and_then(|service| Some((service, service.node()?)))
                else {
                    return;
                };
                if let Some(index) = self.axis_of(node) {
                    self.frame(now, index, service, frame.data());
                }
            }
        }
    }

    fn axis_of(&self, node: NodeId) -> Option<usize> {
        self.by_node.get(usize::from(node.raw())).copied().flatten().map(usize::from)
    }

    fn frame(&mut self, now: Duration, index: usize, service: Service, data: &[u8]) {
        let cycle = self.config.cycle();
        let Self { axes, outbox, .. } = self;
        let Some(axis) = axes.get_mut(index) else { return };
        let mut send = |frame| outbox.push(now, frame);
        let result = match service {
            Service::Tpdo(1, _) => {
                if let Some((counts, status)) = report(axis.config.kind, data) {
                    axis.report(now, counts, status, cycle);
                    if let Some(condition) = axis.conversation.awaited().filter(|waited| axis.holds(*waited))
                    {
                        axis.conversation.met(now, condition, &mut send);
                    }
                }
                Ok(())
            }
            Service::Tpdo(2, _) => return self.answer(now, index, data),
            Service::SdoResponse(_) => axis.conversation.sdo_answer(now, data, &mut send),
            Service::Heartbeat(_) => {
                axis.heartbeat = Some(now);
                // A drive that is not operational is seen by its silence.
                let starts = data.first() == Some(&(NmtState::Initialising as u8));
                match axis.stage {
                    Stage::SetUp if starts => {
                        axis.restarted();
                        Err(Fault::Restarted { node: axis.config.node })
                    }
                    // What it was told before it started is gone.
                    Stage::SettingUp if starts => {
                        axis.lose(now + START_PAUSE);
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Service::Emergency(_) => return self.emergency(now, index, data),
            _ => Ok(()),
        };
        if let Err(fault) = result {
            self.axis_failed(now, index, fault);
        }
    }

    fn answer(&mut self, now: Duration, index: usize, data: &[u8]) {
        let Self { axes, outbox, .. } = self;
        let (Some(axis), Some(answer)) = (axes.get_mut(index), simpliq::Answer::decode(data)) else { return };
        axis.note(now, &answer);
        if axis.asked.is_some_and(|(command, _)| command == answer.command) {
            axis.asked = None;
            axis.unanswered = 0;
        }
        let node = axis.config.node;
        let result = match axis.conversation.answer(now, &answer, |frame| outbox.push(now, frame)) {
            // A refusal of a set-point: nobody waits for it, but the drive does not do what it is told.
            Ok(false) if answer.result.is_err() && self.state == State::Enabled => {
                Err(Fault::Refused { node, answer })
            }
            Ok(_) => Ok(()),
            Err(fault) => Err(fault),
        };
        if let Err(fault) = result {
            self.axis_failed(now, index, fault);
        }
    }

    fn emergency(&mut self, now: Duration, index: usize, data: &[u8]) {
        let (Some(axis), Some(emergency)) = (self.axes.get(index), Emergency::decode(data)) else { return };
        let node = axis.config.node;
        self.emergencies.add(now, node, emergency);
        let is_active = matches!(self.state, State::Enabled | State::Enabling);
        if !is_active || emergency.code == 0 || emergencies::is_harmless(&emergency) {
            return;
        }
        let fault = Fault::Emergency { node, emergency };
        let [maker, ..] = emergency.maker;
        match (emergency.code, maker) {
            (emergencies::MAKER_CODE, emergencies::code::QUEUE_LOW) => {}
            (emergencies::MAKER_CODE, emergencies::code::TERMINATED | emergencies::code::QUEUE_FULL) => {
                self.interrupt(now, fault);
            }
            _ => self.stop_for(fault),
        }
    }

    fn bus_fault(&mut self, now: Duration, fault: &BusFault) {
        match fault {
            BusFault::BusOff | BusFault::Down => {
                self.bus_lost = true;
                self.outbox.clear();
                for axis in &mut self.axes {
                    axis.lose(now);
                }
                let fault = Fault::Bus(fault.clone());
                match self.state {
                    State::Unconfigured | State::Disabled => self.unconfigure(fault),
                    // Nothing can be said to the drives: they stop by themselves, without our heartbeat.
                    _ => {
                        self.record(fault);
                        self.set_state(State::Faulted);
                    }
                }
            }
            BusFault::Up | BusFault::Active => self.bus_lost = false,
            BusFault::Passive if matches!(self.state, State::Enabled | State::Enabling) => {
                self.stop_for(Fault::Bus(fault.clone()));
            }
            _ => {}
        }
    }

    // ---- What time brings ----

    /// Does what is due. Call it at [`Group::deadline`], and after every [`Group::receive`].
    pub fn poll(&mut self, now: Duration) {
        if self.bus_lost {
            self.next_cycle = now + self.config.cycle();
            self.next_heartbeat = self.next_cycle;
            return;
        }
        if self.outbox.waited(now) > MAX_WAIT {
            let waited = self.outbox.waited(now);
            self.outbox.clear();
            self.stop_for(Fault::Congested(waited));
        }
        if self.next_heartbeat <= now {
            self.next_heartbeat = now + self.config.heartbeat;
            let master = NodeId::new(self.config.master).unwrap_or(NodeId::BROADCAST);
            self.outbox.push(now, Service::Heartbeat(master).frame(&[NmtState::Operational as u8]));
        }
        self.run_cycles(now);
        self.talk(now);
        self.change_state(now);
    }

    fn run_cycles(&mut self, now: Duration) {
        let cycle = self.config.cycle();
        let late = now.saturating_sub(self.next_cycle);
        if late > cycle {
            for axis in &mut self.axes {
                // Without SYNC they had nothing to report at.
                axis.excuse(now);
            }
        }
        if late > cycle * u32::from(self.config.lead_rows()) {
            // The set-points that are missing by now would come too late.
            self.next_cycle = now;
            if self.state == State::Enabled {
                self.interrupt(now, Fault::Paused(late));
            }
        }
        while self.next_cycle <= now {
            self.next_cycle += cycle;
            self.cycle(now);
        }
    }

    fn cycle(&mut self, now: Duration) {
        self.cycles += 1;
        self.outbox.push(now, Service::Sync.frame(&[]));
        let enabled = self.state == State::Enabled;
        if enabled {
            self.reference.advance(self.config.cycle().as_secs_f64());
            self.history.push(self.reference.setpoint());
            if now.saturating_sub(self.rates_at) > self.config.command_loss {
                self.rates.fill(0.0);
            }
        }
        let rates = self.config.mode != ControlMode::Position;
        let setpoints = if rates { &self.rates } else { self.reference.setpoint() };
        // A drive holds two unanswered requests: a velocity takes two, so every other cycle is for questions.
        if !rates || self.cycles.is_multiple_of(2) {
            for (axis, setpoint) in self.axes.iter_mut().zip(setpoints) {
                axis.cycle(now, enabled, *setpoint, &mut self.outbox);
            }
        }
        if !rates || !self.cycles.is_multiple_of(2) {
            self.ask_one(now);
        }
        self.check_execution();
        self.supervise(now);
    }

    /// Puts a question to one drive after the other, where nothing else is being said to it.
    fn ask_one(&mut self, now: Duration) {
        let turn = usize::try_from(self.cycles / 2).unwrap_or_default() % self.axes.len().max(1);
        let moving = self.state == State::Enabled && self.config.mode == ControlMode::Position;
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

    fn check_execution(&mut self) {
        let (Some(execution), Some((elapsed, duration))) = (&self.execution, self.reference.progress())
        else {
            return;
        };
        let lead = self.config.lead_rows();
        let delay = self.config.cycle().as_secs_f64() * f64::from(lead);
        let errors = self.axes.iter().enumerate().map(|(joint, axis)| {
            let desired = self.history.ago(joint, axis.delay(lead));
            (desired - axis.position(), 0.0 - axis.velocity())
        });
        if let Some(end) = execution.check(elapsed - duration - delay, errors) {
            let reached = end == End::Reached;
            self.end_trajectory(end);
            if !reached {
                self.reference.brake();
            }
        }
    }

    /// Whether all drives still report, once each, and are on when they should be.
    fn supervise(&mut self, now: Duration) {
        let enabled = self.state == State::Enabled;
        let awaited = self.awaited_reports();
        for index in 0..self.axes.len() {
            let Some(axis) = self.axes.get_mut(index) else { continue };
            if axis.stage != Stage::SetUp || !axis.has_drive() {
                continue;
            }
            let node = axis.config.node;
            let silence = axis.silence(now);
            let heartbeat = now.saturating_sub(axis.heartbeat.unwrap_or(now));
            // Those that are late come together; those that are later than the silence allowed never come.
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
                _ if enabled => axis.failure(),
                _ => None,
            };
            if let Some(fault) = fault {
                self.axis_failed(now, index, fault);
            }
        }
    }

    /// Reports that may still come when nothing has been heard of a drive for as long as it may be silent.
    fn awaited_reports(&self) -> i32 {
        let cycles = self.config.feedback_loss.as_nanos().div_ceil(self.config.cycle().as_nanos().max(1));
        i32::try_from(cycles).unwrap_or(i32::MAX)
    }

    fn talk(&mut self, now: Duration) {
        for index in 0..self.axes.len() {
            let Self { axes, outbox, .. } = self;
            let Some(axis) = axes.get_mut(index) else { continue };
            if let Err(fault) = axis.conversation.poll(now, |frame| outbox.push(now, frame)) {
                self.axis_failed(now, index, fault);
            }
        }
    }

    fn change_state(&mut self, now: Duration) {
        let awaited = self.awaited_reports();
        for axis in &mut self.axes {
            match axis.stage {
                Stage::Absent { retry } if retry <= now => axis.set_up(&self.config),
                Stage::SettingUp if axis.conversation.is_done() => {
                    axis.stage = Stage::SetUp;
                    // Of its reports any number may be yet to come, and its heartbeat as well.
                    axis.surplus = -awaited;
                    axis.heartbeat = Some(now);
                }
                _ => {}
            }
        }
        let quiet = |axis: &Axis| axis.stage != Stage::SetUp || axis.conversation.is_done();
        match self.state {
            State::Unconfigured if self.is_set_up() => {
                self.set_up_fault = None;
                self.set_state(State::Disabled);
            }
            State::Enabling if self.axes.iter().all(quiet) => self.enable_on(now),
            State::Stopping if self.axes.iter().all(quiet) => {
                let end = if self.fault.is_some() { State::Faulted } else { State::Disabled };
                self.set_state(end);
            }
            _ => {}
        }
    }

    fn is_set_up(&self) -> bool {
        self.axes.iter().all(|axis| axis.stage == Stage::SetUp)
    }

    // ---- Switching on and off ----

    fn switch_on(&mut self, stop_first: bool) {
        self.enabling = Enabling::SwitchingOn;
        for axis in &mut self.axes {
            axis.switch_on(&self.config, stop_first);
        }
        self.set_state(State::Enabling);
    }

    /// All drives have done what they were told: the next step of switching on.
    fn enable_on(&mut self, now: Duration) {
        let whistles = self.axes.iter_mut().filter(|axis| axis.config.kind == DriveKind::Whistle);
        match self.enabling {
            Enabling::SwitchingOn => {
                let position: Vec<f64> = self.axes.iter().map(Axis::position).collect();
                self.reference.rest_at(&position);
                self.history.reset(&position);
                self.rates.fill(0.0);
                for axis in self.axes.iter_mut().filter(|axis| axis.config.kind == DriveKind::Whistle) {
                    whistle::prime(axis, now, &mut self.outbox);
                }
                self.enabling = Enabling::Priming;
            }
            Enabling::Priming => {
                for axis in whistles {
                    whistle::begin(axis, now, &mut self.outbox);
                    // The next SYNC is the one at which the drive begins.
                    axis.rows.begin(self.next_cycle);
                }
                self.enabling = Enabling::Beginning { deadline: now + BEGIN_TIME };
            }
            Enabling::Beginning { deadline } => {
                let slow =
                    self.axes.iter().find(|axis| axis.config.kind == DriveKind::Whistle && !axis.begun);
                match slow.map(|axis| axis.config.node) {
                    None => self.set_state(State::Enabled),
                    Some(node) if deadline <= now => {
                        self.stop_for(Fault::NoAnswer { node, command: Command::BEGIN });
                    }
                    Some(_) => {}
                }
            }
        }
    }

    fn switch_off(&mut self) {
        self.outbox.clear();
        let position: Vec<f64> = self.positions().collect();
        self.reference.rest_at(&position);
        self.rates.fill(0.0);
        for axis in self.axes.iter_mut().filter(|axis| axis.stage == Stage::SetUp) {
            axis.switch_off();
        }
        self.set_state(State::Stopping);
    }

    // ---- Faults ----

    /// The motion was interrupted, but the drives are well: they go on from where they stand, unless it happens again and
    /// again.
    fn interrupt(&mut self, now: Duration, fault: Fault) {
        if self.state == State::Enabling && self.enabling == Enabling::SwitchingOn {
            // It is of the motion before, which is being stopped.
            return;
        }
        if now.saturating_sub(self.interrupted_at) > CALM {
            self.interruptions = 0;
        }
        self.interrupted_at = now;
        self.interruptions += 1;
        if self.interruptions > MAX_INTERRUPTIONS {
            return self.stop_for(fault);
        }
        self.end_trajectory(End::Stopped(fault.to_string()));
        self.push_event(Event::Interrupted(fault));
        self.outbox.clear();
        self.switch_on(true);
    }

    /// One drive does not go on; what that means for the group depends on its state.
    fn axis_failed(&mut self, now: Duration, index: usize, fault: Fault) {
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
            // A drive that has just started is ready at once; one that does not answer may need its time.
            let pause =
                if matches!(fault, Fault::Restarted { .. }) { Duration::from_millis(100) } else { RETRY };
            axis.lose(now + pause);
        }
        match self.state {
            State::Enabled | State::Enabling => self.stop_for(fault),
            State::Disabled if lost => self.unconfigure(fault),
            State::Unconfigured => self.unconfigure(fault),
            State::Disabled | State::Stopping | State::Faulted => {}
        }
    }

    fn unconfigure(&mut self, fault: Fault) {
        if self.set_up_fault.as_ref() != Some(&fault) {
            self.push_event(Event::SetUpFailed(fault.clone()));
        }
        self.set_up_fault = Some(fault);
        self.set_state(State::Unconfigured);
    }

    /// Stops all axes.
    fn stop_for(&mut self, fault: Fault) {
        if matches!(self.state, State::Enabled | State::Enabling) {
            self.record(fault);
            self.switch_off();
        }
    }

    /// Keeps the first fault: those that follow come of it.
    fn record(&mut self, fault: Fault) {
        self.end_trajectory(End::Stopped(fault.to_string()));
        if self.fault.is_none() {
            self.push_event(Event::Fault(fault.clone()));
            self.fault = Some(fault);
        }
    }

    fn end_trajectory(&mut self, end: End) {
        if let Some(Execution { id, .. }) = self.execution.take() {
            if end == End::Reached {
                self.reference.end_trajectory();
            }
            self.push_event(Event::Trajectory { id, end });
        }
    }

    fn set_state(&mut self, state: State) {
        if self.state != state {
            self.state = state;
            self.push_event(Event::State(state));
        }
    }

    fn push_event(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

fn report(kind: DriveKind, data: &[u8]) -> Option<(i32, u32)> {
    match kind {
        DriveKind::Cia402 => cia402::report(data),
        _ => {
            let [a, b, c, d, status @ ..] = *<&[u8; 8]>::try_from(data).ok()?;
            Some((i32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(status)))
        }
    }
}
