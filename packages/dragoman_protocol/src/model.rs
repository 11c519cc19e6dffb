//! A description, read and checked.

use std::collections::{BTreeMap, BTreeSet};

use dragoman_text::yaml::{self, YamlError};
use serde::Deserialize;

use crate::kind::{Base, Count, Kind};

/// A protocol.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Its name in code.
    #[serde(rename = "protocol")]
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// The document that defines it.
    pub source: String,
    /// What holds for all messages: units, frames, conventions.
    #[serde(default)]
    pub about: String,
    /// What carries it.
    #[serde(with = "serde_norway::with::singleton_map")]
    pub link: Link,
    /// How values become bytes.
    #[serde(default)]
    pub encoding: Encoding,
    /// Order of the bytes of numbers.
    #[serde(default)]
    pub order: Order,
    /// How messages are cut out of what is received.
    pub frame: Frame,
    /// Types of fields that more than one message has, or that have names for their values.
    #[serde(default)]
    pub types: Vec<Type>,
    /// The messages.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// Groups of messages, each with a code of its own.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// Texts that stand for errors and warnings.
    #[serde(default)]
    pub notices: Option<Notices>,
}

/// What carries a protocol, with the usual port, or bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Link {
    Udp(u16),
    Tcp(u16),
    Serial(u32),
    Can(u32),
}

/// How values become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One after the other, each with the size of its type.
    #[default]
    Plain,
    /// XDR (RFC 4506) as Player has it: whole numbers of fewer bits take four bytes; a list has its length in
    /// front of its elements, also where another field has it, so that of `[u32]` stands twice; bytes and texts are padded to a
    /// multiple of four.
    Xdr,
    /// As characters, with blanks between them.
    Blanks,
}

/// Order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The most significant one first.
    #[default]
    Big,
    /// The least significant one first.
    Little,
}

/// How messages are cut out of what is received, and what is around them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Where a message begins and ends.
    pub cut: Cut,
    /// What a message consists of; one is the code, one the body, whose fields depend on the code.
    pub fields: Vec<Field>,
    /// What is different in an answer.
    #[serde(default)]
    pub answer: String,
}

/// Where a message begins and ends. One of these is given.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cut {
    /// A datagram of so many bytes.
    pub datagram: Option<usize>,
    /// Minimum size of a datagram, bytes; missing ones count as 0.
    pub least: Option<usize>,
    /// The field that has the size, and what it counts.
    pub size: Option<String>,
    /// What the size counts.
    pub counts: Option<Counted>,
    /// Maximum size that is no error, bytes.
    pub most: Option<usize>,
    /// Bytes in front of a message.
    pub start: Option<String>,
    /// Bytes behind a message.
    pub end: Option<String>,
    /// The end of a line.
    pub line: Option<String>,
    /// Silence after a message, in characters of the serial line.
    pub silence: Option<f64>,
    /// Each code has a size of its own.
    pub by_code: bool,
    /// A frame of the CAN bus; the code is its identifier.
    pub can: bool,
}

/// What a size counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counted {
    /// The whole frame.
    Frame,
    /// What follows the size.
    Rest,
    /// The body.
    Body,
}

/// A part of a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its name in code.
    pub name: String,
    /// Its type; the body of a frame has none.
    #[serde(default, rename = "type")]
    kind: Option<Kind>,
    /// Unit on the wire.
    #[serde(default)]
    pub unit: String,
    /// What it is.
    #[serde(default)]
    pub meaning: String,
    /// What it is for in a frame.
    #[serde(default)]
    pub is: Option<Part>,
    /// Its offset in the frame, bytes; by default it follows the field before it.
    #[serde(default)]
    pub at: Option<usize>,
    /// The value that it always has.
    #[serde(default)]
    pub value: Option<String>,
    /// The type that has names for its values.
    #[serde(default)]
    pub codes: Option<String>,
    /// A number that `codes` does not have is an error.
    #[serde(default)]
    pub strict: bool,
    /// An answer that repeats it may have another value.
    #[serde(default)]
    pub changed: bool,
    /// What a step of the number is in `unit`, and the value for 0.
    #[serde(default)]
    pub scale: Option<f64>,
    /// See `scale`.
    #[serde(default)]
    pub offset: Option<f64>,
    /// Its lowest bit and its number of bits, where several share a number.
    #[serde(default)]
    pub bits: Option<[u8; 2]>,
    /// Order of its bytes, if it is another one.
    #[serde(default)]
    pub order: Option<Order>,
    /// Base of a number that is written as text.
    #[serde(default)]
    pub base: Option<u8>,
    /// How a check sum is computed, as in the catalogue of CRC algorithms, or `sum` or `xor`.
    #[serde(default)]
    pub algorithm: Option<String>,
    /// It is there only if these earlier fields have these values.
    #[serde(default)]
    pub when: BTreeMap<String, i64>,
    /// It may be missing at the end of a message.
    #[serde(default)]
    pub optional: bool,
}

/// What a field of a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// It says which message this is.
    Code,
    /// The fields of the message.
    Body,
    /// The size.
    Size,
    /// The check sum.
    Checksum,
    /// The address of who is asked.
    Address,
    /// A number that an answer repeats.
    Sequence,
}

/// A type of fields: a structure, or names for numbers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Type {
    pub name: String,
    #[serde(default)]
    pub meaning: String,
    /// Fields of a structure.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// The type of the numbers below.
    #[serde(default)]
    pub base: Option<Kind>,
    /// Numbers by their names. If no field has them, they are constants.
    #[serde(default)]
    pub codes: BTreeMap<String, Value>,
}

/// A number that has a name: the number alone, or with what is to be said of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    Number(i64),
    Described(Described),
}

/// A number and what is to be said of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Described {
    pub code: i64,
    #[serde(default)]
    pub meaning: Option<String>,
    /// Its name in the document that defines it.
    #[serde(default)]
    pub text: Option<String>,
}

impl Value {
    /// The number.
    pub fn code(&self) -> i64 {
        match self {
            Self::Number(code) | Self::Described(Described { code, .. }) => *code,
        }
    }

    /// What it means, if that is said.
    pub fn meaning(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Described(one) => one.meaning.as_deref(),
        }
    }

    /// Its name in the document that defines it, if it has one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Described(one) => one.text.as_deref(),
        }
    }
}

/// A message.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its name in code.
    pub name: String,
    /// What says on the wire which message it is.
    pub code: Code,
    /// What it does.
    pub meaning: String,
    /// Who sends it.
    #[serde(default)]
    pub from: Side,
    /// What it does to the machine; decides about overtaking and repetition.
    #[serde(default)]
    pub role: Role,
    /// Whether it may be sent again without knowing whether the first copy arrived. By default all may but a start.
    #[serde(default)]
    repeatable: Option<bool>,
    /// Type of the ROS service that stands for it, such as `std_srvs/srv/Trigger`, if its fields are those of the request
    /// and its answer is that of the response.
    #[serde(default)]
    pub ros: Option<String>,
    /// ROS service that stands for it; by default one with its name, if there is a type.
    #[serde(default)]
    pub service: Option<String>,
    /// ROS topic that stands for it.
    #[serde(default)]
    pub topic: Option<String>,
    /// Its fields.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// What answers it; none: nothing.
    #[serde(default)]
    pub answer: Option<Answer>,
}

/// What says on the wire which message it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Code {
    Number(u64),
    Text(String),
}

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Who asks.
    #[default]
    Client,
    /// Who has the machine, unasked.
    Server,
}

/// What a message does to a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads data.
    Query,
    /// Changes a setting; nothing moves.
    #[default]
    Setting,
    /// Starts a motion.
    Start,
    /// Stops every motion.
    Stop,
}

/// What answers a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Answer {
    /// `echo`, the message itself, or the name of a type of the description.
    Named(String),
    /// These fields; none: only that it was carried out.
    Fields(Vec<Field>),
}

/// A group of messages with a code of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Interface {
    pub name: String,
    pub code: u64,
    pub meaning: String,
    #[serde(default)]
    pub types: Vec<Type>,
    pub messages: Vec<Message>,
}

/// Texts that stand for errors and warnings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Notices {
    pub meaning: String,
    pub texts: Vec<Notice>,
}

/// A text that stands for an error or a warning.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Notice {
    pub text: String,
    pub meaning: String,
}

/// Why a text is no description.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// It has another form.
    #[error(transparent)]
    Form(#[from] YamlError),
    /// Something in it makes no sense.
    #[error("{place}: {reason}")]
    Sense {
        /// Where: protocol, message, field.
        place: String,
        /// What is wrong.
        reason: String,
    },
}

impl Field {
    /// Its type; that of the body of a frame is the rest of the bytes.
    pub fn kind(&self) -> Kind {
        self.kind.clone().unwrap_or(Kind { base: Base::Bytes, count: Some(Count::Rest) })
    }
}

impl Message {
    /// Whether it may be sent again without knowing whether the first copy arrived.
    pub fn is_repeatable(&self) -> bool {
        self.repeatable.unwrap_or(self.role != Role::Start)
    }

    /// The ROS service or topic that stands for it.
    pub fn ros_name(&self) -> Option<&str> {
        let named = self.service.as_deref().or(self.topic.as_deref());
        named.or(self.ros.as_ref().map(|_| self.name.as_str()))
    }
}

impl Protocol {
    /// Reads a description.
    ///
    /// # Errors
    /// It has another form, or makes no sense: a name or a code that is there twice, a type that does not exist, a count
    /// of a field that does not come before, a frame without code or body.
    pub fn read(text: &str) -> Result<Self, ProtocolError> {
        let protocol: Self = yaml::strict(text)?;
        protocol.check()?;
        Ok(protocol)
    }

    fn check(&self) -> Result<(), ProtocolError> {
        let cut = &self.frame.cut;
        let ways = [
            cut.datagram.is_some(),
            cut.size.is_some(),
            cut.start.is_some() || cut.end.is_some(),
            cut.line.is_some(),
            cut.silence.is_some(),
            cut.by_code,
            cut.can,
        ];
        let frame = format!("{}: frame", self.name);
        if ways.iter().filter(|way| **way).count() != 1 {
            let reason = "cut must have one of datagram, size, start with end, line, silence, by_code, can";
            return Err(sense(&frame, reason));
        }
        // On a CAN bus the identifier is the code.
        let needed: &[Part] = if cut.can { &[Part::Body] } else { &[Part::Code, Part::Body] };
        for part in needed {
            if !self.frame.fields.iter().any(|field| field.is == Some(*part)) {
                return Err(sense(&frame, format!("no field is its {part:?}").to_lowercase()));
            }
        }
        if let Some(size) = &cut.size
            && !self.frame.fields.iter().any(|field| field.name == *size)
        {
            return Err(sense(&frame, format!("there is no field {size}, which cut names as the size")));
        }
        self.check_fields(&frame, &self.frame.fields, &[], &[])?;
        unique(&self.name, "type", self.types.iter().map(|one| &one.name))?;
        for one in &self.types {
            self.check_fields(&format!("{}: type {}", self.name, one.name), &one.fields, &[], &[])?;
        }
        self.check_messages(&self.name, &self.messages, &[])?;
        unique(&self.name, "interface", self.interfaces.iter().map(|one| &one.name))?;
        unique(&self.name, "code", self.interfaces.iter().map(|one| &one.code))?;
        for interface in &self.interfaces {
            let place = format!("{}: {}", self.name, interface.name);
            unique(&place, "type", interface.types.iter().map(|one| &one.name))?;
            for one in &interface.types {
                self.check_fields(
                    &format!("{place}: type {}", one.name),
                    &one.fields,
                    &[],
                    &interface.types,
                )?;
            }
            self.check_messages(&place, &interface.messages, &interface.types)?;
        }
        Ok(())
    }

    fn check_messages(&self, place: &str, messages: &[Message], types: &[Type]) -> Result<(), ProtocolError> {
        unique(place, "message", messages.iter().map(|one| &one.name))?;
        // Commands and requests of one number differ by having an answer.
        unique(place, "code", messages.iter().map(|one| (one.from, one.answer.is_some(), &one.code)))?;
        for message in messages {
            let place = format!("{place}: {}", message.name);
            self.check_fields(&place, &message.fields, &[], types)?;
            match &message.answer {
                Some(Answer::Fields(fields)) => {
                    self.check_fields(&format!("{place}: answer"), fields, &message.fields, types)?;
                }
                Some(Answer::Named(name)) if name != "echo" => self.check_type(&place, name, types)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn check_type(&self, place: &str, name: &str, types: &[Type]) -> Result<(), ProtocolError> {
        let known = || types.iter().chain(&self.types).map(|one| one.name.as_str());
        if known().any(|one| one == name) {
            return Ok(());
        }
        Err(sense(place, format!("there is no type {name}{}", dragoman_text::hint(name, known()))))
    }

    /// `asked`: fields of the question, which those of an answer may name.
    fn check_fields(
        &self,
        place: &str,
        fields: &[Field],
        asked: &[Field],
        types: &[Type],
    ) -> Result<(), ProtocolError> {
        unique(place, "field", fields.iter().map(|one| &one.name))?;
        for (number, field) in fields.iter().enumerate() {
            let place = format!("{place}: {}", field.name);
            let kind = field.kind();
            let before = || fields.iter().take(number).chain(asked);
            let comes_before = |name: &String| before().any(|other| other.name == *name);
            if let Base::Named(name) = &kind.base {
                self.check_type(&place, name, types)?;
            }
            if let Some(name) = &field.codes {
                self.check_type(&place, name, types)?;
            }
            if let Some(Count::Of(name)) = &kind.count
                && !comes_before(name)
            {
                return Err(sense(&place, format!("no field {name} comes before it")));
            }
            if let Some(name) = field.when.keys().find(|name| !comes_before(name)) {
                return Err(sense(&place, format!("no field {name} comes before it")));
            }
            if field.algorithm.is_some() != (field.is == Some(Part::Checksum)) {
                return Err(sense(&place, "a check sum, and nothing else, has an algorithm"));
            }
        }
        Ok(())
    }
}

fn sense(place: &str, reason: impl Into<String>) -> ProtocolError {
    ProtocolError::Sense { place: place.to_owned(), reason: reason.into() }
}

fn unique<T: Ord + std::fmt::Debug>(
    place: &str,
    what: &str,
    all: impl Iterator<Item = T>,
) -> Result<(), ProtocolError> {
    let mut seen = BTreeSet::new();
    for one in all {
        let text = format!("{what} {one:?} is there twice");
        if !seen.insert(one) {
            return Err(sense(place, text));
        }
    }
    Ok(())
}
