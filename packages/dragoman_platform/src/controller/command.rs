//! Commands, states, and reasons for refusals.

use dragoman_geometry::{Point, Pose, Twist};
use dragoman_neobotix::codes::{Board, Code, Emergency, MotionMode, Motor, Operation};
use dragoman_neobotix::map::{MAX_COORDINATE, Map, MapError, Roadmap, RouteError};

use crate::planning::PlanError;
use crate::program::{Program, ProgramError, TrackedObject};
use crate::replay::{Recording, ReplayError};
use crate::settings::{Settings, SettingsError};

/// Commands to a platform (PlatformCtrl guide, 6.3); metres, radians, by default in the map frame.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Command {
    /// Checks the connection to the base.
    Connect,
    /// Stops everything, and disconnects the base.
    Shutdown,
    /// Makes a connected platform ready.
    Initialize,
    /// Applies or releases a brake. A platform with a brake applied does not move; a motion is interrupted as by
    /// [`Command::Break`].
    SetBrake {
        motor: Motor,
        /// `false`: released.
        applied: bool,
    },
    SetDigitalOutput {
        board: Board,
        /// Channel, 0 to 15.
        channel: u8,
        /// `false`: low.
        high: bool,
    },
    /// Enables exactly these ultrasonic sensors, one bit each.
    StartUltrasonic {
        /// Bit 0 is sensor 1.
        channels: u16,
    },
    /// Disables all ultrasonic sensors.
    StopUltrasonic,
    /// Starts the motion mode.
    Start,
    /// Interrupts the motion; the platform brakes along its path.
    Break,
    /// Continues the motion.
    Continue,
    /// Ends the motion, and discards its target.
    Stop,
    /// Sets the motion mode; the platform must be ready.
    SetMode(MotionMode),
    /// Drives along these poses.
    MovePath(Vec<Pose>),
    /// Drives to the station of the roadmap with this name.
    MoveToStation(String),
    /// Drives to a pose.
    MoveAbsolute(Pose),
    /// Drives to a pose in the platform's frame.
    MoveRelative(Pose),
    /// Sets the speeds of the driven wheels, m/s.
    MoveWheels {
        /// Speed of the right wheel.
        right: f64,
        /// Speed of the left wheel.
        left: f64,
    },
    /// Moves at these velocities.
    Move(Twist),
    SetMap(Map),
    SetRoadmap(Roadmap),
    /// Adds lines from the laser's scans to a separate map; continues where mapping was stopped.
    StartMapping,
    /// Deletes these lines.
    ResetMapping,
    /// Adds no more lines; they are kept for creating a map.
    StopMapping,
    /// Sets the platform's pose.
    SetPose(Pose),
    /// Sets an obstacle at this point; `None` removes it.
    PlaceObstacle(Option<Point>),
    /// Sets the program, which the mode program starts at [`Command::Start`].
    SetProgram(Program),
    /// Replays a recorded motion, in the motion mode replay, ready or moving. At its end the platform is ready.
    StartReplay(Recording),
    /// Replaces all settings.
    SetSettings(Box<Settings>),
}

impl Command {
    /// [`Command::SetMode`] with the number of `CMD_SET_MODE`.
    ///
    /// # Errors
    /// [`Refusal::UnknownMode`].
    pub fn set_mode(number: i32) -> Result<Self, Refusal> {
        MotionMode::from_code(number.into()).map(Self::SetMode).ok_or(Refusal::UnknownMode(number))
    }
}

/// Reason for a refused command, which changes nothing. A client of the old protocol gets no reply; it sees the
/// unchanged state.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A number of the command is NaN or infinite.
    #[error("a value is not finite")]
    NotFinite,
    /// A coordinate is too large.
    #[error("a coordinate is more than {MAX_COORDINATE} m from the origin of the map")]
    TooFar,
    /// A lateral velocity, and the drives are not omnidirectional.
    #[error("the drives cannot move the platform sideways; leave out the lateral velocity")]
    Sideways,
    /// Not one of the seven motion modes.
    #[error("there is no motion mode {0}; use 0 to 6")]
    UnknownMode(i32),
    /// Not one of a board's 16 outputs.
    #[error("there is no digital output {0}; use 0 to 15")]
    UnknownChannel(u8),
    /// The base does not answer.
    #[error("the base is silent")]
    BaseSilent,
    /// The platform is not connected yet.
    #[error("the platform is not connected")]
    NotConnected,
    /// Not permitted in this state.
    #[error("the platform is {0:?}")]
    WrongState(Operation),
    /// Not permitted in this mode.
    #[error("the motion mode is {0:?}")]
    WrongMode(MotionMode),
    /// Not permitted while an emergency stop is pressed or has just been released.
    #[error("the emergency stop is {0:?}")]
    Emergency(Emergency),
    /// A path needs at least one pose.
    #[error("the path is empty")]
    EmptyPath,
    /// Planning failed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The roadmap has no route there.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// The map or roadmap is invalid.
    #[error(transparent)]
    Map(#[from] MapError),
    /// No position of the object is known.
    #[error("the position of the {0:?} is unknown")]
    NoTrackedObject(TrackedObject),
    /// The recording cannot be replayed from here.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Localization is lost.
    #[error("localization is lost")]
    Lost,
    /// The program cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A setting is invalid.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}
