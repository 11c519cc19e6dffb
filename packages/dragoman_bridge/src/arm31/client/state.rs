//! What an arm behind the protocol is doing, which the protocol does not tell: supposed from what its controller
//! accepted and what it measures.
//!
//! | supposed | because |
//! | --- | --- |
//! | mode 0, drives on | so a controller starts |
//! | another mode, drives on or off | accepted `CM`, `ON`, `OF` |
//! | a motion begins | accepted `BG`, `jB`, `VE`, `jE`, or one of them without an answer: it may have been accepted |
//! | it has arrived | the arm is within [`Tolerances`] of the last goal |
//! | it has ended elsewhere | accepted `ST`, `jR`, `CM`, `OF`; `ER21` or `WN22` in Cartesian mode; the joints rest |
//!
//! A goal that another client has set is not known: a motion to it ends with the rest of the joints.

use std::time::{Duration, Instant};

use super::super::call::{ArmCall, CommandMode, MotionEvent, Outcome, Refusal};
use super::super::rotation;
use super::super::wire::JOINT_COUNT;

/// Via points that a controller keeps (seed 001, appendix A).
const VIA_POINTS: usize = 20;

/// Joints that move by less than [`Tolerances::joint`] in this time rest: a motion at the thesis' limits covers more in
/// its first second, and a sequence waits less at its points.
const REST: Duration = Duration::from_secs(2);

/// When a goal counts as reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerances {
    /// Distance of a pose, m + rad.
    pub pose: f64,
    /// Distance of joint positions, rad (Euclidean norm).
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
    /// Distance in metres plus angle in radians; infinite where a quaternion is zero.
    fn distance(&self, other: &Self) -> f64 {
        let length =
            self.position.iter().zip(other.position).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let [one, two] = [self, other].map(|pose| rotation::normalized(pose.quaternion_xyzw));
        let angle = one.zip(two).map_or(f64::INFINITY, |(one, two)| rotation::angle_between(one, two));
        length + angle
    }
}

/// What is supposed to be in progress.
#[derive(Debug, Clone, PartialEq)]
enum Motion {
    None,
    /// Towards poses, one after the other; none where the goal is not known.
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

/// The supposed state of an arm; see the [module](self).
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
    /// The goal of the Cartesian motion that runs, or that was the last to arrive.
    setpoint: Option<ToolPose>,
    /// Joint positions since when they have hardly changed.
    resting: Option<(Vec<f64>, Instant)>,
}

impl ArmState {
    /// An arm that nothing is known of.
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

    /// Were the drives switched on last?
    pub fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// The pose that the arm moves to, or has arrived at and keeps; `None` where that is no pose that is known.
    pub fn setpoint(&self) -> Option<ToolPose> {
        self.setpoint
    }

    /// Everything that `motion_status` tells.
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

    /// A call has ended.
    pub fn note_result(&mut self, now: Instant, call: &ArmCall, outcome: Outcome) {
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

    /// The tool was measured. `true`: it has arrived where the motion ends.
    pub fn note_pose(&mut self, pose: &ToolPose) -> bool {
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

    /// The joints were measured. `true`: they have arrived where the motion ends.
    pub fn note_joints(&mut self, now: Instant, position: &[f64]) -> bool {
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
                if self.is_moving() && now.saturating_duration_since(*since) > REST {
                    self.end_motion();
                }
            }
            _ => self.resting = Some((position.to_vec(), now)),
        }
        false
    }

    /// The controller reported a condition.
    pub fn note_event(&mut self, event: MotionEvent) {
        // A joint limit is a warning, and joint motions go on outside the workspace.
        let ends = matches!(event, MotionEvent::WorkspaceLimit | MotionEvent::InverseKinematicsDivergence);
        if ends && matches!(self.motion, Motion::Cartesian { .. }) {
            self.end_motion();
        }
    }

    fn note_done(&mut self, now: Instant, call: &ArmCall) {
        match *call {
            ArmCall::BeginMotion => {
                self.begin_cartesian(now, self.goal.into_iter().collect(), false);
            }
            ArmCall::ExecuteViaPoints => {
                self.begin_cartesian(now, self.via.iter().map_while(|point| *point).collect(), true);
            }
            ArmCall::BeginJointMotion => self.begin_joint(now, self.joint_goal.into_iter().collect(), false),
            ArmCall::ExecuteJointViaPoints => {
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
            ArmCall::ClearViaPoints => self.via = [None; VIA_POINTS],
            ArmCall::ClearJointViaPoints => self.joint_via = [None; VIA_POINTS],
            ArmCall::Stop => self.end_motion(),
            ArmCall::ResetJointMotion => {
                if matches!(self.motion, Motion::Joint { .. }) {
                    self.end_motion();
                }
            }
            ArmCall::Enable => self.enabled = true,
            ArmCall::Disable => {
                self.enabled = false;
                self.end_motion();
            }
            ArmCall::SetCommandMode { mode } => {
                self.mode = mode;
                self.end_motion();
            }
            ArmCall::Recalibrate { .. } => self.resting = None,
        }
    }

    /// The controller may have done it or not: what would be in force is not known.
    fn note_unanswered(&mut self, now: Instant, call: &ArmCall) {
        match *call {
            ArmCall::BeginMotion
            | ArmCall::ExecuteViaPoints
            | ArmCall::BeginJointMotion
            | ArmCall::ExecuteJointViaPoints => self.note_done(now, call),
            ArmCall::SetGoalPose { .. } => self.goal = None,
            ArmCall::SetJointGoal { .. } => self.joint_goal = None,
            ArmCall::SetViaPoint { .. } | ArmCall::ClearViaPoints => self.via = [None; VIA_POINTS],
            ArmCall::SetJointViaPoint { .. } | ArmCall::ClearJointViaPoints => {
                self.joint_via = [None; VIA_POINTS];
            }
            _ => {}
        }
    }

    fn begin_cartesian(&mut self, now: Instant, goals: Vec<ToolPose>, is_sequence: bool) {
        self.setpoint = goals.first().copied();
        self.motion = Motion::Cartesian { goals, next: 0, is_sequence };
        self.begin_watch(now);
    }

    fn begin_joint(&mut self, now: Instant, goals: Vec<[f64; JOINT_COUNT]>, is_sequence: bool) {
        self.setpoint = None;
        self.motion = Motion::Joint { goals, next: 0, is_sequence };
        self.begin_watch(now);
    }

    /// The arm may have rested for long; only from now on does that tell that the motion is over.
    fn begin_watch(&mut self, now: Instant) {
        if let Some((_, since)) = &mut self.resting {
            *since = now;
        }
    }

    fn is_moving(&self) -> bool {
        self.motion != Motion::None
    }

    /// The motion has ended, who knows where.
    fn end_motion(&mut self) {
        self.motion = Motion::None;
        self.setpoint = None;
    }
}

/// Euclidean; the joints that only one of the two has do not count.
fn distance(one: &[f64], two: &[f64]) -> f64 {
    one.iter().zip(two).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
