//! TCP ports.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use nix::sys::socket::Backlog;
use parking_lot::Mutex;

use super::network::{Network, is_free};
use super::places::Group;
use super::stream::{End, StreamKind as Connection, TcpStream};

/// A TCP port that accepts connections.
#[derive(Debug)]
pub struct TcpListener {
    kind: ListenerKind,
    group: Group,
}

#[derive(Debug)]
enum ListenerKind {
    System(std::net::TcpListener, tokio::sync::OnceCell<tokio::net::TcpListener>),
    Lab(Arc<Accepting>),
}

/// A port in the network of a lab.
#[derive(Debug)]
pub(super) struct Accepting {
    address: SocketAddr,
    backlog: usize,
    state: Mutex<ListenerState>,
}

#[derive(Debug, Default)]
struct ListenerState {
    /// The servers' ends of connections that were not accepted yet.
    waiting: VecDeque<End>,
    task: Option<Waker>,
}

impl TcpListener {
    /// Opens the port; `backlog` connections may wait until they are accepted.
    ///
    /// # Errors
    /// The address is in use, or does not belong to this machine.
    pub fn bind(address: SocketAddr, backlog: i32) -> Result<Self> {
        let kind = ListenerKind::bind(address, backlog)?;
        let address = kind.local_addr()?;
        Ok(Self { kind, group: Group::new(format!("TCP port {}", address.port())) })
    }

    /// Its address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        self.kind.local_addr()
    }

    /// The next connection, and its client. Connections without a [`Place`](super::Place) are closed at once.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn accept(&self) -> Result<(TcpStream, SocketAddr)> {
        loop {
            let (connection, client) = self.kind.accept().await?;
            if let Some(place) = self.group.take() {
                return Ok((TcpStream::new(connection, Some(place)), client));
            }
        }
    }
}

impl ListenerKind {
    fn bind(address: SocketAddr, backlog: i32) -> Result<Self> {
        if !dragoman_time::is_virtual() {
            let listener = std::net::TcpListener::bind(address)?;
            nix::sys::socket::listen(&listener, Backlog::new(backlog)?)?;
            listener.set_nonblocking(true)?;
            return Ok(Self::System(listener, tokio::sync::OnceCell::new()));
        }
        let network = Network::of_lab();
        let mut state = network.state();
        let address = state.address(address, |state, address| is_free(&state.listeners, address))?;
        let backlog = usize::try_from(backlog).unwrap_or_default();
        let accepting = Arc::new(Accepting { address, backlog, state: Mutex::default() });
        state.listeners.insert(address, Arc::downgrade(&accepting));
        Ok(Self::Lab(accepting))
    }

    fn local_addr(&self) -> Result<SocketAddr> {
        match self {
            Self::System(listener, _) => listener.local_addr(),
            Self::Lab(accepting) => Ok(accepting.address),
        }
    }

    async fn accept(&self) -> Result<(Connection, SocketAddr)> {
        match self {
            Self::System(listener, accepting) => {
                let open = async || tokio::net::TcpListener::from_std(listener.try_clone()?);
                let (stream, client) = accepting.get_or_try_init(open).await?.accept().await?;
                Ok((Connection::System(stream), client))
            }
            Self::Lab(accepting) => {
                let end = poll_fn(|task| accepting.poll_accept(task)).await;
                let client = end.peer;
                Ok((Connection::Lab(end), client))
            }
        }
    }
}

impl Accepting {
    pub(super) fn offer(&self, end: End) -> Result<()> {
        let mut state = self.state.lock();
        if state.waiting.len() >= self.backlog {
            return Err(Error::new(ErrorKind::TimedOut, "Connection timed out (os error 110)"));
        }
        state.waiting.push_back(end);
        if let Some(task) = state.task.take() {
            task.wake();
        }
        Ok(())
    }

    fn poll_accept(&self, task: &mut Context<'_>) -> Poll<End> {
        let mut state = self.state.lock();
        match state.waiting.pop_front() {
            Some(end) => Poll::Ready(end),
            None => {
                state.task = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}
