//! Command 12: outputs, external power, LEDs.

use bitflags::bitflags;

use super::{display_flags, put};

bitflags! {
    /// Outputs that are on. An LED with both colours is orange.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub struct Outputs: u16 {
        /// Digital output 0.
        const OUTPUT_0 = 0x0001;
        /// Digital output 1.
        const OUTPUT_1 = 0x0002;
        /// Digital output 2.
        const OUTPUT_2 = 0x0004;
        /// Digital output 3.
        const OUTPUT_3 = 0x0008;
        /// External power, 3.3 V and 1 A.
        const POWER_3V3 = 0x0010;
        /// External power, 5 V and 1 A.
        const POWER_5V = 0x0020;
        /// External power, 12 V and 5 A.
        const POWER_12V_5A = 0x0040;
        /// External power, 12 V and 1.5 A.
        const POWER_12V_1A5 = 0x0080;
        /// LED 1, red.
        const LED_1_RED = 0x0100;
        /// LED 1, green.
        const LED_1_GREEN = 0x0200;
        /// LED 2, red.
        const LED_2_RED = 0x0400;
        /// LED 2, green.
        const LED_2_GREEN = 0x0800;
        /// All digital outputs.
        const DIGITAL = 0x000f;
        /// All external power.
        const POWER = 0x00f0;
        /// LED 1, both colours.
        const LED_1 = 0x0300;
        /// LED 2, both colours.
        const LED_2 = 0x0c00;
    }
}
display_flags!(Outputs);

/// The state at power-up: external power on, everything else off.
impl Default for Outputs {
    fn default() -> Self {
        Self::POWER
    }
}

impl Outputs {
    /// Number of the sub-payload.
    pub const ID: u8 = 12;

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
