//! Robot descriptions in URDF, with the faults that published files have.
//!
//! Faults in parts that Dragoman does not use do not stop a robot. Visual shapes, masses, extensions of other programs,
//! and joints that do not belong to the arm are read leniently, with a [`Note`] for each fault: its line, and what was
//! left out. The arm itself is read strictly: before code uses a joint, an inertia or a collision shape, it checks with
//! [`Description::fault`] whether that has a fault. The links must always form a tree.
//!
//! | file | holds |
//! | --- | --- |
//! | `encoding` | bytes of a file as text |
//! | `xml` | text as elements with lines |
//! | `reader` | elements as `urdf-rs`'s types, with notes |
//! | `values` | numbers and names in attributes |
//! | `structure` | checks that the links form a tree |
//! | `edit` | changes of a text |
//!
//! ```
//! let text = "<robot name='lamp'><link name='foot'><visual/></link></robot>";
//! let lamp = dragoman_urdf::Description::parse(text).unwrap();
//! assert_eq!(lamp.root, "foot");
//! assert_eq!(lamp.notes[0].to_string(), "line 1: link foot: <geometry> is missing; the <visual> is left out");
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod edit;
mod encoding;
mod reader;
mod structure;
mod values;
pub mod xml;

use std::fmt;

pub use edit::with_origins;
pub use encoding::decode;

/// A description that was read.
#[derive(Debug, Clone)]
pub struct Description {
    /// Its content, with substitutes for faults that have notes: no inertia, no shape, an axis along x, no limits.
    pub robot: urdf_rs::Robot,
    /// Name of the link that has no parent.
    pub root: String,
    /// What was left out or read otherwise, by lines.
    pub notes: Vec<Note>,
}

/// Why a text is not a robot description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct UrdfError {
    /// Where, from 1.
    pub line: usize,
    /// What is wrong, with the element.
    pub reason: String,
}

/// Something in a description that was left out or read otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where, from 1.
    pub line: usize,
    /// What has the fault.
    pub about: About,
    /// What is wrong, with the element.
    pub text: String,
    /// What was done, for example that something is left out; empty: nothing.
    pub done: String,
}

impl Note {
    /// The note as an error, for callers that do not accept the substitute.
    pub fn fault(&self) -> UrdfError {
        UrdfError { line: self.line, reason: self.text.clone() }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.text)?;
        if self.done.is_empty() { Ok(()) } else { write!(formatter, "; {}", self.done) }
    }
}

/// What a note concerns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Nothing that Dragoman needs for an arm.
    Nothing,
    /// The motion of this joint.
    Joint(String),
    /// Mass and inertia of this link, or the friction of the joint above it.
    Inertia(String),
    /// A shape of this link for collisions.
    Collision(String),
}

impl Description {
    /// Reads a description.
    ///
    /// # Errors
    /// The text is not XML, or not a robot description; a link or joint has no name, or refers to one that does not
    /// exist; the links do not form a tree.
    pub fn parse(text: &str) -> Result<Self, UrdfError> {
        reader::read(text)
    }

    /// The first note of this.
    pub fn fault(&self, about: &About) -> Option<&Note> {
        self.notes.iter().find(|note| note.about == *about)
    }
}
