//! Frames in a byte stream.

use std::iter::FusedIterator;

use dragoman_io::serial::{Beginning, FrameStatistics, Frames};

use super::DecodeError;

/// The two header bytes of a frame.
pub const HEADER: [u8; 2] = [0xaa, 0x55];
/// Maximum length of a payload, bytes: its length field is one byte.
pub const MAX_PAYLOAD: usize = 255;
/// Maximum length of a frame, bytes: header, length, payload, checksum.
pub const MAX_FRAME: usize = HEADER.len() + 1 + MAX_PAYLOAD + 1;

/// Bytes that the decoder buffers; unparsed data is at most one frame.
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
/// An empty or too long payload; `out` is unchanged then.
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

/// Finds frames in a byte stream that arrives in pieces of any length. Of invalid bytes it keeps those that may still
/// become a frame.
///
/// After a wrong checksum the search continues at the second byte of the frame, so that a false header hides no frame.
/// Nor does it delay one: a complete frame of sub-payloads inside a possible longer frame ends the wait for the longer
/// one.
#[derive(Debug, Clone)]
pub struct Decoder(Frames);

impl Default for Decoder {
    fn default() -> Self {
        Self(Frames::new(CAPACITY))
    }
}

impl Decoder {
    /// A decoder without data.
    pub fn new() -> Self {
        Self::default()
    }

    /// The payload of the next frame; consumes the bytes it needs. `None`: all bytes were consumed without completing a
    /// frame.
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
        match self.0.next(bytes, beginning)? {
            [_, _, _, payload @ .., _] => Some(payload),
            _ => None,
        }
    }

    /// Drops an unfinished frame, for use after a lost connection. The counters are kept.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The counters.
    pub fn statistics(&self) -> FrameStatistics {
        self.0.statistics()
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
        Some(frame) if checksum(frame) == 0 => Beginning::Frame(HEADER.len() + 1 + length + 1),
        Some(_) => Beginning::WrongChecksum,
    }
}

/// Number of bytes before the next header or possible header.
fn garbage(bytes: &[u8]) -> usize {
    let begins = |window: &[u8]| window == HEADER;
    let last = usize::from(bytes.last() == Some(&HEADER[0]));
    bytes.windows(HEADER.len()).position(begins).unwrap_or(bytes.len() - last)
}

/// The payload length in a header's third byte, and the bytes under the checksum, if the frame is complete.
fn frame(bytes: &[u8]) -> Option<(usize, Option<&[u8]>)> {
    let length = usize::from(*bytes.get(2)?);
    Some((length, bytes.get(2..HEADER.len() + 1 + length + 1)))
}

/// Whether the bytes contain a complete frame of sub-payloads.
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

/// The sub-payloads of a frame's payload: id and data of each.
#[derive(Debug, Clone)]
pub struct SubPayloads<'a> {
    rest: &'a [u8],
}

impl<'a> SubPayloads<'a> {
    /// An iterator over this payload.
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
