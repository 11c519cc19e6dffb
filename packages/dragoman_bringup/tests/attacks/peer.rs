//! A DDS peer that sends packets no library sends.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant};

use crate::wire::{Message, Prefix, announcement, made_up};

/// The UDP port of a domain's first participant for discovery data (RTPS 2.5, 9.6.2.3).
pub(crate) fn discovery_port(domain: u16) -> u16 {
    7410 + 250 * domain
}

pub(crate) struct Peer {
    /// Determines its GUID prefix; higher numbers are free for the participants that it simulates.
    pub(crate) number: u32,
    pub(crate) prefix: Prefix,
    pub(crate) address: (Ipv4Addr, u16),
    socket: UdpSocket,
    lab: SocketAddr,
}

impl Peer {
    /// A peer at `address` of the only participant of a domain on `host`.
    pub(crate) fn new(number: u32, address: Ipv4Addr, host: Ipv4Addr, domain: u16) -> Self {
        let socket = UdpSocket::bind((address, 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let port = socket.local_addr().unwrap().port();
        let lab = SocketAddrV4::new(host, discovery_port(domain)).into();
        Self { number, prefix: made_up(number), address: (address, port), socket, lab }
    }

    pub(crate) fn send(&self, message: &Message) {
        // The port is closed if the lab has ended; that is reported elsewhere.
        let _ = self.socket.send_to(&message.0, self.lab);
    }

    /// Announces itself until the lab's built-in endpoints answer; returns the lab's GUID prefix.
    #[track_caller]
    pub(crate) fn meet(&self) -> Prefix {
        let end = Instant::now() + Duration::from_secs(20);
        let mut bytes = [0; 2048];
        while Instant::now() < end {
            self.send(&announcement(self.prefix, self.address, 100));
            while let Ok(length) = self.socket.recv(&mut bytes) {
                let is_answer = bytes[..length].windows(12).any(|window| window == self.prefix);
                if is_answer && bytes.starts_with(b"RTPS") {
                    return bytes[8..20].try_into().unwrap();
                }
            }
        }
        panic!("the lab does not answer an announcement");
    }
}
