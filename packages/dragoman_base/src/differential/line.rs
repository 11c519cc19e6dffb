//! Lines between a computer and the microcontroller of a base: the protocol of ROSArduinoBridge, used by ros2_control's
//! diffdrive_arduino and many self-made bases. 57600 baud, 8N1. Each request gets one answer, in order.
//!
//! | request | answer | meaning |
//! | --- | --- | --- |
//! | `e` CR | left, space, right, CR LF | counts of the encoders, 32 bits, wrapping |
//! | `m` left right CR | `OK` CR LF | speeds of the wheels, ticks per controller period (usually 30 Hz), 16 bits |
//! | `r` CR | `OK` CR LF | set the encoders to 0 |
//! | anything else | `Invalid Command` CR LF | |
//!
//! The wheels stop by themselves if no speeds come for 2 s.

use std::fmt;
use std::str::FromStr;

/// Longer lines are invalid.
pub const MAX_LINE: usize = 64;

/// A line that is not of this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a line of this protocol")]
pub struct ParseError;

/// A request to the base. `Display` writes it in wire format, with its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BaseRequest {
    /// Read the counts of the encoders.
    Encoders,
    /// Set the speeds of the left and the right wheel, ticks per period of the controller.
    SetSpeeds([i16; 2]),
    /// Set the encoders to 0.
    ResetEncoders,
}

impl fmt::Display for BaseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoders => f.write_str("e\r"),
            Self::SetSpeeds([left, right]) => write!(f, "m {left} {right}\r"),
            Self::ResetEncoders => f.write_str("r\r"),
        }
    }
}

impl FromStr for BaseRequest {
    type Err = ParseError;

    /// Parses a line, without its end.
    fn from_str(line: &str) -> Result<Self, ParseError> {
        match line.trim_ascii() {
            "e" => Ok(Self::Encoders),
            "r" => Ok(Self::ResetEncoders),
            line => pair(line.strip_prefix("m ").ok_or(ParseError)?).map(Self::SetSpeeds),
        }
    }
}

/// An answer of the base. `Display` writes it in wire format, with its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum BaseAnswer {
    /// Counts of the left and the right encoder.
    Encoders([i32; 2]),
    Done,
    /// The request was not understood.
    NotUnderstood,
}

impl fmt::Display for BaseAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encoders([left, right]) => write!(f, "{left} {right}\r\n"),
            Self::Done => f.write_str("OK\r\n"),
            Self::NotUnderstood => f.write_str("Invalid Command\r\n"),
        }
    }
}

impl FromStr for BaseAnswer {
    type Err = ParseError;

    /// Parses a line, without its end.
    fn from_str(line: &str) -> Result<Self, ParseError> {
        match line.trim_ascii() {
            "OK" => Ok(Self::Done),
            "Invalid Command" => Ok(Self::NotUnderstood),
            line => pair(line).map(Self::Encoders),
        }
    }
}

/// Exactly two numbers.
fn pair<T: FromStr>(text: &str) -> Result<[T; 2], ParseError> {
    let mut words = text.split_ascii_whitespace().map(str::parse);
    match (words.next(), words.next(), words.next()) {
        (Some(Ok(left)), Some(Ok(right)), None) => Ok([left, right]),
        _ => Err(ParseError),
    }
}

/// Finds lines in a byte stream that arrives in pieces of any length. A line ends with CR or LF; empty lines are
/// skipped.
#[derive(Debug, Clone)]
pub struct Lines {
    line: [u8; MAX_LINE],
    length: usize,
    /// The present line is too long, or began before the connection.
    spoilt: bool,
    ended: bool,
    dropped: u64,
}

impl Default for Lines {
    fn default() -> Self {
        Self { line: [0; MAX_LINE], length: 0, spoilt: false, ended: false, dropped: 0 }
    }
}

impl Lines {
    /// A decoder without data.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next line, without its end; consumes the bytes it needs. `None`: all bytes were consumed without completing
    /// a line. Lines that are too long, or not UTF-8, are dropped.
    pub fn next<'a>(&'a mut self, bytes: &mut &[u8]) -> Option<&'a str> {
        if std::mem::take(&mut self.ended) {
            self.length = 0;
        }
        while let Some((byte, rest)) = bytes.split_first() {
            *bytes = rest;
            if !matches!(byte, b'\r' | b'\n') {
                match self.line.get_mut(self.length) {
                    Some(place) => *place = *byte,
                    None => self.spoilt = true,
                }
                self.length = self.length.saturating_add(1).min(MAX_LINE);
                continue;
            }
            let spoilt = std::mem::take(&mut self.spoilt);
            let length = self.length;
            let text = self.line.get(..length).is_some_and(|line| line.is_ascii());
            if length > 0 && !spoilt && text {
                self.ended = true;
                break;
            }
            self.dropped += u64::from(length > 0);
            self.length = 0;
        }
        let line = self.line.get(..self.length).filter(|_| self.ended)?;
        std::str::from_utf8(line).ok()
    }

    /// Drops an unfinished line, for use after a lost connection.
    pub fn clear(&mut self) {
        (self.length, self.spoilt, self.ended) = (0, false, false);
    }

    /// Number of dropped lines: too long, or not UTF-8.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(decoder: &mut Lines, mut bytes: &[u8]) -> Vec<String> {
        std::iter::from_fn(|| decoder.next(&mut bytes).map(str::to_owned)).collect()
    }

    #[test]
    fn requests() {
        let requests = [
            (BaseRequest::Encoders, "e\r"),
            (BaseRequest::SetSpeeds([-12, 300]), "m -12 300\r"),
            (BaseRequest::ResetEncoders, "r\r"),
        ];
        for (request, text) in requests {
            assert_eq!(request.to_string(), text);
            assert_eq!(text.parse(), Ok(request));
        }
        for wrong in ["", "m", "m 1", "m 1 2 3", "m 1 99999", "m x 1", "q", "ee"] {
            assert_eq!(wrong.parse::<BaseRequest>(), Err(ParseError), "{wrong}");
        }
    }

    #[test]
    fn answers() {
        let answers = [
            (BaseAnswer::Encoders([-2147483648, 7]), "-2147483648 7\r\n"),
            (BaseAnswer::Done, "OK\r\n"),
            (BaseAnswer::NotUnderstood, "Invalid Command\r\n"),
        ];
        for (answer, text) in answers {
            assert_eq!(answer.to_string(), text);
            assert_eq!(text.parse(), Ok(answer));
        }
        for wrong in ["", "1", "1 2 3", "1 2147483648", "OKOK", "nan 1"] {
            assert_eq!(wrong.parse::<BaseAnswer>(), Err(ParseError), "{wrong}");
        }
    }

    #[test]
    fn lines_that_are_too_long_or_not_text_are_dropped() {
        let mut decoder = Lines::new();
        let long = [b'x'; MAX_LINE + 1];
        let bytes = [b"OK\r\n1 2\r\n", &long[..], b"\r\n\xff\xfe\r\n\r\n\nOK\r"].concat();
        assert_eq!(lines(&mut decoder, &bytes), ["OK", "1 2", "OK"]);
        assert_eq!(decoder.dropped(), 2);
        assert_eq!(lines(&mut decoder, &long[..MAX_LINE]), [""; 0]);
        assert_eq!(lines(&mut decoder, b"\n").len(), 1, "just not too long");
        assert_eq!(lines(&mut decoder, b"12 "), [""; 0]);
        decoder.clear();
        assert_eq!(lines(&mut decoder, b"3 4\n"), ["3 4"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_of_any_length_give_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), b' '..b'z', any::<u8>()], 0..500),
            piece in 1_usize..50,
        ) {
            let (mut whole, mut pieces) = (Lines::new(), Lines::new());
            let expected = lines(&mut whole, &bytes);
            let found: Vec<String> = bytes.chunks(piece).flat_map(|piece| lines(&mut pieces, piece)).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(pieces.dropped(), whole.dropped());
        }

        #[test]
        fn every_request_and_answer_comes_back(speeds: [i16; 2], counts: [i32; 2]) {
            let request = BaseRequest::SetSpeeds(speeds);
            prop_assert_eq!(request.to_string().parse(), Ok(request));
            let answer = BaseAnswer::Encoders(counts);
            prop_assert_eq!(answer.to_string().parse(), Ok(answer));
        }
    }
}
