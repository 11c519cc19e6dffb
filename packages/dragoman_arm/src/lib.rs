//! The drives of an arm on a CAN bus, or its servos on a serial line, and its ROS node.
//!
//! | file | holds |
//! | --- | --- |
//! | [`canopen`] | CANopen without I/O: services, SDO transfers, emergencies |
//! | [`simpliq`] | Elmo SimplIQ drives: the binary interpreter, tables of commands, objects and emergencies |
//! | [`dynamixel`] | Dynamixel servos on a serial line: protocol, driver, the joints of a WidowX |
//! | [`describe`] | readable descriptions of frames |
//! | [`driver`] | the drives of an arm as a group: set-up, cyclic set-points, stop, faults |
//! | `drives` | errors of commands to joints |
//! | [`node`] | the node: topics, services and the action of an arm |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod canopen;
pub mod describe;
pub mod driver;
mod drives;
pub mod dynamixel;
#[cfg(feature = "node")]
pub mod node;
pub mod simpliq;

pub use drives::{DriveError, TEMPERATURE_ABSENT};
