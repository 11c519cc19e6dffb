//! The ROS services of an arm and their calls: one row per service.

use dragoman_ros::Response;
use dragoman_ros::dragoman_msgs::srv::*;
use dragoman_ros::geometry_msgs::msg::{Point, Pose, Quaternion};
use dragoman_ros::std_srvs::srv::Trigger;

use super::call::{ArmCall, CommandMode, Outcome, Refusal};
use super::wire::{Command, JOINT_COUNT};
use crate::services::{self, Service};

pub(super) type Row = Box<dyn services::Row<ArmCall, Outcome>>;

/// A row per service: the call with the fields of a request, the call for a request; `=>` the field of the response for
/// the mode in force.
macro_rules! services {
    ($(
        $call:ident $({ $($field:ident),* })?: $service:ident { $($given:ident: $value:expr),* }
        $(, |$request:ident| { $($back:ident: $converted:expr),* })? $(=> $mode:ident)?;
    )*) => {
        /// A row per service.
        pub(super) fn rows() -> Vec<Row> {
            vec![$( Box::new(Service::<$service::Service, ArmCall, Outcome> {
                name: Command::$call.ros_name(),
                request: |call| match call {
                    #[allow(clippy::needless_update, reason = "empty requests have a hidden field")]
                    ArmCall::$call $({ $($field),* })? => {
                        Ok($service::Request { $($given: $value,)* ..Default::default() })
                    }
                    _ => Err(Outcome::Refused(Refusal::Rejected)),
                },
                call: |_request| {
                    $( let $request = _request; )?
                    Ok(ArmCall::$call $({ $($back: $converted),* })?)
                },
                outcome: |response| match response.checked() {
                    Ok(_done) => services!(@mode _done $($mode)?),
                    Err(_reason) => Outcome::Refused(Refusal::Rejected),
                },
                response: |outcome| match outcome {
                    Ok(Outcome::Refused(refusal)) => $service::Response::refused(refusal.to_string()),
                    Err(reason) => $service::Response::refused(reason),
                    #[allow(unused_mut, reason = "most responses have no mode")]
                    Ok(_done) => {
                        let mut response = $service::Response::succeeded(Default::default());
                        $( if let Outcome::Mode(mode) = _done {
                            response.$mode = mode.into();
                        } )?
                        response
                    }
                },
            }) as Row, )*]
        }
    };
    (@mode $response:ident) => { Outcome::Done };
    (@mode $response:ident $mode:ident) => {
        CommandMode::try_from($response.$mode).map_or(Outcome::Done, Outcome::Mode)
    };
}

services! {
    BeginMotion: Trigger {};
    SetCommandMode { mode }: SetCommandMode { mode: mode.into() },
        |r| { mode: CommandMode::try_from(r.mode).map_err(|error| error.to_string())? } => mode;
    SetGoalPose { position, quaternion_xyzw, min_duration }:
        SetGoalPose { pose: pose(position, quaternion_xyzw), min_duration: min_duration },
        |r| { position: position(&r.pose), quaternion_xyzw: quaternion(&r.pose), min_duration: r.min_duration };
    BeginJointMotion: Trigger {};
    ClearJointViaPoints: Trigger {};
    ExecuteJointViaPoints: Trigger {};
    SetJointGoal { position, min_duration }:
        SetJointGoal { position: position.to_vec(), min_duration: min_duration },
        |r| { position: joints(&r.position)?, min_duration: r.min_duration };
    ResetJointMotion: Trigger {};
    SetJointViaPoint { index, position, min_duration }:
        SetJointViaPoint { index: index, position: position.to_vec(), min_duration: min_duration },
        |r| { index: r.index, position: joints(&r.position)?, min_duration: r.min_duration };
    Disable: Trigger {};
    Enable: Trigger {};
    Recalibrate { position }: Recalibrate { position: position.to_vec() }, |r| { position: joints(&r.position)? };
    Stop: Trigger {};
    ClearViaPoints: Trigger {};
    ExecuteViaPoints: Trigger {};
    SetViaPoint { index, position, quaternion_xyzw, min_duration }:
        SetViaPoint { index: index, pose: pose(position, quaternion_xyzw), min_duration: min_duration },
        |r| {
            index: r.index,
            position: position(&r.pose),
            quaternion_xyzw: quaternion(&r.pose),
            min_duration: r.min_duration
        };
}

fn joints(position: &[f64]) -> Result<[f64; JOINT_COUNT], String> {
    position.try_into().map_err(|_length| {
        format!("{} joint values were given; the 31-byte protocol has {JOINT_COUNT}", position.len())
    })
}

/// A pose as a message.
pub(super) fn pose([x, y, z]: [f64; 3], [qx, qy, qz, qw]: [f64; 4]) -> Pose {
    Pose { position: Point { x, y, z }, orientation: Quaternion { x: qx, y: qy, z: qz, w: qw } }
}

fn position(pose: &Pose) -> [f64; 3] {
    [pose.position.x, pose.position.y, pose.position.z]
}

fn quaternion(pose: &Pose) -> [f64; 4] {
    [pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w]
}
