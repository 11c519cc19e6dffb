//! What is around a frame on the wire: marks, and how they are written where they are part of the frame.

use crate::model::{Cut, Escape, NamedEscape};

/// The byte between frames of SLIP.
const SLIP_END: u8 = 0xc0;
/// The byte in front of an escaped one, in SLIP.
const SLIP_MARK: u8 = 0xdb;
/// What follows it, and what both stand for (RFC 1055).
const SLIP: [(u8, u8); 2] = [(0xdc, SLIP_END), (0xdd, SLIP_MARK)];
/// A block of COBS without a zero behind it: bytes, with the one that counts them.
const FULL_BLOCK: u8 = 0xff;

/// Puts marks and escapes around a frame. What takes them off is the [`Cutter`](super::Cutter).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    pub(super) start: Vec<u8>,
    pub(super) end: Vec<u8>,
    pub(super) escaping: Option<Escaping>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Escaping {
    Slip,
    Cobs,
    Hex,
    Double,
    Stuffing { mark: u8, xor: u8, of: Vec<u8> },
}

impl Escaping {
    /// The byte in front of an escaped one.
    pub(super) fn mark(&self) -> Option<u8> {
        match self {
            Self::Slip => Some(SLIP_MARK),
            Self::Stuffing { mark, .. } => Some(*mark),
            Self::Cobs | Self::Hex | Self::Double => None,
        }
    }

    /// What a byte behind the mark stands for.
    pub(super) fn unescaped(&self, byte: u8) -> Option<u8> {
        match self {
            Self::Slip => SLIP.iter().find(|(after, _)| *after == byte).map(|(_, stands_for)| *stands_for),
            // A sender may escape more than is necessary.
            Self::Stuffing { xor, .. } => Some(byte ^ xor),
            Self::Cobs | Self::Hex | Self::Double => None,
        }
    }
}

/// Why a frame cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the frame has the bytes of a mark within: it would be cut there")]
pub struct MarkWithin;

impl Envelope {
    /// That of a description.
    ///
    /// # Errors
    /// The marks and the escape do not fit together.
    pub fn new(cut: &Cut) -> Result<Self, String> {
        let bytes = |mark: &Option<crate::model::Mark>| {
            mark.as_ref().map(|mark| mark.bytes().to_vec()).unwrap_or_default()
        };
        if cut.line.as_ref().is_some_and(|line| line.bytes().is_empty()) {
            return Err("line is empty: expected the end of a line, such as \"\\r\\n\"".to_owned());
        }
        let end = if cut.line.is_some() { bytes(&cut.line) } else { bytes(&cut.end) };
        let start = bytes(&cut.start);
        if cut.escape.is_some() && bytes(&cut.end).is_empty() {
            return Err(
                "escape needs end: the bytes behind a message, which are escaped within it".to_owned()
            );
        }
        if cut.start.is_some() && end.is_empty() {
            return Err("start needs end, the bytes behind a message".to_owned());
        }
        if cut.end.is_some() && end.is_empty() {
            return Err("end is empty: expected the bytes behind a message, such as [0xC0]".to_owned());
        }
        let escaping = cut.escape.as_ref().map(|escape| match escape {
            Escape::Named(NamedEscape::Slip) => Escaping::Slip,
            Escape::Named(NamedEscape::Cobs) => Escaping::Cobs,
            Escape::Named(NamedEscape::Hex) => Escaping::Hex,
            Escape::Named(NamedEscape::Double) => Escaping::Double,
            Escape::Stuffing(stuffing) => {
                Escaping::Stuffing { mark: stuffing.mark, xor: stuffing.xor, of: stuffing.of.clone() }
            }
        });
        let envelope = Self { start, end, escaping };
        envelope.check()?;
        Ok(envelope)
    }

    /// Whether there is nothing around a frame.
    pub(crate) fn is_empty(&self) -> bool {
        self.start.is_empty() && self.end.is_empty() && self.escaping.is_none()
    }

    fn check(&self) -> Result<(), String> {
        let (start, end) = (self.start.as_slice(), self.end.as_slice());
        let reason = match &self.escaping {
            None => return Ok(()),
            Some(Escaping::Slip) if end == [SLIP_END] && (start.is_empty() || start == end) => return Ok(()),
            Some(Escaping::Slip) => "escape: slip needs end: [0xC0]; start is the same, or left out",
            Some(Escaping::Cobs) if end == [0] && (start.is_empty() || start == end) => return Ok(()),
            Some(Escaping::Cobs) => "escape: cobs needs end: [0]; start is the same, or left out",
            Some(Escaping::Hex) => {
                let has_digits = [start, end].concat().iter().any(u8::is_ascii_hexdigit);
                if !has_digits && start.len() <= 1 && !start.iter().any(|byte| end.contains(byte)) {
                    return Ok(());
                }
                "escape: hex needs marks without hexadecimal digits; start is one byte that end does not have, or left out"
            }
            Some(Escaping::Double) => {
                let is_possible = match (start, end) {
                    ([], [mark, other]) => mark != other,
                    ([first], [mark, other]) => first == mark && mark != other,
                    ([first, second], [mark, other]) => {
                        first == mark && second != mark && mark != other && second != other
                    }
                    _ => false,
                };
                if is_possible {
                    return Ok(());
                }
                "escape: double needs an end of two bytes, of which the first is sent twice within a message, such as [0x10, 0x03]; start begins with the same byte, such as [0x10, 0x02]"
            }
            Some(Escaping::Stuffing { mark, xor, of }) => {
                if end.len() != 1 || start.len() > 1 {
                    return Err("an escape with mark and xor needs an end of one byte; start is one byte, or left out".to_owned());
                }
                let marks = || start.iter().chain(end);
                if let Some(missing) = marks().chain([mark]).find(|byte| !of.contains(byte)) {
                    return Err(format!("escape: of needs mark, start and end: {missing:#04x} is missing"));
                }
                if marks().any(|byte| byte == mark) {
                    return Err(format!("escape: mark is {mark:#04x}, as start or end"));
                }
                if let Some(byte) = of.iter().find(|byte| marks().any(|mark| *mark == *byte ^ xor)) {
                    return Err(format!(
                        "escape: {byte:#04x} with xor {xor:#04x} is {:#04x}, which is start or end",
                        byte ^ xor
                    ));
                }
                return Ok(());
            }
        };
        Err(reason.to_owned())
    }

    /// Whether bytes of marks may be part of a frame.
    pub fn has_escapes(&self) -> bool {
        self.escaping.is_some()
    }

    /// Appends a frame as it is on the wire.
    ///
    /// # Errors
    /// The frame has the bytes of a mark, and there are no escapes.
    pub fn wrap(&self, frame: &[u8], out: &mut Vec<u8>) -> Result<(), MarkWithin> {
        let begin = out.len();
        out.extend_from_slice(&self.start);
        match &self.escaping {
            None => out.extend_from_slice(frame),
            Some(Escaping::Slip) => {
                for byte in frame {
                    match SLIP.iter().find(|(_, stands_for)| stands_for == byte) {
                        Some((after, _)) => out.extend([SLIP_MARK, *after]),
                        None => out.push(*byte),
                    }
                }
            }
            Some(Escaping::Stuffing { mark, xor, of }) => {
                for byte in frame {
                    if of.contains(byte) {
                        out.extend([*mark, byte ^ xor]);
                    } else {
                        out.push(*byte);
                    }
                }
            }
            Some(Escaping::Double) => {
                let mark = self.end.first();
                for byte in frame {
                    out.extend(std::iter::repeat_n(*byte, if Some(byte) == mark { 2 } else { 1 }));
                }
            }
            Some(Escaping::Hex) => {
                let digit = |four: u8| if four < 10 { b'0' + four } else { b'A' - 10 + four };
                out.extend(frame.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
            }
            Some(Escaping::Cobs) => cobs(frame, out),
        }
        out.extend_from_slice(&self.end);
        let has_marks = self.escaping.is_none() && !self.end.is_empty();
        let whole = out.get(begin..).unwrap_or_default();
        if has_marks && super::marked(whole, &self.start, &self.end, 0) != self.expected(frame.len()) {
            out.truncate(begin);
            return Err(MarkWithin);
        }
        Ok(())
    }

    /// What is found in the bytes of a frame of this size.
    fn expected(&self, len: usize) -> super::Begin {
        let (from, end) = (self.start.len(), self.end.len());
        super::Begin::Frame { len: from + len + end, from, to: from + len }
    }
}

/// Blocks of bytes that are not 0, each behind its size; a zero follows each but the last one, and those that are full.
fn cobs(frame: &[u8], out: &mut Vec<u8>) {
    let mut counter = out.len();
    out.push(1);
    for (at, byte) in frame.iter().enumerate() {
        if *byte != 0 {
            out.push(*byte);
            let Some(count) = out.get_mut(counter) else { return };
            *count += 1;
            if *count < FULL_BLOCK || at + 1 == frame.len() {
                continue;
            }
        }
        counter = out.len();
        out.push(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(start: &[u8], end: &[u8], escaping: Escaping) -> Envelope {
        Envelope { start: start.to_vec(), end: end.to_vec(), escaping: Some(escaping) }
    }

    fn wrapped(envelope: &Envelope, frame: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        envelope.wrap(frame, &mut out).unwrap();
        out
    }

    /// The example of "Consistent Overhead Byte Stuffing", section III: the beginning of a packet of IP.
    #[test]
    fn cobs_of_its_paper() {
        let cobs = envelope(&[], &[0], Escaping::Cobs);
        assert_eq!(
            wrapped(&cobs, &[0x45, 0, 0, 0x2c, 0x4c, 0x79, 0, 0, 0x40, 6, 0x4f, 0x37]),
            [2, 0x45, 1, 4, 0x2c, 0x4c, 0x79, 1, 5, 0x40, 6, 0x4f, 0x37, 0]
        );
        assert_eq!(wrapped(&cobs, &[]), [1, 0]);
        assert_eq!(wrapped(&cobs, &[0]), [1, 1, 0]);
        let full: Vec<u8> = (1..=254).collect();
        assert_eq!(wrapped(&cobs, &full), [&[255][..], &full, &[0]].concat());
        assert_eq!(wrapped(&cobs, &[&full[..], &[255]].concat()), [&[255][..], &full, &[2, 255, 0]].concat());
        assert_eq!(wrapped(&cobs, &[&full[..], &[0]].concat()), [&[255][..], &full, &[1, 1, 0]].concat());
    }

    #[test]
    fn marks_are_escaped() {
        let slip = envelope(&[0xc0], &[0xc0], Escaping::Slip);
        assert_eq!(wrapped(&slip, &[1, 0xc0, 0xdb, 2]), [0xc0, 1, 0xdb, 0xdc, 0xdb, 0xdd, 2, 0xc0]);
        let hdlc =
            envelope(&[0x7e], &[0x7e], Escaping::Stuffing { mark: 0x7d, xor: 0x20, of: vec![0x7d, 0x7e] });
        assert_eq!(wrapped(&hdlc, &[0x7e, 0x7d, 1]), [0x7e, 0x7d, 0x5e, 0x7d, 0x5d, 1, 0x7e]);
        let double = envelope(&[0x10, 2], &[0x10, 3], Escaping::Double);
        assert_eq!(wrapped(&double, &[0x10, 3]), [0x10, 2, 0x10, 0x10, 3, 0x10, 3]);
        // Read three registers of device 17, as in descriptions of Modbus.
        let hex = envelope(b":", b"\r\n", Escaping::Hex);
        assert_eq!(wrapped(&hex, &[0x11, 3, 0, 0x6b, 0, 3, 0x7e]), b":1103006B00037E\r\n");
    }

    #[test]
    fn a_mark_within_is_refused_without_escapes() {
        let line = Envelope { start: Vec::new(), end: b"\r\n".to_vec(), escaping: None };
        assert_eq!(wrapped(&line, b"a\rb"), b"a\rb\r\n");
        let mut out = vec![1];
        assert_eq!(line.wrap(b"a\r\nb", &mut out), Err(MarkWithin));
        assert_eq!(out, [1]);
        let aa = Envelope { start: Vec::new(), end: b"aa".to_vec(), escaping: None };
        assert_eq!(aa.wrap(b"xa", &mut out), Err(MarkWithin));
    }
}
