//! A program's inputs and actions: the same in ROS and on virtual time.

use std::time::Duration;

use dragoman_geometry::{Pose, Twist};

use crate::depth::DepthImage;

/// A joint of the WidowX, with the names of the TurtleBot thesis, 3.6.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// Measured positions of the joints, rad, in the order of [`Joint::ALL`]: `/joint_states`. `None` before the first message
/// with the joint.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Positions(pub [Option<Stamped<f64>>; Joint::ALL.len()]);

impl Positions {
    /// Position of a joint.
    pub fn of(&self, joint: Joint) -> Option<Stamped<f64>> {
        self.0.get(joint as usize).copied().flatten()
    }

    /// Takes a message. Values that are not finite are left out.
    pub fn take<'a>(&mut self, at: Duration, message: impl IntoIterator<Item = (&'a str, f64)>) {
        for (name, value) in message {
            let joint = Joint::ALL.into_iter().position(|joint| joint.name() == name);
            let place = joint.and_then(|joint| self.0.get_mut(joint));
            if let Some(place) = place.filter(|_| value.is_finite()) {
                *place = Some(Stamped { at, value });
            }
        }
    }
}

/// A value with its time of reception.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Stamped<T> {
    /// On the clock of [`Observation::now`].
    pub at: Duration,
    pub value: T,
}

/// State of the base's bumpers and cliff sensors: `/mobile_base/sensors/core`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Contacts {
    /// Bumpers left, centre, right.
    pub bumpers: [bool; 3],
    /// A cliff sensor sees no floor.
    pub cliff: bool,
    /// A wheel hangs down.
    pub wheel_drop: bool,
}

impl Contacts {
    /// Whether a bumper or a cliff sensor is active (TurtleBot thesis, 5.2).
    pub fn obstacle(&self) -> bool {
        self.cliff || self.bumpers.contains(&true)
    }
}

/// Inputs of a program.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The robot's time: simulated time in a simulation.
    pub now: Duration,
    /// `/odom`: pose of the robot relative to the start of its odometry.
    pub odometry: Option<Stamped<Pose>>,
    /// `/mobile_base/sensors/core`.
    pub contacts: Option<Stamped<Contacts>>,
    /// `/joint_states`.
    pub joints: Positions,
    /// `/camera/depth/image`, the latest.
    pub depth: Option<Stamped<&'a DepthImage>>,
    /// The error of a service call in the last step.
    pub refusal: Option<&'a str>,
}

impl Observation<'_> {
    /// The odometry, if it is finite.
    pub(crate) fn sound_odometry(&self) -> Option<Stamped<Pose>> {
        self.odometry.filter(|odometry| odometry.value.is_finite())
    }
}

/// An action of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// `/mobile_base/commands/velocity`. Valid for 0.6 s.
    Velocity(Twist),
    /// `<joint>/command`, rad; the gripper 0 to 2.5.
    Command(Joint, f64),
    /// Service `<joint>/set_speed`, rad/s. The program continues after the answer.
    SetSpeed(Joint, f64),
    /// Service `<joint>/relax`. The program continues after the answer.
    Relax(Joint),
    /// Text for the user: `/vrep/aux_console/print` and the terminal.
    Say(String),
}

/// State of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// It continues.
    Running,
    /// It has finished.
    Done,
    /// It has failed; the base was stopped.
    Failed(Failure),
}

/// Reason of a failure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Failure {
    /// A topic has no messages.
    #[error("no messages on {topic} for {seconds} s")]
    Silent {
        topic: &'static str,
        /// Waiting time.
        seconds: f64,
    },
    /// A step exceeded its time limit.
    #[error("{what} did not finish within {seconds} s")]
    TimeOut {
        what: String,
        /// Time limit.
        seconds: f64,
    },
    /// The way is blocked.
    #[error("{what}: blocked {count} times")]
    Blocked {
        what: String,
        /// Number of contacts.
        count: u32,
    },
    /// A wheel drop sensor is active: the robot was lifted, or falls.
    #[error("a wheel has lost contact with the ground")]
    WheelDrop,
    /// A service call failed.
    #[error("{0}")]
    Refused(String),
    /// A joint is not where it was commanded to.
    #[error("{} is at {position:.2} rad and not at {goal:.2} rad", joint.name())]
    Unreached { joint: Joint, position: f64, goal: f64 },
    /// The fingers have nothing of the cube's width between them.
    #[error("the gripper holds no cube {when}: its fingers are {width_mm:.0} mm apart")]
    NotHeld {
        /// Part of the program.
        when: &'static str,
        width_mm: f64,
    },
    /// The place where the cube would be put down is not the intended one.
    #[error("the cube would be put down {distance:.2} m beside its place")]
    Beside {
        /// From the place, m.
        distance: f64,
    },
    /// The odometry has changed faster than a robot can drive.
    #[error("the odometry has jumped by {distance:.2} m: was the robot reset or moved?")]
    Jumped {
        /// Between two messages, m.
        distance: f64,
    },
}

/// A program for the robot, without I/O and clock.
pub trait Program {
    /// Takes the current inputs, and appends actions to `actions`. Call it with every odometry message, at 50 Hz; more
    /// often is harmless. After [`Status::Done`] and [`Status::Failed`] it has no further effect.
    fn step(&mut self, seen: &Observation<'_>, actions: &mut Vec<Action>) -> Status;

    /// Whether it requires [`Observation::depth`].
    fn needs_depth(&self) -> bool {
        false
    }
}

/// Time without odometry or sensors after which a program fails.
pub const INPUT_TIMEOUT: Duration = Duration::from_secs(3);

/// The latest value, or a failure if it is too old. Before the first message the time counts from `begun`.
pub(crate) fn fresh<T: Copy>(
    value: Option<Stamped<T>>,
    begun: Duration,
    now: Duration,
    topic: &'static str,
) -> Result<Option<T>, Failure> {
    let since = value.as_ref().map_or(begun, |value| value.at);
    if now.saturating_sub(since) > INPUT_TIMEOUT {
        return Err(Failure::Silent { topic, seconds: INPUT_TIMEOUT.as_secs_f64() });
    }
    Ok(value.map(|value| value.value))
}
