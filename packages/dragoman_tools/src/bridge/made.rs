//! `dragoman bridge page`, `header`, `python` and `schema`: what is made of a description.

use std::path::{Path, PathBuf};

use clap::Args;
use dragoman_protocol::codec::{Codec, CodecError};
use dragoman_ros::out;

use super::BridgeError;

/// `dragoman bridge page`, `header` and `python`.
#[derive(Debug, Args)]
pub struct MakeCommand {
    /// The description, a YAML file.
    file: PathBuf,
    #[command(flatten)]
    output: Output,
}

/// Where a text goes.
#[derive(Debug, Args)]
pub struct Output {
    /// Write this file, instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes a text of the description of a command, and writes it.
pub(super) fn make(
    command: &MakeCommand,
    text: impl Fn(&Codec) -> Result<String, CodecError>,
) -> Result<(), BridgeError> {
    let made = made(&command.file, text)?;
    write(&command.output, &made)
}

fn made(path: &Path, text: impl Fn(&Codec) -> Result<String, CodecError>) -> Result<String, BridgeError> {
    let description = super::text_of(path)?;
    let wrong = |reason: String| BridgeError::NotADescription { path: path.to_owned(), reason };
    let (codec, _) = super::compile(&description).map_err(wrong)?;
    text(&codec).map_err(|error| {
        let line = error.line(&description).map_or(String::new(), |line| format!("line {line}: "));
        wrong(format!("{line}{error}"))
    })
}

/// Writes a text to a file or to standard output.
pub(super) fn write(output: &Output, text: &str) -> Result<(), BridgeError> {
    let Some(path) = &output.output else {
        out!("{text}");
        return Ok(());
    };
    std::fs::write(path, text).map_err(|error| BridgeError::Unwritable { path: path.clone(), error })
}
