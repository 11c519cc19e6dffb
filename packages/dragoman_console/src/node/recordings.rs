//! The recorder's files, for download.
//!
//! Anyone in ROS can publish a recorder's state: only files of the recordings' folder are opened, and only recordings. The
//! one that is being written is not offered. A download has a thread for a moment, not for its duration, and there is a
//! limited number of downloads.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragoman_ros::dragoman_msgs::msg::RecordingStatus;
use dragoman_ros::files::open_below;
use dragoman_time::{Work, off_thread};
use futures::stream;
use parking_lot::Mutex;
use serde::Serialize;

/// The first bytes of an MCAP file (MCAP specification, "Magic").
const MAGIC: [u8; 8] = [0x89, b'M', b'C', b'A', b'P', b'0', b'\r', b'\n'];
/// Bytes that are read at once.
const PIECE: usize = 256 << 10;
/// Maximum number of recordings in the list, and of entries of their folder among which they are searched.
const MAX_LISTED: usize = 100;
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of downloads at a time.
const MAX_DOWNLOADS: usize = 8;
/// Time for opening the file and for reading a piece.
const READ_TIME: Duration = Duration::from_secs(10);
/// Time for a piece, after which a download gives its place to a new one.
const PIECE_TIME: Duration = Duration::from_secs(30);

/// The state of the recorder.
pub(crate) struct Recordings {
    folder: PathBuf,
    /// The file that the recorder has named last, below the folder.
    last: Mutex<Option<Last>>,
    downloads: Downloads,
    /// A file of another folder was reported.
    is_reported: AtomicBool,
}

struct Last {
    name: PathBuf,
    is_complete: bool,
}

/// A recording in the list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Listed {
    /// When it was last written, s since 1970.
    modified: u64,
    name: String,
    bytes: u64,
}

impl Recordings {
    /// Those of this folder.
    pub(crate) fn below(folder: impl Into<PathBuf>) -> Self {
        let (last, downloads, is_reported) = Default::default();
        Self { folder: folder.into(), last, downloads, is_reported }
    }

    /// Takes the recorder's state.
    pub(crate) fn take(&self, status: &RecordingStatus) {
        let is_complete = !status.recording && !status.path.is_empty();
        let name = Path::new(&status.path).strip_prefix(&self.folder).ok();
        if is_complete && name.is_none() && !self.is_reported.swap(true, Ordering::Relaxed) {
            let folder = self.folder.display();
            tracing::warn!(path = status.path, %folder, "recording not offered: outside the folder of parameter 'recordings'");
        }
        *self.last.lock() = name.map(|name| Last { name: name.to_owned(), is_complete });
    }

    /// The recordings of the folder, the newest first, as JSON.
    pub(crate) async fn list(&self) -> Response {
        let folder = self.folder.clone();
        let reading = off_thread(Work::FILE, move |_| listed(&folder));
        let Ok(Ok(mut found)) = dragoman_time::timeout(READ_TIME, reading).await else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        if let Some(last) = &*self.last.lock() {
            found.retain(|listed| last.is_complete || last.name != Path::new(&listed.name));
        }
        let listed = serde_json::to_string(&found).unwrap_or_default();
        ([(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], listed)
            .into_response()
    }

    /// The recording of this name: the recorder's last file, which may be in a folder below, or another of the list.
    pub(crate) async fn response(&self, name: &str) -> Response {
        let name = match &*self.last.lock() {
            Some(last) if last.name.file_name().is_some_and(|known| known == name) => {
                last.is_complete.then(|| last.name.clone())
            }
            _ => is_recording(Path::new(name)).then(|| PathBuf::from(name)),
        };
        let Some(name) = name else { return missing() };
        let Some(place) = self.downloads.begin() else {
            return (StatusCode::SERVICE_UNAVAILABLE, "There are too many downloads.\n").into_response();
        };
        let (folder, held) = (self.folder.clone(), Arc::clone(&place));
        let opening = off_thread(Work::FILE, move |_| {
            let opened = open(&folder, &name).ok();
            drop(held);
            opened
        });
        let Ok(Ok(Some((file, left)))) = dragoman_time::timeout(READ_TIME, opening).await else {
            return missing();
        };
        place.give(file);
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
            (header::CONTENT_LENGTH, left.to_string()),
            (header::CONTENT_DISPOSITION, "attachment".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        (headers, Body::from_stream(stream::try_unfold((place, left), next))).into_response()
    }
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such recording.\n").into_response()
}

/// Whether a file has the extension of recordings.
fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mcap")
}

/// The recordings directly in the folder, the newest first. A folder that cannot be read has none.
fn listed(folder: &Path) -> Vec<Listed> {
    let entries = std::fs::read_dir(dragoman_time::on_disk(folder)).into_iter().flatten();
    let describe = |entry: std::fs::DirEntry| {
        // Not of what a link points to.
        let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
        let name = entry.file_name().into_string().ok().filter(|name| is_recording(Path::new(name)))?;
        Some(Listed { modified, name, bytes: metadata.len() })
    };
    let mut found: Vec<Listed> = entries.take(MAX_ENTRIES).flatten().filter_map(describe).collect();
    found.sort_unstable_by(|a, b| b.cmp(a));
    found.truncate(MAX_LISTED);
    found
}

/// A recording from its beginning, and its length.
fn open(folder: &Path, name: &Path) -> io::Result<(File, u64)> {
    let mut file = open_below(folder, name)?;
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a recording"));
    }
    file.rewind()?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// The downloads that go on.
#[derive(Default)]
struct Downloads {
    places: Mutex<Vec<Arc<Download>>>,
}

/// A place for a download; it is held by the response, and by a thread that reads for it.
struct Download {
    state: Mutex<DownloadState>,
}

struct DownloadState {
    /// `None` while it is read, and after the end.
    file: Option<File>,
    /// When the client took the last piece.
    last: Instant,
    /// Another download has its place.
    has_ended: bool,
}

impl Downloads {
    /// A place, if there is one; a download whose client takes no pieces loses its own.
    fn begin(&self) -> Option<Arc<Download>> {
        let mut places = self.places.lock();
        places.retain(|place| Arc::strong_count(place) > 1);
        if places.len() >= MAX_DOWNLOADS {
            let ended = places.iter().position(|place| place.end_if_slow())?;
            places.swap_remove(ended);
        }
        let state = DownloadState { file: None, last: dragoman_time::now(), has_ended: false };
        let place = Arc::new(Download { state: Mutex::new(state) });
        places.push(Arc::clone(&place));
        Some(place)
    }
}

impl Download {
    /// Returns whether its client is slow, and the place is free. A thread that reads keeps the place.
    fn end_if_slow(&self) -> bool {
        let mut state = self.state.lock();
        let is_slow = state.file.is_some() && dragoman_time::since(state.last) >= PIECE_TIME;
        if is_slow {
            (state.file, state.has_ended) = (None, true);
        }
        is_slow
    }

    fn give(&self, file: File) {
        let mut state = self.state.lock();
        if !state.has_ended {
            (state.file, state.last) = (Some(file), dragoman_time::now());
        }
    }

    fn take(&self) -> Option<File> {
        self.state.lock().file.take()
    }
}

/// The next piece, and what is left.
async fn next((place, left): (Arc<Download>, u64)) -> io::Result<Option<(Bytes, (Arc<Download>, u64))>> {
    if left == 0 {
        return Ok(None);
    }
    let mut file = place.take().ok_or_else(|| io::Error::other("the client was too slow"))?;
    let held = Arc::clone(&place);
    let reading = off_thread(Work::FILE, move |_| {
        let mut piece = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        file.read_exact(&mut piece)?;
        held.give(file);
        Ok::<_, io::Error>(Bytes::from(piece))
    });
    let piece = dragoman_time::timeout(READ_TIME, reading).await;
    let piece = piece.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
    let piece = piece.map_err(|error| io::Error::other(error.to_string()))??;
    let left = left.saturating_sub(piece.len() as u64);
    Ok(Some((piece, (place, left))))
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("dragoman_console_{name}_{}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, name: &str, length: usize) -> PathBuf {
            let path = self.0.join(name);
            let mut contents = vec![0; length];
            contents[..MAGIC.len()].copy_from_slice(&MAGIC);
            std::fs::write(&path, contents).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn status(path: &Path) -> RecordingStatus {
        RecordingStatus { path: path.display().to_string(), ..RecordingStatus::default() }
    }

    /// The status of the response for a file that the recorder's state names.
    fn asked(recordings: &Recordings, path: &Path) -> StatusCode {
        recordings.take(&status(path));
        let name = path.file_name().unwrap().to_str().unwrap();
        block_on(recordings.response(name)).status()
    }

    #[test]
    fn only_recordings_below_the_folder_are_opened() {
        let folder = Folder::new("below");
        let recordings = Recordings::below(folder.0.join("recordings"));
        std::fs::create_dir_all(&recordings.folder).unwrap();
        assert_eq!(asked(&recordings, &folder.write("recordings/good.mcap", 12)), StatusCode::OK);
        let outside = folder.write("outside.mcap", 12);
        std::fs::write(recordings.folder.join("bad.mcap"), "something else").unwrap();
        let inside = |name: &str| recordings.folder.join(name);
        for path in [outside.clone(), inside("bad.mcap"), inside("none.mcap"), inside("../outside.mcap")] {
            assert_eq!(asked(&recordings, &path), StatusCode::NOT_FOUND, "{}", path.display());
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, inside("link.mcap")).unwrap();
            assert_eq!(asked(&recordings, &inside("link.mcap")), StatusCode::NOT_FOUND);
        }
    }

    #[test]
    fn earlier_recordings_are_listed_and_the_one_that_is_written_is_not() {
        let folder = Folder::new("list");
        let recordings = Recordings::below(&folder.0);
        for (name, age) in [("old.mcap", 20), ("new.mcap", 10), ("now.mcap", 0), ("notes.txt", 5)] {
            let file = File::options().write(true).open(folder.write(name, 12)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let path = folder.0.join("now.mcap");
        recordings.take(&RecordingStatus { recording: true, ..status(&path) });
        let names = || {
            let body = block_on(recordings.list()).into_body();
            let json = block_on(axum::body::to_bytes(body, 1 << 20)).unwrap();
            let listed: Vec<serde_json::Value> = serde_json::from_slice(&json).unwrap();
            listed.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let answer = |name: &str| block_on(recordings.response(name)).status();
        assert_eq!(names(), ["new.mcap", "old.mcap"]);
        assert_eq!(answer("old.mcap"), StatusCode::OK);
        assert_eq!([answer("now.mcap"), answer("notes.txt")], [StatusCode::NOT_FOUND; 2]);
        recordings.take(&status(&path));
        assert_eq!(names(), ["now.mcap", "new.mcap", "old.mcap"]);
        assert_eq!(answer("now.mcap"), StatusCode::OK);
    }

    /// Opening it would wait for a writer, in a thread for each request.
    #[cfg(unix)]
    #[test]
    fn a_named_pipe_or_device_is_refused_at_once() {
        let folder = Folder::new("pipe");
        let recordings = Recordings::below(&folder.0);
        let pipe = folder.0.join("pipe.mcap");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for _ in 0..100 {
            assert_eq!(asked(&recordings, &pipe), StatusCode::NOT_FOUND);
            assert_eq!(asked(&recordings, Path::new("/dev/zero")), StatusCode::NOT_FOUND);
        }
    }

    #[test]
    fn downloads_are_bounded_and_slow_ones_give_their_place() {
        let simulation = dragoman_time::Simulation::new(1);
        simulation.block_on(async {
            let folder = Folder::new("many");
            let recordings = Recordings::below(&folder.0);
            recordings.take(&status(&folder.write("long.mcap", 2 * PIECE)));
            let ask = async || recordings.response("long.mcap").await;
            let mut responses = Vec::new();
            for _ in 0..MAX_DOWNLOADS {
                responses.push(ask().await);
            }
            assert!(responses.iter().all(|response| response.status() == StatusCode::OK));
            assert_eq!(ask().await.status(), StatusCode::SERVICE_UNAVAILABLE);
            // One that has left.
            drop(responses.pop());
            let quick = ask().await;
            assert_eq!(quick.status(), StatusCode::OK);
            dragoman_time::sleep(PIECE_TIME).await;
            let new = ask().await;
            assert_eq!(new.status(), StatusCode::OK);
            let read =
                async |response: Response| axum::body::to_bytes(response.into_body(), usize::MAX).await;
            assert_eq!(read(new).await.unwrap().len(), 2 * PIECE);
            assert!(read(responses.remove(0)).await.is_err(), "it has lost its place");
        });
    }
}
