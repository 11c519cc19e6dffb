//! Reads and writes the bytes of messages.
//!
//! Generated code reads all fields and then checks [`Reader::end`] once. Until then missing bytes are read as 0.

use crate::model::ByteOrder;

/// Error reading a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// The bytes end within a field.
    #[error("{missing} bytes are missing")]
    Missing {
        /// Number of bytes.
        missing: usize,
    },
    /// Bytes follow the last field.
    #[error("{rest} bytes too many")]
    Rest {
        /// Number of bytes.
        rest: usize,
    },
}

/// Reads fields from the beginning of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
    order: ByteOrder,
    missing: usize,
    is_size_open: bool,
}

/// Writes fields one after the other.
#[derive(Debug, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
    order: ByteOrder,
}

macro_rules! numbers {
    ($($number:ident)*) => {
        impl Reader<'_> {
            $(
                /// The next number; 0 if the bytes end before.
                pub fn $number(&mut self) -> $number {
                    let bytes = self.array();
                    match self.order {
                        ByteOrder::Big => $number::from_be_bytes(bytes),
                        ByteOrder::Little => $number::from_le_bytes(bytes),
                    }
                }
            )*
        }

        impl Writer {
            $(
                /// Appends a number.
                pub fn $number(&mut self, value: $number) {
                    match self.order {
                        ByteOrder::Big => self.bytes.extend(value.to_be_bytes()),
                        ByteOrder::Little => self.bytes.extend(value.to_le_bytes()),
                    }
                }
            )*
        }
    };
}

numbers! { u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 }

impl<'a> Reader<'a> {
    /// A reader at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { rest: bytes, order, missing: 0, is_size_open: false }
    }

    fn array<const LEN: usize>(&mut self) -> [u8; LEN] {
        match self.rest.split_first_chunk() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => {
                self.missing += LEN - self.rest.len();
                self.rest = &[];
                [0; LEN]
            }
        }
    }

    /// The next `len` bytes; none if there are fewer.
    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        match self.rest.split_at_checked(len) {
            Some((first, rest)) => {
                self.rest = rest;
                first
            }
            None => {
                self.missing += len - self.rest.len();
                self.rest = &[];
                &[]
            }
        }
    }

    /// The length of what follows, of one byte.
    pub fn len_u8(&mut self) -> u8 {
        let len = self.u8();
        self.is_size_open |= self.missing > 0;
        len
    }

    /// A text up to its first zero, after its length of one byte. If it is not UTF-8, each byte is a character.
    pub fn text_u8(&mut self) -> String {
        let len = self.len_u8();
        let text = self.bytes(len.into()).split(|byte| *byte == 0).next().unwrap_or_default();
        self.is_size_open |= self.missing > 0;
        match std::str::from_utf8(text) {
            Ok(text) => text.to_owned(),
            Err(_) => text.iter().map(|byte| char::from(*byte)).collect(),
        }
    }

    /// Whether the bytes end within a text or before a length, so that the size of the message is not known.
    pub fn is_size_open(&self) -> bool {
        self.is_size_open
    }

    /// Number of remaining bytes.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// # Errors
    /// Bytes were missing, or bytes remain.
    pub fn end(&self) -> Result<(), BytesError> {
        match (self.missing, self.left()) {
            (0, 0) => Ok(()),
            (0, rest) => Err(BytesError::Rest { rest }),
            (missing, _) => Err(BytesError::Missing { missing }),
        }
    }
}

impl Writer {
    /// A writer without bytes, with this capacity.
    pub fn new(order: ByteOrder, room: usize) -> Self {
        Self { bytes: Vec::with_capacity(room), order }
    }

    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends zeros up to this size.
    pub fn pad(&mut self, size: usize) {
        self.bytes.resize(self.bytes.len().max(size), 0);
    }

    /// The written bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn missing_bytes_read_as_zero_and_are_counted_at_the_end() {
        let mut reader = Reader::new(&[1, 2, 3], ByteOrder::Big);
        assert_eq!((reader.u16(), reader.u32(), reader.bytes(2)), (0x0102, 0, &[][..]));
        assert_eq!(reader.end(), Err(BytesError::Missing { missing: 5 }));
        let mut reader = Reader::new(&[1, 2, 3], ByteOrder::Little);
        assert_eq!(reader.u16(), 0x0201);
        assert_eq!(reader.end(), Err(BytesError::Rest { rest: 1 }));
    }

    #[test]
    fn the_size_is_open_until_all_lengths_are_known() {
        for (bytes, is_open) in [(&b""[..], true), (b"\x02a", true), (b"\x01a", true), (b"\x01a\x02", false)]
        {
            let mut reader = Reader::new(bytes, ByteOrder::Little);
            reader.text_u8();
            let _: Vec<f64> = (0..reader.len_u8()).map(|_| reader.f64()).collect();
            assert_eq!(reader.is_size_open(), is_open, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(a: u8, b: i16, c: u32, d: f64, is_big: bool, size in 0_usize..40) {
            let order = if is_big { ByteOrder::Big } else { ByteOrder::Little };
            let mut writer = Writer::new(order, 0);
            writer.u8(a);
            writer.i16(b);
            writer.u32(c);
            writer.f64(d);
            writer.pad(size);
            let bytes = writer.finish();
            prop_assert_eq!(bytes.len(), size.max(15));
            let mut reader = Reader::new(&bytes, order);
            prop_assert_eq!((reader.u8(), reader.i16(), reader.u32()), (a, b, c));
            prop_assert_eq!(reader.f64().to_bits(), d.to_bits());
            prop_assert!(reader.bytes(size.saturating_sub(15)).iter().all(|byte| *byte == 0));
            prop_assert_eq!(reader.end(), Ok(()));
        }
    }
}
