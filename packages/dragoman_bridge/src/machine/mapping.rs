//! Messages of ROS whose types are known at run time, from those of the machine and back, field by field.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dragoman_protocol::codec::{Codec, Leaf, MessageId, Path};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::bridge::{Setting, Settings};
use dragoman_types::json;
use dragoman_types::schema::{ElementType, Field, Primitive, Shape as FieldShape, Structure};
use serde_json::{Map, Value};

use super::term::{Computed, Constants, Lookup, Message, MessageNames, Names, Shape, Term};

/// Maximum number of elements of a list that are set one by one.
const MAX_ELEMENTS: usize = 256;

/// A message of ROS, from a message of the machine.
pub(crate) struct ToRos {
    structure: Arc<Structure>,
    frame: Option<String>,
    fields: Vec<ToField>,
    /// The fields of the machine's message.
    paths: Vec<Path>,
    when: Option<Term>,
}

struct ToField {
    /// Its name and those around it.
    path: Vec<String>,
    /// One element of a list.
    element: Option<Element>,
    target: Target,
    source: Source,
}

/// An element of a list, and how many the list has at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Element {
    index: usize,
    len: usize,
}

/// What a field of ROS takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target {
    kind: TargetKind,
    is_list: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Bool,
    Whole,
    /// A byte: lists of these are binary data.
    Byte,
    Real,
    Text,
}

enum Source {
    Term(Term),
    /// The name of a number, of this path.
    Name(usize),
}

impl ToRos {
    /// How the fields of `structure` are made of those of a message of the machine.
    ///
    /// # Errors
    /// A field or name does not exist, or has another kind.
    pub(crate) fn new(
        codec: &Codec,
        message: MessageId,
        structure: Arc<Structure>,
        settings: &Settings,
        [when, frame]: [Option<&Setting>; 2],
        constants: &Constants,
    ) -> Result<Self, String> {
        let mut paths = Vec::new();
        let when = when.map(|when| {
            Term::read(when, constants, &mut MessageNames::new(codec, message, &mut paths))
                .map_err(|reason| format!("when: {reason}"))
        });
        let when = when.transpose()?;
        let frame = match frame {
            None => None,
            Some(Setting::Text(frame)) if has_header(&structure) => Some(frame.clone()),
            Some(_) => return Err(format!("frame: {} has no header", structure.name)),
        };
        let mut fields = Vec::new();
        for (name, setting) in settings {
            let (plain, index) = indexed(name)?;
            let mut target = target(&structure, plain)?;
            let element = index.map(|index| element(&structure, plain, index, target)).transpose()?;
            target.is_list &= element.is_none();
            let source = source(codec, message, setting, target, constants, &mut paths)
                .map_err(|reason| format!("{name}: {reason}"))?;
            let path = plain.split('.').map(str::to_owned).collect();
            fields.push(ToField { path, element, target, source });
        }
        Ok(Self { structure, frame, fields, paths, when })
    }

    /// Puts `prefix` in front of the frame of `frame`.
    pub(crate) fn prefix_frames(&mut self, prefix: &str) {
        if let Some(frame) = &mut self.frame {
            frame.insert_str(0, prefix);
        }
    }

    /// The message of ROS, serialized; `None` if this message of the machine makes none.
    ///
    /// # Errors
    /// A value does not exist, or does not fit.
    pub(crate) fn message(
        &self,
        codec: &Codec,
        message: MessageId,
        values: &dragoman_protocol::codec::Values,
        now: Duration,
    ) -> Result<Option<Vec<u8>>, String> {
        let Some(fields) = self.fields(codec, message, values) else { return Ok(None) };
        let value = Value::Object(fields?);
        json::to_cdr_at(&self.structure, &value, Some(now)).map(Some).map_err(|error| error.to_string())
    }

    /// The fields of the message of ROS as JSON; `None` if this message of the machine makes none.
    pub(crate) fn fields(
        &self,
        codec: &Codec,
        message: MessageId,
        values: &dragoman_protocol::codec::Values,
    ) -> Option<Result<Map<String, Value>, String>> {
        let lookup = Message { codec, message, values, paths: &self.paths };
        let is_meant = self.when.as_ref().is_none_or(|when| when.is_true(&lookup));
        is_meant.then(|| self.object(&lookup))
    }

    /// The fields of the machine's message that it needs.
    pub(crate) fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Its fields as JSON.
    pub(crate) fn object(&self, lookup: &Message<'_>) -> Result<Map<String, Value>, String> {
        let mut object = Map::new();
        if let Some(frame) = &self.frame {
            insert(&mut object, &["header".to_owned(), "frame_id".to_owned()], frame.clone().into());
        }
        for field in &self.fields {
            let value = match &field.source {
                Source::Term(term) => {
                    term.compute(lookup).map_err(|error| format!("{}: {error}", field.path.join(".")))?
                }
                Source::Name(path) => name_of(lookup, *path),
            };
            let value = match to_json(value, field.target) {
                Some(value) => value,
                // What was not measured is no number; other fields keep their default.
                None if field.target.kind == TargetKind::Real && !field.target.is_list => Value::Null,
                None => continue,
            };
            match field.element {
                None => insert(&mut object, &field.path, value),
                Some(element) => insert_element(&mut object, &field.path, element, value, field.target.kind),
            }
        }
        Ok(object)
    }
}

fn source(
    codec: &Codec,
    message: MessageId,
    setting: &Setting,
    target: Target,
    constants: &Constants,
    paths: &mut Vec<Path>,
) -> Result<Source, String> {
    if let (TargetKind::Text, Setting::Text(name)) = (target.kind, setting)
        && let Ok(path) = codec.path(message, name)
        && path.leaf == Leaf::Number
    {
        paths.push(path);
        return Ok(Source::Name(paths.len() - 1));
    }
    let term = Term::read(setting, constants, &mut MessageNames::new(codec, message, paths))?;
    if term.is_text() && target.kind != TargetKind::Text {
        return Err("it is a number, not a text".to_owned());
    }
    Ok(Source::Term(term))
}

/// The name of a number, or its digits.
fn name_of(lookup: &Message<'_>, path: usize) -> Computed {
    let (Some(found), Some(path)) = (lookup.number(path), lookup.paths.get(path)) else {
        return Computed::Missing;
    };
    let name = found.whole().and_then(|whole| lookup.codec.meaning(lookup.message, path, whole));
    Computed::Text(name.map_or_else(|| found.to_string(), str::to_owned).into_bytes())
}

fn insert(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        object.insert(first.clone(), value);
        return;
    }
    let inner = object.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        insert(inner, rest, value);
    }
}

/// Sets an element of a list, whose others are zero.
fn insert_element(
    object: &mut Map<String, Value>,
    path: &[String],
    element: Element,
    value: Value,
    kind: TargetKind,
) {
    let Some((first, rest)) = path.split_first() else { return };
    if !rest.is_empty() {
        let inner = object.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(inner) = inner {
            insert_element(inner, rest, element, value, kind);
        }
        return;
    }
    let list = object.entry(first.clone()).or_insert_with(|| Value::Array(Vec::new()));
    let Value::Array(list) = list else { return };
    if list.len() < element.len {
        let zero = match kind {
            TargetKind::Bool => Value::Bool(false),
            TargetKind::Text => Value::String(String::new()),
            TargetKind::Whole | TargetKind::Byte | TargetKind::Real => Value::from(0),
        };
        list.resize(element.len, zero);
    }
    if let Some(place) = list.get_mut(element.index) {
        *place = value;
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a number that does not fit is refused when it is serialized"
)]
fn to_json(value: Computed, target: Target) -> Option<Value> {
    let number = |number: Number| match (target.kind, number) {
        (TargetKind::Bool, number) => Value::Bool(number.real() != 0.0),
        // JSON has no NaN: null is one.
        (TargetKind::Real, number) => {
            serde_json::Number::from_f64(number.real()).map_or(Value::Null, Value::Number)
        }
        (TargetKind::Text, number) => Value::String(number.to_string()),
        (_, Number::Whole(whole)) => serde_json::Number::from_i128(whole).map_or(Value::Null, Value::Number),
        // What is no number is refused when it is serialized.
        (_, Number::Real(real)) if !real.is_finite() => Value::Null,
        (_, Number::Real(real)) => {
            serde_json::Number::from_i128(real.round() as i128).map_or(Value::Null, Value::Number)
        }
    };
    Some(match value {
        Computed::Missing => return None,
        Computed::Number(one) if target.is_list => Value::Array(vec![number(one)]),
        Computed::Number(one) => number(one),
        Computed::List(list) if target.is_list => Value::Array(list.into_iter().map(number).collect()),
        // A list for one value: its first.
        Computed::List(list) => number(*list.first()?),
        Computed::Text(bytes) if target.kind == TargetKind::Byte && target.is_list => {
            Value::String(STANDARD.encode(bytes))
        }
        Computed::Text(bytes) => Value::String(String::from_utf8_lossy(&bytes).replace('\0', "")),
    })
}

fn has_header(structure: &Structure) -> bool {
    structure.fields.iter().any(|field| field.name == "header" && field.kind.name() == "std_msgs/msg/Header")
}

/// Finds a field by its name: `pose.position.x`.
fn field<'a>(structure: &'a Structure, name: &str) -> Result<&'a Field, String> {
    let mut structure = structure;
    let mut parts = name.split('.').peekable();
    loop {
        let part = parts.next().unwrap_or_default();
        let found = structure.fields.iter().find(|field| field.name == part).ok_or_else(|| {
            let names = structure.fields.iter().map(|field| field.name.as_str());
            format!("{} has no field {part}{}", structure.name, dragoman_text::hint(part, names))
        })?;
        match (&found.kind, parts.peek()) {
            (_, None) => return Ok(found),
            (ElementType::Structure(inner), Some(_)) if found.shape == FieldShape::Single => {
                structure = inner
            }
            _ => return Err(format!("{part} of {} has no fields that can be named", structure.name)),
        }
    }
}

/// A name, and the number of the element behind it: `covariance[4]`.
fn indexed(name: &str) -> Result<(&str, Option<usize>), String> {
    let Some((plain, index)) = name.split_once('[') else { return Ok((name, None)) };
    let index: Option<usize> = index.strip_suffix(']').and_then(|index| index.parse().ok());
    Ok((plain, Some(index.ok_or_else(|| format!("'{name}' is not a name or name[number]"))?)))
}

/// An element of a field that is a list.
fn element(structure: &Structure, name: &str, index: usize, target: Target) -> Result<Element, String> {
    let len = match field(structure, name)?.shape {
        FieldShape::Single => return Err(format!("{name} is not a list")),
        FieldShape::Array(len) => len,
        FieldShape::Sequence(most) if index >= most.unwrap_or(MAX_ELEMENTS).min(MAX_ELEMENTS) => {
            return Err(format!("{name}[{index}]: the list has fewer elements"));
        }
        FieldShape::Sequence(_) => index.saturating_add(1),
    };
    if target.kind == TargetKind::Byte {
        return Err(format!("{name} is binary data: it can only be set whole"));
    }
    if index >= len {
        return Err(format!("{name} has {len} elements, from {name}[0] on"));
    }
    Ok(Element { index, len })
}

fn target(structure: &Structure, name: &str) -> Result<Target, String> {
    let field = field(structure, name)?;
    let ElementType::Primitive(primitive) = &field.kind else {
        return Err(format!("{name} has the type {}: name one of its fields", field.kind.name()));
    };
    let kind = match primitive {
        Primitive::Bool => TargetKind::Bool,
        Primitive::Float32 | Primitive::Float64 => TargetKind::Real,
        Primitive::String | Primitive::WString => TargetKind::Text,
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => TargetKind::Byte,
        _ => TargetKind::Whole,
    };
    Ok(Target { kind, is_list: field.shape != FieldShape::Single })
}

/// The fields of a message of ROS, as names for terms.
pub(crate) struct RosNames<'a> {
    structure: &'a Structure,
    paths: &'a mut Vec<RosPath>,
}

/// A field of a message of ROS: a JSON pointer, and an element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RosPath {
    pointer: String,
    /// A list of bytes, which is base64 in JSON.
    is_bytes: bool,
}

impl<'a> RosNames<'a> {
    pub(crate) fn new(structure: &'a Structure, paths: &'a mut Vec<RosPath>) -> Self {
        Self { structure, paths }
    }
}

impl Names for RosNames<'_> {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        let (plain, element) = indexed(name)?;
        let Target { kind, is_list } = target(self.structure, plain)?;
        if element.is_some() && !is_list {
            return Err(format!("{plain} is not a list"));
        }
        let mut pointer: String = plain.split('.').flat_map(|part| ["/", part]).collect();
        if let Some(element) = element {
            pointer.push_str(&format!("/{element}"));
        }
        let is_whole_list = is_list && element.is_none();
        let shape = match kind {
            TargetKind::Text if is_whole_list => return Err(format!("{plain} is a list of texts")),
            TargetKind::Text => Shape::Text,
            TargetKind::Byte if is_list && element.is_some() => {
                return Err(format!("{plain} is binary data: it can only be taken whole"));
            }
            _ if is_whole_list => Shape::List,
            _ => Shape::Number,
        };
        let is_bytes = is_whole_list && kind == TargetKind::Byte;
        let path = RosPath { pointer, is_bytes };
        let number = self.paths.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        });
        Ok((number, shape))
    }
}

/// The values of a message of ROS.
pub(crate) struct RosMessage<'a> {
    pub(crate) value: &'a Value,
    pub(crate) paths: &'a [RosPath],
}

fn json_number(value: &Value) -> Option<Number> {
    match value {
        Value::Bool(flag) => Some(Number::Whole((*flag).into())),
        Value::Number(number) => {
            number.as_i128().map(Number::Whole).or_else(|| number.as_f64().map(Number::Real))
        }
        Value::Null => Some(Number::Real(f64::NAN)),
        _ => None,
    }
}

impl RosMessage<'_> {
    fn value(&self, name: usize) -> Option<(&Value, &RosPath)> {
        let path = self.paths.get(name)?;
        Some((self.value.pointer(&path.pointer)?, path))
    }
}

impl Lookup for RosMessage<'_> {
    fn number(&self, name: usize) -> Option<Number> {
        json_number(self.value(name)?.0)
    }

    fn whole(&self, name: usize) -> Computed {
        match self.value(name) {
            Some((Value::String(text), path)) if path.is_bytes => {
                let bytes = STANDARD.decode(text).unwrap_or_default();
                Computed::List(bytes.into_iter().map(|byte| Number::Whole(byte.into())).collect())
            }
            Some((Value::String(text), _)) => Computed::Text(text.clone().into_bytes()),
            Some((Value::Array(list), _)) => Computed::List(list.iter().filter_map(json_number).collect()),
            Some((value, _)) => json_number(value).map_or(Computed::Missing, Computed::Number),
            None => Computed::Missing,
        }
    }
}

#[cfg(test)]
mod tests;
