//! Bytes of a file as text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::Note;

/// A file's text: in the encoding of its byte order mark, otherwise in UTF-8. A file that is not valid UTF-8 is read as
/// Windows-1252, which has a character for every byte, and there is a note. For XML, which declares its encoding, there
/// is `dragoman_urdf::decode`.
pub fn decode(bytes: &[u8]) -> (String, Option<Note>) {
    let (encoding, length) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let body = bytes.get(length..).unwrap_or_default();
    if let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(body) {
        return (text.into_owned(), None);
    }
    if encoding != UTF_8 {
        let (text, _) = encoding.decode_without_bom_handling(body);
        return (
            text.into_owned(),
            Some(Note { line: 0, text: format!("not all of this is {}", encoding.name()) }),
        );
    }
    let valid = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
    let line = 1 + body.iter().take(valid).filter(|byte| **byte == b'\n').count();
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(body);
    (text.into_owned(), Some(Note { line, text: "this is not UTF-8: read as Windows-1252".to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_encoding() {
        assert_eq!(decode("größe: 1".as_bytes()), ("größe: 1".to_owned(), None));
        assert_eq!(decode(b"\xef\xbb\xbfa: 1\r\n"), ("a: 1\r\n".to_owned(), None));
        let wide: Vec<u8> =
            [0xfeff].into_iter().chain("ä: 1".encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&wide), ("ä: 1".to_owned(), None));
        let (text, note) = decode(b"a: 1\n# Gr\xf6\xdfe");
        assert_eq!(text, "a: 1\n# Größe");
        assert_eq!(note.unwrap().to_string(), "line 2: this is not UTF-8: read as Windows-1252");
        let (_, note) = decode(b"\xff\xfea");
        assert_eq!(note.unwrap().to_string(), "not all of this is UTF-16LE");
        assert_eq!(decode(b""), (String::new(), None));
    }
}
