//! The clock and the sockets of a test's programs, on virtual time: those of `std`, in the network of the lab. Blocking
//! calls run the lab meanwhile.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Mutex;
use std::time::Duration;

use dragoman_io::net;
use tokio::io::AsyncWriteExt;

pub(crate) use super::common::sleep;
pub(crate) use dragoman_time::now;

/// A connection, with the methods of `std::net::TcpStream`.
#[derive(Debug)]
pub(crate) struct TcpStream {
    stream: net::TcpStream,
    limit: Mutex<Option<Duration>>,
    write_limit: Mutex<Option<Duration>>,
    is_nonblocking: Mutex<bool>,
}

impl TcpStream {
    pub(crate) fn connect(server: SocketAddr) -> Result<Self> {
        super::common::block_on(net::TcpStream::connect(server)).map(Self::from)
    }

    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> Result<()> {
        *self.limit.lock().unwrap() = limit;
        Ok(())
    }

    pub(crate) fn set_write_timeout(&self, limit: Option<Duration>) -> Result<()> {
        *self.write_limit.lock().unwrap() = limit;
        Ok(())
    }

    pub(crate) fn set_nodelay(&self, is_set: bool) -> Result<()> {
        self.stream.set_nodelay(is_set)
    }

    pub(crate) fn set_nonblocking(&self, is_set: bool) -> Result<()> {
        *self.is_nonblocking.lock().unwrap() = is_set;
        Ok(())
    }

    pub(crate) fn local_addr(&self) -> Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Closes the direction of writing.
    pub(crate) fn shutdown(&mut self, how: Shutdown) -> Result<()> {
        assert_eq!(how, Shutdown::Write);
        super::common::block_on(self.stream.shutdown())
    }
}

impl From<net::TcpStream> for TcpStream {
    fn from(stream: net::TcpStream) -> Self {
        Self {
            stream,
            limit: Mutex::new(None),
            write_limit: Mutex::new(None),
            is_nonblocking: Mutex::new(false),
        }
    }
}

impl Read for TcpStream {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        loop {
            match self.stream.try_read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            if *self.is_nonblocking.lock().unwrap() {
                return Err(ErrorKind::WouldBlock.into());
            }
            limited(*self.limit.lock().unwrap(), self.stream.readable())?;
        }
    }
}

impl Write for TcpStream {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        loop {
            match self.stream.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
            if *self.is_nonblocking.lock().unwrap() {
                return Err(ErrorKind::WouldBlock.into());
            }
            limited(*self.write_limit.lock().unwrap(), self.stream.writable())?;
        }
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A socket, with the methods of `std::net::UdpSocket`.
pub(crate) struct UdpSocket {
    socket: net::UdpSocket,
    limit: Mutex<Option<Duration>>,
}

impl UdpSocket {
    pub(crate) fn bind(address: &str) -> Result<Self> {
        let socket = net::UdpSocket::bind(address.parse().unwrap())?;
        Ok(Self { socket, limit: Mutex::new(None) })
    }

    pub(crate) fn connect(&self, peer: SocketAddr) -> Result<()> {
        self.socket.connect(peer)
    }

    pub(crate) fn local_addr(&self) -> Result<SocketAddr> {
        self.socket.local_addr()
    }

    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> Result<()> {
        *self.limit.lock().unwrap() = limit;
        Ok(())
    }

    pub(crate) fn send(&self, bytes: &[u8]) -> Result<usize> {
        self.socket.try_send(bytes)
    }

    pub(crate) fn send_to(&self, bytes: &[u8], peer: SocketAddr) -> Result<usize> {
        self.socket.try_send_to(bytes, peer)
    }

    pub(crate) fn recv(&self, buffer: &mut [u8]) -> Result<usize> {
        self.recv_from(buffer).map(|(length, _)| length)
    }

    pub(crate) fn recv_from(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        loop {
            match self.socket.try_recv_from(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                received => return received,
            }
            limited(*self.limit.lock().unwrap(), self.socket.readable())?;
        }
    }
}

/// Runs the lab until `ready`, at most for `limit`.
fn limited(limit: Option<Duration>, ready: impl Future<Output = Result<()>>) -> Result<()> {
    super::common::block_on(async {
        match limit {
            None => ready.await,
            // As Linux has it.
            Some(limit) => {
                dragoman_time::timeout(limit, ready).await.unwrap_or(Err(ErrorKind::WouldBlock.into()))
            }
        }
    })
}
