//! Location of a node's device: on a serial port, or simulated in this process.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

use super::SerialPort;
use crate::Timeline;

/// Location of a simulated device.
pub const SIMULATED: &str = "simulated";

/// A byte stream to a device.
pub trait Stream: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Stream for S {}

/// A simulated device in this process.
pub struct Simulate {
    open: Box<dyn FnMut() -> Pin<Box<dyn Stream>> + Send>,
    timeline: Timeline,
}

impl Simulate {
    /// `open` opens the stream to a device that lives in this time.
    pub fn new(open: impl FnMut() -> Pin<Box<dyn Stream>> + Send + 'static, timeline: Timeline) -> Self {
        Self { open: Box::new(open), timeline }
    }
}

/// Opens the stream to a device.
pub type Open = Box<dyn FnMut() -> io::Result<Pin<Box<dyn Stream>>> + Send>;

/// Location of a device.
pub enum Connection {
    /// On the serial port of parameter `device_port`, with this default.
    Port(String),
    /// On the serial port of parameter `device_port`; if it is empty, in this process.
    SimulatedUnlessPort(Simulate),
    /// In this process, regardless of `device_port`.
    Simulated(Simulate),
}

/// No port is set, and there is no simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no serial port: set parameter device_port, for example to /dev/ttyUSB0")]
pub struct NoPort;

impl Connection {
    /// The default of parameter `device_port`.
    pub fn default_port(&self) -> &str {
        match self {
            Self::Port(port) => port,
            Self::SimulatedUnlessPort(_) | Self::Simulated(_) => "",
        }
    }

    /// The time of a device; `port` is the value of `device_port`.
    pub fn timeline(&self, port: &str) -> Timeline {
        match self {
            Self::SimulatedUnlessPort(simulate) if port.is_empty() => simulate.timeline.clone(),
            Self::Simulated(simulate) => simulate.timeline.clone(),
            Self::Port(_) | Self::SimulatedUnlessPort(_) => Timeline::default(),
        }
    }

    /// A function that opens the stream, and the location: the port, or [`SIMULATED`]. `port` is the value of
    /// `device_port`.
    ///
    /// # Errors
    /// No port, and no simulated device.
    pub fn opener(self, port: String, baud: u32) -> Result<(Open, String), NoPort> {
        match self {
            Self::Port(_) if port.is_empty() => return Err(NoPort),
            Self::Port(_) => {}
            Self::SimulatedUnlessPort(_) if !port.is_empty() => {}
            Self::SimulatedUnlessPort(mut simulate) | Self::Simulated(mut simulate) => {
                return Ok((Box::new(move || Ok((simulate.open)())), SIMULATED.to_owned()));
            }
        }
        let path = PathBuf::from(&port);
        let open = move || Ok(Box::pin(SerialPort::open(&path, baud)?) as Pin<Box<dyn Stream>>);
        Ok((Box::new(open), port))
    }
}
