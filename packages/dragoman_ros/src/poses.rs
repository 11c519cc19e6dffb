//! Positions, rotations and transforms as messages, and back. Metres; unit quaternions x, y, z, w.

use dragoman_geometry::{rotation_about_z, yaw};
use nalgebra::Isometry3;

use crate::builtin_interfaces::msg::Time;
use crate::geometry_msgs::msg::{Point, Pose, Quaternion, TransformStamped};

/// A position and a rotation.
pub trait Placement {
    /// Position, m, and rotation, a quaternion x, y, z, w.
    fn parts(&self) -> ([f64; 3], [f64; 4]);
}

impl Placement for ([f64; 3], [f64; 4]) {
    fn parts(&self) -> ([f64; 3], [f64; 4]) {
        *self
    }
}

impl Placement for dragoman_geometry::Pose {
    fn parts(&self) -> ([f64; 3], [f64; 4]) {
        ([self.x, self.y, 0.0], rotation_about_z(self.heading))
    }
}

impl Placement for Isometry3<f64> {
    fn parts(&self) -> ([f64; 3], [f64; 4]) {
        (self.translation.vector.into(), self.rotation.coords.into())
    }
}

/// Not checked: a quaternion from outside may have any length.
impl Placement for Pose {
    fn parts(&self) -> ([f64; 3], [f64; 4]) {
        let (p, q) = (&self.position, &self.orientation);
        ([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])
    }
}

/// A pose as a message.
pub fn pose(place: &impl Placement) -> Pose {
    let ([x, y, z], turn) = place.parts();
    Pose { position: Point { x, y, z }, orientation: quaternion(turn) }
}

/// The pose of frame `child` in frame `parent`.
pub fn transform(
    stamp: &Time,
    parent: impl Into<String>,
    child: impl Into<String>,
    place: &impl Placement,
) -> TransformStamped {
    let mut message = TransformStamped { child_frame_id: child.into(), ..Default::default() };
    message.header.stamp = stamp.clone();
    message.header.frame_id = parent.into();
    let ([x, y, z], turn) = place.parts();
    let translation = &mut message.transform.translation;
    (translation.x, translation.y, translation.z) = (x, y, z);
    message.transform.rotation = quaternion(turn);
    message
}

/// A rotation x, y, z, w as a message.
pub fn quaternion([x, y, z, w]: [f64; 4]) -> Quaternion {
    Quaternion { x, y, z, w }
}

/// A rotation about z, rad, as a message.
pub fn turn(heading: f64) -> Quaternion {
    quaternion(rotation_about_z(heading))
}

/// The rotation about z of any rotation, rad: the reverse of [`turn`].
pub fn heading(turn: &Quaternion) -> f64 {
    yaw([turn.x, turn.y, turn.z, turn.w])
}

/// The pose in the plane of a message. Not checked.
pub fn planar(pose: &Pose) -> dragoman_geometry::Pose {
    dragoman_geometry::Pose::new(pose.position.x, pose.position.y, heading(&pose.orientation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_converted_and_back() {
        let (position, rotation) = ([1.0, -2.0, 3.0], [0.5, -0.5, 0.5, 0.5]);
        assert_eq!(pose(&(position, rotation)).parts(), (position, rotation));
        let place = dragoman_geometry::Pose::new(1.0, -2.0, 0.75);
        let back = planar(&pose(&place));
        assert_eq!((back.x, back.y), (1.0, -2.0));
        assert!((back.heading - 0.75).abs() < 1e-12);
        let stamp = Time { sec: 3, nanosec: 4 };
        let message = transform(&stamp, "odom", "base", &place);
        assert_eq!((message.header.stamp, message.header.frame_id.as_str()), (stamp, "odom"));
        assert_eq!((message.child_frame_id.as_str(), message.transform.translation.y), ("base", -2.0));
        assert_eq!(message.transform.rotation, turn(0.75));
    }
}
