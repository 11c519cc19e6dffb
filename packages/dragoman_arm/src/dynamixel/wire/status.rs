//! What a servo answers.

use std::fmt;

use super::packet::{self, Packet, PacketLength};

bitflags::bitflags! {
    /// What is wrong with a servo, or was with an instruction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ErrorFlags: u8 {
        /// The supply's voltage is outside the limits.
        const INPUT_VOLTAGE = 1;
        /// A goal outside the servo's own limits; it was not taken.
        const ANGLE_LIMIT = 2;
        /// Hotter than its limit.
        const OVERHEATING = 4;
        /// A value outside the range of its register; it was not taken.
        const RANGE = 8;
        /// The instruction's checksum is wrong.
        const CHECKSUM = 16;
        /// The load is more than its torque.
        const OVERLOAD = 32;
        /// An unknown instruction, or an action without a registered write.
        const INSTRUCTION = 64;
    }
}

impl ErrorFlags {
    /// Those that tell of the servo itself, and not of the instruction.
    pub const CONDITIONS: Self = Self::INPUT_VOLTAGE.union(Self::OVERHEATING).union(Self::OVERLOAD);
}

/// Their names; "none" where there is none.
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

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status<'a> {
    /// From which servo.
    pub id: u8,
    /// What is wrong.
    pub errors: ErrorFlags,
    /// What was read.
    pub parameters: &'a [u8],
}

impl<'a> Status<'a> {
    /// Reads a packet. Every packet may be one; bits that have no meaning are passed over.
    pub fn new(packet: &Packet<'a>) -> Self {
        let Packet { id, kind, parameters } = *packet;
        Self { id, errors: ErrorFlags::from_bits_truncate(kind), parameters }
    }

    /// Appends the packet.
    ///
    /// # Errors
    /// More parameters than fit; `out` is as before then.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), PacketLength> {
        packet::encode(out, self.id, self.errors.bits(), |out| out.extend_from_slice(self.parameters))
    }
}
