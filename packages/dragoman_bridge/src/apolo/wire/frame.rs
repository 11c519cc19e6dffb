//! Decodes a byte stream into messages.
//!
//! Decoding rules where the sources leave them open:
//! - bytes other than `aa` are skipped; so is the first byte of an `aa` whose size is below 5;
//! - **the layout of a known kind determines where its frame ends**, if the announced size leaves room for it. So both
//!   bases of sizes are understood, and a size beyond the data blocks nothing: the bytes after the message are searched
//!   for the next `aa`;
//! - a frame too short for its layout is malformed, and skipped by its size;
//! - unknown kinds are skipped by their size, by the smaller one if the bases differ. They are not skipped if the size
//!   also begins with an `a`: then the frame may begin one byte later;
//! - in a list of a reply, size and count have the same base. If both fit, the configured one is used.

use super::{Command, HEADER_LEN, MAX_REQUEST_LEN, Reply, Request, SizeBase};

/// Result of decoding a stream.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Received<T> {
    Message(T),
    /// A frame of a known kind that is too short for its content.
    Malformed {
        kind: u8,
    },
    /// A frame of an unknown kind.
    Unknown {
        kind: u8,
    },
}

/// Received bytes that are not decoded yet.
#[derive(Debug, Default)]
struct Stream {
    bytes: Vec<u8>,
    start: usize,
    /// Remaining bytes of a frame to skip when they arrive.
    owed: usize,
    skipped: u64,
}

/// Header of a possible frame.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Size with base 255, which is the smaller.
    low: usize,
    /// Size with base 256.
    high: usize,
    /// The size begins with a third `a`.
    is_late: bool,
    kind: u8,
}

impl Stream {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    fn consume(&mut self, len: usize) {
        let there = len.min(self.rest().len());
        self.start += there;
        self.owed = len - there;
    }

    fn skip(&mut self, len: usize) {
        self.consume(len);
        self.skipped += len as u64;
    }

    /// Skips to the next frame. `None`: its header is incomplete.
    fn head(&mut self) -> Option<Head> {
        self.consume(self.owed);
        if self.owed > 0 {
            return None;
        }
        loop {
            let rest = self.rest();
            let begin = rest.windows(2).position(|pair| pair == b"aa");
            // A single `a` at the end may be the first byte of a header.
            let begin = begin.unwrap_or(rest.len() - usize::from(rest.ends_with(b"a")));
            self.skip(begin);
            let [_, _, low, high, kind] = *self.rest().first_chunk::<HEADER_LEN>()?;
            let size = |base: SizeBase| usize::from(base.join([low, high]));
            let head = Head {
                low: size(SizeBase::Annex255),
                high: size(SizeBase::Full256),
                is_late: low == b'a',
                kind,
            };
            if head.high >= HEADER_LEN {
                return Some(head);
            }
            self.skip(1);
        }
    }

    /// The payload of the frame at the beginning, as far as it was received and its size permits.
    fn payload(&self, head: Head) -> &[u8] {
        let rest = self.rest();
        rest.get(HEADER_LEN..head.high.min(rest.len())).unwrap_or_default()
    }

    /// Whether at least `len` bytes were received.
    fn has(&self, len: usize) -> bool {
        self.rest().len() >= len
    }
}

/// Decodes the stream of a client.
#[derive(Debug, Default)]
pub struct RequestDecoder(Stream);

impl RequestDecoder {
    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    /// Number of bytes not yet decoded.
    pub fn buffered(&self) -> usize {
        self.0.rest().len()
    }

    /// Number of skipped bytes outside of frames.
    pub fn skipped(&self) -> u64 {
        self.0.skipped
    }

    /// The next request. `None`: incomplete.
    #[allow(clippy::should_implement_trait, reason = "more may come after None")]
    pub fn next(&mut self) -> Option<Received<Request>> {
        loop {
            let head = self.0.head()?;
            let Some(command) = Command::from_letter(head.kind) else {
                if head.is_late || head.low > MAX_REQUEST_LEN {
                    self.0.skip(1);
                    continue;
                }
                return self.0.has(head.low).then(|| {
                    self.0.consume(head.low);
                    Received::Unknown { kind: head.kind }
                });
            };
            let payload = self.0.payload(head);
            match Request::decode_start(command, payload) {
                Ok((request, len)) => {
                    self.0.consume(HEADER_LEN + len);
                    return Some(Received::Message(request));
                }
                Err(Some(len)) if HEADER_LEN + len <= head.high => return None,
                Err(None) if !self.0.has(head.high) => return None,
                // The rest may still arrive.
                _ => {
                    self.0.consume(head.low);
                    return Some(Received::Malformed { kind: head.kind });
                }
            }
        }
    }
}

/// Decodes the stream of a server.
#[derive(Debug)]
pub struct ReplyDecoder {
    stream: Stream,
    preferred: SizeBase,
}

impl ReplyDecoder {
    /// `preferred` is the base for lists of 255 elements or more whose layout fits both.
    pub fn new(preferred: SizeBase) -> Self {
        Self { stream: Stream::default(), preferred }
    }

    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.stream.push(bytes);
    }

    /// Number of bytes not yet decoded.
    pub fn buffered(&self) -> usize {
        self.stream.rest().len()
    }

    /// Number of skipped bytes outside of frames.
    pub fn skipped(&self) -> u64 {
        self.stream.skipped
    }

    /// The next reply. `None`: incomplete.
    #[allow(clippy::should_implement_trait, reason = "more may come after None")]
    pub fn next(&mut self) -> Option<Received<Reply>> {
        let head = self.stream.head()?;
        let kind = head.kind;
        let Some(element) = Reply::element_len(kind) else {
            return self.stream.has(head.low).then(|| {
                self.stream.consume(head.low);
                Received::Unknown { kind }
            });
        };
        let payload = self.stream.payload(head);
        if element > 0 && payload.len() < 2 && head.high >= HEADER_LEN + 2 {
            return None;
        }
        let other = match self.preferred {
            SizeBase::Annex255 => SizeBase::Full256,
            SizeBase::Full256 => SizeBase::Annex255,
        };
        let frame = |base: SizeBase| {
            let size = if base == SizeBase::Annex255 { head.low } else { head.high };
            Reply::frame_len(kind, payload, base).map(|len| (base, len, size))
        };
        let frames = [frame(self.preferred), frame(other)];
        let exact = frames.into_iter().flatten().find(|(_, len, size)| len == size);
        let fits = || frames.into_iter().flatten().find(|(_, len, size)| len < size);
        let Some((base, len, _)) = exact.or_else(fits) else {
            self.stream.consume(head.low);
            return Some(Received::Malformed { kind });
        };
        let reply = payload.get(..len - HEADER_LEN).and_then(|own| Reply::decode(kind, own, base))?;
        self.stream.consume(len);
        Some(Received::Message(reply))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(world: &str) -> Request {
        Request::Update { world: world.to_owned() }
    }

    fn bytes(request: &Request) -> Vec<u8> {
        request.encode(SizeBase::Full256).expect("a frame")
    }

    fn requests(bytes: &[u8]) -> Vec<Received<Request>> {
        let mut decoder = RequestDecoder::default();
        decoder.push(bytes);
        std::iter::from_fn(|| decoder.next()).collect()
    }

    #[test]
    fn frames_may_come_in_pieces_or_several_at_once() {
        let all: Vec<u8> = ["World 1", "", "x"].iter().flat_map(|world| bytes(&update(world))).collect();
        let expected: Vec<_> =
            ["World 1", "", "x"].iter().map(|world| Received::Message(update(world))).collect();
        assert_eq!(requests(&all), expected);
        for cut in 0..=all.len() {
            let mut decoder = RequestDecoder::default();
            let mut seen = Vec::new();
            for part in [&all[..cut], &all[cut..]] {
                decoder.push(part);
                seen.extend(std::iter::from_fn(|| decoder.next()));
            }
            assert_eq!(seen, expected, "cut at {cut}");
            assert_eq!((decoder.buffered(), decoder.skipped()), (0, 0));
        }
        let mut decoder = RequestDecoder::default();
        let mut seen = Vec::new();
        for byte in &all {
            decoder.push(&[*byte]);
            seen.extend(std::iter::from_fn(|| decoder.next()));
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn garbage_is_skipped() {
        let frame = bytes(&update("x"));
        for garbage in [&b"hello"[..], b"a", b"aXa", b"\0\xff", b"aa\0\0U", b"aa\x04\0Ua", b"aa\x01\0"] {
            let seen = requests(&[garbage, &frame].concat());
            assert_eq!(seen, [Received::Message(update("x"))], "{garbage:?}");
        }
        let mut decoder = RequestDecoder::default();
        decoder.push(b"hello a");
        assert_eq!((decoder.next(), decoder.skipped(), decoder.buffered()), (None, 6, 1));
    }

    #[test]
    fn sizes_below_a_header_are_garbage() {
        let frame = bytes(&update("x"));
        for size in 0..5 {
            let seen = requests(&[b"aa", [size, 0].as_slice(), b"U", &frame].concat());
            assert_eq!(seen, [Received::Message(update("x"))], "{size}");
        }
    }

    #[test]
    fn a_size_beyond_the_data_holds_nothing_up() {
        for size in [[9, 0], [200, 0], [0, 1], [0xff, 0xff]] {
            let mut frame = bytes(&update("x"));
            frame[2..4].copy_from_slice(&size);
            assert_eq!(requests(&frame), [Received::Message(update("x"))]);
            let seen = requests(&[&frame[..], b"\0\x01", &frame].concat());
            assert_eq!(seen, [Received::Message(update("x")), Received::Message(update("x"))]);
        }
    }

    #[test]
    fn a_size_too_small_for_the_layout_is_malformed() {
        let frame = bytes(&Request::GetLocation { world: String::new(), object: "pieza".into() });
        for size in 5..13 {
            let mut bad = frame.clone();
            bad[2] = size;
            let seen = requests(&[&bad[..usize::from(size)], &frame].concat());
            assert_eq!(seen[0], Received::Malformed { kind: b'G' }, "{size}");
            assert!(matches!(seen[1], Received::Message(_)));
        }
    }

    /// A name that is too long is known to be before the frame is complete; the answer waits for the end of the frame, as it
    /// would if the name had been cut.
    #[test]
    fn a_frame_with_a_wrong_name_is_answered_at_its_end() {
        let mut decoder = RequestDecoder::default();
        decoder.push(b"aa\x0b\0G\0aa\x0b");
        assert_eq!(decoder.next(), None);
        decoder.push(b"\0G");
        assert_eq!(decoder.next(), Some(Received::Malformed { kind: b'G' }));
    }

    /// The content of a malformed frame is skipped, also if it arrives later.
    #[test]
    fn a_malformed_frame_is_passed_over_wherever_it_is_cut() {
        let mut bad = b"aa\x28\0j\0\0\xff".to_vec();
        bad.extend(bytes(&update("x")).repeat(4));
        let all = [&bad[..], &bytes(&update("y"))].concat();
        let expected = [Received::Malformed { kind: b'j' }, Received::Message(update("y"))];
        assert_eq!((bad.len(), requests(&all)), (40, expected.to_vec()));
        for piece in 1..all.len() {
            let mut decoder = RequestDecoder::default();
            let mut seen = Vec::new();
            for part in all.chunks(piece) {
                decoder.push(part);
                seen.extend(std::iter::from_fn(|| decoder.next()));
            }
            assert_eq!(seen, expected, "{piece}");
        }
    }

    /// `n % 255, n / 255` of the annex, `n % 256, n / 256` of later programs.
    #[test]
    fn both_bases_are_understood() {
        for joints in 0..=255 {
            let values: Vec<f64> = (0..joints).map(f64::from).collect();
            let request =
                Request::SetRobotJoints { world: "World 1".into(), robot: "Puma560".into(), values };
            for base in [SizeBase::Annex255, SizeBase::Full256] {
                let frame = request.encode(base).expect("a frame");
                let seen = requests(&[&frame[..], &frame].concat());
                assert_eq!(seen, [Received::Message(request.clone()), Received::Message(request.clone())]);
            }
        }
    }

    #[test]
    fn unknown_kinds_are_skipped_by_their_size() {
        let frame = bytes(&update("x"));
        let seen = requests(&[b"aa\x09\0Xaa\x06\0", &frame[..]].concat());
        assert_eq!(seen, [Received::Unknown { kind: b'X' }, Received::Message(update("x"))]);
        // No request is as long as this size.
        let seen = requests(&[b"aa\xff\xffX", &frame[..]].concat());
        assert_eq!(seen, [Received::Message(update("x"))]);
        // The one byte between the sizes in the two bases.
        let seen = requests(&[b"aa\0\x01X", &[0; 251][..], &frame].concat());
        assert_eq!(seen, [Received::Unknown { kind: b'X' }, Received::Message(update("x"))]);
    }

    #[test]
    fn replies_of_both_bases_are_understood() {
        for count in (0..300).chain([541, 1081, 8000]) {
            let reply = Reply::Doubles(vec![0.5; count]);
            for base in [SizeBase::Annex255, SizeBase::Full256] {
                let mut decoder = ReplyDecoder::new(base);
                decoder.push(&reply.encode(base).expect("a frame"));
                assert_eq!(decoder.next(), Some(Received::Message(reply.clone())), "{count} {base:?}");
                assert_eq!(decoder.buffered(), 0);
            }
        }
        // A scan of 541 beams encoded with the annex's base is understood with either preference.
        let scan = Reply::Doubles(vec![0.5; 541]);
        let mut decoder = ReplyDecoder::new(SizeBase::Full256);
        decoder.push(&scan.encode(SizeBase::Annex255).expect("a frame"));
        assert_eq!(decoder.next(), Some(Received::Message(scan)));
    }

    #[test]
    fn bad_replies_are_malformed_or_unknown() {
        let mut decoder = ReplyDecoder::new(SizeBase::Full256);
        decoder.push(b"aa\x07\0D\x02\0aa\x05\0Daa\x06\0XYaa\x05\0T");
        assert_eq!(decoder.next(), Some(Received::Malformed { kind: b'D' }));
        assert_eq!(decoder.next(), Some(Received::Malformed { kind: b'D' }));
        assert_eq!(decoder.next(), Some(Received::Unknown { kind: b'X' }));
        assert_eq!(decoder.next(), Some(Received::Message(Reply::True)));
        assert_eq!(decoder.next(), None);
    }
}
