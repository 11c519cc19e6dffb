//! Reads worlds of the simulator Apolo, XML files, and writes them as world files.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`world`], the notes about what is not taken, names |
//! | `values.rs` | numbers, poses and colours of elements |
//! | `shapes.rs` | parts of bodies: faces, prisms, cylinders, spheres, meshes |
//! | `scene.rs` | bodies, robots, sensors, landmarks, and what is linked to what |
//! | `noise.rs` | the noise that follows from the register numbers of a course |
//! | `unknown.rs` | what is in the file and is not read |
//! | `write.rs` | YAML |
//!
//! The format is that of Apolo's library MRCore. As Apolo does, elements take a default for what they leave out.

mod noise;
mod scene;
mod shapes;
mod unknown;
mod values;
mod write;

use std::collections::BTreeSet;
use std::fmt;

use dragoman_urdf::xml;

use super::Files;
use crate::world::key;

/// Maximum length of a name, bytes.
const MAX_NAME_LEN: usize = 200;

/// Something that was not taken, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Line of the element, from 1.
    pub line: usize,
    /// What was changed and why.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

/// Number of imported elements by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Counts {
    /// Bodies, with any number of shapes.
    pub bodies: usize,
    /// Robots on wheels.
    pub robots: usize,
    /// Lasers and ultrasonic sensors.
    pub sensors: usize,
    pub landmarks: usize,
}

/// An imported world.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The world file. [`crate::Worlds::from_yaml`] loads it.
    pub yaml: String,
    /// In the order of the lines.
    pub notes: Vec<Note>,
    /// How much was taken.
    pub counts: Counts,
}

/// Why a file cannot be imported.
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

struct Importer<'a> {
    files: Files<'a>,
    mesh_folder: &'a str,
    notes: Vec<Note>,
    /// Used names, as far as they differ in topics and frames of ROS.
    names: BTreeSet<String>,
}

impl Importer<'_> {
    fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Note { line, text: text.into() });
    }

    /// The element's name, made unique; `usual` if it has none.
    fn name(&mut self, element: &xml::Element, usual: &str) -> String {
        let given: String = element.attribute("name").unwrap_or_default().trim().to_owned();
        let cleaned: String = given.chars().filter(|letter| !letter.is_control()).collect();
        let wanted = if key(&cleaned).is_empty() { usual } else { &cleaned };
        let mut end = wanted.len().min(MAX_NAME_LEN);
        while !wanted.is_char_boundary(end) {
            end -= 1;
        }
        let wanted = wanted.get(..end).unwrap_or_default().trim_end();
        let mut name = wanted.to_owned();
        let mut number = 2;
        while !self.names.insert(token(&name)) {
            name = format!("{wanted} {number}");
            number += 1;
        }
        if !given.is_empty() && name != given {
            self.note(element.line, format!("{given:?} is named {name:?}: names have to differ"));
        }
        name
    }
}

/// A name as topics and frames distinguish it: lower case, other characters than letters and digits as one `_`.
fn token(name: &str) -> String {
    let mut token = String::new();
    for letter in name.chars() {
        let letter = if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        if !(letter == '_' && token.ends_with('_')) {
            token.push(letter);
        }
    }
    token
}
