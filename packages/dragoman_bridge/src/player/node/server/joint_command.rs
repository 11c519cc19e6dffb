//! Sends positions to a joint on topic `<joint>/command`, which all arms of Dragoman have.
//!
//! A Player client sends a command once, and gets no answer. So a position waits until the topic has a subscriber, and
//! until no motion pipeline controls the arm. A newer position replaces a waiting one.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::naming::{joint_name, joint_token};
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, dragoman_msgs, std_msgs};
use parking_lot::Mutex;
use serde::Deserialize;

use super::driver::{DISCOVERY, Service, qualified_name, service_outcome};
use crate::BridgeError;
use crate::player::server::Outcome;

/// Period of the check for subscribers.
const CHECK_PERIOD: Duration = Duration::from_millis(20);
/// The mode in which a motion pipeline does not command the joints.
const OFF: u8 = 0;

/// The name of a joint. A table has either this name or the name in the joint's topics.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub(super) struct JointName(String);

impl From<String> for JointName {
    fn from(given: String) -> Self {
        Self(joint_name(&given).into_owned())
    }
}

impl Deref for JointName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// Commands of a joint. Clones share it.
#[derive(Clone)]
pub(super) struct JointCommand(Arc<Inner>);

struct Inner {
    topic: String,
    publisher: SharedPublisher<std_msgs::msg::Float64>,
    pipeline: Option<Arc<Pipeline>>,
    waiting: Mutex<WaitingPosition>,
}

#[derive(Default)]
struct WaitingPosition {
    /// The waiting position, rad or m.
    position: Option<f64>,
    /// Whether a task waits for a subscriber.
    has_task: bool,
}

impl JointCommand {
    /// Commands of a joint whose arm may be controlled by a motion pipeline.
    pub(super) fn new(
        tasks: &mut NodeTasks,
        namespace: &str,
        joint: &str,
        pipeline: Option<Arc<Pipeline>>,
    ) -> Result<Self, BridgeError> {
        let topic = qualified_name(namespace, &format!("{}/command", joint_token(joint)));
        let publisher = tasks.node().create_publisher(&topic, QosProfile::default())?.into();
        Ok(Self(Arc::new(Inner { topic, publisher, pipeline, waiting: Mutex::default() })))
    }

    /// Moves the joint to a position.
    pub(super) fn send(&self, position: f64) {
        let mut waiting = self.0.waiting.lock();
        let is_free = self.0.pipeline.as_ref().is_none_or(|pipeline| pipeline.is_off());
        if !waiting.has_task && is_free && self.0.publisher.is_listened() {
            return self.0.publish(position);
        }
        waiting.position = Some(position);
        if !std::mem::replace(&mut waiting.has_task, true) {
            dragoman_time::spawn(Arc::clone(&self.0).send_waiting());
        }
    }

    /// Cancels a waiting position.
    pub(super) fn cancel(&self) {
        self.0.waiting.lock().position = None;
    }

    /// Whether the joint obeys positions: no motion pipeline controls it.
    pub(super) fn is_obeyed(&self) -> bool {
        self.0.pipeline.as_ref().is_none_or(|pipeline| !pipeline.is_on())
    }
}

impl Inner {
    fn publish(&self, position: f64) {
        if let Err(error) = self.publisher.publish(&std_msgs::msg::Float64 { data: position }) {
            tracing::warn!(%error, "publishing a command failed");
        }
    }

    async fn send_waiting(self: Arc<Self>) {
        let ready = self.ready().await;
        let mut waiting = self.waiting.lock();
        waiting.has_task = false;
        let Some(position) = waiting.position.take() else { return };
        match ready {
            Ok(_) => self.publish(position),
            Err(reason) => {
                tracing::warn!(reason, position, "command of a Player client failed");
            }
        }
    }

    async fn ready(&self) -> Outcome {
        let listened = async {
            while !self.publisher.is_listened() {
                dragoman_time::sleep(CHECK_PERIOD).await;
            }
        };
        let absent = |_late| format!("{} has no subscriber", self.topic);
        dragoman_time::timeout(DISCOVERY, listened).await.map_err(absent)?;
        match &self.pipeline {
            Some(pipeline) => pipeline.switch_off().await,
            None => Ok(Vec::new()),
        }
    }
}

/// The motion pipeline of an arm. In every mode except off it commands all joints continuously, also at rest.
pub(super) struct Pipeline {
    /// Its mode; `None`: not reported yet.
    mode: Arc<Mutex<Option<u8>>>,
    set_mode: Service<dragoman_msgs::srv::SetCommandMode::Service>,
}

impl Pipeline {
    /// The pipeline with `motion_status` and `set_command_mode` in this namespace.
    pub(super) fn new(tasks: &mut NodeTasks, namespace: &str) -> Result<Self, BridgeError> {
        let mode = Arc::new(Mutex::new(None));
        let reported = Arc::clone(&mode);
        let latched = QosProfile::default().keep_last(1).transient_local();
        let topic = qualified_name(namespace, "motion_status");
        tasks.subscribe(&topic, latched, move |status: dragoman_msgs::msg::MotionStatus| {
            *reported.lock() = Some(status.mode);
        })?;
        Ok(Self { mode, set_mode: Service::new(tasks, &qualified_name(namespace, "set_command_mode"))? })
    }

    fn is_off(&self) -> bool {
        *self.mode.lock() == Some(OFF)
    }

    fn is_on(&self) -> bool {
        self.mode.lock().is_some_and(|mode| mode != OFF)
    }

    /// Switches the pipeline off, so that the joints obey their own topics.
    async fn switch_off(&self) -> Outcome {
        let known = async {
            while self.mode.lock().is_none() {
                dragoman_time::sleep(CHECK_PERIOD).await;
            }
        };
        let is_there = dragoman_time::timeout(DISCOVERY, known).await.is_ok();
        if !is_there || self.is_off() {
            return Ok(Vec::new());
        }
        let request = dragoman_msgs::srv::SetCommandMode::Request { mode: OFF };
        let switched = self
            .set_mode
            .ask(request, |response| service_outcome(response.success, response.message))
            .await?;
        *self.mode.lock() = Some(OFF);
        tracing::info!("motion pipeline switched off by a joint command of a Player client");
        Ok(switched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joint_is_found_by_both_of_its_names() {
        let joints: Vec<JointName> = serde_norway::from_str("[lift.joint, lift_x2ejoint, turn]").unwrap();
        assert_eq!(
            joints.iter().map(|joint| &**joint).collect::<Vec<_>>(),
            ["lift.joint", "lift.joint", "turn"]
        );
    }
}
