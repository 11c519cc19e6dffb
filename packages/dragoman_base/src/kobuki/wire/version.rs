//! Sub-payloads 10 and 11: versions of hardware and firmware.

use std::fmt;

use super::put;

/// A version. Early firmware sends it as a decimal number in two bytes, later firmware packs it into four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    /// `0x00MMmmpp`: major, minor, patch.
    Packed(u32),
    /// A decimal number, such as 104 for 1.0.4.
    Decimal(u16),
}

/// Decimal versions with a special meaning: (kind, value sent, meaning). 123 is the firmware 1.0.0.
const DECIMAL: [(u8, u16, u32); 6] = [
    (HardwareVersion::ID, 104, 0x01_00_04),
    (FirmwareVersion::ID, 123, 0x01_00_00),
    (FirmwareVersion::ID, 110, 0x01_01_00),
    (FirmwareVersion::ID, 10100, 0x01_01_00),
    (FirmwareVersion::ID, 111, 0x01_01_01),
    (FirmwareVersion::ID, 10101, 0x01_01_01),
];

impl Version {
    /// A version of these parts.
    pub fn new(major: u8, minor: u8, patch: u8) -> Self {
        Self::Packed(u32::from_be_bytes([0, major, minor, patch]))
    }

    fn decode(data: &[u8]) -> Option<Self> {
        match *data {
            [a, b] => Some(Self::Decimal(u16::from_le_bytes([a, b]))),
            [a, b, c, d] => Some(Self::Packed(u32::from_le_bytes([a, b, c, d]))),
            _ => None,
        }
    }

    fn encode(self, id: u8, out: &mut Vec<u8>) {
        match self {
            Self::Packed(packed) => put(out, id, packed.to_le_bytes()),
            Self::Decimal(decimal) => put(out, id, decimal.to_le_bytes()),
        }
    }

    /// Major, minor and patch; `None` for an unknown decimal number.
    fn parts(self, id: u8) -> Option<[u8; 3]> {
        let packed = match self {
            Self::Packed(packed) => packed,
            Self::Decimal(decimal) => DECIMAL.iter().find(|row| (row.0, row.1) == (id, decimal))?.2,
        };
        let [_, major, minor, patch] = packed.to_be_bytes();
        Some([major, minor, patch])
    }
}

macro_rules! version {
    ($name:ident, $id:literal, $what:literal) => {
        #[doc = concat!("The version of the ", $what, ".")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name(pub Version);

        impl $name {
            /// Number of the sub-payload.
            pub const ID: u8 = $id;

            /// Reads the sub-payload's data; `None` unless it has two or four bytes.
            pub fn decode(data: &[u8]) -> Option<Self> {
                Version::decode(data).map(Self)
            }

            /// Appends the sub-payload.
            pub fn encode(&self, out: &mut Vec<u8>) {
                self.0.encode(Self::ID, out);
            }

            /// Major, minor and patch; `None` for an unknown decimal number.
            pub fn parts(&self) -> Option<[u8; 3]> {
                self.0.parts(Self::ID)
            }
        }

        /// "1.2.3", or the decimal number if unknown.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match (self.parts(), self.0) {
                    (Some([major, minor, patch]), _) => write!(f, "{major}.{minor}.{patch}"),
                    (None, Version::Packed(number)) => write!(f, "{number}"),
                    (None, Version::Decimal(number)) => write!(f, "{number}"),
                }
            }
        }
    };
}
version!(HardwareVersion, 10, "hardware");
version!(FirmwareVersion, 11, "firmware");
