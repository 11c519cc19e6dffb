//! One direction of a TCP connection: segments in their order, without repetitions.

use super::packet::Segment;

/// Bytes and segments that wait for those in front of them, at most.
const MAX_WAITING: usize = 256 << 10;
const MAX_SEGMENTS: usize = 64;

/// A part of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Bytes(Vec<u8>),
    /// So many bytes are not in the capture.
    Missing(u32),
}

/// Puts segments in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    /// Number of the next byte. `None` before the first segment.
    next: Option<u32>,
    /// Segments behind a gap, in their order.
    waiting: Vec<(u32, Vec<u8>)>,
}

impl Stream {
    /// Takes a segment.
    pub(crate) fn push(&mut self, segment: Segment<'_>, pieces: &mut Vec<Piece>) {
        if segment.begins {
            // The number of SYN itself comes before that of the first byte.
            self.flush(pieces);
            self.next = Some(segment.number.wrapping_add(1));
        }
        let number = segment.number.wrapping_add(segment.begins.into());
        let next = *self.next.get_or_insert(number);
        if segment.bytes.is_empty() {
            return;
        }
        if ahead(number, next) > 0 {
            let place = self.waiting.partition_point(|(other, _)| ahead(number, *other) > 0);
            self.waiting.insert(place, (number, segment.bytes.to_vec()));
            while self.waiting.len() > MAX_SEGMENTS || self.held() > MAX_WAITING {
                self.skip(pieces);
            }
            return;
        }
        self.append(number, segment.bytes, pieces);
        self.join(pieces);
    }

    /// The other side has received everything up to `number`: a gap before it is one of the capture.
    pub(crate) fn acknowledged(&mut self, number: u32, pieces: &mut Vec<Piece>) {
        while let (Some((first, _)), Some(next)) = (self.waiting.first(), self.next)
            && ahead(number, *first) >= 0
            && ahead(*first, next) > 0
        {
            self.skip(pieces);
        }
    }

    /// Nothing follows.
    pub(crate) fn flush(&mut self, pieces: &mut Vec<Piece>) {
        while !self.waiting.is_empty() {
            self.skip(pieces);
        }
    }

    fn held(&self) -> usize {
        self.waiting.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Goes on behind the first gap.
    fn skip(&mut self, pieces: &mut Vec<Piece>) {
        if let (Some((first, _)), Some(next)) = (self.waiting.first(), self.next) {
            pieces.push(Piece::Missing(first.wrapping_sub(next)));
            self.next = Some(*first);
        }
        self.join(pieces);
    }

    /// Takes what waits, up to the next gap.
    fn join(&mut self, pieces: &mut Vec<Piece>) {
        while let (Some((first, _)), Some(next)) = (self.waiting.first(), self.next)
            && ahead(*first, next) <= 0
        {
            let (number, bytes) = self.waiting.remove(0);
            self.append(number, &bytes, pieces);
        }
    }

    /// Appends what is new of a segment that begins at the next byte or before it.
    fn append(&mut self, number: u32, bytes: &[u8], pieces: &mut Vec<Piece>) {
        let Some(next) = self.next else { return };
        let known = usize::try_from(next.wrapping_sub(number)).unwrap_or(usize::MAX);
        let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) else { return };
        self.next = Some(next.wrapping_add(u32::try_from(new.len()).unwrap_or(u32::MAX)));
        pieces.push(Piece::Bytes(new.to_vec()));
    }
}

/// How far `number` is ahead of `other`; numbers begin again behind the largest one.
fn ahead(number: u32, other: u32) -> i32 {
    number.wrapping_sub(other).cast_signed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(number: u32, bytes: &[u8]) -> Segment<'_> {
        Segment { number, acknowledged: None, begins: false, ends: false, bytes }
    }

    fn joined(pieces: &[Piece]) -> String {
        let shown = pieces.iter().map(|piece| match piece {
            Piece::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Piece::Missing(count) => format!("<{count}>"),
        });
        shown.collect()
    }

    #[test]
    fn segments_are_put_in_order() {
        let begin = u32::MAX - 2;
        let mut pieces = Vec::new();
        let mut stream = Stream::default();
        stream.push(Segment { begins: true, ..segment(begin, b"") }, &mut pieces);
        let first = begin.wrapping_add(1);
        for (at, bytes) in [(0, &b"ab"[..]), (4, b"ef"), (4, b"ef"), (2, b"cd"), (0, b"abcd"), (5, b"fgh")] {
            stream.push(segment(first.wrapping_add(at), bytes), &mut pieces);
        }
        assert_eq!(joined(&pieces), "abcdefgh");
    }

    #[test]
    fn what_the_capture_has_missed_is_left_out() {
        let mut pieces = Vec::new();
        let mut stream = Stream::default();
        stream.push(segment(100, b"ab"), &mut pieces);
        stream.push(segment(105, b"cd"), &mut pieces);
        assert_eq!(joined(&pieces), "ab");
        stream.acknowledged(104, &mut pieces);
        assert_eq!(joined(&pieces), "ab");
        stream.acknowledged(107, &mut pieces);
        assert_eq!(joined(&pieces), "ab<3>cd");
        stream.push(segment(110, b"e"), &mut pieces);
        stream.flush(&mut pieces);
        assert_eq!(joined(&pieces), "ab<3>cd<3>e");
    }

    proptest! {
        /// Whatever the order and the repetitions are, nothing grows, and each byte comes once and in its order.
        #[test]
        fn any_order_is_put_right(
            first in any::<u32>(),
            order in proptest::collection::vec((0_u32..300, 1_usize..40), 0..400),
        ) {
            let text: Vec<u8> = (0..=255).cycle().take(400).collect();
            let (mut stream, mut pieces) = (Stream::default(), Vec::new());
            stream.push(Segment { begins: true, ..segment(first.wrapping_sub(1), b"") }, &mut pieces);
            for (at, len) in order {
                let begin = usize::try_from(at).unwrap();
                stream.push(segment(first.wrapping_add(at), &text[begin..begin + len]), &mut pieces);
                prop_assert!(stream.waiting.len() <= MAX_SEGMENTS && stream.held() <= MAX_WAITING);
            }
            stream.flush(&mut pieces);
            let mut at = 0;
            for piece in pieces {
                match piece {
                    Piece::Bytes(bytes) => {
                        prop_assert_eq!(&bytes[..], &text[at..at + bytes.len()]);
                        at += bytes.len();
                    }
                    Piece::Missing(count) => at += usize::try_from(count).unwrap(),
                }
            }
        }
    }
}
