//! Command 9: requests data that the base does not send in every frame.

use bitflags::bitflags;

use super::{display_flags, put};

bitflags! {
    /// The requested data; sent once.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct RequestFlags: u16 {
        /// [`HardwareVersion`](super::HardwareVersion).
        const HARDWARE_VERSION = 0x01;
        /// [`FirmwareVersion`](super::FirmwareVersion).
        const FIRMWARE_VERSION = 0x02;
        /// [`UniqueDeviceId`](super::UniqueDeviceId).
        const UNIQUE_DEVICE_ID = 0x08;
    }
}
display_flags!(RequestFlags);

impl RequestFlags {
    /// Number of the sub-payload.
    pub const ID: u8 = 9;

    /// Reads the sub-payload's data; `None` unless it has two bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let bytes = <[u8; 2]>::try_from(data).ok()?;
        Some(Self::from_bits_retain(u16::from_le_bytes(bytes)))
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, Self::ID, self.bits().to_le_bytes());
    }
}
