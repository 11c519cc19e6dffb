//! RTPS messages byte by byte (DDSI-RTPS 2.5, chapter 9.4), with numbers that no library sends. Little-endian.

#![allow(dead_code, unreachable_pub)] // Every test target uses its part.

use std::net::Ipv4Addr;

pub type Prefix = [u8; 12];
pub type Entity = [u8; 4];

pub const UNKNOWN: Entity = [0, 0, 0, 0];
pub const SPDP_WRITER: Entity = [0, 1, 0, 0xc2];
pub const SPDP_READER: Entity = [0, 1, 0, 0xc7];
pub const PUBLICATIONS_WRITER: Entity = [0, 0, 3, 0xc2];
pub const PUBLICATIONS_READER: Entity = [0, 0, 3, 0xc7];
pub const SUBSCRIPTIONS_WRITER: Entity = [0, 0, 4, 0xc2];
pub const SUBSCRIPTIONS_READER: Entity = [0, 0, 4, 0xc7];

/// Submessages (9.4.5.1.1).
pub const ACKNACK: u8 = 0x06;
pub const HEARTBEAT: u8 = 0x07;
pub const GAP: u8 = 0x08;
pub const INFO_DST: u8 = 0x0e;
pub const NACK_FRAG: u8 = 0x12;
pub const HEARTBEAT_FRAG: u8 = 0x13;
pub const DATA: u8 = 0x15;
pub const DATA_FRAG: u8 = 0x16;

/// A message under construction.
#[derive(Clone, Debug)]
pub struct Message(pub Vec<u8>);

impl Message {
    pub fn from(source: Prefix) -> Self {
        let mut bytes = b"RTPS\x02\x03\x01\x12".to_vec();
        bytes.extend(source);
        Self(bytes)
    }

    pub fn submessage(mut self, kind: u8, flags: u8, body: &[u8]) -> Self {
        self.0.extend([kind, flags | 1]);
        self.0.extend(u16::try_from(body.len()).unwrap().to_le_bytes());
        self.0.extend(body);
        self
    }

    pub fn to(self, destination: Prefix) -> Self {
        self.submessage(INFO_DST, 0, &destination)
    }

    pub fn data(self, reader: Entity, writer: Entity, number: i64, payload: &[u8]) -> Self {
        let body = [&[0, 0, 16, 0][..], &reader, &writer, &sequence(number), payload].concat();
        self.submessage(DATA, 4, &body)
    }

    /// Announces that the instance with this key was disposed.
    pub fn dispose(self, reader: Entity, writer: Entity, number: i64, key: [u8; 16]) -> Self {
        let mut qos = parameter(0x71, &[0, 0, 0, 3]);
        qos.extend(parameter(0x70, &key));
        qos.extend(parameter(1, &[]));
        let body = [&[0, 0, 16, 0][..], &reader, &writer, &sequence(number), &qos].concat();
        self.submessage(DATA, 2, &body)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the submessage")]
    pub fn data_frag(
        self,
        reader: Entity,
        writer: Entity,
        number: i64,
        first: u32,
        count: u16,
        fragment_size: u16,
        data_size: u32,
        payload: &[u8],
    ) -> Self {
        let mut body = [&[0, 0, 28, 0][..], &reader, &writer, &sequence(number)].concat();
        body.extend(first.to_le_bytes());
        body.extend(count.to_le_bytes());
        body.extend(fragment_size.to_le_bytes());
        body.extend(data_size.to_le_bytes());
        body.extend(payload);
        self.submessage(DATA_FRAG, 0, &body)
    }

    pub fn heartbeat(self, reader: Entity, writer: Entity, first: i64, last: i64, count: i32) -> Self {
        let numbers = [sequence(first), sequence(last)].concat();
        self.submessage(HEARTBEAT, 0, &[&reader[..], &writer, &numbers, &count.to_le_bytes()].concat())
    }

    /// The numbers from `start` to before `base`, and those of `set`, bits from the highest on.
    pub fn gap(self, reader: Entity, writer: Entity, start: i64, base: i64, bits: u32, set: &[u32]) -> Self {
        let body = [&reader[..], &writer, &sequence(start), &sequence(base), &words(bits, set)].concat();
        self.submessage(GAP, 0, &body)
    }

    pub fn acknack(
        self,
        reader: Entity,
        writer: Entity,
        base: i64,
        bits: u32,
        set: &[u32],
        count: i32,
    ) -> Self {
        let body = [&reader[..], &writer, &sequence(base), &words(bits, set), &count.to_le_bytes()].concat();
        self.submessage(ACKNACK, 0, &body)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of the submessage")]
    pub fn nack_frag(
        self,
        reader: Entity,
        writer: Entity,
        number: i64,
        base: u32,
        bits: u32,
        set: &[u32],
        count: i32,
    ) -> Self {
        let mut body = [&reader[..], &writer, &sequence(number), &base.to_le_bytes()].concat();
        body.extend(words(bits, set));
        body.extend(count.to_le_bytes());
        self.submessage(NACK_FRAG, 0, &body)
    }
}

/// High word first.
fn sequence(number: i64) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&((number >> 32) as i32).to_le_bytes());
    bytes[4..].copy_from_slice(&(number as u32).to_le_bytes());
    bytes
}

fn words(bits: u32, set: &[u32]) -> Vec<u8> {
    [bits].iter().chain(set).flat_map(|word| word.to_le_bytes()).collect()
}

fn parameter(id: u16, value: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    value.resize(value.len().next_multiple_of(4), 0);
    [&id.to_le_bytes()[..], &(value.len() as u16).to_le_bytes(), &value].concat()
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32 + 1).to_le_bytes()[..], text.as_bytes(), &[0]].concat()
}

fn locator((address, port): (Ipv4Addr, u16)) -> Vec<u8> {
    let mut bytes = [1_u32.to_le_bytes(), u32::from(port).to_le_bytes()].concat();
    bytes.extend([0; 12]);
    bytes.extend(address.octets());
    bytes
}

pub fn guid(prefix: Prefix, entity: Entity) -> [u8; 16] {
    let mut guid = [0; 16];
    guid[..12].copy_from_slice(&prefix);
    guid[12..].copy_from_slice(&entity);
    guid
}

/// Encapsulated parameters.
fn parameters(list: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = vec![0, 3, 0, 0];
    for (id, value) in list {
        bytes.extend(parameter(*id, value));
    }
    bytes.extend(parameter(1, &[]));
    bytes
}

/// The announcement of a participant (9.6.2.2): its addresses for discovery data, and its lease in seconds.
pub fn participant(prefix: Prefix, address: (Ipv4Addr, u16), lease: i32) -> Vec<u8> {
    participant_with(prefix, address, lease, None)
}

/// The same with a further parameter.
pub fn participant_with(
    prefix: Prefix,
    address: (Ipv4Addr, u16),
    lease: i32,
    further: Option<(u16, Vec<u8>)>,
) -> Vec<u8> {
    let all_endpoints: u32 = 0xc3f;
    let mut all = vec![
        (0x15, vec![2, 3]),
        (0x16, vec![1, 0x12]),
        (0x50, guid(prefix, [0, 0, 1, 0xc1]).to_vec()),
        (0x58, all_endpoints.to_le_bytes().to_vec()),
        (0x32, locator(address)),
        (0x31, locator(address)),
        (0x02, [lease.to_le_bytes(), [0; 4]].concat()),
    ];
    all.extend(further);
    parameters(&all)
}

/// The parameter USER_DATA.
pub fn user_data(data: &[u8]) -> (u16, Vec<u8>) {
    (0x2c, [&(data.len() as u32).to_le_bytes()[..], data].concat())
}

/// The parameter PID_DOMAIN_ID.
pub fn domain_id(domain: u32) -> (u16, Vec<u8>) {
    (0x0f, domain.to_le_bytes().to_vec())
}

/// The announcement of a reliable, volatile writer or reader.
pub fn endpoint(guid: [u8; 16], topic: &str, type_name: &str) -> Vec<u8> {
    let reliable = [2_u32.to_le_bytes(), [0; 4], [0; 4]].concat();
    parameters(&[
        (0x5a, guid.to_vec()),
        (0x05, text(topic)),
        (0x07, text(type_name)),
        (0x1a, reliable),
        (0x1d, vec![0; 4]),
    ])
}

/// The announcement of a participant, as sent by multicast.
pub fn announcement(prefix: Prefix, address: (Ipv4Addr, u16), lease: i32) -> Message {
    Message::from(prefix).data(UNKNOWN, SPDP_WRITER, 1, &participant(prefix, address, lease))
}

/// What a reader reports to a writer.
#[derive(Debug)]
pub struct Acknack {
    pub base: i64,
    pub missing: Vec<i64>,
    pub count: i32,
}

/// The submessages of a message: kind and content.
pub fn submessages(message: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = message.get(20..).unwrap_or_default();
    std::iter::from_fn(move || {
        let [kind, _flags, low, high, tail @ ..] = rest else { return None };
        let (body, after) = tail.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
        rest = after;
        Some((*kind, body))
    })
}

/// The first ACKNACK to this writer in a message (9.4.5.3).
pub fn acknack_to(message: &[u8], writer: Entity) -> Option<Acknack> {
    let mut acknacks = submessages(message).filter(|(kind, _)| *kind == ACKNACK);
    let (_, body) = acknacks.find(|(_, body)| body.get(4..8) == Some(&writer))?;
    let words: Vec<u32> =
        body[8..].chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let [high, low, bits, set @ .., count] = words.as_slice() else { return None };
    let base = (i64::from(*high) << 32) + i64::from(*low);
    let is_set = |bit: &u32| set[(bit / 32) as usize] & (1 << (31 - bit % 32)) != 0;
    let missing = (0..*bits).filter(is_set).map(|bit| base + i64::from(bit)).collect();
    Some(Acknack { base, missing, count: *count as i32 })
}

/// The numbers of the samples of this writer that a HEARTBEAT in a message announces, first and last (9.4.5.7).
pub fn heartbeat_of(message: &[u8], writer: Entity) -> Option<[i64; 2]> {
    let mut heartbeats = submessages(message).filter(|(kind, _)| *kind == HEARTBEAT);
    let (_, body) = heartbeats.find(|(_, body)| body.get(4..8) == Some(&writer))?;
    Some([number(body.get(8..16)?), number(body.get(16..24)?)])
}

/// The numbers of the samples of this writer in a message (9.4.5.4).
pub fn data_of(message: &[u8], writer: Entity) -> impl Iterator<Item = i64> {
    let data = submessages(message).filter(|(kind, _)| *kind == DATA);
    let of_writer = data.filter(move |(_, body)| body.get(8..12) == Some(&writer));
    of_writer.filter_map(|(_, body)| body.get(12..20).map(number))
}

/// The inverse of [`sequence`].
fn number(bytes: &[u8]) -> i64 {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    (i64::from(word(0)) << 32) + i64::from(word(4))
}

/// GUID prefixes of simulated peers.
pub fn made_up(number: u32) -> Prefix {
    let mut prefix = *b"\x01\x12fake\0\0\0\0\0\0";
    prefix[8..].copy_from_slice(&number.to_be_bytes());
    prefix
}
