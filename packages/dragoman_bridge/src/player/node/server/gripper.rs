//! `gripper` from a joint that has `<joint>/command`, as the joints of all arms of Dragoman.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{QosProfile, sensor_msgs};
use futures::future::FutureExt;
use parking_lot::Mutex;
use serde::Deserialize;

use super::description;
use super::driver::{DISCOVERY, Driver, Feed, Opened, OutcomeFuture, Setup, other_interface};
use super::joint_command::{JointCommand, JointName};
use super::joints::{MOVING, joint_state, measured};
use crate::BridgeError;
use crate::player::wire::common::Size3d;
use crate::player::wire::gripper::{self, Command, Fingers, Request};
use crate::player::wire::{self, Device, MessageKind, Xdr};

/// Fingers count as open up to this part of their range.
const NEAR: f64 = 0.04;

/// Entry of a gripper in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GripperConfig {
    /// Topic with `sensor_msgs/JointState`.
    joint_states: String,
    /// Its joint.
    joint: JointName,
    /// Namespace of `<joint>/command`.
    #[serde(default)]
    namespace: String,
    /// The joint's position with open fingers, rad or m.
    open: f32,
    /// The joint's position with closed fingers.
    closed: f32,
    /// Length, width and height, m; 0 stands for unknown in Player's own clients.
    #[serde(default)]
    outer_size: [f64; 3],
    /// Length, width and height of the space between the open fingers, m.
    #[serde(default)]
    inner_size: [f64; 3],
    /// Source of the gripper's pose on the robot, which is the pose of the last link; without it the pose is zero.
    #[serde(default)]
    description: Option<description::DescriptionConfig>,
}

impl GripperConfig {
    pub(super) fn check(&self) -> Result<(), String> {
        let mut lengths = self.outer_size.iter().chain(&self.inner_size);
        if lengths.all(|length| length.is_finite() && *length >= 0.0) {
            Ok(())
        } else {
            Err("sizes are finite and not negative".to_owned())
        }
    }

    /// The geometry without the pose.
    fn sizes(&self) -> gripper::Geometry {
        let size = |[length, width, height]: [f64; 3]| Size3d { width, length, height };
        let (outer_size, inner_size) = (size(self.outer_size), size(self.inner_size));
        gripper::Geometry { outer_size, inner_size, ..gripper::Geometry::default() }
    }
}

struct Gripper {
    config: GripperConfig,
    command: JointCommand,
    position: Arc<Mutex<Option<f32>>>,
    description: Option<description::Newest>,
}

pub(super) fn open(
    config: &GripperConfig,
    device: Device,
    setup: &Setup,
    feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let command = JointCommand::new(&mut tasks, &config.namespace, &config.joint, None)?;
    let position = Arc::new(Mutex::new(None));
    let (last, of) = (Arc::clone(&position), config.clone());
    tasks.subscribe(
        &config.joint_states,
        QosProfile::sensor_data(),
        move |state: sensor_msgs::msg::JointState| {
            let Some(values) = measured(&state, &of.joint) else { return };
            *last.lock() = Some(joint_state(values).position);
            let state_of_gripper = gripper::State { fingers: fingers(&of, values), beams: 0, stored: 0 };
            feed.send(&gripper::STATE, &state.header.stamp, &state_of_gripper);
        },
    )?;
    let description = description::listen(config.description.as_ref(), &mut tasks)?;
    Ok(Opened::new(Gripper { config: config.clone(), command, position, description }, tasks)?)
}

/// Fingers that stand between open and closed hold an object, so they count as closed.
fn fingers(config: &GripperConfig, [position, speed]: [f64; 2]) -> Fingers {
    let (open, closed) = (f64::from(config.open), f64::from(config.closed));
    let way = (position - open) / (closed - open);
    match way {
        way if way < NEAR => Fingers::Open,
        _ if speed.abs() > MOVING => Fingers::Moving,
        _ => Fingers::Closed,
    }
}

impl Driver for Gripper {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Gripper(command) = command else { return other_interface() };
        let position = match command {
            Command::Open => self.config.open,
            Command::Close => self.config.closed,
            Command::Stop => (*self.position.lock()).ok_or("the gripper has not been measured yet")?,
            Command::Store | Command::Retrieve => return Err("the gripper has no store".to_owned()),
        };
        self.command.send(position.into());
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Gripper(Request::GetGeometry) = request else { return other_interface() };
        let received = self.description.clone();
        let mut geometry = self.config.sizes();
        Ok(async move {
            let model = description::newest(received).await;
            geometry.pose = model.as_deref().map(description::tip).unwrap_or_default();
            Ok(geometry.to_bytes())
        }
        .boxed())
    }

    fn shutdown_delay(&self) -> Duration {
        // A command may wait for a subscriber.
        DISCOVERY + Duration::from_secs(1)
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        vec![gripper::STORE.id(), gripper::RETRIEVE.id()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingers_that_stand_still_on_something_are_closed() {
        let config = GripperConfig {
            joint_states: String::new(),
            joint: String::new().into(),
            namespace: String::new(),
            open: 0.0,
            closed: 2.5,
            outer_size: [0.0; 3],
            inner_size: [0.0; 3],
            description: None,
        };
        assert_eq!(fingers(&config, [0.02, 0.0]), Fingers::Open);
        assert_eq!(fingers(&config, [1.0, 0.5]), Fingers::Moving);
        assert_eq!(fingers(&config, [1.6, 0.0]), Fingers::Closed);
        assert_eq!(fingers(&config, [2.5, 0.0]), Fingers::Closed);
    }

    #[test]
    fn sizes_are_those_of_the_table() {
        let read = |sizes: &str| -> GripperConfig {
            let text = format!("{{ joint_states: a, joint: b, open: 0, closed: 1{sizes} }}");
            serde_norway::from_str(&text).unwrap()
        };
        let config = read(", outer_size: [0.06, 0.075, 0.03], inner_size: [0.045, 0.037, 0.02]");
        assert_eq!(config.check(), Ok(()));
        let gripper::Geometry { outer_size, inner_size, .. } = config.sizes();
        assert_eq!(outer_size, Size3d { length: 0.06, width: 0.075, height: 0.03 });
        assert_eq!(inner_size, Size3d { length: 0.045, width: 0.037, height: 0.02 });
        assert_eq!(read("").sizes(), gripper::Geometry::default());
        assert!(read(", outer_size: [-1, 0, 0]").check().is_err());
        assert!(read(", inner_size: [.nan, 0, 0]").check().is_err());
    }
}
