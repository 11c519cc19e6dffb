//! Robots with descriptions, for display in rviz2: their URDFs, and the poses of their links.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile, poses};

use super::frames::prefix;
use super::{Live, NodeState, WorldNodeError};
use crate::Object;

/// Publishes the descriptions once. The publishers keep them for late subscribers.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<Vec<Publisher<Text>>, WorldNodeError> {
    let mut publishers = Vec::new();
    for (prefix, urdf) in live.with(found) {
        let latched = QosProfile::default().keep_last(1).transient_local();
        let publisher = tasks.node().create_publisher(&format!("{prefix}/robot_description"), latched)?;
        publisher.publish(&Text { data: urdf })?;
        publishers.push(publisher);
    }
    Ok(publishers)
}

/// Prefix and description of all robots without a driver of their own.
fn found(state: &mut NodeState) -> Vec<(String, String)> {
    let driven: Vec<&str> = state.driven.iter().map(|driven| driven.robot.name.as_str()).collect();
    let mut found = Vec::new();
    for (at, world) in state.pace.worlds().worlds().iter().enumerate() {
        for object in world.objects().iter().filter(|object| !driven.contains(&object.name())) {
            let described = object.description().map(|description| description.urdf.clone());
            found.extend(described.map(|urdf| (prefix(at, world, object.name()), urdf)));
        }
    }
    found
}

/// The links of a robot on wheels, relative to its `base_footprint`.
pub(super) fn transforms(robot: &Object, prefix: &str, stamp: &Time) -> Vec<TransformStamped> {
    let base = format!("{prefix}/base_footprint");
    let links = robot.description().map(|description| description.links.as_slice()).unwrap_or_default();
    links
        .iter()
        .map(|(link, pose)| poses::transform(stamp, &base, format!("{prefix}/{link}"), pose))
        .collect()
}
