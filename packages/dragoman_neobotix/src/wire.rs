//! The messages on the wire, without state.
//!
//! ```text
//!   FF 01 FE 02    u32          u8        
//! +-------------+-------------+---------+------------------
//! | header      | length of   | number  | arguments, or
//! | (optional)  | what follows|         | reply data
//! +-------------+-------------+---------+------------------
//! ```
//!
//! Big-endian throughout. BYTE is `u8`, BOOL one byte, INT `i32`, INT16 `i16`, DOUBLE `f64`; STRING and XML are an INT
//! with the length, and the bytes ([`Text`]). A list is an INT with the number of elements, and the elements. Units are
//! in the names of the fields: `_mm`, `_mdeg` (a thousandth of a degree), `_mm_per_s`, `_mrad_per_s`; a field without
//! one has none in the guide.
//!
//! - [`CommandKind`]: the commands; [`Command`]: messages of a client; [`Reply`]: messages of a platform. They and their
//!   structures are made of `protocols/neobotix.yaml` in `dragoman_protocol`;
//! - [`Decoder`]: decodes a byte stream, which may be split anywhere;
//! - `field`: the parts of messages; `values`: functions of some structures.
//!
//! # Choices where the guide is silent
//!
//! | topic | choice |
//! | --- | --- |
//! | header | both forms are accepted; an answer has the form of its request |
//! | commands 51 to 54, 56, 57 | without arguments, as in the tables |
//! | commands 60 to 73 of newer platforms | unknown; the stream stays in step |
//! | codes and flags in commands | those of the guide; others are refused |
//! | codes and flags in replies | kept, even if unknown ([`Coded`]) |
//! | CMD_GET_MAP, CMD_GET_ROADMAP: BYTE "number of characters in map" | characters of the name, which also has its INT length; not compared |
//! | CMD_GET_PROGRAM: "size", "name of a program" | length of the XML document, and the document: it is what the client asked for |
//! | parameter replies: category and type without a data type | INTs |
//! | CMD_GET_POSITION: no units | mm, rad, mm/s, rad/s: the doubles are the platform's own values |
//! | CMD_GET_DEBUG_DATA: "size of validation gate" | gates, four points each |
//! | CMD_GET_DEBUG_DATA: mapping mode 0 | everything before the second path is omitted: mapped and explored segments, global localization |
//! | CMD_GET_DEBUG_DATA: INT 0 after a graphical object's three variables | belongs to each object |
//! | value -1 at the end | of CMD_GET_STATUS and CMD_GET_DEBUG_DATA, which alone have it; anything else is an error |

mod command;
mod field;
mod frame;
#[cfg(test)]
mod properties;
mod values;

use crate::codes;
pub use crate::codes::{
    GraphicalColor, GraphicalKind, MouseButton, ParameterCategory, ParameterType, PostProcessEvent,
};
pub use field::{Coded, Tail, Text};
pub use frame::{Decoder, Message, Received};
pub use values::QueueEntry;

include!(concat!(env!("OUT_DIR"), "/telegrams.rs"));

/// Header that real clients send before the length.
pub const HEADER: [u8; 4] = [0xff, 0x01, 0xfe, 0x02];
/// Maximum size of a message's data; longer messages are refused.
pub const MAX_DATA_LEN: usize = 16 << 20;
/// TCP ports of the platform; each has one client.
pub const DEFAULT_PORTS: [u16; 2] = [10000, 10002];

/// Beginning of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// With [`HEADER`], as in section 6.2 and by real clients.
    Header,
    /// With the length, as in the guide's example.
    Bare,
}

/// The data of a message do not follow the guide. The stream continues with the next message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {field} at byte {offset}: {fault}", command::describe(*number))]
pub struct DecodeError {
    /// Its first byte: the number of the command.
    pub number: u8,
    /// The invalid field.
    pub field: &'static str,
    /// Its offset, counted from the number.
    pub offset: usize,
    /// The error in this field.
    pub fault: Fault,
}

/// Error in a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The number is not that of a command; for replies: of a command with a reply.
    #[error("unknown")]
    Unknown,
    /// The message ends before the field does.
    #[error("{needed} bytes are needed, {left} are left")]
    Short {
        /// Size of the field, or of its elements, bytes.
        needed: usize,
        /// Remaining bytes.
        left: usize,
    },
    /// The message continues after its last field.
    #[error("{extra} bytes too many")]
    Trailing {
        /// Additional bytes.
        extra: usize,
    },
    /// A length or number of elements is negative, or exceeds the message.
    #[error("a count of {count} with {left} bytes left")]
    Count {
        /// The received number.
        count: i32,
        /// Remaining bytes.
        left: usize,
    },
    /// A number is not a known code.
    #[error("{value}, which is not one of {allowed:?}")]
    Value {
        /// The received number.
        value: i64,
        /// The codes of the guide.
        allowed: Vec<u8>,
    },
    /// The end check of a reply is wrong.
    #[error("{value} instead of -1")]
    EndCheck {
        /// The received number.
        value: i32,
    },
}

/// An invalid length. The rest of the stream cannot be decoded: close the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of {length} bytes; it may have 1 to {MAX_DATA_LEN}")]
pub struct LengthError {
    /// The announced length.
    pub length: u32,
}

/// Error encoding a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} of {len} bytes exceeds the maximum of {MAX_DATA_LEN}", command::describe(*number))]
pub struct EncodeError {
    /// Number of the command.
    pub number: u8,
    /// Size of its data, bytes.
    pub len: usize,
}
