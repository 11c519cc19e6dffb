//! Packets in a byte stream.

use dragoman_io::serial::{Beginning, FrameStatistics, Frames};

/// The two header bytes of a packet.
pub const HEADER: [u8; 2] = [0xff, 0xff];
/// The id that addresses all servos.
pub const BROADCAST: u8 = 0xfe;
/// The highest id that a servo may have.
pub const MAX_ID: u8 = 0xfd;
/// Maximum number of parameters of a packet: its length field is one byte, and counts two more.
pub const MAX_PARAMETERS: usize = 253;

/// Header, id and length.
const HEAD: usize = HEADER.len() + 2;
/// Maximum length of a packet, bytes.
const MAX_PACKET: usize = HEAD + 1 + MAX_PARAMETERS + 1;
/// Bytes that the decoder buffers; unparsed data is at most one packet.
const CAPACITY: usize = 2 * MAX_PACKET;

/// A packet, in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Packet<'a> {
    /// Id of the receiver or sender: up to [`MAX_ID`], or [`BROADCAST`].
    pub id: u8,
    /// The instruction; in an answer the error flags.
    pub kind: u8,
    pub parameters: &'a [u8],
}

/// The parameters do not fit in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{parameters} bytes of parameters are more than {MAX_PARAMETERS}")]
pub struct PacketLength {
    /// Number of parameter bytes.
    pub parameters: usize,
}

/// Appends a packet to `out`; `fill` appends the parameters.
///
/// # Errors
/// Too many parameters; `out` is unchanged then.
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

/// Finds packets in a byte stream that arrives in pieces of any length. Of invalid bytes it keeps those that may still
/// become a packet.
///
/// After a wrong checksum the search continues at the second byte, so that a false header hides no packet. Nor does it
/// delay one: a complete packet inside a possible longer one ends the wait for the longer one.
#[derive(Debug, Clone)]
pub struct Decoder {
    frames: Frames,
    max_parameters: usize,
}

/// A decoder for packets of any length.
impl Default for Decoder {
    fn default() -> Self {
        Self::up_to(MAX_PARAMETERS)
    }
}

impl Decoder {
    /// A decoder that rejects packets with more than `max_parameters` parameters.
    pub fn up_to(max_parameters: usize) -> Self {
        Self { frames: Frames::new(CAPACITY), max_parameters }
    }

    /// The next packet; consumes the bytes it needs. `None`: all bytes were consumed without completing a packet.
    ///
    /// ```
    /// # use dragoman_arm::dynamixel::wire::Decoder;
    /// let mut decoder = Decoder::default();
    /// let mut bytes: &[u8] = &[0xff, 0xff, 0x00, 0x05, 0x03, 0x0e, 0xff, 0x01, 0xe9];
    /// let packet = decoder.next(&mut bytes).expect("a packet");
    /// assert_eq!((packet.id, packet.kind, packet.parameters), (0, 3, [0x0e, 0xff, 0x01].as_slice()));
    /// ```
    pub fn next<'a>(&'a mut self, bytes: &mut &[u8]) -> Option<Packet<'a>> {
        let max_parameters = self.max_parameters;
        match self.frames.next(bytes, |bytes| beginning(bytes, max_parameters))? {
            [_, _, id, _, kind, parameters @ .., _] => Some(Packet { id: *id, kind: *kind, parameters }),
            _ => None,
        }
    }

    /// Drops an unfinished packet, for use before a new request. The counters are kept.
    pub fn clear(&mut self) {
        self.frames.clear();
    }

    /// The counters.
    pub fn statistics(&self) -> FrameStatistics {
        self.frames.statistics()
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
        Some([body @ .., sum]) if checksum(body) == *sum => Beginning::Frame(HEAD + length),
        Some(_) => Beginning::WrongChecksum,
        None if holds_packet(bytes.get(1..).unwrap_or_default(), max_parameters) => Beginning::Garbage(1),
        None => Beginning::Unfinished,
    }
}

/// Number of bytes before the next header or possible header.
fn garbage(bytes: &[u8]) -> usize {
    let begins = |window: &[u8]| window == HEADER;
    let last = usize::from(bytes.last() == Some(&HEADER[0]));
    bytes.windows(HEADER.len()).position(begins).unwrap_or(bytes.len() - last)
}

/// Whether the bytes contain a complete packet.
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
