//! Map, roadmap and program: set, get, load from the platform's disk and save there.
//!
//! The data folder contains `maps`, `roadmaps` and `programs`; a document's file has its name with `.xml`. A program
//! has no name, and is stored as `program`.

use std::io;
use std::path::{Path, PathBuf};

use dragoman_geometry::{Point, Segment};
use dragoman_neobotix::documents::{
    Document, DocumentError, Layer, MAX_DOCUMENT_LEN, Map, MapItem, MappedLine, PointElement, Program,
    Roadmap, WriteError, declared_as_utf8,
};
use dragoman_neobotix::file_name::{FileNameError, plain_file_name};
use dragoman_neobotix::wire::CommandKind;
use dragoman_ros::Response;
use dragoman_ros::dragoman_msgs::srv::{PlatformGetDocument, PlatformSetDocument};
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_text::excerpt;
use futures::channel::mpsc::Receiver;
use futures::stream::StreamExt;

use super::files::{beside, read, read_given, save as save_file};
use super::services::serve_question;
use super::state::{NodeState, Refused, Shared};
use crate::controller::{Command, PreparedMap, Refusal};
use crate::settings::Settings;

/// Maximum distance between a mapped line and a line of the map that counts as the same, m.
const EXPLAINED: f64 = 0.1;

/// The XML text of a map, roadmap or program, and the name under which it is saved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedDocument {
    /// Name; the protocol has none for programs.
    pub name: String,
    /// Content, XML.
    pub text: String,
}

/// The current documents, exactly as they were set.
#[derive(Default)]
pub(super) struct Documents {
    map: NamedDocument,
    roadmap: NamedDocument,
    program: NamedDocument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DocumentKind {
    Map,
    Roadmap,
    Program,
}

/// Error loading or saving a document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentFileError {
    /// Reading or writing the file failed.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The document is invalid.
    #[error("{}: {source}", excerpt(.name))]
    Document {
        /// Name of the document.
        name: String,
        /// Position and cause.
        source: DocumentError,
    },
    /// The controller refused the document.
    #[error("{}: {source}", excerpt(.name))]
    Refused {
        /// Name of the document.
        name: String,
        source: Refusal,
    },
    /// The name is not a valid file name.
    #[error(transparent)]
    Name(#[from] FileNameError),
    /// The file is too long.
    #[error("{}: more than {max_len} bytes", path.display())]
    TooLong {
        /// Path of the file.
        path: PathBuf,
        /// Maximum length, bytes.
        max_len: usize,
    },
    /// The document cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl DocumentKind {
    fn folder(self) -> &'static str {
        match self {
            Self::Map => "maps",
            Self::Roadmap => "roadmaps",
            Self::Program => "programs",
        }
    }

    /// Name of a document without a name.
    fn default_name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Roadmap => "roadmap",
            Self::Program => "program",
        }
    }
}

impl Documents {
    fn place(&mut self, kind: DocumentKind) -> &mut NamedDocument {
        match kind {
            DocumentKind::Map => &mut self.map,
            DocumentKind::Roadmap => &mut self.roadmap,
            DocumentKind::Program => &mut self.program,
        }
    }
}

/// The platform's disk: the given folder, or the one in the user's data folder.
pub(super) fn data_folder(named: Option<&str>) -> PathBuf {
    if let Some(named) = named {
        return PathBuf::from(named);
    }
    let variable =
        |name| dragoman_time::variable_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let user = variable("XDG_DATA_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".local/share")))
        .or_else(|| variable("APPDATA"));
    user.unwrap_or_else(dragoman_time::temporary_folder).join("dragoman/neobotix")
}

/// A document that was parsed and checked. Adopting it takes no time.
struct Prepared {
    kind: DocumentKind,
    document: NamedDocument,
    content: Content,
}

enum Content {
    Map(Box<PreparedMap>),
    Roadmap(dragoman_neobotix::map::Roadmap),
    Program(crate::program::Program),
}

/// Parses a document, and computes its derived data, which takes long. Stations of a program that `roadmap`, a
/// document, does not have are logged: it may be replaced before the program runs.
///
/// # Errors
/// The document is invalid.
fn prepare(
    kind: DocumentKind,
    mut document: NamedDocument,
    settings: &Settings,
    roadmap: &str,
) -> Result<Prepared, DocumentFileError> {
    if document.name.is_empty() {
        kind.default_name().clone_into(&mut document.name);
    }
    document.text = declared_as_utf8(document.text);
    let (name, text) = (&document.name, document.text.as_bytes());
    let wrong = |source| DocumentFileError::Document { name: name.clone(), source };
    let refused = |source| DocumentFileError::Refused { name: name.clone(), source };
    let content = match kind {
        DocumentKind::Map => {
            let map = Map::read(text).map_err(wrong)?;
            warn_of_unknown(name, &map);
            let prepared = PreparedMap::new((&map).into(), settings).map_err(Refusal::from);
            Content::Map(Box::new(prepared.map_err(refused)?))
        }
        DocumentKind::Roadmap => {
            let roadmap = Roadmap::read(text).map_err(wrong)?;
            warn_of_unknown(name, &roadmap);
            Content::Roadmap((&roadmap).into())
        }
        DocumentKind::Program => {
            let program = Program::read(text).map_err(wrong)?;
            if let Ok(roadmap) = Roadmap::read(roadmap.as_bytes()) {
                for missing in program.check_stations(&roadmap) {
                    tracing::warn!(%missing, "target of the program not found in the roadmap");
                }
            }
            warn_of_unknown(name, &program);
            for (position, part) in program.without_effect() {
                tracing::warn!("the program, {position}: {part}");
            }
            Content::Program((&program).into())
        }
    };
    Ok(Prepared { kind, document, content })
}

fn warn_of_unknown(name: &str, document: &impl Document) {
    for part in document.unknown() {
        tracing::warn!("{name}: {part}");
    }
}

/// Puts a document into force. An error changes nothing.
///
/// # Errors
/// The controller refused the document.
fn adopt(state: &mut NodeState, prepared: Prepared) -> Result<(), DocumentFileError> {
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

/// Parses a document, and puts it into force.
///
/// # Errors
/// The document is invalid; the controller refused it.
pub(super) fn set(
    state: &mut NodeState,
    kind: DocumentKind,
    document: NamedDocument,
) -> Result<(), DocumentFileError> {
    let prepared = prepare(kind, document, state.platform.settings(), &state.documents.roadmap.text)?;
    adopt(state, prepared)
}

/// As [`set`], without blocking the node. `find` returns the document.
async fn put(
    shared: &Shared,
    kind: DocumentKind,
    find: impl FnOnce() -> Result<NamedDocument, DocumentFileError> + Send + 'static,
) -> Result<(), Refused> {
    let (settings, roadmap) = shared.with(|state| {
        // Only a program needs it.
        let roadmap = (kind == DocumentKind::Program).then(|| state.documents.roadmap.text.clone());
        (state.platform.settings().clone(), roadmap.unwrap_or_default())
    });
    let prepared = beside(move || prepare(kind, find()?, &settings, &roadmap)).await;
    shared.ask(|state| Ok(adopt(state, prepared?)?))
}

/// Puts the document of a file into force, under the file's name without its extension.
///
/// # Errors
/// The file cannot be read, or the document is invalid.
pub(super) fn load_file(
    state: &mut NodeState,
    kind: DocumentKind,
    path: &str,
) -> Result<(), DocumentFileError> {
    let path = Path::new(path);
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let text = read_given(path, MAX_DOCUMENT_LEN)?;
    set(state, kind, NamedDocument { name, text })
}

/// Puts the document with this name on the disk into force, at the start.
///
/// # Errors
/// Those of [`load_file`]; the name is not a file name.
pub(super) fn load_saved(
    state: &mut NodeState,
    kind: DocumentKind,
    name: &str,
) -> Result<(), DocumentFileError> {
    let text = read(&file(state, kind, name)?, MAX_DOCUMENT_LEN)?;
    set(state, kind, NamedDocument { name: name.to_owned(), text })
}

/// Path of the document with this name on the disk.
fn file(state: &NodeState, kind: DocumentKind, name: &str) -> Result<PathBuf, DocumentFileError> {
    let name = plain_file_name(if name.is_empty() { kind.default_name() } else { name })?;
    let end = if name.to_ascii_lowercase().ends_with(".xml") { "" } else { ".xml" };
    Ok(state.data_folder.join(kind.folder()).join(format!("{name}{end}")))
}

/// Puts the document with this name on the disk into force.
async fn load_named(shared: &Shared, kind: DocumentKind, name: String) -> Result<(), Refused> {
    let path = shared.with(|state| file(state, kind, &name));
    put(shared, kind, move || Ok(NamedDocument { name, text: read(&path?, MAX_DOCUMENT_LEN)? })).await
}

/// Reloads the current document from the disk.
async fn load(shared: &Shared, kind: DocumentKind) -> Result<(), Refused> {
    let name = shared.with(|state| state.documents.place(kind).name.clone());
    load_named(shared, kind, name).await
}

/// Kinds and names of documents that a program loads together.
pub(super) type Wanted = Vec<(DocumentKind, String)>;

/// Maximum number of requests of programs that wait for the current one; more are refused.
pub(super) const MAX_LOADS: usize = 64;

/// Loads the documents of programs, in the order of the requests.
pub(super) async fn load_wanted(shared: Shared, mut requests: Receiver<Wanted>) {
    while let Some(wanted) = requests.next().await {
        for (kind, name) in wanted {
            if let Err(Refused(reason)) = load_named(&shared, kind, name).await {
                shared.with(|state| state.report_refusal(reason));
                break;
            }
        }
        shared.with(|state| state.programs.loading -= 1);
    }
}

/// Writes the current document to the disk. An existing file is replaced when the new one is complete. After a restart
/// the platform starts with it.
async fn save(shared: &Shared, kind: DocumentKind) -> Result<(), Refused> {
    let found = shared.with(|state| {
        let name = state.documents.place(kind).name.clone();
        let name = if name.is_empty() { kind.default_name().to_owned() } else { name };
        Ok::<_, DocumentFileError>((
            file(state, kind, &name)?,
            text(state, kind)?,
            name,
            state.startup.clone(),
        ))
    });
    let saved = beside(move || {
        let (path, text, name, startup) = found?;
        save_file(&path, text.as_bytes())?;
        super::startup::save_name(&startup, kind, &name)
    });
    let saved = saved.await;
    shared.ask(|_| saved)
}

/// Stops mapping. The mapped lines replace those of the last mapping, except lines that the map already has.
async fn stop_mapping(shared: &Shared) -> Result<(), Refused> {
    let stopped = shared.ask(|state| {
        let was_mapping = state.platform.status().is_mapping;
        state.platform.command(Command::StopMapping)?;
        let mapped: Vec<Segment> = state.platform.mapped_lines().collect();
        if !was_mapping || mapped.is_empty() {
            return Ok(None);
        }
        let name = state.documents.place(DocumentKind::Map).name.clone();
        let text = text(state, DocumentKind::Map)?;
        Ok(Some((NamedDocument { name, text }, mapped)))
    })?;
    match stopped {
        Some((map, mapped)) => put(shared, DocumentKind::Map, move || with_mapped(map, mapped)).await,
        None => Ok(()),
    }
}

/// A map with these lines instead of those of the last mapping.
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

/// The current document; an empty one if none was set.
fn text(state: &mut NodeState, kind: DocumentKind) -> Result<String, DocumentFileError> {
    let text = &state.documents.place(kind).text;
    if !text.is_empty() {
        return Ok(text.clone());
    }
    Ok(match kind {
        DocumentKind::Map => Map::default().write()?,
        DocumentKind::Roadmap => Roadmap::default().write()?,
        DocumentKind::Program => Program::default().write()?,
    })
}

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    let stopped = shared.clone();
    tasks.serve_later::<Trigger::Service, _>(CommandKind::MappingStop.service(), move |_request| {
        let shared = stopped.clone();
        async move { Trigger::Response::from_result(stop_mapping(&shared).await) }
    })?;
    for kind in [DocumentKind::Map, DocumentKind::Roadmap, DocumentKind::Program] {
        let name = kind.default_name();
        let given = shared.clone();
        tasks.serve_later::<PlatformSetDocument::Service, _>(&format!("set_{name}"), move |request| {
            let shared = given.clone();
            let document = NamedDocument { name: request.name, text: request.document };
            async move {
                let outcome = put(&shared, kind, move || Ok(document)).await;
                PlatformSetDocument::Response::from_result(outcome)
            }
        })?;
        serve_question::<PlatformGetDocument::Service>(
            tasks,
            shared,
            &format!("get_{name}"),
            move |state, _| {
                let document = text(state, kind)?;
                let name = if kind == DocumentKind::Program {
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
            async move { Trigger::Response::from_result(load(&shared, kind).await) }
        })?;
        let saved = shared.clone();
        tasks.serve_later::<Trigger::Service, _>(&format!("save_{name}"), move |_request| {
            let shared = saved.clone();
            async move { Trigger::Response::from_result(save(&shared, kind).await) }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, parameters};
    use futures::channel::mpsc;

    use super::*;
    use crate::node::PlatformParameters;
    use crate::program::Effect;

    #[test]
    fn a_program_that_loads_a_document_does_not_delay_the_control() {
        // The file is not read before the only thread for it is free.
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).max_blocking_threads(1).enable_all().build().unwrap();
        runtime.block_on(load_beside_the_control());
    }

    async fn load_beside_the_control() {
        let folder = std::env::temp_dir().join(format!("dragoman_documents_{}", std::process::id()));
        std::fs::create_dir_all(folder.join("maps")).unwrap();
        let map = Map::default().write().unwrap();
        std::fs::write(folder.join("maps/slow.xml"), &map).unwrap();
        let parameter = format!("data_folder:={}", folder.display());
        let arguments = Arguments::parse(["--ros-args", "-p", &parameter].map(str::to_owned)).unwrap();
        let discovery = Discovery { domain_id: 89, range: DiscoveryRange::Off, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, arguments).unwrap();
        let mut node = Node::create(context, "platform", "/documents").unwrap();
        let (values, _server) = parameters::declare(&mut node, PlatformParameters::default()).unwrap();
        let (grabs, _) = mpsc::channel(1);
        let (loads, requests) = mpsc::channel(MAX_LOADS);
        let shared = Shared::new(&mut node, values, grabs, loads).unwrap();
        tokio::spawn(load_wanted(shared.clone(), requests));

        let (go_on, held) = std::sync::mpsc::channel::<()>();
        let holding = tokio::task::spawn_blocking(move || held.recv());
        let (sender, receiver) = std::sync::mpsc::channel();
        let control = shared.clone();
        std::thread::spawn(move || {
            let load = Effect::Load { map: Some("slow".to_owned()), roadmap: None };
            control.with(|state| state.perform(load)).unwrap();
            control.with(NodeState::cycle);
            sender.send(())
        });
        receiver.recv_timeout(Duration::from_secs(10)).expect("the control waits for the file");
        assert_eq!(shared.with(|state| state.programs.loading), 1);
        go_on.send(()).unwrap();
        holding.await.unwrap().unwrap();
        for _ in 0..1000 {
            if shared.with(|state| state.programs.loading) == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let loaded = shared.with(|state| state.documents.map.clone());
        assert_eq!(loaded, NamedDocument { name: "slow".to_owned(), text: map });
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
