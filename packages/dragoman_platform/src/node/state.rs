//! The node's state, and the controller's cycle.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_geometry::{Point, Pose, Twist};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::parameters::Parameters;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Node, times};
use dragoman_time::{now, since};
use futures::channel::mpsc::Sender;
use parking_lot::Mutex;

use super::can::Can;
use super::documents::{Documents, Wanted};
use super::history::History;
use super::outlets::Outlets;
use super::picture::Grab;
use super::position2d::Base;
use super::program::Programs;
use super::recorder::Recorder;
use super::senses::Senses;
use super::ultrasonics::Echoes;
use super::wheels::Wheels;
use super::{PlatformNodeError, PlatformParameters, parameters, program, startup};
use crate::controller::{Command, Event, Input, MotionMode, Operation, Output, Platform, Refusal};
use crate::motion::automatic::MotionEvent;
use crate::motion::obstacles::Scan;
use crate::program::interpreter::Conditions;
use crate::settings::Settings;

/// Time after which a silent joystick counts as inactive.
const JOYSTICK_TIMEOUT: Duration = Duration::from_millis(500);
/// At rest only one of this number of cycles is executed.
const REST: u32 = 5;

/// The last data of the base and its sensors.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) odometry: Option<(Instant, Odometry)>,
    /// Pose of the odometry.
    pub(super) pose: Pose,
    /// Points hit by the laser, in the platform's frame, m.
    pub(super) points: Vec<Point>,
    /// Position of the laser on the platform.
    pub(super) laser: Point,
    /// Whether the controller has not processed the points yet.
    pub(super) is_new: bool,
    pub(super) ultrasonics: Echoes,
    pub(super) emergency_stop: bool,
    pub(super) joystick: Option<(Instant, Twist)>,
    pub(super) joystick_buttons: Vec<bool>,
    pub(super) battery: Option<BatteryState>,
}

/// The node's state.
pub(super) struct NodeState {
    pub(super) platform: Platform,
    pub(super) parameters: Parameters<PlatformParameters>,
    /// Values of parameter files that have no effect.
    pub(super) kept: parameters::Kept,
    pub(super) documents: Documents,
    pub(super) data_folder: PathBuf,
    /// Data that is kept over a restart.
    pub(super) startup: startup::Files,
    pub(super) inputs: Inputs,
    pub(super) output: Output,
    pub(super) senses: Senses,
    pub(super) history: History,
    pub(super) wheels: Wheels,
    pub(super) programs: Programs,
    pub(super) can: Can,
    pub(super) outlets: Outlets,
    /// The recording in progress.
    pub(super) recorder: Option<Recorder>,
    pub(super) base: Base,
    base_timeout: Duration,
    start: Instant,
    ticks: u32,
    requests: Requests,
    clock: SharedClock,
}

/// The state, shared by all tasks of the node. Clones share it.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<NodeState>>);

impl Shared {
    /// `grabs` receives the pictures and scans of a program, `loads` its documents.
    pub(super) fn new(
        node: &mut Node,
        parameters: Parameters<PlatformParameters>,
        grabs: Sender<Grab>,
        loads: Sender<Wanted>,
    ) -> Result<Self, PlatformNodeError> {
        let values = parameters.read();
        let mut platform = Platform::new(values.settings())?;
        platform.plan_beside();
        platform.await_base();
        // The declaration ensures a finite value within bounds.
        let _ = platform.command(Command::SetPose(values.initial_pose()?));
        let laser = values.laser_pose()?;
        let data_folder = super::documents::data_folder(values.data_folder.as_deref());
        let state = NodeState {
            platform,
            documents: Documents::default(),
            startup: startup::Files::new(&data_folder, &node.namespace()?),
            data_folder,
            inputs: Inputs { laser: Point::new(laser.x, laser.y), ..Inputs::default() },
            output: Output { twist: Twist::ZERO, brakes: [true; 2], digital_outputs: [0; 2], ultrasonics: 0 },
            senses: Senses::default(),
            history: History::default(),
            wheels: Wheels::default(),
            programs: Programs::new(grabs, loads),
            can: Can::default(),
            outlets: Outlets::new(node)?,
            recorder: None,
            base: Base::default(),
            base_timeout: values.base_timeout,
            parameters,
            kept: parameters::Kept::new(),
            start: now(),
            ticks: 0,
            requests: Requests::default(),
            clock: node.get_ros_clock(),
        };
        Ok(Self(Arc::new(Mutex::new(state))))
    }

    /// Runs an action with the state locked.
    pub(super) fn with<R>(&self, action: impl FnOnce(&mut NodeState) -> R) -> R {
        action(&mut self.0.lock())
    }

    /// Handles a request, and counts it.
    pub(super) fn ask<R>(
        &self,
        request: impl FnOnce(&mut NodeState) -> Result<R, Refused>,
    ) -> Result<R, Refused> {
        self.with(|state| {
            state.requests.count += 1;
            let result = request(state);
            if let Err(Refused(reason)) = &result {
                state.refuse(reason);
            }
            result
        })
    }

    /// Passes a command to the platform.
    pub(super) fn command(&self, command: Command) -> Result<(), Refused> {
        self.ask(|state| state.order(command))
    }
}

#[derive(Default)]
struct Requests {
    count: u64,
    refused: u64,
    /// Reason of the last refusal; cleared by the report.
    refusal: Option<String>,
}

impl Requests {
    fn refuse(&mut self, reason: &str) {
        self.refused += 1;
        if self.refusal.is_none() {
            tracing::warn!(reason, "request refused");
        }
        self.refusal = Some(reason.to_owned());
    }
}

/// Reason of a refusal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refused(pub(super) String);

impl From<Refused> for String {
    fn from(Refused(reason): Refused) -> Self {
        reason
    }
}

impl<E: std::error::Error> From<E> for Refused {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl NodeState {
    /// The current time for messages.
    pub(super) fn stamp(&self) -> Time {
        times::stamp(&self.clock)
    }

    /// Time since the start.
    pub(super) fn time(&self) -> Duration {
        since(self.start)
    }

    /// Whether the pose is that of the base: odometry has been received, and the platform was initialized.
    pub(super) fn is_placed(&self) -> bool {
        self.inputs.odometry.is_some() && self.platform.status().operation != Operation::NotInitialized
    }

    /// Whether the base is connected.
    pub(super) fn base_alive(&self) -> bool {
        self.inputs.odometry.as_ref().is_some_and(|(when, _)| since(*when) <= self.base_timeout)
    }

    /// One cycle of the controller: the velocity of the base. `None`: the platform is inactive, and others may drive
    /// the base.
    pub(super) fn cycle(&mut self) -> Option<Twist> {
        self.ticks = self.ticks.wrapping_add(1);
        let was_driving = self.is_moving() || self.output.twist != Twist::ZERO;
        if !was_driving && !self.ticks.is_multiple_of(REST) {
            return None;
        }
        let base_alive = self.base_alive();
        let (true_parameters, sensed) = if self.platform.status().mode == MotionMode::Program {
            (self.true_parameters(), self.sensed())
        } else {
            Default::default()
        };
        let charge = self.inputs.battery.as_ref().map(|battery| f64::from(battery.percentage));
        let conditions = Conditions {
            date: program::now(),
            battery_charge: charge.filter(|charge| charge.is_finite()),
            is_loading: self.programs.loading > 0,
            true_parameters: &true_parameters,
            moving_object: sensed.moving_object,
            person: sensed.person,
            ball: sensed.ball,
            infrared: &sensed.infrared,
            radar: &sensed.radar,
            user_events: &sensed.user_events,
            tracked_objects: &sensed.tracked_objects,
            ..Conditions::default()
        };
        let (now, ultrasonics) = (self.time(), self.inputs.ultrasonics.ranges());
        let inputs = &mut self.inputs;
        let scan = std::mem::take(&mut inputs.is_new)
            .then_some(Scan { origin: inputs.laser, points: &inputs.points });
        let joystick = inputs.joystick.filter(|(when, _)| since(*when) <= JOYSTICK_TIMEOUT);
        let input = Input {
            scan,
            ultrasonics: &ultrasonics,
            base_alive,
            emergency_stop: inputs.emergency_stop,
            joystick: joystick.map(|(_, twist)| twist),
            conditions,
            ..Input::at(now, inputs.pose)
        };
        self.output = self.platform.cycle(&input);
        if !self.base.has_motor_power {
            self.output.twist = Twist::ZERO;
            self.platform.stand();
            self.inputs.joystick = None;
        }
        self.history.push(&self.stamp(), self.platform.status().pose);
        while let Some(event) = self.platform.poll_event() {
            self.happened(event);
        }
        self.record();
        (was_driving || self.is_moving()).then_some(self.output.twist).filter(|_| !self.is_navigated())
    }

    /// Whether an external navigator drives the base to goals.
    fn is_navigated(&self) -> bool {
        let status = self.platform.status();
        self.platform.settings().is_delegated
            && matches!(status.mode, MotionMode::Automatic | MotionMode::Program)
            && status.operation == Operation::Moving
            && !self.output.brakes.contains(&true)
    }

    /// Names of the frames of the odometry and the base, once the base has sent data.
    pub(super) fn frames(&self) -> [Option<String>; 2] {
        let parameters = self.parameters.read();
        let prefix = &parameters.frame_prefix;
        if !prefix.is_empty() {
            return ["odom", "base_footprint"].map(|frame| Some(format!("{prefix}{frame}")));
        }
        let inputs = self.inputs.odometry.as_ref().map(|(_, odometry)| odometry);
        [
            inputs.map(|odometry| odometry.header.frame_id.clone()),
            inputs.map(|odometry| odometry.child_frame_id.clone()),
        ]
    }

    fn happened(&mut self, event: Event) {
        match event {
            Event::BaseSilent | Event::WatchdogExpired | Event::LaserSilent => {
                tracing::warn!(?event, "platform fault detected")
            }
            Event::Program(effect) => {
                if let Err(Refused(reason)) = self.perform(effect) {
                    self.refuse_program(reason);
                }
            }
            Event::ProgramRefused(refusal) => self.refuse_program(refusal.to_string()),
            Event::Motion(MotionEvent::Failed(_) | MotionEvent::Missed | MotionEvent::NotNavigated) => {
                if let Some(end) = self.platform.motion().end {
                    tracing::warn!(%end, "motion failed");
                    self.programs.log.push("", &format!("the motion has failed: {end}"));
                }
            }
            _ => tracing::info!(?event, "platform state changed"),
        }
    }

    fn refuse_program(&mut self, reason: String) {
        self.refuse(&reason);
        self.report_refusal(reason);
    }

    /// Reports to the clients of the protocol and of `program_state` that an effect of the program was refused.
    pub(super) fn report_refusal(&mut self, reason: String) {
        self.programs.log.push("refused", &reason);
        self.programs.refusal = Some((self.platform.program_run().0, reason));
    }

    fn is_moving(&self) -> bool {
        matches!(self.platform.status().operation, Operation::Moving | Operation::Broken)
    }

    /// Changes settings, unless they are equal.
    pub(super) fn set_settings(&mut self, settings: Settings) -> Result<(), Refusal> {
        if *self.platform.settings() == settings {
            return Ok(());
        }
        self.platform.command(Command::SetSettings(Box::new(settings)))
    }

    /// Stores a refusal. The log gets the first since the last report.
    pub(super) fn refuse(&mut self, reason: &str) {
        self.requests.refuse(reason);
    }

    /// Number of requests, number of refusals, and the reason of the last one since the previous call.
    pub(super) fn take_refusals(&mut self) -> (u64, u64, Option<String>) {
        (self.requests.count, self.requests.refused, self.requests.refusal.take())
    }
}
