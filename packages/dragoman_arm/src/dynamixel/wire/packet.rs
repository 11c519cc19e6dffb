//! Packets in a stream of bytes.

use std::ops::Range;

/// The two bytes that a packet begins with.
pub const HEADER: [u8; 2] = [0xff, 0xff];
/// The id that means all servos.
pub const BROADCAST: u8 = 0xfe;
/// The highest id that a servo may have.
pub const MAX_ID: u8 = 0xfd;
/// The most parameters of a packet: its length is one byte, and counts two more.
pub const MAX_PARAMETERS: usize = 253;

/// Header, id and length.
const HEAD: usize = HEADER.len() + 2;
/// The longest packet, in bytes.
const MAX_PACKET: usize = HEAD + 1 + MAX_PARAMETERS + 1;
/// How many bytes the decoder keeps; what is not settled is at most one packet.
const CAPACITY: usize = 2 * MAX_PACKET;

/// A packet, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Whom it is for, or from whom it is: up to [`MAX_ID`], or [`BROADCAST`].
    pub id: u8,
    /// The instruction; in an answer the error flags.
    pub kind: u8,
    /// What belongs to it.
    pub parameters: &'a [u8],
}

/// Parameters do not fit in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{parameters} bytes of parameters are more than {MAX_PARAMETERS}")]
pub struct PacketLength {
    /// How many there are.
    pub parameters: usize,
}

/// Appends a packet to `out`; `fill` appends the parameters.
///
/// # Errors
/// Too many parameters; `out` is as before then.
pub fn encode(
    out: &mut Vec<u8>,
    id: u8,
    kind: u8,
    fill: impl FnOnce(&mut Vec<u8>),
) -> Result<(), PacketLength> {
    let begin = out.len();
    out.extend_from_slice(&[HEADER[0], HEADER[1], id, 0, kind]);
    fill(out);
    let parameters = out.len().saturating_sub(begin + HEAD + 1);
    let (0..=MAX_PARAMETERS, Some(place)) = (parameters, out.get_mut(begin + 3)) else {
        out.truncate(begin);
        return Err(PacketLength { parameters });
    };
    *place = (parameters + 2) as u8;
    let checksum = checksum(out.get(begin + 2..).unwrap_or_default());
    out.push(checksum);
    Ok(())
}

fn checksum(bytes: &[u8]) -> u8 {
    !bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte))
}

/// What a [`Decoder`] has seen since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Packets with the right checksum.
    pub packets: u64,
    /// Packets, or what looked like some, with a wrong checksum.
    pub checksum_errors: u64,
    /// Bytes that are part of no good packet.
    pub skipped_bytes: u64,
}

/// Finds packets in a stream of bytes that comes in pieces of any length. Of garbage it keeps as much as could still become a packet.
///
/// After a wrong checksum the search goes on behind the first byte, so that a false header swallows no packet. Nor does it delay one:
/// a whole packet inside what could become a longer one ends that hope.
#[derive(Debug, Clone)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// What lies before is settled.
    start: usize,
    max_parameters: usize,
    statistics: Statistics,
}

/// For packets of any length.
impl Default for Decoder {
    fn default() -> Self {
        Self::up_to(MAX_PARAMETERS)
    }
}

/// What is at the beginning of some bytes.
enum Beginning {
    /// So many bytes are no packet, and do not begin one.
    Garbage(usize),
    /// A header whose packet is complete, and wrong.
    WrongChecksum,
    /// Could become a packet.
    Unfinished,
    /// A packet of this length.
    Packet(usize),
}

impl Decoder {
    /// A decoder that takes what announces more parameters than these for no packet.
    pub fn up_to(max_parameters: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, max_parameters, statistics: Statistics::default() }
    }

    /// The next packet; takes from `bytes` what it needs. `None`: all were taken, and there is no further packet yet.
    ///
    /// ```
    /// # use dragoman_arm::dynamixel::wire::Decoder;
    /// let mut decoder = Decoder::default();
    /// let mut bytes: &[u8] = &[0xff, 0xff, 0x00, 0x05, 0x03, 0x0e, 0xff, 0x01, 0xe9];
    /// let packet = decoder.next(&mut bytes).expect("a packet");
    /// assert_eq!((packet.id, packet.kind, packet.parameters), (0, 3, [0x0e, 0xff, 0x01].as_slice()));
    /// ```
    pub fn next<'a>(&'a mut self, bytes: &mut &[u8]) -> Option<Packet<'a>> {
        let packet = loop {
            if let Some(packet) = self.search() {
                break packet;
            }
            if bytes.is_empty() {
                return None;
            }
            self.buffer.drain(..self.start.min(self.buffer.len()));
            self.start = 0;
            let room = CAPACITY.saturating_sub(self.buffer.len());
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(taken);
            *bytes = rest;
        };
        match self.buffer.get(packet)? {
            [_, _, id, _, kind, parameters @ .., _] => Some(Packet { id: *id, kind: *kind, parameters }),
            _ => None,
        }
    }

    /// Forgets an unfinished packet, as before a new request. The statistics go on.
    pub fn clear(&mut self) {
        self.statistics.skipped_bytes += self.buffer.len().saturating_sub(self.start) as u64;
        self.buffer.clear();
        self.start = 0;
    }

    /// What was seen so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Where in the buffer the next packet is.
    fn search(&mut self) -> Option<Range<usize>> {
        loop {
            let garbage = match beginning(self.buffer.get(self.start..)?, self.max_parameters) {
                Beginning::Unfinished => return None,
                Beginning::Packet(length) => {
                    let begin = self.start;
                    self.statistics.packets += 1;
                    self.start = begin + length;
                    return Some(begin..begin + length);
                }
                Beginning::WrongChecksum => {
                    self.statistics.checksum_errors += 1;
                    1
                }
                Beginning::Garbage(count) => count,
            };
            self.start += garbage;
            self.statistics.skipped_bytes += garbage as u64;
        }
    }
}

fn beginning(bytes: &[u8], max_parameters: usize) -> Beginning {
    let garbage = garbage(bytes);
    if garbage > 0 {
        return Beginning::Garbage(garbage);
    }
    let (Some(id), length) = (bytes.get(2), bytes.get(3)) else {
        return Beginning::Unfinished;
    };
    if *id > BROADCAST {
        return Beginning::Garbage(1);
    }
    let Some(length) = length.map(|length| usize::from(*length)) else {
        return Beginning::Unfinished;
    };
    if !(2..=max_parameters + 2).contains(&length) {
        return Beginning::Garbage(1);
    }
    match bytes.get(2..HEAD + length) {
        Some([body @ .., sum]) if checksum(body) == *sum => Beginning::Packet(HEAD + length),
        Some(_) => Beginning::WrongChecksum,
        None if holds_packet(bytes.get(1..).unwrap_or_default(), max_parameters) => Beginning::Garbage(1),
        None => Beginning::Unfinished,
    }
}

/// How many bytes pass before a header, or what may become one, begins.
fn garbage(bytes: &[u8]) -> usize {
    let begins = |window: &[u8]| window == HEADER;
    let last = usize::from(bytes.last() == Some(&HEADER[0]));
    bytes.windows(HEADER.len()).position(begins).unwrap_or(bytes.len() - last)
}

/// Whether there is a whole packet in the bytes.
fn holds_packet(bytes: &[u8], max_parameters: usize) -> bool {
    bytes.windows(HEAD).enumerate().any(|(begin, head)| {
        let &[first, second, id, length] = head else { return false };
        let length = usize::from(length);
        let is_head =
            [first, second] == HEADER && id <= BROADCAST && (2..=max_parameters + 2).contains(&length);
        let body = if is_head { bytes.get(begin + 2..begin + HEAD + length) } else { None };
        matches!(body, Some([body @ .., sum]) if checksum(body) == *sum)
    })
}
