//! Frames, transforms and stamps.

use std::collections::BTreeMap;

use dragoman_geometry::{Pose, compose, relative};
use dragoman_neobotix::messages;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Node, Publisher, QosProfile, Result, poses, times};

use super::ClientParameters;
use super::messages::{latched, report, rotation};
use crate::player::wire::common::Pose3d;

/// Frames and transforms of all devices of a server.
pub(super) struct Scene {
    clock: SharedClock,
    uses_server_time: bool,
    prefix: String,
    pub(super) map_frame: String,
    transforms: Option<(Publisher<TFMessage>, Publisher<TFMessage>)>,
    /// Transforms of sensors, by frame.
    fixed: BTreeMap<String, TransformStamped>,
    has_new_fixed: bool,
    /// Last pose of each base in its odometry, by the prefix of its frames.
    odometry: BTreeMap<String, Pose>,
}

impl Scene {
    pub(super) fn new(node: &mut Node, parameters: &ClientParameters) -> Result<Self> {
        Ok(Self {
            clock: node.get_ros_clock(),
            uses_server_time: parameters.server_time,
            prefix: parameters.frame_prefix.clone(),
            map_frame: parameters.map_frame.clone(),
            transforms: if parameters.publish_tf {
                Some((messages::transforms(node)?, node.create_publisher("/tf_static", latched())?))
            } else {
                None
            },
            fixed: BTreeMap::new(),
            has_new_fixed: false,
            odometry: BTreeMap::new(),
        })
    }

    /// The time stamp of data that was measured at `timestamp`, s.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    pub(super) fn stamp(&self, timestamp: f64) -> Time {
        if self.uses_server_time && (0.0..f64::from(i32::MAX)).contains(&timestamp) {
            let (sec, nanosec) = (timestamp.trunc() as i32, (timestamp.fract() * 1e9) as u32);
            return Time { sec, nanosec: nanosec.min(999_999_999) };
        }
        self.now()
    }

    pub(super) fn now(&self) -> Time {
        times::stamp(&self.clock)
    }

    /// The name of a frame.
    pub(super) fn frame(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// A header without a frame, for data such as joint states.
    pub(super) fn header(&self, stamp: &Time, frame: &str) -> Header {
        let frame_id = if frame.is_empty() { String::new() } else { self.frame(frame) };
        Header { stamp: stamp.clone(), frame_id }
    }

    /// Publishes the pose of a base, whose frames begin with `base`, in its odometry.
    pub(super) fn place_base(&mut self, stamp: &Time, base: &str, pose: Pose) {
        let (odom, child) =
            (self.frame(&format!("{base}odom")), self.frame(&format!("{base}base_footprint")));
        self.send(poses::transform(stamp, odom, child, &pose));
        self.odometry.insert(base.to_owned(), pose);
    }

    /// Publishes the transform from the map to a base's odometry, given the base's pose on the map.
    pub(super) fn place_odometry(&self, stamp: &Time, base: &str, pose: Pose) {
        let Some(odometry) = self.odometry.get(base) else { return };
        let origin = compose(pose, relative(*odometry, Pose::ORIGIN));
        let odom = self.frame(&format!("{base}odom"));
        self.send(poses::transform(stamp, &self.map_frame, odom, &origin));
    }

    /// Sets the pose of `frame` in `parent`; both without the prefix. It is published by [`Scene::publish_fixed`].
    pub(super) fn fix(&mut self, parent: &str, frame: &str, pose: &Pose3d) {
        let position = &pose.position;
        let rotation = rotation(&pose.orientation);
        let is_finite = [position.x, position.y, position.z, rotation.w].into_iter().all(f64::is_finite);
        if !is_finite {
            return;
        }
        let (parent, child) = (self.frame(parent), self.frame(frame));
        let before = self.fixed.get(&child);
        let mut transform = poses::transform(&Time::default(), parent, &child, &Pose::ORIGIN);
        let translation = &mut transform.transform.translation;
        (translation.x, translation.y, translation.z) = (position.x, position.y, position.z);
        transform.transform.rotation = rotation;
        let is_same = before.is_some_and(|before| {
            before.transform == transform.transform && before.header.frame_id == transform.header.frame_id
        });
        if !is_same {
            self.fixed.insert(child, transform);
            self.has_new_fixed = true;
        }
    }

    /// Publishes the poses of sensors, if they have changed.
    pub(super) fn publish_fixed(&mut self) {
        if !std::mem::take(&mut self.has_new_fixed) {
            return;
        }
        let stamp = self.now();
        let transforms = self.fixed.values().map(|transform| {
            let mut transform = transform.clone();
            transform.header.stamp = stamp.clone();
            transform
        });
        if let Some((_, fixed)) = &self.transforms {
            report(fixed.publish(&TFMessage { transforms: transforms.collect() }), "/tf_static");
        }
    }

    fn send(&self, transform: TransformStamped) {
        if let Some((moving, _)) = &self.transforms {
            report(moving.publish(&TFMessage { transforms: vec![transform] }), "/tf");
        }
    }
}

/// Creates a publisher with the usual quality of service.
pub(super) fn publisher<T: dragoman_ros::WrappedTypesupport + 'static>(
    node: &mut Node,
    topic: &str,
) -> Result<Publisher<T>> {
    node.create_publisher(topic, QosProfile::default())
}
