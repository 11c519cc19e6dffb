//! The parts of payloads: STRING, doubles, two-byte numbers.

use super::{EncodeError, HEADER_LEN, MAX_NAME_LEN, SizeBase};

/// Reads a payload from its beginning. Each method returns `None` if too few bytes are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct PayloadReader<'a>(pub(super) &'a [u8]);

impl<'a> PayloadReader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn double(&mut self) -> Option<f64> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(f64::from_le_bytes(*bytes))
    }

    pub(super) fn doubles(&mut self, count: usize) -> Option<Vec<f64>> {
        let bytes = self.take(count.checked_mul(8)?)?;
        let (chunks, _) = bytes.as_chunks();
        Some(chunks.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect())
    }

    pub(super) fn number(&mut self, base: SizeBase) -> Option<u16> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(base.join(*bytes))
    }

    /// A STRING: a length that counts the final NUL, and that many bytes. Length 0 is the empty name. As in C, the name
    /// ends at its first NUL.
    pub(super) fn name(&mut self) -> Option<String> {
        let len = self.byte()?;
        let bytes = self.take(usize::from(len))?;
        let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(match std::str::from_utf8(name) {
            Ok(name) => name.to_owned(),
            // MATLAB on Windows, and Apolo itself, use one byte per character.
            Err(_) => name.iter().map(|byte| char::from(*byte)).collect(),
        })
    }

    /// Skips a STRING.
    pub(super) fn skip_name(&mut self) -> Option<()> {
        let len = self.byte()?;
        self.take(usize::from(len)).map(|_| ())
    }

    /// Number of bytes read from `whole`, the original slice.
    pub(super) fn consumed(&self, whole: &[u8]) -> usize {
        whole.len() - self.0.len()
    }
}

/// A frame under construction.
#[derive(Debug)]
pub(super) struct FrameWriter {
    bytes: Vec<u8>,
    base: SizeBase,
}

impl FrameWriter {
    pub(super) fn new(kind: u8, base: SizeBase) -> Self {
        Self { bytes: vec![b'a', b'a', 0, 0, kind], base }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn doubles(&mut self, values: &[f64]) {
        self.bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(super) fn number(&mut self, number: usize) -> Result<(), EncodeError> {
        let bytes = self.base.split(number).ok_or(EncodeError::TooLong { len: number })?;
        self.bytes.extend(bytes);
        Ok(())
    }

    /// A STRING. One byte per character if that decodes to the same name, UTF-8 otherwise.
    pub(super) fn name(&mut self, name: &str) -> Result<(), EncodeError> {
        if name.contains('\0') {
            return Err(EncodeError::NulInName { name: name.escape_default().to_string() });
        }
        let single: Option<Vec<u8>> =
            name.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
        let bytes = match single {
            Some(bytes) if name.is_ascii() || std::str::from_utf8(&bytes).is_err() => bytes,
            _ => name.as_bytes().to_vec(),
        };
        if bytes.is_empty() {
            self.bytes.push(0);
            return Ok(());
        }
        let len = u8::try_from(bytes.len() + 1).ok().filter(|_| bytes.len() <= MAX_NAME_LEN);
        self.bytes.push(len.ok_or_else(|| EncodeError::NameTooLong { name: name.to_owned() })?);
        self.bytes.extend(bytes);
        self.bytes.push(0);
        Ok(())
    }

    /// The frame with its size.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let len = self.bytes.len();
        let size = self.base.split(len).ok_or(EncodeError::TooLong { len })?;
        if let Some(place) = self.bytes.get_mut(2..HEADER_LEN - 1) {
            place.copy_from_slice(&size);
        }
        Ok(self.bytes)
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]
mod tests {
    use super::*;

    fn written(name: &str) -> Vec<u8> {
        let mut writer = FrameWriter::new(b'U', SizeBase::Full256);
        writer.name(name).expect("a name");
        writer.finish().expect("a frame")[5..].to_vec()
    }

    #[test]
    fn strings_count_their_final_nul() {
        assert_eq!(written("Neo"), b"\x04Neo\0");
        assert_eq!(written(""), b"\0");
        for (bytes, name) in [
            (&b"\x04Neo\0"[..], "Neo"),
            (b"\0", ""),
            (b"\x01\0", ""),
            (b"\x03Neo", "Neo"),
            (b"\x05N\0eo\0", "N"),
        ] {
            assert_eq!(PayloadReader(bytes).name().as_deref(), Some(name));
        }
        assert_eq!(PayloadReader(b"\x05Neo\0").name(), None);
        assert_eq!(PayloadReader(b"").name(), None);
    }

    #[test]
    fn characters_beyond_ascii_have_one_byte_where_it_can_be_read_back() {
        assert_eq!(written("año"), b"\x04a\xf1o\0");
        // "Ã±" with one byte per character would decode as UTF-8 "ñ".
        assert_eq!(written("Ã±"), b"\x05\xc3\x83\xc2\xb1\0");
        for name in ["año", "Ã±", "機"] {
            assert_eq!(PayloadReader(&written(name)).name().as_deref(), Some(name));
        }
    }

    #[test]
    fn names_that_cannot_be_written_are_refused() {
        let mut writer = FrameWriter::new(b'U', SizeBase::Full256);
        assert!(matches!(writer.name("a\0b"), Err(EncodeError::NulInName { .. })));
        assert!(matches!(writer.name(&"x".repeat(255)), Err(EncodeError::NameTooLong { .. })));
        assert_eq!(writer.name(&"x".repeat(254)), Ok(()));
        assert_eq!(writer.finish().expect("a frame").len(), 5 + 256);
    }
}
