//! State of an arm behind the protocol. The protocol does not transmit it; it is derived from the accepted calls and
//! the measurements.
//!
//! | derived state | reason |
//! | --- | --- |
//! | mode 0, drives on | initial state of a controller |
//! | another mode, drives on or off | accepted `CM`, `ON`, `OF` |
//! | a motion begins | accepted `BG`, `jB`, `VE`, `jE`, or one of these without an answer: it may have been accepted |
//! | the goal is reached | the arm is within [`Tolerances`] of the last goal |
//! | the motion ended | accepted `ST`, `jR`, `CM`, `OF`; `ER21` or `WN22` in Cartesian mode; the joints rest |
//!
//! A goal set by another client is unknown: a motion to it ends when the joints rest.

use std::time::Duration;

use super::super::call::{ArmCall, CommandMode, MotionEvent, Outcome, Refusal};
use super::super::rotation;
use super::super::wire::{Command, JOINT_COUNT};

/// Number of via points in a controller (Ranger thesis, appendix A).
const VIA_POINTS: usize = 20;

/// Joints that move by less than [`Tolerances::joint`] in this time are at rest: a motion at the limits of the thesis
/// covers more in its first second, and a sequence waits less at its points.
const REST: Duration = Duration::from_secs(2);

/// Tolerances for reaching a goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerances {
    /// Distance between poses, m + rad.
    pub pose: f64,
    /// Distance between joint positions, rad (Euclidean norm).
    pub joint: f64,
}

/// A pose of the tool frame in the arm's base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolPose {
    /// x, y, z in metres.
    pub position: [f64; 3],
    /// Quaternion x, y, z, w, of any length but zero.
    pub quaternion_xyzw: [f64; 4],
}

impl ToolPose {
    /// Distance in metres plus angle in radians; infinite if a quaternion is zero.
    fn distance(&self, other: &Self) -> f64 {
        let length =
            self.position.iter().zip(other.position).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let [one, two] = [self, other].map(|pose| rotation::normalized(pose.quaternion_xyzw));
        let angle = one.zip(two).map_or(f64::INFINITY, |(one, two)| rotation::angle_between(one, two));
        length + angle
    }
}

/// The motion that is assumed to be in progress.
#[derive(Debug, Clone, PartialEq)]
enum Motion {
    None,
    /// Towards poses, one after the other; empty if the goal is unknown.
    Cartesian {
        goals: Vec<ToolPose>,
        next: usize,
        is_sequence: bool,
    },
    /// Towards joint positions.
    Joint {
        goals: Vec<[f64; JOINT_COUNT]>,
        next: usize,
        is_sequence: bool,
    },
}

/// The state in the fields of `MotionStatus.msg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the message's fields")]
pub struct MotionState {
    pub mode: CommandMode,
    pub moving: bool,
    pub via_point: Option<usize>,
    pub has_goal_pose: bool,
    pub has_joint_goal: bool,
}

/// The derived state of an arm; see the [module](self).
#[derive(Debug, Clone)]
pub struct ArmState {
    tolerances: Tolerances,
    mode: CommandMode,
    enabled: bool,
    goal: Option<ToolPose>,
    joint_goal: Option<[f64; JOINT_COUNT]>,
    via: [Option<ToolPose>; VIA_POINTS],
    joint_via: [Option<[f64; JOINT_COUNT]>; VIA_POINTS],
    motion: Motion,
    /// The goal of the current Cartesian motion, or the last one reached.
    setpoint: Option<ToolPose>,
    /// Joint positions, and since when they have changed by less than the tolerance.
    resting: Option<(Vec<f64>, Duration)>,
}

impl ArmState {
    /// An arm whose state is unknown.
    pub fn new(tolerances: Tolerances) -> Self {
        Self {
            tolerances,
            mode: CommandMode::Off,
            enabled: true,
            goal: None,
            joint_goal: None,
            via: [None; VIA_POINTS],
            joint_via: [None; VIA_POINTS],
            motion: Motion::None,
            setpoint: None,
            resting: None,
        }
    }

    /// Whether the drives were last switched on.
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The pose that the arm moves to or holds; `None` if it is unknown or not a pose.
    pub fn setpoint(&self) -> Option<ToolPose> {
        self.setpoint
    }

    /// The content of `motion_status`.
    pub fn motion(&self) -> MotionState {
        let via_point = match &self.motion {
            Motion::Cartesian { goals, next, is_sequence: true } if !goals.is_empty() => Some(*next),
            Motion::Joint { goals, next, is_sequence: true } if !goals.is_empty() => Some(*next),
            _ => None,
        };
        MotionState {
            mode: self.mode,
            moving: self.is_moving(),
            via_point,
            has_goal_pose: self.goal.is_some(),
            has_joint_goal: self.joint_goal.is_some(),
        }
    }

    /// Updates the state with the outcome of a call.
    pub fn handle_result(&mut self, now: Duration, call: &ArmCall, outcome: Outcome) {
        match outcome {
            Outcome::Refused(Refusal::TimedOut) => self.note_unanswered(now, call),
            Outcome::Refused(_) => {}
            Outcome::Mode(mode) => {
                self.mode = mode;
                self.end_motion();
            }
            Outcome::Done => self.note_done(now, call),
        }
    }

    /// Updates the state with a measured pose. `true`: the motion has reached its goal.
    pub fn handle_pose(&mut self, pose: &ToolPose) -> bool {
        let Motion::Cartesian { goals, next, .. } = &mut self.motion else { return false };
        let reached = goals.get(*next).is_some_and(|goal| goal.distance(pose) <= self.tolerances.pose);
        if !reached {
            return false;
        }
        *next += 1;
        match goals.get(*next) {
            Some(goal) => {
                self.setpoint = Some(*goal);
                false
            }
            None => {
                self.motion = Motion::None;
                true
            }
        }
    }

    /// Updates the state with measured joint positions. `true`: the motion has reached its goal.
    pub fn handle_joints(&mut self, now: Duration, position: &[f64]) -> bool {
        if let Motion::Joint { goals, next, .. } = &mut self.motion {
            let reached =
                goals.get(*next).is_some_and(|goal| distance(goal, position) <= self.tolerances.joint);
            if reached {
                *next += 1;
                if *next >= goals.len() {
                    self.motion = Motion::None;
                    return true;
                }
            }
        }
        match &self.resting {
            Some((rested, since)) if distance(rested, position) <= self.tolerances.joint => {
                if self.is_moving() && now.saturating_sub(*since) > REST {
                    self.end_motion();
                }
            }
            _ => self.resting = Some((position.to_vec(), now)),
        }
        false
    }

    /// Updates the state with a reported condition.
    pub fn handle_event(&mut self, event: MotionEvent) {
        // A joint limit is a warning, and joint motions continue outside the workspace.
        let ends = matches!(event, MotionEvent::WorkspaceLimit | MotionEvent::InverseKinematicsDivergence);
        if ends && matches!(self.motion, Motion::Cartesian { .. }) {
            self.end_motion();
        }
    }

    fn note_done(&mut self, now: Duration, call: &ArmCall) {
        match *call {
            ArmCall::Plain(Command::BeginMotion) => {
                self.begin_cartesian(now, self.goal.into_iter().collect(), false);
            }
            ArmCall::Plain(Command::ExecuteViaPoints) => {
                self.begin_cartesian(now, self.via.iter().map_while(|point| *point).collect(), true);
            }
            ArmCall::Plain(Command::BeginJointMotion) => {
                self.begin_joint(now, self.joint_goal.into_iter().collect(), false)
            }
            ArmCall::Plain(Command::ExecuteJointViaPoints) => {
                self.begin_joint(now, self.joint_via.iter().map_while(|point| *point).collect(), true);
            }
            ArmCall::SetGoalPose { position, quaternion_xyzw, .. } => {
                self.goal = Some(ToolPose { position, quaternion_xyzw });
            }
            ArmCall::SetJointGoal { position, .. } => self.joint_goal = Some(position),
            ArmCall::SetViaPoint { index, position, quaternion_xyzw, .. } => {
                if let Some(slot) = self.via.get_mut(usize::from(index)) {
                    *slot = Some(ToolPose { position, quaternion_xyzw });
                }
            }
            ArmCall::SetJointViaPoint { index, position, .. } => {
                if let Some(slot) = self.joint_via.get_mut(usize::from(index)) {
                    *slot = Some(position);
                }
            }
            ArmCall::Plain(Command::ClearViaPoints) => self.via = [None; VIA_POINTS],
            ArmCall::Plain(Command::ClearJointViaPoints) => self.joint_via = [None; VIA_POINTS],
            ArmCall::Plain(Command::Stop) => self.end_motion(),
            ArmCall::Plain(Command::ResetJointMotion) => {
                if matches!(self.motion, Motion::Joint { .. }) {
                    self.end_motion();
                }
            }
            ArmCall::Plain(Command::Enable) => self.enabled = true,
            ArmCall::Plain(Command::Disable) => {
                self.enabled = false;
                self.end_motion();
            }
            ArmCall::SetCommandMode { mode } => {
                self.mode = mode;
                self.end_motion();
            }
            ArmCall::Recalibrate { .. } => self.resting = None,
            ArmCall::Plain(_) => {}
        }
    }

    /// The controller may have carried out the call: settings that it would change are unknown.
    fn note_unanswered(&mut self, now: Duration, call: &ArmCall) {
        match *call {
            ArmCall::Plain(Command::BeginMotion)
            | ArmCall::Plain(Command::ExecuteViaPoints)
            | ArmCall::Plain(Command::BeginJointMotion)
            | ArmCall::Plain(Command::ExecuteJointViaPoints) => self.note_done(now, call),
            ArmCall::SetGoalPose { .. } => self.goal = None,
            ArmCall::SetJointGoal { .. } => self.joint_goal = None,
            ArmCall::SetViaPoint { .. } | ArmCall::Plain(Command::ClearViaPoints) => {
                self.via = [None; VIA_POINTS]
            }
            ArmCall::SetJointViaPoint { .. } | ArmCall::Plain(Command::ClearJointViaPoints) => {
                self.joint_via = [None; VIA_POINTS];
            }
            _ => {}
        }
    }

    fn begin_cartesian(&mut self, now: Duration, goals: Vec<ToolPose>, is_sequence: bool) {
        self.setpoint = goals.first().copied();
        self.motion = Motion::Cartesian { goals, next: 0, is_sequence };
        self.begin_watch(now);
    }

    fn begin_joint(&mut self, now: Duration, goals: Vec<[f64; JOINT_COUNT]>, is_sequence: bool) {
        self.setpoint = None;
        self.motion = Motion::Joint { goals, next: 0, is_sequence };
        self.begin_watch(now);
    }

    /// The arm may have been at rest for long; rest ends the motion only from now on.
    fn begin_watch(&mut self, now: Duration) {
        if let Some((_, since)) = &mut self.resting {
            *since = now;
        }
    }

    fn is_moving(&self) -> bool {
        self.motion != Motion::None
    }

    /// The motion has ended at an unknown position.
    fn end_motion(&mut self) {
        self.motion = Motion::None;
        self.setpoint = None;
    }
}

/// Euclidean distance; joints that are in only one of the two are ignored.
fn distance(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
