//! The ROS services of an arm and their calls: one row per service.

use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::poses::{Placement, pose};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::{Response, WrappedServiceTypeSupport};

use super::call::{ArmCall, CommandMode, Outcome, Refusal};
use super::wire::{Command, JOINT_COUNT};
use crate::services;

/// A row of the table: a service of the arm.
pub(super) type ArmServiceRow = Box<dyn services::ServiceRow<ArmCall, Outcome>>;

/// The outcome of a call that the arm refused, or that belongs to another row.
const REJECTED: Outcome = Outcome::Refused(Refusal::Rejected);

/// A row per service.
pub(super) fn rows() -> Vec<ArmServiceRow> {
    let plain = |command: Command| {
        row::<Trigger::Service>(
            command,
            move |call| (call == ArmCall::Plain(command)).then(Default::default),
            move |_| Ok(ArmCall::Plain(command)),
        )
    };
    let with_values = [
        command_mode(),
        row::<SetGoalPose::Service>(
            Command::SetGoalPose,
            |call| {
                let ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration } = call else {
                    return None;
                };
                Some(SetGoalPose::Request { pose: pose(&(position, quaternion_xyzw)), min_duration })
            },
            |SetGoalPose::Request { pose, min_duration }| {
                let (position, quaternion_xyzw) = pose.parts();
                Ok(ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration })
            },
        ),
        row::<SetViaPoint::Service>(
            Command::SetViaPoint,
            |call| {
                let ArmCall::SetViaPoint { index, position, quaternion_xyzw, min_duration } = call else {
                    return None;
                };
                Some(SetViaPoint::Request { index, pose: pose(&(position, quaternion_xyzw)), min_duration })
            },
            |SetViaPoint::Request { index, pose, min_duration }| {
                let (position, quaternion_xyzw) = pose.parts();
                Ok(ArmCall::SetViaPoint { index, position, quaternion_xyzw, min_duration })
            },
        ),
        row::<SetJointGoal::Service>(
            Command::SetJointGoal,
            |call| {
                let ArmCall::SetJointGoal { position, min_duration } = call else { return None };
                Some(SetJointGoal::Request { position: position.to_vec(), min_duration })
            },
            |r| Ok(ArmCall::SetJointGoal { position: joints(&r.position)?, min_duration: r.min_duration }),
        ),
        row::<SetJointViaPoint::Service>(
            Command::SetJointViaPoint,
            |call| {
                let ArmCall::SetJointViaPoint { index, position, min_duration } = call else { return None };
                Some(SetJointViaPoint::Request { index, position: position.to_vec(), min_duration })
            },
            |SetJointViaPoint::Request { index, position, min_duration }| {
                Ok(ArmCall::SetJointViaPoint { index, position: joints(&position)?, min_duration })
            },
        ),
        row::<Recalibrate::Service>(
            Command::Recalibrate,
            |call| {
                let ArmCall::Recalibrate { position } = call else { return None };
                Some(Recalibrate::Request { position: position.to_vec() })
            },
            |r| Ok(ArmCall::Recalibrate { position: joints(&r.position)? }),
        ),
    ];
    Command::all().filter(|command| command.is_plain()).map(plain).chain(with_values).collect()
}

/// The row of a service whose response has no data.
fn row<S: WrappedServiceTypeSupport + 'static>(
    command: Command,
    request: impl Fn(ArmCall) -> Option<S::Request> + Send + Sync + 'static,
    call: impl Fn(S::Request) -> Result<ArmCall, String> + Send + Sync + 'static,
) -> ArmServiceRow
where
    S::Request: Send,
    S::Response: Response + Send,
{
    services::row::<S, _, _>(
        command.ros_name(),
        move |call| request(call).ok_or(REJECTED),
        call,
        |response| response.checked().map_or(REJECTED, |_| Outcome::Done),
        response,
    )
}

/// The response of this service has the mode in force.
fn command_mode() -> ArmServiceRow {
    services::row::<SetCommandMode::Service, _, _>(
        Command::SetCommandMode.ros_name(),
        |call| match call {
            ArmCall::SetCommandMode { mode } => Ok(SetCommandMode::Request { mode: mode.into() }),
            _ => Err(REJECTED),
        },
        |SetCommandMode::Request { mode }| {
            let mode = CommandMode::try_from(mode).map_err(|error| error.to_string())?;
            Ok(ArmCall::SetCommandMode { mode })
        },
        |response| match response.checked() {
            Ok(response) => CommandMode::try_from(response.mode).map_or(Outcome::Done, Outcome::Mode),
            Err(_) => REJECTED,
        },
        |outcome| {
            let mode = if let Ok(Outcome::Mode(mode)) = outcome { mode.into() } else { Default::default() };
            SetCommandMode::Response { mode, ..response(outcome) }
        },
    )
}

fn response<R: Response>(outcome: Result<Outcome, String>) -> R {
    match outcome {
        Ok(Outcome::Refused(refusal)) => R::refused(refusal.to_string()),
        Err(reason) => R::refused(reason),
        Ok(_) => R::default().succeeded(),
    }
}

fn joints(position: &[f64]) -> Result<[f64; JOINT_COUNT], String> {
    position.try_into().map_err(|_length| {
        format!("{} joint values were given; the 31-byte protocol has {JOINT_COUNT}", position.len())
    })
}
