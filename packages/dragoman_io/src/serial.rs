//! Serial lines: the port, a simulated device in its place, and the transfer of bytes between a driver and either.
//!
//! | file | holds |
//! | --- | --- |
//! | `driver` | [`SerialDriver`]: a driver without I/O |
//! | `frames` | [`Frames`]: frames in a byte stream |
//! | `connection` | [`Connection`]: the location of a device, on a port or simulated |
//! | `port` | [`SerialPort`] |
//! | `lab` | [`DeviceEnd`]: lines of a lab on virtual time |
//! | `line` | [`Line`]: a driver and its stream: reading, writing, reopening |
//! | [`lifecycle`] | the life cycle of a node whose device is on a line |

#[cfg(feature = "serial")]
mod connection;
mod driver;
mod frames;
#[cfg(feature = "serial")]
mod lab;
#[cfg(feature = "ros")]
pub mod lifecycle;
#[cfg(feature = "serial")]
mod line;
#[cfg(feature = "serial")]
mod port;

#[cfg(feature = "serial")]
pub use connection::{Connection, NoPort, Open, SIMULATED, Simulate, Stream};
pub use driver::SerialDriver;
pub use frames::{Beginning, FrameStatistics, Frames};
#[cfg(feature = "serial")]
pub use lab::DeviceEnd;
#[cfg(feature = "serial")]
pub use line::{Line, REOPEN_TIME};
#[cfg(feature = "serial")]
pub use port::{SerialPort, SerialSettings};
