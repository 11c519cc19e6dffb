//! The encoding of a file (XML 1.0, 4.3.3 and appendix F).

use std::ops::Range;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::{About, Note};

/// How far into a file its declaration may reach, bytes.
const DECLARATION: usize = 1024;

/// A file's text in UTF-8, with a declaration that says so. The encoding of the file is that of its byte order mark,
/// else the declared one, else UTF-8. A file that is not valid in it is read as Windows-1252, which has a character for
/// every byte, and there is a note: other readers of robot descriptions ignore encodings.
pub fn decode(bytes: &[u8]) -> (String, Option<Note>) {
    let note = |line, text: String| Some(Note { line, about: About::Nothing, text, done: String::new() });
    let marked = Encoding::for_bom(bytes);
    let label = declared(bytes).and_then(|range| bytes.get(range));
    let named = label.map(Encoding::for_label);
    let (encoding, length) = match (marked, named) {
        (Some(marked), _) => marked,
        // A declaration that was read as bytes cannot be in UTF-16.
        (None, Some(Some(encoding))) if encoding != UTF_16LE && encoding != UTF_16BE => (encoding, 0),
        _ => (UTF_8, 0),
    };
    let body = bytes.get(length..).unwrap_or_default();
    let (mut text, problem) = match encoding.decode_without_bom_handling_and_without_replacement(body) {
        Some(text) => {
            let unknown = matches!(named, Some(None)) && marked.is_none();
            (
                text.into_owned(),
                if unknown {
                    note(1, "the declared encoding is unknown: read as UTF-8".to_owned())
                } else {
                    None
                },
            )
        }
        None if encoding == UTF_8 => {
            let valid = std::str::from_utf8(body).map_or_else(|error| error.valid_up_to(), str::len);
            let line = 1 + body.iter().take(valid).filter(|byte| **byte == b'\n').count();
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(body);
            (text.into_owned(), note(line, "this is not UTF-8: read as Windows-1252".to_owned()))
        }
        None => {
            let (text, _) = encoding.decode_without_bom_handling(body);
            (text.into_owned(), note(1, format!("not all of this is {}", encoding.name())))
        }
    };
    if let Some(range) = declared(text.as_bytes()) {
        text.replace_range(range, "UTF-8");
    }
    (text, problem)
}

/// Where the XML declaration names an encoding.
fn declared(bytes: &[u8]) -> Option<Range<usize>> {
    let head = bytes.get(..DECLARATION.min(bytes.len()))?;
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let declaration = std::str::from_utf8(head.get(..end)?).ok()?;
    let (_, after) = declaration.strip_prefix("<?xml")?.split_once("encoding")?;
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let label = value.get(1..)?.split(quote).next()?;
    let at = declaration.len() - value.len() + 1;
    Some(at..at + label.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declared_encoding_is_used() {
        let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n<!-- Gr\xfc\xdfe -->";
        let (text, note) = decode(latin);
        assert_eq!(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- Gr\u{fc}\u{df}e -->");
        assert_eq!(note, None);
        let utf16: Vec<u8> = [0xfeff]
            .into_iter()
            .chain("<?xml version='1.0' encoding = 'utf-16'?><a/>".encode_utf16())
            .flat_map(u16::to_be_bytes)
            .collect();
        assert_eq!(decode(&utf16), ("<?xml version='1.0' encoding = 'UTF-8'?><a/>".to_owned(), None));
        assert_eq!(decode(b"\xef\xbb\xbf<a/>"), ("<a/>".to_owned(), None));
        let plain = "<?xml version=\"1.0\"?><a b='\u{e9}'/>";
        assert_eq!(decode(plain.as_bytes()), (plain.to_owned(), None));
    }

    #[test]
    fn files_that_are_invalid_in_their_encoding_are_read_as_windows_1252() {
        let (text, note) = decode(b"<a>\n<!-- Gr\xfc\xdfe -->");
        assert_eq!(text, "<a>\n<!-- Gr\u{fc}\u{df}e -->");
        assert_eq!(note.unwrap().to_string(), "line 2: this is not UTF-8: read as Windows-1252");
        let (text, note) = decode(b"<?xml version=\"1.0\" encoding=\"klingon\"?><a/>");
        assert_eq!(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a/>");
        assert_eq!(note.unwrap().to_string(), "line 1: the declared encoding is unknown: read as UTF-8");
        let (text, note) = decode(b"<?xml version=\"1.0\" encoding=\"utf-16\"?><a/>");
        assert_eq!((text.ends_with("\"UTF-8\"?><a/>"), note), (true, None));
        let (_, note) = decode(b"<?xml version=\"1.0\" encoding=\"Shift_JIS\"?>\xff\xff");
        assert_eq!(note.unwrap().to_string(), "line 1: not all of this is Shift_JIS");
    }
}
