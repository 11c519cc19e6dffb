//! Data of mobile robots as messages, for our own platform and for the client sides of the bridge.

use dragoman_geometry::{Point, Pose, Segment};
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::nav_msgs::msg::Path;
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, Result, poses};

pub use crate::grid::message as grid;

/// A path along these points, each facing the next, the last with the direction of the goal, rad, if known.
pub fn path(header: &Header, points: &[Point], goal_heading: Option<f64>) -> Path {
    let directions = Segment::chain(points).map(|segment| segment.heading());
    let last = directions.clone().next_back().unwrap_or(0.0);
    let headings = directions.chain([goal_heading.unwrap_or(last)]);
    let pose = |(point, heading): (&Point, f64)| {
        let pose = poses::pose(&Pose::new(point.x, point.y, heading));
        PoseStamped { header: header.clone(), pose }
    };
    Path { header: header.clone(), poses: points.iter().zip(headings).map(pose).collect() }
}

/// The topic of transforms.
///
/// # Errors
/// An error of the middleware.
pub fn transforms(node: &mut Node) -> Result<Publisher<TFMessage>> {
    node.create_publisher("/tf", QosProfile::default().keep_last(100))
}
