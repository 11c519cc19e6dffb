//! Sub-payloads from the base.

use std::fmt;

use super::{
    CliffReadings, ControllerGains, CoreSensors, DecodeError, DockIr, FirmwareVersion, GeneralPurposeInput,
    HardwareVersion, Inertia, RawGyro, SubPayloads, UniqueDeviceId, WheelCurrents,
};

/// One sub-payload from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the types say what they are")]
pub enum Feedback {
    Core(CoreSensors),
    DockIr(DockIr),
    Inertia(Inertia),
    Cliffs(CliffReadings),
    Currents(WheelCurrents),
    HardwareVersion(HardwareVersion),
    FirmwareVersion(FirmwareVersion),
    RawGyro(RawGyro),
    Input(GeneralPurposeInput),
    UniqueDeviceId(UniqueDeviceId),
    ControllerGains(ControllerGains),
}

impl Feedback {
    /// The sub-payloads of a frame's payload, with errors for those that cannot be decoded; all others are returned.
    pub fn read(payload: &[u8]) -> impl Iterator<Item = Result<Self, DecodeError>> + '_ {
        SubPayloads::new(payload).map(|part| part.and_then(|(id, data)| Self::decode(id, data)))
    }

    /// Reads a sub-payload's data.
    ///
    /// # Errors
    /// Unknown, or of wrong length.
    pub fn decode(id: u8, data: &[u8]) -> Result<Self, DecodeError> {
        let length = u8::try_from(data.len()).unwrap_or(u8::MAX);
        let feedback = match id {
            CoreSensors::ID => CoreSensors::decode(data).map(Self::Core),
            DockIr::ID => DockIr::decode(data).map(Self::DockIr),
            Inertia::ID => Inertia::decode(data).map(Self::Inertia),
            CliffReadings::ID => CliffReadings::decode(data).map(Self::Cliffs),
            WheelCurrents::ID => WheelCurrents::decode(data).map(Self::Currents),
            HardwareVersion::ID => HardwareVersion::decode(data).map(Self::HardwareVersion),
            FirmwareVersion::ID => FirmwareVersion::decode(data).map(Self::FirmwareVersion),
            RawGyro::ID => RawGyro::decode(data).map(Self::RawGyro),
            GeneralPurposeInput::ID => GeneralPurposeInput::decode(data).map(Self::Input),
            UniqueDeviceId::ID => UniqueDeviceId::decode(data).map(Self::UniqueDeviceId),
            ControllerGains::ID => ControllerGains::decode(data).map(Self::ControllerGains),
            _ => return Err(DecodeError::Unknown { id, length }),
        };
        feedback.ok_or(DecodeError::Length { id, length })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Core(part) => part.encode(out),
            Self::DockIr(part) => part.encode(out),
            Self::Inertia(part) => part.encode(out),
            Self::Cliffs(part) => part.encode(out),
            Self::Currents(part) => part.encode(out),
            Self::HardwareVersion(part) => part.encode(out),
            Self::FirmwareVersion(part) => part.encode(out),
            Self::RawGyro(part) => part.encode(out),
            Self::Input(part) => part.encode(out),
            Self::UniqueDeviceId(part) => part.encode(out),
            Self::ControllerGains(part) => part.encode(out),
        }
    }
}

impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(part) => part.fmt(f),
            Self::DockIr(part) => part.fmt(f),
            Self::Inertia(part) => part.fmt(f),
            Self::Cliffs(part) => part.fmt(f),
            Self::Currents(part) => part.fmt(f),
            Self::HardwareVersion(part) => write!(f, "hardware {part}"),
            Self::FirmwareVersion(part) => write!(f, "firmware {part}"),
            Self::RawGyro(part) => part.fmt(f),
            Self::Input(part) => part.fmt(f),
            Self::UniqueDeviceId(part) => write!(f, "unique id {part}"),
            Self::ControllerGains(part) => part.fmt(f),
        }
    }
}
