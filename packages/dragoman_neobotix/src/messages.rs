//! Data of mobile robots as messages, for our own platform and for the client sides of the bridge.

use dragoman_geometry::{Point, Pose, rotation_about_z, yaw};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{PoseStamped, Quaternion, TransformStamped};
use dragoman_ros::nav_msgs::msg::Path;
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, Result};

pub use crate::grid::message as grid;

/// A path along these points, each facing the next, the last with the direction of the goal, rad, if known.
pub fn path(header: &Header, points: &[Point], goal_heading: Option<f64>) -> Path {
    let direction = |pair: &[Point]| dragoman_geometry::heading(pair[0], pair[1]);
    let last = points.windows(2).last().map_or(0.0, direction);
    let headings = points.windows(2).map(direction).chain([goal_heading.unwrap_or(last)]);
    let pose = |(point, heading): (&Point, f64)| {
        let mut pose = PoseStamped { header: header.clone(), ..Default::default() };
        (pose.pose.position.x, pose.pose.position.y) = (point.x, point.y);
        pose.pose.orientation = quaternion(heading);
        pose
    };
    Path { header: header.clone(), poses: points.iter().zip(headings).map(pose).collect() }
}

/// A pose of one frame in another.
pub fn transform(stamp: &Time, parent: &str, child: &str, pose: Pose) -> TransformStamped {
    let mut message = TransformStamped { child_frame_id: child.to_owned(), ..Default::default() };
    message.header.stamp = stamp.clone();
    parent.clone_into(&mut message.header.frame_id);
    (message.transform.translation.x, message.transform.translation.y) = (pose.x, pose.y);
    message.transform.rotation = quaternion(pose.heading);
    message
}

/// A turn about z, rad.
pub fn quaternion(heading: f64) -> Quaternion {
    let [x, y, z, w] = rotation_about_z(heading);
    Quaternion { x, y, z, w }
}

/// The reverse of [`quaternion`], for any rotation.
pub fn heading(turn: &Quaternion) -> f64 {
    yaw([turn.x, turn.y, turn.z, turn.w])
}

/// The topic of transforms.
///
/// # Errors
/// An error of the middleware.
pub fn transforms(node: &mut Node) -> Result<Publisher<TFMessage>> {
    node.create_publisher("/tf", QosProfile::default().keep_last(100))
}
