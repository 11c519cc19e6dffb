//! The joints of an arm as ROS sees them.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | frames and the port to a CAN bus |
//! | [`canopen`] | CANopen without I/O: services, SDO transfers, emergencies |
//! | [`simpliq`] | Elmo SimplIQ drives: the binary interpreter, tables of commands, objects and emergencies |
//! | [`drives`] | [`JointDrives`]: the port behind which drives on a bus and simulated joints are alike |
//! | [`node`] | the node: `joint_states`, `joint_command`, `drive_status`, `enable`, `disable`, `recalibrate` |

pub mod can;
pub mod canopen;
pub mod driver;
pub mod drives;
pub mod node;
pub mod simpliq;

pub use drives::{DriveError, JointDrives, TEMPERATURE_ABSENT};
