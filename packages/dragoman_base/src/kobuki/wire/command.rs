//! Sub-payloads to the base.

use std::fmt;

use super::{
    BaseControl, ControllerGains, DecodeError, GainsRequest, Outputs, RequestFlags, Sound, SoundSequence,
    SubPayloads, frame,
};

/// One sub-payload to the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the types say what they are")]
pub enum Command {
    BaseControl(BaseControl),
    Sound(Sound),
    SoundSequence(SoundSequence),
    RequestExtra(RequestFlags),
    SetOutputs(Outputs),
    SetControllerGains(ControllerGains),
    RequestControllerGains(GainsRequest),
}

impl Command {
    /// The sub-payloads of a frame's payload, with errors for those that cannot be decoded; all others are returned.
    pub fn read(payload: &[u8]) -> impl Iterator<Item = Result<Self, DecodeError>> + '_ {
        SubPayloads::new(payload).map(|part| part.and_then(|(id, data)| Self::decode(id, data)))
    }

    /// Reads a sub-payload's data.
    ///
    /// # Errors
    /// Unknown, of wrong length, or with an invalid value.
    pub fn decode(id: u8, data: &[u8]) -> Result<Self, DecodeError> {
        let length = u8::try_from(data.len()).unwrap_or(u8::MAX);
        let command = match (id, data) {
            (BaseControl::ID, _) => BaseControl::decode(data).map(Self::BaseControl),
            (Sound::ID, _) => Sound::decode(data).map(Self::Sound),
            (SoundSequence::ID, &[number]) => {
                let value = DecodeError::Value { id, value: u16::from(number) };
                return SoundSequence::from_number(number).map(Self::SoundSequence).ok_or(value);
            }
            (SoundSequence::ID, _) => None,
            (RequestFlags::ID, _) => RequestFlags::decode(data).map(Self::RequestExtra),
            (Outputs::ID, _) => Outputs::decode(data).map(Self::SetOutputs),
            (ControllerGains::COMMAND_ID, _) => ControllerGains::decode(data).map(Self::SetControllerGains),
            (GainsRequest::ID, _) => GainsRequest::decode(data).map(Self::RequestControllerGains),
            _ => return Err(DecodeError::Unknown { id, length }),
        };
        command.ok_or(DecodeError::Length { id, length })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::BaseControl(part) => part.encode(out),
            Self::Sound(part) => part.encode(out),
            Self::SoundSequence(part) => part.encode(out),
            Self::RequestExtra(part) => part.encode(out),
            Self::SetOutputs(part) => part.encode(out),
            Self::SetControllerGains(part) => part.encode_command(out),
            Self::RequestControllerGains(part) => part.encode(out),
        }
    }

    /// Appends a frame with this command alone.
    pub fn encode_frame(&self, out: &mut Vec<u8>) {
        let framed = frame::encode(out, |payload| self.encode(payload));
        debug_assert!(framed.is_ok(), "no command is longer than a frame");
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseControl(part) => part.fmt(f),
            Self::Sound(part) => part.fmt(f),
            Self::SoundSequence(part) => part.fmt(f),
            Self::RequestExtra(part) => write!(f, "request {part}"),
            Self::SetOutputs(part) => write!(f, "outputs on: {part}"),
            Self::SetControllerGains(part) => write!(f, "set {part}"),
            Self::RequestControllerGains(_) => f.write_str("request gains"),
        }
    }
}
