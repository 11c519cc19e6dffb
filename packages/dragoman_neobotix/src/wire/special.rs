//! Special functions, the camera, and commands for debugging that have arguments (PlatformCtrl guide, 6.3).

use super::Text;
use super::field::{layout, strict};
use crate::codes;

codes! {
    /// Event of the mouse.
    pub enum MouseButton {
        /// Places the obstacle.
        RightDown = 2, "EV_MOUSE_RBUTTON_DOWN";
        /// Removes the obstacle.
        RightUp = 5, "EV_MOUSE_RBUTTON_UP";
    }

    /// Action on a recording.
    pub enum PostProcessEvent {
        StartRecording = 1, "EV_START_POST_PROCESS_RECORDING";
        StopRecording = 2, "EV_STOP_POST_PROCESS_RECORDING";
        StartReplay = 3, "EV_START_POST_PROCESS_REPLAY";
        StopReplay = 4, "EV_STOP_POST_PROCESS_REPLAY";
        /// Pause the replay.
        BreakReplay = 5, "EV_BREAK_POST_PROCESS_REPLAY";
        ContinueReplay = 6, "EV_CONTINUE_POST_PROCESS_REPLAY";
    }
}

strict!(MouseButton as i32, PostProcessEvent as i32);

layout! {
    /// CMD_SPEAK_TEXT.
    #[derive(Eq, Default)]
    pub struct SpeakText {
        pub text: Text,
    }

    /// CMD_PLAY_SOUND and CMD_GRAB_IMAGE.
    #[derive(Eq, Default)]
    pub struct FileName {
        /// Unchecked: it may contain anything, including `../`.
        pub file_name: Text,
    }

    /// CMD_SET_POS_HEAD_DRIVE.
    #[derive(Copy, Eq, Default)]
    pub struct HeadPosition {
        /// Whole degrees.
        pub angle_deg: i32,
    }

    /// CMD_SET_VEL_HEAD_DRIVE.
    #[derive(Copy, Eq, Default)]
    pub struct HeadVelocity {
        /// Hundredths of a degree per second.
        pub velocity_cdeg_per_s: i32,
    }

    /// CMD_SET_POS_PAN_TILT_CAMERA.
    #[derive(Eq, Default)]
    pub struct PanTiltPosition {
        /// In the camera's own syntax.
        pub position: Text,
    }

    /// CMD_MOUSE_MOVE.
    #[derive(Copy, Eq)]
    pub struct MouseMove {
        /// Position of the obstacle, in the world.
        pub x_mm: i32,
        /// Position of the obstacle, in the world.
        pub y_mm: i32,
        /// INT.
        pub button: MouseButton,
    }

    /// CMD_SET_EVENT.
    #[derive(Copy, Eq)]
    pub struct SetEvent {
        /// INT.
        pub event: PostProcessEvent,
    }

    /// Reply to CMD_GET_CAMERA.
    #[derive(Eq, Default)]
    pub struct Camera {
        /// IP address.
        pub address: Text,
        /// Id.
        pub id: Text,
    }
}
