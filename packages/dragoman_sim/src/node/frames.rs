//! The world as names and transforms.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{Pose, Transform, TransformStamped};
use dragoman_ros::naming;
use nalgebra::Isometry3;

use crate::World;

/// The frame of a world: `map` for the first, further ones have their names.
pub(super) fn world_frame(at: usize, world: &World) -> String {
    if at == 0 { "map".to_owned() } else { naming::token(world.name()) }
}

/// What the frames and topics of a robot or a sensor begin with.
pub(super) fn prefix(at: usize, world: &World, name: &str) -> String {
    let own = naming::token(name);
    if at == 0 { own } else { format!("{}/{own}", naming::token(world.name())) }
}

/// The name of a part, `object/link`, as a frame.
pub(super) fn part_frame(name: &str) -> String {
    name.split('/').map(naming::token).collect::<Vec<_>>().join("/")
}

pub(super) fn stamped(stamp: &Time, parent: &str, child: String, pose: &Isometry3<f64>) -> TransformStamped {
    let mut transform =
        TransformStamped { child_frame_id: child, transform: transform(pose), ..Default::default() };
    transform.header.stamp = stamp.clone();
    parent.clone_into(&mut transform.header.frame_id);
    transform
}

fn transform(pose: &Isometry3<f64>) -> Transform {
    let mut transform = Transform::default();
    let Pose { position, orientation } = pose_message(pose);
    let translation = &mut transform.translation;
    (translation.x, translation.y, translation.z) = (position.x, position.y, position.z);
    transform.rotation = orientation;
    transform
}

pub(super) fn pose_message(pose: &Isometry3<f64>) -> Pose {
    let mut message = Pose::default();
    let ([x, y, z], [i, j, k, w]): ([f64; 3], [f64; 4]) =
        (pose.translation.vector.into(), pose.rotation.coords.into());
    (message.position.x, message.position.y, message.position.z) = (x, y, z);
    let orientation = &mut message.orientation;
    (orientation.x, orientation.y, orientation.z, orientation.w) = (i, j, k, w);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_below_their_object() {
        assert_eq!(part_frame("Puma560/fore arm"), "puma560/fore_arm");
    }
}
