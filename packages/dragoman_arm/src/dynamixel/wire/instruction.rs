//! Packets from the master.

use std::slice::ChunksExact;

use super::packet::{self, BROADCAST, Packet, PacketLength};

/// An instruction to one servo, or to all.
///
/// The factory reset (6) is missing: it resets a servo's id, so the driver never sends it and a simulated servo refuses
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Instruction<'a> {
    /// Ping: requests an answer.
    Ping,
    /// Reads the control table.
    Read {
        /// First address.
        address: u8,
        /// Number of bytes.
        length: u8,
    },
    /// Writes to the control table.
    Write {
        /// First address.
        address: u8,
        data: &'a [u8],
    },
    /// As [`Instruction::Write`], but wait for [`Instruction::Action`].
    RegWrite {
        /// First address.
        address: u8,
        data: &'a [u8],
    },
    /// Executes the registered write.
    Action,
    /// Writes to the same address of several servos. Not answered.
    SyncWrite(SyncWrite<'a>),
}

/// Data of a sync write to several servos.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncWrite<'a> {
    /// First address.
    pub address: u8,
    /// Bytes per servo; at least one.
    pub length: u8,
    /// For each servo its id and the bytes.
    entries: &'a [u8],
}

impl<'a> SyncWrite<'a> {
    /// The servo ids with their data.
    pub fn entries(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let chunks: ChunksExact<'a, u8> = self.entries.chunks_exact(1 + usize::from(self.length));
        chunks.filter_map(|chunk| chunk.split_first().map(|(id, data)| (*id, data)))
    }
}

/// Error decoding an instruction from a valid packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An instruction that is not supported, including the factory reset.
    #[error("instruction {0:#04x} is unknown")]
    Unknown(u8),
    /// A number of parameters that does not fit the instruction.
    #[error("instruction {kind:#04x} cannot have {parameters} bytes of parameters")]
    Length {
        /// Code of the instruction.
        kind: u8,
        /// Number of parameter bytes.
        parameters: usize,
    },
}

const PING: u8 = 1;
const READ: u8 = 2;
const WRITE: u8 = 3;
const REG_WRITE: u8 = 4;
const ACTION: u8 = 5;
const SYNC_WRITE: u8 = 0x83;

impl<'a> Instruction<'a> {
    /// Decodes a packet.
    ///
    /// # Errors
    /// Unknown instruction, or wrong length.
    pub fn decode(packet: &Packet<'a>) -> Result<Self, DecodeError> {
        let Packet { kind, parameters, .. } = *packet;
        Ok(match (kind, parameters) {
            (PING, []) => Self::Ping,
            (READ, [address, length]) => Self::Read { address: *address, length: *length },
            (WRITE, [address, data @ ..]) if !data.is_empty() => Self::Write { address: *address, data },
            (REG_WRITE, [address, data @ ..]) if !data.is_empty() => {
                Self::RegWrite { address: *address, data }
            }
            (ACTION, []) => Self::Action,
            (SYNC_WRITE, [address, length, entries @ ..])
                if *length > 0 && entries.len() % (1 + usize::from(*length)) == 0 =>
            {
                Self::SyncWrite(SyncWrite { address: *address, length: *length, entries })
            }
            (PING | READ | WRITE | REG_WRITE | ACTION | SYNC_WRITE, parameters) => {
                return Err(DecodeError::Length { kind, parameters: parameters.len() });
            }
            _ => return Err(DecodeError::Unknown(kind)),
        })
    }

    /// Appends a packet for servo `id`; a sync write goes to all servos.
    ///
    /// # Errors
    /// More data than fit; `out` is unchanged then.
    pub fn encode(&self, out: &mut Vec<u8>, id: u8) -> Result<(), PacketLength> {
        match *self {
            Self::Ping => packet::encode(out, id, PING, |_| {}),
            Self::Read { address, length } => {
                packet::encode(out, id, READ, |out| out.extend_from_slice(&[address, length]))
            }
            Self::Write { address, data } => packet::encode(out, id, WRITE, |out| put(out, address, data)),
            Self::RegWrite { address, data } => {
                packet::encode(out, id, REG_WRITE, |out| put(out, address, data))
            }
            Self::Action => packet::encode(out, id, ACTION, |_| {}),
            Self::SyncWrite(SyncWrite { address, length, entries }) => {
                packet::encode(out, BROADCAST, SYNC_WRITE, |out| {
                    out.extend_from_slice(&[address, length]);
                    out.extend_from_slice(entries);
                })
            }
        }
    }
}

fn put(out: &mut Vec<u8>, address: u8, data: &[u8]) {
    out.push(address);
    out.extend_from_slice(data);
}

/// Appends a packet that writes a two-byte number to the same address of several servos.
///
/// # Errors
/// More servos than fit (83); `out` is unchanged then.
pub fn sync_write_words(
    out: &mut Vec<u8>,
    address: u8,
    words: impl IntoIterator<Item = (u8, u16)>,
) -> Result<(), PacketLength> {
    packet::encode(out, BROADCAST, SYNC_WRITE, |out| {
        out.extend_from_slice(&[address, 2]);
        for (id, word) in words {
            let [low, high] = word.to_le_bytes();
            out.extend_from_slice(&[id, low, high]);
        }
    })
}
