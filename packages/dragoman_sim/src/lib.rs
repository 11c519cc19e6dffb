//! The simulated devices of the lab. Each stands behind the port that the real device stands behind.
//!
//! | file | simulates |
//! | --- | --- |
//! | [`whistle`] | an Elmo SimplIQ Whistle on a CAN bus, frame by frame |
//! | [`device`] | what all CANopen devices have: network management, heartbeats, objects, process data; faults |
//! | [`axis`] | motor and shaft of a drive: its position loop, its current, its temperature |

pub mod axis;
pub mod device;
pub mod whistle;

pub use axis::AxisSettings;
pub use device::{Device, Fault};
pub use whistle::{Whistle, WhistleSettings};
