//! UDP sockets.

use std::collections::BTreeMap;
use std::future::poll_fn;
#[cfg(target_os = "linux")]
use std::io::IoSliceMut;
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::net::{SocketAddrV4, SocketAddrV6};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use dragoman_time::Sleep;
#[cfg(target_os = "linux")]
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use nix::sys::socket::{setsockopt, sockopt};
use parking_lot::Mutex;
use tokio::io::Interest;

use super::network::{Network, happens, is_free, listening};

/// Bytes that may be unread: the default of Linux. Further datagrams are lost.
const CAPACITY: usize = 212_992;
/// Requested size of the system's receive buffer, bytes. Linux gives twice its `net.core.rmem_max` at most, which is
/// twice the default.
const WANTED: usize = 4 << 20;

/// A UDP socket; the methods are those of tokio's.
#[derive(Debug)]
pub struct UdpSocket(SocketKind);

#[derive(Debug)]
enum SocketKind {
    System(System),
    Lab(Arc<Inbox>, Mutex<Option<SocketAddr>>),
}

/// A socket of the system.
#[derive(Debug)]
struct System {
    socket: std::net::UdpSocket,
    waiting: tokio::sync::OnceCell<tokio::net::UdpSocket>,
    dropped: AtomicU32,
}

/// A socket in the network of a lab.
#[derive(Debug)]
pub(super) struct Inbox {
    address: SocketAddr,
    state: Mutex<InboxState>,
}

#[derive(Debug, Default)]
struct InboxState {
    /// Datagrams on their way or unread, by arrival and number: sender and content.
    waiting: BTreeMap<(Instant, u64), (SocketAddr, Vec<u8>)>,
    count: u64,
    bytes: usize,
    dropped: u32,
    task: Option<Waker>,
    /// Wakes the reader at the next arrival.
    timer: Option<Sleep>,
}

impl UdpSocket {
    /// Opens a socket.
    ///
    /// # Errors
    /// The address is in use, or does not belong to this machine.
    pub fn bind(address: SocketAddr) -> Result<Self> {
        if !dragoman_time::is_virtual() {
            return System::bind(address).map(|system| Self(SocketKind::System(system)));
        }
        let network = Network::of_lab();
        let mut state = network.state();
        let address = state.address(address, |state, address| is_free(&state.datagrams, address))?;
        let inbox = Arc::new(Inbox { address, state: Mutex::default() });
        state.datagrams.insert(address, Arc::downgrade(&inbox));
        Ok(Self(SocketKind::Lab(inbox, Mutex::new(None))))
    }

    /// Sends to, and receives from, `peer` only.
    ///
    /// # Errors
    /// Those of the system.
    pub fn connect(&self, peer: SocketAddr) -> Result<()> {
        match &self.0 {
            SocketKind::System(System { socket, .. }) => socket.connect(peer),
            SocketKind::Lab(_, connected) => {
                *connected.lock() = Some(peer);
                Ok(())
            }
        }
    }

    /// Allows datagrams to all hosts of a network.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_broadcast(&self) -> Result<()> {
        match &self.0 {
            SocketKind::System(System { socket, .. }) => socket.set_broadcast(true),
            SocketKind::Lab(..) => Ok(()),
        }
    }

    /// Its address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> Result<SocketAddr> {
        match &self.0 {
            SocketKind::System(System { socket, .. }) => socket.local_addr(),
            SocketKind::Lab(inbox, _) => Ok(inbox.address),
        }
    }

    /// Resolves when there may be something to read.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn readable(&self) -> Result<()> {
        match &self.0 {
            SocketKind::System(System { socket, waiting, .. }) => {
                let open = async || tokio::net::UdpSocket::from_std(socket.try_clone()?);
                waiting.get_or_try_init(open).await?.readable().await
            }
            SocketKind::Lab(inbox, _) => {
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
            SocketKind::System(system) => match system.waiting.get() {
                // It also forgets that the socket was readable.
                Some(socket) => socket.try_io(Interest::READABLE, || system.receive(buffer)),
                None => system.receive(buffer),
            },
            SocketKind::Lab(inbox, connected) => {
                let connected = *connected.lock();
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

    /// How many datagrams were lost because they were not read in time. The system reports them with the next datagram
    /// that it delivers.
    pub fn dropped(&self) -> u32 {
        match &self.0 {
            SocketKind::System(system) => system.dropped.load(Ordering::Relaxed),
            SocketKind::Lab(inbox, _) => inbox.state.lock().dropped,
        }
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`]: the system's buffer is full. The address cannot be reached.
    pub fn try_send_to(&self, bytes: &[u8], peer: SocketAddr) -> Result<usize> {
        match &self.0 {
            SocketKind::System(System { socket, .. }) => socket.send_to(bytes, peer),
            SocketKind::Lab(inbox, _) => {
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
            SocketKind::System(System { socket, .. }) => socket.send(bytes),
            SocketKind::Lab(inbox, connected) => {
                let peer = connected.lock().ok_or(ErrorKind::NotConnected)?;
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

impl System {
    fn bind(address: SocketAddr) -> Result<Self> {
        let socket = std::net::UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        // A smaller buffer is not an error.
        setsockopt(&socket, sockopt::RcvBuf, &WANTED)?;
        #[cfg(target_os = "linux")]
        setsockopt(&socket, sockopt::RxqOvfl, &1)?;
        Ok(Self { socket, waiting: tokio::sync::OnceCell::new(), dropped: AtomicU32::new(0) })
    }

    /// As `recvfrom`, with the number of lost datagrams (`SO_RXQ_OVFL`, socket(7)).
    #[cfg(target_os = "linux")]
    fn receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        let mut control = nix::cmsg_space!(u32);
        let mut into = [IoSliceMut::new(buffer)];
        let descriptor = self.socket.as_raw_fd();
        let received =
            recvmsg::<SockaddrStorage>(descriptor, &mut into, Some(&mut control), MsgFlags::empty())?;
        for message in received.cmsgs()? {
            if let ControlMessageOwned::RxqOvfl(dropped) = message {
                self.dropped.store(dropped, Ordering::Relaxed);
            }
        }
        let sender = received.address.as_ref().and_then(|address| {
            let v4 = address.as_sockaddr_in().map(|address| SocketAddrV4::from(*address).into());
            v4.or_else(|| address.as_sockaddr_in6().map(|address| SocketAddrV6::from(*address).into()))
        });
        Ok((received.bytes, sender.ok_or(ErrorKind::InvalidData)?))
    }

    #[cfg(not(target_os = "linux"))]
    fn receive(&self, buffer: &mut [u8]) -> Result<(usize, SocketAddr)> {
        self.socket.recv_from(buffer)
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
        let mut state = self.state.lock();
        if state.bytes + bytes.len() > CAPACITY {
            state.dropped += 1;
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
        let mut state = self.state.lock();
        let now = dragoman_time::now();
        let first = state.waiting.first_entry().filter(|first| first.key().0 <= now);
        let (sender, bytes) = first.ok_or(ErrorKind::WouldBlock)?.remove();
        state.bytes -= bytes.len();
        Ok((sender, bytes))
    }

    fn poll_readable(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock();
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
