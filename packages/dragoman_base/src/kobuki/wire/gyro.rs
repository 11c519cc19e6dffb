//! Sub-payload 13: raw readings of the gyro.

use std::fmt;

/// Maximum number of readings of a frame; the base sends two or three (100 Hz in a cycle of 50 Hz).
pub const MAX_GYRO_READINGS: usize = 8;

/// Resolution in rad/s per digit: 0.00875 deg/s.
const RADIANS_PER_DIGIT: f64 = 0.00875 * std::f64::consts::PI / 180.0;

/// Raw readings of the gyro, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RawGyro {
    /// Counts the readings; wraps.
    pub frame_id: u8,
    count: u8,
    /// 0 beyond the count.
    digits: [[i16; 3]; MAX_GYRO_READINGS],
}

impl RawGyro {
    /// Number of the sub-payload.
    pub const ID: u8 = 13;

    /// Readings in the sensor's axes, 0.00875 deg/s per digit; `None` if there are more than [`MAX_GYRO_READINGS`].
    pub fn new(frame_id: u8, readings: &[[i16; 3]]) -> Option<Self> {
        let mut digits = [[0; 3]; MAX_GYRO_READINGS];
        digits.get_mut(..readings.len())?.copy_from_slice(readings);
        Some(Self { frame_id, count: readings.len() as u8, digits })
    }

    /// Reads the sub-payload's data; `None` unless its length agrees with its count, for complete and not too many
    /// readings.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let (&[frame_id, words], rest) = data.split_first_chunk::<2>()?;
        let (readings, []) = rest.as_chunks::<6>() else { return None };
        if usize::from(words) != 3 * readings.len() {
            return None;
        }
        let mut digits = [[0; 3]; MAX_GYRO_READINGS];
        let places = digits.get_mut(..readings.len())?;
        for (place, &[x0, x1, y0, y1, z0, z1]) in places.iter_mut().zip(readings) {
            *place = [[x0, x1], [y0, y1], [z0, z1]].map(i16::from_le_bytes);
        }
        Some(Self { frame_id, count: readings.len() as u8, digits })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[Self::ID, 2 + 6 * self.count, self.frame_id, 3 * self.count]);
        for digit in self.readings().iter().flatten() {
            out.extend_from_slice(&digit.to_le_bytes());
        }
    }

    /// The readings in the sensor's axes, 0.00875 deg/s per digit.
    pub fn readings(&self) -> &[[i16; 3]] {
        self.digits.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// Rates about the base's x, y and z, rad/s. The sensor is mounted a quarter turn counterclockwise about z.
    pub fn rates(&self) -> impl Iterator<Item = [f64; 3]> + '_ {
        let rate = |digit| f64::from(digit) * RADIANS_PER_DIGIT;
        self.readings().iter().map(move |&[x, y, z]| [-rate(y), rate(x), rate(z)])
    }
}

impl fmt::Display for RawGyro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gyro {}: {:?}", self.frame_id, self.readings())
    }
}
