//! What a captured packet carries: a datagram of UDP, a segment of TCP, a frame of a CAN bus.

use std::net::SocketAddr;

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};

/// Link types, by the numbers of the list that tcpdump.org keeps.
const NULL: u32 = 0;
const ETHERNET: u32 = 1;
const RAW: [u32; 5] = [12, 14, 101, 228, 229];
const LOOP: u32 = 108;
const LINUX_SLL: u32 = 113;
const CAN_SOCKETCAN: u32 = 227;
const LINUX_SLL2: u32 = 276;
/// The protocol of CAN behind a header of `LINUX_SLL`.
const SLL_CAN: u16 = 0x000C;
const SLL_CAN_FD: u16 = 0x000D;
/// Bits of an identifier of SocketCAN.
const CAN_EXTENDED: u32 = 1 << 31;
const CAN_REMOTE: u32 = 1 << 30;
const CAN_ERROR: u32 = 1 << 29;
/// Bytes of a classic frame.
const CAN_DATA: usize = 8;

/// Who has sent a packet to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ends {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

/// What a packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Udp(Ends, &'a [u8]),
    Tcp(Ends, Segment<'a>),
    Can {
        /// Without the bits that mark it.
        id: u32,
        is_extended: bool,
        data: &'a [u8],
    },
    Other(Other),
}

/// A part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    /// Number of its first byte.
    pub(crate) number: u32,
    /// The receiver of this segment has sent everything up to this number.
    pub(crate) acknowledged: Option<u32>,
    /// It begins, or ends, the stream.
    pub(crate) begins: bool,
    pub(crate) ends: bool,
    pub(crate) bytes: &'a [u8],
}

/// What is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Other {
    /// Another link type.
    Link(u32),
    /// Neither UDP nor TCP.
    Protocol,
    /// A part of a packet of IP.
    Fragment,
    /// Broken headers.
    Broken,
    /// A remote frame, an error frame, or one of CAN FD or CAN XL.
    NotClassic,
}

impl std::fmt::Display for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Link(number) => write!(f, "packets of link type {number}, which is not read"),
            Self::Protocol => f.write_str("packets that are neither UDP nor TCP"),
            Self::Fragment => f.write_str("fragments of IP packets"),
            Self::Broken => f.write_str("packets with broken headers"),
            Self::NotClassic => f.write_str("CAN frames that are not classic data frames"),
        }
    }
}

/// What a packet of this link type carries.
pub(crate) fn content(link: u32, bytes: &[u8]) -> Content<'_> {
    let broken = Content::Other(Other::Broken);
    let number = |at: usize| bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two));
    let behind = |size: usize| bytes.get(size..).unwrap_or_default();
    match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(bytes).map_or(broken, |packet| of_ip(&packet)),
        // The family of addresses, 4 bytes; the packet itself says it again.
        NULL | LOOP => ip(behind(4)),
        _ if RAW.contains(&link) => ip(bytes),
        LINUX_SLL => match number(14) {
            Some(protocol) => cooked(protocol, behind(16)),
            None => broken,
        },
        LINUX_SLL2 => match number(0) {
            Some(protocol) => cooked(protocol, behind(20)),
            None => broken,
        },
        CAN_SOCKETCAN => can(bytes),
        link => Content::Other(Other::Link(link)),
    }
}

fn cooked(protocol: u16, bytes: &[u8]) -> Content<'_> {
    match protocol {
        SLL_CAN => can(bytes),
        SLL_CAN_FD => Content::Other(Other::NotClassic),
        protocol => of_ip(&LaxSlicedPacket::from_ether_type(EtherType(protocol), bytes)),
    }
}

fn ip(bytes: &[u8]) -> Content<'_> {
    LaxSlicedPacket::from_ip(bytes).map_or(Content::Other(Other::Broken), |packet| of_ip(&packet))
}

fn of_ip<'a>(packet: &LaxSlicedPacket<'a>) -> Content<'a> {
    let (from, to, is_fragment) = match &packet.net {
        Some(LaxNetSlice::Ipv4(net)) => {
            let header = net.header();
            (header.source_addr().into(), header.destination_addr().into(), net.is_payload_fragmented())
        }
        Some(LaxNetSlice::Ipv6(net)) => {
            let header = net.header();
            (header.source_addr().into(), header.destination_addr().into(), net.is_payload_fragmented())
        }
        _ => return Content::Other(Other::Protocol),
    };
    let ends = |source: u16, destination: u16| Ends {
        from: SocketAddr::new(from, source),
        to: SocketAddr::new(to, destination),
    };
    match &packet.transport {
        _ if is_fragment => Content::Other(Other::Fragment),
        Some(TransportSlice::Udp(udp)) => {
            Content::Udp(ends(udp.source_port(), udp.destination_port()), udp.payload())
        }
        Some(TransportSlice::Tcp(tcp)) => {
            let segment = Segment {
                number: tcp.sequence_number(),
                acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
                begins: tcp.syn(),
                ends: tcp.fin() || tcp.rst(),
                bytes: tcp.payload(),
            };
            Content::Tcp(ends(tcp.source_port(), tcp.destination_port()), segment)
        }
        None if packet.stop_err.is_some() => Content::Other(Other::Broken),
        _ => Content::Other(Other::Protocol),
    }
}

/// A frame of SocketCAN: the identifier, most significant byte first, the size, three bytes, the data.
fn can(bytes: &[u8]) -> Content<'_> {
    let (Some(id), Some(size)) = (bytes.first_chunk().map(|id| u32::from_be_bytes(*id)), bytes.get(4)) else {
        return Content::Other(Other::Broken);
    };
    let size = usize::from(*size);
    if id & (CAN_REMOTE | CAN_ERROR) != 0 || size > CAN_DATA {
        return Content::Other(Other::NotClassic);
    }
    let is_extended = id & CAN_EXTENDED != 0;
    let id = id & if is_extended { 0x1FFF_FFFF } else { 0x7FF };
    match bytes.get(8..).and_then(|data| data.get(..size)) {
        Some(data) => Content::Can { id, is_extended, data },
        None => Content::Other(Other::Broken),
    }
}
