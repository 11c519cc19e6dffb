//! [`ArmCall`]s as requests to the arm's services.

use std::collections::HashMap;
use std::time::Duration;

use dragoman_ros::dragoman_msgs::srv::{
    Recalibrate, SetCommandMode, SetGoalPose, SetJointGoal, SetJointViaPoint, SetViaPoint,
};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Client, Node, QosProfile, Result, geometry_msgs};
use futures::future::{BoxFuture, FutureExt};

use super::TRIGGERS;
use crate::arm31::wire::Command;
use crate::arm31::{ArmCall, CallId, CommandMode, Outcome, Refusal};

/// How long the answer to a request is awaited; the server core gives up earlier.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// Clients of all services of one arm.
pub(super) struct ArmClients {
    triggers: HashMap<&'static str, Client<Trigger::Service>>,
    set_command_mode: Client<SetCommandMode::Service>,
    set_goal_pose: Client<SetGoalPose::Service>,
    set_via_point: Client<SetViaPoint::Service>,
    set_joint_goal: Client<SetJointGoal::Service>,
    set_joint_via_point: Client<SetJointViaPoint::Service>,
    recalibrate: Client<Recalibrate::Service>,
}

impl ArmClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node) -> Result<Self> {
        let mut triggers = HashMap::new();
        for call in TRIGGERS {
            let name = call.service();
            triggers.insert(name, node.create_client(name, QosProfile::services_default())?);
        }
        let qos = QosProfile::services_default;
        Ok(Self {
            triggers,
            set_command_mode: node.create_client(Command::SetCommandMode.ros_name(), qos())?,
            set_goal_pose: node.create_client(Command::SetGoalPose.ros_name(), qos())?,
            set_via_point: node.create_client(Command::SetViaPoint.ros_name(), qos())?,
            set_joint_goal: node.create_client(Command::SetJointGoal.ros_name(), qos())?,
            set_joint_via_point: node.create_client(Command::SetJointViaPoint.ros_name(), qos())?,
            recalibrate: node.create_client(Command::Recalibrate.ros_name(), qos())?,
        })
    }

    /// Calls the service; the future resolves with the outcome.
    pub(super) fn call(&self, id: CallId, call: ArmCall) -> BoxFuture<'static, (CallId, Outcome)> {
        let answer = match self.request(call) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::warn!(%error, service = call.service(), "sending a request failed");
                std::future::ready(Outcome::Refused(Refusal::Rejected)).boxed()
            }
        };
        async move {
            let outcome = tokio::time::timeout(ANSWER_TIMEOUT, answer).await;
            (id, outcome.unwrap_or(Outcome::Refused(Refusal::TimedOut)))
        }
        .boxed()
    }

    fn request(&self, call: ArmCall) -> Result<BoxFuture<'static, Outcome>> {
        Ok(match call {
            ArmCall::SetCommandMode { mode } => {
                let answer = self.set_command_mode.request(&SetCommandMode::Request { mode: mode.into() })?;
                answer
                    .map(|answer| match answer {
                        Ok(response) if response.success => {
                            CommandMode::try_from(response.mode).map_or(Outcome::Done, Outcome::Mode)
                        }
                        _ => Outcome::Refused(Refusal::Rejected),
                    })
                    .boxed()
            }
            ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration } => {
                let pose = pose(position, quaternion_xyzw);
                let answer = self.set_goal_pose.request(&SetGoalPose::Request { pose, min_duration })?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
            ArmCall::SetViaPoint { index, position, quaternion_xyzw, min_duration } => {
                let pose = pose(position, quaternion_xyzw);
                let answer =
                    self.set_via_point.request(&SetViaPoint::Request { index, pose, min_duration })?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
            ArmCall::SetJointGoal { position, min_duration } => {
                let position = position.to_vec();
                let answer =
                    self.set_joint_goal.request(&SetJointGoal::Request { position, min_duration })?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
            ArmCall::SetJointViaPoint { index, position, min_duration } => {
                let position = position.to_vec();
                let request = SetJointViaPoint::Request { index, position, min_duration };
                let answer = self.set_joint_via_point.request(&request)?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
            ArmCall::Recalibrate { position } => {
                let answer =
                    self.recalibrate.request(&Recalibrate::Request { position: position.to_vec() })?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
            trigger => {
                let Some(client) = self.triggers.get(trigger.service()) else {
                    return Ok(std::future::ready(Outcome::Refused(Refusal::Rejected)).boxed());
                };
                let answer = client.request(&Trigger::Request::default())?;
                answer.map(|answer| outcome(answer.map(|response| response.success))).boxed()
            }
        })
    }
}

fn outcome(success: Result<bool>) -> Outcome {
    if matches!(success, Ok(true)) { Outcome::Done } else { Outcome::Refused(Refusal::Rejected) }
}

fn pose([x, y, z]: [f64; 3], [qx, qy, qz, qw]: [f64; 4]) -> geometry_msgs::msg::Pose {
    geometry_msgs::msg::Pose {
        position: geometry_msgs::msg::Point { x, y, z },
        orientation: geometry_msgs::msg::Quaternion { x: qx, y: qy, z: qz, w: qw },
    }
}
