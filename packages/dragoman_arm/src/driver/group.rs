//! The drives of one arm: they start, move and stop together.
//!
//! | file | holds |
//! | --- | --- |
//! | this | the group and its published state |
//! | `requests` | requests of users |
//! | `receive` | frames from the bus |
//! | `cycle` | timed work: cycles, requests, supervision |
//! | `switching` | switching on and off, stopping the drives |
//! | `setpoints` | where the joints should be: set-points, rates, a trajectory |
//! | `host` | the controller on this computer |
//! | `timing` | when the next cycle and heartbeat are due |
//! | `faults` | faults of the drives and of the bus |

mod cycle;
mod faults;
mod host;
mod receive;
mod requests;
mod setpoints;
mod switching;
mod timing;

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_io::can::{BusFault, Frame};

use super::axis::Axis;
use super::config::{ConfigError, ControlMode, GroupConfig};
use super::control::{Controller, Payload};
use super::execution::End;
use super::fault::{EmergencyLog, Fault};
use super::outbox::Outbox;
use super::reference::Reference;
use faults::{BusState, Faults};
use host::Host;
use setpoints::Setpoints;
use switching::Switching;
use timing::Timing;

/// State of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
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

/// An event, for the owner of the group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The state changed.
    State(GroupState),
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
    state: GroupState,
    switching: Switching,
    faults: Faults,
    bus: BusState,
    outbox: Outbox,
    timing: Timing,
    setpoints: Setpoints,
    host: Host,
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
        Ok(Self {
            by_node,
            state: GroupState::Unconfigured,
            switching: Switching::new(now),
            faults: Faults::default(),
            bus: BusState::default(),
            outbox: Outbox::new(),
            timing: Timing::new(now, config.cycle()),
            setpoints: Setpoints::new(now, &config, &home),
            host: Host::new(&home),
            events: VecDeque::with_capacity(MAX_EVENTS),
            config,
            axes,
        })
    }

    /// Sets the controller of [`ControlMode::Host`]. Without one the currents are 0.
    pub fn set_controller(&mut self, controller: Controller) {
        self.host.controller = Some(controller);
    }

    /// What the controller has learned about the payload; `None` without a controller that learns.
    pub fn learned_payload(&self) -> Option<Payload> {
        self.host.controller.as_ref()?.payload()
    }

    /// Whether a controller on this computer follows the set-points.
    pub(super) fn is_host(&self) -> bool {
        self.config.mode == ControlMode::Host
    }

    /// Its configuration.
    pub fn config(&self) -> &GroupConfig {
        &self.config
    }

    /// Where the group is between not connected and enabled; see [`GroupState`].
    pub fn state(&self) -> GroupState {
        self.state
    }

    /// The fault that stopped it, until that is acknowledged; or the set-up failure.
    pub fn fault(&self) -> Option<&Fault> {
        let set_up = self.faults.set_up.as_ref().filter(|_| self.state == GroupState::Unconfigured);
        self.faults.current.as_ref().or(set_up)
    }

    /// The emergencies of the drives.
    pub fn emergencies(&self) -> &EmergencyLog {
        &self.faults.emergencies
    }

    /// The last warning of a bus that still works, and the number of warnings.
    pub fn bus_warning(&self) -> (Option<&BusFault>, u64) {
        (self.bus.warning.as_ref(), self.bus.warnings)
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
        &self.setpoints.reference
    }

    /// Where the drives should be now: the set-points sent one drive delay ago.
    pub fn desired(&self) -> impl Iterator<Item = f64> {
        let lead = self.config.lead_rows();
        let joints = self.axes.iter().enumerate();
        joints.map(move |(joint, axis)| self.setpoints.history.ago(joint, axis.delay(lead)))
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
        axes.fold(self.timing.next_cycle.min(self.timing.next_heartbeat), Duration::min)
    }
}
