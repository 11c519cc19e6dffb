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

use super::files::{beside, write};
use super::services::{Answer, answers, serve_question};
use super::state::{Refused, Shared, State};
use crate::controller::{Command, PreparedMap, Refusal};
use crate::settings::Settings;

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

/// A document that was read and checked. To put it into force takes no time.
struct Prepared {
    kind: Kind,
    document: NamedDocument,
    content: Content,
}

enum Content {
    Map(Box<PreparedMap>),
    Roadmap(dragoman_neobotix::map::Roadmap),
    Program(crate::program::Program),
}

/// Reads a document, and counts what is needed of it. That takes long.
///
/// # Errors
/// It makes no sense.
fn prepare(
    kind: Kind,
    mut document: NamedDocument,
    settings: &Settings,
) -> Result<Prepared, DocumentFileError> {
    if document.name.is_empty() {
        kind.default_name().clone_into(&mut document.name);
    }
    let (name, text) = (&document.name, document.text.as_bytes());
    let wrong = |source| DocumentFileError::Document { name: name.clone(), source };
    let refused = |source| DocumentFileError::Refused { name: name.clone(), source };
    let content = match kind {
        Kind::Map => {
            let map = Map::read(text).map_err(wrong)?;
            let prepared = PreparedMap::new((&map).into(), settings).map_err(Refusal::from);
            Content::Map(Box::new(prepared.map_err(refused)?))
        }
        Kind::Roadmap => Content::Roadmap((&Roadmap::read(text).map_err(wrong)?).into()),
        Kind::Program => Content::Program((&Program::read(text).map_err(wrong)?).into()),
    };
    Ok(Prepared { kind, document, content })
}

/// Puts a document into force. Nothing has changed where it cannot be.
///
/// # Errors
/// The controller does not take it.
fn adopt(state: &mut State, prepared: Prepared) -> Result<(), DocumentFileError> {
    let Prepared { kind, document, content } = prepared;
    let refused = |source| DocumentFileError::Refused { name: document.name.clone(), source };
    match content {
        Content::Map(map) => state.platform.set_prepared_map(*map),
        Content::Roadmap(roadmap) => {
            state.platform.command(Command::SetRoadmap(roadmap)).map_err(refused)?;
        }
        Content::Program(program) => {
            state.platform.command(Command::SetProgram(program)).map_err(refused)?;
        }
    }
    *state.documents.place(kind) = document;
    Ok(())
}

/// Reads a document, and puts it into force.
///
/// # Errors
/// It makes no sense; the controller does not take it.
pub(super) fn set(state: &mut State, kind: Kind, document: NamedDocument) -> Result<(), DocumentFileError> {
    let prepared = prepare(kind, document, state.platform.settings())?;
    adopt(state, prepared)
}

/// As [`set`], while the node goes on. `find` gives the document.
async fn put(
    shared: &Shared,
    kind: Kind,
    find: impl FnOnce() -> Result<NamedDocument, DocumentFileError> + Send + 'static,
) -> Result<(), Refused> {
    let settings = shared.with(|state| state.platform.settings().clone());
    let prepared = beside(move || prepare(kind, find()?, &settings)).await;
    shared.ask(|state| Ok(adopt(state, prepared?)?))
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
async fn load(shared: &Shared, kind: Kind) -> Result<(), Refused> {
    let (name, path) = shared.with(|state| {
        let name = state.documents.place(kind).name.clone();
        let path = file(state, kind, &name);
        (name, path)
    });
    put(shared, kind, move || Ok(NamedDocument { name, text: read(&path?)? })).await
}

/// Writes the document in force to the disk. A file that is there is replaced when the new one is complete.
async fn save(shared: &Shared, kind: Kind) -> Result<(), Refused> {
    let found = shared.with(|state| {
        let name = state.documents.place(kind).name.clone();
        Ok::<_, DocumentFileError>((file(state, kind, &name)?, text(state, kind)?))
    });
    let saved = beside(move || {
        let (path, text) = found?;
        write(&path, text.as_bytes())
    });
    let saved = saved.await;
    shared.ask(|_| saved)
}

/// Stops mapping. What was mapped comes into the map in place of what was mapped before, but for what the map has as lines already.
async fn stop_mapping(shared: &Shared) -> Result<(), Refused> {
    let stopped = shared.ask(|state| {
        let was_mapping = state.platform.status().is_mapping;
        state.platform.command(Command::StopMapping)?;
        let mapped: Vec<Segment> = state.platform.mapped_lines().collect();
        if !was_mapping || mapped.is_empty() {
            return Ok(None);
        }
        let name = state.documents.place(Kind::Map).name.clone();
        let text = text(state, Kind::Map)?;
        Ok(Some((NamedDocument { name, text }, mapped)))
    })?;
    match stopped {
        Some((map, mapped)) => put(shared, Kind::Map, move || with_mapped(map, mapped)).await,
        None => Ok(()),
    }
}

/// A map with these lines in place of those that were mapped before.
fn with_mapped(map: NamedDocument, mapped: Vec<Segment>) -> Result<NamedDocument, DocumentFileError> {
    let NamedDocument { name, text } = map;
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
    Ok(NamedDocument { name, text })
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
    let stopped = shared.clone();
    tasks.serve_later::<Trigger::Service, _>("mapping_stop", move |_request| {
        let shared = stopped.clone();
        async move { Trigger::Response::default().told(stop_mapping(&shared).await) }
    })?;
    for kind in [Kind::Map, Kind::Roadmap, Kind::Program] {
        let name = kind.default_name();
        let given = shared.clone();
        tasks.serve_later::<PlatformSetDocument::Service, _>(&format!("set_{name}"), move |request| {
            let shared = given.clone();
            let document = NamedDocument { name: request.name, text: request.document };
            async move {
                let outcome = put(&shared, kind, move || Ok(document)).await;
                PlatformSetDocument::Response::default().told(outcome)
            }
        })?;
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
        let loaded = shared.clone();
        tasks.serve_later::<Trigger::Service, _>(&format!("load_{name}"), move |_request| {
            let shared = loaded.clone();
            async move { Trigger::Response::default().told(load(&shared, kind).await) }
        })?;
        let saved = shared.clone();
        tasks.serve_later::<Trigger::Service, _>(&format!("save_{name}"), move |_request| {
            let shared = saved.clone();
            async move { Trigger::Response::default().told(save(&shared, kind).await) }
        })?;
    }
    Ok(())
}
