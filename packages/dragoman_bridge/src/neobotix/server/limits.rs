//! Checks before any service is called: maximum lengths of names and paths, which would otherwise reach logs and
//! messages.

use super::super::call::Refusal;
use super::super::wire::{Command, Text};

/// Maximum length of the name of a station, a parameter, a file or a document, bytes.
const MAX_NAME_LEN: usize = 1024;
/// Maximum length of a text to be spoken and of a camera's position, bytes.
const MAX_TEXT_LEN: usize = 64 << 10;
/// Maximum number of poses of a path.
const MAX_FRAMES: usize = 10_000;

pub(super) fn check(command: &Command) -> Result<(), Refusal> {
    let within = |what: &str, len: usize, most: usize| {
        if len <= most {
            Ok(())
        } else {
            Err(Refusal::Rejected(format!("a {what} of {len}; the maximum is {most}")))
        }
    };
    let name = |name: &Text| within("name with a length", name.as_bytes().len(), MAX_NAME_LEN);
    let text = |text: &Text| within("text with a length", text.as_bytes().len(), MAX_TEXT_LEN);
    match command {
        Command::MoveToStation(to) => name(&to.station),
        Command::SetMap(document) | Command::SetRoadmap(document) => name(&document.name),
        Command::SetPltfParam(parameter) => name(&parameter.key).and_then(|()| name(&parameter.value)),
        Command::GetPltfParam(parameter) => name(&parameter.key),
        Command::PlaySound(file) | Command::GrabImage(file) => name(&file.file_name),
        Command::SpeakText(speak) => text(&speak.text),
        Command::SetPosPanTiltCamera(position) => text(&position.position),
        Command::MovePath(path) => within("path with a number of poses", path.frames.len(), MAX_FRAMES),
        _ => Ok(()),
    }
}
