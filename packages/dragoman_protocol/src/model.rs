//! A description, read and checked.

pub mod bridge;
mod check;
mod field;
mod frame;
mod link;
mod short;

use std::collections::BTreeMap;

use dragoman_text::yaml::{self, YamlError};
use serde::Deserialize;

use crate::kind::Kind;
use bridge::{Bridge, Serve};

pub use check::Warning;
pub(crate) use check::line_of;
pub use field::{Empty, Field, FieldRole, Over, TextEncoding, When};
pub use frame::{Counted, Cut, Escape, Frame, Mark, NamedEscape, Stuffing};
pub use link::{Can, Link, Parity, Serial, Tcp, Udp};

/// A protocol.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Its name in code.
    #[serde(rename = "protocol")]
    pub name: String,
    /// Its name in texts.
    pub title: String,
    /// The document that defines it.
    pub source: String,
    /// Conventions of all messages: units, frames.
    #[serde(default)]
    pub about: String,
    /// Its transport.
    #[serde(with = "serde_norway::with::singleton_map")]
    pub link: Link,
    /// Encoding of values.
    #[serde(default, with = "serde_norway::with::singleton_map")]
    pub encoding: Encoding,
    /// Order of the bytes of numbers.
    #[serde(default)]
    pub order: ByteOrder,
    /// Framing: how messages are found in the received bytes.
    pub frame: Frame,
    /// Types that are used by several messages, or that have names for their values.
    #[serde(default)]
    pub types: Vec<Type>,
    /// The messages.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// Groups of messages; each group has a code.
    #[serde(default)]
    pub interfaces: Vec<Interface>,
    /// Texts for errors and warnings.
    #[serde(default)]
    pub notices: Option<Notices>,
    /// How the machine appears in ROS.
    #[serde(default)]
    pub bridge: Option<Bridge>,
    /// How the machine is simulated.
    #[serde(default)]
    pub serve: Option<Serve>,
}

/// Encoding of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// One after the other, each with the size of its type.
    #[default]
    Plain,
    /// XDR (RFC 4506) as used by Player: integers have at least four bytes; a list begins with its length, even if
    /// another field has it, so the length of `[u32]` is written twice; bytes and texts are padded to a multiple of
    /// four.
    Xdr,
    /// As text, separated by blanks.
    Blanks,
    /// As text, separated by this character.
    Separator(char),
}

impl Encoding {
    /// What separates the values of a message that is text.
    pub fn separator(self) -> Option<char> {
        match self {
            Self::Plain | Self::Xdr => None,
            Self::Blanks => Some(' '),
            Self::Separator(separator) => Some(separator),
        }
    }
}

/// Order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ByteOrder {
    /// The most significant one first.
    #[default]
    Big,
    /// The least significant one first.
    Little,
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
    /// The type of the numbers in `codes`.
    #[serde(default)]
    pub base: Option<Kind>,
    /// Numbers by their names. If no field has them, they are constants.
    #[serde(default)]
    pub codes: BTreeMap<String, Value>,
}

/// A number with a name: only the number, or the number with its description.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a mapping with code")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    Number(i64),
    Described(Described),
}

/// A number with its description.
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

    /// Its meaning, if it has one.
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
    /// Code that identifies it on the wire.
    pub code: Code,
    /// Further codes that stand for it when it is received.
    #[serde(default)]
    pub also: Vec<Code>,
    /// What it does.
    pub meaning: String,
    /// Who sends it.
    #[serde(default)]
    pub from: Side,
    /// Its effect on the machine, which decides about overtaking and repetition.
    #[serde(default)]
    pub role: Role,
    /// Whether it may be sent again without knowing whether the first copy arrived. By default all may but a start.
    #[serde(default)]
    repeatable: Option<bool>,
    /// Type of the corresponding ROS service, such as `std_srvs/srv/Trigger`, if the request has its fields and the
    /// response those of its answer.
    #[serde(default)]
    pub ros: Option<String>,
    /// Name of the corresponding ROS service; by default its own name, if there is a type.
    #[serde(default)]
    pub service: Option<String>,
    /// The corresponding ROS topic.
    #[serde(default)]
    pub topic: Option<String>,
    /// Its fields.
    #[serde(default)]
    pub fields: Vec<Field>,
    /// Its answer, if it has one.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Code of its answer, if that is another one.
    #[serde(default)]
    pub answer_code: Option<Code>,
    /// The answer is its fields alone, without those of the frame: only the question says what it is.
    #[serde(default)]
    pub bare: bool,
}

/// Code that identifies a message on the wire.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(untagged, expecting = "code: expected a number from 0, or a text")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Code {
    Number(u64),
    Text(String),
}

/// As in a sentence: `7`, `'dim'`.
impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "'{}'", dragoman_text::excerpt(text)),
        }
    }
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The side that sends requests.
    #[default]
    Client,
    /// The side of the machine, without a request.
    Server,
}

/// Effect of a message on a machine.
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

/// The answer to a message.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "answer: expected echo, a type, or a list of fields")]
pub enum Answer {
    /// `echo`, the message itself, or the name of a type of the description.
    Named(String),
    /// These fields; an empty list only reports success.
    Fields(Vec<Field>),
}

/// A group of messages with its own code.
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

/// Texts for errors and warnings.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Notices {
    pub meaning: String,
    pub texts: Vec<Notice>,
}

/// A text for an error or a warning.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Notice {
    pub text: String,
    pub meaning: String,
}

/// Error in a description.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// The YAML text has the wrong form.
    #[error(transparent)]
    Form(#[from] YamlError),
    /// The content is inconsistent.
    #[error("{}{place}: {reason}", line.map_or(String::new(), |line| format!("line {line}: ")))]
    Sense {
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// Place: protocol, message, field.
        place: String,
        /// Description of the error.
        reason: String,
    },
}

impl Message {
    /// Whether it may be sent again without knowing whether the first copy arrived.
    pub fn is_repeatable(&self) -> bool {
        self.repeatable.unwrap_or(self.role != Role::Start)
    }

    /// Code of its answer.
    pub fn code_of_answer(&self) -> &Code {
        self.answer_code.as_ref().unwrap_or(&self.code)
    }

    /// The corresponding ROS service or topic.
    pub fn ros_name(&self) -> Option<&str> {
        let named = self.service.as_deref().or(self.topic.as_deref());
        named.or(self.ros.as_ref().map(|_| self.name.as_str()))
    }
}

impl Protocol {
    /// The number that `field` has if its value has this name.
    pub(crate) fn code_of(&self, field: Option<&Field>, name: &str) -> Result<i64, String> {
        let Some(field) = field else { return Err(format!("no field is compared with '{name}'")) };
        let names = field.codes.as_ref().and_then(|codes| self.types.iter().find(|one| one.name == *codes));
        let Some(names) = names.map(|one| &one.codes) else {
            return Err(format!("{} has no names for its values: it needs codes", field.name));
        };
        names.get(name).map(Value::code).ok_or_else(|| {
            let hint = dragoman_text::hint(name, names.keys().map(String::as_str));
            format!("no value of {} is called '{name}'{hint}", field.name)
        })
    }

    /// Reads a description.
    ///
    /// # Errors
    /// The text has the wrong form, or its content is inconsistent: a duplicate name or code, a type that does not
    /// exist, a count in a later field, a frame without code or body.
    pub fn read(text: &str) -> Result<Self, ProtocolError> {
        let protocol: Self = yaml::strict(text)?;
        protocol.check().map_err(|error| error.located(text))?;
        Ok(protocol)
    }
}
