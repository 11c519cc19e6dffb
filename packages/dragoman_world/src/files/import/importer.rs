//! Notes about elements that are not imported, and names.

use std::collections::BTreeSet;
use std::fmt;

use dragoman_urdf::xml;

use crate::files::Files;
use crate::world::key;

/// Maximum length of a name, bytes.
const MAX_NAME_LEN: usize = 200;

/// A note about an element that was omitted or changed.
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

/// What is noted during the import.
pub(super) struct Importer<'a> {
    pub(super) files: Files<'a>,
    pub(super) mesh_folder: &'a str,
    pub(super) notes: Vec<Note>,
    /// Used names, as far as they differ in topics and frames of ROS.
    pub(super) names: BTreeSet<String>,
}

impl Importer<'_> {
    pub(super) fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(Note { line, text: text.into() });
    }

    /// The element's name, made unique; `usual` if it has none.
    pub(super) fn name(&mut self, element: &xml::Element, usual: &str) -> String {
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
