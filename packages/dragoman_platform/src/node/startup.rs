//! Data that the platform keeps over a restart, in its data folder: `StartupPosition.dat` has its pose, and
//! `StartupDocuments.dat` the names of the documents that were saved. Platforms in other namespaces than `/neobotix`
//! have files of their own, e.g. `StartupPosition_second.dat`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dragoman_geometry::{Pose, position, wrap_angle};
use dragoman_time::{now, since, sleep};

use super::documents::{DocumentKind, NamedDocument, load_saved, set};
use super::files::{beside, read, write};
use super::state::{NodeState, Refused, Shared};
use super::{PlatformNodeError, Setup};
use crate::controller::Command;
use crate::startup::{MAX_LEN, SavedNames, StartPosition};

/// Names of the files; the first is that of the original.
const POSITION: &str = "StartupPosition";
const DOCUMENTS: &str = "StartupDocuments";
/// Namespace without a name of its own in the files.
const USUAL: &str = "neobotix";
/// Period of checking whether the pose has changed.
const PERIOD: Duration = Duration::from_secs(1);
/// Minimum time between two writes while the platform moves.
const WHILE_MOVING: Duration = Duration::from_secs(5);
/// Smaller changes are not written, m and rad.
const CHANGE: f64 = 0.002;

/// The files of one platform.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Files {
    position: PathBuf,
    documents: PathBuf,
}

impl Files {
    /// Of the platform in this namespace.
    pub(super) fn new(folder: &Path, namespace: &str) -> Self {
        let name = namespace.trim_matches('/').replace('/', "_");
        let end = if name.is_empty() || name == USUAL { String::new() } else { format!("_{name}") };
        let file = |begin: &str| folder.join(format!("{begin}{end}.dat"));
        Self { position: file(POSITION), documents: file(DOCUMENTS) }
    }
}

/// Sets the pose at the start: that of the last run, unless parameter `initial_pose` was set.
pub(super) fn restore_pose(state: &mut NodeState, setup: &Setup) {
    let values = state.parameters.read();
    let is_unset = values.initial_pose == setup.parameters.initial_pose;
    let file = state.startup.position.clone();
    if values.keep_pose && is_unset && dragoman_time::on_disk(&file).is_file() {
        let text = read(&file, MAX_LEN).map_err(|error| error.to_string());
        match text.and_then(|text| StartPosition::parse(&text).map_err(|error| error.to_string())) {
            Ok(StartPosition(Pose { x, y, heading })) => {
                tracing::info!(file = %file.display(), x, y, heading, "pose of the last run restored");
                // The parser ensures a value within bounds.
                let _ = state.platform.command(Command::SetPose(Pose::new(x, y, heading)));
            }
            Err(reason) => tracing::warn!(reason, "pose of the last run ignored"),
        }
    }
}

/// Puts the documents into force with which the platform starts: those of the parameters, those that were saved last,
/// or those of `setup`.
///
/// # Errors
/// A document of a parameter or of `setup` is invalid.
pub(super) fn load_documents(state: &mut NodeState, setup: &Setup) -> Result<(), PlatformNodeError> {
    let saved = saved_names(&state.startup);
    let values = state.parameters.read();
    for (kind, parameter, file, name, default) in [
        (DocumentKind::Map, "map_file", &values.map_file, &saved.map, &setup.map),
        (DocumentKind::Roadmap, "roadmap_file", &values.roadmap_file, &saved.roadmap, &setup.roadmap),
        (DocumentKind::Program, "program_file", &values.program_file, &saved.program, &setup.program),
    ] {
        if let Some(file) = file {
            super::documents::load_file(state, kind, file)?;
            continue;
        }
        if !name.is_empty() {
            match load_saved(state, kind, name) {
                Ok(()) => {
                    tracing::info!(parameter, name, "last saved document loaded");
                    continue;
                }
                Err(error) => tracing::warn!(%error, "loading the last saved document failed"),
            }
        }
        if let Some(NamedDocument { name, text }) = default.clone() {
            set(state, kind, NamedDocument { name, text })?;
        }
    }
    Ok(())
}

fn saved_names(files: &Files) -> SavedNames {
    if !dragoman_time::on_disk(&files.documents).is_file() {
        return SavedNames::default();
    }
    match read(&files.documents, MAX_LEN) {
        Ok(text) => SavedNames::parse(&text),
        Err(error) => {
            tracing::warn!(%error, "names of saved documents ignored");
            SavedNames::default()
        }
    }
}

/// Remembers a document that was saved.
///
/// # Errors
/// The file cannot be written.
pub(super) fn save_name(files: &Files, kind: DocumentKind, name: &str) -> Result<(), Refused> {
    let mut names = saved_names(files);
    let place = match kind {
        DocumentKind::Map => &mut names.map,
        DocumentKind::Roadmap => &mut names.roadmap,
        DocumentKind::Program => &mut names.program,
    };
    if place == name {
        return Ok(());
    }
    name.clone_into(place);
    Ok(write(&files.documents, names.to_string().as_bytes())?)
}

/// Writes the pose whenever it has changed and the platform stands; while it moves, every five seconds.
pub(super) async fn keep_pose(shared: Shared) {
    let (mut written, mut when) = (None::<Pose>, now());
    loop {
        sleep(PERIOD).await;
        let known = shared.with(|state| {
            let status = state.platform.status();
            let known = state.is_placed() && !status.localization_lost;
            known.then(|| {
                (
                    status.pose,
                    status.velocity == dragoman_geometry::Twist::ZERO,
                    state.startup.position.clone(),
                )
            })
        });
        let Some((pose, stands, file)) = known else { continue };
        let is_new = written.is_none_or(|written| {
            let turn = wrap_angle(pose.heading - written.heading);
            (position(pose) - position(written)).norm() > CHANGE || turn.abs() > CHANGE
        });
        if !is_new || !(stands || since(when) >= WHILE_MOVING) {
            continue;
        }
        let text = StartPosition(pose).to_string();
        if let Err(Refused(reason)) = beside(move || write(&file, text.as_bytes())).await {
            shared.with(|state| state.refuse(&reason));
        }
        (written, when) = (Some(pose), now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_documents_are_remembered_one_by_one_and_per_platform() {
        let folder = std::env::temp_dir().join(format!("dragoman_startup_{}", std::process::id()));
        let [usual, second] = ["/neobotix", "/fleet/second"].map(|namespace| Files::new(&folder, namespace));
        save_name(&usual, DocumentKind::Map, "hall").unwrap();
        save_name(&usual, DocumentKind::Roadmap, "ways").unwrap();
        save_name(&second, DocumentKind::Map, "cellar").unwrap();
        let names = saved_names(&usual);
        assert_eq!(
            (names.map.as_str(), names.roadmap.as_str(), names.program.as_str()),
            ("hall", "ways", "")
        );
        assert_eq!(saved_names(&second).map, "cellar");
        assert!(folder.join("StartupDocuments.dat").is_file());
        assert!(folder.join("StartupDocuments_fleet_second.dat").is_file());
        std::fs::write(folder.join("StartupDocuments.dat"), [0xff; 10_000]).unwrap();
        assert_eq!(saved_names(&usual), SavedNames::default());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
