//! Bytes that are written as hexadecimal digits: with `xxd`, `hexdump -C`, `od -t x1`, or by hand.

use std::io::{self, BufRead, Read};

/// Maximum length of a line, bytes: `xxd -p -c 0` writes all in one.
const MAX_LINE: u64 = 1 << 20;
/// Bytes of equal rows, for which a dump has a star, at most; in all, and returned at once.
const MAX_REPEATED: u64 = 16 << 20;
const REPEATED_AT_ONCE: u64 = 4096;

/// Why a dump cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DumpError {
    /// A line has something else.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// The system cannot read it.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A part of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Bytes(Vec<u8>),
    /// An empty line, or an offset that begins again: what follows was received later.
    Break,
}

/// A dump that is read line by line.
pub(crate) struct Dump<R> {
    reader: R,
    line: u64,
    /// Offset behind the last row, if rows have offsets.
    offset: Option<u64>,
    /// The last row.
    row: Vec<u8>,
    /// Rows like the last one are left out.
    is_star: bool,
    /// So many bytes of such rows are to be returned, and then these.
    repeated: u64,
    held: Vec<u8>,
    /// Bytes for which stars have stood.
    starred: u64,
}

/// A line of a dump.
enum Line<'a> {
    Empty,
    Comment,
    Star,
    Row { offset: Option<u64>, digits: &'a str },
}

impl<R: BufRead> Dump<R> {
    pub(crate) fn new(reader: R) -> Self {
        let (row, held) = (Vec::new(), Vec::new());
        Self { reader, line: 0, offset: None, row, is_star: false, repeated: 0, held, starred: 0 }
    }

    /// The next part; `None` at the end.
    ///
    /// # Errors
    /// A line is not one of a dump; nothing behind it is read.
    pub(crate) fn next_part(&mut self) -> Result<Option<Part>, DumpError> {
        let mut bytes = Vec::new();
        loop {
            if self.repeated > 0 {
                let row = self.row.len().max(1) as u64;
                let len = self.repeated.min(row * (REPEATED_AT_ONCE / row).max(1));
                self.repeated -= len;
                let bytes = self.row.iter().copied().cycle().take(usize::try_from(len).unwrap_or(0));
                return Ok(Some(Part::Bytes(bytes.collect())));
            }
            if !self.held.is_empty() {
                self.row = std::mem::take(&mut self.held);
                return Ok(Some(Part::Bytes(self.row.clone())));
            }
            bytes.clear();
            self.line += 1;
            let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == MAX_LINE && !bytes.ends_with(b"\n") {
                return Err(self.error(&format!("it has more than {MAX_LINE} bytes")));
            }
            let text = String::from_utf8_lossy(&bytes);
            let line = line(&text, self.offset, self.is_star).map_err(|reason| self.error(&reason))?;
            let (offset, digits) = match line {
                Line::Empty => return Ok(Some(Part::Break)),
                Line::Comment => continue,
                Line::Star => {
                    self.is_star = true;
                    continue;
                }
                Line::Row { offset, digits: text } => {
                    (offset, digits(text).map_err(|reason| self.error(&reason))?)
                }
            };
            let expected = self.offset.unwrap_or(0);
            let begins_again = offset.is_some_and(|offset| offset < expected);
            if let Some(offset) = offset
                && std::mem::take(&mut self.is_star)
                && !begins_again
            {
                self.repeated = offset - expected;
                self.starred = self.starred.saturating_add(self.repeated);
                if self.starred > MAX_REPEATED || self.row.is_empty() {
                    let reason = format!("stars for {} bytes; at most {MAX_REPEATED} are read", self.starred);
                    return Err(self.error(&reason));
                }
            }
            self.offset = offset.map(|offset| offset.saturating_add(digits.len() as u64));
            self.held = digits;
            if begins_again {
                return Ok(Some(Part::Break));
            }
        }
    }

    fn error(&self, reason: &str) -> DumpError {
        DumpError::Line { line: self.line, reason: reason.to_owned() }
    }
}

/// `expected`: the offset behind the rows up to now, if they have offsets; `is_star`: rows were left out.
fn line(text: &str, expected: Option<u64>, is_star: bool) -> Result<Line<'_>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Line::Empty);
    }
    if text.starts_with('#') || text.starts_with("//") {
        return Ok(Line::Comment);
    }
    if text == "*" {
        return Ok(Line::Star);
    }
    let is_digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // xxd: the offset, a colon, groups with one blank between them, two blanks, characters.
    if let Some((offset, rest)) = text.split_once(':')
        && rest.starts_with(' ')
        && let digits = offset.strip_prefix("0x").unwrap_or(offset)
        && digits.len() >= 4
        && is_digits(digits)
    {
        let rest = rest.trim_start();
        let digits_only = rest.split_once("  ").map_or(rest, |(digits, _)| digits);
        return Ok(Line::Row { offset: u64::from_str_radix(digits, 16).ok(), digits: digits_only });
    }
    // hexdump -C and od: the offset, bytes, characters between two bars.
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    if (6..=16).contains(&first.len()) && is_digits(first) {
        let base = if first.len() == 7 { 8 } else { 16 };
        let offset = u64::from_str_radix(first, base).ok();
        match words.next() {
            None if expected.is_some() && (offset == expected || is_star) => {
                return Ok(Line::Row { offset, digits: "" });
            }
            Some(word)
                if word.len() == 2
                    && is_digits(word)
                    && (expected.is_some() || offset.is_some_and(|offset| offset % 16 == 0)) =>
            {
                let rest = text.get(first.len()..).unwrap_or_default();
                let rest = rest.split(['|', '>']).next().unwrap_or_default();
                return Ok(Line::Row { offset, digits: rest });
            }
            Some(word) if first.len() == 7 && word.len() == 4 && is_digits(word) => {
                return Err(
                    "words of two bytes, whose order depends on the machine; write it with hexdump -C or xxd"
                        .to_owned(),
                );
            }
            _ => {}
        }
    }
    Ok(Line::Row { offset: None, digits: text })
}

/// Bytes as pairs of hexadecimal digits; blanks, commas, colons and `0x` between them have no meaning.
///
/// # Errors
/// Something else is between them, with what it is.
pub(crate) fn digits(text: &str) -> Result<Vec<u8>, String> {
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',' || letter == ':');
    let digits: String = words.map(|word| word.strip_prefix("0x").unwrap_or(word)).collect();
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut rest = digits.as_str();
    while !rest.is_empty() {
        let wrong =
            |part: &str| format!("\"{}\" is not two hexadecimal digits", dragoman_text::excerpt(part));
        let (byte, after) = rest.split_at_checked(2).ok_or_else(|| wrong(rest))?;
        let is_byte = byte.chars().all(|digit| digit.is_ascii_hexdigit());
        let number = u8::from_str_radix(byte, 16).ok().filter(|_| is_byte);
        bytes.push(number.ok_or_else(|| wrong(byte))?);
        rest = after;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<Vec<u8>>, String> {
        let mut dump = Dump::new(text.as_bytes());
        let mut all = vec![Vec::new()];
        loop {
            match dump.next_part().map_err(|error| error.to_string())? {
                None => return Ok(all.into_iter().filter(|part| !part.is_empty()).collect()),
                Some(Part::Break) => all.push(Vec::new()),
                Some(Part::Bytes(bytes)) => all.last_mut().unwrap().extend(bytes),
            }
        }
    }

    /// The same bytes as the tools of Debian 12 write them.
    #[test]
    fn dumps_of_all_tools_are_read() {
        let expected = vec![b"RV\x0b\x02\xe8\x03\x00\x00\x0c\xfe\xff\xff\x5c\x3d\x02\x06\xa9ab".to_vec()];
        for text in [
            "00000000: 5256 0b02 e803 0000 0cfe ffff 5c3d 0206  RV..........\\=..\n00000010: a961 62                                  .ab\n",
            "00000000  52 56 0b 02 e8 03 00 00  0c fe ff ff 5c 3d 02 06  |RV..........\\=..|\n00000010  a9 61 62                                          |.ab|\n00000013\n",
            "0000000 52 56 0b 02 e8 03 00 00 0c fe ff ff 5c 3d 02 06\n0000020 a9 61 62\n0000023\n",
            "000000 52 56 0b 02 e8 03 00 00 0c fe ff ff 5c 3d 02 06  >RV..........\\=..<\n000010 a9 61 62                                         >.ab<\n000013\n",
            "52560b02e80300000cfeffff5c3d0206a96162\n",
            "# from the label\n52 56 0B 02 e8 03 00 00\n0x0c, 0xfe, 0xff, 0xff, 0x5c,\n3d:02:06:a9:61:62",
        ] {
            assert_eq!(read(text), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn a_star_stands_for_equal_rows() {
        let zeros = "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00";
        let text = format!("00000000  {zeros}  |................|\n*\n00000040  01 02  |..|\n00000042\n");
        assert_eq!(read(&text), Ok(vec![[&[0; 64][..], &[1, 2]].concat()]));
        let text = format!("00000000  {zeros}  |................|\n*\n7ffffff0  01  |.|\n");
        assert!(read(&text).unwrap_err().starts_with("line 3: stars for "), "{text}");
    }

    #[test]
    fn an_empty_line_and_an_offset_that_begins_again_separate() {
        let parts = vec![vec![1, 2], vec![3]];
        assert_eq!(read("01 02\n\n03\n"), Ok(parts.clone()));
        assert_eq!(read("00000000  01 02  |..|\n00000000  03  |.|\n"), Ok(parts));
    }

    #[test]
    fn what_is_no_dump_is_refused_with_its_line() {
        for (text, expected) in [
            ("01\nxy\n", "line 2: \"xy\" is not two hexadecimal digits"),
            ("012", "line 1: \"2\" is not two hexadecimal digits"),
            (
                "0000000 5652 020b\n",
                "line 1: words of two bytes, whose order depends on the machine; write it with hexdump -C or xxd",
            ),
        ] {
            assert_eq!(read(text), Err(expected.to_owned()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_ends(text in "([0-9a-f]{0,9}|[ :|*\n]){0,60}") {
            let mut dump = Dump::new(text.as_bytes());
            let mut parts = 0;
            while let Ok(Some(_)) = dump.next_part() {
                parts += 1;
                prop_assert!(parts < 100_000);
            }
        }
    }
}
