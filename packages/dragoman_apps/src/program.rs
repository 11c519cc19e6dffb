//! What a program for the robot sees and does: the same in ROS and on virtual time.

use std::time::Duration;

use dragoman_geometry::{Pose, Twist};

use crate::depth::DepthImage;

/// A joint of the WidowX, by the names of seed 003, section 3.6.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Joint {
    /// `arm_1_joint`: the arm's base turns about the vertical.
    Arm,
    /// `arm_2_joint`.
    Shoulder,
    /// `arm_3_joint`.
    Biceps,
    /// `arm_4_joint`.
    Forearm,
    /// `arm_5_joint`.
    Wrist,
    /// `gripper_1_joint`: 0 is open, 2.5 closed.
    Gripper,
}

impl Joint {
    /// All joints, in the order of their servos on the bus.
    pub const ALL: [Self; 6] =
        [Self::Arm, Self::Shoulder, Self::Biceps, Self::Forearm, Self::Wrist, Self::Gripper];

    /// Its name in ROS, without a slash.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arm => "arm_1_joint",
            Self::Shoulder => "arm_2_joint",
            Self::Biceps => "arm_3_joint",
            Self::Forearm => "arm_4_joint",
            Self::Wrist => "arm_5_joint",
            Self::Gripper => "gripper_1_joint",
        }
    }
}

/// A value, and when it came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamped<T> {
    /// On the clock of [`Observation::now`].
    pub at: Duration,
    /// What came.
    pub value: T,
}

/// What the base's bumpers and cliff sensors tell: `/mobile_base/sensors/core`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contacts {
    /// Bumpers left, in the middle, right.
    pub bumpers: [bool; 3],
    /// A cliff sensor sees no floor.
    pub cliff: bool,
    /// A wheel hangs down.
    pub wheel_drop: bool,
}

impl Contacts {
    /// Whether something is in the way: a bumper or a cliff (seed 003, section 5.2).
    pub fn obstacle(&self) -> bool {
        self.cliff || self.bumpers.contains(&true)
    }
}

/// All that a program knows at one time.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The robot's time: simulated time in a simulation.
    pub now: Duration,
    /// `/odom`: where the robot is, seen from where its odometry began.
    pub odometry: Option<Stamped<Pose>>,
    /// `/mobile_base/sensors/core`.
    pub contacts: Option<Stamped<Contacts>>,
    /// `/camera/depth/image`, the newest.
    pub depth: Option<Stamped<&'a DepthImage>>,
    /// Why a service call of the last step failed.
    pub refusal: Option<&'a str>,
}

impl Observation<'_> {
    /// The odometry, if it is one.
    pub(crate) fn sound_odometry(&self) -> Option<Stamped<Pose>> {
        self.odometry.filter(|odometry| odometry.value.is_finite())
    }
}

/// What a program wants to have done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `/mobile_base/commands/velocity`. It holds for 0.6 s.
    Velocity(Twist),
    /// `<joint>/command`, rad; the gripper 0 to 2.5.
    Command(Joint, f64),
    /// Service `<joint>/set_speed`, rad/s. The program goes on when it is answered.
    SetSpeed(Joint, f64),
    /// Service `<joint>/relax`. The program goes on when it is answered.
    Relax(Joint),
    /// For the user: `/vrep/aux_console/print` and the terminal.
    Say(String),
}

/// How a program stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It goes on.
    Running,
    /// It has done what it is for.
    Done,
    /// It has given up; the base was told to stand still.
    Failed(Failure),
}

/// Why a program has given up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// What the robot has to tell does not come.
    #[error("nothing came on {topic} for {seconds} s")]
    Silent {
        /// The topic.
        topic: &'static str,
        /// How long it was waited.
        seconds: f64,
    },
    /// A step takes too long.
    #[error("{what} was not done within {seconds} s")]
    TimeOut {
        /// The step.
        what: String,
        /// How long was tried.
        seconds: f64,
    },
    /// The way is not free.
    #[error("{what}: something was in the way {count} times")]
    Blocked {
        /// The step.
        what: String,
        /// How often.
        count: u32,
    },
    /// A wheel hangs down: the robot was lifted, or falls.
    #[error("a wheel has lost the ground")]
    WheelDrop,
    /// A service call failed.
    #[error("{0}")]
    Refused(String),
}

/// A program for the robot, without I/O and clock.
pub trait Program {
    /// Looks at what is there now, and appends what is to be done to `actions`. To be called with every message of the odometry, 50 times a
    /// second; more often does no harm. After [`Status::Done`] and [`Status::Failed`] nothing more is wanted.
    fn step(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Status;

    /// Whether it cannot do without [`Observation::depth`].
    fn needs_depth(&self) -> bool {
        false
    }
}

/// Without odometry or sensors for so long a program gives up.
pub const PATIENCE: Duration = Duration::from_secs(3);

/// The value of what came lately, or why to give up. Before the first message the time counts from `begun`.
pub(crate) fn fresh<T: Copy>(
    value: Option<Stamped<T>>,
    begun: Duration,
    now: Duration,
    topic: &'static str,
) -> Result<Option<T>, Failure> {
    let since = value.as_ref().map_or(begun, |value| value.at);
    if now.saturating_sub(since) > PATIENCE {
        return Err(Failure::Silent { topic, seconds: PATIENCE.as_secs_f64() });
    }
    Ok(value.map(|value| value.value))
}
