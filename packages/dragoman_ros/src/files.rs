//! Files whose names come from outside.
//!
//! A name must not lead out of its folder, by `..` or by a link, and opening it must not block, as opening a named pipe
//! does.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Component, Path};

/// Opens a regular file at `path` below `folder`, for reading. No part of `path` may be a link; `folder` may.
///
/// # Errors
/// The system's error; `path` leads out of the folder, or to something else than a file.
pub fn open_below(folder: &Path, path: &Path) -> io::Result<File> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(Path::new(part)),
            _ => return Err(invalid("the path leads out of its folder")),
        }
    }
    let (name, folders) = parts.split_last().ok_or_else(|| invalid("the path is empty"))?;
    regular(descend(&dragoman_time::on_disk(folder), folders, name)?)
}

/// Opens a regular file for reading, which may be behind links: for files that were installed.
///
/// # Errors
/// The system's error; something else than a file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(open(&dragoman_time::on_disk(path))?)
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, reason)
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() { Ok(file) } else { Err(invalid("it is not a regular file")) }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // Without NONBLOCK, opening a named pipe blocks until a program writes to it.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// One part after the other, so that a link that appears meanwhile is not followed either.
#[cfg(unix)]
fn descend(folder: &Path, folders: &[&Path], name: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, openat};
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut inside = rustix::fs::open(folder, directory, Mode::empty())?;
    for part in folders {
        inside = openat(&inside, *part, directory | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(openat(&inside, name, file | OFlags::NOFOLLOW, Mode::empty())?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(not(unix))]
fn descend(folder: &Path, folders: &[&Path], name: &Path) -> io::Result<File> {
    let folder = folder.canonicalize()?;
    let path: std::path::PathBuf = folders.iter().copied().chain([name]).collect();
    let place = folder.join(path);
    // Links and other names of the same file differ from the canonical path.
    if place.canonicalize()? == place { File::open(place) } else { Err(invalid("the path has a link")) }
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn only_regular_files_below_the_folder_are_opened() {
        use std::io::Read;
        use std::os::unix::fs::symlink;
        use std::process::Command;

        use super::*;

        let base = std::env::temp_dir().join(format!("dragoman_files_below_{}", std::process::id()));
        let folder = base.join("folder");
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("inner/good"), "good").unwrap();
        std::fs::write(base.join("outside"), "outside").unwrap();
        symlink(base.join("outside"), folder.join("link")).unwrap();
        symlink("inner/good", folder.join("link_inside")).unwrap();
        symlink(&base, folder.join("up")).unwrap();
        symlink("/dev/zero", folder.join("zero")).unwrap();
        assert!(Command::new("mkfifo").arg(folder.join("pipe")).status().unwrap().success());
        let read = |path: &str| {
            let mut text = String::new();
            open_below(&folder, Path::new(path))?.read_to_string(&mut text).map(|_| text)
        };
        assert_eq!(read("inner/good").unwrap(), "good");
        assert_eq!(read("./inner/good").map_err(|error| error.kind()), Err(ErrorKind::InvalidInput));
        let absolute = base.join("outside");
        for path in [
            "../outside",
            "inner/../../outside",
            absolute.to_str().unwrap(),
            "link",
            "link_inside",
            "up/outside",
            "zero",
            "pipe",
            "inner",
            "none",
            "",
            "/",
        ] {
            assert!(read(path).is_err(), "{path}");
        }
        // The folder itself, and what is installed, may be behind links.
        symlink(&folder, base.join("other")).unwrap();
        assert!(open_below(&base.join("other"), Path::new("inner/good")).is_ok());
        assert!(open_regular(&folder.join("link")).is_ok());
        for path in ["pipe", "zero", "inner"] {
            assert!(open_regular(&folder.join(path)).is_err(), "{path}");
        }
        std::fs::remove_dir_all(base).unwrap();
    }
}
