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
//!
//! A driver takes bytes or frames and a time, and returns what to send:
//!
//! ```
//! use std::time::Duration;
//! use dragoman_arm::dynamixel::driver::{Config, Driver};
//!
//! let mut driver = Driver::new(Config::widowx()).unwrap();
//! driver.handle_connected(Duration::ZERO);
//! assert_eq!(driver.poll_transmit(), [0xff, 0xff, 0x02, 0x04, 0x02, 0x00, 0x13, 0xe4]); // ping servo 2
//! ```

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
