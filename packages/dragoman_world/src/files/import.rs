//! Reads worlds of the simulator Apolo, XML files, and writes them as world files.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`world`] |
//! | `values.rs` | numbers, poses and colours of elements |
//! | `shapes.rs` | parts of bodies: faces, prisms, cylinders, spheres, meshes |
//! | `scene.rs` | bodies, robots, sensors, landmarks, and the links between them |
//! | `noise.rs` | the noise that follows from the register numbers of a course |
//! | `unknown.rs` | notes about contents that the import does not read |
//! | `write.rs` | YAML |
//! | `importer.rs` | notes and names |
//!
//! The format is that of Apolo's library MRCore. As Apolo does, elements take a default for what they leave out.

mod importer;
mod noise;
mod scene;
mod shapes;
mod unknown;
mod values;
mod write;

use std::collections::BTreeSet;

use dragoman_urdf::xml;

use super::Files;
use importer::Importer;
pub use importer::{Counts, Note};

/// An imported world.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The world file. [`crate::Worlds::from_yaml`] loads it.
    pub yaml: String,
    /// In the order of the lines.
    pub notes: Vec<Note>,
    /// Number of imported elements.
    pub counts: Counts,
}

/// Error importing a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The XML is malformed.
    #[error("line {line}: {reason}")]
    Syntax {
        /// Line of the error, from 1.
        line: usize,
        /// The error.
        reason: String,
    },
    /// Well-formed XML without any element of a world.
    #[error("the file has no <World>, and nothing that a world can hold")]
    NoWorld,
}

impl From<xml::XmlError> for ImportError {
    fn from(xml::XmlError { line, reason }: xml::XmlError) -> Self {
        Self::Syntax { line, reason }
    }
}

/// Imports a world. `files` reads the mesh files that it names, relative to its folder; the world file refers to them
/// with `mesh_folder` before their names.
///
/// # Errors
/// XML that is malformed, or holds nothing of a world. Elements that cannot be taken are [`Import::notes`].
pub fn world(text: &[u8], files: Files<'_>, mesh_folder: &str) -> Result<Import, ImportError> {
    let (text, encoding) = dragoman_urdf::decode(text);
    let root = xml::parse(&text)?;
    let notes = encoding.into_iter().map(|note| Note { line: note.line, text: note.text }).collect();
    let mut importer = Importer { files, mesh_folder, notes, names: BTreeSet::new() };
    // `map` is the frame of the world in ROS.
    importer.names.insert("map".to_owned());
    let scene = importer.scene(&root).ok_or(ImportError::NoWorld)?;
    let mut notes = importer.notes;
    notes.sort_by_key(|note| note.line);
    Ok(Import { yaml: write::world(&scene), notes, counts: scene.counts() })
}
