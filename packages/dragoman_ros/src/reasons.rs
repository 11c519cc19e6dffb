//! Responses with a reason, for which Humble's messages have no field.
//!
//! Node code cannot name fields that the sourced ROS does not have. The embedded implementation always has them, and
//! omits them on the wire for Humble.

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
