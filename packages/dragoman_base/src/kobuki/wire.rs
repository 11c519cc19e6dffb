//! The bytes on a Kobuki's serial line (115200 baud, 8N1), in both directions.
//!
//! ```text
//! AA 55 | length | id length data.. | id length data.. | ... | xor of everything from the first length on
//!                  '--- sub-payload ---'
//! ```
//!
//! All numbers are little-endian. The base sends one frame of feedback every 20 ms; a frame of commands may hold
//! several commands. Sources: TurtleBot thesis, 2.1 and 3.6.1, and the protocol's public description. Quantities in
//! legacy units say so in their names.
//!
//! | file | holds |
//! | --- | --- |
//! | [`frame`] | frames in a stream of bytes: [`Decoder`], [`encode`](frame::encode), [`SubPayloads`] |
//! | `feedback` | [`Feedback`]: one sub-payload from the base, of any kind |
//! | `command` | [`Command`]: one sub-payload to the base, of any kind |
//! | `core` | 1: [`CoreSensors`] with its flags |
//! | `dock_ir`, `inertia`, `cliff`, `current`, `gyro`, `input` | 3, 4, 5, 6, 13, 16: the other sensors |
//! | `version`, `unique_id` | 10, 11, 19: identity of the base |
//! | `gains` | feedback 21, commands 13 and 14: gains of the wheels' controller |
//! | `base_control`, `sound`, `request`, `output` | commands 1, 3 and 4, 9, 12 |

mod base_control;
mod cliff;
mod command;
mod core;
mod current;
mod dock_ir;
mod feedback;
pub mod frame;
mod gains;
mod gyro;
mod inertia;
mod input;
mod output;
mod request;
mod sound;
mod unique_id;
mod version;

pub use base_control::BaseControl;
pub use cliff::CliffReadings;
pub use command::Command;
pub use core::{Bumpers, Buttons, Charger, Charging, Cliffs, CoreSensors, Overcurrents, WheelDrops};
pub use current::WheelCurrents;
pub use dock_ir::{DockIr, DockSignals};
pub use dragoman_io::serial::FrameStatistics as Statistics;
pub use feedback::Feedback;
pub use frame::{Decoder, SubPayloads};
pub use gains::{ControllerGains, GainsRequest};
pub use gyro::{MAX_GYRO_READINGS, RawGyro};
pub use inertia::Inertia;
pub use input::{DigitalInputs, GeneralPurposeInput};
pub use output::Outputs;
pub use request::RequestFlags;
pub use sound::{Sound, SoundSequence};
pub use unique_id::UniqueDeviceId;
pub use version::{FirmwareVersion, HardwareVersion, Version};

/// Error decoding a sub-payload of a frame with a valid checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum DecodeError {
    /// The frame ends before the sub-payload does. It is the last of the frame.
    #[error("sub-payload {id} declares {declared} bytes, but {present} are left in the frame")]
    Truncated {
        /// Id of the sub-payload.
        id: u8,
        /// Its declared length.
        declared: u8,
        /// Remaining bytes of the frame.
        present: u8,
    },
    /// One byte, an id without length, is left at the end of the frame.
    #[error("sub-payload {id} has no length")]
    NoLength {
        /// Id of the sub-payload.
        id: u8,
    },
    /// An unknown id.
    #[error("unknown sub-payload {id} of {length} bytes")]
    Unknown { id: u8, length: u8 },
    /// A length that does not fit the id.
    #[error("sub-payload {id} cannot have {length} bytes")]
    Length { id: u8, length: u8 },
    /// A value that is not defined for the id.
    #[error("sub-payload {id} cannot hold the value {value}")]
    Value { id: u8, value: u16 },
}

/// Appends a sub-payload.
fn put<const LENGTH: usize>(out: &mut Vec<u8>, id: u8, data: [u8; LENGTH]) {
    const { assert!(LENGTH < 256) };
    out.extend_from_slice(&[id, LENGTH as u8]);
    out.extend_from_slice(&data);
}

/// Writes the names of the set flags, or "none".
fn write_flags<F: bitflags::Flags>(f: &mut std::fmt::Formatter<'_>, flags: &F) -> std::fmt::Result {
    let mut separator = "";
    for (name, _) in flags.iter_names() {
        write!(f, "{separator}{}", name.to_lowercase().replace('_', " "))?;
        separator = ", ";
    }
    if separator.is_empty() { f.write_str("none") } else { Ok(()) }
}

/// Display of flags, by their names.
macro_rules! display_flags {
    ($($flags:ty),+) => {$(
        impl std::fmt::Display for $flags {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::kobuki::wire::write_flags(f, self)
            }
        }
    )+};
}
use display_flags;

#[cfg(test)]
mod tests;
