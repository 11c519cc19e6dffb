//! Fields of messages that not every distribution has: node code cannot name those that the sourced ROS does not have.
//!
//! The embedded implementation always has them, and omits on the wire those that its distribution does not have.

use crate::control_msgs::action::FollowJointTrajectory;
use crate::geometry_msgs::msg::PoseStamped;
use crate::moveit_msgs::msg::MoveItErrorCodes;
use crate::nav2_msgs::action::{FollowPath, NavigateToPose};

/// Result of a request to MoveIt's services: a value of `MoveItErrorCodes`, and the reason.
pub fn moveit_error(val: i32, message: String) -> MoveItErrorCodes {
    #[cfg(not(rcl_of_humble))]
    return MoveItErrorCodes { val, message, ..Default::default() };
    #[cfg(rcl_of_humble)]
    {
        drop(message);
        MoveItErrorCodes { val }
    }
}

/// Error of a navigation, as in Nav2's navigators.
pub fn navigation_error(error_code: u16, error_msg: String) -> NavigateToPose::Result {
    #[cfg(not(rcl_of_humble))]
    return NavigateToPose::Result { error_code, error_msg };
    #[cfg(rcl_of_humble)]
    {
        drop((error_code, error_msg));
        NavigateToPose::Result::default()
    }
}

/// Error of following a path, as in Nav2's controllers.
pub fn following_error(error_code: u16, error_msg: String) -> FollowPath::Result {
    #[cfg(not(rcl_of_humble))]
    return FollowPath::Result { error_code, error_msg, ..Default::default() };
    #[cfg(rcl_of_humble)]
    {
        drop((error_code, error_msg));
        FollowPath::Result::default()
    }
}

/// Feedback of following a path: the pose, the way that remains, m, and the speed, m/s. The tracking errors are NaN.
#[cfg_attr(not(fields_of_lyrical), allow(unused_variables, reason = "there is no field for the pose"))]
pub fn following_feedback(pose: PoseStamped, remaining: f32, speed: f32) -> FollowPath::Feedback {
    let mut feedback = FollowPath::Feedback::default();
    #[cfg(not(rcl_of_lyrical))]
    {
        feedback.distance_to_goal = remaining;
        feedback.speed = speed;
    }
    #[cfg(fields_of_lyrical)]
    {
        let tracking = &mut feedback.tracking_feedback;
        tracking.header = pose.header.clone();
        tracking.robot_pose = pose;
        (tracking.distance_to_goal, tracking.remaining_path_length) = (remaining, remaining);
        tracking.speed = speed;
        (tracking.position_tracking_error, tracking.heading_tracking_error) = (f32::NAN, f32::NAN);
    }
    feedback
}

/// Sets the tracking errors of a navigation to NaN, from Lyrical on: they are not measured.
#[cfg_attr(not(fields_of_lyrical), allow(unused_variables, reason = "there are no such fields"))]
pub fn set_unknown_tracking_errors(feedback: &mut NavigateToPose::Feedback) {
    #[cfg(fields_of_lyrical)]
    {
        (feedback.position_tracking_error, feedback.heading_tracking_error) = (f32::NAN, f32::NAN);
    }
}

/// Sets the index of the trajectory's point to which the joints move, from Kilted on.
#[cfg_attr(not(fields_of_kilted), allow(unused_variables, reason = "there is no such field"))]
pub fn set_point_index(feedback: &mut FollowJointTrajectory::Feedback, index: usize) {
    #[cfg(fields_of_kilted)]
    {
        feedback.index = i32::try_from(index).unwrap_or(i32::MAX);
    }
}
