//! The XML-documents: maps, roadmaps and programs (PlatformCtrl guide, 6.5).
//!
//! - [`Document`]: reading, writing and checking of a [`Map`], [`Roadmap`] or [`Program`];
//! - [`ProgramSource`]: a program with its comments, as XML or in a readable text form;
//! - `xml`: text as a tree of [`Element`]s with [`Position`]s;
//! - `element`, `value`: typed elements and attributes, each declared once; `map`, `roadmap`, `task`, `wait`: the elements.
//!
//! Errors have line and column: invalid XML, missing parts, values out of range, and inconsistencies found by
//! [`Document::check`].
//!
//! # Choices where the guide is silent
//!
//! | topic | choice |
//! | --- | --- |
//! | unknown elements and attributes | kept ([`Extra`], `Unknown`) and written again: a map of a newer platform stays complete. [`unknown`](Document::unknown) names each once. In a task and in a wait, [`check`](Document::check) refuses unknown elements, because the program would change without them |
//! | coordinates, angles | mm, degrees; numbers may have a fraction |
//! | required attributes | those without which an element has no meaning; the others are `Option`s |
//! | `Version`, `version` | both are read; written as read |
//! | `movingobject`, `movingobjects`; `lostlocalization`, `lostlocalisation` | equivalent; the table's spelling is written, or the other one if it was read |
//! | `edge` with "(points)" | `point` elements in it, or one `points` element with them; written as read |
//! | children of a layer, commands of a task | their order is kept |
//! | `timeout` | milliseconds, as `amount`; 0, negative or missing: no limit |
//! | `min`, `max` of a random delay | milliseconds |
//! | `condition` of a goto | `true`, `false`, or the key of a Boolean parameter; missing: always |
//! | `for` of a wait | not explained in the guide; kept |
//! | D1 to D12 | -1 if missing |
//! | missing fields of a date | any |
//! | comments, processing instructions | ignored, and not kept; [`ProgramSource`] keeps comments. To return the exact text, store the text |
//! | `<!DOCTYPE map SYSTEM "map.dtd">` | ignored; nothing is loaded. Refused with declarations in it |
//! | encoding | UTF-8, UTF-16 with a byte order mark, ISO 8859-1 or Windows-1252 if declared; UTF-8 is written. A text that is UTF-8 by now is declared so ([`declared_as_utf8`]) |

mod element;
mod map;
#[cfg(test)]
mod properties;
mod roadmap;
mod source;
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
pub use source::ProgramSource;
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
pub use xml::{
    Attribute, Element, MAX_ATTRIBUTES, MAX_DEPTH, MAX_DOCUMENT_LEN, MAX_ELEMENTS, Position,
    declared_as_utf8, decode,
};

use dragoman_text::{excerpt, number};
use element::Node;

/// A map, roadmap or program.
#[allow(private_bounds, reason = "no other documents")]
pub trait Document: Node {
    /// Name of its element.
    const ROOT: &'static str;

    /// Inconsistencies, in the order of the document. Empty: valid.
    fn check(&self) -> Vec<DocumentError>;

    /// Unknown parts, which are kept without effect, each kind once: at most 20, in the order of the document.
    fn unknown(&self) -> Vec<DocumentError> {
        let mut found = Vec::new();
        self.find_unknown(&mut found);
        once_each(found)
    }

    /// Parses a document without [`check`](Self::check).
    ///
    /// # Errors
    /// It is not XML, or does not follow the tables of the guide.
    fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        let root = xml::parse(&xml::decode(bytes)?)?;
        if root.name != Self::ROOT {
            let problem = Problem::Root { found: root.name, expected: Self::ROOT };
            return Err(DocumentError { position: root.position, problem });
        }
        Self::from_element(root)
    }

    /// Parses and checks a document.
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
    /// It has content that cannot be parsed again. Does not call [`check`](Self::check).
    fn write(&self) -> Result<String, WriteError> {
        self.to_element().and_then(|root| xml::write(&root))
    }
}

/// An error in a document, with its position.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{position}: {problem}")]
pub struct DocumentError {
    /// Position. All positions are equal: compare them by their text.
    pub position: Position,
    /// The kind of error.
    pub problem: Problem,
}

/// Kind of an error in a document.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Problem {
    #[error("{0}")]
    Syntax(String),
    #[error("a document type with declarations")]
    DocumentType,
    #[error("{len} bytes exceed the maximum of {MAX_DOCUMENT_LEN}")]
    TooLong { len: usize },
    #[error("more than {MAX_ELEMENTS} elements")]
    TooManyElements,
    #[error("elements nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    #[error("the document is a <{}>; a <{expected}> is needed", excerpt(.found))]
    Root { found: String, expected: &'static str },
    #[error("<{}> has text in it", excerpt(.element))]
    Text { element: String },
    #[error("<{element}> has no attribute '{attribute}'{hint}")]
    MissingAttribute { element: String, attribute: &'static str, hint: String },
    #[error("{attribute}=\"{}\" is not {kind}", excerpt(.value))]
    Value { attribute: &'static str, value: String, kind: &'static str },
    #[error("<{element}> needs {expected} <{child}>; it has {found}{hint}")]
    Children { element: String, child: &'static str, expected: &'static str, found: usize, hint: String },
    #[error("<{}> is not known{hint}", excerpt(.element))]
    Unknown { element: String, hint: String },
    /// Not an error: a part that the guide does not define.
    #[error("{part}{} is not known, and kept without effect{hint}", repeated(*.times))]
    Kept { part: String, hint: String, times: usize },
    #[error("{what} '{}' occurs twice", excerpt(.name))]
    Duplicate { what: &'static str, name: String },
    #[error("there is no {what} '{}'", excerpt(.name))]
    Missing { what: &'static str, name: String },
    #[error("there is no station '{}'{hint}", excerpt(.name))]
    NoStation { name: String, hint: String },
    #[error("the program has {found} {what}; the maximum is {maximum}")]
    TooMany { what: &'static str, found: usize, maximum: usize },
    #[error("{what} has no name")]
    Nameless { what: &'static str },
    #[error(
        "{what} is {}, which is not between {} and {}",
        number(*.value), number(*.minimum), number(*.maximum)
    )]
    Range { what: &'static str, value: f64, minimum: f64, maximum: f64 },
    #[error("the two ends are the same point")]
    NoLength,
    #[error("the points are collinear and enclose no area")]
    NoArea,
    #[error("the wait has neither an event nor a time limit")]
    WaitsForNothing,
    #[error("the date does not exist")]
    NoDate,
    #[error(transparent)]
    Parameter(crate::parameters::ParameterError),
}

/// Error writing a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum WriteError {
    /// A number is NaN or infinite.
    #[error("'{attribute}' of <{element}> is not a finite number")]
    NotFinite { element: String, attribute: String },
    /// A text contains a control character.
    #[error("'{attribute}' of <{element}> contains {character:?}, which is not permitted in XML")]
    Character { element: String, attribute: String, character: char },
    /// A name is not a valid XML name.
    #[error("{name:?} cannot be a name")]
    Name { name: String },
    /// An attribute occurs twice.
    #[error("<{element}> has '{attribute}' twice")]
    Duplicate { element: String, attribute: String },
    /// The document exceeds a limit of elements, depth, attributes or bytes.
    #[error("the document is too large; the limit is reached at a <{element}>")]
    TooLarge {
        /// The element at which the limit is exceeded.
        element: String,
    },
}

/// Maximum number of unknown parts that are named.
const MAX_UNKNOWN: usize = 20;

fn repeated(times: usize) -> String {
    if times > 1 { format!(" ({times} times)") } else { String::new() }
}

/// The first of each kind of unknown parts, with their number, in the order of the document.
fn once_each(found: Vec<DocumentError>) -> Vec<DocumentError> {
    let mut places = std::collections::BTreeMap::new();
    let mut once: Vec<DocumentError> = Vec::new();
    for one in found {
        let Problem::Kept { part, .. } = &one.problem else { continue };
        let place = *places.entry(part.clone()).or_insert(once.len());
        match once.get_mut(place) {
            Some(DocumentError { problem: Problem::Kept { times, .. }, .. }) => *times += 1,
            _ => once.push(one),
        }
    }
    once.sort_by_key(|one| (one.position.line, one.position.column));
    once.truncate(MAX_UNKNOWN);
    once
}

/// Adds an error.
fn report(errors: &mut Vec<DocumentError>, position: Position, problem: Problem) {
    errors.push(DocumentError { position, problem });
}

/// Checks that names are unique and not empty.
fn check_names<'a>(
    what: &'static str,
    names: impl Iterator<Item = (&'a str, Position)>,
    errors: &mut Vec<DocumentError>,
) -> std::collections::BTreeSet<&'a str> {
    let mut seen = std::collections::BTreeSet::new();
    for (name, position) in names {
        if name.is_empty() {
            report(errors, position, Problem::Nameless { what });
        } else if !seen.insert(name) {
            report(errors, position, Problem::Duplicate { what, name: name.to_owned() });
        }
    }
    seen
}

/// Checks a number against limits; NaN is out of range.
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
