//! The link to a machine: a serial line, a TCP connection either way, UDP, or a CAN bus.
//!
//! One task opens it, reads, writes, and waits for the conversation's deadlines; a link that is lost is opened again, each time
//! after a longer delay. A CAN bus has a thread of its own, since waiting for it blocks.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dragoman_io::can::{Bus, BusFault, Frame, Received, SendError};
use dragoman_io::net::{Keepalive, TcpListener, TcpStream, UdpSocket};
use dragoman_io::serial::{SerialPort, SerialSettings};
use dragoman_protocol::model::{Parity, Serial};
use embedded_can::{ExtendedId, Id, StandardId};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::node::Shared;
use crate::clock;

/// Timeout of writing a message, and of a connection attempt.
const WRITE_TIME: Duration = Duration::from_secs(1);
const CONNECT_TIME: Duration = Duration::from_secs(2);
/// Maximum size of a datagram, and of what is read at once.
const READ_SIZE: usize = 65_536;
/// A machine that does not acknowledge for so long is lost: it may have been switched off.
const KEEPALIVE: Keepalive = Keepalive { idle_s: 5, interval_s: 2, probes: 3 };
/// A bus is looked at this often for what is to be sent.
const BUS_STEP: Duration = Duration::from_millis(2);
/// Delay before a frame is offered again to a bus whose queue was full.
const FULL_WAIT: Duration = Duration::from_micros(500);
/// Frames received in a row before frames are sent again.
const FRAMES_AT_ONCE: usize = 256;
/// Identifiers above this one have 29 bits.
const MAX_STANDARD: u64 = 0x7FF;

/// Where a machine is.
pub enum Place {
    /// On a serial line.
    Serial {
        /// The port.
        path: PathBuf,
        /// Its settings.
        settings: SerialSettings,
    },
    /// At a TCP port, to which we connect.
    Connect(SocketAddr),
    /// It connects to our TCP port.
    Listen(SocketAddr),
    /// At the other end of a UDP socket.
    Udp {
        /// Our address.
        local: SocketAddr,
        /// Its address; `None`: that from which the last datagram came.
        peer: Option<SocketAddr>,
        /// Messages go to all hosts, and come from any.
        broadcast: bool,
    },
    /// On a CAN bus.
    Can {
        /// The bus.
        bus: Mutex<Box<dyn Bus>>,
        /// All identifiers have 29 bits.
        extended: bool,
        /// Its name, for people.
        name: String,
    },
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Serial { path, .. } => write!(formatter, "{}", path.display()),
            Self::Connect(address) => write!(formatter, "{address}"),
            Self::Listen(address) => write!(formatter, "TCP port {address}"),
            Self::Udp { local, peer: None, .. } => write!(formatter, "UDP port {local}"),
            Self::Udp { peer: Some(peer), .. } => write!(formatter, "{peer}"),
            Self::Can { name, .. } => formatter.write_str(name),
        }
    }
}

/// An open link.
enum Port {
    Serial(Box<SerialPort>),
    Tcp(TcpStream),
    Udp {
        socket: UdpSocket,
        peer: Option<SocketAddr>,
        /// Whose datagrams are taken; `None`: anybody's.
        only: Option<SocketAddr>,
        /// Messages go to the sender of the last message.
        follows: bool,
        /// The sender of the last datagram.
        sender: Option<SocketAddr>,
        /// The datagram that was received before the link counted as open.
        first: Option<Vec<u8>>,
    },
}

impl Port {
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Serial(port) => match port.read(buffer).await? {
                0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "the line has ended")),
                count => Ok(count),
            },
            Self::Tcp(stream) => match crate::tcp::read(stream, buffer).await? {
                0 => Err(io::Error::new(ErrorKind::UnexpectedEof, "it closed the connection")),
                count => {
                    stream.acknowledge_quickly();
                    Ok(count)
                }
            },
            Self::Udp { socket, only, sender, first, .. } => {
                if let Some(first) = first.take() {
                    buffer.iter_mut().zip(&first).for_each(|(to, from)| *to = *from);
                    return Ok(first.len().min(buffer.len()));
                }
                let (count, from) = socket.recv_from(buffer).await?;
                *sender = Some(from);
                // Datagrams of other senders are dropped.
                Ok(if only.is_none_or(|only| only == from) { count } else { 0 })
            }
        }
    }

    /// The last datagram was a message of the machine.
    fn understood(&mut self) {
        if let Self::Udp { peer, follows: true, sender, .. } = self {
            *peer = sender.or(*peer);
        }
    }

    fn is_datagrams(&self) -> bool {
        matches!(self, Self::Udp { .. })
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = async {
            match self {
                Self::Serial(port) => port.write_all(bytes).await,
                Self::Tcp(stream) => {
                    let mut rest = bytes;
                    while !rest.is_empty() {
                        match crate::tcp::send(stream, rest)? {
                            0 => stream.writable().await?,
                            count => rest = rest.get(count..).unwrap_or_default(),
                        }
                    }
                    Ok(())
                }
                Self::Udp { socket, peer: Some(peer), .. } => match socket.try_send_to(bytes, *peer) {
                    // As datagrams that are lost on their way.
                    Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
                    sent => sent.map(|_| ()),
                },
                Self::Udp { peer: None, .. } => Ok(()),
            }
        };
        let late = |_| io::Error::new(ErrorKind::TimedOut, "it takes no bytes");
        dragoman_time::timeout(WRITE_TIME, written).await.map_err(late)?
    }
}

impl Place {
    async fn open(&self) -> io::Result<Port> {
        match self {
            Self::Serial { path, settings } => {
                SerialPort::open_with(path, *settings).map(|port| Port::Serial(Box::new(port)))
            }
            Self::Connect(address) => {
                let stream = dragoman_time::timeout(CONNECT_TIME, TcpStream::connect(*address)).await;
                let stream = stream.map_err(|_late| io::Error::new(ErrorKind::TimedOut, "no answer"))??;
                stream.set_nodelay(true)?;
                stream.set_keepalive(&KEEPALIVE)?;
                Ok(Port::Tcp(stream))
            }
            Self::Listen(address) => {
                // The port is closed while the machine is connected: it has one connection.
                let listener = TcpListener::bind(*address, 1)?;
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                stream.set_keepalive(&KEEPALIVE)?;
                Ok(Port::Tcp(stream))
            }
            Self::Udp { local, peer, broadcast } => {
                let socket = UdpSocket::bind(*local)?;
                if *broadcast {
                    socket.set_broadcast()?;
                }
                let (mut first, mut from) = (None, *peer);
                if peer.is_none() {
                    let mut buffer = vec![0; READ_SIZE];
                    let (count, sender) = socket.recv_from(&mut buffer).await?;
                    buffer.truncate(count);
                    (first, from) = (Some(buffer), Some(sender));
                }
                let only = peer.filter(|_| !broadcast);
                Ok(Port::Udp { socket, peer: from, only, follows: peer.is_none(), sender: from, first })
            }
            Self::Can { .. } => Err(ErrorKind::Unsupported.into()),
        }
    }
}

/// Runs the link while the future is polled.
pub(crate) async fn run(shared: Arc<Shared>, place: Place) {
    match place {
        Place::Can { bus, extended, name } => run_bus(shared, bus.into_inner(), extended, name).await,
        place => run_port(shared, place).await,
    }
}

async fn run_port(shared: Arc<Shared>, place: Place) {
    let ([mut delay, _], mut reported, mut is_open_reported) = (shared.reconnect(), None, false);
    loop {
        let (text, failure) = match place.open().await {
            Ok(mut port) => {
                // A link that is lost again at once is reported once.
                if reported.is_none() || !is_open_reported {
                    is_open_reported = true;
                    tracing::info!(%place, "link opened");
                }
                shared.connected();
                let error = serve(&shared, &mut port).await;
                if shared.was_heard() {
                    ([delay, _], reported) = (shared.reconnect(), None);
                }
                ("link lost", error.to_string())
            }
            Err(error) => {
                is_open_reported = false;
                ("opening the link failed", error.to_string())
            }
        };
        if shared.is_closing() {
            tracing::info!(%place, "link closed");
            shared.lost(failure);
            return;
        }
        // Logged once per reason, not at every attempt.
        if reported.as_ref() != Some(&failure) {
            tracing::warn!(%place, error = %failure, "{text}");
            reported = Some(failure.clone());
        }
        shared.lost(failure);
        dragoman_time::sleep(delay).await;
        let [_, longest] = shared.reconnect();
        delay = (delay * 2).min(longest);
    }
}

/// Runs until the link is lost; returns the reason.
async fn serve(shared: &Shared, port: &mut Port) -> io::Error {
    let mut buffer = vec![0; READ_SIZE];
    loop {
        while let Some(frame) = shared.next_frame() {
            dragoman_time::note("machine", "written", &frame.bytes);
            if let Err(error) = port.write(&frame.bytes).await {
                return error;
            }
        }
        shared.handle_events();
        if shared.is_closing() && !shared.is_stopping() {
            return io::Error::other("it was closed on request");
        }
        tokio::select! {
            biased;
            read = port.read(&mut buffer) => match read {
                Ok(count) => {
                    let bytes = buffer.get(..count).unwrap_or_default();
                    dragoman_time::note("machine", "read", bytes);
                    if shared.handle_bytes(bytes, port.is_datagrams()) {
                        port.understood();
                    }
                }
                Err(error) => return error,
            },
            () = shared.woken() => {}
            () = clock::until(shared.poll_timeout()) => shared.handle_timeout(),
        }
    }
}

async fn run_bus(shared: Arc<Shared>, mut bus: Box<dyn Bus>, extended: bool, name: String) {
    let span = tracing::Span::current();
    let running = Arc::clone(&shared);
    let thread = dragoman_time::spawn_thread("can", async move {
        span.in_scope(|| tracing::info!(place = %name, "link opened"));
        running.connected();
        let mut end = None;
        loop {
            let wait = span.in_scope(|| turn(&running, bus.as_mut(), extended));
            if running.is_closing() {
                // A bus without power takes no stop.
                let end = *end.get_or_insert_with(|| dragoman_time::now() + WRITE_TIME);
                if !running.is_stopping() || dragoman_time::now() >= end {
                    break;
                }
            }
            bus.pause(wait).await;
        }
        running.lost("it was closed on request".to_owned());
    });
    match thread {
        // Its end is that of the node, or of this future.
        Ok(thread) => {
            let _close = Close(shared, Some(thread));
            std::future::pending().await
        }
        Err(error) => shared.lost(error.to_string()),
    }
}

/// Ends the thread of a bus.
struct Close(Arc<Shared>, Option<dragoman_time::Thread>);

impl Drop for Close {
    fn drop(&mut self) {
        self.0.close();
        if let Some(thread) = self.1.take() {
            thread.join();
        }
    }
}

/// Takes received frames, does what is due, and sends; returns the time until the next turn.
fn turn(shared: &Shared, bus: &mut dyn Bus, extended: bool) -> Duration {
    for _ in 0..FRAMES_AT_ONCE {
        match bus.receive() {
            Some(Received::Fault(fault @ (BusFault::Down | BusFault::BusOff))) => {
                bus_lost(shared, &fault);
            }
            Some(Received::Fault(BusFault::Up | BusFault::Active)) => {
                if shared.connected_again() {
                    tracing::info!("the CAN bus is back");
                }
            }
            // Data frames only: a remote frame has no data.
            Some(Received::Frame(frame)) if !frame.is_remote() => {
                shared.handle_frame(codes_of(&frame, extended), frame.data());
            }
            Some(_) => {}
            None => break,
        }
    }
    shared.handle_timeout();
    while let Some(outgoing) = shared.next_frame() {
        let Some(frame) = outgoing.id.and_then(|id| can_frame(id, extended, &outgoing.bytes)) else {
            continue;
        };
        match bus.send(&frame) {
            Ok(()) => {}
            Err(SendError::Full) => {
                // Nothing else can be sent before it.
                shared.send_again(outgoing);
                shared.handle_events();
                return FULL_WAIT;
            }
            Err(error) => {
                bus_lost(shared, &error);
                break;
            }
        }
    }
    shared.handle_events();
    let next = shared.poll_timeout().map_or(BUS_STEP, |next| next.saturating_sub(clock::now()));
    next.min(BUS_STEP)
}

/// Logged once: a bus that is down takes no frame.
fn bus_lost(shared: &Shared, reason: &dyn std::fmt::Display) {
    if shared.is_connected() {
        tracing::warn!(error = %reason, "link lost");
    }
    shared.lost(reason.to_string());
}

/// Marks identifiers of 29 bits in descriptions, as in DBC files; it is not needed for those that have more than 11.
const EXTENDED: u64 = 1 << 31;

/// The codes that the message of a frame may have in a description; none if all its identifiers have another number of bits.
pub fn codes_of(frame: &Frame, extended: bool) -> impl Iterator<Item = u64> + use<> {
    let codes = match frame.id() {
        Id::Standard(_) if extended => [None, None],
        Id::Standard(id) => [Some(id.as_raw().into()), None],
        Id::Extended(id) => {
            let id = u64::from(id.as_raw());
            // Without the mark it would be one of 11 bits.
            [Some(id | EXTENDED), Some(id).filter(|id| extended || *id > MAX_STANDARD)]
        }
    };
    codes.into_iter().flatten()
}

/// A frame with this identifier: 29 bits if they are `extended`, or if it is larger than 11 bits.
pub fn can_frame(id: u64, extended: bool, data: &[u8]) -> Option<Frame> {
    let id: Id = if extended || id > MAX_STANDARD {
        ExtendedId::new(u32::try_from(id & !EXTENDED).ok()?)?.into()
    } else {
        StandardId::new(u16::try_from(id).ok()?)?.into()
    };
    Frame::new(id, data)
}

/// The settings of a serial line.
///
/// # Errors
/// A number of data bits or stop bits that lines do not have.
pub fn serial_settings(serial: Serial) -> Result<SerialSettings, String> {
    let wrong = |what: &str, value: u8, possible: &str| Err(format!("{what} are {possible}, not {value}"));
    Ok(SerialSettings {
        baud: serial.rate,
        parity: match serial.parity {
            Parity::None => None,
            Parity::Even => Some(true),
            Parity::Odd => Some(false),
        },
        seven_bits: match serial.data_bits {
            7 => true,
            8 => false,
            bits => return wrong("data bits", bits, "7 or 8"),
        },
        two_stop_bits: match serial.stop_bits {
            1 => false,
            2 => true,
            bits => return wrong("stop bits", bits, "1 or 2"),
        },
        flow_control: serial.flow,
    })
}
