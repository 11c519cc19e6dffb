//! Ports to devices, real and simulated.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | a CAN bus: frames, [`can::Bus`], SocketCAN, a bus within the process, candump files |
//! | [`serial`] | a serial line: ports, [`serial::SerialDriver`], [`serial::Line`] |
//! | `timeline` | a time that may run at another speed than real time (feature `time`) |

pub mod can;
pub mod serial;
#[cfg(feature = "time")]
mod timeline;

#[cfg(feature = "time")]
pub use timeline::Timeline;
