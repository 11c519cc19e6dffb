//! `localize` from transforms and odometry: where a robot is on its map.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragoman_geometry::{Pose, compose, yaw};
use dragoman_ros::{QosProfile, builtin_interfaces, dragoman_msgs, geometry_msgs, tf2_msgs};
use serde::Deserialize;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, acknowledged, done, refused};
use crate::BridgeError;
use crate::player::wire::Device;
use crate::player::wire::common::Pose2d;
use crate::player::wire::localize::{
    GET_PARTICLES, HYPOTHESES, Hypotheses, Hypothesis, Particle, Particles, SET_POSE,
};

/// How often the pose is sent.
const PERIOD: Duration = Duration::from_millis(100);

/// The ROS names of a robot on a map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Topic with `tf2_msgs/TFMessage`.
    #[serde(default = "default_transforms")]
    transforms: String,
    /// Frame of the map.
    map: String,
    /// Frame of the robot; the transforms lead from the map to it.
    robot_frame: String,
    /// Service `dragoman_msgs/PlatformSetPose`; without it, clients cannot set the pose.
    #[serde(default)]
    set_pose: Option<String>,
}

fn default_transforms() -> String {
    "tf".to_owned()
}

/// The last transform to each frame, with the frame that it is from, on the plane.
#[derive(Default)]
struct Frames(HashMap<String, (String, Pose, builtin_interfaces::msg::Time)>);

impl Frames {
    /// Pose of `frame` in `root`, and when it was measured.
    fn pose(&self, root: &str, frame: &str) -> Option<(Pose, builtin_interfaces::msg::Time)> {
        let (mut parent, mut pose, stamp) = self.0.get(frame)?.clone();
        // A circle of transforms has no root.
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

struct Localization {
    frames: Arc<Mutex<Frames>>,
    names: Names,
    set_pose: Option<Service<dragoman_msgs::srv::PlatformSetPose::Service>>,
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let set_pose = match &names.set_pose {
        Some(service) => Some(Service::new(&mut tasks, service)?),
        None => None,
    };
    let frames = Arc::new(Mutex::new(Frames::default()));
    let known = Arc::clone(&frames);
    let qos = QosProfile::default().keep_last(100);
    tasks.subscribe(&names.transforms, qos, move |message: tf2_msgs::msg::TFMessage| {
        let mut frames = known.lock().unwrap_or_else(PoisonError::into_inner);
        for geometry_msgs::msg::TransformStamped { header, child_frame_id, transform } in message.transforms {
            let q = &transform.rotation;
            let pose = Pose::new(transform.translation.x, transform.translation.y, yaw([q.x, q.y, q.z, q.w]));
            frames.0.insert(child_frame_id, (header.frame_id, pose, header.stamp));
        }
    })?;
    let (known, of) = (Arc::clone(&frames), names.clone());
    let mut last = builtin_interfaces::msg::Time::default();
    tasks.every(PERIOD, move || {
        let found = known.lock().unwrap_or_else(PoisonError::into_inner).pose(&of.map, &of.robot_frame);
        // An old pose is not sent again.
        if let Some((pose, stamp)) = found
            && stamp != last
        {
            let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
            let time = f64::from(stamp.sec) + f64::from(stamp.nanosec) * 1e-9;
            let hypotheses = vec![Hypothesis { mean, covariance: [0.0; 6], weight: 1.0 }];
            feed.send(&HYPOTHESES, &stamp, &Hypotheses { pending: 0, time, hypotheses });
            last = stamp;
        }
    })?;
    Ok(Opened::new(Localization { frames, names: names.clone(), set_pose }, tasks)?)
}

impl Driver for Localization {
    fn handle_command(&mut self, subtype: u8, _body: &[u8]) -> Result<(), String> {
        Err(format!("a localization has no command {subtype}"))
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Answer {
        match subtype {
            subtype if subtype == SET_POSE.subtype => match (SET_POSE.question(body), &self.set_pose) {
                (Ok(estimate), Some(service)) => {
                    let Pose2d { x, y, yaw } = estimate.mean;
                    let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                    let request = dragoman_msgs::srv::PlatformSetPose::Request { pose };
                    service.ask(request, |response| done(response.success, response.message))
                }
                (Err(error), _) => refused(error.to_string()),
                (Ok(_), None) => refused("the table names no service that sets the pose"),
            },
            subtype if subtype == GET_PARTICLES.subtype => {
                let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
                let Some((pose, _)) = frames.pose(&self.names.map, &self.names.robot_frame) else {
                    return refused("the robot's pose on the map is not known yet");
                };
                let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
                let particles = vec![Particle { pose: mean.clone(), weight: 1.0 }];
                acknowledged(&Particles { mean, variance: 0.0, particles })
            }
            _ => refused(format!("the localization has no request {subtype}")),
        }
    }
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
