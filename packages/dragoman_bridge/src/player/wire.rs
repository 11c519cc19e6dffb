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
//! what its server and clients send to each other.
//!
//! - [`Message`], [`Header`], [`Decoder`]: the stream;
//! - [`Xdr`]: values as bytes;
//! - [`Interface`], [`Note`], [`Ask`]: tables of messages. Each interface has a file; [`INTERFACES`] has them all;
//! - [`properties`]: requests that devices of every interface have.
//!
//! Lengths are in metres, angles in radians, times in seconds.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod actarray;
pub mod bumper;
pub mod camera;
pub mod common;
pub mod gripper;
pub mod imu;
pub mod ir;
pub mod laser;
pub mod limb;
pub mod localize;
pub mod log;
pub mod map;
mod message;
pub mod opaque;
pub mod planner;
pub mod player;
pub mod position2d;
pub mod power;
pub mod properties;
pub mod ranger;
pub mod simulation;
pub mod sonar;
mod table;
pub mod vectormap;
mod xdr;

pub use message::{Address, Decoder, Device, HEADER_LEN, Header, Kind, MAX_BODY_LEN, Message, StreamError};
pub use table::{Ask, Interface, Note, Rewrite, Row};
pub use xdr::{Bytes, Reader, Xdr, XdrError};

/// Default TCP port of a server.
pub const DEFAULT_PORT: u16 = 6665;
/// Size of what a server sends when a client connects, bytes.
pub const BANNER_LEN: usize = 32;
/// The text that it begins with; the version follows.
pub const BANNER: &str = "Player v.";

/// All interfaces, by their codes.
pub const INTERFACES: [&Interface; 20] = [
    &player::INTERFACE,
    &power::INTERFACE,
    &gripper::INTERFACE,
    &position2d::INTERFACE,
    &sonar::INTERFACE,
    &laser::INTERFACE,
    &bumper::INTERFACE,
    &ir::INTERFACE,
    &localize::INTERFACE,
    &simulation::INTERFACE,
    &camera::INTERFACE,
    &map::INTERFACE,
    &planner::INTERFACE,
    &log::INTERFACE,
    &opaque::INTERFACE,
    &actarray::INTERFACE,
    &limb::INTERFACE,
    &imu::INTERFACE,
    &ranger::INTERFACE,
    &vectormap::INTERFACE,
];

/// The interface with this code.
pub fn interface(code: u16) -> Option<&'static Interface> {
    INTERFACES.into_iter().find(|interface| interface.code == code)
}
