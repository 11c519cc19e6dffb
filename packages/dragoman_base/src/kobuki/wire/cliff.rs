//! Sub-payload 5: readings of the cliff sensors.

use std::fmt;

use super::put;

/// Readings of the cliff sensors: counts of the converter, larger when the floor is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct CliffReadings {
    pub right: u16,
    /// The one in front.
    pub center: u16,
    pub left: u16,
}

impl CliffReadings {
    /// Number of the sub-payload.
    pub const ID: u8 = 5;

    /// Reads the sub-payload's data; `None` unless it has six bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [r0, r1, c0, c1, l0, l1] = *<&[u8; 6]>::try_from(data).ok()?;
        let word = u16::from_le_bytes;
        Some(Self { right: word([r0, r1]), center: word([c0, c1]), left: word([l0, l1]) })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let ([r0, r1], [c0, c1]) = (self.right.to_le_bytes(), self.center.to_le_bytes());
        let [l0, l1] = self.left.to_le_bytes();
        put(out, Self::ID, [r0, r1, c0, c1, l0, l1]);
    }
}

impl fmt::Display for CliffReadings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cliff readings: right {}, center {}, left {}", self.right, self.center, self.left)
    }
}
