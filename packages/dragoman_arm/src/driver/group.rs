//! The drives of one arm: they start, move and stop together.
//!
//! | file | holds |
//! | --- | --- |
//! | this | the group and what it tells of itself |
//! | `requests` | what users ask of it |
//! | `receive` | what comes from the bus |
//! | `cycle` | what time brings: cycles, questions, supervision |
//! | `switching` | switching on and off, and what stops the drives |

mod cycle;
mod receive;
mod requests;
mod switching;

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_io::can::{BusFault, Frame};

use super::axis::Axis;
use super::config::{ConfigError, GroupConfig};
use super::execution::{End, Execution, History};
use super::fault::{EmergencyLog, Fault};
use super::outbox::Outbox;
use super::reference::Reference;

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

/// A joint on its way from relaxed to following.
#[derive(Debug, Clone, Copy)]
struct Joining {
    joint: usize,
    /// None while it is still being switched off.
    step: Option<Enabling>,
    target: f64,
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

/// How long a drive that has just started is left alone.
const START_PAUSE: Duration = Duration::from_millis(100);
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
    /// A relaxed joint that is being switched on again, how far that is, and where it goes then.
    joining: Option<Joining>,
    fault: Option<Fault>,
    /// Why a drive could not be set up last.
    set_up_fault: Option<Fault>,
    outbox: Outbox,
    next_cycle: Duration,
    cycles: u64,
    next_heartbeat: Duration,
    bus_lost: bool,
    /// What is wrong with a bus that still works, and how often anything was.
    bus_warning: Option<BusFault>,
    bus_warnings: u64,
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
            joining: None,
            fault: None,
            set_up_fault: None,
            outbox: Outbox::new(),
            next_cycle: now,
            cycles: 0,
            next_heartbeat: now,
            bus_lost: false,
            bus_warning: None,
            bus_warnings: 0,
            reference,
            rates: vec![0.0; axes.len()],
            rates_at: now,
            history: History::new(axes.len(), usize::from(config.lead_rows()) + 2),
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

    /// What is wrong with a bus that still works, and how often anything was.
    pub fn bus_warning(&self) -> (Option<&BusFault>, u64) {
        (self.bus_warning.as_ref(), self.bus_warnings)
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
}
