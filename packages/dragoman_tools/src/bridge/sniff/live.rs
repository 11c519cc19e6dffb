//! What is sent now: on a serial line, to a UDP port, by a TCP server, through a proxy of TCP, on a CAN bus.
//!
//! Nothing is sent but by the proxy, which passes on what both sides send.

use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use dragoman_bridge::machine::link::serial_settings;
use dragoman_io::net::{TcpListener, TcpStream, UdpSocket};
use dragoman_io::serial::{SerialPort, SerialSettings};
use dragoman_protocol::Protocol;
use dragoman_protocol::model::{Link, Side};
use tokio::io::AsyncReadExt;

use super::watch::{Heard, Place, Watch};
use super::{Output, SniffCommand, SniffError, Speaker};

/// Bytes that are read at once; no datagram is larger.
const READ_SIZE: usize = 65_536;
/// Bytes that the proxy reads at once.
const PASSED: usize = 16_384;
/// How often it is looked whether the line is silent.
const IDLE: Duration = Duration::from_millis(50);
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// Where to listen.
pub(super) enum Source {
    Serial {
        path: PathBuf,
        settings: SerialSettings,
        heard: Heard,
    },
    Udp {
        local: SocketAddr,
        heard: Heard,
    },
    Connect {
        server: SocketAddr,
        heard: Heard,
    },
    Accept {
        local: SocketAddr,
        heard: Heard,
    },
    /// `is_accepted`: the machine connects to us.
    Through {
        local: SocketAddr,
        to: SocketAddr,
        is_accepted: bool,
    },
    Can {
        interface: String,
    },
}

impl Source {
    pub(super) fn new(protocol: &Protocol, command: &SniffCommand) -> Result<Self, SniffError> {
        let wrong = |text: String| Err(SniffError::Option(text));
        let link = command.link.as_deref().unwrap_or_default();
        if command.port.is_some() {
            return wrong("--port is for captures; --link HOST:PORT names a port".to_owned());
        }
        let heard = command.from.map_or(Side::Server.into(), Speaker::heard);
        let needs_tcp = "--through passes on what is sent by TCP; the description has another link";
        Ok(match protocol.link {
            Link::Tcp(tcp) if command.through.is_some() => {
                if command.from.is_some() {
                    return wrong("--from: with --through both sides are heard".to_owned());
                }
                let local =
                    own_address("--through", command.through.as_deref().unwrap_or_default(), tcp.port)?;
                let to = address("--link", link, tcp.port)?;
                Self::Through { local, to, is_accepted: tcp.listen }
            }
            _ if command.through.is_some() => return wrong(needs_tcp.to_owned()),
            Link::Serial(serial) => {
                let settings = serial_settings(serial).map_err(SniffError::Option)?;
                Self::Serial { path: link.into(), settings, heard }
            }
            Link::Tcp(tcp) if tcp.listen => {
                Self::Accept { local: own_address("--link", link, tcp.port)?, heard }
            }
            Link::Tcp(tcp) => Self::Connect { server: address("--link", link, tcp.port)?, heard },
            Link::Udp(udp) => {
                let local = own_address("--link", link, udp.local)?;
                if local.port() == 0 {
                    return wrong(format!(
                        "--link {link}: which port? [ADDRESS:]PORT to which the datagrams are sent"
                    ));
                }
                Self::Udp { local, heard }
            }
            Link::Can(_) if command.from.is_some() => {
                return wrong("--from: on a CAN bus who sends is known by the identifiers".to_owned());
            }
            Link::Can(_) => Self::Can { interface: link.to_owned() },
        })
    }
}

fn address(option: &str, text: &str, port: u16) -> Result<SocketAddr, SniffError> {
    let wrong = |reason: String| SniffError::Option(format!("{option} {text}: {reason}"));
    let complete = if text.contains(':') { text.to_owned() } else { format!("{text}:{port}") };
    let mut addresses = complete.to_socket_addrs().map_err(|error| wrong(error.to_string()))?;
    addresses.find(SocketAddr::is_ipv4).ok_or_else(|| wrong("no IPv4 address".to_owned()))
}

fn own_address(option: &str, text: &str, port: u16) -> Result<SocketAddr, SniffError> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok((IpAddr::from(Ipv4Addr::LOCALHOST), port).into());
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok((address, port).into());
    }
    let wrong = || {
        format!(
            "{option} {text}: expected [ADDRESS:]PORT of this computer, for example 0.0.0.0:{}",
            port.max(1024)
        )
    };
    text.parse().map_err(|_| SniffError::Option(wrong()))
}

/// Shows what is sent, until a signal or until the link is lost.
pub(super) fn run(source: Source, mut watch: Output) -> Result<(), SniffError> {
    if let Source::Can { interface } = source {
        return super::in_a_thread(watch, move |watch, stopped| bus(&interface, watch, stopped));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(SniffError::Runtime)?.block_on(async {
        let signal = dragoman_ros::signals::first().map_err(SniffError::Runtime)?;
        let ended = until(signal, source, &mut watch).await;
        watch.finish().map_err(SniffError::Output)?;
        ended
    })
}

/// Shows what is sent until `end`.
pub(super) async fn until<W: Write>(
    end: impl Future<Output = ()>,
    source: Source,
    watch: &mut Watch<W>,
) -> Result<(), SniffError> {
    let mut end = pin!(end);
    let place = source.to_string();
    let failed = |error: io::Error| SniffError::Link { place: place.clone(), error: error.to_string() };
    let opened = async {
        Ok::<_, io::Error>(match source {
            Source::Serial { path, settings, heard } => {
                let port = SerialPort::open_with(&path, settings)?;
                (Port::Serial(Box::new(port)), heard)
            }
            Source::Udp { local, heard } => (Port::Udp(UdpSocket::bind(local)?), heard),
            Source::Connect { server, heard } => (Port::Tcp(connect(server).await?), heard),
            Source::Accept { local, heard } => {
                (Port::Tcp(TcpListener::bind(local, 1)?.accept().await?.0), heard)
            }
            Source::Through { local, to, is_accepted } => {
                (Port::Through(TcpListener::bind(local, 4)?, to, is_accepted), Heard::Both)
            }
            Source::Can { .. } => return Err(ErrorKind::Unsupported.into()),
        })
    };
    let (mut port, heard) = tokio::select! {
        biased;
        () = &mut end => return Ok(()),
        opened = opened => opened.map_err(failed)?,
    };
    say(watch, &format!("listening: {place}"))?;
    if let Port::Through(listener, to, is_accepted) = port {
        return tokio::select! {
            biased;
            () = end => Ok(()),
            failure = through(listener, to, is_accepted, watch) => Err(match failure {
                Lost::Output(error) => SniffError::Output(error),
                Lost::Link(error) => failed(error),
            }),
        };
    }
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let read = tokio::select! {
            biased;
            () = &mut end => return Ok(()),
            read = port.read(&mut buffer) => read.map_err(failed)?,
            () = dragoman_time::sleep(IDLE) => {
                watch.idle(dragoman_time::wall_time()).map_err(SniffError::Output)?;
                continue;
            }
        };
        let (count, sender) = read;
        let now = Some(dragoman_time::wall_time());
        let bytes = buffer.get(..count).unwrap_or_default();
        let shown = match sender {
            Some((sender, own)) => {
                let is_client = heard == Heard::Side(Side::Client);
                let ends = if is_client { [own, sender] } else { [sender, own] };
                watch.datagram(now, Place { ends: Some(ends), heard }, bytes)
            }
            None => watch.bytes(now, Place { ends: None, heard }, bytes),
        };
        shown.and_then(|()| watch.flush()).map_err(SniffError::Output)?;
    }
}

fn say<W: Write>(watch: &mut Watch<W>, text: &str) -> Result<(), SniffError> {
    let said = watch.note(Some(dragoman_time::wall_time()), text).and_then(|()| watch.flush());
    said.map_err(SniffError::Output)
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Serial { path, .. } => write!(f, "{}", path.display()),
            Self::Udp { local, .. } => write!(f, "UDP port {local}"),
            Self::Connect { server, .. } => write!(f, "{server}"),
            Self::Accept { local, .. } => write!(f, "TCP port {local}"),
            Self::Through { local, to, .. } => write!(f, "{local}, passed on to {to}"),
            Self::Can { interface } => f.write_str(interface),
        }
    }
}

async fn connect(server: SocketAddr) -> io::Result<TcpStream> {
    let connected = dragoman_time::timeout(CONNECT_TIME, TcpStream::connect(server)).await;
    connected.map_err(|_late| io::Error::new(ErrorKind::TimedOut, "no answer"))?
}

enum Port {
    Serial(Box<SerialPort>),
    Tcp(TcpStream),
    Udp(UdpSocket),
    Through(TcpListener, SocketAddr, bool),
}

impl Port {
    /// Bytes, and of a datagram its sender and receiver.
    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Option<(SocketAddr, SocketAddr)>)> {
        let count = match self {
            Self::Serial(port) => port.read(buffer).await?,
            Self::Tcp(stream) => read(stream, buffer).await?,
            Self::Udp(socket) => {
                let (count, sender) = socket.recv_from(buffer).await?;
                return Ok((count, Some((sender, socket.local_addr()?))));
            }
            Self::Through(..) => return Err(ErrorKind::Unsupported.into()),
        };
        if count == 0 {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the connection was closed"));
        }
        Ok((count, None))
    }
}

/// Reads what is there; 0 at the end.
async fn read(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        stream.readable().await?;
        match stream.try_read(buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read,
        }
    }
}

/// Why the proxy ends.
enum Lost {
    Output(io::Error),
    Link(io::Error),
}

/// Passes on one connection after the other.
async fn through<W: Write>(
    listener: TcpListener,
    to: SocketAddr,
    is_accepted: bool,
    watch: &mut Watch<W>,
) -> Lost {
    loop {
        let (client, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => return Lost::Link(error),
        };
        let (machine, other) = if is_accepted { (peer, to) } else { (to, peer) };
        let ends = Some([machine, other]);
        let ended = match connect(to).await {
            Ok(server) => {
                let heard =
                    if is_accepted { [Side::Server, Side::Client] } else { [Side::Client, Side::Server] };
                let heard = heard.map(|side| Place { ends, heard: side.into() });
                match pass(&client, &server, heard, watch).await {
                    Ok(reason) => reason,
                    Err(error) => return Lost::Output(error),
                }
            }
            Err(error) => format!("{to}: {error}"),
        };
        let now = Some(dragoman_time::wall_time());
        let said = watch.end(ends).and_then(|()| watch.note(now, &ended)).and_then(|()| watch.flush());
        if let Err(error) = said {
            return Lost::Output(error);
        }
    }
}

/// Passes on bytes both ways; returns why it ends. What one side does not take is not read from the other one.
async fn pass<W: Write>(
    client: &TcpStream,
    server: &TcpStream,
    places: [Place; 2],
    watch: &mut Watch<W>,
) -> io::Result<String> {
    let mut waiting = [Vec::new(), Vec::new()];
    let (mut forth, mut back) = (vec![0; PASSED], vec![0; PASSED]);
    let [from_client, from_server] = places;
    loop {
        let [to_server, to_client] = &mut waiting;
        // Writing comes first, so that the end of a side is seen after its last bytes are passed on.
        let (read, place, bytes) = tokio::select! {
            biased;
            written = server.writable(), if !to_server.is_empty() => {
                if let Some(reason) = write(written, server, to_server) {
                    return Ok(reason);
                }
                continue;
            }
            written = client.writable(), if !to_client.is_empty() => {
                if let Some(reason) = write(written, client, to_client) {
                    return Ok(reason);
                }
                continue;
            }
            count = read(client, &mut forth), if to_server.is_empty() => (count, from_client, &forth),
            count = read(server, &mut back), if to_client.is_empty() => (count, from_server, &back),
            () = dragoman_time::sleep(IDLE) => {
                watch.idle(dragoman_time::wall_time())?;
                continue;
            }
        };
        let bytes = match read {
            Ok(0) => return Ok("the connection was closed".to_owned()),
            Ok(count) => bytes.get(..count).unwrap_or_default(),
            Err(error) => return Ok(format!("the connection was lost: {error}")),
        };
        let to = if place == from_client { to_server } else { to_client };
        to.extend_from_slice(bytes);
        watch.bytes(Some(dragoman_time::wall_time()), place, bytes)?;
        watch.flush()?;
    }
}

/// Writes what is taken; a reason if the connection is lost.
fn write(is_writable: io::Result<()>, stream: &TcpStream, waiting: &mut Vec<u8>) -> Option<String> {
    match is_writable.and_then(|()| stream.try_write(waiting)) {
        Ok(count) => {
            waiting.drain(..count.min(waiting.len()));
            None
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => None,
        Err(error) => Some(format!("the connection was lost: {error}")),
    }
}

#[cfg(target_os = "linux")]
fn bus(
    interface: &str,
    watch: &mut Output,
    stopped: &std::sync::atomic::AtomicBool,
) -> Result<(), SniffError> {
    use super::recorded::identifier;
    use dragoman_io::can::{Bus, Received};
    let failed = |error: String| SniffError::Link { place: interface.to_owned(), error };
    let mut bus =
        dragoman_io::can::SocketCanBus::open(interface, &[]).map_err(|error| failed(error.to_string()))?;
    say(watch, &format!("listening: {interface}"))?;
    while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
        bus.wait(IDLE);
        while let Some(received) = bus.receive() {
            let now = Some(dragoman_time::wall_time());
            let shown = match received {
                Received::Frame(frame) if frame.is_remote() => Ok(()),
                Received::Frame(frame) => {
                    let (id, is_extended) = identifier(&frame);
                    watch.can(now, id, is_extended, frame.data())
                }
                Received::Fault(fault) => watch.note(now, &fault.to_string()),
            };
            shown.map_err(SniffError::Output)?;
            if stopped.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        watch.flush().map_err(SniffError::Output)?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn bus(interface: &str, _: &mut Output, _: &std::sync::atomic::AtomicBool) -> Result<(), SniffError> {
    let error = "CAN interfaces need Linux; a candump log is shown everywhere".to_owned();
    Err(SniffError::Link { place: interface.to_owned(), error })
}
