//! Desired state of LEDs, digital outputs and external power.

use crate::kobuki::wire::Outputs;

/// One of the two LEDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Led {
    /// LED 1.
    One,
    /// LED 2.
    Two,
}

/// Colour of an LED. The numbers are those of `kobuki_ros_interfaces/msg/Led`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum LedColor {
    /// Off.
    Black = 0,
    Green = 1,
    /// Orange: both colours.
    Orange = 2,
    Red = 3,
}

impl LedColor {
    /// The colour with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Black, Self::Green, Self::Orange, Self::Red].into_iter().find(|color| *color as u8 == number)
    }
}

/// Desired state of the outputs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wanted {
    pub(super) outputs: Outputs,
}

impl Wanted {
    pub(super) fn set_led(&mut self, led: Led, color: LedColor) {
        let (red, green) = match led {
            Led::One => (Outputs::LED_1_RED, Outputs::LED_1_GREEN),
            Led::Two => (Outputs::LED_2_RED, Outputs::LED_2_GREEN),
        };
        self.outputs.set(red, matches!(color, LedColor::Red | LedColor::Orange));
        self.outputs.set(green, matches!(color, LedColor::Green | LedColor::Orange));
    }

    pub(super) fn set_digital(&mut self, values: [Option<bool>; 4]) {
        self.set([Outputs::OUTPUT_0, Outputs::OUTPUT_1, Outputs::OUTPUT_2, Outputs::OUTPUT_3], values);
    }

    pub(super) fn set_power(&mut self, values: [Option<bool>; 4]) {
        let power = [Outputs::POWER_3V3, Outputs::POWER_5V, Outputs::POWER_12V_5A, Outputs::POWER_12V_1A5];
        self.set(power, values);
    }

    fn set(&mut self, outputs: [Outputs; 4], values: [Option<bool>; 4]) {
        for (output, value) in outputs.into_iter().zip(values) {
            if let Some(value) = value {
                self.outputs.set(output, value);
            }
        }
    }
}
