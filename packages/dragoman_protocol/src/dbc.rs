//! DBC files, in which makers describe the messages of a CAN bus: read, and made into a description.
//!
//! [`Dbc::read`] takes the text apart, [`describe`] writes the description of one node of the bus, the machine. What a
//! description cannot say is left out, and named in [`Imported::notes`].
//!
//! Fields have the names of signals in small letters, see [`field_name`].

mod describe;
mod layout;
mod multiplex;
mod names;
mod statements;
mod words;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use describe::{Imported, Options, describe};
pub use names::field_name;

/// Maximum size of a file, bytes.
pub const MAX_SIZE: usize = 8 << 20;
/// Maximum number of notes that are kept.
const MAX_NOTES: usize = 200;
/// Maximum number of nodes.
const MAX_NODES: usize = 2000;
/// Maximum number of signals of a message.
const MAX_SIGNALS: usize = 1024;
/// Marks identifiers of 29 bits.
const EXTENDED: u32 = 1 << 31;
/// Maximum identifiers of 29 and 11 bits.
const MAX_ID: [u32; 2] = [0x1FFF_FFFF, 0x7FF];

/// A DBC file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dbc {
    /// Its version, a text of the author.
    pub version: String,
    /// Bit rate of the bus, if the file says it.
    pub bit_rate: Option<u32>,
    /// The nodes of the bus, with comments.
    pub nodes: Vec<(String, String)>,
    /// The messages.
    pub messages: Vec<DbcMessage>,
    /// What was not understood.
    pub notes: Notes,
}

/// A message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DbcMessage {
    /// Its line, from 1.
    pub line: usize,
    /// Its identifier; one of 29 bits has bit 31 as well.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Bytes of a frame.
    pub size: usize,
    /// The nodes that send it.
    pub senders: Vec<String>,
    /// Its signals.
    pub signals: Vec<Signal>,
    /// Its comment.
    pub comment: String,
    /// Time from one to the next, ms, if the file says it.
    pub period_ms: Option<f64>,
}

/// A signal: a part of a message.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Signal {
    pub line: usize,
    pub name: String,
    /// Its first bit as DBC files count: the lowest bit of a little-endian signal, the highest one of a big-endian one.
    pub start: usize,
    /// Number of its bits.
    pub length: usize,
    pub is_big_endian: bool,
    pub is_signed: bool,
    /// It is a floating-point number.
    pub is_float: bool,
    /// Value = number * factor + offset.
    pub factor: f64,
    pub offset: f64,
    pub minimum: f64,
    pub maximum: f64,
    pub unit: String,
    pub receivers: Vec<String>,
    pub comment: String,
    /// Names of its numbers.
    pub values: Arc<[(i64, String)]>,
    /// Others are there or not by its number.
    pub is_switch: bool,
    /// It is there for this number of a switch.
    pub switched_by: Option<u64>,
    /// Its switch and the ranges of numbers, if the file names them.
    pub switch: Option<(String, Vec<[u64; 2]>)>,
}

/// Why a file is not a DBC file, or cannot be made into a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{reason}", line.map_or(String::new(), |line| format!("line {line}: ")))]
pub struct DbcError {
    /// The line, from 1, if it is the fault of one.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl DbcError {
    fn at(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), reason: dragoman_text::line(&reason.into()).into_owned() }
    }
}

/// What was left out, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    lines: Vec<String>,
    more: usize,
}

impl Notes {
    fn add(&mut self, note: impl AsRef<str>) {
        if self.lines.len() < MAX_NOTES {
            self.lines.push(dragoman_text::line(note.as_ref()).into_owned());
        } else {
            self.more += 1;
        }
    }

    /// Each with its place.
    pub fn lines(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let more = (self.more > 0).then(|| Cow::Owned(format!("and {} more", self.more)));
        self.lines.iter().map(|line| Cow::Borrowed(line.as_str())).chain(more)
    }
}

impl Dbc {
    /// Reads a file. Bytes that are not UTF-8 are taken for ISO 8859-1, as older tools write.
    ///
    /// # Errors
    /// The file is too large, or a line is not one of a DBC file.
    pub fn read(bytes: &[u8]) -> Result<Self, DbcError> {
        if bytes.len() > MAX_SIZE {
            let reason = format!("{} bytes; at most {MAX_SIZE} are possible", bytes.len());
            return Err(DbcError { line: None, reason });
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
            Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
        };
        statements::read(&text)
    }

    /// The nodes, and those that messages name as senders.
    fn node_names(&self) -> BTreeSet<&str> {
        let senders = self.messages.iter().flat_map(|message| &message.senders);
        let nodes = self.nodes.iter().map(|(name, _)| name).chain(senders);
        nodes.map(String::as_str).filter(|name| is_node(name)).collect()
    }
}

/// Whether a name is that of a node: files write `Vector__XXX` where there is none.
fn is_node(name: &str) -> bool {
    !name.is_empty() && !name.eq_ignore_ascii_case("Vector__XXX")
}
