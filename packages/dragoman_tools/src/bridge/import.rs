//! `dragoman bridge import`: a description of a DBC file.

use std::path::{Path, PathBuf};

use clap::Args;
use dragoman_protocol::dbc::{Dbc, Imported, MAX_SIZE, Options, describe};
use dragoman_protocol::skeleton::check_name;
use dragoman_ros::out;

use super::{BridgeError, new};

/// `dragoman bridge import`.
#[derive(Debug, Args)]
pub struct ImportCommand {
    /// The DBC file.
    file: PathBuf,
    /// The node of the bus that is the machine: messages that it sends come from the machine. It may be left out if the file
    /// names no senders.
    #[arg(long, value_name = "NODE")]
    machine: Option<String>,
    /// Write this file, instead of standard output. A file that is there already is not changed.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(command: &ImportCommand) -> Result<(), BridgeError> {
    if let Some(path) = command.output.as_deref().filter(|path| path.exists()) {
        return Err(BridgeError::Exists(path.to_owned()));
    }
    let Imported { text, notes } = import(command)?;
    match &command.output {
        Some(path) => new::create(path, &text)?,
        None => out!("{text}"),
    }
    for note in notes.lines() {
        eprintln!("{}: {note}", command.file.display());
    }
    Ok(())
}

fn import(command: &ImportCommand) -> Result<Imported, BridgeError> {
    let path = &command.file;
    let unreadable = |error| BridgeError::Unreadable { path: path.clone(), error };
    let wrong = |reason: String| BridgeError::NotADbcFile { path: path.clone(), reason };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if usize::try_from(size).is_ok_and(|size| size > MAX_SIZE) {
        return Err(wrong(format!("{size} bytes; at most {MAX_SIZE} are possible")));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let dbc = Dbc::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    let name = [command.output.as_deref(), Some(path.as_path())].into_iter().flatten().find_map(name_of);
    let file = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let options = Options {
        name: name.as_deref().unwrap_or("machine"),
        file: &file,
        machine: command.machine.as_deref(),
    };
    describe(&dbc, options).map_err(|error| wrong(error.to_string()))
}

/// The name of a file, if a protocol can have it.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?.to_lowercase().replace(['-', ' ', '.'], "_");
    check_name(&name).is_ok().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines/motor.dbc");

    #[test]
    fn the_motor_s_description_is_that_of_its_dbc_file() {
        let folder = std::env::temp_dir().join(format!("dragoman_bridge_import_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let output = folder.join("Motor-CAN.yaml");
        let command = ImportCommand {
            file: MOTOR.into(),
            machine: Some("Motor".to_owned()),
            output: Some(output.clone()),
        };
        run(&command).unwrap();
        let text = std::fs::read_to_string(&output).unwrap();
        assert!(text.contains("\nprotocol: motor_can\n") && text.contains("\nsource: "), "{text}");
        assert!(super::super::compile(&text).is_ok(), "{text}");
        assert!(matches!(run(&command), Err(BridgeError::Exists(_))));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_its_line() {
        let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let error = run(&ImportCommand { file, machine: None, output: None }).unwrap_err().to_string();
        assert!(error.contains("Cargo.toml: line 1: '[' does not begin a statement"), "{error}");
    }
}
