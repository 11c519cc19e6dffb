//! Reading a file, from its beginning or its summary.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use dragoman_ros::files::{open_below, open_regular};
use mcap::McapError;
use mcap::records::Record;

use super::records::{Records, summary};
use super::{BagError, chunk};

/// First bytes of other recordings, and what to do with them.
const FOREIGN: [(&[u8], &str); 3] = [
    (
        b"SQLite format 3\0",
        "it is a bag of rosbag2 in sqlite3; `ros2 bag convert -i FOLDER -o mcap.yaml` makes one that can be played, with \
         `output_bags: [{uri: NEW, storage_id: mcap, all_topics: true}]` in mcap.yaml",
    ),
    (
        b"#ROSBAG V",
        "it is a bag of ROS 1; `rosbags-convert --src FILE --dst FOLDER --dst-storage mcap` of the Python package rosbags \
         makes one that can be played",
    ),
    (b"\x28\xb5\x2f\xfd", "it is compressed as a whole; `unzstd FILE` makes one that can be played"),
];

/// A file, read from its beginning.
pub(crate) struct Reader {
    file: File,
    path: PathBuf,
    records: Records,
}

impl Reader {
    /// With a `folder`, the file must be below it.
    pub(crate) fn open(path: &Path, folder: Option<&Path>) -> Result<Self, BagError> {
        let file = match folder {
            Some(folder) => open_below(folder, path.strip_prefix(folder).unwrap_or(path)),
            None => open_regular(path),
        };
        let failed = |source| BagError::Read { path: path.to_owned(), source };
        let mut file = file.map_err(failed)?;
        let mut start = Vec::new();
        file.by_ref().take(16).read_to_end(&mut start).map_err(failed)?;
        file.rewind().map_err(failed)?;
        match FOREIGN.iter().find(|(magic, _)| start.starts_with(magic)) {
            Some((_, reason)) => {
                Err(BagError::Format { path: path.to_owned(), reason: (*reason).to_owned() })
            }
            None => Ok(Self { file, path: path.to_owned(), records: Records::default() }),
        }
    }

    /// Passes all records to `take`, up to the place where the file was cut off, for example because the recorder was
    /// killed.
    pub(crate) fn read(&mut self, mut take: impl FnMut(Record<'_>)) -> Result<(), BagError> {
        while self.read_some(&mut take)? {}
        Ok(())
    }

    /// Gives the next records to `take`; returns whether there may be more.
    pub(crate) fn read_some(&mut self, take: impl FnMut(Record<'_>)) -> Result<bool, BagError> {
        self.records.read_some(&mut self.file, take).map_err(|error| self.error(error))
    }

    /// The summary at the end of a complete file; the next reading starts at the beginning.
    pub(crate) fn summary(&mut self) -> Result<Option<Vec<Record<'static>>>, BagError> {
        let summary = summary(&mut self.file)
            .filter(|records| records.iter().any(|record| matches!(record, Record::Statistics(_))));
        self.file.rewind().map_err(|error| self.error(McapError::Io(error)))?;
        let mut compressions = summary.iter().flatten().filter_map(|record| match record {
            Record::ChunkIndex(chunk) => Some(&chunk.compression),
            _ => None,
        });
        match compressions.find(|name| !chunk::is_known(name)) {
            Some(name) => Err(self.error(McapError::UnsupportedCompression(name.clone()))),
            None => Ok(summary),
        }
    }

    fn error(&self, error: McapError) -> BagError {
        let path = self.path.clone();
        match error {
            McapError::Io(source) => BagError::Read { path, source },
            McapError::UnsupportedCompression(name) => {
                let reason = format!(
                    "its chunks are compressed ({name}); `mcap compress --compression zstd` changes that"
                );
                BagError::Format { path, reason }
            }
            other => BagError::Format { path, reason: other.to_string() },
        }
    }
}
