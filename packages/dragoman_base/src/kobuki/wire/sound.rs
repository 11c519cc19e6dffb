//! Commands 3 and 4: sounds.

use std::fmt;

use super::put;

/// The unit of a sound's period, s.
const PERIOD_UNIT: f64 = 2.75e-6;

/// One tone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Sound {
    /// Period of the tone, 2.75 us; 0: silence.
    pub period_2_75_us: u16,
    pub duration_ms: u8,
}

impl Sound {
    /// Number of the sub-payload.
    pub const ID: u8 = 3;

    /// The tone's frequency, Hz; 0: silence.
    pub fn frequency(&self) -> f64 {
        match self.period_2_75_us {
            0 => 0.0,
            period => 1.0 / (f64::from(period) * PERIOD_UNIT),
        }
    }

    /// Reads the sub-payload's data; `None` unless it has three bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [p0, p1, duration_ms] = *<&[u8; 3]>::try_from(data).ok()?;
        Some(Self { period_2_75_us: u16::from_le_bytes([p0, p1]), duration_ms })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let [p0, p1] = self.period_2_75_us.to_le_bytes();
        put(out, Self::ID, [p0, p1, self.duration_ms]);
    }
}

impl fmt::Display for Sound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sound: {:.0} Hz for {} ms", self.frequency(), self.duration_ms)
    }
}

/// A melody of the base. The numbers are those of the protocol, and of `kobuki_ros_interfaces/msg/Sound`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum SoundSequence {
    /// Power-up.
    On = 0,
    /// Power-down.
    Off = 1,
    /// Charging.
    Recharge = 2,
    /// A button was pressed.
    Button = 3,
    Error = 4,
    /// Cleaning begins.
    CleaningStart = 5,
    CleaningEnd = 6,
}

impl SoundSequence {
    /// Number of the sub-payload.
    pub const ID: u8 = 4;
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::On,
        Self::Off,
        Self::Recharge,
        Self::Button,
        Self::Error,
        Self::CleaningStart,
        Self::CleaningEnd,
    ];

    /// The melody with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|sequence| *sequence as u8 == number)
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, Self::ID, [*self as u8]);
    }
}

impl fmt::Display for SoundSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::On => "sound sequence: on",
            Self::Off => "sound sequence: off",
            Self::Recharge => "sound sequence: recharge",
            Self::Button => "sound sequence: button",
            Self::Error => "sound sequence: error",
            Self::CleaningStart => "sound sequence: cleaning start",
            Self::CleaningEnd => "sound sequence: cleaning end",
        })
    }
}
