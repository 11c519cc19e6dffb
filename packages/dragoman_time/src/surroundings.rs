//! What a program gets from the system: those of the process, or on virtual time those of the lab.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::executor;
use crate::program::Values;

/// The surroundings of a lab on virtual time. A lab sees nothing of the process's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The command line, with the name of the program.
    pub arguments: Vec<String>,
    /// The environment.
    pub variables: BTreeMap<String, String>,
    /// The existing folder that the program sees as `/lab`, whatever its place on the disk.
    pub folder: Option<PathBuf>,
    /// The process id.
    pub process_id: u32,
    /// Time since 1970 at the start.
    pub wall_time: Duration,
}

/// An empty environment, at midnight of 1 January 2026, UTC.
impl Default for Surroundings {
    fn default() -> Self {
        Self {
            arguments: vec!["dragoman".to_owned()],
            variables: BTreeMap::new(),
            folder: None,
            process_id: 1000,
            wall_time: Duration::from_secs(1_767_225_600),
        }
    }
}

fn of_lab<R>(ask: impl FnOnce(&Surroundings) -> R) -> Option<R> {
    executor::current_program().map(|program| ask(&program.0.surroundings))
}

/// The command line, with the name of the program, as `std::env::args`.
pub fn arguments() -> Vec<String> {
    of_lab(|own| own.arguments.clone()).unwrap_or_else(|| std::env::args().collect())
}

/// An environment variable; `None` if it is not set, or not UTF-8.
pub fn variable(name: &str) -> Option<String> {
    of_lab(|own| own.variables.get(name).cloned()).unwrap_or_else(|| std::env::var(name).ok())
}

/// An environment variable.
pub fn variable_os(name: &str) -> Option<OsString> {
    of_lab(|own| own.variables.get(name).map(OsString::from)).unwrap_or_else(|| std::env::var_os(name))
}

/// The process id.
pub fn process_id() -> u32 {
    of_lab(|own| own.process_id).unwrap_or_else(std::process::id)
}

/// The folder of a lab's files, as the lab sees it.
pub const LAB_FOLDER: &str = "/lab";

/// Where a file of this name is on the disk: for every access to a file. In messages, logs and errors the name stays, so
/// that a history does not depend on the place of the lab's folder.
pub fn on_disk(path: &Path) -> PathBuf {
    let inside = path.strip_prefix(LAB_FOLDER);
    let folder = of_lab(|own| own.folder.clone()).flatten();
    match (folder, inside) {
        (Some(folder), Ok(inside)) => folder.join(inside),
        _ => path.to_owned(),
    }
}

/// The name of this thread; a lab has one name whatever thread runs it.
pub fn thread_name() -> String {
    of_lab(|_| "lab".to_owned())
        .unwrap_or_else(|| std::thread::current().name().unwrap_or("without name").to_owned())
}

/// The folder for temporary files.
pub fn temporary_folder() -> PathBuf {
    of_lab(|own| own.variables.get("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from))
        .unwrap_or_else(std::env::temp_dir)
}

/// Takes `text` as a part of a lab's standard output. Returns whether this thread runs a lab; in real time it does
/// nothing.
pub fn print(text: fmt::Arguments<'_>) -> bool {
    let Some(program) = executor::current_program() else { return false };
    let text = text.to_string();
    crate::history::note("output", "", text.as_bytes());
    program.0.output.lock().push_str(&text);
    true
}

/// Calls `act` as if in no simulation: with the clock and the surroundings of the process.
pub fn outside<R>(act: impl FnOnce() -> R) -> R {
    let _left = executor::leave();
    act()
}

/// The values of this process in real time.
static OF_PROCESS: Values = Mutex::new(BTreeMap::new());

/// The one value of this type of the program; in real time, of the process. In place of a `static`.
pub fn own<T: Any + Send + Sync + Default>() -> Arc<T> {
    match executor::current_program() {
        Some(program) => find(&program.0.own),
        None => find(&OF_PROCESS),
    }
}

/// The one value of this type of the simulation, which all its programs share; in real time, of the process.
pub fn shared<T: Any + Send + Sync + Default>() -> Arc<T> {
    executor::with_lab(|_, lab| find(&lab.shared)).unwrap_or_else(|| find(&OF_PROCESS))
}

fn find<T: Any + Send + Sync + Default>(values: &Values) -> Arc<T> {
    if let Some(found) = values.lock().get(&TypeId::of::<T>()) {
        // It is stored under its type.
        return Arc::clone(found).downcast::<T>().unwrap_or_default();
    }
    // Made without the lock: it may have others of its own.
    let made: Arc<dyn Any + Send + Sync> = Arc::new(T::default());
    Arc::clone(values.lock().entry(TypeId::of::<T>()).or_insert(made)).downcast::<T>().unwrap_or_default()
}
