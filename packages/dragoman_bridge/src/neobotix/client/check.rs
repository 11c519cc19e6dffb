//! Checks of a command before it is sent.

use super::super::call::Refusal;
use super::super::documents::{Document, Map, Program, Roadmap};
use super::super::file_name::plain_file_name;
use super::super::wire::{Command, Text};

/// Maximum length of a text to speak, and of the name of a station, bytes.
const MAX_TEXT_LEN: usize = 64 * 1024;
/// CAN identifiers have 29 bits at most.
const CAN_IDS: std::ops::Range<i32> = 0..1 << 29;

/// Checks a command independently of the platform.
///
/// # Errors
/// A document that cannot be parsed, with line and column; an invalid file name; a CAN id of more than 29 bits; a text
/// that is too long; a path without poses.
pub(super) fn check(command: &Command) -> Result<(), Refusal> {
    match command {
        Command::SetMap(set) => document::<Map>(&set.document),
        Command::SetRoadmap(set) => document::<Roadmap>(&set.document),
        Command::SetProgram(set) => document::<Program>(&set.document),
        Command::PlaySound(file) | Command::GrabImage(file) => {
            plain_file_name(&file.file_name.to_str()).map(|_| ()).map_err(|error| invalid(&error))
        }
        Command::SpeakText(speak) => text(&speak.text),
        Command::SetPosPanTiltCamera(set) => text(&set.position),
        Command::MoveToStation(station) => text(&station.station),
        Command::MovePath(path) if path.frames.is_empty() => {
            Err(Refusal::Rejected("the path has no poses".to_owned()))
        }
        Command::AddCanListeningId(can) | Command::RemoveCanListeningId(can) => can_id(can.id),
        Command::SendCanMessage(message) => can_id(message.id),
        // Only the owner may close the connection.
        Command::CloseSocket => Err(Refusal::Rejected("closing the connection is not permitted".to_owned())),
        _ => Ok(()),
    }
}

fn document<T: Document>(text: &Text) -> Result<(), Refusal> {
    T::read(text.as_bytes()).map(|_| ()).map_err(|error| invalid(&error))
}

fn text(text: &Text) -> Result<(), Refusal> {
    if text.as_bytes().len() <= MAX_TEXT_LEN {
        return Ok(());
    }
    Err(Refusal::Rejected(format!("the text has more than {MAX_TEXT_LEN} bytes")))
}

fn can_id(id: i32) -> Result<(), Refusal> {
    if CAN_IDS.contains(&id) {
        return Ok(());
    }
    Err(Refusal::Rejected(format!("{id:#x} is not a CAN identifier, which has 29 bits at most")))
}

fn invalid(error: &dyn std::error::Error) -> Refusal {
    Refusal::Rejected(error.to_string())
}
