//! Files of the platform's data folder, and other work that takes too long for the node's task: an emergency stop has
//! to take effect meanwhile.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use dragoman_neobotix::documents::decode;
use dragoman_ros::files::{open_below, open_regular};
use dragoman_time::{Work, off_thread, own, spawn};
use parking_lot::Mutex;

use super::documents::DocumentFileError;
use super::state::Refused;

/// Limits of a folder of the data folder, because clients save documents under any name.
const FOLDER_QUOTA: Quota = Quota { files: 1000, bytes: 1 << 30 };

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

/// As [`write`], of a file that a client names: its folder has a bound.
///
/// # Errors
/// Those of [`write`]; the folder would have too much.
pub(super) fn save(path: &Path, bytes: &[u8]) -> Result<(), DocumentFileError> {
    write_within(path, bytes, Some(&FOLDER_QUOTA))
}

/// As [`save`], without waiting: an error of writing is logged.
///
/// # Errors
/// Too many files wait already.
pub(super) fn save_beside(
    path: PathBuf,
    bytes: impl FnOnce() -> Vec<u8> + Send + 'static,
) -> Result<(), Refused> {
    let writing = own::<Writing>();
    if writing.waiting.fetch_add(1, Ordering::Relaxed) >= MAX_WAITING {
        writing.waiting.fetch_sub(1, Ordering::Relaxed);
        return Err(Refused(format!("{MAX_WAITING} files are waiting to be written already")));
    }
    spawn(async move {
        // The hook for panics has reported a panic.
        if let Ok(Err(error)) = off_thread(Work::FILE, move |_| save(&path, &bytes())).await {
            tracing::warn!(%error, "writing a file failed");
        }
        writing.waiting.fetch_sub(1, Ordering::Relaxed);
    });
    Ok(())
}

/// Reads a file of at most `max_len` bytes, whose name may come from a client: it must be a file of its folder, not a
/// link.
///
/// # Errors
/// The system's error; the file is longer, or neither UTF-8 nor in the encoding that it declares.
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
    // Files of other programs may be in the encoding that they declare.
    String::from_utf8(bytes)
        .or_else(|error| decode(error.as_bytes()))
        .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Maximum number of recordings that wait to be written.
const MAX_WAITING: usize = 8;

/// The files that are written.
#[derive(Default)]
struct Writing {
    /// Held while a file is written.
    one_at_a_time: Mutex<()>,
    /// Number of writes whose result is only logged.
    waiting: AtomicUsize,
}

/// Maximum number of files of a folder, and their bytes.
struct Quota {
    files: usize,
    bytes: u64,
}

impl Quota {
    /// Checks that a folder has room for this file with this number of bytes.
    ///
    /// # Errors
    /// It would have too much; the system's error.
    fn check(&self, path: &Path, bytes: usize) -> io::Result<()> {
        let Some(folder) = path.parent().filter(|folder| folder.exists()) else { return Ok(()) };
        let (mut files, mut all) = (1, bytes as u64);
        if std::fs::metadata(path).is_ok_and(|old| all <= old.len()) {
            return Ok(());
        }
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if Some(&*entry.file_name()) != path.file_name() {
                files += 1;
                // Another program may have removed it meanwhile.
                all += entry.metadata().map_or(0, |file| file.len());
            }
        }
        if files <= self.files && all <= self.bytes {
            return Ok(());
        }
        let reason = format!(
            "{} would have {files} files with {all} bytes; it may have {} with {}",
            folder.display(),
            self.files,
            self.bytes
        );
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, reason))
    }
}

/// Writes a file of the data folder, which is created if necessary. After a power cut, either the new or the old file
/// is complete.
///
/// # Errors
/// The system's error; then no part of the new file is left.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), DocumentFileError> {
    write_within(path, bytes, None)
}

fn write_within(path: &Path, bytes: &[u8], quota: Option<&Quota>) -> Result<(), DocumentFileError> {
    // Saves run beside each other, and two saves of the same file would share the temporary file.
    let writing = own::<Writing>();
    let _guard = writing.one_at_a_time.lock();
    let place = dragoman_time::on_disk(path);
    let mut name = place.as_os_str().to_owned();
    name.push(".new");
    let unfinished = PathBuf::from(name);
    let checked = quota.map_or(Ok(()), |quota| quota.check(&place, bytes.len()));
    checked.and_then(|()| replace(&place, &unfinished, bytes)).map_err(|source| {
        // It may not exist.
        let _ = std::fs::remove_file(&unfinished);
        DocumentFileError::File { path: path.to_owned(), source }
    })
}

fn replace(path: &Path, unfinished: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // A temporary file of a killed process; a link in its place is not followed.
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
    fn a_folder_has_a_bound() {
        let folder = std::env::temp_dir().join(format!("dragoman_quota_{}", std::process::id()));
        let quota = Quota { files: 2, bytes: 10 };
        let file = |name: &str| folder.join(name);
        quota.check(&file("first"), 10).unwrap();
        write(&file("first"), b"12345").unwrap();
        quota.check(&file("second"), 5).unwrap();
        let refused = quota.check(&file("second"), 6).unwrap_err().to_string();
        assert!(refused.ends_with("would have 2 files with 11 bytes; it may have 2 with 10"), "{refused}");
        write(&file("second"), b"12345").unwrap();
        assert!(quota.check(&file("third"), 0).is_err());
        // What is replaced does not count, and what becomes no longer is always accepted.
        quota.check(&file("first"), 5).unwrap();
        write(&file("third"), b"123456").unwrap();
        quota.check(&file("first"), 5).unwrap();
        assert!(quota.check(&file("first"), 6).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }

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
    async fn long_work_does_not_block_the_task() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let work = beside(move || receiver.recv());
        // In the node's task this would never be sent.
        let go_on = async { sender.send(7) };
        let (result, sent) = futures::future::join(work, go_on).await;
        assert_eq!((result, sent), (Ok(7), Ok(())));
    }
}
