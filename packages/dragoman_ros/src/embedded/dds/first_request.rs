//! The first request of a client on Fast DDS, which may come before the client is matched.
//!
//! The client has discovered our reader and sends; the library has not discovered the client's writer yet and drops the
//! sample. On the match it requests a heartbeat in a form that Fast DDS answers only after its heartbeat period, 3 s;
//! `ros2 param list` waits for 1 s. So the sample itself is requested, by an ACKNACK that misses number 1. If there is
//! no such sample yet, it comes by itself.
//!
//! Its count is that of the library's second ACKNACK, which Fast DDS then ignores as an old one; the third acknowledges
//! the same samples.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use rustdds::{DomainParticipant, GUID};

use super::super::error::{Error, Result};
use super::Guid;

/// Prefix of Fast DDS's global identifiers: eProsima's vendor id (RTPS 2.5, 8.3.3.1.4).
const FAST_DDS: [u8; 2] = [0x01, 0x0F];

/// Requests the first request of new clients.
pub(super) struct FirstRequests {
    participant: DomainParticipant,
    socket: UdpSocket,
}

impl FirstRequests {
    pub(super) fn new(participant: DomainParticipant, address: Ipv4Addr) -> Result<Self> {
        let socket = UdpSocket::bind((address, 0));
        Ok(Self { participant, socket: socket.map_err(|error| Error::Middleware(error.to_string()))? })
    }

    /// Sends the ACKNACK to `writer`, which has just been matched with our `reader`, if it is a client's.
    pub(super) fn ask(&self, reader: GUID, writer: GUID) {
        if !writer.to_bytes().starts_with(&FAST_DDS) {
            return;
        }
        let discovered = self.participant.discovered_writers();
        let clients = discovered.iter().filter(|found| {
            found.publication_topic_data.key == writer
                && found.publication_topic_data.topic_name.starts_with("rq/")
        });
        let message = acknack(reader.to_bytes(), writer.to_bytes());
        for locator in clients.flat_map(|client| &client.writer_proxy.unicast_locator_list) {
            if locator.is_udp()
                && let Err(error) = self.socket.send_to(&message, SocketAddr::from(*locator))
            {
                tracing::debug!(%error, "requesting a client's first request failed");
            }
        }
    }
}

/// An RTPS message in which `reader` reports sample 1 of `writer` as missing (RTPS 2.5, 9.4.5).
fn acknack(reader: Guid, writer: Guid) -> Vec<u8> {
    const LITTLE_ENDIAN: u8 = 1;
    const FINAL: u8 = 2;
    const INFO_DST: u8 = 0x0E;
    const ACKNACK: u8 = 0x06;
    const RUSTDDS: [u8; 2] = [0x01, 0x12];
    let ([own, reader_id], [other, writer_id]) = (parts(&reader), parts(&writer));
    let base = [0_i32.to_le_bytes(), 1_i32.to_le_bytes()].concat();
    // One bit, the highest of its word, for the base itself.
    let missing = [1_u32.to_le_bytes(), (1_u32 << 31).to_le_bytes()].concat();
    let count = 1_i32.to_le_bytes();
    [
        b"RTPS".as_slice(),
        &[2, 3],
        &RUSTDDS,
        own,
        &[INFO_DST, LITTLE_ENDIAN, 12, 0],
        other,
        &[ACKNACK, LITTLE_ENDIAN | FINAL, 28, 0],
        reader_id,
        writer_id,
        &base,
        &missing,
        &count,
    ]
    .concat()
}

/// Prefix and entity.
fn parts(guid: &Guid) -> [&[u8]; 2] {
    let (prefix, entity) = guid.split_at(12);
    [prefix, entity]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acknack_misses_the_first_sample() {
        let message = acknack(*b"readerprefixRDR\x04", *b"writerprefixWTR\x03");
        let expected = [
            b"RTPS\x02\x03\x01\x12readerprefix".as_slice(),
            b"\x0E\x01\x0C\x00writerprefix",
            b"\x06\x03\x1C\x00RDR\x04WTR\x03",
            b"\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x80\x01\x00\x00\x00",
        ];
        assert_eq!(message, expected.concat());
    }
}
