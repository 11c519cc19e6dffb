//! An arm's drives on a CAN bus, and its joints as ROS sees them.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | frames and the port to a CAN bus |
//! | [`canopen`] | CANopen without I/O: services, SDO transfers, emergencies |
//! | [`simpliq`] | Elmo SimplIQ drives: the binary interpreter, tables of commands, objects and emergencies |
//! | [`describe`] | frames in words |
//! | [`driver`] | the drives of an arm as a group: set-up, cyclic set-points, stop, faults |
//! | [`drives`] | why commands to joints are refused |
//! | [`node`] | the node: topics, services and the action of an arm |

pub mod can;
pub mod canopen;
pub mod describe;
pub mod driver;
pub mod drives;
#[cfg(feature = "node")]
pub mod node;
pub mod simpliq;

pub use drives::{DriveError, TEMPERATURE_ABSENT};
