//! Descriptions of wire protocols.
//!
//! A description is a YAML file with the framing and the messages of a protocol, their fields, units, answers and ROS
//! names. `protocols/` has those of Dragoman's protocols, `machines/` those of machines that become ROS 2 nodes by them,
//! `other_machines/` those of machines that Dragoman does not support; they show that the format is general enough. The README explains the format.
//!
//! | module | content |
//! | --- | --- |
//! | [`model`] | a description, read and checked |
//! | [`kind`] | types of fields: `f32[3]`, `text[u8]` |
//! | [`bytes`] | reads and writes the bytes of messages, for generated code |
//! | [`rust`] | generates Rust from a description, for build scripts |
//! | [`clients`] | the wire layer of clients in other languages |
//! | [`page`] | a page of documentation from a description |
//! | [`schema`] | the form of descriptions, for editors |
//! | [`skeleton`] | a description to begin with, from a few answers |
//! | [`dbc`] | DBC files of CAN buses, and the descriptions that are made of them |
//! | [`generate`] | C and Python for programs that talk to a machine, from a description |
//! | [`codec`] | decodes and encodes the messages of a description that is read at run time |
//! | [`cut`] | cuts a stream of bytes into frames |
//! | [`checksum`], [`expression`] | check sums by name; expressions over the fields of a message |
//!
//! ```
//! let text = "
//! protocol: lamp
//! title: A lamp on a serial line
//! source: its manual, page 3
//! link: { serial: 9600 }
//! frame:
//!   cut: { line: \"\\n\" }
//!   fields: [{ name: command, type: u8, is: code }, { name: data, is: body }]
//! messages:
//!   - { name: dim, code: 7, meaning: set the brightness, fields: [{ name: level, type: u8, unit: '%' }] }
//! ";
//! let lamp = dragoman_protocol::Protocol::read(text).unwrap();
//! assert_eq!(lamp.messages[0].fields[0].kind().to_string(), "u8");
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

/// The descriptions of Dragoman's protocols.
pub mod protocols {
    /// The protocol of the Apolo simulator.
    pub const APOLO: &str = include_str!("../protocols/apolo.yaml");
    /// The 31-byte arm protocol.
    pub const ARM31: &str = include_str!("../protocols/arm31.yaml");
    /// The protocol of Neobotix' PlatformCtrl.
    pub const NEOBOTIX: &str = include_str!("../protocols/neobotix.yaml");
    /// The protocol of Player.
    pub const PLAYER: &str = include_str!("../protocols/player.yaml");
}

pub mod bytes;
pub mod checksum;
pub mod clients;
pub mod codec;
pub mod cut;
pub mod dbc;
pub mod expression;
pub mod generate;
pub mod kind;
pub mod model;
pub mod page;
pub mod rust;
pub mod schema;
pub mod skeleton;

pub use kind::{Base, Count, Kind};
pub use model::{Field, Message, Protocol, ProtocolError};
