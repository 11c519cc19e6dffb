//! Feedback 21 and command 13: gains of the wheels' controller. Command 14 requests them.

use std::fmt;

use super::put;

/// Gains of the controller of the wheels' speed, PID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ControllerGains {
    /// 0: the base's default gains are used; 1: the user's.
    pub kind: u8,
    /// Proportional, in thousandths.
    pub p_thousandths: u32,
    /// Integral, in thousandths.
    pub i_thousandths: u32,
    /// Derivative, in thousandths.
    pub d_thousandths: u32,
}

impl ControllerGains {
    /// Number of the sub-payload as feedback.
    pub const ID: u8 = 21;
    /// Number of the sub-payload as a command, which sets them.
    pub const COMMAND_ID: u8 = 13;
    /// The base's default: P 100, I 0.1, D 2.
    pub const DEFAULT: Self =
        Self { kind: 0, p_thousandths: 100_000, i_thousandths: 100, d_thousandths: 2000 };

    /// Reads the sub-payload's data; `None` unless it has 13 bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let (kind, words) = data.split_first()?;
        let words = <&[[u8; 4]; 3]>::try_from(words.as_chunks::<4>().0).ok().filter(|_| words.len() == 12)?;
        let [p_thousandths, i_thousandths, d_thousandths] = words.map(u32::from_le_bytes);
        Some(Self { kind: *kind, p_thousandths, i_thousandths, d_thousandths })
    }

    /// Appends the sub-payload as feedback.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_as(Self::ID, out);
    }

    /// Appends the sub-payload as a command.
    pub fn encode_command(&self, out: &mut Vec<u8>) {
        self.encode_as(Self::COMMAND_ID, out);
    }

    fn encode_as(&self, id: u8, out: &mut Vec<u8>) {
        out.extend_from_slice(&[id, 13, self.kind]);
        for gain in [self.p_thousandths, self.i_thousandths, self.d_thousandths] {
            out.extend_from_slice(&gain.to_le_bytes());
        }
    }
}

impl fmt::Display for ControllerGains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = if self.kind == 0 { "default" } else { "user's" };
        let [p, i, d] =
            [self.p_thousandths, self.i_thousandths, self.d_thousandths].map(|gain| f64::from(gain) / 1000.0);
        write!(f, "gains: {whose}, P {p}, I {i}, D {d}")
    }
}

/// Asks for the [`ControllerGains`] in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GainsRequest {
    /// Meaning unknown; 0.
    pub reserved: u8,
}

impl GainsRequest {
    /// Number of the sub-payload.
    pub const ID: u8 = 14;

    /// Reads the sub-payload's data; `None` unless it has one byte.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [reserved] = *<&[u8; 1]>::try_from(data).ok()?;
        Some(Self { reserved })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put(out, Self::ID, [self.reserved]);
    }
}
