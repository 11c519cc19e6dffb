//! Poses of frames on the plane, from transforms.

use std::collections::BTreeMap;
use std::sync::Arc;

use dragoman_geometry::{Pose, compose, yaw};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, builtin_interfaces, geometry_msgs, tf2_msgs};
use parking_lot::Mutex;

/// The last transform of each frame on the plane, with its parent frame.
#[derive(Default)]
pub(super) struct Frames(BTreeMap<String, (String, Pose, builtin_interfaces::msg::Time)>);

impl Frames {
    /// Pose of `frame` in `root`, and the time of the measurement.
    pub(super) fn pose(&self, root: &str, frame: &str) -> Option<(Pose, builtin_interfaces::msg::Time)> {
        let (mut parent, mut pose, stamp) = self.0.get(frame)?.clone();
        // A cycle of transforms has no root.
        for _ in 0..self.0.len() {
            if parent == root {
                return Some((pose, stamp));
            }
            let (next, outer, _) = self.0.get(&parent)?;
            pose = compose(*outer, pose);
            parent.clone_from(next);
        }
        None
    }
}

/// Default topic of the transforms.
pub(super) fn default_topic() -> String {
    "tf".to_owned()
}

/// Collects the transforms of a topic.
pub(super) fn listen(tasks: &mut NodeTasks, topic: &str) -> dragoman_ros::Result<Arc<Mutex<Frames>>> {
    let frames = Arc::new(Mutex::new(Frames::default()));
    let known = Arc::clone(&frames);
    let qos = QosProfile::default().keep_last(100);
    tasks.subscribe(topic, qos, move |message: tf2_msgs::msg::TFMessage| {
        let mut frames = known.lock();
        for geometry_msgs::msg::TransformStamped { header, child_frame_id, transform } in message.transforms {
            let q = &transform.rotation;
            let pose = Pose::new(transform.translation.x, transform.translation.y, yaw([q.x, q.y, q.z, q.w]));
            frames.0.insert(child_frame_id, (header.frame_id, pose, header.stamp));
        }
    })?;
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_composed_along_the_frames() {
        let mut frames = Frames::default();
        let mut link = |child: &str, parent: &str, pose: Pose| {
            frames.0.insert(child.to_owned(), (parent.to_owned(), pose, Default::default()));
        };
        link("odom", "map", Pose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2));
        link("base", "odom", Pose::new(0.5, 0.0, 0.0));
        link("a", "b", Pose::default());
        link("b", "a", Pose::default());
        let (pose, _) = frames.pose("map", "base").unwrap();
        assert!((pose.x - 1.0).abs() < 1e-12 && (pose.y - 2.5).abs() < 1e-12, "{pose:?}");
        assert!(frames.pose("map", "a").is_none() && frames.pose("map", "nowhere").is_none());
    }
}
