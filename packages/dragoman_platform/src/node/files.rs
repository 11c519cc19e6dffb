//! Files of the platform's data folder, and other work that takes too long for the node's task: an emergency stop has
//! to take effect meanwhile.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dragoman_ros::files::{open_below, open_regular};
use dragoman_time::{Work, off_thread, own, spawn};

use super::documents::DocumentFileError;
use super::state::Refused;

/// Runs work beside the node's task, without blocking it.
pub(super) async fn beside<R, E>(work: impl FnOnce() -> Result<R, E> + Send + 'static) -> Result<R, Refused>
where
    R: Send + 'static,
    E: Into<Refused> + Send + 'static,
{
    match off_thread(Work::FILE, |_| work()).await {
        Ok(result) => result.map_err(Into::into),
        Err(error) => Err(error.into()),
    }
}

/// As [`write`], without waiting: an error is logged.
pub(super) fn write_beside(path: PathBuf, bytes: impl FnOnce() -> Vec<u8> + Send + 'static) {
    spawn(async move {
        // The hook for panics has reported a panic.
        if let Ok(Err(error)) = off_thread(Work::FILE, move |_| write(&path, &bytes())).await {
            tracing::warn!(%error, "writing a file failed");
        }
    });
}

/// Reads a file of at most `max_len` bytes, whose name may come from a client: it must be a file of its folder, not a
/// link.
///
/// # Errors
/// The system's error; the file is longer, or not UTF-8.
pub(super) fn read(path: &Path, max_len: usize) -> Result<String, DocumentFileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().map(Path::new).unwrap_or(Path::new(""));
    contents(open_below(folder, name), path, max_len)
}

/// As [`read`], of a path of the operator, which may be a link.
///
/// # Errors
/// Those of [`read`].
pub(super) fn read_given(path: &Path, max_len: usize) -> Result<String, DocumentFileError> {
    contents(open_regular(path), path, max_len)
}

fn contents(file: io::Result<File>, path: &Path, max_len: usize) -> Result<String, DocumentFileError> {
    let failed = |source| DocumentFileError::File { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    file.and_then(|file| file.take(max_len as u64 + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() > max_len {
        return Err(DocumentFileError::TooLong { path: path.to_owned(), max_len });
    }
    String::from_utf8(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Held while a file is written.
#[derive(Default)]
struct OneAtATime(Mutex<()>);

/// Writes a file of the data folder, which is created if necessary. After a power cut, either the new or the old file
/// is complete.
///
/// # Errors
/// The system's error; then no part of the new file is left.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), DocumentFileError> {
    // Saves run beside each other, and two saves of the same file would share the temporary file.
    let one_at_a_time = own::<OneAtATime>();
    let _guard = one_at_a_time.0.lock().unwrap_or_else(PoisonError::into_inner);
    let place = dragoman_time::on_disk(path);
    let mut name = place.as_os_str().to_owned();
    name.push(".new");
    let unfinished = PathBuf::from(name);
    replace(&place, &unfinished, bytes).map_err(|source| {
        // It may not exist.
        let _ = std::fs::remove_file(&unfinished);
        DocumentFileError::File { path: path.to_owned(), source }
    })
}

fn replace(path: &Path, unfinished: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // What a killed process has left; a link in its place is not followed.
    if let Err(error) = std::fs::remove_file(unfinished)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut file = File::create_new(unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    std::fs::rename(unfinished, path)?;
    // The new name is on the disk only after the folder is synchronized.
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_that_fails_leaves_nothing_behind() {
        let folder = std::env::temp_dir().join(format!("dragoman_files_{}", std::process::id()));
        let names = || {
            let mut names: Vec<String> = std::fs::read_dir(folder.join("maps"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        let file = folder.join("maps/hall.xml");
        write(&file, b"one").unwrap();
        write(&file, b"two").unwrap();
        assert_eq!((std::fs::read(&file).unwrap(), names()), (b"two".to_vec(), vec!["hall.xml".to_owned()]));
        // A folder has the name of the file.
        let taken = folder.join("maps/taken.xml");
        std::fs::create_dir_all(taken.join("something")).unwrap();
        let error = write(&taken, b"three").unwrap_err().to_string();
        assert!(error.contains("taken.xml"), "{error}");
        assert_eq!(names(), ["hall.xml", "taken.xml"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// Neither a link nor a named pipe, for which reading would wait, is opened, and a link is not written through.
    #[cfg(unix)]
    #[test]
    fn links_and_pipes_in_the_folder_are_not_followed() {
        use std::os::unix::fs::symlink;
        let base = std::env::temp_dir().join(format!("dragoman_links_{}", std::process::id()));
        let (maps, outside) = (base.join("maps"), base.join("outside"));
        std::fs::create_dir_all(&maps).unwrap();
        std::fs::write(&outside, "outside").unwrap();
        for name in ["link.xml", "new.xml.new"] {
            symlink(&outside, maps.join(name)).unwrap();
        }
        let pipe = maps.join("pipe.xml");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read(&maps.join("link.xml"), 100).is_err() && read(&pipe, 100).is_err());
        assert_eq!(read_given(&maps.join("link.xml"), 7).unwrap(), "outside");
        assert!(matches!(read_given(&outside, 6), Err(DocumentFileError::TooLong { .. })));
        for name in ["link.xml", "new.xml", "pipe.xml"] {
            write(&maps.join(name), b"inside").unwrap();
            assert_eq!(read(&maps.join(name), 100).unwrap(), "inside");
        }
        assert_eq!(std::fs::read(&outside).unwrap(), b"outside");
        std::fs::remove_dir_all(&base).unwrap();
    }

    #[tokio::test]
    async fn what_takes_long_is_done_beside_the_task() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let work = beside(move || receiver.recv());
        // In the node's task this would never be sent.
        let go_on = async { sender.send(7) };
        let (result, sent) = futures::future::join(work, go_on).await;
        assert_eq!((result, sent), (Ok(7), Ok(())));
    }
}
