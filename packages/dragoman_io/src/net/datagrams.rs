//! UDP sockets.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use dragoman_time::Sleep;

use super::network::{Network, happens, is_free, listening};

/// Bytes that may be unread: the default of Linux. Further datagrams are lost.
const CAPACITY: usize = 212_992;

/// A UDP socket; the methods are those of tokio's.
#[derive(Debug)]
pub struct UdpSocket(Kind);

#[derive(Debug)]
enum Kind {
    System(std::net::UdpSocket, tokio::sync::OnceCell<tokio::net::UdpSocket>),
    Lab(Arc<Inbox>, Mutex<Option<SocketAddr>>),
}

/// A socket in the network of a lab.
#[derive(Debug)]
pub(super) struct Inbox {
    address: SocketAddr,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Datagrams on their way or unread, by arrival and number: sender and content.
    waiting: BTreeMap<(Instant, u64), (SocketAddr, Vec<u8>)>,
    count: u64,
    bytes: usize,
    task: Option<Waker>,
    /// Wakes the reader at the next arrival.
    timer: Option<Sleep>,
}

impl UdpSocket {
    /// Opens a socket.
    ///
    /// # Errors
    /// The address is taken, or is none of this machine.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        if !dragoman_time::is_virtual() {
            let socket = std::net::UdpSocket::bind(address)?;
            socket.set_nonblocking(true)?;
            return Ok(Self(Kind::System(socket, tokio::sync::OnceCell::new())));
        }
        let network = Network::of_lab();
        let mut state = network.state();
        let address = state.address(address, |state, address| is_free(&state.datagrams, address))?;
        let inbox = Arc::new(Inbox { address, state: Mutex::default() });
        state.datagrams.insert(address, Arc::downgrade(&inbox));
        Ok(Self(Kind::Lab(inbox, Mutex::new(None))))
    }

    /// Sends to, and receives from, `peer` only.
    ///
    /// # Errors
    /// Those of the system.
    pub fn connect(&self, peer: SocketAddr) -> Result<()> {
        match &self.0 {
            Kind::System(socket, _) => socket.connect(peer),
            Kind::Lab(_, connected) => {
                *lock(connected) = Some(peer);
                Ok(())
            }
        }
    }

    /// Its address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        match &self.0 {
            Kind::System(socket, _) => socket.local_addr(),
            Kind::Lab(inbox, _) => Ok(inbox.address),
        }
    }

    /// Resolves when there may be something to read.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn readable(&self) -> Result<()> {
        match &self.0 {
            Kind::System(socket, waiting) => {
                let open = async || tokio::net::UdpSocket::from_std(socket.try_clone()?);
                waiting.get_or_try_init(open).await?.readable().await
            }
            Kind::Lab(inbox, _) => {
                poll_fn(|task| inbox.poll_readable(task)).await;
                Ok(())
            }
        }
    }

    /// Receives without waiting: the length of the datagram, of which as much is in `buffer` as it has room for, and
    /// its sender.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: there is nothing to read. An earlier datagram could not be delivered.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        match &self.0 {
            Kind::System(socket, waiting) => match waiting.get() {
                // It also forgets that the socket was readable.
                Some(socket) => socket.try_recv_from(buffer),
                None => socket.recv_from(buffer),
            },
            Kind::Lab(inbox, connected) => {
                let connected = *lock(connected);
                loop {
                    let (sender, bytes) = inbox.take()?;
                    if connected.is_none_or(|peer| peer == sender) {
                        buffer.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
                        return Ok((bytes.len().min(buffer.len()), sender));
                    }
                }
            }
        }
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: the system's buffer is full. The address cannot be reached.
    pub fn try_send_to(&self, bytes: &[u8], peer: SocketAddr) -> Result<usize> {
        match &self.0 {
            Kind::System(socket, _) => socket.send_to(bytes, peer),
            Kind::Lab(inbox, _) => {
                send(inbox.address, peer, bytes);
                Ok(bytes.len())
            }
        }
    }

    /// Sends to the connected peer without waiting.
    ///
    /// # Errors
    /// As [`try_send_to`](Self::try_send_to); it is not connected.
    pub fn try_send(&self, bytes: &[u8]) -> Result<usize> {
        match &self.0 {
            Kind::System(socket, _) => socket.send(bytes),
            Kind::Lab(inbox, connected) => {
                let peer = lock(connected).ok_or(ErrorKind::NotConnected)?;
                send(inbox.address, peer, bytes);
                Ok(bytes.len())
            }
        }
    }

    /// The next datagram: its length, of which as much is in `buffer` as it has room for, and its sender.
    ///
    /// # Errors
    /// An earlier datagram could not be delivered.
    pub async fn recv_from(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        loop {
            self.readable().await?;
            match self.try_recv_from(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                received => return received,
            }
        }
    }
}

fn send(from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
    let network = Network::of_lab();
    let conditions = network.conditions();
    // As the system's choice of an interface.
    let from = if from.ip().is_unspecified() { SocketAddr::new(to.ip(), from.port()) } else { from };
    dragoman_time::note("datagram", &format!("{from} -> {to}"), bytes);
    let inbox = listening(&network.state().datagrams, &to);
    let copies = 1 + u32::from(happens(conditions.duplication));
    for _ in 0..copies {
        let (is_lost, arrival) = (happens(conditions.loss), conditions.arrival());
        if let Some(inbox) = inbox.as_ref().filter(|_| !is_lost) {
            inbox.put(arrival, from, bytes);
        }
    }
}

impl Inbox {
    fn put(&self, arrival: Instant, sender: SocketAddr, bytes: &[u8]) {
        let mut state = lock(&self.state);
        if state.bytes + bytes.len() > CAPACITY {
            return;
        }
        state.bytes += bytes.len();
        state.count += 1;
        let number = state.count;
        state.waiting.insert((arrival, number), (sender, bytes.to_vec()));
        if let Some(task) = state.task.take() {
            task.wake();
        }
    }

    fn take(&self) -> Result<(SocketAddr, Vec<u8>)> {
        let mut state = lock(&self.state);
        let now = dragoman_time::now();
        let first = state.waiting.first_entry().filter(|first| first.key().0 <= now);
        let (sender, bytes) = first.ok_or(ErrorKind::WouldBlock)?.remove();
        state.bytes -= bytes.len();
        Ok((sender, bytes))
    }

    fn poll_readable(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        let next = state.waiting.first_key_value().map(|((arrival, _), _)| *arrival);
        if next.is_some_and(|arrival| arrival <= dragoman_time::now()) {
            return Poll::Ready(());
        }
        state.task = Some(task.waker().clone());
        state.timer = next.map(dragoman_time::precise_sleep_until);
        if let Some(timer) = &mut state.timer {
            // It has not expired: that was checked.
            let _ = Pin::new(timer).poll(task);
        }
        Poll::Pending
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
