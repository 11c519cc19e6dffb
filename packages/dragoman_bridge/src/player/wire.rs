//! The messages on the wire, without state.
//!
//! ```text
//! server: 32 bytes, a text with its version, when a client connects. Then both sides:
//!
//! offset 0      4        8           12      16     20        24           32         36
//!        +------+--------+-----------+-------+------+---------+------------+----------+------+------
//!        | host | robot  | interface | index | kind | subtype | timestamp  | sequence | size | body
//!        | u32  | u32    | u32       | u32   | u32  | u32     | f64        | u32      | u32  | size bytes
//!        +------+--------+-----------+-------+------+---------+------------+----------+------+------
//! ```
//!
//! All numbers are XDR: big endian, integers in four bytes. Source: the public interface definitions of Player 3.1, and
//! the messages between its server and clients.
//!
//! - [`Message`], [`Header`], [`Decoder`]: the stream;
//! - [`Xdr`]: values as bytes;
//! - [`Data`], [`Command`], [`Request`], [`Answer`]: bodies of messages, by their interfaces;
//! - [`Interface`], [`OneWayMessage`], [`RequestMessage`]: descriptions of interfaces and messages. Each interface has
//!   a module, made of `protocols/player.yaml` in `dragoman_protocol`, with enumerations of its bodies; [`INTERFACES`]
//!   has them all;
//! - [`properties`]: requests that devices of every interface have.
//!
//! Lengths are in metres, angles in radians, times in seconds.

mod map_data;
mod message;
mod table;
mod xdr;

pub use every_interface as properties;
pub use map_data::{MAX_CELLS, MapData, MapError};
pub use message::{
    Address, Decoder, Device, HEADER_LEN, Header, MAX_BODY_LEN, Message, MessageKind, StreamError,
};
pub use table::{BodyError, Interface, MessageInfo, OneWayMessage, RequestMessage};
pub use xdr::{Bytes, Reader, Xdr, XdrError};

/// Default TCP port of a server.
pub const DEFAULT_PORT: u16 = 6665;
/// Size of the banner, which a server sends to a new client, bytes.
pub const BANNER_LEN: usize = 32;
/// Beginning of the banner's text; the version follows.
pub const BANNER: &str = "Player v.";

include!(concat!(env!("OUT_DIR"), "/player.rs"));

impl Request {
    /// Reads a request of the interface, or one that [every interface](properties) has.
    ///
    /// # Errors
    /// There is no such message; the bytes are not its body.
    pub fn read_any(interface: u16, subtype: u8, bytes: &[u8]) -> Result<Self, BodyError> {
        match Self::read(interface, subtype, bytes) {
            Err(BodyError::Unknown { .. }) => Self::read(properties::INTERFACE.code, subtype, bytes),
            read => read,
        }
    }
}

impl From<common::Pose2d> for common::Pose3d {
    fn from(common::Pose2d { x, y, yaw }: common::Pose2d) -> Self {
        let position = common::Point3d { x, y, z: 0.0 };
        Self { position, orientation: common::Orientation3d { yaw, ..Default::default() } }
    }
}

/// The interface with this code.
pub fn interface(code: u16) -> Option<&'static Interface> {
    INTERFACES.into_iter().find(|interface| interface.code == code)
}
