//! The commands of the [`Pipeline`]: accepted values, and reasons of refusals.
//!
//! Decisions where the Ranger thesis is silent or lenient:
//! - numbers that are not finite are refused, and so are magnitudes above 1e5 (m, rad or s), which only a corrupted
//!   message contains; a zero quaternion is refused, any other is normalized;
//! - a negative minimum duration counts as none, as in the Ranger thesis; a radius, amplitude or period must be
//!   positive;
//! - joint goals beyond a joint's limit are clamped, with an [`Event::JointLimit`] in the next step;
//! - goals stay set after a motion and through mode switches; they may be changed during a motion, which continues;
//! - a begin that arrives while a stop is being carried out, or during the cycles after a mode switch, is accepted and
//!   starts as soon as the arm may move.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion, Vector6};
use thiserror::Error;

use super::course::{Motion, Queued};
use super::event::Event;
use super::pipeline::Pipeline;
use super::shapes::Axis;
use super::via_points::{SLOTS, ViaPoint};
use super::workspace::Violation;

/// Maximum magnitude of any number in a command: m, rad or s.
pub const MAX_MAGNITUDE: f64 = 1e5;

/// The source of joint commands; the numbers are those of the 31-byte protocol's `CM`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandMode {
    /// 0: no joint commands are sent.
    #[default]
    Off,
    /// 1: joint motions.
    Joint,
    /// 2: Cartesian motions.
    Cartesian,
}

impl CommandMode {
    /// The mode of a protocol number.
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Off),
            1 => Some(Self::Joint),
            2 => Some(Self::Cartesian),
            _ => None,
        }
    }

    /// The protocol's number.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// A pose as it arrives from a client, not yet checked: base frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawPose {
    /// x, y, z in metres.
    pub position: [f64; 3],
    /// Orientation x, y, z, w; any length but zero.
    pub quaternion: [f64; 4],
}

impl RawPose {
    /// From a position (m) and roll, pitch, yaw (rad): rotations about the fixed x, then y, then z axis, which is the
    /// Z-Y-X Euler convention of the 31-byte protocol.
    pub fn from_roll_pitch_yaw(position: [f64; 3], [roll, pitch, yaw]: [f64; 3]) -> Self {
        let rotation = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        Self { position, quaternion: rotation.coords.into() }
    }

    /// The pose, with the quaternion normalized.
    ///
    /// # Errors
    /// [`Rejected::NotFinite`], [`Rejected::OutOfRange`], [`Rejected::ZeroQuaternion`].
    pub fn to_isometry(&self) -> Result<Isometry3<f64>, Rejected> {
        checked("position", &self.position)?;
        finite("quaternion", &self.quaternion)?;
        // Scaled first: the squares of huge or tiny components must neither overflow nor vanish.
        let largest = self.quaternion.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        if largest < f64::MIN_POSITIVE {
            return Err(Rejected::ZeroQuaternion);
        }
        let [x, y, z, w] = self.quaternion.map(|value| value / largest);
        let rotation = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        Ok(Isometry3::from_parts(Translation3::from(self.position), rotation))
    }
}

impl From<&Isometry3<f64>> for RawPose {
    fn from(pose: &Isometry3<f64>) -> Self {
        Self { position: pose.translation.vector.into(), quaternion: pose.rotation.coords.into() }
    }
}

/// Why a command was refused; nothing was changed.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Rejected {
    /// No measured joint positions have arrived, yet or for too long.
    #[error("the joint positions are not being measured")]
    NotReady,
    /// The drives are disabled.
    #[error("the drives are disabled")]
    Disabled,
    /// The command belongs to another mode.
    #[error("the command needs mode {needed:?}, the mode is {actual:?}")]
    WrongMode {
        /// Mode in which it is allowed.
        needed: CommandMode,
        /// Present mode.
        actual: CommandMode,
    },
    /// Begin without a goal.
    #[error("no goal has been set")]
    NoGoal,
    /// A motion is in progress.
    #[error("a motion is in progress{}", via_point.map_or(String::new(), |index| format!(", towards via point {index}")))]
    Busy {
        /// Index of the via point being approached, in a sequence.
        via_point: Option<usize>,
    },
    /// NaN or infinite.
    #[error("{name} contains {value}, which is not finite")]
    NotFinite {
        /// Name of the value.
        name: &'static str,
        /// The offending number.
        value: f64,
    },
    /// Too large, or not positive where it must be.
    #[error("{name} is {value}, allowed is {min} to {max}")]
    OutOfRange {
        /// Name of the value.
        name: &'static str,
        /// Its value: m, rad or s.
        value: f64,
        /// Minimum allowed value.
        min: f64,
        /// Maximum allowed value.
        max: f64,
    },
    /// The number of values is not the number of joints.
    #[error("{found} joint values, the robot has {expected} joints")]
    WrongLength {
        /// Joints of the robot.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// A quaternion of length zero.
    #[error("the quaternion is zero")]
    ZeroQuaternion,
    /// No such via point.
    #[error("via point {index} does not exist, the last one is {last}")]
    ViaPointIndex {
        /// Index given.
        index: usize,
        /// Maximum index.
        last: usize,
    },
    /// Execute without a via point at index 0.
    #[error("via point 0 has not been set")]
    NoViaPoints,
    /// The measured pose breaks a workspace rule: only joint motions are allowed until it is clear.
    #[error("the tool at {position:?} m breaks the workspace limit ({violation:?}); leave it in joint mode")]
    InViolation {
        /// Measured position of the tool, m, base frame.
        position: [f64; 3],
        violation: Violation,
    },
    /// A joint is outside of its range: only joint motions are allowed until it is inside.
    #[error("joint {joint} is at {value}, outside of {lower} to {upper}; move it back in joint mode")]
    OutsideJointLimits {
        /// Index of the joint, from the base.
        joint: usize,
        /// Its position, rad or m.
        value: f64,
        /// Lower limit, rad or m.
        lower: f64,
        /// Upper limit, rad or m.
        upper: f64,
    },
    /// A circle with the same axis twice.
    #[error("a circle needs two different axes, not {axis:?} twice")]
    SameAxes { axis: Axis },
    /// End of a shape while none is running.
    #[error("no circle or sinusoid is running")]
    NoShape,
}

fn finite(name: &'static str, values: &[f64]) -> Result<(), Rejected> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(Rejected::NotFinite { name, value: *value }),
        None => Ok(()),
    }
}

fn checked(name: &'static str, values: &[f64]) -> Result<(), Rejected> {
    finite(name, values)?;
    match values.iter().find(|value| value.abs() > MAX_MAGNITUDE) {
        Some(value) => {
            Err(Rejected::OutOfRange { name, value: *value, min: -MAX_MAGNITUDE, max: MAX_MAGNITUDE })
        }
        None => Ok(()),
    }
}

fn checked_duration(value: f64) -> Result<f64, Rejected> {
    checked("minimum duration", &[value])?;
    Ok(value.max(0.0))
}

fn positive(name: &'static str, value: f64) -> Result<f64, Rejected> {
    finite(name, &[value])?;
    let range = 1e-6..=MAX_MAGNITUDE;
    if range.contains(&value) {
        Ok(value)
    } else {
        Err(Rejected::OutOfRange { name, value, min: *range.start(), max: *range.end() })
    }
}

impl Pipeline {
    /// `CM`: switches the command mode. Motions and sequences are dropped, no command goes out for the configured
    /// number of cycles (two), and both generators restart from the measured state.
    pub fn set_command_mode(&mut self, mode: CommandMode) {
        self.drop_motion();
        self.mode = mode;
        self.settle = self.arm.config.mode_switch_cycles;
        self.needs_reset = true;
    }

    /// `ST`: ends every motion and sequence. The motion is braked along its path within `stop_acceleration` (0.1 s from
    /// full speed with the defaults); then the command stays. When the arm lags by more than `stop_following_error` it becomes
    /// the measured configuration, so that a slow arm does not go on for the length of its lag. The Ranger thesis resets to
    /// the measured pose in one cycle always, which is a jump backwards by the lag of the drives.
    pub fn stop(&mut self) {
        self.halt_sequences();
        self.course.queued = None;
        self.course.brake();
        self.course.relax = true;
    }

    /// `jR`: as [`stop`](Self::stop), when a joint motion or sequence is running; otherwise nothing.
    pub fn reset_joint_motion(&mut self) {
        if self.mode == CommandMode::Joint {
            self.stop();
        }
    }

    /// `GL`, `GT`: sets the Cartesian goal; the motion to it lasts at least `min_duration` seconds.
    ///
    /// # Errors
    /// As [`RawPose::to_isometry`]; a duration that is not finite or too long.
    pub fn set_goal_pose(&mut self, pose: &RawPose, min_duration: f64) -> Result<(), Rejected> {
        let point = pose.to_isometry()?;
        self.goals.pose = Some(ViaPoint { point, min_duration: checked_duration(min_duration)? });
        Ok(())
    }

    /// `BG`: begins the motion to the goal pose, on a straight line.
    ///
    /// # Errors
    /// Without goal, not in Cartesian mode, while a motion runs, disabled, or outside of a limit.
    pub fn begin_motion(&mut self) -> Result<(), Rejected> {
        self.may_begin(CommandMode::Cartesian)?;
        let goal = self.goals.pose.as_ref().ok_or(Rejected::NoGoal)?;
        self.course.queued = Some(Queued::Line { goal: goal.point, min_duration: goal.min_duration });
        Ok(())
    }

    /// `jG`: sets the joint goal `q`, one entry per joint, rad or m.
    ///
    /// # Errors
    /// Wrong length, numbers that are not finite or too large.
    pub fn set_joint_goal(&mut self, q: &[f64], min_duration: f64) -> Result<(), Rejected> {
        let min_duration = checked_duration(min_duration)?;
        self.goals.joints = Some(ViaPoint { point: self.clamped(q)?, min_duration });
        Ok(())
    }

    /// `jB`: begins the motion to the joint goal.
    ///
    /// # Errors
    /// Without goal, not in joint mode, while a motion runs, or disabled.
    pub fn begin_joint_motion(&mut self) -> Result<(), Rejected> {
        self.may_begin(CommandMode::Joint)?;
        let goal = self.goals.joints.as_ref().ok_or(Rejected::NoGoal)?;
        self.course.queued_joint.copy_from_slice(&goal.point);
        self.course.queued = Some(Queued::Joint { min_duration: goal.min_duration });
        Ok(())
    }

    /// `VP`: stores the via point of `index` (0 to 19), in any order; a running sequence is not affected.
    ///
    /// # Errors
    /// No such index; otherwise as [`set_goal_pose`](Self::set_goal_pose).
    pub fn set_via_point(&mut self, index: usize, pose: &RawPose, min_duration: f64) -> Result<(), Rejected> {
        let via = ViaPoint { point: pose.to_isometry()?, min_duration: checked_duration(min_duration)? };
        if self.goals.via.set(index, via) { Ok(()) } else { Err(no_slot(index)) }
    }

    /// `VC`: forgets all via points; a running sequence is not affected.
    pub fn clear_via_points(&mut self) {
        self.goals.via.clear();
    }

    /// `VE`: runs through the via points, from index 0 to the first that is not set.
    ///
    /// # Errors
    /// Without via point 0; otherwise as [`begin_motion`](Self::begin_motion).
    pub fn execute_via_points(&mut self) -> Result<(), Rejected> {
        self.may_begin(CommandMode::Cartesian)?;
        if self.goals.via.execute() { Ok(()) } else { Err(Rejected::NoViaPoints) }
    }

    /// `jV`: stores the joint via point of `index` (0 to 19), in any order; a running sequence is not affected.
    ///
    /// # Errors
    /// No such index; otherwise as [`set_joint_goal`](Self::set_joint_goal).
    pub fn set_joint_via_point(
        &mut self,
        index: usize,
        q: &[f64],
        min_duration: f64,
    ) -> Result<(), Rejected> {
        let min_duration = checked_duration(min_duration)?;
        if index >= SLOTS {
            return Err(no_slot(index));
        }
        let via = ViaPoint { point: self.clamped(q)?, min_duration };
        if self.goals.joint_via.set(index, via) { Ok(()) } else { Err(no_slot(index)) }
    }

    /// `jC`: forgets all joint via points; a running sequence is not affected.
    pub fn clear_joint_via_points(&mut self) {
        self.goals.joint_via.clear();
    }

    /// `jE`: runs through the joint via points, from index 0 to the first that is not set.
    ///
    /// # Errors
    /// Without via point 0; otherwise as [`begin_joint_motion`](Self::begin_joint_motion).
    pub fn execute_joint_via_points(&mut self) -> Result<(), Rejected> {
        self.may_begin(CommandMode::Joint)?;
        if self.goals.joint_via.execute() { Ok(()) } else { Err(Rejected::NoViaPoints) }
    }

    /// Begins a circle of `radius` metres from the present pose, which lies `radius` along `axes[0]` from the centre;
    /// it sets out along `axes[1]`, one turn per `period` seconds or as fast as the limits allow.
    ///
    /// # Errors
    /// Radius or period below 1e-6 or too large, the same axis twice; otherwise as
    /// [`begin_motion`](Self::begin_motion).
    pub fn begin_circle(&mut self, radius: f64, period: f64, axes: [Axis; 2]) -> Result<(), Rejected> {
        let (radius, period) = (positive("radius", radius)?, positive("period", period)?);
        if axes[0] == axes[1] {
            return Err(Rejected::SameAxes { axis: axes[0] });
        }
        self.may_begin(CommandMode::Cartesian)?;
        self.course.queued = Some(Queued::Circle { radius, period, axes });
        Ok(())
    }

    /// Begins a sinusoid about the present pose along `axis`: `amplitude` metres to each side, one cycle per `period`
    /// seconds or as fast as the limits allow.
    ///
    /// # Errors
    /// Amplitude or period below 1e-6 or too large; otherwise as [`begin_motion`](Self::begin_motion).
    pub fn begin_sinusoid(&mut self, amplitude: f64, period: f64, axis: Axis) -> Result<(), Rejected> {
        let (amplitude, period) = (positive("amplitude", amplitude)?, positive("period", period)?);
        self.may_begin(CommandMode::Cartesian)?;
        self.course.queued = Some(Queued::Sinusoid { amplitude, period, axis });
        Ok(())
    }

    /// Ends a circle or sinusoid at its next passage of the starting pose.
    ///
    /// # Errors
    /// [`Rejected::NoShape`].
    pub fn end_shape(&mut self) -> Result<(), Rejected> {
        match (&mut self.course.motion, &self.course.queued) {
            (Motion::Shape(shape), _) if !self.course.braking => {
                shape.end_at_start();
                Ok(())
            }
            (_, Some(Queued::Circle { .. } | Queued::Sinusoid { .. })) => {
                self.course.queued = None;
                Ok(())
            }
            _ => Err(Rejected::NoShape),
        }
    }

    /// Moves the tool with a velocity: `linear` m/s and `angular` rad/s in the base frame, scaled down to the limits.
    /// The command must be repeated: after `twist_timeout` without a new one the motion stops. Zero stops it at the
    /// planned deceleration. A twist that arrives after a stop moves the tool again.
    ///
    /// # Errors
    /// Numbers that are not finite or too large; otherwise as [`begin_motion`](Self::begin_motion), except that a
    /// running twist motion is taken over.
    pub fn set_twist(&mut self, linear: [f64; 3], angular: [f64; 3]) -> Result<(), Rejected> {
        checked("linear velocity", &linear)?;
        checked("angular velocity", &angular)?;
        let [vx, vy, vz] = linear;
        let [wx, wy, wz] = angular;
        let twist = Vector6::new(vx, vy, vz, wx, wy, wz);
        let running = matches!(self.course.motion, Motion::Twist(_)) && self.course.queued.is_none();
        let waiting = matches!(self.course.queued, Some(Queued::Twist(_)));
        self.may_command(CommandMode::Cartesian)?;
        if !running && !waiting {
            self.may_begin(CommandMode::Cartesian)?;
        }
        self.course.twist_age = 0.0;
        match &mut self.course.motion {
            Motion::Twist(motion) if running => {
                motion.set_target(twist, &self.arm.config.cartesian);
                self.course.braking = false;
                self.course.relax = false;
            }
            _ => self.course.queued = Some(Queued::Twist(twist)),
        }
        Ok(())
    }

    /// A copy of `q` within the joint limits; a clamped value is reported with the next step's events.
    fn clamped(&mut self, q: &[f64]) -> Result<Vec<f64>, Rejected> {
        if q.len() != self.arm.ranges.len() {
            return Err(Rejected::WrongLength { expected: self.arm.ranges.len(), found: q.len() });
        }
        checked("joint goal", q)?;
        let mut goal = q.to_vec();
        if let Some(hit) = super::joint_limits::clamp_positions(&self.arm.ranges, &mut goal) {
            let event = Event::JointLimit { joint: hit.joint, requested: hit.requested, limit: hit.limited };
            self.pending.push(event);
        }
        Ok(goal)
    }

    /// Whether commands of `needed` mode can be carried out.
    fn may_command(&self, needed: CommandMode) -> Result<(), Rejected> {
        if !self.measured.ready {
            return Err(Rejected::NotReady);
        }
        if !self.enabled {
            return Err(Rejected::Disabled);
        }
        if self.mode != needed {
            return Err(Rejected::WrongMode { needed, actual: self.mode });
        }
        if needed != CommandMode::Cartesian {
            return Ok(());
        }
        if let Some(violation) = self.measured.violation {
            return Err(Rejected::InViolation {
                position: self.measured.pose.translation.vector.into(),
                violation,
            });
        }
        let outside =
            self.arm.ranges.iter().zip(&self.commanded.joints).position(|(range, q)| !range.contains(*q));
        match outside
            .and_then(|joint| Some((joint, self.arm.ranges.get(joint)?, self.commanded.joints.get(joint)?)))
        {
            Some((joint, range, value)) => Err(Rejected::OutsideJointLimits {
                joint,
                value: *value,
                lower: range.lower,
                upper: range.upper,
            }),
            None => Ok(()),
        }
    }

    /// As [`may_command`](Self::may_command), and nothing except possibly a stop is in progress.
    fn may_begin(&self, needed: CommandMode) -> Result<(), Rejected> {
        self.may_command(needed)?;
        let via_point = self.goals.via_point();
        let moving = !self.course.is_idle() && !self.course.braking;
        if moving || self.course.queued.is_some() || via_point.is_some() {
            return Err(Rejected::Busy { via_point });
        }
        Ok(())
    }
}

fn no_slot(index: usize) -> Rejected {
    Rejected::ViaPointIndex { index, last: SLOTS - 1 }
}
