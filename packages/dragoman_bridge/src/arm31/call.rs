//! The arm's services as values, shared by both sides of the bridge.

use super::wire::{Command, JOINT_COUNT};

/// Which generator commands the joints (`SetCommandMode.srv`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CommandMode {
    /// None: no command reaches the drives.
    Off = 0,
    /// Joint space.
    Joint = 1,
    /// Cartesian space.
    Cartesian = 2,
}

/// A number that is not a [`CommandMode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a command mode; use 0, 1 or 2")]
pub struct InvalidMode(pub u8);

impl TryFrom<u8> for CommandMode {
    type Error = InvalidMode;

    fn try_from(mode: u8) -> Result<Self, InvalidMode> {
        match mode {
            0 => Ok(Self::Off),
            1 => Ok(Self::Joint),
            2 => Ok(Self::Cartesian),
            other => Err(InvalidMode(other)),
        }
    }
}

impl From<CommandMode> for u8 {
    fn from(mode: CommandMode) -> Self {
        mode as Self
    }
}

/// A call of the arm's ROS service [`ArmCall::service`].
///
/// Positions in metres, joint positions in radians (base of the chain first), durations in seconds; poses are of the tool
/// frame in the arm's base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names are those of the services and their fields")]
pub enum ArmCall {
    /// A command without values.
    Plain(Command),
    SetCommandMode {
        mode: CommandMode,
    },
    SetGoalPose {
        position: [f64; 3],
        quaternion_xyzw: [f64; 4],
        min_duration: f64,
    },
    SetJointGoal {
        position: [f64; JOINT_COUNT],
        min_duration: f64,
    },
    SetJointViaPoint {
        index: u8,
        position: [f64; JOINT_COUNT],
        min_duration: f64,
    },
    Recalibrate {
        position: [f64; JOINT_COUNT],
    },
    SetViaPoint {
        index: u8,
        position: [f64; 3],
        quaternion_xyzw: [f64; 4],
        min_duration: f64,
    },
}

impl ArmCall {
    /// The wire command of this call; for `set_goal_pose` the one without a duration.
    pub fn command(&self) -> Command {
        match self {
            Self::Plain(command) => *command,
            Self::SetCommandMode { .. } => Command::SetCommandMode,
            Self::SetGoalPose { .. } => Command::SetGoalPose,
            Self::SetJointGoal { .. } => Command::SetJointGoal,
            Self::SetJointViaPoint { .. } => Command::SetJointViaPoint,
            Self::Recalibrate { .. } => Command::Recalibrate,
            Self::SetViaPoint { .. } => Command::SetViaPoint,
        }
    }

    /// Name of the service on the arm's namespace.
    pub fn service(&self) -> &'static str {
        self.command().ros_name()
    }
}

/// Outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Success.
    Done,
    /// `set_command_mode` succeeded; this mode is in force.
    Mode(CommandMode),
    /// The call failed.
    Refused(Refusal),
}

/// Why a call failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The service refused, or does not exist.
    #[error("rejected by the arm")]
    Rejected,
    /// `ER11`.
    #[error("the arm did not start")]
    DidNotStart,
    /// `ER10`.
    #[error("the arm did not stop")]
    DidNotStop,
    /// `ER00` or `ER01`: the controller does not know this command.
    #[error("the controller did not understand the command")]
    NotUnderstood,
    /// No answer in time. The call may have been carried out.
    #[error("no answer in time")]
    TimedOut,
    /// A stop came after the call and before its execution.
    #[error("cancelled by a stop")]
    Stopped,
    /// A value is NaN, infinite, beyond the range of `f32`, or the quaternion is zero.
    #[error("a value is not finite or out of range")]
    InvalidValue,
    /// The 31-byte protocol cannot encode this (a joint goal has no duration).
    #[error("the 31-byte protocol cannot express this")]
    NotEncodable,
    /// Too many calls are waiting.
    #[error("too many calls are waiting")]
    Busy,
}

/// Conditions that the protocol reports unasked (kinds of `MotionEvent.msg`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MotionEvent {
    /// The set-point or the tool is outside the workspace.
    WorkspaceLimit,
    /// A joint command was clamped to its limit.
    JointLimit,
    /// The inverse kinematics did not converge.
    InverseKinematicsDivergence,
}
