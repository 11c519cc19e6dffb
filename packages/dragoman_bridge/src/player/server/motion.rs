//! The motion of a base between two commands: it keeps a velocity, turns to a direction, or drives to a pose. A ROS
//! base accepts only velocities, and each for a short time. Player's drivers do the same in the server.

use dragoman_geometry::wrap_angle;

use crate::player::wire::common::Pose2d;
use crate::player::wire::position2d::{Pid, Position, Profile, Steering};

/// Distance at which a pose is reached, m.
const REACHED: f64 = 0.03;
/// Angle at which a direction is reached, rad.
const TURNED: f64 = 0.03;
/// Angle beyond which the base turns before it drives, rad.
const AHEAD: f64 = 0.6;
/// Turn rate per angle to turn, 1/s.
const TURN_GAIN: f64 = 1.5;
/// Turn rate when the command has none, rad/s.
const TURN_RATE: f64 = 1.0;
/// Speed when neither the command nor a profile has one, m/s.
const SPEED: f64 = 0.3;

/// How a base moves to poses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gains {
    /// Speed per distance, 1/s.
    pub approach: f64,
    /// Maximum speed, m/s.
    pub speed: f64,
}

impl Default for Gains {
    fn default() -> Self {
        Self { approach: 0.8, speed: SPEED }
    }
}

impl Gains {
    /// Sets the maximum speed from a profile. Its acceleration is ignored, because the base has its own limit.
    ///
    /// # Errors
    /// The speed is not positive.
    pub fn set_profile(&mut self, profile: &Profile) -> Result<(), String> {
        let speed = f64::from(profile.speed);
        if !(speed.is_finite() && speed > 0.0 && profile.acceleration >= 0.0) {
            return Err("a speed is positive, m/s, and an acceleration is not negative".to_owned());
        }
        self.speed = speed;
        Ok(())
    }

    /// Sets the proportional gain of a controller: speed per distance.
    ///
    /// # Errors
    /// The proportional gain is not positive, or another gain is not zero.
    pub fn set_pid(&mut self, pid: &Pid) -> Result<(), String> {
        let gain = f64::from(pid.kp);
        if !(gain.is_finite() && gain > 0.0 && pid.ki == 0.0 && pid.kd == 0.0) {
            return Err("positions are controlled with a positive kp; ki and kd are 0".to_owned());
        }
        self.approach = gain;
        Ok(())
    }
}

/// The motion that the last command requested.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Motion {
    /// No motion: other ROS nodes may command the base.
    #[default]
    Idle,
    /// Drives with this velocity.
    Velocity(Pose2d),
    /// Drives with this speed in this direction in the odometry frame.
    Heading(Steering),
    /// Drives to this pose in the odometry frame.
    Goal(Position),
}

impl Motion {
    /// A velocity; zero ends the motion.
    ///
    /// # Errors
    /// A value is not finite.
    pub fn velocity(velocity: Pose2d) -> Result<Self, String> {
        finite([velocity.x, velocity.y, velocity.yaw])?;
        Ok(if velocity == Pose2d::default() { Self::Idle } else { Self::Velocity(velocity) })
    }

    /// The velocity of a car with this distance between its axles, m.
    ///
    /// # Errors
    /// A value is not finite, or the angle is 90 degrees or more.
    pub fn steering(command: &Steering, wheelbase: f64) -> Result<Self, String> {
        finite([command.speed, command.angle, 0.0])?;
        if command.angle.abs() > 1.5 {
            return Err("a steering angle is below 1.5 rad".to_owned());
        }
        let yaw = command.speed * command.angle.tan() / wheelbase;
        Self::velocity(Pose2d { x: command.speed, y: 0.0, yaw })
    }

    /// A speed in a direction.
    ///
    /// # Errors
    /// A value is not finite.
    pub fn heading(command: Steering) -> Result<Self, String> {
        finite([command.speed, command.angle, 0.0])?;
        Ok(Self::Heading(command))
    }

    /// A pose.
    ///
    /// # Errors
    /// A value is not finite.
    pub fn goal(command: Position) -> Result<Self, String> {
        finite([command.pose.x, command.pose.y, command.pose.yaw])?;
        finite([command.velocity.x, command.velocity.y, command.velocity.yaw])?;
        Ok(Self::Goal(command))
    }

    /// Whether the motion continues until the next command. A motion to a goal ends by itself; clients send goals once.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Velocity(_) | Self::Heading(_))
    }

    /// The velocity now, at this pose of the odometry; `None` for [`Motion::Idle`]. At a reached goal the motion
    /// becomes idle, and the last velocity is zero. Without a pose only velocities are possible; otherwise the base
    /// waits.
    pub fn poll(&mut self, pose: Option<&Pose2d>, gains: &Gains) -> Option<Pose2d> {
        let turning = |angle: f64, rate: f64| (TURN_GAIN * angle).clamp(-rate, rate);
        match (&*self, pose) {
            (Self::Idle, _) => None,
            (Self::Velocity(velocity), _) => Some(velocity.clone()),
            (Self::Heading(_) | Self::Goal(_), None) => Some(Pose2d::default()),
            (Self::Heading(steering), Some(pose)) => {
                let yaw = turning(wrap_angle(steering.angle - pose.yaw), TURN_RATE);
                Some(Pose2d { x: steering.speed, y: 0.0, yaw })
            }
            (Self::Goal(goal), Some(pose)) => {
                let or = |given: f64, default: f64| if given == 0.0 { default } else { given.abs() };
                let (speed, rate) = (or(goal.velocity.x, gains.speed), or(goal.velocity.yaw, TURN_RATE));
                let (dx, dy) = (goal.pose.x - pose.x, goal.pose.y - pose.y);
                let distance = dx.hypot(dy);
                if distance > REACHED {
                    let angle = wrap_angle(dy.atan2(dx) - pose.yaw);
                    let ahead = if angle.abs() > AHEAD { 0.0 } else { angle.cos() };
                    let x = (gains.approach * distance).min(speed) * ahead;
                    return Some(Pose2d { x, y: 0.0, yaw: turning(angle, rate) });
                }
                let angle = wrap_angle(goal.pose.yaw - pose.yaw);
                if angle.abs() > TURNED {
                    return Some(Pose2d { x: 0.0, y: 0.0, yaw: turning(angle, rate) });
                }
                *self = Self::Idle;
                Some(Pose2d::default())
            }
        }
    }
}

fn finite(values: [f64; 3]) -> Result<(), String> {
    if values.into_iter().all(f64::is_finite) { Ok(()) } else { Err("a value is not finite".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drives an ideal base for this number of seconds.
    fn drive(motion: &mut Motion, pose: &mut Pose2d, seconds: f64) -> Option<Pose2d> {
        let gains = Gains::default();
        let mut last = None;
        for _ in 0..(seconds * 20.0) as usize {
            last = motion.poll(Some(pose), &gains);
            let Some(velocity) = &last else { break };
            pose.x += velocity.x * pose.yaw.cos() * 0.05;
            pose.y += velocity.x * pose.yaw.sin() * 0.05;
            pose.yaw = wrap_angle(pose.yaw + velocity.yaw * 0.05);
        }
        last
    }

    #[test]
    fn a_goal_behind_the_base_is_reached_and_left_alone() {
        let goal = Pose2d { x: -1.0, y: 0.5, yaw: 2.0 };
        let mut motion = Motion::goal(Position { pose: goal.clone(), ..Position::default() }).unwrap();
        let mut pose = Pose2d::default();
        assert_eq!(drive(&mut motion, &mut pose, 30.0), None);
        assert!((pose.x - goal.x).hypot(pose.y - goal.y) < 0.05, "{pose:?}");
        assert!(wrap_angle(pose.yaw - goal.yaw).abs() < 0.05, "{pose:?}");
        assert_eq!(motion, Motion::Idle);
    }

    #[test]
    fn the_commanded_speed_is_the_maximum() {
        let velocity = Pose2d { x: 0.1, y: 0.0, yaw: 0.0 };
        let pose = Pose2d { x: 5.0, y: 0.0, yaw: 0.0 };
        let mut motion = Motion::goal(Position { pose, velocity, motors_on: true }).unwrap();
        let driven = motion.poll(Some(&Pose2d::default()), &Gains::default()).unwrap();
        assert_eq!((driven.x, driven.yaw), (0.1, 0.0));
    }

    #[test]
    fn a_heading_is_turned_to_by_the_shorter_way() {
        let mut motion = Motion::heading(Steering { speed: 0.2, angle: -3.0 }).unwrap();
        let mut pose = Pose2d { x: 0.0, y: 0.0, yaw: 3.0 };
        let last = drive(&mut motion, &mut pose, 5.0).unwrap();
        assert!(wrap_angle(pose.yaw + 3.0).abs() < 0.02 && last.x == 0.2, "{pose:?}");
    }

    #[test]
    fn a_car_turns_on_the_circle_of_its_wheelbase() {
        let motion = Motion::steering(&Steering { speed: 1.0, angle: 0.5 }, 0.5).unwrap();
        let Motion::Velocity(velocity) = motion else { panic!("{motion:?}") };
        assert!((velocity.yaw - 0.5_f64.tan() / 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let bad = Pose2d { x: f64::NAN, ..Pose2d::default() };
        assert!(Motion::velocity(bad.clone()).is_err());
        assert!(Motion::goal(Position { pose: bad, ..Position::default() }).is_err());
        assert!(Motion::heading(Steering { speed: f64::INFINITY, angle: 0.0 }).is_err());
        assert!(Motion::steering(&Steering { speed: 1.0, angle: 1.6 }, 0.5).is_err());
        assert!(Gains::default().set_profile(&Profile { speed: -1.0, acceleration: 0.0 }).is_err());
    }
}
