//! `dragoman world`: world files.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use dragoman_ros::{out, outln};
use dragoman_world::import::{self, Counts, Import};

#[derive(Subcommand)]
pub(crate) enum WorldCommand {
    /// Convert a world of the simulator Apolo, an XML file, to a world file for `dragoman up --world`.
    ///
    /// What cannot be taken is listed on the standard error with its line.
    Import(ImportOptions),
}

#[derive(Args)]
pub(crate) struct ImportOptions {
    /// The world of Apolo.
    #[arg(value_name = "FILE.xml")]
    file: PathBuf,
    /// World file to write; by default FILE.yaml beside it. With - the standard output.
    #[arg(long, short, value_name = "FILE.yaml")]
    output: Option<PathBuf>,
    /// Overwrite the world file.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(command: &WorldCommand) -> Result<(), Box<dyn Error>> {
    let WorldCommand::Import(options) = command;
    let (input, shown) = (&options.file, options.file.display());
    let text = fs::read(input).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let output = options.output.clone().unwrap_or_else(|| input.with_extension("yaml"));
    if output == *input {
        return Err(format!("{shown} would be overwritten by its world file: use --output").into());
    }
    let folder = parent(input);
    let read = |name: &str| fs::read(folder.join(name)).map_err(|error| error.to_string());
    let Import { yaml, notes, counts } = import::world(&text, &read, &mesh_folder(folder, &output)?)
        .map_err(|error| format!("{shown}: {error}"))?;
    for note in &notes {
        eprintln!("{shown}:{}: {}", note.line, note.text);
    }
    if output.as_os_str() == "-" {
        out!("{yaml}");
        return Ok(());
    }
    write(&output, &yaml, options.force)?;
    let Counts { bodies, robots, sensors, landmarks } = counts;
    outln!(
        "{}: {bodies} bodies, {robots} robots, {sensors} sensors, {landmarks} landmarks",
        output.display()
    );
    outln!("start it with: dragoman up --world {}", output.display());
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What comes before the name of a mesh file: world files refer to files relative to their own folder.
fn mesh_folder(input: &Path, output: &Path) -> io::Result<String> {
    let (from, to) = (input.canonicalize()?, parent(output).canonicalize().ok());
    Ok(if to.as_ref() == Some(&from) { String::new() } else { format!("{}/", from.display()) })
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Box<dyn Error>> {
    let mut open = OpenOptions::new();
    open.write(true);
    let opened =
        if force { open.create(true).truncate(true).open(path) } else { open.create_new(true).open(path) };
    let mut file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} exists: use --force to overwrite it", path.display()),
        _ => format!("cannot write {}: {error}", path.display()),
    })?;
    Ok(file.write_all(text.as_bytes())?)
}
