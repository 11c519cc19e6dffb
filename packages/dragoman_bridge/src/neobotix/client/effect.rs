//! Effects of unanswered commands that the status shows.

use super::super::status::{Emergency, MotionMode, Operation};
use super::super::wire::{Coded, Command, Status};

/// Expected state after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// CMD_INIT_PLTF.
    Initialized,
    /// CMD_SHUTDOWN_PLTF.
    NotInitialized,
    /// CMD_EXIT: not initialized, or the end of the connection.
    Gone,
    /// CMD_START, CMD_BREAK, CMD_CONTINUE, CMD_STOP.
    Operation(Operation),
    /// CMD_SET_MODE.
    Mode(MotionMode),
    /// Motion commands: they act in these modes only, while the platform runs.
    Moves(&'static [MotionMode]),
}

/// Result of comparing a status with an effect.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    Seen,
    /// The effect may still occur.
    NotYet,
    /// The effect will not occur, for this reason.
    Never(String),
}

impl Effect {
    /// The visible effect of a command; `None`: none that is certain.
    pub(super) fn of(command: &Command) -> Option<Self> {
        Some(match command {
            Command::InitPltf => Self::Initialized,
            Command::ShutdownPltf => Self::NotInitialized,
            Command::Exit => Self::Gone,
            Command::Start | Command::Continue => Self::Operation(Operation::Moving),
            Command::Break => Self::Operation(Operation::Broken),
            Command::Stop => Self::Operation(Operation::Ready),
            Command::SetMode(set) => Self::Mode(set.mode),
            Command::MovePath(_) | Command::MoveToStation(_) | Command::MoveAbs(_) | Command::MoveRel(_) => {
                Self::Moves(&[MotionMode::Automatic])
            }
            Command::MoveVel(_) => Self::Moves(&[MotionMode::JoystickSoftware, MotionMode::Velocity]),
            Command::MoveVelWheel(_) => Self::Moves(&[MotionMode::Velocity]),
            _ => return None,
        })
    }

    pub(super) fn judge(self, status: &Status) -> Verdict {
        let operation = status.operation_state.known();
        let seen = match self {
            Self::Initialized => {
                status.is_initialized.known() == Some(true) && operation != Some(Operation::NotInitialized)
            }
            Self::NotInitialized | Self::Gone => operation == Some(Operation::NotInitialized),
            Self::Operation(wanted) => operation == Some(wanted),
            Self::Mode(wanted) => status.motion_mode.known() == Some(wanted),
            Self::Moves(modes) => {
                let acts = status.motion_mode.known().is_some_and(|mode| modes.contains(&mode))
                    && operation == Some(Operation::Moving);
                return if acts { Verdict::Seen } else { Verdict::Never(describe(status)) };
            }
        };
        if seen { Verdict::Seen } else { Verdict::NotYet }
    }
}

/// Describes the state in the terms of the PlatformCtrl guide.
pub(super) fn describe(status: &Status) -> String {
    let mut text = format!("the platform is {:?} in {:?}", status.operation_state, status.motion_mode);
    if status.emergency_state != Coded::from(Emergency::Inactive) {
        text += &format!(", emergency stop {:?}", status.emergency_state);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neobotix::wire::{Frame, MoveWheelVelocity, SetMode};

    fn status(operation: Operation, mode: MotionMode) -> Status {
        Status {
            is_initialized: (operation != Operation::NotInitialized).into(),
            operation_state: operation.into(),
            motion_mode: mode.into(),
            ..Status::default()
        }
    }

    #[test]
    fn the_state_chart_shows_the_effects_of_commands() {
        use {MotionMode as Mode, Operation as State};
        let judged =
            |command: &Command, state, mode| Effect::of(command).unwrap().judge(&status(state, mode));
        assert_eq!(judged(&Command::InitPltf, State::NotInitialized, Mode::None), Verdict::NotYet);
        assert_eq!(judged(&Command::InitPltf, State::Ready, Mode::None), Verdict::Seen);
        assert_eq!(judged(&Command::Start, State::Ready, Mode::None), Verdict::NotYet);
        assert_eq!(judged(&Command::Continue, State::Moving, Mode::None), Verdict::Seen);
        assert_eq!(judged(&Command::Break, State::Broken, Mode::None), Verdict::Seen);
        assert_eq!(judged(&Command::Stop, State::Ready, Mode::None), Verdict::Seen);
        assert_eq!(judged(&Command::Exit, State::NotInitialized, Mode::None), Verdict::Seen);
        let set = Command::SetMode(SetMode { mode: Mode::Automatic });
        assert_eq!(judged(&set, State::Ready, Mode::None), Verdict::NotYet);
        assert_eq!(judged(&set, State::Ready, Mode::Automatic), Verdict::Seen);
        let drive = Command::MoveAbs(Frame::default());
        assert_eq!(judged(&drive, State::Moving, Mode::Automatic), Verdict::Seen);
        let reason = "the platform is ST_OP_READY in MODE_MOTION_AUTOMATIC".to_owned();
        assert_eq!(judged(&drive, State::Ready, Mode::Automatic), Verdict::Never(reason));
        let wheels = Command::MoveVelWheel(MoveWheelVelocity::default());
        assert!(matches!(judged(&wheels, State::Moving, Mode::JoystickSoftware), Verdict::Never(_)));
        assert_eq!(Effect::of(&Command::ConnectToPltf), None);
    }

    #[test]
    fn an_emergency_stop_is_described() {
        let status = Status { emergency_state: Emergency::Active.into(), ..Status::default() };
        assert!(describe(&status).ends_with("emergency stop ST_EM_ACTIVE"), "{}", describe(&status));
    }
}
