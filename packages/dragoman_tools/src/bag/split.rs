//! The files of a recording: `rosbag2` makes a folder with `metadata.yaml`, and one file after the other in it.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use super::BagError;

/// Name of the file that lists the others.
const METADATA: &str = "metadata.yaml";

/// Maximum length of a list that is read, bytes: it names every topic.
const MAX_METADATA_LEN: u64 = 16 << 20;

/// The needed fields of `metadata.yaml`.
#[derive(Deserialize)]
struct Metadata {
    rosbag2_bagfile_information: Information,
}

#[derive(Deserialize)]
struct Information {
    relative_file_paths: Vec<PathBuf>,
    #[serde(default)]
    compression_mode: String,
}

/// The files of a recording, in their order: of a folder those in it, else the file itself.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>, BagError> {
    let on_disk = dragoman_time::on_disk(path);
    if !on_disk.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let refused = |reason: String| BagError::Format { path: path.to_owned(), reason };
    let list = path.join(METADATA);
    let text = match read(&list) {
        Ok(text) => text,
        // A killed recorder has not written it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return found(path, &on_disk),
        Err(source) => return Err(BagError::Read { path: list, source }),
    };
    let Metadata { rosbag2_bagfile_information: known } = serde_norway::from_str(&text)
        .map_err(|error| BagError::Format { path: list, reason: error.to_string() })?;
    if let mode @ ("FILE" | "MESSAGE" | "file" | "message") = known.compression_mode.as_str() {
        let each = mode.to_lowercase();
        return Err(refused(format!(
            "each {each} in it is compressed; `ros2 bag convert -i {} -o mcap.yaml` makes one that can be played, with \
             `output_bags: [{{uri: NEW, storage_id: mcap, all_topics: true}}]` in mcap.yaml",
            path.display()
        )));
    }
    if known.relative_file_paths.is_empty() {
        return Err(refused(format!("its {METADATA} names no file")));
    }
    // Old versions name the folder as well.
    let parent = path.parent().unwrap_or(Path::new(""));
    let is_below = |name: &Path| name.components().all(|part| matches!(part, Component::Normal(_)));
    let mut files = Vec::new();
    for name in known.relative_file_paths {
        if !is_below(&name) {
            return Err(refused(format!("its {METADATA} names a file outside: {}", name.display())));
        }
        let file = path.join(&name);
        let names_folder = path.file_name().is_some_and(|folder| name.starts_with(folder));
        let is_old = names_folder && !dragoman_time::on_disk(&file).exists();
        files.push(if is_old { parent.join(name) } else { file });
    }
    Ok(files)
}

/// The files of a folder without a list, by the number at the end of their names.
fn found(path: &Path, on_disk: &Path) -> Result<Vec<PathBuf>, BagError> {
    let failed = |source| BagError::Read { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(on_disk).map_err(failed)? {
        let name = PathBuf::from(entry.map_err(failed)?.file_name());
        if name.extension() == Some(OsStr::new("mcap")) {
            files.push((number(&name), name));
        }
    }
    if files.is_empty() {
        let reason = format!("it is a folder without {METADATA} and without a file that ends with .mcap");
        return Err(BagError::Format { path: path.to_owned(), reason });
    }
    files.sort();
    Ok(files.into_iter().map(|(_, name)| path.join(name)).collect())
}

/// The number at the end of a name: 12 of `run_12.mcap`.
fn number(name: &Path) -> Option<u64> {
    let stem = name.file_stem()?.to_str()?;
    stem.rsplit('_').next()?.parse().ok()
}

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    let file = dragoman_ros::files::open_regular(path)?;
    file.take(MAX_METADATA_LEN).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::Folder;
    use super::*;

    fn files_of(folder: &Folder) -> Result<Vec<String>, String> {
        let name = |path: PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
        files(folder.path())
            .map(|files| files.into_iter().map(name).collect())
            .map_err(|error| error.to_string())
    }

    fn list(files: &str, mode: &str) -> String {
        format!(
            "rosbag2_bagfile_information:\n  version: 9\n  storage_identifier: mcap\n  \
             relative_file_paths: {files}\n  compression_format: \"\"\n  compression_mode: \"{mode}\"\n"
        )
    }

    #[test]
    fn the_list_determines_the_order() {
        let text = list("[run_0.mcap, run_2.mcap, run_10.mcap]", "");
        let folder = Folder::new(&[("metadata.yaml", text.as_bytes()), ("other.mcap", b"")]);
        assert_eq!(files_of(&folder).unwrap(), ["run_0.mcap", "run_2.mcap", "run_10.mcap"]);
    }

    #[test]
    fn without_a_list_the_numbers_determine_the_order() {
        let names =
            ["run_0.mcap", "run_10.mcap", "run_2.mcap", "notes.txt"].map(|name| (name, b"".as_slice()));
        let folder = Folder::new(&names);
        assert_eq!(files_of(&folder).unwrap(), ["run_0.mcap", "run_2.mcap", "run_10.mcap"]);
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_the_reason() {
        for (text, words) in [
            (list("[a.mcap.zstd]", "FILE"), "each file in it is compressed; `ros2 bag convert"),
            (list("[a.mcap]", "MESSAGE"), "each message in it is compressed"),
            (list("[../../a.mcap]", ""), "names a file outside: ../../a.mcap"),
            (list("[]", ""), "names no file"),
            ("a: 1".to_owned(), "missing field"),
        ] {
            let folder = Folder::new(&[("metadata.yaml", text.as_bytes())]);
            let error = files_of(&folder).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        let empty = Folder::new(&[]);
        assert!(files_of(&empty).unwrap_err().contains("without metadata.yaml and without a file"));
    }
}
