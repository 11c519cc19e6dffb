//! Recordings in MCAP, the format of `rosbag2`.
//!
//! | file | holds |
//! | --- | --- |
//! | `bag/writer.rs` | writes a file |
//! | `bag/reader.rs` | reads one |
//! | `bag/records.rs` | its bytes as records, also when it was cut off |
//! | `bag/layout.rs` | one record from its bytes |
//! | `bag/chunk.rs` | the records of a chunk, compressed or not |
//! | `bag/split.rs` | the files of a folder of `rosbag2` |

mod chunk;
mod layout;
mod reader;
mod records;
mod split;
mod writer;

use std::path::PathBuf;

pub(crate) use reader::Reader;
pub(crate) use split::files;
#[cfg(test)]
pub(crate) use tests::Folder;
pub(crate) use writer::Writer;

/// How the chunks of a file are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Compression {
    /// LZ4, where that saves more than a tenth.
    #[default]
    Lz4,
    /// Not at all.
    None,
}

/// Error of reading a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BagError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: std::io::Error,
    },
    /// Not a recording, or a damaged one.
    #[error("{} is no recording that can be read: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    //! A folder with files, for tests.

    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A temporary folder, removed when dropped.
    pub(crate) struct Folder(PathBuf);

    impl Folder {
        /// With these files: name, contents.
        pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("dragoman_bag_{}_{number}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            for (name, bytes) in files {
                std::fs::write(path.join(name), bytes).unwrap();
            }
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }
}
