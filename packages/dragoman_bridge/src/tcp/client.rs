//! Client side of all TCP protocols: the connection to a server, and the calls that wait for it.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use dragoman_io::net::TcpStream;
use futures::future::{BoxFuture, FutureExt};

use super::send;

/// Time limit of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Describes why a connection was lost.
pub(crate) fn loss(error: &Error) -> String {
    match error.kind() {
        // A write detects it earlier than a read.
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => "it closed the connection".to_owned(),
        _ => error.to_string(),
    }
}

/// A connection to a server. The core decides when to connect and when to give up.
pub(crate) struct Link {
    server: SocketAddr,
    state: LinkState,
    buffer: Vec<u8>,
}

enum LinkState {
    Down,
    Connecting(BoxFuture<'static, Result<TcpStream>>),
    Up(TcpStream),
}

/// A change of a [`Link`].
pub(crate) enum LinkEvent {
    Connected,
    /// The attempt to connect failed.
    Failed(Error),
    /// This number of bytes is in [`Link::received`].
    Received(usize),
    Writable,
    /// The connection ended.
    Lost(Error),
}

impl Link {
    /// A link without a connection. `read_len` is the size of the read buffer, bytes.
    pub(crate) fn new(server: SocketAddr, read_len: usize) -> Self {
        Self { server, state: LinkState::Down, buffer: vec![0; read_len] }
    }

    pub(crate) fn server(&self) -> SocketAddr {
        self.server
    }

    /// Closes the connection, if any, and begins to make a new one.
    pub(crate) fn connect(&mut self) {
        self.state = LinkState::Connecting(connect(self.server).boxed());
    }

    /// Closes the connection, if any. An attempt to make a new one continues.
    pub(crate) fn close(&mut self) {
        if matches!(self.state, LinkState::Up(_)) {
            self.state = LinkState::Down;
        }
    }

    /// The next change; never without a connection or an attempt.
    pub(crate) async fn next(&mut self, has_unsent: bool) -> LinkEvent {
        let event = match &mut self.state {
            LinkState::Down => std::future::pending().await,
            LinkState::Connecting(connecting) => match connecting.await {
                Ok(stream) => {
                    self.state = LinkState::Up(stream);
                    return LinkEvent::Connected;
                }
                Err(error) => LinkEvent::Failed(error),
            },
            LinkState::Up(stream) => match change(stream, &mut self.buffer, has_unsent).await {
                Ok(event) => return event,
                Err(error) => LinkEvent::Lost(error),
            },
        };
        self.state = LinkState::Down;
        event
    }

    /// The bytes of [`LinkEvent::Received`].
    pub(crate) fn received(&self, len: usize) -> &[u8] {
        self.buffer.get(..len).unwrap_or_default()
    }

    /// Sends as much as the server accepts. Returns the number of bytes.
    pub(crate) fn send(&mut self, unsent: &[u8]) -> Result<usize> {
        let LinkState::Up(stream) = &self.state else { return Ok(0) };
        let sent = send(stream, unsent);
        if sent.is_err() {
            self.state = LinkState::Down;
        }
        sent
    }
}

async fn connect(server: SocketAddr) -> Result<TcpStream> {
    let connected = dragoman_time::timeout(CONNECT_TIMEOUT, TcpStream::connect(server)).await;
    let stream = connected.map_err(|_late| ErrorKind::TimedOut)??;
    stream.set_nodelay(true)?;
    stream.acknowledge_quickly();
    Ok(stream)
}

async fn change(stream: &TcpStream, buffer: &mut [u8], has_unsent: bool) -> Result<LinkEvent> {
    tokio::select! {
        biased;
        // The owner sends what is unsent, so it is not ready again before the server reads.
        writable = stream.writable(), if has_unsent => writable.map(|()| LinkEvent::Writable),
        read = super::read(stream, buffer) => match read? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            len => {
                stream.acknowledge_quickly();
                Ok(LinkEvent::Received(len))
            }
        },
    }
}
