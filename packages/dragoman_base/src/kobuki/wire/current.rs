//! Sub-payload 6: currents of the wheels' motors.

use std::fmt;

use super::put;

/// Currents of the wheels' motors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WheelCurrents {
    /// The left one, 10 mA.
    pub left_centiamperes: u8,
    /// The right one, 10 mA.
    pub right_centiamperes: u8,
}

impl WheelCurrents {
    /// Number of the sub-payload.
    pub const ID: u8 = 6;

    /// Reads the sub-payload's data; `None` unless it has two bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [left_centiamperes, right_centiamperes] = *<&[u8; 2]>::try_from(data).ok()?;
        Some(Self { left_centiamperes, right_centiamperes })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, Self::ID, [self.left_centiamperes, self.right_centiamperes]);
    }
}

impl fmt::Display for WheelCurrents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amperes = |hundredths: u8| f64::from(hundredths) / 100.0;
        let (left, right) = (amperes(self.left_centiamperes), amperes(self.right_centiamperes));
        write!(f, "currents: left {left:.2} A, right {right:.2} A")
    }
}
