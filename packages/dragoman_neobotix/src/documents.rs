//! The XML-documents: maps, roadmaps and programs (seed 002, section 6.5).
//!
//! - [`Document`]: reading, writing and checking of a [`Map`], [`Roadmap`] or [`Program`];
//! - `xml`: text as a tree of [`Element`]s with [`Position`]s;
//! - `element`, `value`: typed elements and attributes, each declared once; `map`, `roadmap`, `task`, `wait`: which there are.
//!
//! What is wrong is refused with line and column: what is no XML, what lacks something or has a value that it cannot
//! have, and, by [`Document::check`], what makes no sense.
//!
//! # What the guide leaves open, and how it is read here
//!
//! | where | read as |
//! | --- | --- |
//! | elements and attributes that the guide does not know | kept ([`Extra`], `Unknown`) and written again: a map of a newer platform loses nothing on its way through us. In a task and in a wait, where one cannot be left out without changing what the program does, [`check`](Document::check) refuses it |
//! | coordinates, angles | mm, degrees; numbers may have a fraction |
//! | which attributes are needed | those without which an element has no meaning; the others are `Option`s |
//! | `Version`, `version` | either, written as it was read |
//! | `movingobject`, `movingobjects`; `lostlocalization`, `lostlocalisation` | the same; the table's spelling is written, the other one where it was read |
//! | `edge` with "(points)" | `point` elements in it, or one `points` element with them; written as it was read |
//! | children of a layer, commands of a task | in their order, which is kept |
//! | `timeout` | milliseconds, as `amount`; 0, less or none: no limit |
//! | `min`, `max` of a random delay | milliseconds |
//! | `condition` of a goto | `true`, `false`, or the key of a Boolean parameter; none: always |
//! | `for` of a wait | not explained in the guide; kept as it is |
//! | D1 to D12 | -1 where they are missing |
//! | fields of a date that are missing | any |
//! | comments, processing instructions | read over, and not kept. Who has to give back the very text keeps the text |
//! | `<!DOCTYPE map SYSTEM "map.dtd">` | read over; nothing is loaded. With declarations in it: refused |
//! | encoding | UTF-8, or ISO 8859-1 where it is declared; UTF-8 is written |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod element;
mod map;
#[cfg(test)]
mod properties;
mod roadmap;
mod task;
mod task_check;
mod value;
mod wait;
mod xml;

pub use element::{Extra, Version};
pub use map::{
    AuxiliaryLine, Center, CircleElement, HiddenLabel, HiddenPolygon, Layer, LineElement, Map, MapItem,
    MappedAuxiliaryLine, MappedLine, PointElement, ProhibitedArea, Radius, Reflector, Workarea,
};
pub use roadmap::{Edge, Edges, PointList, Roadmap, Station, Stations};
pub use task::{
    Audio, AudioAction, Bit, ChargingStation, Condition, Coordinates, DigitalOut, Goto, Grab, IoEvent, Label,
    Load, Log, Motion, MotionAction, MoveCamera, MoveTarget, MoveTo, OutputState, Outputs, Parameter, Play,
    Program, Set, SetTarget, Speak, StationTarget, Step, Surveillance, SurveillanceAction, TargetPlace, Task,
    TrackedBall, TrackedMovingObject, TrackedPerson, TurnHead,
};
pub use wait::{
    Ball, BatteryCharge, Collision, Date, Delay, Infrared, LostLocalization, MovingObject, Person, Radar,
    Random, TargetReached, UserEvent, Wait, WaitEvent,
};
pub use xml::{Attribute, Element, MAX_ATTRIBUTES, MAX_DEPTH, MAX_DOCUMENT_LEN, MAX_ELEMENTS, Position};

use element::Node;

/// A map, roadmap or program.
#[allow(private_bounds, reason = "no other documents")]
pub trait Document: Node {
    /// Name of its element.
    const ROOT: &'static str;

    /// What makes no sense, in the order of the document. Empty: all is well.
    fn check(&self) -> Vec<DocumentError>;

    /// Reads a document that may not make sense.
    ///
    /// # Errors
    /// It is no XML, or not what the guide's tables have.
    fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let root = xml::parse(&xml::decode(bytes)?)?;
        if root.name != Self::ROOT {
            let problem = Problem::Root { found: root.name, expected: Self::ROOT };
            return Err(DocumentError { position: root.position, problem });
        }
        Self::from_element(root)
    }

    /// Reads a document that makes sense.
    ///
    /// # Errors
    /// Those of [`parse`](Self::parse), or the first of [`check`](Self::check).
    fn read(bytes: &[u8]) -> Result<Self, DocumentError> {
        let document = Self::parse(bytes)?;
        match document.check().into_iter().next() {
            Some(error) => Err(error),
            None => Ok(document),
        }
    }

    /// The document's text. Reading it gives the same document.
    ///
    /// # Errors
    /// It holds what cannot be read again. [`check`](Self::check) is not asked.
    fn write(&self) -> Result<String, WriteError> {
        self.to_element().and_then(|root| xml::write(&root))
    }
}

/// What is wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{position}: {problem}")]
pub struct DocumentError {
    /// Where. All positions are equal: compare them by their text.
    pub position: Position,
    /// What.
    pub problem: Problem,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Problem {
    #[error("{0}")]
    Syntax(String),
    #[error("a document type with declarations of its own")]
    DocumentType,
    #[error("{len} bytes are more than the {MAX_DOCUMENT_LEN} that a document may have")]
    TooLong { len: usize },
    #[error("more than {MAX_ELEMENTS} elements")]
    TooManyElements,
    #[error("more than {MAX_DEPTH} elements within each other")]
    TooDeep,
    #[error("more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    #[error("the document is a <{found}>; a <{expected}> is needed")]
    Root { found: String, expected: &'static str },
    #[error("<{element}> has text in it")]
    Text { element: String },
    #[error("<{element}> has no attribute '{attribute}'")]
    MissingAttribute { element: String, attribute: &'static str },
    #[error("{attribute}=\"{value}\" is not {kind}")]
    Value { attribute: &'static str, value: String, kind: &'static str },
    #[error("<{element}> needs {expected} <{child}>; it has {found}")]
    Children { element: String, child: &'static str, expected: &'static str, found: usize },
    #[error("<{element}> is not known")]
    Unknown { element: String },
    #[error("{what} '{name}' is there twice")]
    Duplicate { what: &'static str, name: String },
    #[error("there is no {what} '{name}'")]
    Missing { what: &'static str, name: String },
    #[error("{what} has no name")]
    Nameless { what: &'static str },
    #[error("{what} is {value}, which is no number between {minimum} and {maximum}")]
    Range { what: &'static str, value: f64, minimum: f64, maximum: f64 },
    #[error("the two ends are the same point")]
    NoLength,
    #[error("the points are on one line, and enclose nothing")]
    NoArea,
    #[error("it waits for nothing, and without a limit")]
    WaitsForNothing,
    #[error("there is no such date")]
    NoDate,
    #[error(transparent)]
    Parameter(crate::parameters::ParameterError),
}

/// Why a document cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// NaN or infinite.
    #[error("'{attribute}' of <{element}> is no finite number")]
    NotFinite {
        /// The element.
        element: String,
        /// Its attribute.
        attribute: String,
    },
    /// A control character.
    #[error("'{attribute}' of <{element}> has {character:?} in it, which XML does not have")]
    Character {
        /// The element.
        element: String,
        /// Its attribute.
        attribute: String,
        /// The character.
        character: char,
    },
    /// What is to be a name is none.
    #[error("{name:?} cannot be a name")]
    Name {
        /// The name.
        name: String,
    },
    /// An attribute of the guide, or one beyond, comes twice.
    #[error("<{element}> has '{attribute}' twice")]
    Duplicate {
        /// The element.
        element: String,
        /// Its attribute.
        attribute: String,
    },
    /// More elements, deeper, more attributes or more bytes than a document may have.
    #[error("the document is too large; the limit is reached at a <{element}>")]
    TooLarge {
        /// Where.
        element: String,
    },
}

/// Says that there is something wrong.
fn report(errors: &mut Vec<DocumentError>, position: Position, problem: Problem) {
    errors.push(DocumentError { position, problem });
}

/// Names that must not be empty nor come twice.
fn check_names<'a>(
    what: &'static str,
    names: impl Iterator<Item = (&'a str, Position)>,
    errors: &mut Vec<DocumentError>,
) -> std::collections::HashSet<&'a str> {
    let mut seen = std::collections::HashSet::new();
    for (name, position) in names {
        if name.is_empty() {
            report(errors, position, Problem::Nameless { what });
        } else if !seen.insert(name) {
            report(errors, position, Problem::Duplicate { what, name: name.to_owned() });
        }
    }
    seen
}

/// A number within limits; NaN is in none.
fn check_range(
    what: &'static str,
    value: f64,
    [minimum, maximum]: [f64; 2],
    position: Position,
    errors: &mut Vec<DocumentError>,
) {
    if !(minimum..=maximum).contains(&value) {
        report(errors, position, Problem::Range { what, value, minimum, maximum });
    }
}
