//! The CAN bus: frames, the port through which they come and go, and its three implementations.
//!
//! | file | holds |
//! | --- | --- |
//! | [`frame`] | a classic CAN frame, and how many bits it takes on the wire |
//! | [`bus`] | [`Bus`]: the port; what can go wrong on a bus |
//! | [`in_process`] | a bus between threads of one process |

pub mod bus;
pub mod frame;
pub mod in_process;

pub use bus::{Bus, BusFault, Received, SendError};
pub use frame::Frame;
pub use in_process::InProcessBus;
