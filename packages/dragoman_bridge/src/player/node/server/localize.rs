//! `localize` from transforms and odometry: where a robot is on its map.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::times::Seconds;
use dragoman_ros::{builtin_interfaces, dragoman_msgs, geometry_msgs};
use futures::FutureExt;
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, acknowledged, done, other_interface};
use super::frames::{self, Frames};
use crate::BridgeError;
use crate::player::wire::common::Pose2d;
use crate::player::wire::localize::{
    Estimate, HYPOTHESES, Hypotheses, Hypothesis, Particle, Particles, Request, SET_POSE,
};
use crate::player::wire::{self, Device, Kind};

/// How often the pose is sent.
const PERIOD: Duration = Duration::from_millis(100);
/// How often it is looked for a pose that was set, and the time limit of that.
const LOOK: Duration = Duration::from_millis(10);
const SET_LIMIT: Duration = Duration::from_secs(1);
/// New transforms after which a pose that was set is the known one: the first may have been on its way.
const NEW_TRANSFORMS: usize = 2;

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
    let set_pose = names.set_pose.as_ref().map(|service| Service::new(&mut tasks, service)).transpose()?;
    let frames = frames::listen(&mut tasks, &names.transforms)?;
    let (known, of) = (Arc::clone(&frames), names.clone());
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
    Ok(Opened::new(Localization { frames, names: names.clone(), set_pose }, tasks)?)
}

/// Waits until the transforms show a pose that was set.
async fn follow(frames: &Mutex<Frames>, names: &Names) {
    let begun = dragoman_time::now();
    let stamp = || frames.lock().pose(&names.map, &names.robot_frame).map(|(_, stamp)| stamp);
    for _ in 0..NEW_TRANSFORMS {
        let last = stamp();
        while stamp() == last && dragoman_time::since(begun) < SET_LIMIT {
            dragoman_time::sleep(LOOK).await;
        }
    }
}

impl Driver for Localization {
    fn handle_request(&mut self, request: wire::Request) -> Result<Answer, String> {
        let wire::Request::Localize(request) = request else { return other_interface() };
        Ok(match request {
            Request::SetPose(Estimate { mean: Pose2d { x, y, yaw }, .. }) => {
                let service =
                    self.set_pose.as_ref().ok_or("the table names no service that sets the pose")?;
                let pose = geometry_msgs::msg::Pose2D { x, y, theta: yaw };
                let request = dragoman_msgs::srv::PlatformSetPose::Request { pose };
                let set = service.ask(request, |response| done(response.success, response.message));
                let (frames, names) = (Arc::clone(&self.frames), self.names.clone());
                async move {
                    let answer = set.await?;
                    follow(&frames, &names).await;
                    Ok(answer)
                }
                .boxed()
            }
            Request::GetParticles => {
                let frames = self.frames.lock();
                let (pose, _) = frames
                    .pose(&self.names.map, &self.names.robot_frame)
                    .ok_or("the robot's pose on the map is not known yet")?;
                let mean = Pose2d { x: pose.x, y: pose.y, yaw: pose.heading };
                let particles = vec![Particle { pose: mean.clone(), weight: 1.0 }];
                acknowledged(&Particles { mean, variance: 0.0, particles })
            }
        })
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        let set = self.set_pose.is_none().then_some(SET_POSE.id());
        set.into_iter().collect()
    }
}
