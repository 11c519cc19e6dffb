//! What a master sends.

use std::slice::ChunksExact;

use super::packet::{self, BROADCAST, Packet, PacketLength};

/// An instruction for a servo, or for all.
///
/// There is none for the reset to the factory's settings (6): it takes a servo's id, so nobody here sends it, and a simulated servo
/// refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction<'a> {
    /// Answer.
    Ping,
    /// Tell what the control table holds.
    Read {
        /// Where.
        address: u8,
        /// How many bytes.
        length: u8,
    },
    /// Write into the control table.
    Write {
        /// Where.
        address: u8,
        /// What.
        data: &'a [u8],
    },
    /// As [`Instruction::Write`], but wait for [`Instruction::Action`].
    RegWrite {
        /// Where.
        address: u8,
        /// What.
        data: &'a [u8],
    },
    /// Do what was written for later.
    Action,
    /// Write at the same place of several servos. Nobody answers.
    SyncWrite(SyncWrite<'a>),
}

/// What is written into several servos at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncWrite<'a> {
    /// Where.
    pub address: u8,
    /// Bytes for each servo; at least one.
    pub length: u8,
    /// An id and so many bytes, for each servo.
    entries: &'a [u8],
}

impl<'a> SyncWrite<'a> {
    /// Servos and what is for each.
    pub fn entries(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        let chunks: ChunksExact<'a, u8> = self.entries.chunks_exact(1 + usize::from(self.length));
        chunks.filter_map(|chunk| chunk.split_first().map(|(id, data)| (*id, data)))
    }
}

/// Why a packet with a right checksum is no instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// None that is known here, the reset to the factory's settings among them.
    #[error("instruction {0:#04x} is unknown")]
    Unknown(u8),
    /// It cannot have so many parameters.
    #[error("instruction {kind:#04x} cannot have {parameters} bytes of parameters")]
    Length {
        /// Its number.
        kind: u8,
        /// How many it has.
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
    /// Reads a packet.
    ///
    /// # Errors
    /// Unknown, or of wrong length.
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

    /// Appends a packet for servo `id`; what is for several goes to all.
    ///
    /// # Errors
    /// More data than fit; `out` is as before then.
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

/// Appends a packet that writes a number of two bytes at the same place of several servos.
///
/// # Errors
/// More servos than fit, which are 83; `out` is as before then.
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
