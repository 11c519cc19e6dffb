//! Requests to the arm's services as [`ArmCall`]s: what the client side offers to ROS.

use dragoman_ros::dragoman_msgs::srv::{
    Recalibrate, SetCommandMode, SetGoalPose, SetJointGoal, SetJointViaPoint, SetViaPoint,
};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Node, QosProfile, Result, ServiceRequest, WrappedServiceTypeSupport, geometry_msgs};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use super::TRIGGERS;
use crate::arm31::wire::{Command, JOINT_COUNT};
use crate::arm31::{ArmCall, CommandMode, Outcome};

/// A request of a ROS client, and how to answer it.
pub(super) struct Asked {
    /// The call, or why the request is invalid.
    pub(super) call: Result<ArmCall, String>,
    /// Answers with the outcome, or with the reason of a failure.
    pub(super) respond: Box<dyn FnOnce(Result<Outcome, String>) + Send>,
}

/// Offers all services of an arm in the namespace of `node`.
pub(super) fn offer(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Asked>>> {
    let mut all = SelectAll::new();
    for call in TRIGGERS {
        all.push(service::<Trigger::Service>(
            node,
            call.command(),
            move |_request| Ok(call),
            |(success, message, _)| Trigger::Response { success, message },
        )?);
    }
    all.push(service::<SetCommandMode::Service>(
        node,
        Command::SetCommandMode,
        |request| {
            let mode = CommandMode::try_from(request.mode).map_err(|error| error.to_string())?;
            Ok(ArmCall::SetCommandMode { mode })
        },
        |(success, message, mode)| SetCommandMode::Response { success, message, mode },
    )?);
    all.push(service::<SetGoalPose::Service>(
        node,
        Command::SetGoalPose,
        |request| {
            let (position, quaternion_xyzw) = pose(&request.pose);
            Ok(ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration: request.min_duration })
        },
        |(success, message, _)| SetGoalPose::Response { success, message },
    )?);
    all.push(service::<SetViaPoint::Service>(
        node,
        Command::SetViaPoint,
        |request| {
            let (position, quaternion_xyzw) = pose(&request.pose);
            let (index, min_duration) = (request.index, request.min_duration);
            Ok(ArmCall::SetViaPoint { index, position, quaternion_xyzw, min_duration })
        },
        |(success, message, _)| SetViaPoint::Response { success, message },
    )?);
    all.push(service::<SetJointGoal::Service>(
        node,
        Command::SetJointGoal,
        |request| {
            let position = joints(&request.position)?;
            Ok(ArmCall::SetJointGoal { position, min_duration: request.min_duration })
        },
        |(success, message, _)| SetJointGoal::Response { success, message },
    )?);
    all.push(service::<SetJointViaPoint::Service>(
        node,
        Command::SetJointViaPoint,
        |request| {
            let (index, min_duration) = (request.index, request.min_duration);
            Ok(ArmCall::SetJointViaPoint { index, position: joints(&request.position)?, min_duration })
        },
        |(success, message, _)| SetJointViaPoint::Response { success, message },
    )?);
    all.push(service::<Recalibrate::Service>(
        node,
        Command::Recalibrate,
        |request| Ok(ArmCall::Recalibrate { position: joints(&request.position)? }),
        |(success, message, _)| Recalibrate::Response { success, message },
    )?);
    Ok(all)
}

/// Success, the reason of a failure, and the mode in force if the controller reported it.
type Verdict = (bool, String, u8);

fn service<S>(
    node: &mut Node,
    command: Command,
    call: impl Fn(&S::Request) -> Result<ArmCall, String> + Send + 'static,
    response: impl Fn(Verdict) -> S::Response + Clone + Send + 'static,
) -> Result<BoxStream<'static, Asked>>
where
    S: WrappedServiceTypeSupport + 'static,
    ServiceRequest<S>: Send,
{
    let requests = node.create_service::<S>(command.ros_name(), QosProfile::services_default())?;
    Ok(requests
        .map(move |request| {
            let response = response.clone();
            Asked {
                call: call(&request.message),
                respond: Box::new(move |result| {
                    if let Err(error) = request.respond(response(verdict(result))) {
                        tracing::warn!(%error, service = command.ros_name(), "sending a response failed");
                    }
                }),
            }
        })
        .boxed())
}

fn verdict(result: Result<Outcome, String>) -> Verdict {
    match result {
        Ok(Outcome::Mode(mode)) => (true, String::new(), mode.into()),
        Ok(Outcome::Done) => (true, String::new(), 0),
        Ok(Outcome::Refused(refusal)) => (false, refusal.to_string(), 0),
        Err(reason) => (false, reason, 0),
    }
}

fn joints(position: &[f64]) -> Result<[f64; JOINT_COUNT], String> {
    position.try_into().map_err(|_length| {
        format!("{} joint values were given; the 31-byte protocol has {JOINT_COUNT}", position.len())
    })
}

fn pose(pose: &geometry_msgs::msg::Pose) -> ([f64; 3], [f64; 4]) {
    let (p, q) = (&pose.position, &pose.orientation);
    ([p.x, p.y, p.z], [q.x, q.y, q.z, q.w])
}
