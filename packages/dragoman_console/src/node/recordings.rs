//! The recorder's last file, for download.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dragoman_ros::dragoman_msgs::msg::RecordingStatus;
use dragoman_time::{Work, off_thread};
use futures::stream;

/// The first bytes of an MCAP file (MCAP specification, "Magic").
const MAGIC: [u8; 8] = [0x89, b'M', b'C', b'A', b'P', b'0', b'\r', b'\n'];
/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// What the recorder says.
#[derive(Default)]
pub(crate) struct Recordings {
    /// The last complete file.
    last: Mutex<Option<PathBuf>>,
}

impl Recordings {
    /// Takes the recorder's state.
    pub(crate) fn take(&self, status: &RecordingStatus) {
        let is_complete = !status.recording && !status.path.is_empty();
        let last = is_complete.then(|| PathBuf::from(&status.path));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
    }

    /// The last file, if it has this name and is a recording.
    pub(crate) async fn response(&self, name: &str) -> Response {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let path = last.filter(|path| path.file_name().is_some_and(|known| known == name));
        let opened = match path {
            Some(path) => off_thread(Work::FILE, move |_| open(&path)).await.ok().flatten(),
            None => None,
        };
        let Some((file, length)) = opened else {
            return (StatusCode::NOT_FOUND, "There is no such recording.\n").into_response();
        };
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
            (header::CONTENT_LENGTH, length.to_string()),
            (header::CONTENT_DISPOSITION, "attachment".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        (headers, Body::from_stream(stream::try_unfold((file, length), next))).into_response()
    }
}

/// A file of this format from its beginning, and its length. Whoever publishes the recorder's state cannot offer others.
fn open(path: &Path) -> Option<(File, u64)> {
    let mut file = File::open(path).ok()?;
    let mut magic = [0; MAGIC.len()];
    file.read_exact(&mut magic).ok()?;
    let metadata = file.metadata().ok().filter(|metadata| metadata.is_file() && magic == MAGIC)?;
    std::io::Seek::rewind(&mut file).ok()?;
    Some((file, metadata.len()))
}

/// The next piece, and what is left.
async fn next((mut file, left): (File, u64)) -> std::io::Result<Option<(Bytes, (File, u64))>> {
    if left == 0 {
        return Ok(None);
    }
    let read = off_thread(Work::FILE, move |_| {
        let mut piece = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        file.read_exact(&mut piece).map(|()| (Bytes::from(piece), file))
    });
    let (piece, file) = read.await.map_err(|error| std::io::Error::other(error.to_string()))??;
    let left = left.saturating_sub(piece.len() as u64);
    Ok(Some((piece, (file, left))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recordings_are_opened() {
        let folder = std::env::temp_dir().join(format!("dragoman_console_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (good, bad) = (folder.join("good.mcap"), folder.join("bad.mcap"));
        std::fs::write(&good, [&MAGIC[..], b"rest"].concat()).unwrap();
        std::fs::write(&bad, "something else").unwrap();
        assert_eq!(open(&good).map(|(_, length)| length), Some(12));
        assert!(open(&bad).is_none() && open(&folder).is_none() && open(&folder.join("none")).is_none());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
