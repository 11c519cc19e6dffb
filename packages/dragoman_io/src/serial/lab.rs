//! Serial lines of a lab on virtual time. A device creates the line of a port, as a pseudo-terminal; programs open it by
//! its path.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may be unread in a direction: those of a terminal of Linux.
const CAPACITY: usize = 4096;

/// The lines of the lab.
#[derive(Default)]
struct Ports(Mutex<BTreeMap<PathBuf, Arc<Line>>>);

struct Line {
    path: PathBuf,
    state: Mutex<LineState>,
}

#[derive(Default)]
struct LineState {
    has_client: bool,
    /// The device has closed the line.
    is_cut: bool,
    to_device: VecDeque<u8>,
    to_client: VecDeque<u8>,
    device: Option<Waker>,
    client_reads: Option<Waker>,
    client_writes: Option<Waker>,
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

/// An error as Linux returns it.
fn system(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

/// Moves what fits into `buffer`.
fn take(bytes: &mut VecDeque<u8>, buffer: &mut ReadBuf<'_>) {
    let count = bytes.len().min(buffer.remaining());
    let taken: Vec<u8> = bytes.drain(..count).collect();
    buffer.put_slice(&taken);
}

/// The device's end of a line. Writing never waits: without a client bytes are lost, and if a client does not read, the
/// oldest bytes are.
pub struct DeviceEnd(Arc<Line>);

impl DeviceEnd {
    /// A new line, that programs of this lab open by `path`. It exists until it is dropped.
    ///
    /// # Errors
    /// Another device has this path.
    pub fn create(path: &Path) -> io::Result<Self> {
        let ports = dragoman_time::shared::<Ports>();
        let mut ports = ports.0.lock();
        if ports.contains_key(path) {
            return Err(io::Error::new(
                ErrorKind::AlreadyExists,
                format!("{} already exists", path.display()),
            ));
        }
        let line = Arc::new(Line { path: path.to_owned(), state: Mutex::default() });
        ports.insert(path.to_owned(), Arc::clone(&line));
        Ok(Self(line))
    }
}

impl Drop for DeviceEnd {
    fn drop(&mut self) {
        let ports = dragoman_time::shared::<Ports>();
        let mut ports = ports.0.lock();
        if ports.get(&self.0.path).is_some_and(|line| Arc::ptr_eq(line, &self.0)) {
            ports.remove(&self.0.path);
        }
        let mut state = self.0.state.lock();
        state.is_cut = true;
        wake(&mut state.client_reads);
        wake(&mut state.client_writes);
    }
}

impl AsyncRead for DeviceEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state.lock();
        if state.to_device.is_empty() {
            state.device = Some(task.waker().clone());
            return Poll::Pending;
        }
        take(&mut state.to_device, buffer);
        wake(&mut state.client_writes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for DeviceEnd {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.state.lock();
        if state.has_client {
            // The unread bytes are old.
            if state.to_client.len() + bytes.len() > CAPACITY {
                state.to_client.clear();
            }
            dragoman_time::note("serial from", &self.0.path.to_string_lossy(), bytes);
            state.to_client.extend(bytes);
            wake(&mut state.client_reads);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The paths of all lines.
pub(super) fn paths() -> Vec<PathBuf> {
    dragoman_time::shared::<Ports>().0.lock().keys().cloned().collect()
}

/// A program's end of a line, which one program has at a time.
pub(super) struct ClientEnd(Arc<Line>);

impl ClientEnd {
    /// Opens the line of this path.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let ports = dragoman_time::shared::<Ports>();
        // No such file or directory.
        let line = ports.0.lock().get(path).map(Arc::clone).ok_or_else(|| system(2))?;
        let mut state = line.state.lock();
        if state.has_client {
            return Err(super::port::in_use());
        }
        state.has_client = true;
        drop(state);
        Ok(Self(line))
    }
}

impl Drop for ClientEnd {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.has_client = false;
        // The next program must not receive what this one has not read.
        state.to_client.clear();
    }
}

impl std::fmt::Debug for ClientEnd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("ClientEnd").field(&self.0.path).finish()
    }
}

impl AsyncRead for ClientEnd {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state.lock();
        if state.is_cut {
            return Poll::Ready(Ok(()));
        }
        if state.to_client.is_empty() {
            state.client_reads = Some(task.waker().clone());
            return Poll::Pending;
        }
        take(&mut state.to_client, buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ClientEnd {
    fn poll_write(self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut state = self.0.state.lock();
        if state.is_cut {
            // Input/output error.
            return Poll::Ready(Err(system(5)));
        }
        let count = bytes.len().min(CAPACITY.saturating_sub(state.to_device.len()));
        if count == 0 && !bytes.is_empty() {
            state.client_writes = Some(task.waker().clone());
            return Poll::Pending;
        }
        let (taken, _) = bytes.split_at(count);
        dragoman_time::note("serial to", &self.0.path.to_string_lossy(), taken);
        state.to_device.extend(taken);
        wake(&mut state.device);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::serial::SerialPort;

    const PORT: &str = "/dev/ttyUSB0";

    fn simulated(future: impl Future<Output = ()>) {
        dragoman_time::Simulation::new(1).block_on(future);
    }

    #[test]
    fn every_byte_value_passes_both_ways_as_it_is() {
        simulated(async {
            let mut device = DeviceEnd::create(Path::new(PORT)).unwrap();
            let mut port = SerialPort::open(Path::new(PORT), 115_200).unwrap();
            let all: Vec<u8> = (0..=255).collect();
            port.write_all(&all).await.unwrap();
            let mut there = vec![0; 256];
            device.read_exact(&mut there).await.unwrap();
            device.write_all(&all).await.unwrap();
            let mut back = vec![0; 256];
            port.read_exact(&mut back).await.unwrap();
            assert_eq!((there, back), (all.clone(), all));
        });
    }

    #[test]
    fn a_port_exists_while_its_device_does_and_can_be_opened_once() {
        simulated(async {
            let path = Path::new(PORT);
            let error = SerialPort::open(path, 115_200).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.to_string().starts_with("/dev/ttyUSB0: No such file"), "{error}");
            let device = DeviceEnd::create(path).unwrap();
            assert!(DeviceEnd::create(path).is_err());
            let first = SerialPort::open(path, 115_200).unwrap();
            let error = SerialPort::open(path, 115_200).unwrap_err();
            assert!(error.to_string().ends_with("another program has this port"), "{error}");
            drop(first);
            let mut port = SerialPort::open(path, 115_200).unwrap();
            drop(device);
            assert_eq!(port.read(&mut [0]).await.unwrap(), 0, "the line is cut");
            assert!(port.write(&[0]).await.is_err());
            assert!(SerialPort::open(path, 115_200).is_err());
        });
    }

    #[test]
    fn a_client_that_comes_late_or_does_not_read_loses_the_oldest_bytes() {
        simulated(async {
            let mut device = DeviceEnd::create(Path::new(PORT)).unwrap();
            device.write_all(b"nobody reads this").await.unwrap();
            let mut port = SerialPort::open(Path::new(PORT), 115_200).unwrap();
            for number in 0..=255_u8 {
                device.write_all(&[number; 100]).await.unwrap();
            }
            let mut bytes = [0; 100];
            let count = port.read(&mut bytes).await.unwrap();
            assert!(count == 100 && bytes[0] > 200, "{count} {}", bytes[0]);
        });
    }
}
