//! Map, roadmap and program: set, given, loaded from the platform's disk and saved there.
//!
//! The data folder has `maps`, `roadmaps` and `programs`; a document is in the file of its name with `.xml`. A program, which has no name, is
//! `program`.

use std::io;
use std::path::{Path, PathBuf};

use dragoman_geometry::{Point, Segment};
use dragoman_neobotix::documents::{
    Document, DocumentError, Layer, MAX_DOCUMENT_LEN, Map, MapItem, MappedLine, PointElement, Program,
    Roadmap, WriteError,
};
use dragoman_neobotix::file_name::{FileNameError, plain_file_name};
use dragoman_ros::dragoman_msgs::srv::{PlatformGetDocument, PlatformSetDocument};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;

use super::services::{Answer, answers, serve_order, serve_question};
use super::state::{Refused, Shared, State};
use crate::controller::{Command, Refusal};

/// A mapped line no farther from a line of the map is that line, m.
const EXPLAINED: f64 = 0.1;

/// A document with its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedDocument {
    /// Programs have none in the protocol.
    pub name: String,
    /// XML.
    pub text: String,
}

/// The documents in force, to the letter as they were set.
#[derive(Default)]
pub(super) struct Documents {
    map: NamedDocument,
    roadmap: NamedDocument,
    program: NamedDocument,
}

/// Which document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Map,
    Roadmap,
    Program,
}

/// A document that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentFileError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The document makes no sense.
    #[error("{name}: {source}")]
    Document {
        /// Which document.
        name: String,
        /// What is wrong, and where.
        source: DocumentError,
    },
    /// The controller does not take it.
    #[error("{name}: {source}")]
    Refused {
        /// Which document.
        name: String,
        /// Why not.
        source: Refusal,
    },
    /// A name that is no name of a file.
    #[error(transparent)]
    Name(#[from] FileNameError),
    /// The file is too long.
    #[error("{}: more than {MAX_DOCUMENT_LEN} bytes", .0.display())]
    TooLong(PathBuf),
    /// There is nothing to save.
    #[error(transparent)]
    Write(#[from] WriteError),
}

answers! { PlatformGetDocument }

impl Kind {
    fn folder(self) -> &'static str {
        match self {
            Self::Map => "maps",
            Self::Roadmap => "roadmaps",
            Self::Program => "programs",
        }
    }

    /// The name of what was never named.
    fn default_name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Roadmap => "roadmap",
            Self::Program => "program",
        }
    }
}

impl Documents {
    fn place(&mut self, kind: Kind) -> &mut NamedDocument {
        match kind {
            Kind::Map => &mut self.map,
            Kind::Roadmap => &mut self.roadmap,
            Kind::Program => &mut self.program,
        }
    }
}

/// The platform's disk: the folder that was named, or the user's.
pub(super) fn data_folder(named: &str) -> PathBuf {
    if !named.is_empty() {
        return PathBuf::from(named);
    }
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = variable("XDG_DATA_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".local/share")))
        .or_else(|| variable("APPDATA"));
    user.unwrap_or_else(std::env::temp_dir).join("dragoman/neobotix")
}

/// Puts a document into force. Nothing has changed where it cannot be.
///
/// # Errors
/// It makes no sense; the controller does not take it.
pub(super) fn set(
    state: &mut State,
    kind: Kind,
    mut document: NamedDocument,
) -> Result<(), DocumentFileError> {
    if document.name.is_empty() {
        kind.default_name().clone_into(&mut document.name);
    }
    let (name, text) = (&document.name, document.text.as_bytes());
    let wrong = |source| DocumentFileError::Document { name: name.clone(), source };
    let refused = |source| DocumentFileError::Refused { name: name.clone(), source };
    match kind {
        Kind::Map => {
            let map = Map::read(text).map_err(wrong)?;
            state.platform.command(Command::SetMap((&map).into())).map_err(refused)?;
        }
        Kind::Roadmap => {
            let roadmap = Roadmap::read(text).map_err(wrong)?;
            state.platform.command(Command::SetRoadmap((&roadmap).into())).map_err(refused)?;
        }
        Kind::Program => {
            let program = Program::read(text).map_err(wrong)?;
            state.platform.command(Command::SetProgram((&program).into())).map_err(refused)?;
        }
    }
    *state.documents.place(kind) = document;
    Ok(())
}

/// Puts the document of a file into force, under the file's name without its end.
///
/// # Errors
/// It cannot be read, or not be used.
pub(super) fn load_file(state: &mut State, kind: Kind, path: &str) -> Result<(), DocumentFileError> {
    let path = Path::new(path);
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let text = read(path)?;
    set(state, kind, NamedDocument { name, text })
}

fn read(path: &Path) -> Result<String, DocumentFileError> {
    let failed = |source| DocumentFileError::File { path: path.to_owned(), source };
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > MAX_DOCUMENT_LEN as u64 {
        return Err(DocumentFileError::TooLong(path.to_owned()));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// Where a document of this name is on the disk.
fn file(state: &State, kind: Kind, name: &str) -> Result<PathBuf, DocumentFileError> {
    let name = plain_file_name(if name.is_empty() { kind.default_name() } else { name })?;
    let end = if name.to_ascii_lowercase().ends_with(".xml") { "" } else { ".xml" };
    Ok(state.data_folder.join(kind.folder()).join(format!("{name}{end}")))
}

/// Puts the document of this name on the disk into force.
///
/// # Errors
/// It is not there, or cannot be used.
pub(super) fn load_named(state: &mut State, kind: Kind, name: &str) -> Result<(), DocumentFileError> {
    let text = read(&file(state, kind, name)?)?;
    set(state, kind, NamedDocument { name: name.to_owned(), text })
}

/// Reads the document in force again from the disk.
fn load(state: &mut State, kind: Kind) -> Result<(), DocumentFileError> {
    let name = state.documents.place(kind).name.clone();
    load_named(state, kind, &name)
}

/// Writes the document in force to the disk. A file that is there is replaced when the new one is complete.
fn save(state: &mut State, kind: Kind) -> Result<(), DocumentFileError> {
    let name = state.documents.place(kind).name.clone();
    let path = file(state, kind, &name)?;
    write(&path, text(state, kind)?.as_bytes())
}

/// Writes a file of the data folder, which is made where it is not there.
///
/// # Errors
/// The system's.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), DocumentFileError> {
    let failed = |source| DocumentFileError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let unfinished = PathBuf::from(name);
    std::fs::write(&unfinished, bytes).and_then(|()| std::fs::rename(&unfinished, path)).map_err(failed)
}

/// Stops mapping. What was mapped comes into the map in place of what was mapped before, but for what the map has as lines already.
fn stop_mapping(state: &mut State) -> Result<(), Refused> {
    let was_mapping = state.platform.status().is_mapping;
    state.platform.command(Command::StopMapping)?;
    let mapped: Vec<Segment> = state.platform.mapped_lines().collect();
    if !was_mapping || mapped.is_empty() {
        return Ok(());
    }
    let name = state.documents.place(Kind::Map).name.clone();
    let text = text(state, Kind::Map)?;
    let wrong = |source| DocumentFileError::Document { name: name.clone(), source };
    let mut map = Map::read(text.as_bytes()).map_err(wrong)?;
    for layer in &mut map.layers {
        layer.items.retain(|item| !matches!(item, MapItem::MappedLine(_)));
    }
    let known = dragoman_neobotix::map::Map::from(&map).lines;
    let is_new = |line: &Segment| {
        let is_explained =
            |point: Point| known.iter().map(|known| known.distance(point)).any(|away| away <= EXPLAINED);
        ![0.0, 0.5, 1.0].into_iter().all(|part| is_explained(line.at(part)))
    };
    let point = |point: Point| {
        let [x_mm, y_mm] = [point.x, point.y].map(|metres| (metres * 1e4).round() / 10.0);
        PointElement { x_mm, y_mm, ..Default::default() }
    };
    let new = mapped.into_iter().filter(is_new).map(|line| {
        MapItem::MappedLine(MappedLine { points: [point(line.a), point(line.b)], ..Default::default() })
    });
    if map.layers.is_empty() {
        map.layers.push(Layer { index: Some(0), ..Default::default() });
    }
    if let Some(layer) = map.layers.first_mut() {
        layer.items.extend(new);
    }
    let text = map.write()?;
    Ok(set(state, Kind::Map, NamedDocument { name, text })?)
}

/// The document in force; an empty one where none was set.
fn text(state: &mut State, kind: Kind) -> Result<String, DocumentFileError> {
    let text = &state.documents.place(kind).text;
    if !text.is_empty() {
        return Ok(text.clone());
    }
    Ok(match kind {
        Kind::Map => Map::default().write()?,
        Kind::Roadmap => Roadmap::default().write()?,
        Kind::Program => Program::default().write()?,
    })
}

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    serve_order::<Trigger::Service>(tasks, shared, "mapping_stop", |state, _| stop_mapping(state))?;
    for kind in [Kind::Map, Kind::Roadmap, Kind::Program] {
        let name = kind.default_name();
        serve_order::<PlatformSetDocument::Service>(
            tasks,
            shared,
            &format!("set_{name}"),
            move |state, request| {
                let document = NamedDocument { name: request.name, text: request.document };
                Ok(set(state, kind, document)?)
            },
        )?;
        serve_question::<PlatformGetDocument::Service>(
            tasks,
            shared,
            &format!("get_{name}"),
            move |state, _| {
                let document = text(state, kind)?;
                let name = if kind == Kind::Program {
                    String::new()
                } else {
                    state.documents.place(kind).name.clone()
                };
                Ok(PlatformGetDocument::Response { name, document, ..Default::default() })
            },
        )?;
        let load = move |state: &mut State, _| Ok(load(state, kind)?);
        serve_order::<Trigger::Service>(tasks, shared, &format!("load_{name}"), load)?;
        let save = move |state: &mut State, _| Ok(save(state, kind)?);
        serve_order::<Trigger::Service>(tasks, shared, &format!("save_{name}"), save)?;
    }
    Ok(())
}
