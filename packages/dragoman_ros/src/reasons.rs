//! Answers with a reason, for which Humble's messages have no place.
//!
//! Node code cannot name fields that the sourced ROS does not have. The embedded implementation has them always, and leaves
//! them out on the wire where a network is Humble's.

use crate::moveit_msgs::msg::MoveItErrorCodes;
use crate::nav2_msgs::action::{FollowPath, NavigateToPose};

/// How a request to MoveIt's services ended: a value of `MoveItErrorCodes`, and why.
pub fn moveit_error(val: i32, message: String) -> MoveItErrorCodes {
    #[cfg(not(rcl_of_humble))]
    return MoveItErrorCodes { val, message, ..Default::default() };
    #[cfg(rcl_of_humble)]
    {
        drop(message);
        MoveItErrorCodes { val }
    }
}

/// Why a navigation failed, as Nav2's navigators tell it.
pub fn navigation_error(error_code: u16, error_msg: String) -> NavigateToPose::Result {
    #[cfg(not(rcl_of_humble))]
    return NavigateToPose::Result { error_code, error_msg };
    #[cfg(rcl_of_humble)]
    {
        drop((error_code, error_msg));
        NavigateToPose::Result::default()
    }
}

/// Why a path was not followed to its end, as Nav2's controllers tell it.
pub fn following_error(error_code: u16, error_msg: String) -> FollowPath::Result {
    #[cfg(not(rcl_of_humble))]
    return FollowPath::Result { error_code, error_msg, ..Default::default() };
    #[cfg(rcl_of_humble)]
    {
        drop((error_code, error_msg));
        FollowPath::Result::default()
    }
}
