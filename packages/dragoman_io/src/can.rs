//! The CAN bus: frames, the interface to send and receive them, and its implementations.
//!
//! | file | holds |
//! | --- | --- |
//! | [`frame`] | a classic CAN frame, and how many bits it takes on the wire |
//! | [`bus`] | [`Bus`]: the interface; faults of a bus |
//! | [`in_process`] | a bus between threads of one process, and those of a lab on virtual time |
//! | `socketcan` | a CAN interface of this Linux system |
//! | [`candump`] | recorded logs, read, written and replayed |
//! | [`error_frame`] | decodes error frames of SocketCAN |
//! | [`statistics`] | load and frames per second |

pub mod bus;
pub mod candump;
pub mod error_frame;
pub mod frame;
pub mod in_process;
#[cfg(target_os = "linux")]
pub mod socketcan;
pub mod statistics;

pub use bus::{Bus, BusFault, Received, SendError};
pub use candump::ReplayBus;
pub use frame::Frame;
pub use in_process::InProcessBus;
#[cfg(target_os = "linux")]
pub use socketcan::SocketCanBus;

/// A connection to the CAN interface of this name; on virtual time to that of the lab.
///
/// # Errors
/// There is no such interface, it is not a CAN interface, or the system has no CAN.
pub fn open(interface: &str) -> std::io::Result<Box<dyn Bus>> {
    if dragoman_time::is_virtual() {
        Ok(Box::new(InProcessBus::of_lab(interface)))
    } else {
        of_system(interface)
    }
}

#[cfg(target_os = "linux")]
fn of_system(interface: &str) -> std::io::Result<Box<dyn Bus>> {
    let bus = SocketCanBus::open(interface, &[]).map_err(std::io::Error::other)?;
    Ok(Box::new(bus))
}

#[cfg(not(target_os = "linux"))]
fn of_system(_interface: &str) -> std::io::Result<Box<dyn Bus>> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "CAN interfaces need Linux"))
}
