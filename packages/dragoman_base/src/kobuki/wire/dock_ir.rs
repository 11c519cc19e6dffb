//! Sub-payload 3: infrared signals of the docking station.

use std::fmt;

use bitflags::bitflags;

use super::{display_flags, put};

bitflags! {
    /// Regions in front of the docking station whose signal a receiver detects.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct DockSignals: u8 {
        /// Near, to the left.
        const NEAR_LEFT = 0x01;
        /// Near, in the middle.
        const NEAR_CENTER = 0x02;
        /// Near, to the right.
        const NEAR_RIGHT = 0x04;
        /// Far, in the middle.
        const FAR_CENTER = 0x08;
        /// Far, to the left.
        const FAR_LEFT = 0x10;
        /// Far, to the right.
        const FAR_RIGHT = 0x20;
    }
}
display_flags!(DockSignals);

/// Signals of the docking station at the three receivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DockIr {
    /// The right receiver.
    pub right: DockSignals,
    /// The one in the middle.
    pub center: DockSignals,
    /// The left receiver.
    pub left: DockSignals,
}

impl DockIr {
    /// Number of the sub-payload.
    pub const ID: u8 = 3;

    /// Reads the sub-payload's data; `None` unless it has three bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [right, center, left] = <&[u8; 3]>::try_from(data).ok()?.map(DockSignals::from_bits_retain);
        Some(Self { right, center, left })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, Self::ID, [self.right.bits(), self.center.bits(), self.left.bits()]);
    }
}

impl fmt::Display for DockIr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dock: right {}; center {}; left {}", self.right, self.center, self.left)
    }
}
