//! The pipeline: commands and measured joints in, joint commands out, one [`step`](Pipeline::step) per cycle.
//!
//! ```text
//! commands -> queue -> generators -> workspace limit -> inverse kinematics -> divergence check -> joint limits -> command
//! ```
//!
//! Inverse kinematics starts from the last command, so lag of the drives does not affect the path. The measured
//! configuration is used for resets, via points, divergence and workspace checks.
//! Source: Ranger thesis, 3.3 to 3.5, `switch.cpp`, `kinematics.cpp`, `wslimiter.cpp`.

use nalgebra::{Isometry3, Point3, Vector6};
use std::time::Duration;

use super::cartesian::{StraightLine, TwistMotion, masked_distance};
use super::command::CommandMode;
use super::config::{ConfigError, MotionConfig};
use super::event::{Event, Events, Status, Step};
use super::joint::{JointTrajectory, joint_distance};
use super::joint_limits::{JointRange, clamp_positions};
use super::reconfigure::within;
use super::shapes::{Axis, Shape};
use super::via_points::{Progress, ViaPoint, ViaPoints};
use super::workspace::Violation;
use crate::{IkOptions, Robot};

/// A motion that was accepted and starts in the next step that allows it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Queued {
    Line {
        goal: Isometry3<f64>,
        min_duration: f64,
    },
    Circle {
        radius: f64,
        period: f64,
        axes: [Axis; 2],
    },
    Sinusoid {
        amplitude: f64,
        period: f64,
        axis: Axis,
    },
    Twist(Vector6<f64>),
    /// The goal is in `queued_joint`.
    Joint {
        min_duration: f64,
    },
}

/// The motion in progress.
#[derive(Clone, Copy, Debug)]
pub(super) enum Motion {
    Idle,
    Line(StraightLine),
    Shape(Shape),
    Twist(TwistMotion),
    /// The trajectory is in `joint_trajectory`.
    Joint,
}

/// Converts commands to joint commands; see the [module](self).
#[derive(Clone, Debug)]
pub struct Pipeline {
    /// The robot with the joint limits in force.
    pub(super) robot: Robot,
    /// The robot with its own limits.
    pub(super) described: Robot,
    pub(super) ik: IkOptions,
    pub(super) config: MotionConfig,
    /// The next configuration; takes effect when nothing moves.
    pub(super) next_config: Option<(MotionConfig, Vec<JointRange>)>,
    pub(super) ranges: Vec<JointRange>,

    pub(super) mode: CommandMode,
    pub(super) settle: u32,
    pub(super) needs_reset: bool,
    pub(super) enabled: bool,
    /// Whether a valid and recent measurement has arrived.
    pub(super) ready: bool,
    last_time: Option<Duration>,
    /// Of the last valid measurement.
    last_measured: Option<Duration>,

    /// Measured pose, and the workspace rule it breaks.
    pub(super) pose: Isometry3<f64>,
    pub(super) violation: Option<Violation>,
    /// Last command: joints, and the pose that they should produce.
    pub(super) command: Vec<f64>,
    pub(super) setpoint: Isometry3<f64>,
    /// Buffers of a step.
    pub(super) candidate: Vec<f64>,
    pub(super) spare: [Vec<f64>; 2],

    pub(super) goal: Option<ViaPoint<Isometry3<f64>>>,
    pub(super) joint_goal: Option<ViaPoint<Vec<f64>>>,
    pub(super) via: ViaPoints<Isometry3<f64>>,
    pub(super) joint_via: ViaPoints<Vec<f64>>,
    pub(super) queued: Option<Queued>,
    pub(super) queued_joint: Vec<f64>,
    pub(super) motion: Motion,
    joint_trajectory: JointTrajectory,
    /// Whether the motion is being stopped.
    pub(super) braking: bool,
    /// Whether to check after the stop for a blocked arm.
    pub(super) relax: bool,
    /// Time since the last twist command, s.
    pub(super) twist_age: f64,
    /// Cycles in which the path did not advance because the joints could not follow.
    pub(super) stuck: u32,
    pub(super) speed_scale: f64,
    pub(super) pending: Events,
}

impl Pipeline {
    /// A pipeline in mode off. Commands are limited to the lower of the robot's and the configuration's rates, and to
    /// positions that both allow.
    ///
    /// # Errors
    /// As [`MotionConfig::validate`]; [`ConfigError::JointLimits`].
    pub fn new(robot: Robot, config: MotionConfig) -> Result<Self, ConfigError> {
        let joints = robot.joint_count();
        let (config, ranges) = config.in_force(&robot)?;
        let described = robot;
        let robot = within(&described, &ranges);
        // A tenth of the default: errors of the solver must vanish against the micrometre that a path may deviate.
        let mask = config.mask();
        let ik =
            IkOptions { position_tolerance: 1e-7, rotation_tolerance: 1e-7, mask, ..IkOptions::default() };
        Ok(Self {
            ik,
            ranges,
            mode: CommandMode::Off,
            settle: 0,
            needs_reset: true,
            enabled: false,
            ready: false,
            last_time: None,
            last_measured: None,
            pose: Isometry3::identity(),
            violation: None,
            command: vec![0.0; joints],
            setpoint: Isometry3::identity(),
            candidate: vec![0.0; joints],
            spare: [vec![0.0; joints], vec![0.0; joints]],
            goal: None,
            joint_goal: None,
            via: ViaPoints::default(),
            joint_via: ViaPoints::default(),
            queued: None,
            queued_joint: vec![0.0; joints],
            motion: Motion::Idle,
            joint_trajectory: JointTrajectory::new(joints),
            braking: false,
            relax: false,
            twist_age: 0.0,
            stuck: 0,
            speed_scale: 1.0,
            pending: Events::default(),
            config,
            next_config: None,
            robot,
            described,
        })
    }

    /// The robot, with the joint limits in force.
    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    /// The configuration in force; rates and accelerations are lowered to the robot's limits.
    pub fn config(&self) -> &MotionConfig {
        &self.config
    }

    /// Present command mode.
    pub fn mode(&self) -> CommandMode {
        self.mode
    }

    /// Commanded pose of the tool frame, base frame; the measured one while nothing is commanded.
    pub fn setpoint(&self) -> Isometry3<f64> {
        self.setpoint
    }

    /// Whether a valid measurement has arrived, not longer ago than `measurement_timeout`.
    pub fn is_measured(&self) -> bool {
        self.ready
    }

    /// One cycle: `now` on any steady clock, `measured` joint positions (rad or m, from the base) and
    /// whether the drives are enabled. Does not allocate, never fails; problems are reported as events.
    ///
    /// Between two steps a joint command changes by at most the joint's rate times the time between them (time that
    /// runs backwards counts as none, a gap as `max_time_step`); in lines and shapes without
    /// [`limit_paths`](super::JointMotionLimits::limit_paths) the rate is [`MAX_PATH_RATE`]. After steps without a command it starts from
    /// `measured`.
    pub fn step(&mut self, now: Duration, measured: &[f64], enabled: bool) -> Step<'_> {
        let mut events = std::mem::take(&mut self.pending);
        if let Some(event) = self.check_measurement(now) {
            events.push(event);
            self.report_pending(&mut events);
        }
        self.adopt_config();
        let dt = self.elapsed(now, &mut events);
        self.speed_scale = 1.0;
        self.note_enabled(enabled, &mut events);
        let valid = measured.len() == self.ranges.len() && measured.iter().all(|q| q.is_finite());
        if valid {
            self.ready = true;
            self.last_measured = Some(now);
            self.pose = self.robot.forward(measured);
            self.check_measured_pose(&mut events);
        } else {
            events.push(Event::MeasurementInvalid);
        }
        let settling = self.settle > 0;
        let silent = self.mode == CommandMode::Off || !enabled || settling || !self.ready;
        if silent || self.needs_reset {
            self.needs_reset = true;
            if valid {
                self.reset_to(measured);
                self.needs_reset = silent;
            }
        }
        let commanding = !silent && !self.needs_reset;
        if commanding && valid {
            self.advance(dt, measured, &mut events);
        }
        if valid && enabled {
            self.settle = self.settle.saturating_sub(1);
        }
        let status = self.status_while(settling);
        Step {
            command: commanding.then_some(self.command.as_slice()),
            pose: self.pose,
            setpoint: self.setpoint,
            events,
            status,
        }
    }

    /// The status, valid between steps too.
    pub fn status(&self) -> Status {
        self.status_while(self.settle > 0)
    }

    /// Drops every motion when the last valid measurement is more than `measurement_timeout` old; until the next one
    /// motions are refused, and the command then starts from there. A step does this itself; callers that step on
    /// measurements call it from a timer, since without measurements there are no steps.
    pub fn check_measurement(&mut self, now: Duration) -> Option<Event> {
        // After a clock that ran backwards the time counts from now.
        let last = self.last_measured?.min(now);
        self.last_measured = Some(last);
        let seconds = (now - last).as_secs_f64();
        if seconds <= self.config.measurement_timeout || !self.ready {
            return None;
        }
        self.drop_motion();
        self.ready = false;
        self.needs_reset = true;
        // The previous command is dropped: a cycle without a command lies in between.
        self.settle = self.settle.max(1);
        Some(Event::MeasurementTimeout { seconds })
    }

    fn status_while(&self, settling: bool) -> Status {
        Status {
            mode: self.mode,
            enabled: self.enabled,
            settling,
            moving: self.queued.is_some()
                || self.via_point().is_some()
                || !matches!(self.motion, Motion::Idle),
            via_point: self.via_point(),
            has_goal: self.goal.is_some(),
            has_joint_goal: self.joint_goal.is_some(),
            violation: self.violation,
            speed_scale: self.speed_scale,
        }
    }

    /// Time since the last step, s, within 0 and `max_time_step`.
    fn elapsed(&mut self, now: Duration, events: &mut Events) -> f64 {
        let last = self.last_time.replace(now).unwrap_or(now);
        let seconds = now.abs_diff(last).as_secs_f64();
        if now < last {
            events.push(Event::ClockJump { seconds: -seconds });
            return 0.0;
        }
        if seconds > self.config.max_time_step {
            events.push(Event::ClockJump { seconds });
        }
        seconds.min(self.config.max_time_step)
    }

    fn note_enabled(&mut self, enabled: bool, events: &mut Events) {
        if enabled == self.enabled {
            return;
        }
        self.enabled = enabled;
        self.needs_reset = true;
        if enabled {
            events.push(Event::Enabled);
        } else {
            self.drop_motion();
            events.push(Event::Disabled);
            self.report_pending(events);
        }
    }

    fn report_pending(&mut self, events: &mut Events) {
        for event in std::mem::take(&mut self.pending).iter() {
            events.push(*event);
        }
    }

    fn check_measured_pose(&mut self, events: &mut Events) {
        let position = Point3::from(self.pose.translation.vector);
        let before = std::mem::replace(&mut self.violation, self.config.workspace.violation(&position));
        match (before, self.violation) {
            (None, Some(violation)) => {
                events.push(Event::WorkspaceViolated { position: position.coords.into(), violation });
            }
            (Some(_), None) => events.push(Event::WorkspaceClear),
            _ => {}
        }
        if self.violation.is_some() && self.mode == CommandMode::Cartesian {
            self.abort(events);
        }
    }

    /// Drops every motion at once; the next command starts from the measured state.
    pub(super) fn drop_motion(&mut self) {
        self.halt_sequences();
        self.queued = None;
        self.motion = Motion::Idle;
        (self.braking, self.relax) = (false, false);
    }

    /// Ends sequences and queued motions and brakes what is moving.
    pub(super) fn abort(&mut self, events: &mut Events) {
        self.halt_sequences();
        self.report_pending(events);
        self.queued = None;
        self.brake();
    }

    pub(super) fn halt_sequences(&mut self) {
        if let Some(index) = self.via_point() {
            self.pending.push(Event::SequenceHalted { index });
        }
        self.via.halt();
        self.joint_via.halt();
    }

    pub(super) fn via_point(&self) -> Option<usize> {
        self.via.current().or(self.joint_via.current())
    }

    pub(super) fn brake(&mut self) {
        if self.braking {
            return;
        }
        match &mut self.motion {
            Motion::Idle => return,
            Motion::Line(line) => line.brake(),
            Motion::Shape(shape) => shape.brake(),
            Motion::Twist(twist) => twist.brake(),
            Motion::Joint => self.joint_trajectory.brake(),
        }
        self.braking = true;
    }

    fn reset_to(&mut self, measured: &[f64]) {
        self.command.copy_from_slice(measured);
        self.setpoint = self.pose;
    }

    /// Starts due motions, advances by `dt` seconds, and ends finished ones.
    fn advance(&mut self, dt: f64, measured: &[f64], events: &mut Events) {
        if matches!(self.motion, Motion::Idle) {
            self.relax_to(measured);
        }
        if matches!(self.motion, Motion::Idle) {
            self.continue_sequence(measured, events);
            self.start_queued();
        }
        if dt == 0.0 {
            return;
        }
        self.watch_twist(dt, events);
        match self.motion {
            Motion::Idle => return,
            Motion::Joint => self.advance_joints(dt, events),
            Motion::Line(_) | Motion::Shape(_) | Motion::Twist(_) => self.advance_pose(dt, events),
        }
        let done = match &self.motion {
            Motion::Idle => false,
            Motion::Line(line) => line.is_done(),
            Motion::Shape(shape) => shape.is_done(),
            Motion::Twist(twist) => twist.is_done(),
            Motion::Joint => self.joint_trajectory.is_done(),
        };
        if done {
            if self.braking {
                events.push(Event::MotionStopped);
            } else if self.via_point().is_none() && !matches!(self.motion, Motion::Twist(_)) {
                events.push(Event::MotionFinished);
            }
            self.motion = Motion::Idle;
            self.braking = false;
            self.relax_to(measured);
        }
    }

    /// After a stop: if the arm is far from the command, it is blocked or slow; it stays where it is instead of pushing on.
    fn relax_to(&mut self, measured: &[f64]) {
        if !std::mem::take(&mut self.relax) {
            return;
        }
        let lag = self.command.iter().zip(measured).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if lag > self.config.stop_following_error {
            // As a switch of the mode: no command for some cycles, then the measured state.
            self.settle = self.config.mode_switch_cycles + 1;
            self.needs_reset = true;
        }
    }

    fn continue_sequence(&mut self, measured: &[f64], events: &mut Events) {
        let tolerances = self.config.via_points;
        let pose = self.pose;
        let before = self.via_point();
        let progress = if self.via.is_running() {
            let mask = self.ik.mask;
            let distance = |goal: &Isometry3<f64>| masked_distance(&mask, &pose, goal);
            self.via.progress(distance, tolerances.cartesian, tolerances.cartesian_coarse, tolerances.cycles)
        } else if self.joint_via.is_running() {
            let distance = |goal: &Vec<f64>| joint_distance(goal, measured);
            self.joint_via.progress(distance, tolerances.joint, tolerances.joint_coarse, tolerances.cycles)
        } else {
            return;
        };
        match (progress, before) {
            (Progress::Approach(index), Some(before)) => {
                if index > 0 {
                    events.push(Event::ViaPointReached { index: before });
                }
                if let Some(via) = self.via.running_point(index) {
                    self.queued = Some(Queued::Line { goal: via.point, min_duration: via.min_duration });
                } else if let Some(via) = self.joint_via.running_point(index) {
                    self.queued_joint.copy_from_slice(&via.point);
                    self.queued = Some(Queued::Joint { min_duration: via.min_duration });
                }
            }
            (Progress::Finished, Some(before)) => {
                events.push(Event::ViaPointReached { index: before });
                events.push(Event::SequenceFinished);
            }
            (Progress::Missed(index, distance), _) => events.push(Event::SequenceAborted { index, distance }),
            _ => {}
        }
    }

    fn start_queued(&mut self) {
        let limits = &self.config.cartesian;
        let start = self.setpoint;
        self.motion = match self.queued.take() {
            None => return,
            Some(Queued::Line { mut goal, min_duration }) => {
                goal.rotation = self.ik.mask.free.nearest(&start.rotation, &goal.rotation);
                Motion::Line(StraightLine::new(start, goal, min_duration, limits))
            }
            Some(Queued::Circle { radius, period, axes }) => {
                Motion::Shape(Shape::circle(start, radius, period, axes, limits))
            }
            Some(Queued::Sinusoid { amplitude, period, axis }) => {
                Motion::Shape(Shape::sinusoid(start, amplitude, period, axis, limits))
            }
            Some(Queued::Twist(twist)) => {
                let mut motion = TwistMotion::new(start);
                motion.set_target(twist, limits);
                Motion::Twist(motion)
            }
            Some(Queued::Joint { min_duration }) => {
                let goal = &self.queued_joint;
                self.joint_trajectory.begin(&self.command, goal, min_duration, &self.config.joint);
                Motion::Joint
            }
        };
        self.braking = false;
        self.stuck = 0;
    }

    fn watch_twist(&mut self, dt: f64, events: &mut Events) {
        if let Motion::Twist(twist) = &self.motion
            && !self.braking
        {
            self.twist_age += dt;
            if self.twist_age > self.config.twist_timeout && twist.is_commanded() {
                events.push(Event::TwistTimeout);
                self.brake();
            }
        }
    }

    fn advance_joints(&mut self, dt: f64, events: &mut Events) {
        self.joint_trajectory.advance(dt, &mut self.candidate);
        self.limit_candidate(dt, events);
        self.command.copy_from_slice(&self.candidate);
        self.setpoint = self.robot.forward(&self.command);
    }

    /// Last guard of every command: positions within the limits (or no further outside than the joint is), changes
    /// within the rates.
    pub(super) fn limit_candidate(&mut self, dt: f64, events: &mut Events) {
        let mut first = None;
        for (joint, (range, (candidate, command))) in
            self.ranges.iter().zip(self.candidate.iter_mut().zip(&self.command)).enumerate()
        {
            let range = range.including(*command);
            let asked = *candidate;
            let hit = clamp_positions(&[range], std::slice::from_mut(candidate));
            first =
                first.or(hit.map(|hit| Event::JointLimit { joint, requested: asked, limit: hit.limited }));
            let most = limited_rate(&self.motion, &self.config, &range) * dt;
            *candidate = command + (*candidate - command).clamp(-most, most);
        }
        if let Some(event) = first {
            events.push(event);
        }
    }
}

/// Rate that no joint exceeds on a path without other limits, rad/s or m/s: more is not motion but another solution of
/// inverse kinematics.
pub const MAX_PATH_RATE: f64 = 10.0;

/// Greatest rate of a joint in `motion`, rad/s or m/s.
pub(super) fn limited_rate(motion: &Motion, config: &MotionConfig, range: &JointRange) -> f64 {
    match motion {
        Motion::Line(_) | Motion::Shape(_) if !config.joint.limit_paths => MAX_PATH_RATE,
        _ => range.max_rate,
    }
}
