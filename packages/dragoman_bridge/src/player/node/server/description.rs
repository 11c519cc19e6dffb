//! Geometry of an arm from its description, a URDF on a topic.

use std::sync::Arc;

use dragoman_kinematics::Model;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, std_msgs};
use dragoman_time::watch;
use nalgebra::Isometry3;
use serde::Deserialize;

use super::driver::DISCOVERY;
use crate::player::wire::common::{Orientation3d, Point3d, Pose3d};

/// Topic and chain of a robot description.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescriptionConfig {
    /// Topic with `std_msgs/String`: a URDF.
    topic: String,
    /// The link whose frame is the robot's frame; the root by default.
    #[serde(default)]
    base: Option<String>,
    /// The last link of the chain; by default the only link without a child joint.
    #[serde(default)]
    tip: Option<String>,
}

/// The chain of the newest description.
pub(super) type Newest = watch::Receiver<Option<Arc<Model>>>;

/// Subscribes to the description, if `config` has one.
pub(super) fn listen(
    config: Option<&DescriptionConfig>,
    tasks: &mut NodeTasks,
) -> dragoman_ros::Result<Option<Newest>> {
    let Some(config) = config else { return Ok(None) };
    let (sender, newest) = watch::channel(None);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let of = config.clone();
    tasks.subscribe(
        &config.topic,
        latched,
        move |description: std_msgs::msg::String| match Model::from_urdf(
            &description.data,
            of.base.as_deref(),
            of.tip.as_deref(),
        ) {
            Ok(model) => {
                sender.send_replace(Some(Arc::new(model)));
            }
            Err(error) => tracing::warn!(%error, topic = of.topic, "robot description refused"),
        },
    )?;
    Ok(Some(newest))
}

/// Waits for a description for [`DISCOVERY`]. Clients request the geometry first, so they are answered without a
/// description as well.
pub(super) async fn newest(received: Option<Newest>) -> Option<Arc<Model>> {
    let mut received = received?;
    let waited = dragoman_time::timeout(DISCOVERY, received.wait_for(Option::is_some)).await;
    waited.ok()?.ok()?.clone()
}

/// A pose in Player's form.
pub(super) fn pose(pose: &Isometry3<f64>) -> Pose3d {
    let (x, y, z) = (pose.translation.x, pose.translation.y, pose.translation.z);
    let (roll, pitch, yaw) = pose.rotation.euler_angles();
    Pose3d { position: Point3d { x, y, z }, orientation: Orientation3d { roll, pitch, yaw } }
}

/// Length and direction of the link behind a joint, and its axis.
pub(super) struct LinkGeometry {
    /// To the next joint, m.
    pub(super) length: f64,
    /// Rotation of the joint's x axis to that direction.
    pub(super) direction: Orientation3d,
    /// In the joint's frame.
    pub(super) axis: Point3d,
}

/// The link behind a joint; `None`: the chain has no such joint.
pub(super) fn link(model: &Model, joint: &str) -> Option<LinkGeometry> {
    let index = model.joints().iter().position(|known| known.name == joint)?;
    let axis = model.axes().nth(index)?;
    let next = model.origins().nth(index + 1).unwrap_or_else(|| model.tool());
    let way = next.translation.vector;
    let direction = Orientation3d {
        roll: 0.0,
        pitch: -way.z.atan2(way.x.hypot(way.y)),
        yaw: if way.x.hypot(way.y) > 1e-9 { way.y.atan2(way.x) } else { 0.0 },
    };
    Some(LinkGeometry { length: way.norm(), direction, axis: Point3d { x: axis.x, y: axis.y, z: axis.z } })
}

/// The pose of the last link with all joints at zero.
pub(super) fn tip(model: &Model) -> Pose3d {
    let chain = model.origins().fold(Isometry3::identity(), |pose, origin| pose * origin);
    pose(&(chain * model.tool()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURTLEBOT: &str = include_str!("../../../../../../urdf/turtlebot2_widowx.urdf");

    #[test]
    fn links_have_the_lengths_and_axes_of_the_description() {
        let model = Model::from_urdf(TURTLEBOT, None, Some("gripper_rail_link")).unwrap();
        // The wrist: its origin is 0.043 m behind the rail of the gripper, along x.
        let last = link(&model, "arm_5_joint").unwrap();
        assert!((last.length - 0.043).abs() < 1e-9, "{}", last.length);
        assert!(last.direction.yaw.abs() < 1e-9 && last.direction.pitch.abs() < 1e-9);
        assert_eq!((last.axis.x, last.axis.z), (1.0, 0.0));
        let first = link(&model, "arm_1_joint").unwrap();
        assert_eq!((first.axis.x, first.axis.z), (0.0, 1.0));
        assert!(link(&model, "wheel").is_none());
        let Pose3d { position, .. } = tip(&model);
        assert!(position.z > 0.3, "{position:?}");
    }
}
