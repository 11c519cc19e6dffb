//! TCP ports.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use nix::sys::socket::Backlog;

use super::network::{Network, is_free};
use super::stream::{Kind as Connection, TcpStream};

/// A TCP port that accepts connections.
#[derive(Debug)]
pub struct TcpListener(Kind);

#[derive(Debug)]
enum Kind {
    System(std::net::TcpListener, tokio::sync::OnceCell<tokio::net::TcpListener>),
    Lab(Arc<Accepting>),
}

/// A port in the network of a lab.
#[derive(Debug)]
pub(super) struct Accepting {
    address: SocketAddr,
    backlog: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Connections that were not accepted yet.
    waiting: VecDeque<TcpStream>,
    task: Option<Waker>,
}

impl TcpListener {
    /// Opens the port; `backlog` connections may wait until they are accepted.
    ///
    /// # Errors
    /// The address is taken, or is none of this machine.
    pub fn bind(address: SocketAddr, backlog: i32) -> Result<Self> {
        if !dragoman_time::is_virtual() {
            let listener = std::net::TcpListener::bind(address)?;
            nix::sys::socket::listen(&listener, Backlog::new(backlog)?)?;
            listener.set_nonblocking(true)?;
            return Ok(Self(Kind::System(listener, tokio::sync::OnceCell::new())));
        }
        let network = Network::of_lab();
        let mut state = network.state();
        let address = state.address(address, |state, address| is_free(&state.listeners, address))?;
        let backlog = usize::try_from(backlog).unwrap_or_default();
        let accepting = Arc::new(Accepting { address, backlog, state: Mutex::default() });
        state.listeners.insert(address, Arc::downgrade(&accepting));
        Ok(Self(Kind::Lab(accepting)))
    }

    /// Its address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        match &self.0 {
            Kind::System(listener, _) => listener.local_addr(),
            Kind::Lab(accepting) => Ok(accepting.address),
        }
    }

    /// The next connection, and its client.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn accept(&self) -> Result<(TcpStream, SocketAddr)> {
        match &self.0 {
            Kind::System(listener, accepting) => {
                let open = async || tokio::net::TcpListener::from_std(listener.try_clone()?);
                let (stream, client) = accepting.get_or_try_init(open).await?.accept().await?;
                Ok((TcpStream(Connection::System(stream)), client))
            }
            Kind::Lab(accepting) => {
                let stream = poll_fn(|task| accepting.poll_accept(task)).await;
                let client = stream.peer_addr()?;
                Ok((stream, client))
            }
        }
    }
}

impl Accepting {
    pub(super) fn offer(&self, stream: TcpStream) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting.len() >= self.backlog {
            return Err(Error::new(ErrorKind::TimedOut, "Connection timed out (os error 110)"));
        }
        state.waiting.push_back(stream);
        if let Some(task) = state.task.take() {
            task.wake();
        }
        Ok(())
    }

    fn poll_accept(&self, task: &mut Context<'_>) -> Poll<TcpStream> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.waiting.pop_front() {
            Some(stream) => Poll::Ready(stream),
            None => {
                state.task = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}
