//! The pipeline: commands and measured joints in, joint commands out, one [`step`](Pipeline::step) per cycle.
//!
//! ```text
//! commands -> queue -> generators -> workspace limit -> inverse kinematics -> divergence check -> joint limits -> command
//! ```
//!
//! Inverse kinematics starts from the last command, so lag of the drives does not affect the path. The measured
//! configuration is used for resets, via points, divergence and workspace checks.
//! Source: Ranger thesis, 3.3 to 3.5, `switch.cpp`, `kinematics.cpp`, `wslimiter.cpp`.

use nalgebra::{Isometry3, Point3};
use std::time::Duration;

use super::cartesian::masked_distance;
use super::command::CommandMode;
use super::config::{ConfigError, MotionConfig};
use super::course::{Course, Motion, Queued};
use super::event::{Event, Events, Status, Step};
use super::goals::Goals;
use super::joint::joint_distance;
use super::joint_limits::{JointRange, clamp_positions};
use super::reconfigure::ConfiguredArm;
use super::via_points::Progress;
use super::workspace::Violation;
use crate::Robot;

/// Converts commands to joint commands; see the [module](self).
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(super) arm: ConfiguredArm,
    pub(super) mode: CommandMode,
    pub(super) settle: u32,
    pub(super) needs_reset: bool,
    pub(super) enabled: bool,
    last_time: Option<Duration>,
    pub(super) measured: Measured,
    pub(super) commanded: Commanded,
    pub(super) goals: Goals,
    pub(super) course: Course,
    pub(super) pending: Events,
}

/// The last measurement.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) pose: Isometry3<f64>,
    /// The workspace rule that the pose breaks.
    pub(super) violation: Option<Violation>,
    /// Whether a valid and recent measurement has arrived.
    pub(super) ready: bool,
    /// Time of the last valid one.
    last: Option<Duration>,
}

/// The last command.
#[derive(Clone, Debug)]
pub(super) struct Commanded {
    pub(super) joints: Vec<f64>,
    /// The pose that the joints should produce.
    pub(super) setpoint: Isometry3<f64>,
    /// Buffers of a step.
    pub(super) candidate: Vec<f64>,
    pub(super) spare: [Vec<f64>; 2],
}

impl Pipeline {
    /// A pipeline in mode off. Commands are limited to the lower of the robot's and the configuration's rates, and to
    /// positions that both allow.
    ///
    /// # Errors
    /// As [`MotionConfig::validate`]; [`ConfigError::JointLimits`].
    pub fn new(robot: Robot, config: MotionConfig) -> Result<Self, ConfigError> {
        let joints = robot.joint_count();
        Ok(Self {
            arm: ConfiguredArm::new(robot, config)?,
            mode: CommandMode::Off,
            settle: 0,
            needs_reset: true,
            enabled: false,
            last_time: None,
            measured: Measured { pose: Isometry3::identity(), violation: None, ready: false, last: None },
            commanded: Commanded {
                joints: vec![0.0; joints],
                setpoint: Isometry3::identity(),
                candidate: vec![0.0; joints],
                spare: [vec![0.0; joints], vec![0.0; joints]],
            },
            goals: Goals::default(),
            course: Course::new(joints),
            pending: Events::default(),
        })
    }

    /// The robot, with the joint limits in force.
    pub fn robot(&self) -> &Robot {
        &self.arm.robot
    }

    /// The configuration in force; rates and accelerations are lowered to the robot's limits.
    pub fn config(&self) -> &MotionConfig {
        &self.arm.config
    }

    /// Changes the configuration, as a whole, for the next motion: a motion in progress keeps its configuration.
    ///
    /// # Errors
    /// As [`new`](Self::new); then nothing has changed.
    pub fn set_config(&mut self, config: MotionConfig) -> Result<(), ConfigError> {
        self.arm.set_config(config)?;
        self.arm.adopt_config(&self.course);
        Ok(())
    }

    /// Present command mode.
    pub fn mode(&self) -> CommandMode {
        self.mode
    }

    /// Commanded pose of the tool frame, base frame; the measured one while nothing is commanded.
    pub fn setpoint(&self) -> Isometry3<f64> {
        self.commanded.setpoint
    }

    /// Whether a valid measurement has arrived, not longer ago than `measurement_timeout`.
    pub fn is_measured(&self) -> bool {
        self.measured.ready
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
        self.arm.adopt_config(&self.course);
        let dt = self.elapsed(now, &mut events);
        self.course.speed_scale = 1.0;
        self.note_enabled(enabled, &mut events);
        let valid = measured.len() == self.arm.ranges.len() && measured.iter().all(|q| q.is_finite());
        if valid {
            self.measured.ready = true;
            self.measured.last = Some(now);
            self.measured.pose = self.arm.robot.forward(measured);
            self.check_measured_pose(&mut events);
        } else {
            events.push(Event::MeasurementInvalid);
        }
        let settling = self.settle > 0;
        let silent = self.mode == CommandMode::Off || !enabled || settling || !self.measured.ready;
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
            command: commanding.then_some(self.commanded.joints.as_slice()),
            pose: self.measured.pose,
            setpoint: self.commanded.setpoint,
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
        let last = self.measured.last?.min(now);
        self.measured.last = Some(last);
        let seconds = (now - last).as_secs_f64();
        if seconds <= self.arm.config.measurement_timeout || !self.measured.ready {
            return None;
        }
        self.drop_motion();
        self.measured.ready = false;
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
            moving: self.course.queued.is_some()
                || self.goals.via_point().is_some()
                || !self.course.is_idle(),
            via_point: self.goals.via_point(),
            has_goal: self.goals.pose.is_some(),
            has_joint_goal: self.goals.joints.is_some(),
            violation: self.measured.violation,
            speed_scale: self.course.speed_scale,
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
        if seconds > self.arm.config.max_time_step {
            events.push(Event::ClockJump { seconds });
        }
        seconds.min(self.arm.config.max_time_step)
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
        let position = Point3::from(self.measured.pose.translation.vector);
        let before =
            std::mem::replace(&mut self.measured.violation, self.arm.config.workspace.violation(&position));
        match (before, self.measured.violation) {
            (None, Some(violation)) => {
                events.push(Event::WorkspaceViolated { position: position.coords.into(), violation });
            }
            (Some(_), None) => events.push(Event::WorkspaceClear),
            _ => {}
        }
        if self.measured.violation.is_some() && self.mode == CommandMode::Cartesian {
            self.abort(events);
        }
    }

    /// Drops every motion at once; the next command starts from the measured state.
    pub(super) fn drop_motion(&mut self) {
        self.halt_sequences();
        self.course.drop_motion();
    }

    /// Ends sequences and queued motions and brakes what is moving.
    pub(super) fn abort(&mut self, events: &mut Events) {
        self.halt_sequences();
        self.report_pending(events);
        self.course.queued = None;
        self.course.brake();
    }

    pub(super) fn halt_sequences(&mut self) {
        if let Some(index) = self.goals.via_point() {
            self.pending.push(Event::SequenceHalted { index });
        }
        self.goals.halt();
    }

    fn reset_to(&mut self, measured: &[f64]) {
        self.commanded.joints.copy_from_slice(measured);
        self.commanded.setpoint = self.measured.pose;
    }

    /// Starts due motions, advances by `dt` seconds, and ends finished ones.
    fn advance(&mut self, dt: f64, measured: &[f64], events: &mut Events) {
        if self.course.is_idle() {
            self.relax_to(measured);
        }
        if self.course.is_idle() {
            self.continue_sequence(measured, events);
            self.course.start_queued(self.commanded.setpoint, &self.commanded.joints, &self.arm);
        }
        if dt == 0.0 {
            return;
        }
        self.watch_twist(dt, events);
        match self.course.motion {
            Motion::Idle => return,
            Motion::Joint => self.advance_joints(dt, events),
            Motion::Line(_) | Motion::Shape(_) | Motion::Twist(_) => self.advance_pose(dt, events),
        }
        if self.course.is_done() {
            if self.course.braking {
                events.push(Event::MotionStopped);
            } else if self.goals.via_point().is_none() && !matches!(self.course.motion, Motion::Twist(_)) {
                events.push(Event::MotionFinished);
            }
            self.course.end();
            self.relax_to(measured);
        }
    }

    /// After a stop: if the arm is far from the command, it is blocked or slow; it stays where it is instead of pushing on.
    fn relax_to(&mut self, measured: &[f64]) {
        if !std::mem::take(&mut self.course.relax) {
            return;
        }
        let lag = self.commanded.joints.iter().zip(measured).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        if lag > self.arm.config.stop_following_error {
            // As a switch of the mode: no command for some cycles, then the measured state.
            self.settle = self.arm.config.mode_switch_cycles + 1;
            self.needs_reset = true;
        }
    }

    fn continue_sequence(&mut self, measured: &[f64], events: &mut Events) {
        let tolerances = self.arm.config.via_points;
        let pose = self.measured.pose;
        let before = self.goals.via_point();
        let progress = if self.goals.via.is_running() {
            let mask = self.arm.ik.mask;
            let distance = |goal: &Isometry3<f64>| masked_distance(&mask, &pose, goal);
            self.goals.via.progress(
                distance,
                tolerances.cartesian,
                tolerances.cartesian_coarse,
                tolerances.cycles,
            )
        } else if self.goals.joint_via.is_running() {
            let distance = |goal: &Vec<f64>| joint_distance(goal, measured);
            self.goals.joint_via.progress(
                distance,
                tolerances.joint,
                tolerances.joint_coarse,
                tolerances.cycles,
            )
        } else {
            return;
        };
        match (progress, before) {
            (Progress::Approach(index), Some(before)) => {
                if index > 0 {
                    events.push(Event::ViaPointReached { index: before });
                }
                if let Some(via) = self.goals.via.running_point(index) {
                    self.course.queued =
                        Some(Queued::Line { goal: via.point, min_duration: via.min_duration });
                } else if let Some(via) = self.goals.joint_via.running_point(index) {
                    self.course.queued_joint.copy_from_slice(&via.point);
                    self.course.queued = Some(Queued::Joint { min_duration: via.min_duration });
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

    fn watch_twist(&mut self, dt: f64, events: &mut Events) {
        if let Motion::Twist(twist) = &self.course.motion
            && !self.course.braking
        {
            self.course.twist_age += dt;
            if self.course.twist_age > self.arm.config.twist_timeout && twist.is_commanded() {
                events.push(Event::TwistTimeout);
                self.course.brake();
            }
        }
    }

    fn advance_joints(&mut self, dt: f64, events: &mut Events) {
        self.course.joint_trajectory.advance(dt, &mut self.commanded.candidate);
        self.limit_candidate(dt, events);
        self.commanded.joints.copy_from_slice(&self.commanded.candidate);
        self.commanded.setpoint = self.arm.robot.forward(&self.commanded.joints);
    }

    /// Last guard of every command: positions within the limits (or no further outside than the joint is), changes
    /// within the rates.
    pub(super) fn limit_candidate(&mut self, dt: f64, events: &mut Events) {
        let mut first = None;
        for (joint, (range, (candidate, command))) in self
            .arm
            .ranges
            .iter()
            .zip(self.commanded.candidate.iter_mut().zip(&self.commanded.joints))
            .enumerate()
        {
            let range = range.including(*command);
            let asked = *candidate;
            let hit = clamp_positions(&[range], std::slice::from_mut(candidate));
            first =
                first.or(hit.map(|hit| Event::JointLimit { joint, requested: asked, limit: hit.limited }));
            let most = limited_rate(&self.course.motion, &self.arm.config, &range) * dt;
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

/// Maximum rate of a joint in `motion`, rad/s or m/s.
pub(super) fn limited_rate(motion: &Motion, config: &MotionConfig, range: &JointRange) -> f64 {
    match motion {
        Motion::Line(_) | Motion::Shape(_) if !config.joint.limit_paths => MAX_PATH_RATE,
        _ => range.max_rate,
    }
}
