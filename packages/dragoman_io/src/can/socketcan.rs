//! A connection to a CAN bus of this Linux system.
//!
//! A controller that has gone bus-off ([`BusFault::BusOff`]) is not restarted here: that needs rights over the
//! interface. If a restart time is set, the kernel does it (`ip link set can0 type can restart-ms 100`), otherwise the
//! administrator (`ip link set can0 type can restart`); both are reported here as [`BusFault::Active`]. The state of a
//! controller at opening is unknown until it changes.

use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use embedded_can::{ExtendedId, Id, StandardId};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, MsgFlags, SockFlag, SockProtocol, SockType, recvmsg, setsockopt,
    socket, sockopt,
};
use nix::sys::time::TimeSpec;
use socketcan::id::{CAN_EFF_FLAG, CAN_EFF_MASK, CAN_RTR_FLAG, CAN_SFF_MASK};
use socketcan::{CanAddr, CanFilter, CanSocket, Socket, SocketOptions};

use super::bus::{Bus, BusFault, Received, SendError};
use super::error_frame::{self, ERROR_FLAG};
use super::frame::{Frame, MAX_DATA};

/// Interval of checking an interface that is down or missing.
const RETRY: Duration = Duration::from_millis(100);
/// Upper bound of timeouts, within the clock's range: a day.
const MAX_WAIT: Duration = Duration::from_secs(86_400);
/// Requested size of the receive buffer in bytes, some thousand frames; the system may grant less
/// (`net.core.rmem_max`).
const RECEIVE_BUFFER: usize = 1 << 20;
/// Length of the kernel's `struct can_frame`: identifier with flags, length, three bytes of padding, eight of data.
const KERNEL_FRAME: usize = 16;

/// A filter for frames with an 11-bit identifier: passes those whose bits under `mask` equal those of `id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// The identifier.
    pub id: u16,
    /// The relevant bits: 0x7ff for exactly this identifier.
    pub mask: u16,
}

/// Error opening a CAN interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// No network interface has this name.
    #[error(
        "there is no interface {name}; CAN interfaces: {}. To make a virtual one: ip link add dev {name} type vcan, \
         then ip link set up dev {name}",
        listed(.present)
    )]
    NoInterface {
        /// The requested name.
        name: String,
        /// The existing CAN interfaces.
        present: Vec<String>,
    },
    /// The interface is not a CAN interface.
    #[error("{name} is not a CAN interface; CAN interfaces: {}", listed(.present))]
    NotCan {
        /// The requested name.
        name: String,
        /// The existing CAN interfaces.
        present: Vec<String>,
    },
    /// The kernel does not support CAN.
    #[error("this system's kernel does not support CAN, or its modules can and can_raw cannot be loaded")]
    NoCan,
    /// The system refused for another reason.
    #[error("cannot open the CAN interface {name}: {source}")]
    Io {
        /// The interface.
        name: String,
        /// The system's reason.
        source: io::Error,
    },
}

/// A connection to a CAN interface of the kernel.
///
/// While the interface is down or missing, sending fails, and only [`BusFault::Down`] is received and, when an
/// interface of this name works again, [`BusFault::Up`]. Frames that the kernel dropped because they were not read in
/// time are reported as [`BusFault::Overrun`] with the next frame that it did not drop.
pub struct SocketCanBus {
    interface: String,
    filters: Vec<CanFilter>,
    link: Link,
    /// Read from the socket, but not yet by the owner.
    pending: VecDeque<Received>,
    control: Vec<u8>,
}

enum Link {
    Up {
        socket: CanSocket,
        /// Frames that the kernel has dropped since the socket was opened; wraps.
        dropped: u32,
    },
    Down {
        next_try: Instant,
    },
}

impl SocketCanBus {
    /// Opens `interface`, which must exist, but may be down. Without filters all frames are received.
    ///
    /// # Errors
    /// There is no such interface, it is not a CAN interface, or the system has no CAN or no socket left.
    pub fn open(interface: &str, filters: &[Filter]) -> Result<Self, OpenError> {
        let filters = kernel_filters(filters);
        let socket = open_socket(interface, &filters).map_err(|source| open_error(interface, source))?;
        Ok(Self {
            interface: interface.to_owned(),
            filters,
            // An interface that is down is reported by the first read.
            link: Link::Up { socket, dropped: 0 },
            pending: VecDeque::new(),
            control: nix::cmsg_space!(u32),
        })
    }

    /// As [`SocketCanBus::open`], for an interface that may appear later: until then it counts as missing.
    pub fn expect(interface: &str, filters: &[Filter]) -> Self {
        Self {
            interface: interface.to_owned(),
            filters: kernel_filters(filters),
            link: Link::Down { next_try: Instant::now() },
            pending: VecDeque::from([Received::Fault(BusFault::Down)]),
            control: nix::cmsg_space!(u32),
        }
    }

    /// The interface's name.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Moves the next message of the socket, if there is one, to the pending ones.
    fn read(&mut self) {
        let Link::Up { socket, dropped } = &mut self.link else { return };
        match read_message(socket, &mut self.control) {
            Ok(Some((message, now_dropped))) => {
                if now_dropped.is_some_and(|count| count != *dropped) {
                    *dropped = now_dropped.unwrap_or_default();
                    self.pending.push_back(Received::Fault(BusFault::Overrun));
                }
                match message {
                    Message::Frame(frame) => self.pending.push_back(Received::Frame(frame)),
                    Message::Error(faults) => self.pending.extend(faults.into_iter().map(Received::Fault)),
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::debug!(interface = self.interface, %error, "CAN interface failed");
                self.link_lost();
            }
        }
    }

    /// Reads the frames from before the interface went down, and starts to check for it.
    fn link_lost(&mut self) {
        if let Link::Up { socket, .. } = &self.link {
            // The kernel reports the loss once, before the waiting frames.
            while let Ok(Some((message, _))) = read_message(socket, &mut self.control) {
                if let Message::Frame(frame) = message {
                    self.pending.push_back(Received::Frame(frame));
                }
            }
            self.pending.push_back(Received::Fault(BusFault::Down));
            self.link = Link::Down { next_try: Instant::now() };
        }
    }

    /// Opens the interface again if a check is due. It needs a new socket, since a recreated interface is another one
    /// to the kernel.
    fn look_for_interface(&mut self) {
        let Link::Down { next_try } = &mut self.link else { return };
        let now = Instant::now();
        if now < *next_try {
            return;
        }
        *next_try = now + RETRY;
        match open_socket(&self.interface, &self.filters) {
            // Binding to an interface that is down leaves this error behind.
            Ok(socket) if matches!(socket.as_raw_socket().take_error(), Ok(None)) => {
                self.link = Link::Up { socket, dropped: 0 };
                self.pending.push_back(Received::Fault(BusFault::Up));
            }
            Ok(_) => {}
            Err(error) => {
                tracing::trace!(interface = self.interface, %error, "opening the CAN interface failed")
            }
        }
    }
}

impl Bus for SocketCanBus {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        let Link::Up { socket, .. } = &self.link else { return Err(SendError::Down) };
        let Err(error) = socket.as_raw_socket().send(&to_kernel(frame)) else { return Ok(()) };
        match error.raw_os_error().map(Errno::from_raw) {
            // The queue of the interface, or the socket's own.
            Some(Errno::ENOBUFS | Errno::EAGAIN) => Err(SendError::Full),
            Some(Errno::ENETDOWN | Errno::ENODEV | Errno::ENXIO) => {
                self.link_lost();
                Err(SendError::Down)
            }
            _ => {
                // Other errors are handled with a new socket.
                self.link_lost();
                Err(SendError::Io(error))
            }
        }
    }

    fn receive(&mut self) -> Option<Received> {
        // An error frame without a fault yields nothing; the owner then waits, and reads the next message.
        if self.pending.is_empty() {
            self.look_for_interface();
            self.read();
        }
        self.pending.pop_front()
    }

    fn wait(&mut self, timeout: Duration) {
        let begun = Instant::now();
        let end = begun.checked_add(timeout).unwrap_or(begun + MAX_WAIT);
        loop {
            self.look_for_interface();
            if !self.pending.is_empty() {
                return;
            }
            let left = end.saturating_duration_since(Instant::now());
            match &self.link {
                Link::Up { socket, .. } => {
                    let mut sockets = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
                    match ppoll(&mut sockets, Some(TimeSpec::from_duration(left)), None) {
                        Ok(0) => {}
                        Ok(_) => return,
                        Err(Errno::EINTR) => {}
                        // Out of memory, at worst: wait before the next attempt.
                        Err(_) => std::thread::sleep(left.min(RETRY)),
                    }
                }
                Link::Down { next_try } => {
                    std::thread::sleep(left.min(next_try.saturating_duration_since(Instant::now())));
                }
            }
            if Instant::now() >= end {
                return;
            }
        }
    }
}

fn kernel_filters(filters: &[Filter]) -> Vec<CanFilter> {
    if filters.is_empty() {
        return vec![CanFilter::new(0, 0)];
    }
    // The flag under the mask excludes extended frames, whose low bits could match.
    let kernel = |filter: &Filter| CanFilter::new(filter.id.into(), u32::from(filter.mask) | CAN_EFF_FLAG);
    filters.iter().map(kernel).collect()
}

/// A socket bound to the interface; the filter is set before binding, so that no other frames can be queued.
fn open_socket(interface: &str, filters: &[CanFilter]) -> io::Result<CanSocket> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = CanSocket::from(socket(AddressFamily::Can, SockType::Raw, flags, SockProtocol::CanRaw)?);
    socket.set_filters(filters)?;
    socket.set_error_filter_accept_all()?;
    socket.as_raw_socket().set_recv_buffer_size(RECEIVE_BUFFER)?;
    setsockopt(&socket, sockopt::RxqOvfl, &1)?;
    socket.as_raw_socket().bind(&CanAddr::from_iface(interface)?.into_sock_addr())?;
    Ok(socket)
}

fn open_error(interface: &str, source: io::Error) -> OpenError {
    let name = interface.to_owned();
    match source.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EAFNOSUPPORT | Errno::EPROTONOSUPPORT) => OpenError::NoCan,
        Some(Errno::ENODEV) if nix::net::if_::if_nametoindex(interface).is_ok() => {
            OpenError::NotCan { name, present: can_interfaces() }
        }
        Some(Errno::ENODEV | Errno::ENXIO) => OpenError::NoInterface { name, present: can_interfaces() },
        _ => OpenError::Io { name, source },
    }
}

/// The names of the CAN interfaces, as far as known: type 280 is `ARPHRD_CAN`.
fn can_interfaces() -> Vec<String> {
    let Ok(interfaces) = std::fs::read_dir("/sys/class/net") else { return Vec::new() };
    let is_can = |path: std::path::PathBuf| {
        std::fs::read_to_string(path.join("type")).is_ok_and(|kind| kind.trim() == "280")
    };
    let mut names: Vec<_> = interfaces
        .filter_map(Result::ok)
        .filter(|interface| is_can(interface.path()))
        .map(|interface| interface.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A message from a socket.
#[derive(Debug, PartialEq, Eq)]
enum Message {
    Frame(Frame),
    Error(Vec<BusFault>),
}

/// The next message, and how many frames the kernel has dropped, if any; `None` if no message waits.
fn read_message(socket: &CanSocket, control: &mut [u8]) -> Result<Option<(Message, Option<u32>)>, Errno> {
    let mut bytes = [0; KERNEL_FRAME];
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let received = match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(control), MsgFlags::empty()) {
        Ok(received) => received,
        Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
        Err(error) => return Err(error),
    };
    let dropped = received.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::RxqOvfl(count) => Some(count),
        _ => None,
    });
    let message = if received.bytes == KERNEL_FRAME { from_kernel(bytes) } else { None };
    // Frames of other lengths do not come without CAN FD.
    Ok(Some((message.unwrap_or(Message::Error(Vec::new())), dropped)))
}

fn to_kernel(frame: &Frame) -> [u8; KERNEL_FRAME] {
    let id = match frame.id() {
        Id::Standard(id) => id.as_raw().into(),
        Id::Extended(id) => id.as_raw() | CAN_EFF_FLAG,
    };
    let id: u32 = if frame.is_remote() { id | CAN_RTR_FLAG } else { id };
    let mut bytes = [0; KERNEL_FRAME];
    bytes[..4].copy_from_slice(&id.to_ne_bytes());
    bytes[4] = frame.length() as u8;
    for (byte, value) in bytes[8..].iter_mut().zip(frame.data()) {
        *byte = *value;
    }
    bytes
}

fn from_kernel(bytes: [u8; KERNEL_FRAME]) -> Option<Message> {
    let [a, b, c, d, length, _, _, _, data @ ..] = bytes;
    let id = u32::from_ne_bytes([a, b, c, d]);
    if id & ERROR_FLAG != 0 {
        return Some(Message::Error(error_frame::faults(id, data)));
    }
    let length = usize::from(length).min(MAX_DATA);
    let remote = id & CAN_RTR_FLAG != 0;
    let id: Id = if id & CAN_EFF_FLAG != 0 {
        ExtendedId::new(id & CAN_EFF_MASK)?.into()
    } else {
        StandardId::new((id & CAN_SFF_MASK) as u16)?.into()
    };
    let frame = if remote { Frame::remote(id, length) } else { Frame::new(id, data.get(..length)?) };
    frame.map(Message::Frame)
}

#[cfg(target_endian = "little")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_the_kernels_layout() {
        for (text, bytes) in [
            ("181#0102", [0x81, 0x01, 0, 0, 2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0]),
            ("7FF#", [0xff, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                "1F334455#1122334455667788",
                [0x55, 0x44, 0x33, 0x9f, 8, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88],
            ),
            ("701#R4", [0x01, 0x07, 0, 0x40, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("00000181#R0", [0x81, 0x01, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let frame: Frame = text.parse().unwrap();
            assert_eq!(to_kernel(&frame), bytes, "{text}");
            assert_eq!(from_kernel(bytes), Some(Message::Frame(frame)), "{text}");
        }
    }

    #[test]
    fn an_error_frame_of_the_kernel_becomes_its_faults() {
        let passive_and_off = [0x44, 0, 0, 0x20, 8, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0];
        let faults = vec![BusFault::Passive, BusFault::BusOff];
        assert_eq!(from_kernel(passive_and_off), Some(Message::Error(faults)));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named_with_what_to_do() {
        let error =
            OpenError::NoInterface { name: "can7".into(), present: vec!["can0".into(), "vcan0".into()] };
        let text = error.to_string();
        assert!(text.contains("no interface can7; CAN interfaces: can0, vcan0"), "{text}");
        assert!(text.contains("ip link add dev can7 type vcan"), "{text}");
        let alone = OpenError::NotCan { name: "eth0".into(), present: Vec::new() };
        assert_eq!(alone.to_string(), "eth0 is not a CAN interface; CAN interfaces: none");
    }
}
