//! Result of a step of the [`Pipeline`](super::Pipeline).

use nalgebra::Isometry3;

use super::command::CommandMode;
use super::workspace::Violation;

/// An event for clients and logs. A lasting condition is reported once, when it begins.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Event {
    /// A motion reached its goal, or a shape came back to its start.
    MotionFinished,
    /// A motion came to rest because it was stopped or aborted.
    MotionStopped,
    /// The set-point was about to break a workspace rule: it was suppressed and the motion aborted.
    SetpointLimited {
        /// Position of the suppressed set-point, m, base frame.
        position: [f64; 3],
        violation: Violation,
    },
    /// The measured pose breaks a workspace rule; Cartesian motion is refused until [`Event::WorkspaceClear`].
    WorkspaceViolated {
        /// Measured position of the tool frame, m, base frame.
        position: [f64; 3],
        violation: Violation,
    },
    /// The measured pose is within the workspace again.
    WorkspaceClear,
    /// A joint goal or command was replaced by the limit of the joint; the motion continues.
    JointLimit {
        /// Index of the joint, from the base.
        joint: usize,
        /// Requested value, rad or m.
        requested: f64,
        /// Value that replaced it, rad or m.
        limit: f64,
    },
    /// Inverse kinematics does not reach the set-point from here: the arm holds and the motion is aborted.
    IkDivergence {
        /// Distance of the best solution from the set-point, m + rad.
        solution: f64,
        /// Distance of the measured pose from the set-point, m + rad.
        present: f64,
    },
    /// A via point was reached and the sequence continues.
    ViaPointReached { index: usize },
    /// The last via point was reached.
    SequenceFinished,
    /// A via point was not reached within the coarse tolerance: the sequence stopped.
    SequenceAborted {
        /// Index of the via point.
        index: usize,
        /// Distance from it: m + rad, or rad in joint space.
        distance: f64,
    },
    /// A sequence ended because of a stop, a mode switch, a limit or a disabled drive.
    SequenceHalted {
        /// Index of the via point that was approached.
        index: usize,
    },
    /// No twist command arrived in time; the motion stops.
    TwistTimeout,
    /// The drives were disabled; every motion was dropped.
    Disabled,
    /// The drives are enabled; the command starts from the measured configuration.
    Enabled,
    /// Measured joint positions of the wrong number, or not finite: the command is held.
    MeasurementInvalid,
    /// No valid measurement has arrived for longer than `measurement_timeout`: every motion was dropped.
    MeasurementTimeout {
        /// Age of the last one, s.
        seconds: f64,
    },
    /// Time went backwards, or forwards by more than the longest step: the step was shortened.
    ClockJump {
        /// Apparent duration of the step, s; below zero if time went backwards.
        seconds: f64,
    },
}

/// The events of one step, in order; a fixed buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Events {
    entries: [Option<Event>; Self::CAPACITY],
    count: usize,
    dropped: usize,
}

impl Events {
    /// Maximum number of events of one step; further ones are counted, not kept.
    pub const CAPACITY: usize = 16;

    pub(super) fn push(&mut self, event: Event) {
        match self.entries.get_mut(self.count) {
            Some(entry) => {
                *entry = Some(event);
                self.count += 1;
            }
            None => self.dropped += 1,
        }
    }

    /// The events, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().flatten()
    }

    /// Whether the step had no event.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of events that did not fit.
    pub fn dropped(&self) -> usize {
        self.dropped
    }
}

/// State of the pipeline after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Command mode.
    pub mode: CommandMode,
    /// Whether the drives were enabled in this step.
    pub enabled: bool,
    /// Whether a mode switch is being settled (no commands are sent yet).
    pub settling: bool,
    /// Whether a motion is running, stopping, or waiting to start.
    pub moving: bool,
    /// Index of the via point that a running sequence approaches.
    pub via_point: Option<usize>,
    /// Whether a Cartesian goal is set.
    pub has_goal: bool,
    /// Whether a joint goal is set.
    pub has_joint_goal: bool,
    /// Rule of the workspace that the measured pose breaks.
    pub violation: Option<Violation>,
    /// Fraction of the planned speed in this step, 0 to 1: below 1 when limited by a joint's rate, which keeps the path
    /// near singular configurations.
    pub speed_scale: f64,
}

/// Result of one step.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Joint command, rad or m, one entry per joint from the base; `None` when nothing may be commanded (mode off,
    /// settling, disabled, nothing measured yet).
    pub command: Option<&'a [f64]>,
    /// Measured pose of the tool frame, base frame.
    pub pose: Isometry3<f64>,
    /// Commanded pose of the tool frame, base frame.
    pub setpoint: Isometry3<f64>,
    /// Events of the step.
    pub events: Events,
    /// Status after the step.
    pub status: Status,
}
