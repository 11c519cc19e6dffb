//! Requests and answers of the binary interpreter (Ranger thesis, 2.2.4 and `elmoarm2.cpp`; protocols.md, SimplIQ).
//!
//! | bytes | request (RPDO2, 4 or 8 bytes) | answer (TPDO2, 8 bytes) |
//! | --- | --- | --- |
//! | 0-1 | the command's letters | the same |
//! | 2-3 | index in bits 0-13, bit 14 query, bit 15 the value is a float | the same, but bit 14 means: refused |
//! | 4-7 | the value, absent where the request reads or executes | the value, or the error code in byte 4 |

use std::fmt;

use super::commands::{self, Command};

const REFUSED_OR_QUERY: u16 = 1 << 14;
const FLOAT: u16 = 1 << 15;
const INDEX: u16 = REFUSED_OR_QUERY - 1;

/// A value of the interpreter, little-endian on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Argument {
    /// A 32-bit integer.
    Integer(i32),
    /// An IEEE 754 single.
    Float(f32),
}

/// A request to a drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DriveRequest {
    /// Reads a value, or executes a command without one (`BG`, `ST`).
    Get(Command),
    /// Sets a value.
    Set(Command, Argument),
}

/// An answer of a drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveAnswer {
    /// The command that is answered.
    pub command: Command,
    /// The value, or the interpreter's error code.
    pub result: Result<Argument, u8>,
}

impl DriveRequest {
    /// The command that is read, set or executed.
    pub fn command(&self) -> Command {
        match self {
            Self::Get(command) | Self::Set(command, _) => *command,
        }
    }

    /// Reads a request; `None` unless it has 4 or 8 bytes and two upper-case letters.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let (command, flags) = decode_head(data)?;
        match data.get(4..)? {
            [] => Some(Self::Get(command)),
            value if data.len() == 8 => Some(Self::Set(command, Argument::decode(value, flags)?)),
            _ => None,
        }
    }

    /// The bytes of the request, and their number.
    pub fn encode(&self) -> ([u8; 8], usize) {
        match self {
            Self::Get(command) => (encode(*command, 0, [0; 4]), 4),
            Self::Set(command, argument) => (encode(*command, argument.flag(), argument.bytes()), 8),
        }
    }
}

impl DriveAnswer {
    /// Reads an answer; `None` unless it has 8 bytes and two upper-case letters.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let (command, flags) = decode_head(data)?;
        let value = data.get(4..8)?;
        let result = if flags & REFUSED_OR_QUERY != 0 {
            Err(*value.first()?)
        } else {
            Ok(Argument::decode(value, flags)?)
        };
        (data.len() == 8).then_some(Self { command, result })
    }

    /// The bytes of the answer.
    pub fn encode(&self) -> [u8; 8] {
        match self.result {
            Ok(argument) => encode(self.command, argument.flag(), argument.bytes()),
            Err(code) => encode(self.command, REFUSED_OR_QUERY, [code, 0, 0, 0]),
        }
    }
}

impl Argument {
    fn decode(bytes: &[u8], flags: u16) -> Option<Self> {
        let bytes: [u8; 4] = bytes.try_into().ok()?;
        let is_float = flags & FLOAT != 0;
        Some(if is_float {
            Self::Float(f32::from_le_bytes(bytes))
        } else {
            Self::Integer(i32::from_le_bytes(bytes))
        })
    }

    fn bytes(self) -> [u8; 4] {
        match self {
            Self::Integer(value) => value.to_le_bytes(),
            Self::Float(value) => value.to_le_bytes(),
        }
    }

    fn flag(self) -> u16 {
        match self {
            Self::Integer(_) => 0,
            Self::Float(_) => FLOAT,
        }
    }
}

fn decode_head(data: &[u8]) -> Option<(Command, u16)> {
    let [first, second, low, high, ..] = *data else { return None };
    let letters = [first, second];
    let flags = u16::from_le_bytes([low, high]);
    letters.iter().all(u8::is_ascii_uppercase).then_some((Command { letters, index: flags & INDEX }, flags))
}

fn encode(command: Command, flags: u16, value: [u8; 4]) -> [u8; 8] {
    let [low, high] = ((command.index & INDEX) | flags).to_le_bytes();
    let ([first, second], [a, b, c, d]) = (command.letters, value);
    [first, second, low, high, a, b, c, d]
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

/// In the notation of the drive's terminal: `PX`, `MP[4]=11`.
impl fmt::Display for DriveRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get(command) => write!(f, "{command}"),
            Self::Set(command, argument) => write!(f, "{command}={argument}"),
        }
    }
}

impl fmt::Display for DriveAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.result {
            Ok(argument) => write!(f, "{}: {argument}", self.command),
            Err(code) => write!(f, "{}: refused, {} ({code})", self.command, commands::error_meaning(code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_have_the_layout_of_the_thesis() {
        let ratio = DriveRequest::Set(Command::MOTION.at(4), Argument::Integer(54));
        assert_eq!(ratio.encode(), ([b'M', b'P', 4, 0, 54, 0, 0, 0], 8));
        let current = DriveRequest::Set(Command::TORQUE, Argument::Float(1.5));
        assert_eq!(current.encode(), ([b'T', b'C', 0, 0x80, 0, 0, 0xc0, 0x3f], 8));
        let (bytes, length) = DriveRequest::Get(Command::POSITION).encode();
        assert_eq!(&bytes[..length], b"PX\0\0");
        let row = DriveRequest::Set(Command::QUEUE.at(1024), Argument::Integer(-2));
        assert_eq!(row.encode(), ([b'Q', b'P', 0x00, 0x04, 0xfe, 0xff, 0xff, 0xff], 8));
        assert_eq!(row.to_string(), "QP[1024]=-2");
    }

    #[test]
    fn an_answer_with_bit_6_is_a_refusal() {
        let answer = DriveAnswer::decode(&[b'B', b'G', 0, 0x40, 7, 0, 0, 0]).unwrap();
        assert_eq!(answer.result, Err(7));
        assert_eq!(answer.to_string(), "BG: refused, bad initial data (7)");
        assert_eq!(DriveAnswer::decode(b"PX\0\0\x10\x27\0").map(|answer| answer.result), None);
    }

    proptest! {
        #[test]
        fn what_is_decoded_encodes_to_the_same_bytes(data in prop::collection::vec(any::<u8>(), 0..10)) {
            if let Some(request) = DriveRequest::decode(&data) {
                let (bytes, length) = request.encode();
                let mut expected = data.clone();
                // The query bit is redundant to the length.
                expected[3] &= if length == 4 { 0x3f } else { 0xbf };
                prop_assert_eq!(&bytes[..length], &expected[..]);
            }
            if let Some(answer) = DriveAnswer::decode(&data) {
                let again = DriveAnswer::decode(&answer.encode()).unwrap();
                prop_assert_eq!(again.command, answer.command);
                prop_assert_eq!(again.encode(), answer.encode());
            }
        }
    }
}
