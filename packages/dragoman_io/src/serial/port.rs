//! Serial ports.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::lab::{self, ClientEnd};

/// A serial port, locked against other programs that use locks; on virtual time that of a device in the lab.
#[derive(Debug)]
pub struct SerialPort(PortKind);

#[derive(Debug)]
enum PortKind {
    System { port: serial2_tokio::SerialPort, _lock: Option<File> },
    Lab(ClientEnd),
}

/// The error of a port that is not free.
pub(super) fn in_use() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "another program has this port")
}

/// Settings of a serial line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SerialSettings {
    /// Bits per second.
    pub baud: u32,
    /// `Some(true)`: an even parity bit, `Some(false)`: an odd one.
    pub parity: Option<bool>,
    /// 7 data bits rather than 8.
    pub seven_bits: bool,
    /// 2 stop bits rather than 1.
    pub two_stop_bits: bool,
    /// Flow control by RTS and CTS.
    pub flow_control: bool,
}

impl SerialSettings {
    /// 8 data bits, no parity, 1 stop bit, without flow control.
    pub fn plain(baud: u32) -> Self {
        Self { baud, parity: None, seven_bits: false, two_stop_bits: false, flow_control: false }
    }
}

impl serial2_tokio::IntoSettings for SerialSettings {
    fn apply_to_settings(self, settings: &mut serial2_tokio::Settings) -> io::Result<()> {
        use serial2_tokio::{CharSize, FlowControl, Parity, StopBits};
        settings.set_raw();
        settings.set_baud_rate(self.baud)?;
        settings.set_char_size(if self.seven_bits { CharSize::Bits7 } else { CharSize::Bits8 });
        settings.set_parity(match self.parity {
            None => Parity::None,
            Some(true) => Parity::Even,
            Some(false) => Parity::Odd,
        });
        settings.set_stop_bits(if self.two_stop_bits { StopBits::Two } else { StopBits::One });
        settings.set_flow_control(if self.flow_control { FlowControl::RtsCts } else { FlowControl::None });
        Ok(())
    }
}

impl SerialPort {
    /// Opens a port at `baud` bits per second, 8 data bits, no parity, 1 stop bit, without flow control. Data received
    /// before is dropped.
    ///
    /// # Errors
    /// There is no such port; the user has no permission; another program has locked it (`flock`).
    pub fn open(path: &Path, baud: u32) -> io::Result<Self> {
        Self::open_with(path, SerialSettings::plain(baud))
    }

    /// As [`open`](Self::open), with other settings.
    ///
    /// # Errors
    /// As there; the system does not have these settings.
    pub fn open_with(path: &Path, settings: SerialSettings) -> io::Result<Self> {
        let describe = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::PermissionDenied => "; members of the group that owns it may (often dialout)",
                io::ErrorKind::IsADirectory => "; this is not a serial port",
                _ if is_not_a_terminal(&error) => "; this is not a serial port",
                _ => "",
            };
            io::Error::new(error.kind(), format!("{}: {error}{hint}", path.display()))
        };
        if dragoman_time::is_virtual() {
            return Ok(Self(PortKind::Lab(ClientEnd::open(path).map_err(describe)?)));
        }
        let lock = lock(path).map_err(describe)?;
        let port = serial2_tokio::SerialPort::open(path, settings).map_err(describe)?;
        port.discard_input_buffer().map_err(describe)?;
        Ok(Self(PortKind::System { port, _lock: lock }))
    }

    /// The serial ports of this machine, sorted. Empty if the system does not list them.
    pub fn available() -> Vec<PathBuf> {
        if dragoman_time::is_virtual() {
            return lab::paths();
        }
        let mut paths = serial2_tokio::SerialPort::available_ports().unwrap_or_default();
        paths.sort();
        paths
    }
}

/// Whether the device, or the file, has no settings of a serial line.
#[cfg(unix)]
fn is_not_a_terminal(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOTTY.raw_os_error())
}

#[cfg(not(unix))]
fn is_not_a_terminal(_error: &io::Error) -> bool {
    false
}

/// Locks the device before changing its settings.
#[cfg(unix)]
fn lock(path: &Path) -> io::Result<Option<File>> {
    use rustix::fs::{FlockOperation, OFlags, flock};
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;
    // Without waiting for a modem's carrier, and without making it the controlling terminal.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(in_use()),
        Err(error) => Err(error.into()),
    }
}

/// Windows always opens a port exclusively.
#[cfg(not(unix))]
fn lock(_path: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

impl AsyncRead for SerialPort {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            PortKind::System { port, .. } => Pin::new(port).poll_read(task, buffer),
            PortKind::Lab(end) => Pin::new(end).poll_read(task, buffer),
        }
    }
}

impl AsyncWrite for SerialPort {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            PortKind::System { port, .. } => Pin::new(port).poll_write(task, bytes),
            PortKind::Lab(end) => Pin::new(end).poll_write(task, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            PortKind::System { port, .. } => Pin::new(port).poll_flush(task),
            PortKind::Lab(end) => Pin::new(end).poll_flush(task),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            PortKind::System { port, .. } => Pin::new(port).poll_shutdown(task),
            PortKind::Lab(end) => Pin::new(end).poll_shutdown(task),
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    use nix::pty::openpty;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    fn device(descriptor: &impl std::os::fd::AsRawFd) -> std::path::PathBuf {
        std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).unwrap()
    }

    #[tokio::test]
    async fn every_byte_value_passes_both_ways_as_it_is() {
        let pty = openpty(None, None).unwrap();
        let mut port = SerialPort::open(&device(&pty.slave), 115_200).unwrap();
        let mut far = File::from(pty.master);
        let all: Vec<u8> = (0..=255).collect();
        port.write_all(&all).await.unwrap();
        let mut there = vec![0; 256];
        far.read_exact(&mut there).unwrap();
        far.write_all(&all).unwrap();
        let mut back = vec![0; 256];
        port.read_exact(&mut back).await.unwrap();
        assert_eq!((there, back), (all.clone(), all));
    }

    #[tokio::test]
    async fn a_port_can_be_opened_once() {
        let pty = openpty(None, None).unwrap();
        let path = device(&pty.slave);
        let first = SerialPort::open(&path, 115_200).unwrap();
        let error = SerialPort::open(&path, 115_200).unwrap_err();
        assert!(error.to_string().ends_with("another program has this port"), "{error}");
        drop(first);
        SerialPort::open(&path, 115_200).unwrap();
    }

    #[tokio::test]
    async fn a_missing_port_is_named() {
        let error = SerialPort::open(Path::new("/dev/kobuki-that-is-not-there"), 115_200).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with("/dev/kobuki-that-is-not-there: "), "{error}");
    }

    #[tokio::test]
    async fn the_error_for_another_file_says_that_it_is_not_a_serial_port() {
        for path in [concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"), env!("CARGO_MANIFEST_DIR")] {
            let error = SerialPort::open(Path::new(path), 115_200).unwrap_err().to_string();
            assert!(error.starts_with(path) && error.ends_with("; this is not a serial port"), "{error}");
        }
    }
}
