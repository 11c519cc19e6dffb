//! `localize` from transforms and odometry: the pose of a robot on its map.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::times::Seconds;
use dragoman_ros::{builtin_interfaces, dragoman_msgs, geometry_msgs};
use futures::FutureExt;
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{
    Driver, Feed, Opened, OutcomeFuture, Service, Setup, acknowledged, other_interface, service_outcome,
};
use super::frames::{self, Frames};
use crate::BridgeError;
use crate::player::wire::common::Pose2d;
use crate::player::wire::localize::{
    Estimate, HYPOTHESES, Hypotheses, Hypothesis, Particle, Particles, Request, SET_POSE,
};
use crate::player::wire::{self, Device, MessageKind};

/// Period in which the pose is sent.
const PERIOD: Duration = Duration::from_millis(100);
/// Period and time limit of the check whether the transforms show a new pose.
const CHECK_PERIOD: Duration = Duration::from_millis(10);
const SET_LIMIT: Duration = Duration::from_secs(1);
/// Number of new transforms after which a pose that was set is in them: the first one may have been sent before.
const NEW_TRANSFORMS: usize = 2;

/// Entry of a robot's localization in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocalizeConfig {
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
    config: LocalizeConfig,
    set_pose: Option<Service<dragoman_msgs::srv::PlatformSetPose::Service>>,
}

pub(super) fn open(
    config: &LocalizeConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let set_pose = config.set_pose.as_ref().map(|service| Service::new(&mut tasks, service)).transpose()?;
    let frames = frames::listen(&mut tasks, &config.transforms)?;
    let (known, of) = (Arc::clone(&frames), config.clone());
    let mut last = builtin_interfaces::msg::Time::default();
    tasks.every(PERIOD, move || {
        let found = known.lock().pose(&of.map, &of.robot_frame);
        // An old pose is not sent again.
        if let Some((pose, stamp)) = found
            && stamp != last
        {
            let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
            let time = stamp.seconds();
            let hypotheses = vec![Hypothesis { mean, covariance: [0.0; 6], weight: 1.0 }];
            feed.send(&HYPOTHESES, &stamp, &Hypotheses { pending: 0, time, hypotheses });
            last = stamp;
        }
    })?;
    Ok(Opened::new(Localization { frames, config: config.clone(), set_pose }, tasks)?)
}

/// Waits until the transforms show a pose that was set.
async fn wait_for_pose(frames: &Mutex<Frames>, config: &LocalizeConfig) {
    let begun = dragoman_time::now();
    let stamp = || frames.lock().pose(&config.map, &config.robot_frame).map(|(_, stamp)| stamp);
    for _ in 0..NEW_TRANSFORMS {
        let last = stamp();
        while stamp() == last && dragoman_time::since(begun) < SET_LIMIT {
            dragoman_time::sleep(CHECK_PERIOD).await;
        }
    }
}

impl Driver for Localization {
    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Localize(request) = request else { return other_interface() };
        Ok(match request {
            Request::SetPose(Estimate { mean: Pose2d { x, y, yaw }, .. }) => {
                let service =
                    self.set_pose.as_ref().ok_or("the table names no service that sets the pose")?;
                let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                let request = dragoman_msgs::srv::PlatformSetPose::Request { pose };
                let set =
                    service.ask(request, |response| service_outcome(response.success, response.message));
                let (frames, config) = (Arc::clone(&self.frames), self.config.clone());
                async move {
                    let answer = set.await?;
                    wait_for_pose(&frames, &config).await;
                    Ok(answer)
                }
                .boxed()
            }
            Request::GetParticles => {
                let frames = self.frames.lock();
                let (pose, _) = frames
                    .pose(&self.config.map, &self.config.robot_frame)
                    .ok_or("the robot's pose on the map is not known yet")?;
                let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
                let particles = vec![Particle { pose: mean.clone(), weight: 1.0 }];
                acknowledged(&Particles { mean, variance: 0.0, particles })
            }
        })
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        let set = self.set_pose.is_none().then_some(SET_POSE.id());
        set.into_iter().collect()
    }
}
