//! A classic CAN frame (ISO 11898-1, CAN 2.0).

use std::fmt;

use embedded_can::{ExtendedId, Id, StandardId};

/// Maximum number of data bytes of a classic frame.
pub const MAX_DATA: usize = 8;

/// A data or remote frame of at most eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    id: Id,
    remote: bool,
    length: u8,
    data: [u8; MAX_DATA],
}

impl Frame {
    /// A data frame with an 11-bit identifier.
    ///
    /// `None` if `id` has more than 11 bits or there are more than eight bytes of data.
    pub fn standard(id: u16, data: &[u8]) -> Option<Self> {
        Self::new(StandardId::new(id)?, data)
    }

    /// A frame without data whose identifier is the low 11 bits of `id`.
    pub fn without_data(id: u16) -> Self {
        let id = StandardId::new(id & StandardId::MAX.as_raw()).unwrap_or(StandardId::ZERO);
        Self { id: id.into(), remote: false, length: 0, data: [0; MAX_DATA] }
    }

    /// A data frame. `None` if there are more than eight bytes of data.
    pub fn new(id: impl Into<Id>, data: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_DATA];
        bytes.get_mut(..data.len())?.copy_from_slice(data);
        Some(Self { id: id.into(), remote: false, length: u8::try_from(data.len()).ok()?, data: bytes })
    }

    /// A remote frame, which requests `length` bytes. `None` if `length` is above eight.
    pub fn remote(id: impl Into<Id>, length: usize) -> Option<Self> {
        let length = u8::try_from(length).ok().filter(|length| usize::from(*length) <= MAX_DATA)?;
        Some(Self { id: id.into(), remote: true, length, data: [0; MAX_DATA] })
    }

    /// The identifier.
    pub fn id(&self) -> Id {
        self.id
    }

    /// The identifier, if it has 11 bits.
    pub fn standard_id(&self) -> Option<u16> {
        match self.id {
            Id::Standard(id) => Some(id.as_raw()),
            Id::Extended(_) => None,
        }
    }

    /// Whether it is a remote frame.
    pub fn is_remote(&self) -> bool {
        self.remote
    }

    /// The data; empty in a remote frame.
    pub fn data(&self) -> &[u8] {
        if self.remote { &[] } else { self.data.get(..usize::from(self.length)).unwrap_or_default() }
    }

    /// The length code: the bytes that it carries or requests.
    pub fn length(&self) -> usize {
        usize::from(self.length)
    }

    /// Bits on the wire from the start of frame to the end of the interframe space, with the stuff bits of this content
    /// (ISO 11898-1: a bit of the other level after five equal ones, from the start of frame to the CRC).
    pub fn bits(&self) -> u32 {
        let mut stuffed = Stuffed::default();
        stuffed.push(0, 1);
        let length = u32::from(self.length);
        let remote = u32::from(self.remote);
        match self.id {
            // Identifier, RTR, IDE, r0.
            Id::Standard(id) => {
                stuffed.push(u32::from(id.as_raw()), 11);
                stuffed.push(remote << 2, 3);
            }
            // Eleven bits, SRR and IDE, eighteen bits, RTR, r1, r0.
            Id::Extended(id) => {
                stuffed.push(id.as_raw() >> 18, 11);
                stuffed.push(0b11, 2);
                stuffed.push(id.as_raw() & 0x3_ffff, 18);
                stuffed.push(remote << 2, 3);
            }
        }
        stuffed.push(length, 4);
        for byte in self.data() {
            stuffed.push(u32::from(*byte), 8);
        }
        let crc = stuffed.crc;
        stuffed.push(u32::from(crc), 15);
        // CRC delimiter, acknowledge slot and delimiter, end of frame, interframe space.
        stuffed.bits + 1 + 2 + 7 + 3
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// In the format of `candump -L` and `cansend`: `181#01020304`, `00000181#R4`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.id {
            Id::Standard(id) => write!(f, "{:03X}#", id.as_raw())?,
            Id::Extended(id) => write!(f, "{:08X}#", id.as_raw())?,
        }
        if self.remote {
            return write!(f, "R{}", self.length);
        }
        self.data().iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

/// A frame failed to parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a classic CAN frame; write 181#01020304, 00000181#01 or 181#R4")]
pub struct ParseFrameError(String);

impl std::str::FromStr for Frame {
    type Err = ParseFrameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseFrameError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Frame> {
    let (id, data) = text.split_once('#')?;
    let raw = u32::from_str_radix(id, 16).ok()?;
    let id: Id = match id.len() {
        3 => StandardId::new(u16::try_from(raw).ok()?)?.into(),
        8 => ExtendedId::new(raw)?.into(),
        _ => return None,
    };
    if let Some(length) = data.strip_prefix(['R', 'r']) {
        return Frame::remote(id, if length.is_empty() { 0 } else { length.parse().ok()? });
    }
    if !data.is_ascii() || data.len() % 2 != 0 || data.starts_with('#') {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(data.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..data.len()).step_by(2).map(byte).collect();
    Frame::new(id, &bytes?)
}

/// Counts bits with stuffing, and computes the CRC (polynomial 0x4599 over the bits before stuffing).
#[derive(Default)]
struct Stuffed {
    bits: u32,
    crc: u16,
    run: u32,
    last: Option<u32>,
}

impl Stuffed {
    fn push(&mut self, value: u32, count: u32) {
        for shift in (0..count).rev() {
            let bit = (value >> shift) & 1;
            let overflow = (u32::from(self.crc >> 14) & 1) ^ bit;
            self.crc = (self.crc << 1) & 0x7fff;
            if overflow == 1 {
                self.crc ^= 0x4599;
            }
            self.bits += 1;
            self.run = if self.last == Some(bit) { self.run + 1 } else { 1 };
            self.last = Some(bit);
            if self.run == 5 {
                // The stuff bit has the other level, and counts towards the next run.
                self.bits += 1;
                self.last = Some(1 - bit);
                self.run = 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_read_and_print_as_can_utils_write_them() {
        for text in ["123#DEADBEEF", "000#0100", "7FF#", "1F334455#1122334455667788", "181#R4"] {
            assert_eq!(text.parse::<Frame>().unwrap().to_string(), text);
        }
        for text in
            ["", "#", "12#00", "800#00", "123#0", "123#001122334455667788", "123##1", "123#xx", "123#R9"]
        {
            assert!(text.parse::<Frame>().is_err(), "{text}");
        }
    }

    #[test]
    fn no_frame_has_more_than_eight_bytes_or_an_identifier_too_wide() {
        assert_eq!(Frame::standard(0x800, &[]), None);
        assert_eq!(Frame::standard(1, &[0; 9]), None);
        assert_eq!(Frame::remote(StandardId::ZERO, 9), None);
    }

    #[test]
    fn lengths_on_the_wire_lie_between_the_known_bounds() {
        // 47 bits and 8 per byte without stuffing; at most one stuff bit for 4 of the 34 + 8n bits after the first.
        let alternating = Frame::standard(0x555, &[0x55; 8]).unwrap();
        assert!((111..=114).contains(&alternating.bits()), "{}", alternating.bits());
        let zeros = Frame::standard(0, &[0; 8]).unwrap();
        assert!((125..=135).contains(&zeros.bits()), "{}", zeros.bits());
        let extended = Frame::new(ExtendedId::new(0x1555_5555).unwrap(), &[]).unwrap();
        assert!((67..=80).contains(&extended.bits()), "{}", extended.bits());
    }

    proptest! {
        #[test]
        fn any_text_parses_or_is_refused(text in ".{0,24}") {
            if let Ok(frame) = text.parse::<Frame>() {
                prop_assert_eq!(frame.to_string().parse::<Frame>().unwrap(), frame);
            }
        }

        #[test]
        fn bits_stay_within_the_worst_case(id in 0_u16..0x800, data in prop::collection::vec(any::<u8>(), 0..=8)) {
            let frame = Frame::standard(id, &data).unwrap();
            let plain = 47 + 8 * data.len() as u32;
            prop_assert!(frame.bits() >= plain && frame.bits() <= plain + (34 + 8 * data.len() as u32 - 1) / 4);
        }
    }
}
