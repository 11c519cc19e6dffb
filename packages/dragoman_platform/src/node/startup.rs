//! What the platform remembers over a restart, in its data folder: `StartupPosition.dat` has its pose, and
//! `StartupDocuments.dat` the names of the documents that were saved.

use std::path::Path;
use std::time::{Duration, Instant};

use dragoman_geometry::{Pose, position, wrap_angle};

use super::documents::{Kind, NamedDocument, load_saved, set};
use super::files::{beside, read, write};
use super::state::{Refused, Shared, State};
use super::{PlatformNodeError, Setup, parameters};
use crate::controller::Command;
use crate::startup::{MAX_LEN, SavedNames, StartPosition};

/// Files in the data folder; the first has the name of the original.
const POSITION: &str = "StartupPosition.dat";
const DOCUMENTS: &str = "StartupDocuments.dat";
/// Period of checking whether the pose has changed.
const PERIOD: Duration = Duration::from_secs(1);
/// Minimum time between two writes while the platform moves.
const WHILE_MOVING: Duration = Duration::from_secs(5);
/// Smaller changes are not written, m and rad.
const CHANGE: f64 = 0.002;

/// Sets the pose at the start: that of the last run, unless parameter `initial_pose` was set.
///
/// # Errors
/// Parameter `initial_pose` is not a pose.
pub(super) fn restore_pose(state: &mut State, setup: &Setup) -> Result<(), PlatformNodeError> {
    let initial = parameters::pose(&state.values, "initial_pose")?;
    let keeps: bool = state.values.value("keep_pose");
    let file = state.data_folder.join(POSITION);
    if keeps && initial == setup.initial_pose && file.is_file() {
        let text = read(&file, MAX_LEN).map_err(|error| error.to_string());
        match text.and_then(|text| StartPosition::parse(&text).map_err(|error| error.to_string())) {
            Ok(StartPosition(Pose { x, y, heading })) => {
                tracing::info!("pose read from {POSITION}: {x} m, {y} m, {heading} rad");
                // The parser ensures a value within bounds.
                let _ = state.platform.command(Command::SetPose(Pose::new(x, y, heading)));
            }
            Err(reason) => tracing::warn!(reason, "{POSITION} was ignored"),
        }
    }
    Ok(())
}

/// Puts the documents into force with which the platform starts: those of the parameters, those that were saved last, or
/// those of `setup`.
///
/// # Errors
/// A document of a parameter or of `setup` is invalid.
pub(super) fn load_documents(state: &mut State, setup: &Setup) -> Result<(), PlatformNodeError> {
    let saved = saved_names(&state.data_folder);
    for (kind, parameter, name, default) in [
        (Kind::Map, "map_file", &saved.map, &setup.map),
        (Kind::Roadmap, "roadmap_file", &saved.roadmap, &setup.roadmap),
        (Kind::Program, "program_file", &saved.program, &setup.program),
    ] {
        let file: String = state.values.value(parameter);
        if !file.is_empty() {
            super::documents::load_file(state, kind, &file)?;
            continue;
        }
        if !name.is_empty() {
            match load_saved(state, kind, name) {
                Ok(()) => {
                    tracing::info!("{parameter}: '{name}', which was saved last");
                    continue;
                }
                Err(error) => tracing::warn!(%error, "the document saved last cannot be loaded"),
            }
        }
        if let Some(NamedDocument { name, text }) = default.clone() {
            set(state, kind, NamedDocument { name, text })?;
        }
    }
    Ok(())
}

fn saved_names(folder: &Path) -> SavedNames {
    let file = folder.join(DOCUMENTS);
    if !file.is_file() {
        return SavedNames::default();
    }
    match read(&file, MAX_LEN) {
        Ok(text) => SavedNames::parse(&text),
        Err(error) => {
            tracing::warn!(%error, "{DOCUMENTS} was ignored");
            SavedNames::default()
        }
    }
}

/// Remembers a document that was saved.
///
/// # Errors
/// The file cannot be written.
pub(super) fn remember(folder: &Path, kind: Kind, name: &str) -> Result<(), Refused> {
    let mut names = saved_names(folder);
    let place = match kind {
        Kind::Map => &mut names.map,
        Kind::Roadmap => &mut names.roadmap,
        Kind::Program => &mut names.program,
    };
    if place == name {
        return Ok(());
    }
    name.clone_into(place);
    Ok(write(&folder.join(DOCUMENTS), names.to_string().as_bytes())?)
}

/// Writes the pose whenever it has changed and the platform stands; while it moves, every five seconds.
pub(super) async fn keep_pose(shared: Shared) {
    let (mut written, mut when) = (None::<Pose>, Instant::now());
    loop {
        tokio::time::sleep(PERIOD).await;
        let known = shared.with(|state| {
            let status = state.platform.status();
            let known = state.is_placed() && !status.localization_lost;
            known.then(|| {
                (status.pose, status.velocity == dragoman_geometry::Twist::ZERO, state.data_folder.clone())
            })
        });
        let Some((pose, stands, folder)) = known else { continue };
        let is_new = written.is_none_or(|written| {
            let turn = wrap_angle(pose.heading - written.heading);
            (position(pose) - position(written)).norm() > CHANGE || turn.abs() > CHANGE
        });
        if !is_new || !(stands || when.elapsed() >= WHILE_MOVING) {
            continue;
        }
        let text = StartPosition(pose).to_string();
        if let Err(Refused(reason)) = beside(move || write(&folder.join(POSITION), text.as_bytes())).await {
            shared.with(|state| state.refuse(&reason));
        }
        (written, when) = (Some(pose), Instant::now());
    }
}
