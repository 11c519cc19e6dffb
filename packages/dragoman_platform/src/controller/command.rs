//! Commands, states, and why a command is refused.

use dragoman_geometry::{Point, Pose, Twist};
use dragoman_neobotix::map::{Map, MapError, Roadmap, RouteError};

use crate::planning::PlanError;
use crate::program::{Program, ProgramError, Quarry};
use crate::replay::{Recording, ReplayError};
use crate::settings::{Settings, SettingsError};

/// Operation states, with the numbers of `CMD_GET_STATUS` (seed 002, section 6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Operation {
    /// It can be moved.
    Ready = 0,
    /// The motion mode is at work: `ST_OP_RUNNING`.
    Moving = 1,
    /// The motion mode is interrupted.
    Broken = 2,
    /// It cannot be moved yet.
    NotInitialized = 3,
}

/// Emergency states, with the numbers of `CMD_GET_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Emergency {
    /// There is none.
    Inactive = 0,
    /// An emergency stop is pressed; the platform is in its secure state.
    Active = 1,
    /// It was released, and the drives come up again.
    Reset = 2,
}

/// Motion modes, with the numbers of `CMD_SET_MODE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MotionMode {
    /// Nothing moves the platform.
    None = 0,
    /// The hardware's joystick moves it.
    JoystickHardware = 1,
    /// [`Command::Move`] moves it.
    JoystickSoftware = 2,
    /// [`Command::Move`] and [`Command::MoveWheels`] move it.
    Velocity = 3,
    /// It drives to goals.
    Automatic = 4,
    /// A program drives it to goals.
    Program = 5,
    /// A recording moves it.
    Replay = 6,
}

impl TryFrom<i32> for MotionMode {
    type Error = Refusal;

    fn try_from(number: i32) -> Result<Self, Refusal> {
        const MODES: [MotionMode; 7] = [
            MotionMode::None,
            MotionMode::JoystickHardware,
            MotionMode::JoystickSoftware,
            MotionMode::Velocity,
            MotionMode::Automatic,
            MotionMode::Program,
            MotionMode::Replay,
        ];
        let mode = usize::try_from(number).ok().and_then(|index| MODES.get(index));
        mode.copied().ok_or(Refusal::UnknownMode(number))
    }
}

/// One of the drives, with the order of [`Output::brakes`](super::Output::brakes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motor {
    /// `CANNODE_MOTORRIGHT`.
    Right = 0,
    /// `CANNODE_MOTORLEFT`.
    Left = 1,
}

/// A board with digital outputs, with the numbers of `CMD_SET_DIGOUT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Board {
    /// `TYPE_IOBOARD`.
    Io = 0,
    /// `TYPE_RELAYBOARD`.
    Relay = 1,
}

/// What a platform can be told (seed 002, section 6.3); metres, radians, in the map unless told otherwise.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Looks whether the base is there.
    Connect,
    /// Stops everything, and lets go of the base.
    Shutdown,
    /// Makes a connected platform ready.
    Initialize,
    /// Applies or releases a brake. A platform with a brake applied does not move.
    SetBrake {
        /// Of which drive.
        motor: Motor,
        /// Or released.
        applied: bool,
    },
    /// Sets an output.
    SetDigitalOutput {
        /// On which board.
        board: Board,
        /// 0 to 15.
        channel: u8,
        /// Or low.
        high: bool,
    },
    /// Lets these ultrasonic sensors measure, a bit for each, and no others.
    StartUltrasonic {
        /// Bit 0 is sensor 1.
        channels: u16,
    },
    /// Lets none measure.
    StopUltrasonic,
    /// Starts the motion mode.
    Start,
    /// Interrupts it; the platform brakes along its way.
    Break,
    /// Goes on.
    Continue,
    /// Ends it; what was to be done is forgotten.
    Stop,
    /// Sets the motion mode; only a platform that is ready changes it.
    SetMode(MotionMode),
    /// Drives along these places.
    MovePath(Vec<Pose>),
    /// Drives to a station of the roadmap, by its name.
    MoveToStation(String),
    /// Drives to a pose.
    MoveAbsolute(Pose),
    /// Drives to a pose of the platform's frame.
    MoveRelative(Pose),
    /// Turns the driven wheels, m/s.
    MoveWheels {
        /// Speed of the right one.
        right: f64,
        /// Speed of the left one.
        left: f64,
    },
    /// Moves at these velocities.
    Move(Twist),
    /// Sets the map.
    SetMap(Map),
    /// Sets the roadmap.
    SetRoadmap(Roadmap),
    /// Takes lines from the laser's scans into a map of its own; it goes on where it was stopped.
    StartMapping,
    /// Forgets these lines.
    ResetMapping,
    /// Takes no more; the lines stay, for somebody to make a map of them.
    StopMapping,
    /// The platform is here.
    SetPose(Pose),
    /// An obstacle is here; nowhere for `None`.
    PlaceObstacle(Option<Point>),
    /// Sets the program. The mode program begins with it at [`Command::Start`].
    SetProgram(Program),
    /// Drives a recorded motion again; motion mode replay, ready or moving. At its end the platform is ready.
    StartReplay(Recording),
    /// Sets all settings.
    SetSettings(Box<Settings>),
}

/// Why a command has no effect. Nothing has changed then. A client of the old protocol is told nothing; it sees that the state has not changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A number of the command is NaN or infinite.
    #[error("a value is not finite")]
    NotFinite,
    /// There are seven motion modes.
    #[error("there is no motion mode {0}; 0 to 6")]
    UnknownMode(i32),
    /// Boards have 16 outputs.
    #[error("there is no digital output {0}; 0 to 15")]
    UnknownChannel(u8),
    /// The base does not answer.
    #[error("the base is silent")]
    BaseSilent,
    /// Not connected yet.
    #[error("the platform is not connected")]
    NotConnected,
    /// Not in this state.
    #[error("the platform is {0:?}")]
    WrongState(Operation),
    /// Not in this mode.
    #[error("the motion mode is {0:?}")]
    WrongMode(MotionMode),
    /// Not while an emergency stop is pressed, or just released.
    #[error("the emergency stop is {0:?}")]
    Emergency(Emergency),
    /// A path has one place at least.
    #[error("the path is empty")]
    EmptyPath,
    /// There is no way.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The roadmap does not lead there.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The map or roadmap is none.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Nobody knows where it is.
    #[error("there is no {0:?} to go after")]
    NothingToGoAfter(Quarry),
    /// The recording cannot be driven again from here.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Nobody knows where the platform is.
    #[error("the platform does not know where it is")]
    Lost,
    /// The program cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A setting makes no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}
