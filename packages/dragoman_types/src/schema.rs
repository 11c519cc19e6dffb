//! Message types known at run time, from the text of their definitions.
//!
//! | file | holds |
//! | --- | --- |
//! | `schema.rs` | types and where they are found |
//! | `schema/definition.rs` | the parser of `.msg`, `.srv` and `.action` |
//! | `schema/sources.rs` | the definitions of this build, and those of installed packages |

mod definition;
mod sources;

pub use definition::{Constant, Definition, DefinitionError, FieldDefinition, parse};
pub use sources::{Builtin, Installed, Source};

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

/// A primitive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Primitive {
    Bool,
    /// An octet.
    Byte,
    /// An unsigned byte in ROS 2, despite its name.
    Char,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float32,
    Float64,
    String,
    WString,
}

const PRIMITIVES: [(&str, Primitive); 15] = [
    ("bool", Primitive::Bool),
    ("byte", Primitive::Byte),
    ("char", Primitive::Char),
    ("int8", Primitive::Int8),
    ("uint8", Primitive::Uint8),
    ("int16", Primitive::Int16),
    ("uint16", Primitive::Uint16),
    ("int32", Primitive::Int32),
    ("uint32", Primitive::Uint32),
    ("int64", Primitive::Int64),
    ("uint64", Primitive::Uint64),
    ("float32", Primitive::Float32),
    ("float64", Primitive::Float64),
    ("string", Primitive::String),
    ("wstring", Primitive::WString),
];

impl Primitive {
    /// The type of this name in definitions.
    pub fn named(name: &str) -> Option<Self> {
        PRIMITIVES.iter().find(|(known, _)| *known == name).map(|(_, primitive)| *primitive)
    }

    /// Its name in definitions.
    pub fn name(self) -> &'static str {
        PRIMITIVES.iter().find(|(_, primitive)| *primitive == self).map_or("", |(name, _)| name)
    }

    /// Bytes on the wire, which are also the alignment; `None` for strings.
    pub fn size(self) -> Option<usize> {
        match self {
            Self::Bool | Self::Byte | Self::Char | Self::Int8 | Self::Uint8 => Some(1),
            Self::Int16 | Self::Uint16 => Some(2),
            Self::Int32 | Self::Uint32 | Self::Float32 => Some(4),
            Self::Int64 | Self::Uint64 | Self::Float64 => Some(8),
            Self::String | Self::WString => None,
        }
    }

    /// Whether arrays of it are binary data in rosbridge.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Uint8 | Self::Char)
    }
}

/// The type of one element of a field.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ElementType {
    Primitive(Primitive),
    Structure(Arc<Structure>),
}

impl ElementType {
    /// Its name in definitions; for structures `package/msg/Name`.
    pub fn name(&self) -> &str {
        match self {
            Self::Primitive(primitive) => primitive.name(),
            Self::Structure(structure) => &structure.name,
        }
    }
}

/// How many elements a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One, not in an array.
    Single,
    /// This number, which is not on the wire.
    Array(usize),
    /// Any number, at most this one.
    Sequence(Option<usize>),
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in the definition.
    pub name: String,
    /// The type of its elements.
    pub kind: ElementType,
    /// How many elements it has.
    pub shape: Shape,
    /// Maximum number of bytes of each string.
    pub max_text: Option<usize>,
    /// The value of a field that is left out, as JSON; zero if `None`.
    pub default: Option<Value>,
}

/// A message, or a part of a service or action.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    /// `package/msg/Name`, `package/srv/Name_Request`, `package/action/Name_Goal` and the like.
    pub name: String,
    /// In their order on the wire.
    pub fields: Vec<Field>,
    /// Named values.
    pub constants: Vec<Constant>,
}

impl Structure {
    /// Adds the names of all structures in it to those that are found already.
    fn nested(&self, found: &mut Vec<String>) {
        for field in &self.fields {
            if let ElementType::Structure(inner) = &field.kind
                && !found.contains(&inner.name)
            {
                found.push(inner.name.clone());
                inner.nested(found);
            }
        }
    }
}

/// Error finding a type.
#[allow(missing_docs)] // The messages say it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    #[error("'{name}' is not the name of a type")]
    Name { name: String },
    #[error("type {name} is unknown: it is neither built in nor installed below AMENT_PREFIX_PATH")]
    Unknown { name: String },
    #[error("type {name}: {error}")]
    Definition { name: String, error: DefinitionError },
    #[error("type {name} is nested too deeply")]
    Depth { name: String },
}

/// Deepest nesting of structures. Those of ROS have less than ten levels.
pub const MAX_DEPTH: usize = 32;

/// All known types. Clones share them.
#[derive(Clone)]
pub struct Types {
    shared: Arc<Shared>,
}

struct Shared {
    sources: Vec<Box<dyn Source>>,
    known: Mutex<BTreeMap<String, Arc<Structure>>>,
}

impl Types {
    /// The types of these sources; the first that has a definition counts.
    pub fn new(sources: Vec<Box<dyn Source>>) -> Self {
        Self { shared: Arc::new(Shared { sources, known: Mutex::default() }) }
    }

    /// Those that are built in, for a distribution, and those of the packages below `paths`, the value of `AMENT_PREFIX_PATH`;
    /// the first that has a definition counts.
    pub fn of_program(distribution: &str, paths: &OsStr, is_installed_first: bool) -> Self {
        let mut sources: Vec<Box<dyn Source>> =
            vec![Box::new(Builtin::of(distribution)), Box::new(Installed::below(paths))];
        if is_installed_first {
            sources.reverse();
        }
        Self::new(sources)
    }

    /// The structure of a message: `package/msg/Name` or `package/Name`.
    ///
    /// # Errors
    /// The name or the definition is invalid; the type is unknown.
    pub fn message(&self, name: &str) -> Result<Arc<Structure>, SchemaError> {
        self.structure(&full_name(name, "msg")?, 0)
    }

    /// The structures of request and response: `package/srv/Name` or `package/Name`.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn service(&self, name: &str) -> Result<[Arc<Structure>; 2], SchemaError> {
        let name = full_name(name, "srv")?;
        Ok([self.structure(&format!("{name}_Request"), 0)?, self.structure(&format!("{name}_Response"), 0)?])
    }

    /// The structures of goal, result and feedback: `package/action/Name` or `package/Name`.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn action(&self, name: &str) -> Result<[Arc<Structure>; 3], SchemaError> {
        let name = full_name(name, "action")?;
        let part = |part: &str| self.structure(&format!("{name}_{part}"), 0);
        Ok([part("Goal")?, part("Result")?, part("Feedback")?])
    }

    /// A structure by its full name, which may be that of a part of a service or action.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn part(&self, name: &str) -> Result<Arc<Structure>, SchemaError> {
        self.structure(name, 0)
    }

    fn structure(&self, name: &str, depth: usize) -> Result<Arc<Structure>, SchemaError> {
        if let Some(known) = self.shared.known.lock().get(name) {
            return Ok(Arc::clone(known));
        }
        if depth > MAX_DEPTH {
            return Err(SchemaError::Depth { name: name.to_owned() });
        }
        let definition = self.definition(name)?;
        let package = name.split('/').next().unwrap_or_default();
        let fields = definition.fields.into_iter().map(|field| {
            let kind = match Primitive::named(&field.type_name) {
                Some(primitive) => ElementType::Primitive(primitive),
                None => ElementType::Structure(
                    self.structure(&nested_name(&field.type_name, package)?, depth + 1)?,
                ),
            };
            let FieldDefinition { name, shape, max_text, default, .. } = field;
            Ok(Field { name, kind, shape, max_text, default })
        });
        let fields = fields.collect::<Result<_, SchemaError>>()?;
        let structure =
            Arc::new(Structure { name: name.to_owned(), fields, constants: definition.constants });
        self.shared.known.lock().insert(name.to_owned(), Arc::clone(&structure));
        Ok(structure)
    }

    /// The definition of a structure and of all structures in it, without comments: the schema `ros2msg` of MCAP and
    /// Foxglove.
    ///
    /// # Errors
    /// As [`message`](Self::message).
    pub fn schema(&self, name: &str) -> Result<String, SchemaError> {
        let root = self.part(name)?;
        let mut text = definition::without_comments(&self.text(name)?);
        let mut found = Vec::new();
        root.nested(&mut found);
        for name in found {
            let short = name.replacen("/msg/", "/", 1);
            let own = definition::without_comments(&self.text(&name)?);
            text.push_str(&format!("{}\nMSG: {short}\n{own}", "=".repeat(80)));
        }
        Ok(text)
    }

    fn definition(&self, name: &str) -> Result<Definition, SchemaError> {
        let text = self.text(name)?;
        parse(&text).map_err(|error| SchemaError::Definition { name: name.to_owned(), error })
    }

    /// The text that defines a structure.
    fn text(&self, name: &str) -> Result<String, SchemaError> {
        let unknown = || SchemaError::Unknown { name: name.to_owned() };
        let invalid = || SchemaError::Name { name: name.to_owned() };
        let parts: Vec<&str> = name.split('/').collect();
        let &[package, kind, short] = parts.as_slice() else { return Err(invalid()) };
        if ![package, kind, short].into_iter().all(is_token) {
            return Err(invalid());
        }
        // The text of `short` without its ending, and which section of it counts.
        let sections: &[(&str, usize)] = match kind {
            "msg" => &[("", 0)],
            "srv" => &[("_Request", 0), ("_Response", 1)],
            "action" => &[("_Goal", 0), ("_Result", 1), ("_Feedback", 2)],
            _ => return Err(invalid()),
        };
        if kind == "action"
            && let Some(text) = composed(name)
        {
            return Ok(text);
        }
        let found = sections.iter().find_map(|(ending, section)| {
            let short = short.strip_suffix(ending)?;
            let mut texts = self.shared.sources.iter().map(|source| source.definition(package, kind, short));
            Some((texts.find_map(|text| text)?, *section))
        });
        let (text, section) = found.ok_or_else(unknown)?;
        definition::section(&text, section).map(str::to_owned).ok_or_else(unknown)
    }
}

impl std::fmt::Debug for Types {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Types").finish_non_exhaustive()
    }
}

/// The messages of which an action's services and topics consist (ROS 2's design article "Actions"). Other parts of
/// actions are in their definition.
fn composed(name: &str) -> Option<String> {
    let of = |ending: &str| name.strip_suffix(ending);
    if let Some(action) = of("_SendGoal_Request") {
        return Some(format!("unique_identifier_msgs/UUID goal_id\n{action}_Goal goal"));
    }
    if of("_SendGoal_Response").is_some() {
        return Some("bool accepted\nbuiltin_interfaces/Time stamp".to_owned());
    }
    if of("_GetResult_Request").is_some() {
        return Some("unique_identifier_msgs/UUID goal_id".to_owned());
    }
    if let Some(action) = of("_GetResult_Response") {
        return Some(format!("int8 status\n{action}_Result result"));
    }
    of("_FeedbackMessage")
        .map(|action| format!("unique_identifier_msgs/UUID goal_id\n{action}_Feedback feedback"))
}

/// `package/kind/Name` from it or from `package/Name`.
///
/// # Errors
/// Another form.
pub fn full_name(name: &str, kind: &str) -> Result<String, SchemaError> {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [package, short] => Ok(format!("{package}/{kind}/{short}")),
        [_, given, _] if *given == kind => Ok(name.to_owned()),
        _ => Err(SchemaError::Name { name: name.to_owned() }),
    }
}

/// The full name of a field's type.
fn nested_name(name: &str, package: &str) -> Result<String, SchemaError> {
    match name.split('/').collect::<Vec<_>>().as_slice() {
        [short] => Ok(format!("{package}/msg/{short}")),
        [package, short] => Ok(format!("{package}/msg/{short}")),
        [_, _, _] => Ok(name.to_owned()),
        _ => Err(SchemaError::Name { name: name.to_owned() }),
    }
}

/// Whether a part of a name is safe in a path and allowed by ROS.
fn is_token(part: &str) -> bool {
    part.len() <= 255
        && part.starts_with(|first: char| first.is_ascii_alphabetic())
        && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests;
