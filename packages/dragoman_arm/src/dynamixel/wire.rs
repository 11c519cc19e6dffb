//! The bytes on a line of Dynamixel servos, protocol 1.0 (8N1, half duplex), in both directions.
//!
//! ```text
//! FF FF | id | length | instruction, or error flags | parameters.. | checksum
//!                      '-------------- length - 1 ---------------'
//! ```
//!
//! The checksum is the inverted low byte of the sum of all bytes after the header. Numbers are little-endian. The
//! master sends requests; the servo with that id answers, and broadcasts ([`BROADCAST`]) are not answered. Source: the
//! public description of the protocol and of the control tables. Quantities in a servo's own units say so in their
//! names.
//!
//! | file | holds |
//! | --- | --- |
//! | [`packet`] | packets in a stream of bytes: [`Decoder`], [`encode`](packet::encode) |
//! | `instruction` | [`Instruction`]: packets from the master |
//! | `status` | [`Status`] with its [`ErrorFlags`]: packets from a servo |
//! | [`table`] | the control table: [`Register`](table::Register), blocks of it, [`Model`] and its units |

mod instruction;
pub mod packet;
mod status;
pub mod table;

pub use dragoman_io::serial::FrameStatistics as Statistics;
pub use instruction::{DecodeError, Instruction, SyncWrite, sync_write_words};
pub use packet::{BROADCAST, Decoder, MAX_ID, Packet, PacketLength};
pub use status::{ErrorFlags, Status};
pub use table::Model;

#[cfg(test)]
mod tests;
