//! TCP connections.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, Result};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use nix::sys::socket::{setsockopt, sockopt};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::keepalive::Keepalive;
use super::network::{Network, listening};
use super::pipe::Pipe;
use super::places::Place;

/// A TCP connection; the methods are those of tokio's.
pub struct TcpStream {
    kind: StreamKind,
    /// `None` for an outgoing connection.
    _place: Option<Place>,
}

pub(super) enum StreamKind {
    System(tokio::net::TcpStream),
    Lab(End),
}

/// An end of a connection in the network of a lab.
pub(super) struct End {
    pub(super) own: SocketAddr,
    pub(super) peer: SocketAddr,
    pub(super) incoming: Arc<Pipe>,
    pub(super) outgoing: Arc<Pipe>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("End").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl End {
    /// Both ends of a connection from `client` to `server`.
    pub(super) fn pair(network: &Arc<Network>, client: SocketAddr, server: SocketAddr) -> [Self; 2] {
        let to_server = Pipe::new(format!("{client} -> {server}"), network);
        let to_client = Pipe::new(format!("{server} -> {client}"), network);
        let there = Self {
            own: server,
            peer: client,
            incoming: Arc::clone(&to_server),
            outgoing: Arc::clone(&to_client),
        };
        [Self { own: client, peer: server, incoming: to_client, outgoing: to_server }, there]
    }
}

/// As TCP does: unread bytes make it a reset.
impl Drop for End {
    fn drop(&mut self) {
        if self.incoming.unread() > 0 {
            self.outgoing.reset();
            self.incoming.reset();
        } else {
            self.outgoing.close();
            self.incoming.leave();
        }
    }
}

impl TcpStream {
    pub(super) fn new(kind: StreamKind, place: Option<Place>) -> Self {
        Self { kind, _place: place }
    }

    /// Connects to a listener.
    ///
    /// # Errors
    /// No socket listens there; the network is not reachable.
    pub async fn connect(server: SocketAddr) -> Result<Self> {
        if !dragoman_time::is_virtual() {
            return tokio::net::TcpStream::connect(server)
                .await
                .map(|stream| Self::new(StreamKind::System(stream), None));
        }
        let network = Network::of_lab();
        dragoman_time::precise_sleep_until(network.conditions().arrival()).await;
        let refused =
            || std::io::Error::new(ErrorKind::ConnectionRefused, "Connection refused (os error 111)");
        let (accepting, client) = {
            let mut state = network.state();
            let accepting = listening(&state.listeners, &server).ok_or_else(refused)?;
            let client = SocketAddr::new([127, 0, 0, 1].into(), 0);
            (accepting, state.address(client, |_, _| true)?)
        };
        let [here, there] = End::pair(&network, client, server);
        accepting.offer(there)?;
        Ok(Self::new(StreamKind::Lab(here), None))
    }

    /// The address of this end.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        match &self.kind {
            StreamKind::System(stream) => stream.local_addr(),
            StreamKind::Lab(end) => Ok(end.own),
        }
    }

    /// The address of the other end.
    ///
    /// # Errors
    /// Those of the system.
    pub fn peer_addr(&self) -> Result<SocketAddr> {
        match &self.kind {
            StreamKind::System(stream) => stream.peer_addr(),
            StreamKind::Lab(end) => Ok(end.peer),
        }
    }

    /// Resolves when there may be something to read, or the end.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn readable(&self) -> Result<()> {
        match &self.kind {
            StreamKind::System(stream) => stream.readable().await,
            StreamKind::Lab(end) => {
                poll_fn(|task| end.incoming.poll_readable(task)).await;
                Ok(())
            }
        }
    }

    /// Resolves when there may be room for more bytes.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn writable(&self) -> Result<()> {
        match &self.kind {
            StreamKind::System(stream) => stream.writable().await,
            StreamKind::Lab(end) => {
                poll_fn(|task| end.outgoing.poll_writable(task)).await;
                Ok(())
            }
        }
    }

    /// Reads without waiting; 0 at the end.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: there is nothing to read. The connection is lost.
    pub fn try_read(&self, buffer: &mut [u8]) -> Result<usize> {
        match &self.kind {
            StreamKind::System(stream) => stream.try_read(buffer),
            StreamKind::Lab(end) => end.incoming.try_read(buffer),
        }
    }

    /// Writes without waiting, perhaps a part only.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: the peer does not read. The connection is lost.
    pub fn try_write(&self, bytes: &[u8]) -> Result<usize> {
        match &self.kind {
            StreamKind::System(stream) => stream.try_write(bytes),
            StreamKind::Lab(end) => end.outgoing.try_write(bytes),
        }
    }

    /// Whether the peer has closed the connection, or is lost; also while received bytes are not read yet.
    pub fn has_ended(&self) -> bool {
        match &self.kind {
            StreamKind::System(stream) => {
                let ready = stream.ready(Interest::READABLE).now_or_never();
                ready.and_then(Result::ok).is_some_and(|ready| ready.is_read_closed())
            }
            StreamKind::Lab(end) => end.incoming.has_ended(),
        }
    }

    /// Sends small packets at once.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_nodelay(&self, is_set: bool) -> Result<()> {
        match &self.kind {
            StreamKind::System(stream) => stream.set_nodelay(is_set),
            StreamKind::Lab(_) => Ok(()),
        }
    }

    /// Acknowledges received data at once. A client that waits for the acknowledgement of a request without an answer would
    /// otherwise lose up to 40 ms. The kernel resets the option, so it is set again after every read.
    pub fn acknowledge_quickly(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let StreamKind::System(stream) = &self.kind
            && let Err(error) = stream.set_quickack(true)
        {
            tracing::debug!(%error, "setting TCP_QUICKACK failed");
        }
    }

    /// Enables TCP keepalive. A client that does not acknowledge sent data for the same time is disconnected as well,
    /// because TCP sends no probes while it has unsent data.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_keepalive(&self, keepalive: &Keepalive) -> Result<()> {
        match &self.kind {
            StreamKind::System(stream) => {
                setsockopt(stream, sockopt::KeepAlive, &true)?;
                setsockopt(stream, sockopt::TcpKeepIdle, &keepalive.idle_s)?;
                setsockopt(stream, sockopt::TcpKeepInterval, &keepalive.interval_s)?;
                setsockopt(stream, sockopt::TcpKeepCount, &keepalive.probes)?;
            }
            StreamKind::Lab(end) => {
                end.incoming.set_keepalive(keepalive.total());
                end.outgoing.set_keepalive(keepalive.total());
            }
        }
        self.limit_unread(keepalive, true)
    }

    /// Sets whether a client that does not acknowledge sent data is disconnected, as
    /// [`set_keepalive`](Self::set_keepalive) sets it. For the system, a client that does not read is one of them;
    /// without the limit it stays, and one that has vanished meanwhile is noticed after minutes.
    ///
    /// # Errors
    /// Those of the system.
    pub fn limit_unread(&self, keepalive: &Keepalive, is_limited: bool) -> Result<()> {
        match &self.kind {
            StreamKind::System(stream) => {
                #[cfg(any(target_os = "linux", target_os = "android"))]
                {
                    let limit = if is_limited { keepalive.total_s().saturating_mul(1000) } else { 0 };
                    setsockopt(stream, sockopt::TcpUserTimeout, &limit)?;
                }
                #[cfg(not(any(target_os = "linux", target_os = "android")))]
                let _ = stream;
            }
            StreamKind::Lab(end) => end.outgoing.limit_unread(is_limited.then(|| keepalive.total())),
        }
        Ok(())
    }

    /// The system's connection; `None` in the network of a lab.
    pub fn system(&self) -> Option<&tokio::net::TcpStream> {
        match &self.kind {
            StreamKind::System(stream) => Some(stream),
            StreamKind::Lab(_) => None,
        }
    }
}

impl From<tokio::net::TcpStream> for TcpStream {
    fn from(stream: tokio::net::TcpStream) -> Self {
        Self::new(StreamKind::System(stream), None)
    }
}

impl std::fmt::Debug for TcpStream {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TcpStream").field("peer", &self.peer_addr().ok()).finish_non_exhaustive()
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        match &mut self.kind {
            StreamKind::System(stream) => Pin::new(stream).poll_read(task, buffer),
            StreamKind::Lab(end) => {
                ready!(end.incoming.poll_readable(task));
                let count = end.incoming.try_read(buffer.initialize_unfilled())?;
                buffer.advance(count);
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl AsyncWrite for TcpStream {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        match &mut self.kind {
            StreamKind::System(stream) => Pin::new(stream).poll_write(task, bytes),
            StreamKind::Lab(end) => {
                ready!(end.outgoing.poll_writable(task));
                Poll::Ready(end.outgoing.try_write(bytes))
            }
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        match &mut self.kind {
            StreamKind::System(stream) => Pin::new(stream).poll_write_vectored(task, parts),
            StreamKind::Lab(_) => {
                let first = parts.iter().find(|part| !part.is_empty()).map_or(&[][..], |part| part);
                self.poll_write(task, first)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.system().is_some()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.kind {
            StreamKind::System(stream) => Pin::new(stream).poll_flush(task),
            StreamKind::Lab(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.kind {
            StreamKind::System(stream) => Pin::new(stream).poll_shutdown(task),
            StreamKind::Lab(end) => {
                end.outgoing.close();
                Poll::Ready(Ok(()))
            }
        }
    }
}
