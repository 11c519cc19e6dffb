//! Where the bits of signals are in a frame.

use super::{DbcError, DbcMessage, Signal};

/// Bytes of a frame.
pub(super) const MAX_DATA: usize = 8;

/// The number of whole bytes that has the bits of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Its first byte.
    pub(super) first: usize,
    pub(super) bytes: usize,
    /// Its bits are these of the number.
    pub(super) lowest: usize,
    pub(super) length: usize,
    pub(super) is_big_endian: bool,
}

impl Place {
    /// The place of a signal.
    ///
    /// # Errors
    /// It has no bits, more than 64, or some that the message does not have.
    pub(super) fn of(message: &DbcMessage, signal: &Signal) -> Result<Self, DbcError> {
        let wrong = |reason: String| {
            Err(DbcError::at(signal.line, format!("{}: {}: {reason}", message.name, signal.name)))
        };
        let Signal { start, length, is_big_endian, .. } = *signal;
        if !(1..=64).contains(&length) {
            return wrong(format!("{length} bits; 1 to 64 are possible"));
        }
        let bits = 8 * message.size.min(MAX_DATA);
        // The position of the bit that is sent first, counted in the order of sending, from the highest bit of each byte.
        let begin = if is_big_endian { start / 8 * 8 + 7 - start % 8 } else { start };
        let end = begin.saturating_add(length);
        if end > bits {
            return wrong(format!(
                "its {length} bits from {start} are not in a frame of {} bytes",
                message.size
            ));
        }
        let (first, last) = (begin / 8, (end - 1) / 8);
        let bytes = last - first + 1;
        let lowest = if is_big_endian { 8 * (last + 1) - end } else { begin - 8 * first };
        Ok(Self { first, bytes, lowest, length, is_big_endian })
    }

    /// Behind its last byte.
    pub(super) fn end(&self) -> usize {
        self.first + self.bytes
    }

    /// Whether it is all bits of its bytes.
    pub(super) fn is_whole(&self) -> bool {
        self.lowest == 0 && self.length == 8 * self.bytes
    }

    /// Whether it has bits of the same number, above those of `before`.
    pub(super) fn continues(&self, before: &Self) -> bool {
        let number = |place: &Self| (place.first, place.bytes, place.is_big_endian && place.bytes > 1);
        number(self) == number(before) && before.lowest + before.length <= self.lowest
    }

    /// A bit for each bit of the frame that it has.
    pub(super) fn mask(&self) -> u64 {
        let ones = if self.length >= 64 { u64::MAX } else { (1 << self.length) - 1 };
        let number = ones << self.lowest;
        let mut mask = 0;
        for byte in 0..self.bytes {
            let significance = if self.is_big_endian { self.bytes - 1 - byte } else { byte };
            mask |= (number >> (8 * significance) & 0xFF) << (8 * (self.first + byte));
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: usize, length: usize, is_big_endian: bool, size: usize) -> Result<Place, String> {
        let message = DbcMessage { name: "M".to_owned(), size, ..DbcMessage::default() };
        let signal =
            Signal { line: 3, name: "S".to_owned(), start, length, is_big_endian, ..Signal::default() };
        Place::of(&message, &signal).map_err(|error| error.to_string())
    }

    #[test]
    fn signals_of_both_orders_have_their_bytes_and_bits() {
        for (start, length, is_big_endian, expected, mask) in [
            (0, 16, false, (0, 2, 0), 0xFFFF),
            (12, 4, false, (1, 1, 4), 0xF000),
            (4, 12, false, (0, 2, 4), 0xFFF0),
            (0, 64, false, (0, 8, 0), u64::MAX),
            (7, 16, true, (0, 2, 0), 0xFFFF),
            (39, 16, true, (4, 2, 0), 0xFFFF_0000_0000),
            (3, 12, true, (0, 2, 0), 0xFF0F),
            (1, 3, true, (0, 2, 7), 0x8003),
            (63, 1, true, (7, 1, 7), 1 << 63),
        ] {
            let found = place(start, length, is_big_endian, 8).unwrap();
            assert_eq!((found.first, found.bytes, found.lowest), expected, "{start}|{length}");
            assert_eq!(found.mask(), mask, "{start}|{length}");
        }
    }

    #[test]
    fn signals_outside_of_their_frame_are_refused() {
        for (start, length, is_big_endian, size) in [
            (0, 0, false, 8),
            (0, 65, false, 8),
            (1, 64, false, 8),
            (8, 1, false, 1),
            (0, 2, true, 1),
            (usize::MAX, 1, false, 8),
            (usize::MAX, 64, true, 8),
        ] {
            let error = place(start, length, is_big_endian, size).unwrap_err();
            assert!(error.starts_with("line 3: M: S: "), "{error}");
        }
    }
}
