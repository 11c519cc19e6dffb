//! The CAN bus: frames, the interface to send and receive them, and its implementations.
//!
//! | file | holds |
//! | --- | --- |
//! | [`frame`] | a classic CAN frame, and how many bits it takes on the wire |
//! | [`bus`] | [`Bus`]: the interface; faults of a bus |
//! | [`in_process`] | a bus between threads of one process |
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
