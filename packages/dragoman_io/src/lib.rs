//! Ports to devices, real and simulated.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | a CAN bus: frames, [`can::Bus`], SocketCAN, a bus within the process, candump files |
//! | [`net`] | TCP and UDP, of the system or of a lab (feature `net`) |
//! | [`serial`] | a serial line: ports, [`serial::SerialDriver`], [`serial::Line`] |
//! | `timeline` | a time that may run at another speed than real time (feature `time`) |
//!
//! ```
//! use dragoman_io::can::{Bus, Frame, InProcessBus, Received};
//!
//! let mut master = InProcessBus::new();
//! let mut drive = master.another();
//! let frame: Frame = "181#0102".parse().unwrap();
//! master.send(&frame).unwrap();
//! assert_eq!(drive.receive(), Some(Received::Frame(frame)));
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod can;
#[cfg(feature = "net")]
pub mod net;
pub mod serial;
#[cfg(feature = "time")]
mod timeline;

#[cfg(feature = "time")]
pub use timeline::Timeline;
