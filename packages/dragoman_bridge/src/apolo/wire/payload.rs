//! Writes frames: STRING, doubles, two-byte numbers.

use super::{EncodeError, HEADER_LEN, MAX_NAME_LEN, SizeBase};

/// A frame under construction. It keeps the first error until the end.
#[derive(Debug)]
pub(super) struct FrameWriter {
    bytes: Vec<u8>,
    base: SizeBase,
    error: Option<EncodeError>,
}

impl FrameWriter {
    pub(super) fn new(kind: u8, base: SizeBase) -> Self {
        Self { bytes: vec![b'a', b'a', 0, 0, kind], base, error: None }
    }

    fn bytes(&mut self, bytes: Result<impl IntoIterator<Item = u8>, EncodeError>) {
        match bytes {
            Ok(bytes) => self.bytes.extend(bytes),
            Err(error) => drop(self.error.get_or_insert(error)),
        }
    }

    pub(super) fn f64(&mut self, value: f64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// The length of a list of joint values.
    pub(super) fn count_u8(&mut self, count: usize) {
        let byte = u8::try_from(count).map_err(|_| EncodeError::TooManyJoints { count });
        self.bytes(byte.map(|byte| [byte]));
    }

    pub(super) fn number(&mut self, number: usize) {
        self.bytes(self.base.split(number).ok_or(EncodeError::TooLong { len: number }));
    }

    pub(super) fn text_u8(&mut self, name: &str) {
        self.bytes(string(name));
    }

    /// The frame with its size.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let len = self.bytes.len();
        let size = self.base.split(len).ok_or(EncodeError::TooLong { len })?;
        if let Some(place) = self.bytes.get_mut(2..HEADER_LEN - 1) {
            place.copy_from_slice(&size);
        }
        Ok(self.bytes)
    }
}

/// A STRING: a length that counts the final NUL, and that many bytes. One byte per character if that decodes to the same
/// name, UTF-8 otherwise.
fn string(name: &str) -> Result<Vec<u8>, EncodeError> {
    if name.contains('\0') {
        return Err(EncodeError::NulInName { name: name.escape_default().to_string() });
    }
    if name.is_empty() {
        return Ok(vec![0]);
    }
    let single: Option<Vec<u8>> =
        name.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    let bytes = match single {
        Some(bytes) if name.is_ascii() || std::str::from_utf8(&bytes).is_err() => bytes,
        _ => name.as_bytes().to_vec(),
    };
    let len = u8::try_from(bytes.len() + 1).ok().filter(|_| bytes.len() <= MAX_NAME_LEN);
    let len = len.ok_or_else(|| EncodeError::NameTooLong { name: name.to_owned() })?;
    Ok([&[len], bytes.as_slice(), &[0]].concat())
}

#[cfg(test)]
mod tests {
    use dragoman_protocol::bytes::Reader;
    use dragoman_protocol::model::ByteOrder;

    use super::*;

    /// `None`: bytes are missing.
    fn read(bytes: &[u8]) -> Option<String> {
        let mut reader = Reader::new(bytes, ByteOrder::Little);
        let name = reader.text_u8();
        reader.end().is_ok().then_some(name)
    }

    fn written(name: &str) -> Vec<u8> {
        let mut writer = FrameWriter::new(b'U', SizeBase::Full256);
        writer.text_u8(name);
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
            assert_eq!(read(bytes).as_deref(), Some(name));
        }
        assert_eq!(read(b"\x05Neo\0"), None);
        assert_eq!(read(b""), None);
    }

    #[test]
    fn characters_beyond_ascii_have_one_byte_where_it_can_be_read_back() {
        assert_eq!(written("año"), b"\x04a\xf1o\0");
        // "Ã±" with one byte per character would decode as UTF-8 "ñ".
        assert_eq!(written("Ã±"), b"\x05\xc3\x83\xc2\xb1\0");
        for name in ["año", "Ã±", "機"] {
            assert_eq!(read(&written(name)).as_deref(), Some(name));
        }
    }

    #[test]
    fn names_that_cannot_be_written_are_refused() {
        let encoded = |name: &str| {
            let mut writer = FrameWriter::new(b'U', SizeBase::Full256);
            writer.text_u8(name);
            writer.finish()
        };
        assert!(matches!(encoded("a\0b"), Err(EncodeError::NulInName { .. })));
        assert!(matches!(encoded(&"x".repeat(255)), Err(EncodeError::NameTooLong { .. })));
        assert_eq!(encoded(&"x".repeat(254)).expect("a frame").len(), 5 + 256);
    }
}
