//! Brakes, digital outputs, ultrasonic sensors and CAN messages (PlatformCtrl guide, 6.3: CAN communication).

use super::field::{layout, strict};
use crate::codes::{Board, Motor};

strict!(Motor as u8, Board as i32);

layout! {
    /// CMD_SET_BRAKE.
    #[derive(Copy, Eq)]
    pub struct SetBrake {
        /// BYTE.
        pub motor: Motor,
        /// 0: the brake holds; 1: the wheel is free.
        pub is_disabled: bool,
    }

    /// CMD_SET_DIGOUT.
    #[derive(Copy, Eq)]
    pub struct SetDigitalOutput {
        /// INT.
        pub board: Board,
        /// Address of the channel.
        pub channel: i32,
        /// 0: low; 1: high.
        pub is_high: bool,
    }

    /// CMD_START_ULTRASONIC.
    #[derive(Copy, Eq, Default)]
    pub struct StartUltrasonic {
        /// Address of the active channel.
        pub channel: i32,
    }

    /// CMD_ADD_CAN_LISTENING_ID and CMD_REMOVE_CAN_LISTENING_ID.
    #[derive(Copy, Eq, Default)]
    pub struct CanId {
        /// CAN id.
        pub id: i32,
    }

    /// CMD_SEND_CAN_MESSAGE. The message has always eight bytes.
    #[derive(Copy, Eq, Default)]
    pub struct SendCanMessage {
        /// CAN id.
        pub id: i32,
        /// Data.
        pub data: [u8; 8],
    }

    /// CMD_GET_CAN_MESSAGES.
    #[derive(Copy, Eq, Default)]
    pub struct GetCanMessages {
        /// 0: the messages are kept; 1: they are deleted after reading.
        pub is_deleting: bool,
    }

    /// A stored CAN message.
    #[derive(Copy, Default)]
    pub struct CanMessage {
        /// Time of reception. The guide has no unit; unchecked: it may be NaN or infinite.
        pub time_stamp: f64,
        /// CAN id.
        pub id: i32,
        /// Data.
        pub data: [u8; 8],
    }

    /// Reply to CMD_GET_CAN_MESSAGES.
    #[derive(Default)]
    pub struct CanMessages {
        /// Messages whose ids are on the listening list.
        pub messages: Vec<CanMessage>,
    }
}
