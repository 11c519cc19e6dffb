//! The drives of one arm: they start, move and stop together.
//!
//! | file | holds |
//! | --- | --- |
//! | this | the group and its published state |
//! | `requests` | requests of users |
//! | `receive` | frames from the bus |
//! | `cycle` | timed work: cycles, requests, supervision |
//! | `switching` | switching on and off, stopping the drives |

mod cycle;
mod receive;
mod requests;
mod switching;

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_io::can::{BusFault, Frame};

use super::axis::Axis;
use super::config::{ConfigError, ControlMode, GroupConfig};
use super::control::{Controller, Payload};
use super::execution::{End, Execution, History};
use super::fault::{EmergencyLog, Fault};
use super::outbox::Outbox;
use super::reference::Reference;

/// State of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A drive is missing or not set up; set-up is retried.
    Unconfigured,
    /// All drives are set up; their motors are off.
    Disabled,
    /// The drives are being switched on.
    Enabling,
    /// The drives hold or follow.
    Enabled,
    /// The drives are stopping and being switched off.
    Stopping,
    /// The drives were stopped because of a fault; it must be acknowledged.
    Faulted,
}

/// A joint as its drive last reported it. A [`Group`] returns one only while the drive reports, so that values never
/// measured, or outdated ones, cannot be published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Position, rad or m.
    pub position: f64,
    /// Velocity, rad/s or m/s, smoothed over a few cycles.
    pub velocity: f64,
}

/// Progress of switching on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Enabling {
    SwitchingOn,
    Priming,
    Beginning { deadline: Duration },
}

/// A joint in transition from relaxed to following.
#[derive(Debug, Clone, Copy)]
struct Joining {
    joint: usize,
    /// `None` while it is still being switched off.
    step: Option<Enabling>,
    /// Where it moves then. `None`: it was halted, and stays.
    target: Option<f64>,
}

/// An event, for the owner of the group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The state changed.
    State(State),
    /// The drives were stopped.
    Fault(Fault),
    /// The motion was interrupted, and the drives were restarted at their present positions.
    Interrupted(Fault),
    /// Set-up of a drive failed; it is retried.
    SetUpFailed(Fault),
    /// A trajectory ended.
    Trajectory {
        /// Its number.
        id: u64,
        /// Its result.
        end: End,
    },
}

/// Delay before a drive that has just started is addressed.
const START_PAUSE: Duration = Duration::from_millis(100);
/// Events kept for a slow reader.
const MAX_EVENTS: usize = 256;

/// The drives of one arm. Times are on one steady clock, from any epoch.
#[derive(Debug)]
pub struct Group {
    config: GroupConfig,
    axes: Vec<Axis>,
    /// The axis of each node number.
    by_node: [Option<u8>; 128],
    state: State,
    enabling: Enabling,
    /// The relaxed joint that is being switched on again, its progress and its target.
    joining: Option<Joining>,
    fault: Option<Fault>,
    /// The last set-up failure of a drive.
    set_up_fault: Option<Fault>,
    outbox: Outbox,
    next_cycle: Duration,
    /// Time of the last SYNC, and from the one before to it.
    synced: (Duration, Duration),
    cycles: u64,
    next_heartbeat: Duration,
    bus_lost: bool,
    /// The last warning of a bus that still works, and the number of warnings.
    bus_warning: Option<BusFault>,
    bus_warnings: u64,
    reference: Reference,
    /// The last commanded velocities or currents, and their time.
    rates: Vec<f64>,
    rates_at: Duration,
    /// Control mode [`ControlMode::Host`]: the controller, and buffers for positions and velocities.
    controller: Option<Controller>,
    feedback: [Vec<f64>; 2],
    history: History,
    execution: Option<Execution>,
    executions: u64,
    interruptions: u32,
    interrupted_at: Duration,
    emergencies: EmergencyLog,
    events: VecDeque<Event>,
}

impl Group {
    /// A group whose drives have not reported yet.
    ///
    /// # Errors
    /// The first invalid value in `config`.
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
            synced: (now, config.cycle()),
            cycles: 0,
            next_heartbeat: now,
            bus_lost: false,
            bus_warning: None,
            bus_warnings: 0,
            reference,
            rates: vec![0.0; axes.len()],
            rates_at: now,
            controller: None,
            feedback: [home.clone(), home.clone()],
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

    /// Sets the controller of [`ControlMode::Host`]. Without one the currents are 0.
    pub fn set_controller(&mut self, controller: Controller) {
        self.controller = Some(controller);
    }

    /// What the controller has learned about the payload; `None` without a controller that learns.
    pub fn learned_payload(&self) -> Option<Payload> {
        self.controller.as_ref()?.payload()
    }

    /// Whether a controller on this computer follows the set-points.
    pub(super) fn is_host(&self) -> bool {
        self.config.mode == ControlMode::Host
    }

    /// Its configuration.
    pub fn config(&self) -> &GroupConfig {
        &self.config
    }

    /// Where the group is between not connected and enabled; see [`State`].
    pub fn state(&self) -> State {
        self.state
    }

    /// The fault that stopped it, until that is acknowledged; or the set-up failure.
    pub fn fault(&self) -> Option<&Fault> {
        let set_up = self.set_up_fault.as_ref().filter(|_| self.state == State::Unconfigured);
        self.fault.as_ref().or(set_up)
    }

    /// The emergencies of the drives.
    pub fn emergencies(&self) -> &EmergencyLog {
        &self.emergencies
    }

    /// The last warning of a bus that still works, and the number of warnings.
    pub fn bus_warning(&self) -> (Option<&BusFault>, u64) {
        (self.bus_warning.as_ref(), self.bus_warnings)
    }

    /// Each joint as measured within [`GroupConfig::feedback_loss`]; `None` if the drive is silent. A suppressed joint
    /// is at its commanded position, as long as any drive of the group reports or the group has no drive.
    pub fn measured(&self, now: Duration) -> impl Iterator<Item = Option<Measured>> {
        let within = self.config.feedback_loss;
        let drives = || self.axes.iter().filter(|axis| axis.has_drive());
        let reporting = drives().any(|axis| axis.is_fresh(now, within)) || drives().next().is_none();
        self.axes.iter().map(move |axis| {
            let known = if axis.has_drive() { axis.is_fresh(now, within) } else { reporting };
            known.then(|| Measured { position: axis.position(), velocity: axis.velocity() })
        })
    }

    /// Joint positions for control, rad or m: as last measured, or home if never measured. Publish [`Group::measured`]
    /// instead.
    pub fn positions(&self) -> impl Iterator<Item = f64> {
        self.axes.iter().map(Axis::position)
    }

    /// Temperatures in degrees Celsius, [`crate::TEMPERATURE_ABSENT`] for a drive that has not reported it.
    pub fn temperatures(&self) -> impl Iterator<Item = f64> {
        self.axes.iter().map(|axis| axis.temperature)
    }

    /// The set-points of this cycle.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// Where the drives should be now: the set-points sent one drive delay ago.
    pub fn desired(&self) -> impl Iterator<Item = f64> {
        let lead = self.config.lead_rows();
        let joints = self.axes.iter().enumerate();
        joints.map(move |(joint, axis)| self.history.ago(joint, axis.delay(lead)))
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The next frame to send; call [`Group::handle_sent`] when it was sent.
    pub fn poll_transmit(&self) -> Option<&Frame> {
        self.outbox.first()
    }

    /// The frame of [`Group::poll_transmit`] was sent.
    pub fn handle_sent(&mut self) {
        self.outbox.take_first();
    }

    /// Frames sent since the start.
    pub fn frames_sent(&self) -> u64 {
        self.outbox.sent()
    }

    /// When [`Group::handle_timeout`] must be called.
    pub fn poll_timeout(&self) -> Duration {
        let axes = self.axes.iter().filter_map(|axis| axis.conversation.poll_timeout());
        axes.fold(self.next_cycle.min(self.next_heartbeat), Duration::min)
    }
}
