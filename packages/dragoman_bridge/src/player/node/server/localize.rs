//! `localize` from transforms and odometry: where a robot is on its map.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dragoman_ros::{builtin_interfaces, dragoman_msgs, geometry_msgs};
use serde::Deserialize;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, acknowledged, done};
use super::frames::{self, Frames};
use crate::BridgeError;
use crate::player::wire::common::Pose2d;
use crate::player::wire::localize::{
    GET_PARTICLES, HYPOTHESES, Hypotheses, Hypothesis, Particle, Particles, SET_POSE,
};
use crate::player::wire::{Device, Kind};

/// How often the pose is sent.
const PERIOD: Duration = Duration::from_millis(100);

/// The ROS names of a robot on a map.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Topic with `tf2_msgs/TFMessage`.
    #[serde(default = "frames::default_topic")]
    transforms: String,
    /// Frame of the map.
    map: String,
    /// Frame of the robot; the transforms lead from the map to it.
    robot_frame: String,
    /// Service `dragoman_msgs/PlatformSetPose`; without it, clients cannot set the pose.
    #[serde(default)]
    set_pose: Option<String>,
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
    let frames = frames::listen(&mut tasks, &names.transforms)?;
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

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        Ok(match subtype {
            subtype if subtype == SET_POSE.subtype => {
                let Pose2d { x, y, yaw } = SET_POSE.question(body)?.mean;
                let service =
                    self.set_pose.as_ref().ok_or("the table names no service that sets the pose")?;
                let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                let request = dragoman_msgs::srv::PlatformSetPose::Request { pose };
                service.ask(request, |response| done(response.success, response.message))
            }
            subtype if subtype == GET_PARTICLES.subtype => {
                let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
                let (pose, _) = frames
                    .pose(&self.names.map, &self.names.robot_frame)
                    .ok_or("the robot's pose on the map is not known yet")?;
                let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
                let particles = vec![Particle { pose: mean.clone(), weight: 1.0 }];
                acknowledged(&Particles { mean, variance: 0.0, particles })
            }
            _ => return Err(format!("the localization has no request {subtype}")),
        })
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        let set = self.set_pose.is_none().then_some((Kind::Request, SET_POSE.subtype));
        set.into_iter().collect()
    }
}
