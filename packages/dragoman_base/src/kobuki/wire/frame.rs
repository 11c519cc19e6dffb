//! Frames in a stream of bytes.

use std::iter::FusedIterator;
use std::ops::Range;

use super::DecodeError;

/// The two bytes that a frame begins with.
pub const HEADER: [u8; 2] = [0xaa, 0x55];
/// The longest payload, in bytes: what one byte can tell.
pub const MAX_PAYLOAD: usize = 255;
/// The longest frame, in bytes: header, length, payload, checksum.
pub const MAX_FRAME: usize = HEADER.len() + 1 + MAX_PAYLOAD + 1;

/// How many bytes the decoder keeps; what is not settled is at most one frame.
const CAPACITY: usize = 4 * MAX_FRAME;

/// A payload does not fit in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payload of {length} bytes is not in 1..={MAX_PAYLOAD}")]
pub struct PayloadLength {
    /// Its length in bytes.
    pub length: usize,
}

/// Appends a frame to `out`; `fill` appends the payload's sub-payloads.
///
/// # Errors
/// Empty or too long a payload; `out` is as before then.
pub fn encode(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), PayloadLength> {
    let begin = out.len();
    out.extend_from_slice(&[HEADER[0], HEADER[1], 0]);
    fill(out);
    let length = out.len().saturating_sub(begin + 3);
    let (1..=MAX_PAYLOAD, Some(place)) = (length, out.get_mut(begin + 2)) else {
        out.truncate(begin);
        return Err(PayloadLength { length });
    };
    *place = length as u8;
    let checksum = checksum(out.get(begin + 2..).unwrap_or_default());
    out.push(checksum);
    Ok(())
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

/// What a [`Decoder`] has seen since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Frames with the right checksum.
    pub frames: u64,
    /// Frames, or what looked like some, with a wrong checksum.
    pub checksum_errors: u64,
    /// Bytes that are part of no good frame.
    pub skipped_bytes: u64,
}

/// Finds frames in a stream of bytes that comes in pieces of any length. Of garbage it keeps as much as could still become a frame.
///
/// After a wrong checksum the search goes on behind the first byte of the frame, so that a false header swallows no frame. Nor does it
/// delay one: a whole frame of sub-payloads inside what could become a longer frame ends that hope.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// What lies before is settled.
    start: usize,
    statistics: Statistics,
}

/// What is at the beginning of some bytes.
enum Beginning {
    /// So many bytes are no frame, and do not begin one.
    Garbage(usize),
    /// A header and length whose frame is complete, and wrong.
    WrongChecksum,
    /// Could become a frame.
    Unfinished,
    /// A frame with a payload of this length.
    Frame(usize),
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The payload of the next frame; takes from `bytes` what it needs. `None`: all were taken, and there is no further frame yet.
    ///
    /// ```
    /// # use dragoman_base::kobuki::wire::Decoder;
    /// let mut decoder = Decoder::new();
    /// let mut bytes: &[u8] = &[0xaa, 0x55, 0x03, 0x0c, 0x01, 0x07, 0x09];
    /// let mut payloads = 0;
    /// while let Some(payload) = decoder.next(&mut bytes) {
    ///     assert_eq!(payload, [0x0c, 0x01, 0x07]);
    ///     payloads += 1;
    /// }
    /// assert_eq!(payloads, 1);
    /// ```
    pub fn next<'a>(&'a mut self, bytes: &mut &[u8]) -> Option<&'a [u8]> {
        let payload = loop {
            if let Some(payload) = self.search() {
                break payload;
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
        self.buffer.get(payload)
    }

    /// Forgets an unfinished frame, as after a lost connection. The statistics go on.
    pub fn clear(&mut self) {
        self.statistics.skipped_bytes += self.buffer.len().saturating_sub(self.start) as u64;
        self.buffer.clear();
        self.start = 0;
    }

    /// What was seen so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Where in the buffer the next frame's payload is.
    fn search(&mut self) -> Option<Range<usize>> {
        loop {
            let garbage = match beginning(self.buffer.get(self.start..)?) {
                Beginning::Unfinished => return None,
                Beginning::Frame(length) => {
                    let begin = self.start + HEADER.len() + 1;
                    self.statistics.frames += 1;
                    self.start = begin + length + 1;
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

fn beginning(bytes: &[u8]) -> Beginning {
    let garbage = garbage(bytes);
    if garbage > 0 {
        return Beginning::Garbage(garbage);
    }
    let Some((length, frame)) = frame(bytes) else {
        return Beginning::Unfinished;
    };
    let behind = bytes.get(1..bytes.len().min(HEADER.len() + 1 + length + 1)).unwrap_or_default();
    match frame {
        _ if length == 0 || holds_frame(behind) => Beginning::Garbage(1),
        None => Beginning::Unfinished,
        Some(frame) if checksum(frame) == 0 => Beginning::Frame(length),
        Some(_) => Beginning::WrongChecksum,
    }
}

/// How many bytes pass before a header, or what may become one, begins.
fn garbage(bytes: &[u8]) -> usize {
    let begins = |window: &[u8]| window == HEADER;
    let last = usize::from(bytes.last() == Some(&HEADER[0]));
    bytes.windows(HEADER.len()).position(begins).unwrap_or(bytes.len() - last)
}

/// The length of the payload that a header's third byte announces, and what the checksum is over, with it, if all is there.
fn frame(bytes: &[u8]) -> Option<(usize, Option<&[u8]>)> {
    let length = usize::from(*bytes.get(2)?);
    Some((length, bytes.get(2..HEADER.len() + 1 + length + 1)))
}

/// Whether there is a whole frame in the bytes that consists of sub-payloads.
fn holds_frame(mut bytes: &[u8]) -> bool {
    loop {
        bytes = bytes.get(garbage(bytes)..).unwrap_or_default();
        let Some((length, frame)) = frame(bytes) else {
            return false;
        };
        if let Some([_, payload @ .., _]) = frame.filter(|frame| length > 0 && checksum(frame) == 0)
            && SubPayloads::new(payload).all(|sub_payload| sub_payload.is_ok())
        {
            return true;
        }
        bytes = bytes.get(1..).unwrap_or_default();
    }
}

/// The sub-payloads of a frame's payload: number and data of each.
#[derive(Debug, Clone)]
pub struct SubPayloads<'a> {
    rest: &'a [u8],
}

impl<'a> SubPayloads<'a> {
    /// Of this payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }
}

impl<'a> Iterator for SubPayloads<'a> {
    type Item = Result<(u8, &'a [u8]), DecodeError>;

    /// # Errors
    /// The frame ends within a sub-payload; it is the last then.
    fn next(&mut self) -> Option<Self::Item> {
        let (id, rest) = self.rest.split_first()?;
        self.rest = &[];
        let Some((length, rest)) = rest.split_first() else {
            return Some(Err(DecodeError::NoLength { id: *id }));
        };
        let Some((data, rest)) = rest.split_at_checked(usize::from(*length)) else {
            let present = u8::try_from(rest.len()).unwrap_or(u8::MAX);
            return Some(Err(DecodeError::Truncated { id: *id, declared: *length, present }));
        };
        self.rest = rest;
        Some(Ok((*id, data)))
    }
}

impl FusedIterator for SubPayloads<'_> {}
