//! The simulated devices of the lab. Each has the interface of the real device.
//!
//! | file | simulates |
//! | --- | --- |
//! | [`whistle`] | an Elmo SimplIQ Whistle on a CAN bus, frame by frame |
//! | [`cia402`] | a servo drive of the profile CiA 402 on a CAN bus |
//! | `drive_rack` | several of them on one bus interface, on virtual time or in a thread |
//! | [`device`] | common parts of all CANopen devices: network management, heartbeats, objects, process data; faults |
//! | [`kobuki`] | a Kobuki, the base of a TurtleBot 2, on a serial line, byte by byte |
//! | [`differential`] | a base with two driven wheels behind a line protocol |
//! | [`widowx`] | a WidowX: an arm of Dynamixel servos on a serial line, byte by byte |
//! | [`serial`] | common parts of all devices on a serial line; running one on any byte stream, in real time |
//! | [`chassis`] | two wheels and the chassis between them |
//! | `arm` | an arm as the load of several drives: mass matrix, gravity, friction |
//! | `axis` | motor and shaft of a drive: its position loop, its current, its temperature |
//!
//! ```
//! use dragoman_sim::serial::SerialDevice;
//! use dragoman_sim::{Kobuki, KobukiSettings};
//!
//! let mut kobuki = Kobuki::new(KobukiSettings::default());
//! kobuki.handle_timeout(kobuki.poll_timeout());
//! assert!(kobuki.poll_transmit().unwrap().starts_with(&[0xaa, 0x55])); // its feedback
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod arm;
mod axis;
pub mod chassis;
pub mod cia402;
pub mod device;
pub mod differential;
mod drive_rack;
#[cfg(test)]
mod fixture;
pub mod kobuki;
pub mod serial;
pub mod whistle;
pub mod widowx;

pub use arm::{ArmError, ArmJoint, ArmLoad};
pub use axis::AxisSettings;
pub use cia402::{Cia402Drive, Cia402Settings};
pub use device::{Device, Fault};
pub use differential::{DifferentialBase, DifferentialSettings};
pub use drive_rack::{Rack, RackBus};
pub use kobuki::{Kobuki, KobukiSettings};
pub use whistle::{Whistle, WhistleSettings};
pub use widowx::{Widowx, WidowxSettings};
