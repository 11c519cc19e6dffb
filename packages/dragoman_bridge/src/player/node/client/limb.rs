//! `limb`: an arm, by the pose of its end effector.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{Point, PointStamped, PoseStamped, Quaternion};
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::{Publisher, QosProfile, Result as RosResult};
use nalgebra::{Quaternion as Numbers, UnitQuaternion};

use super::arm::{serve_command, serve_speed, serve_switch};
use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::report;
use super::scene::Scene;
use crate::player::node::tool::{approach, orientation, rotation};
use crate::player::wire::Data;
use crate::player::wire::common::Point3d;
use crate::player::wire::limb::{self, Motion, Pose};

/// Maximum deviation of a quaternion's length from 1.
const UNIT: f64 = 0.01;

struct Limb {
    pose: Publisher<PoseStamped>,
    state: Publisher<Text>,
    /// Frame of the robot, without the prefix of all frames.
    base: String,
}

pub(super) fn limb(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let base = format!("{}base_footprint", setup.names.base);
    let frame = setup.scene.frame(&base);
    let (handle, of) = (setup.handle.clone(), frame.clone());
    setup.tasks.subscribe(
        &setup.names.topic("limb/goal_pose"),
        QosProfile::default(),
        move |goal: PoseStamped| match pose(&goal, &of) {
            Ok(pose) => handle.send_command(&limb::SET_POSE, pose),
            Err(reason) => handle.problem(format!("goal_pose: {reason}")),
        },
    )?;
    let handle = setup.handle.clone();
    setup.tasks.subscribe(
        &setup.names.topic("limb/goal_position"),
        QosProfile::default(),
        move |goal: PointStamped| match position(&goal.header.frame_id, &goal.point, &frame) {
            Ok(position) => handle.send_command(&limb::SET_POSITION, position),
            Err(reason) => handle.problem(format!("goal_position: {reason}")),
        },
    )?;
    serve_switch(setup, "limb/set_power", &limb::POWER)?;
    serve_switch(setup, "limb/set_brakes", &limb::BRAKES)?;
    serve_command(setup, "limb/home", &limb::HOME, ())?;
    serve_command(setup, "limb/stop", &limb::STOP, ())?;
    let topic = setup.names.topic("limb/set_speed");
    serve_speed(setup, &topic, "set_speed".to_owned(), &limb::SET_SPEED, |speed| speed)?;
    Ok(Box::new(Limb { pose: setup.publisher("limb/pose")?, state: setup.publisher("limb/state")?, base }))
}

fn position(frame: &str, point: &Point, base: &str) -> Result<Point3d, String> {
    if !frame.is_empty() && frame != base {
        return Err(format!("the goal is in frame '{frame}'; this one is needed: '{base}'"));
    }
    let Point { x, y, z } = *point;
    if !(x.is_finite() && y.is_finite() && z.is_finite()) {
        return Err("a value is not finite".to_owned());
    }
    Ok(Point3d { x, y, z })
}

fn pose(goal: &PoseStamped, base: &str) -> Result<Pose, String> {
    let position = position(&goal.header.frame_id, &goal.pose.position, base)?;
    let Quaternion { x, y, z, w } = goal.pose.orientation;
    let numbers = Numbers::new(w, x, y, z);
    let length = numbers.norm();
    if length.is_nan() || (length - 1.0).abs() > UNIT {
        return Err("the orientation is invalid".to_owned());
    }
    let rotation = UnitQuaternion::from_quaternion(numbers);
    Ok(Pose { position, approach: approach(&rotation), orientation: orientation(&rotation) })
}

impl DeviceTopics for Limb {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Limb(limb::Data::State(state)) = data else { return Ok(()) };
        let text = match state.motion {
            Motion::Idle => "idle",
            Motion::Braked => "braked",
            Motion::Moving => "moving",
            Motion::OutOfReach => "out of reach",
            Motion::Collision => "collision",
            Motion::Other(_) => "unknown",
        };
        report(self.state.publish(&Text { data: text.to_owned() }), "limb/state");
        let rotation = rotation(&state.approach, &state.orientation)?;
        let Point3d { x, y, z } = state.position;
        if !(x.is_finite() && y.is_finite() && z.is_finite()) {
            return Err("a pose that is not finite".to_owned());
        }
        let mut message = PoseStamped { header: scene.header(stamp, &self.base), ..Default::default() };
        message.pose.position = Point { x, y, z };
        let [qx, qy, qz, w] = rotation.coords.into();
        message.pose.orientation = Quaternion { x: qx, y: qy, z: qz, w };
        report(self.pose.publish(&message), "limb/pose");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_checked() {
        let mut goal = PoseStamped::default();
        (goal.pose.position.z, goal.pose.orientation.w) = (0.5, 0.5);
        assert!(pose(&goal, "base").unwrap_err().contains("orientation"));
        (goal.pose.orientation.z, goal.pose.orientation.w) = (0.5_f64.sqrt(), 0.5_f64.sqrt());
        let Pose { position, approach, orientation } = pose(&goal, "base").unwrap();
        assert_eq!(position.z, 0.5);
        // A quarter turn about z.
        assert!((approach.z - 1.0).abs() < 1e-12 && (orientation.x + 1.0).abs() < 1e-12, "{orientation:?}");
        goal.header.frame_id = "map".to_owned();
        assert!(pose(&goal, "base").unwrap_err().contains("'base'"));
        (goal.header.frame_id, goal.pose.position.x) = (String::new(), f64::NAN);
        assert!(pose(&goal, "base").is_err());
    }
}
