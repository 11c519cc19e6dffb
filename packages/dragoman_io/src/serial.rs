//! Serial lines: the port, a simulated device in its place, and what moves bytes between a driver and either.
//!
//! | file | holds |
//! | --- | --- |
//! | `driver` | [`SerialDriver`]: a driver without I/O |
//! | `connection` | [`Connection`]: where a device is, on a port or simulated |
//! | `port` | [`SerialPort`] |
//! | `line` | [`Line`]: a driver and its stream: reading, writing, opening again |
//! | [`lifecycle`] | the life cycle of a node whose device is on a line |

#[cfg(feature = "serial")]
mod connection;
mod driver;
#[cfg(feature = "ros")]
pub mod lifecycle;
#[cfg(feature = "serial")]
mod line;
#[cfg(feature = "serial")]
mod port;

#[cfg(feature = "serial")]
pub use connection::{Connection, NoPort, Open, SIMULATED, Simulate, Stream};
pub use driver::SerialDriver;
#[cfg(feature = "serial")]
pub use line::{Line, REOPEN_TIME};
#[cfg(feature = "serial")]
pub use port::SerialPort;
