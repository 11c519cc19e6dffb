//! The messages on the wire, without state.
//!
//! ```text
//!   FF 01 FE 02    u32          u8        
//! +-------------+-------------+---------+------------------
//! | header      | length of   | number  | arguments, or
//! | (optional)  | what follows|         | what is told
//! +-------------+-------------+---------+------------------
//! ```
//!
//! Big-endian throughout. BYTE is `u8`, BOOL one byte, INT `i32`, INT16 `i16`, DOUBLE `f64`; STRING and XML are an INT
//! with the length, and the bytes ([`Text`]). A list is an INT that counts, and its elements. Units are in the names of
//! the fields: `_mm`, `_mdeg` (a thousandth of a degree), `_mm_per_s`, `_mrad_per_s`; a field without has none in the
//! guide.
//!
//! - [`CommandKind`]: the table of the commands; [`Command`]: what a client sends; [`Reply`]: what a platform answers;
//! - [`Decoder`]: a stream of bytes, cut anywhere, as messages;
//! - families: `motion`, `hardware` (brakes, digital outputs, ultrasonic sensors, CAN), `data` (maps, roadmaps, programs),
//!   `parameter`, `special`, `debug`, `status`.
//!
//! # What the guide leaves open, and how it is read here
//!
//! | where | read as |
//! | --- | --- |
//! | header | both forms come; an answer has the form of its request |
//! | commands 51 to 54, 56, 57 | without arguments, as the tables have it |
//! | commands 60 to 73 of newer platforms | unknown; the stream stays in step |
//! | codes and flags in commands | those of the guide, or the command is refused |
//! | codes and flags in replies | kept, whatever they are ([`Coded`]) |
//! | CMD_GET_MAP, CMD_GET_ROADMAP: BYTE "number of characters in map" | characters of the name, which has its INT length too; not compared |
//! | CMD_GET_PROGRAM: "size", "name of a program" | length of the XML-document, and the document: it is what was asked for |
//! | parameter replies: category and type without a data type | INTs |
//! | CMD_GET_POSITION: no units | mm, rad, mm/s, rad/s: the doubles are the platform's own values |
//! | CMD_GET_DEBUG_DATA: "size of validation gate" | gates, four points each |
//! | CMD_GET_DEBUG_DATA: mapping mode 0 | all up to the second path is left out: mapped and explored segments, global localization |
//! | CMD_GET_DEBUG_DATA: INT 0 after a graphical object's three variables | belongs to each object |
//! | value -1 at the end | of CMD_GET_STATUS and CMD_GET_DEBUG_DATA, which alone have it; anything else is an error |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod command;
mod data;
mod debug;
mod field;
mod frame;
mod hardware;
mod motion;
mod parameter;
#[cfg(test)]
mod properties;
mod reply;
mod special;
mod status;

pub use crate::codes::{ParameterCategory, ParameterType};
pub use command::{Command, CommandKind};
pub use data::{DocumentReply, NamedDocument, ProgramDocument};
pub use debug::{
    Cluster, DebugData, GlobalLocalization, GraphicalColor, GraphicalKind, GraphicalObject, Mapping,
    PathPose, QueueEntry, SafeVelocities, Segment, TcpStatistics, ValidationGate, Variable,
};
pub use field::{Coded, Text};
pub use frame::{Decoder, Message, Received};
pub use hardware::{
    Board, CanId, CanMessage, CanMessages, GetCanMessages, Motor, SendCanMessage, SetBrake, SetDigitalOutput,
    StartUltrasonic,
};
pub use motion::{Frame, MovePath, MoveToStation, MoveVelocity, MoveWheelVelocity, SetMode};
pub use parameter::{GetParameter, ParameterReplies, ParameterReply, SetParameter};
pub use reply::Reply;
pub use special::{
    Camera, FileName, HeadPosition, HeadVelocity, MouseButton, MouseMove, PanTiltPosition, PostProcessEvent,
    SetEvent, SpeakText,
};
pub use status::{
    AnalogBoard, Circle, Covariance, Gyro, IoBoard, Line, MotorBoards, Point, Position, RadarBoard,
    RelayBoard, ScanPoint, Status, Surveillance, UltrasonicBoard, Velocity,
};

/// What real clients send before the length.
pub const HEADER: [u8; 4] = [0xff, 0x01, 0xfe, 0x02];
/// The most data of a message: what announces more is refused.
pub const MAX_DATA_LEN: usize = 16 << 20;
/// TCP ports of the platform; each has one client.
pub const DEFAULT_PORTS: [u16; 2] = [10000, 10002];

/// How a message begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Framing {
    /// With [`HEADER`], as real clients and section 6.2 have it.
    Header,
    /// With the length, as the guide's example has it.
    Bare,
}

/// Why the data of a message is none that the guide knows. The stream goes on with the next message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {field} at byte {offset}: {fault}", command::describe(*number))]
pub struct DecodeError {
    /// Its first byte: the number of the command.
    pub number: u8,
    /// The field that is wrong.
    pub field: &'static str,
    /// Where it begins, counted from the number.
    pub offset: usize,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// No command, or for replies: no command that is answered, has this number.
    #[error("unknown")]
    Unknown,
    /// The message ends before the field does.
    #[error("{needed} bytes are needed, {left} are left")]
    Short {
        /// Bytes of the field, or of what it consists of.
        needed: usize,
        /// Bytes that there are.
        left: usize,
    },
    /// The message goes on after its last field.
    #[error("{extra} bytes too many")]
    Trailing {
        /// Bytes that follow.
        extra: usize,
    },
    /// A length or number of elements that is negative, or more than the message has room for.
    #[error("a count of {count} where {left} bytes are left")]
    Count {
        /// What the message says.
        count: i32,
        /// Bytes that follow it.
        left: usize,
    },
    /// A number that stands for nothing.
    #[error("{value}, which is none of {allowed:?}")]
    Value {
        /// What the message says.
        value: i64,
        /// What the guide lists.
        allowed: Vec<u8>,
    },
    /// The check at the end of a reply.
    #[error("{value} where -1 ends the message")]
    EndCheck {
        /// What the message says.
        value: i32,
    },
}

/// A length that no message has. What follows it cannot be told from garbage: the connection is to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of {length} bytes; it may have 1 to {MAX_DATA_LEN}")]
pub struct LengthError {
    /// What was announced.
    pub length: u32,
}

/// Why a message cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} of {len} bytes is longer than the {MAX_DATA_LEN} that a message may have", command::describe(*number))]
pub struct EncodeError {
    /// Number of the command.
    pub number: u8,
    /// Bytes of its data.
    pub len: usize,
}
