//! Cuts a stream of bytes into frames.
//!
//! Bytes that belong to no frame are left out and counted, until the next place where a frame may begin.

mod envelope;
mod escape;
mod sized;

pub use envelope::{Envelope, MarkWithin};
use escape::{Event, Unescaper};
use sized::Sized;

use crate::model::{Cut, Protocol};

/// Maximum size of a frame, bytes, if the description does not say it.
pub const MAX_FRAME: usize = 64 << 10;

/// Cuts a stream into frames. What is received later is appended; a frame that is not complete waits.
#[derive(Debug, Clone)]
pub struct Cutter {
    way: Way,
    max: usize,
    buffer: Vec<u8>,
    /// Bytes at the beginning of the buffer that are done with.
    done: usize,
    /// Bytes of the frame that was returned last.
    current: usize,
    /// No end mark begins in so many of the bytes that are not done with.
    searched: usize,
    left_out: u64,
    /// The bytes that were left out, if they are to be seen.
    seen: Option<Seen>,
}

/// Bytes as they were received.
#[derive(Debug, Clone, Default)]
struct Seen {
    left_out: Vec<u8>,
    /// Those of a frame with escapes that is not complete.
    raw: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Way {
    /// As it is received: a datagram, a frame of a bus, what lies between two silences.
    Whole,
    Sized(Sized),
    /// Between these bytes.
    Marked([Vec<u8>; 2]),
    /// Between marks that are escaped within.
    Escaped(Box<Unescaper>),
    /// As long as the fields of its code.
    ByCode,
}

/// What a buffer begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// A frame: so many bytes, of which the content begins and ends there.
    Frame {
        /// All bytes.
        len: usize,
        /// Where the content begins.
        from: usize,
        /// Where it ends.
        to: usize,
    },
    /// A frame that is not complete.
    Incomplete,
    /// So many bytes that belong to no frame.
    Garbage(usize),
}

impl Cutter {
    /// For a description; one whose `Cut` is `by_code` also needs [`next_frame_by`](Self::next_frame_by).
    ///
    /// # Errors
    /// The size has no fixed place.
    pub fn new(protocol: &Protocol) -> Result<Self, String> {
        let cut = &protocol.frame.cut;
        let max = cut.most.unwrap_or(MAX_FRAME).min(crate::codec::MAX_SIZE);
        let envelope = Envelope::new(cut)?;
        let way = match cut {
            Cut { size: Some(name), .. } => Way::Sized(Sized::new(protocol, name)?),
            Cut { by_code: true, .. } => Way::ByCode,
            _ => match Unescaper::new(&envelope, max) {
                Some(unescaper) => Way::Escaped(Box::new(unescaper)),
                None if envelope.end.is_empty() => Way::Whole,
                None => Way::Marked([envelope.start, envelope.end]),
            },
        };
        Ok(Self { way, max, buffer: Vec::new(), done: 0, current: 0, searched: 0, left_out: 0, seen: None })
    }

    /// Keeps the bytes that are left out, for [`take_left_out`](Self::take_left_out).
    pub fn keep_left_out(&mut self) {
        self.seen.get_or_insert_default();
    }

    /// The bytes that were left out since the last call; call it after each push, since they are kept.
    pub fn take_left_out(&mut self) -> Vec<u8> {
        self.seen.as_mut().map(|seen| std::mem::take(&mut seen.left_out)).unwrap_or_default()
    }

    /// Forgets the bytes that wait for the rest of their frame, and returns them if left out bytes are kept.
    pub fn take_incomplete(&mut self) -> Vec<u8> {
        let rest = self.buffer.get(self.done + self.current..).unwrap_or_default();
        let mut bytes = self.seen.as_ref().map_or_else(Vec::new, |seen| seen.raw.clone());
        bytes.extend_from_slice(rest);
        self.reset();
        bytes
    }

    /// Appends what was received.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.done);
        self.done = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Forgets everything that was received, as after a lost connection.
    pub fn reset(&mut self) {
        if let Way::Escaped(unescaper) = &mut self.way {
            unescaper.reset();
        }
        (self.done, self.current, self.searched) = (0, 0, 0);
        self.buffer.clear();
        if let Some(seen) = &mut self.seen {
            seen.raw.clear();
        }
    }

    /// How many bytes belonged to no frame.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How many bytes wait for the rest of their frame.
    pub fn incomplete(&self) -> usize {
        let begun = if let Way::Escaped(unescaper) = &self.way { unescaper.incomplete() } else { 0 };
        begun + self.buffer.len() - self.done - self.current
    }

    /// The content of the next complete frame.
    pub fn next_frame(&mut self) -> Option<&[u8]> {
        self.next_frame_by(|_| Begin::Garbage(1))
    }

    /// As [`next_frame`](Self::next_frame); `measure` says what a buffer begins with if each code has a size of its own.
    pub fn next_frame_by(&mut self, mut measure: impl FnMut(&[u8]) -> Begin) -> Option<&[u8]> {
        if self.current > 0 {
            self.searched = 0;
        }
        self.done += std::mem::take(&mut self.current);
        if matches!(self.way, Way::Escaped(_)) {
            return self.next_escaped();
        }
        loop {
            let rest = self.buffer.get(self.done..).unwrap_or_default();
            if rest.is_empty() {
                return None;
            }
            let begin = match &self.way {
                Way::Whole | Way::Escaped(_) => Begin::Frame { len: rest.len(), from: 0, to: rest.len() },
                Way::Sized(sized) => sized.begin(rest, self.max),
                Way::Marked([start, end]) => {
                    let begin = marked(rest, start, end, self.searched);
                    if begin == Begin::Incomplete {
                        self.searched = (rest.len() + 1).saturating_sub(end.len());
                    }
                    begin
                }
                Way::ByCode => measure(rest),
            };
            match begin {
                Begin::Frame { len, from, to } if len <= self.max => {
                    self.current = len;
                    return self.buffer.get(self.done + from..self.done + to);
                }
                Begin::Incomplete if rest.len() < self.max => return None,
                Begin::Garbage(len) => self.leave_out(len.max(1)),
                // Longer than any frame.
                _ => self.leave_out(1),
            }
        }
    }

    fn next_escaped(&mut self) -> Option<&[u8]> {
        let Way::Escaped(unescaper) = &mut self.way else { return None };
        while let Some(byte) = self.buffer.get(self.done) {
            self.done += 1;
            if let Some(seen) = &mut self.seen {
                seen.raw.push(*byte);
            }
            let event = unescaper.push(*byte);
            if let Event::LeftOut(len) = event {
                self.left_out += u64::try_from(len).unwrap_or(u64::MAX);
            }
            if let Some(Seen { left_out, raw }) = &mut self.seen {
                let is_left_out = matches!(event, Event::LeftOut(_));
                let gone = raw.drain(..raw.len().saturating_sub(unescaper.incomplete()));
                left_out.extend(gone.filter(|_| is_left_out));
            }
            if event == Event::Frame {
                return Some(unescaper.content());
            }
        }
        None
    }

    /// Rejects the frame that was returned last, of which only the first byte is left out: another may begin within it.
    /// One with escapes is left out as a whole.
    pub fn reject(&mut self) {
        if let Way::Escaped(unescaper) = &mut self.way {
            self.left_out += u64::try_from(unescaper.take_last()).unwrap_or(u64::MAX);
        }
        if std::mem::take(&mut self.current) > 0 {
            self.leave_out(1);
        }
    }

    fn leave_out(&mut self, len: usize) {
        if let (Some(seen), Some(bytes)) = (&mut self.seen, self.buffer.get(self.done..self.done + len)) {
            seen.left_out.extend_from_slice(bytes);
        }
        self.searched = self.searched.saturating_sub(len);
        self.done += len;
        self.left_out += u64::try_from(len).unwrap_or(u64::MAX);
    }
}

/// No end begins in the first `searched` bytes, as far as they are content.
fn marked(rest: &[u8], start: &[u8], end: &[u8], searched: usize) -> Begin {
    let find = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|window| window == mark);
    if !start.is_empty() && !rest.starts_with(start) {
        let known = rest.len().min(start.len());
        if rest == start.get(..known).unwrap_or_default() {
            return Begin::Incomplete;
        }
        // What may be the beginning of a mark stays.
        let kept =
            (1..start.len()).rev().find(|len| start.get(..*len).is_some_and(|part| rest.ends_with(part)));
        let none = rest.len() - kept.unwrap_or(0);
        return Begin::Garbage(find(rest, start).unwrap_or(none));
    }
    let content = rest.get(start.len()..).unwrap_or_default();
    let known = searched.saturating_sub(start.len()).min(content.len());
    match find(content.get(known..).unwrap_or_default(), end) {
        None => Begin::Incomplete,
        Some(len) => {
            let len = known + len;
            let to = start.len() + len;
            // A frame that was cut off is left out: the next one has begun.
            let (mut again, mut from) = (None, 0);
            while let Some(at) =
                content.get(from..len).filter(|_| !start.is_empty()).and_then(|inner| find(inner, start))
            {
                again = Some(from + at);
                from += at + start.len();
            }
            match again {
                Some(at) => Begin::Garbage(start.len() + at),
                None => Begin::Frame { len: to + end.len(), from: start.len(), to },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cutter(frame: &str) -> Cutter {
        let text = format!(
            "
protocol: lamp
title: A lamp
source: its manual
link: {{ serial: 9600 }}
frame: {frame}
messages: [{{ name: dim, code: 7, meaning: dim }}]
"
        );
        Cutter::new(&Protocol::read(&text).unwrap()).unwrap()
    }

    fn all(cutter: &mut Cutter, bytes: &[u8]) -> Vec<Vec<u8>> {
        cutter.push(bytes);
        std::iter::from_fn(|| cutter.next_frame().map(<[u8]>::to_vec)).collect()
    }

    const SIZED: &str = "{ cut: { size: size, counts: rest, most: 20 }, fields: [{ name: mark, type: 'text[2]', value: aa }, { name: size, type: u8, is: size }, { name: code, type: u8, is: code }, { name: data, is: body }] }";
    const MARKED: &str = "{ cut: { start: '<', end: '>' }, fields: [{ name: code, type: u8, is: code }, { name: data, is: body }] }";
    const LINE: &str = "{ cut: { line: \"\\r\\n\", most: 20 }, fields: [{ name: code, type: u8, is: code }, { name: data, is: body }] }";

    #[test]
    fn frames_are_found_behind_garbage() {
        for (frame, bytes, expected, left_out) in [
            (SIZED, &b"xaaa\x03\x07abaa\x01\x07aa\x63"[..], vec![&b"aa\x03\x07ab"[..], b"aa\x01\x07"], 5),
            (MARKED, b"x<ab>y<c><d<ef>", vec![b"ab", b"c", b"ef"], 4),
            (LINE, b"ab\r\n\r\nc\rd\r\ne", vec![b"ab", b"", b"c\rd"], 0),
            (LINE, b"abcdefghijklmnopqrstuvwxyz\r\n", vec![b"ghijklmnopqrstuvwxyz".get(2..).unwrap()], 8),
        ] {
            let mut one = cutter(frame);
            assert_eq!(all(&mut one, bytes), expected, "{frame}");
            let mut other = cutter(frame);
            let apart: Vec<_> = bytes.iter().flat_map(|byte| all(&mut other, &[*byte])).collect();
            assert_eq!(apart, expected, "{frame}, byte by byte");
            assert_eq!((one.left_out(), other.left_out()), (left_out, left_out), "{frame}");
        }
    }

    #[test]
    fn a_rejected_frame_may_hide_another_one() {
        let mut cutter = cutter(SIZED);
        cutter.push(b"aa\x05\x07aa\x01\x07");
        assert_eq!(cutter.next_frame().map(<[u8]>::len), Some(8));
        cutter.reject();
        assert_eq!(cutter.next_frame(), Some(&b"aa\x01\x07"[..]));
        assert_eq!(cutter.next_frame(), None);
        assert_eq!(cutter.left_out(), 4);
    }

    /// A search that began again at each byte would take minutes.
    #[test]
    fn noise_without_marks_is_searched_once() {
        for (frame, noise, left_out) in [(LINE, b'x', (1 << 20) - 19), (MARKED, b'<', 0)] {
            let mut cutter = cutter(&frame.replace(", most: 20", ""));
            for _ in 0..64 {
                assert_eq!(all(&mut cutter, &[noise; 1 << 14]).len(), 0);
            }
            let left_out = u64::try_from(left_out).unwrap();
            assert!(cutter.left_out() >= left_out.saturating_sub(1 << 16), "{frame}");
            assert!(cutter.incomplete() <= MAX_FRAME);
            assert_eq!(all(&mut cutter, b">\r\n").len(), 1);
        }
    }

    #[test]
    fn what_is_left_out_is_kept_for_who_wants_it() {
        let escaped = "{ cut: { start: [0x7E], end: [0x7E], escape: { mark: 0x7D, xor: 0x20, of: [0x7D, 0x7E] } }, fields: [{ name: code, type: u8, is: code }, { name: data, is: body }] }";
        for (frame, bytes, left_out, incomplete) in [
            (SIZED, &b"xaaa\x03\x07abyyaa\x05\x07"[..], &b"xayy"[..], &b"aa\x05\x07"[..]),
            (MARKED, b"x<ab>y<c><d<ef><g", b"xy<d", b"<g"),
            (LINE, b"abcdefghijklmnopqrstuvwxyz\r\ne", b"abcdefgh", b"e"),
            (escaped, b"ab~c}]d~~x}~~e", b"abx}~", b"e"),
        ] {
            let mut cutter = cutter(frame);
            cutter.keep_left_out();
            let mut seen = Vec::new();
            for byte in bytes {
                all(&mut cutter, &[*byte]);
                seen.extend(cutter.take_left_out());
            }
            assert_eq!(seen, left_out, "{frame}");
            assert_eq!(cutter.left_out(), u64::try_from(left_out.len()).unwrap(), "{frame}");
            assert_eq!(cutter.take_incomplete(), incomplete, "{frame}");
            assert_eq!(cutter.incomplete(), 0);
        }
    }

    proptest! {
        #[test]
        fn parts_make_no_difference(which in 0_usize..3, bytes in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'<'), Just(b'>'), Just(b'\r'), Just(b'\n'), 0_u8..9], 0..100), at in 0_usize..100) {
            let frame = [SIZED, MARKED, LINE][which];
            let mut whole = cutter(frame);
            let expected = all(&mut whole, &bytes);
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut parts = cutter(frame);
            let got = [all(&mut parts, first), all(&mut parts, second)].concat();
            prop_assert_eq!(got, expected);
            prop_assert_eq!(parts.left_out(), whole.left_out());
        }
    }
}
