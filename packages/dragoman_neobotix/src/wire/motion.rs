//! Motion commands and the mode (PlatformCtrl guide, 6.3: platform operation, motion; CMD_SET_FRM_PLTF).

use super::Text;
use super::field::{Tail, layout, strict};
use crate::codes::MotionMode;

strict!(MotionMode as i32);

layout! {
    /// CMD_SET_MODE.
    #[derive(Copy, Eq)]
    pub struct SetMode {
        /// INT.
        pub mode: MotionMode,
    }

    /// A pose: of CMD_MOVE_ABS and CMD_SET_FRM_PLTF in the world, of CMD_MOVE_REL in the platform's frame.
    #[derive(Copy, Eq, Default)]
    pub struct Frame {
        /// Position.
        pub x_mm: i32,
        /// Position.
        pub y_mm: i32,
        /// Counter-clockwise from the x axis.
        pub angle_mdeg: i32,
    }

    /// CMD_MOVE_PATH.
    #[derive(Eq, Default)]
    pub struct MovePath {
        /// Poses in the world; the last is the target.
        pub frames: Vec<Frame>,
    }

    /// CMD_MOVE_TO_STATION.
    #[derive(Eq, Default)]
    pub struct MoveToStation {
        /// Name of the station.
        pub station: Text,
    }

    /// CMD_MOVE_VEL_WHEEL.
    #[derive(Copy, Eq, Default)]
    pub struct MoveWheelVelocity {
        /// Of the right wheel.
        pub right_mm_per_s: i32,
        /// Of the left wheel.
        pub left_mm_per_s: i32,
    }

    /// CMD_MOVE_VEL.
    #[derive(Copy, Eq, Default)]
    pub struct MoveVelocity {
        /// Forwards.
        pub translation_mm_per_s: i32,
        /// Counter-clockwise, a thousandth of a radian per second.
        pub rotation_mrad_per_s: i32,
        /// To the left, mm/s. Not in the guide, whose telegram ends before it: ours, for omnidirectional platforms.
        pub lateral_mm_per_s: Tail<i32>,
    }
}
