//! Sub-payload 4: heading and its rate, from the gyro.

use std::fmt;

use super::put;

/// Heading and its rate, from the gyro, counterclockwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Inertia {
    /// Heading, 0.01 deg, -18000..=18000; relative to the heading at power-up.
    pub angle_centidegrees: i16,
    /// Its rate, 0.01 deg/s.
    pub rate_centidegrees_per_s: i16,
    /// Meaning unknown.
    pub reserved: [u8; 3],
}

impl Inertia {
    /// Number of the sub-payload.
    pub const ID: u8 = 4;

    /// Reads the sub-payload's data; `None` unless it has seven bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [a0, a1, r0, r1, reserved @ ..] = *<&[u8; 7]>::try_from(data).ok()?;
        Some(Self {
            angle_centidegrees: i16::from_le_bytes([a0, a1]),
            rate_centidegrees_per_s: i16::from_le_bytes([r0, r1]),
            reserved,
        })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let [a0, a1] = self.angle_centidegrees.to_le_bytes();
        let [r0, r1] = self.rate_centidegrees_per_s.to_le_bytes();
        let [x, y, z] = self.reserved;
        put(out, Self::ID, [a0, a1, r0, r1, x, y, z]);
    }

    /// Heading in rad, -pi to pi.
    pub fn angle(&self) -> f64 {
        f64::from(self.angle_centidegrees).to_radians() / 100.0
    }

    /// Its rate, rad/s.
    pub fn rate(&self) -> f64 {
        f64::from(self.rate_centidegrees_per_s).to_radians() / 100.0
    }
}

impl fmt::Display for Inertia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let degrees = |hundredths: i16| f64::from(hundredths) / 100.0;
        let (angle, rate) = (degrees(self.angle_centidegrees), degrees(self.rate_centidegrees_per_s));
        write!(f, "inertia: {angle:.2} deg, {rate:.2} deg/s")
    }
}
