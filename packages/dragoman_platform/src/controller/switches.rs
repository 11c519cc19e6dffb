//! Switches: brakes, digital outputs, ultrasonic sensors.

use dragoman_neobotix::codes::Board;

use super::Refusal;

#[derive(Debug)]
pub(super) struct Switches {
    /// Whether the brakes of the right and the left drive are applied.
    pub(super) brakes: [bool; 2],
    /// Of the IO board and the relay board, one bit per channel.
    pub(super) digital_outputs: [u16; 2],
    /// The enabled ultrasonic sensors, one bit each.
    pub(super) ultrasonics: u16,
}

impl Default for Switches {
    fn default() -> Self {
        Self { brakes: [true; 2], digital_outputs: [0; 2], ultrasonics: 0 }
    }
}

impl Switches {
    pub(super) fn set_output(&mut self, board: Board, channel: u8, high: bool) -> Result<(), Refusal> {
        let bit = 1_u16.checked_shl(channel.into()).ok_or(Refusal::UnknownChannel(channel))?;
        let [io, relay] = &mut self.digital_outputs;
        let outputs = match board {
            Board::Io => io,
            Board::Relay => relay,
        };
        *outputs = if high { *outputs | bit } else { *outputs & !bit };
        Ok(())
    }

    /// Ranges of the ultrasonic sensors, m; NaN for those that are not enabled.
    pub(super) fn enabled(&self, ranges: &[f64]) -> Vec<f64> {
        let enabled = |index: usize| index < 16 && self.ultrasonics & (1 << index) != 0;
        let ranges = ranges.iter().enumerate();
        ranges.map(|(index, &range)| if enabled(index) { range } else { f64::NAN }).collect()
    }
}
