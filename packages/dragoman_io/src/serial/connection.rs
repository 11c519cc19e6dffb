//! Where the device of a node is: on a serial port, or simulated in this process.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

use super::SerialPort;

/// Where a simulated device is.
pub const SIMULATED: &str = "simulated";

/// A byte stream to a device.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// Opens the stream to a simulated device in this process.
pub type Simulate = Box<dyn FnMut() -> Pin<Box<dyn Stream>> + Send>;

/// Opens the stream to a device.
pub type Open = Box<dyn FnMut() -> io::Result<Pin<Box<dyn Stream>>> + Send>;

/// Where a device is.
pub enum Connection {
    /// On the serial port that parameter `device_port` names; this one unless it is given.
    Port(String),
    /// On the serial port that parameter `device_port` names, or, unless it is given, in this process.
    SimulatedUnlessPort(Simulate),
    /// In this process, whatever `device_port` names.
    Simulated(Simulate),
}

/// There is neither a port nor a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no serial port: give one with parameter device_port, /dev/ttyUSB0 say")]
pub struct NoPort;

impl Connection {
    /// The default of parameter `device_port`.
    pub fn default_port(&self) -> &str {
        match self {
            Self::Port(port) => port,
            Self::SimulatedUnlessPort(_) | Self::Simulated(_) => "",
        }
    }

    /// What opens the stream, and where it leads to: the port, or [`SIMULATED`]. `port` is what `device_port` names.
    ///
    /// # Errors
    /// No port, and nothing simulated.
    pub fn opener(self, port: String, baud: u32) -> Result<(Open, String), NoPort> {
        match self {
            Self::Port(_) if port.is_empty() => return Err(NoPort),
            Self::Port(_) => {}
            Self::SimulatedUnlessPort(_) if !port.is_empty() => {}
            Self::SimulatedUnlessPort(mut simulate) | Self::Simulated(mut simulate) => {
                return Ok((Box::new(move || Ok(simulate())), SIMULATED.to_owned()));
            }
        }
        let path = PathBuf::from(&port);
        let open = move || Ok(Box::pin(SerialPort::open(&path, baud)?) as Pin<Box<dyn Stream>>);
        Ok((Box::new(open), port))
    }
}
