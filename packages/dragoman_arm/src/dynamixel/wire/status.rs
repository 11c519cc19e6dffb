//! Packets from a servo.

use std::fmt;

use super::packet::{self, Packet, PacketLength};

bitflags::bitflags! {
    /// Errors of a servo or of the last instruction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ErrorFlags: u8 {
        /// The supply voltage is outside the limits.
        const INPUT_VOLTAGE = 1;
        /// The goal is outside the servo's angle limits; it was not accepted.
        const ANGLE_LIMIT = 2;
        /// The temperature is above the limit.
        const OVERHEATING = 4;
        /// A value is outside the range of its register; it was not accepted.
        const RANGE = 8;
        /// The instruction's checksum is wrong.
        const CHECKSUM = 16;
        /// The load exceeds the torque limit.
        const OVERLOAD = 32;
        /// An unknown instruction, or an action without a registered write.
        const INSTRUCTION = 64;
    }
}

impl ErrorFlags {
    /// The flags about the servo itself, as opposed to the instruction.
    pub const CONDITIONS: Self = Self::INPUT_VOLTAGE.union(Self::OVERHEATING).union(Self::OVERLOAD);
}

/// The names of the set flags; "none" if empty.
impl fmt::Display for ErrorFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, _) in self.iter_names() {
            write!(f, "{separator}{}", name.to_lowercase().replace('_', " "))?;
            separator = ", ";
        }
        if separator.is_empty() { f.write_str("none") } else { Ok(()) }
    }
}

/// An answer of a servo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status<'a> {
    /// Id of the servo.
    pub id: u8,
    /// Its error flags.
    pub errors: ErrorFlags,
    /// The data read.
    pub parameters: &'a [u8],
}

impl<'a> Status<'a> {
    /// Decodes a packet. Every packet is valid; undefined bits are ignored.
    pub fn new(packet: &Packet<'a>) -> Self {
        let Packet { id, kind, parameters } = *packet;
        Self { id, errors: ErrorFlags::from_bits_truncate(kind), parameters }
    }

    /// Appends the packet.
    ///
    /// # Errors
    /// More parameters than fit; `out` is unchanged then.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), PacketLength> {
        packet::encode(out, self.id, self.errors.bits(), |out| out.extend_from_slice(self.parameters))
    }
}
