//! Sub-payload 16: general purpose inputs.

use std::fmt;

use bitflags::bitflags;

use super::display_flags;

bitflags! {
    /// Digital inputs that are high.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct DigitalInputs: u16 {
        /// Input 0.
        const INPUT_0 = 0x01;
        /// Input 1.
        const INPUT_1 = 0x02;
        /// Input 2.
        const INPUT_2 = 0x04;
        /// Input 3.
        const INPUT_3 = 0x08;
    }
}
display_flags!(DigitalInputs);

/// State of the expansion port: four digital and four analog inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GeneralPurposeInput {
    /// Digital inputs that are high.
    pub digital: DigitalInputs,
    /// Counts of the converter, 12 bits for 0 to 3.3 V.
    pub analog: [u16; 4],
    /// Meaning unknown.
    pub reserved: [u16; 3],
}

impl GeneralPurposeInput {
    /// Number of the sub-payload.
    pub const ID: u8 = 16;

    /// Reads the sub-payload's data; `None` unless it has 16 bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let words = <&[[u8; 2]; 8]>::try_from(data.as_chunks::<2>().0).ok().filter(|_| data.len() == 16)?;
        let [digital, a, b, c, d, x, y, z] = words.map(u16::from_le_bytes);
        let digital = DigitalInputs::from_bits_retain(digital);
        Some(Self { digital, analog: [a, b, c, d], reserved: [x, y, z] })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[Self::ID, 16]);
        for word in [self.digital.bits()].iter().chain(&self.analog).chain(&self.reserved) {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// Voltages of the analog inputs, V.
    pub fn volts(&self) -> [f64; 4] {
        self.analog.map(|counts| 3.3 * f64::from(counts) / 4095.0)
    }
}

impl fmt::Display for GeneralPurposeInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inputs: high {}; analog {:?}", self.digital, self.analog)
    }
}
