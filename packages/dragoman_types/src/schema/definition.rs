//! The text of interface definitions (docs.ros.org, "About ROS 2 interfaces").

use serde_json::{Number, Value};

use super::{Primitive, Shape};

/// A parsed definition; types of fields are names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definition {
    /// In their order.
    pub fields: Vec<FieldDefinition>,
    /// In their order.
    pub constants: Vec<Constant>,
}

/// A field as it is written.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct FieldDefinition {
    pub name: String,
    /// The type of its elements: a primitive, `Name`, `package/Name` or `package/kind/Name`.
    pub type_name: String,
    /// How many elements it has.
    pub shape: Shape,
    /// Maximum number of bytes of each string.
    pub max_text: Option<usize>,
    /// Its default value as JSON.
    pub default: Option<Value>,
}

/// A named value.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Constant {
    pub name: String,
    /// A primitive type.
    pub type_name: String,
    /// Its value as JSON.
    pub value: Value,
}

/// An invalid line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is invalid: {text}")]
pub struct DefinitionError {
    /// Counted from 1.
    pub line: usize,
    /// The line.
    pub text: String,
}

/// Parses one section of a definition.
///
/// # Errors
/// A line that is neither a field nor a constant.
pub fn parse(text: &str) -> Result<Definition, DefinitionError> {
    let mut definition = Definition::default();
    for (index, whole) in text.lines().enumerate() {
        let line = without_comment(whole).trim();
        if line.is_empty() {
            continue;
        }
        let invalid = || DefinitionError { line: index + 1, text: whole.to_owned() };
        match parse_line(line).ok_or_else(invalid)? {
            Line::Field(field) => definition.fields.push(field),
            Line::Constant(constant) => definition.constants.push(constant),
        }
    }
    Ok(definition)
}

/// The section of this index; sections are separated by lines of `---`.
pub(super) fn section(text: &str, index: usize) -> Option<&str> {
    let mut rest = text;
    let mut at = 0;
    for _ in 0..index {
        let mut end = None;
        let mut offset = 0;
        for line in rest.split_inclusive('\n') {
            offset += line.len();
            if line.trim() == "---" {
                end = Some(offset);
                break;
            }
        }
        at += end?;
        rest = text.get(at..)?;
    }
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim() == "---" {
            break;
        }
        length += line.len();
    }
    rest.get(..length)
}

enum Line {
    Field(FieldDefinition),
    Constant(Constant),
}

/// The lines that define something.
pub(super) fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| without_comment(line).trim()).filter(|line| !line.is_empty());
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The line up to a `#` that is not in quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, letter) in line.char_indices() {
        match (quote, letter) {
            (None, '#') => return line.get(..at).unwrap_or_default(),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    line
}

fn parse_line(line: &str) -> Option<Line> {
    let (type_text, rest) = line.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    let (type_name, shape, max_text) = parse_type(type_text)?;
    let name_end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let (name, rest) = rest.split_at(name_end.unwrap_or(rest.len()));
    if name.is_empty() {
        return None;
    }
    let (name, rest) = (name.to_owned(), rest.trim());
    let primitive = Primitive::named(&type_name);
    if let Some(value) = rest.strip_prefix('=') {
        let value = literal(primitive?, value.trim())?;
        return Some(Line::Constant(Constant { name, type_name, value }));
    }
    let default = match (rest, shape) {
        ("", _) => None,
        (text, Shape::Single) => Some(literal(primitive?, text)?),
        (text, Shape::Array(_) | Shape::Sequence(_)) => Some(literals(primitive?, text)?),
    };
    Some(Line::Field(FieldDefinition { name, type_name, shape, max_text, default }))
}

/// `string<=10[<=5]` and simpler.
fn parse_type(text: &str) -> Option<(String, Shape, Option<usize>)> {
    let (element, shape) = match text.strip_suffix(']') {
        None => (text, Shape::Single),
        Some(text) => {
            let (element, size) = text.rsplit_once('[')?;
            let shape = match (size, size.strip_prefix("<=")) {
                ("", _) => Shape::Sequence(None),
                (_, Some(most)) => Shape::Sequence(Some(most.parse().ok()?)),
                (size, None) => Shape::Array(size.parse().ok()?),
            };
            (element, shape)
        }
    };
    let (name, max_text) = match element.split_once("<=") {
        None => (element, None),
        Some((name @ ("string" | "wstring"), most)) => (name, Some(most.parse().ok()?)),
        Some(_) => return None,
    };
    let is_valid = name.split('/').all(super::is_token) && name.split('/').count() <= 3;
    is_valid.then(|| (name.to_owned(), shape, max_text))
}

fn literal(primitive: Primitive, text: &str) -> Option<Value> {
    match primitive {
        Primitive::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Value::Bool(true)),
            "false" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Primitive::Float32 | Primitive::Float64 => {
            let number: f64 = text.parse().ok()?;
            // JSON has no NaN; a constant may be one.
            Some(Number::from_f64(number).map_or(Value::Null, Value::Number))
        }
        Primitive::String | Primitive::WString => Some(Value::String(unquoted(text))),
        _ => Some(Value::Number(Number::from_i128(integer(text)?)?)),
    }
}

fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let bases = [("0x", 16), ("0b", 2), ("0o", 8)];
    let based = bases.iter().find_map(|(prefix, base)| Some((lower.strip_prefix(prefix)?, *base)));
    let (digits, base) = based.unwrap_or((lower.as_str(), 10));
    i128::from_str_radix(digits, base).ok().map(|value| sign * value)
}

fn unquoted(text: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.unwrap_or(text).replace("\\\"", "\"").replace("\\'", "'")
}

/// `[1, 2, 3]`.
fn literals(primitive: Primitive, text: &str) -> Option<Value> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    if inner.is_empty() {
        return Some(Value::Array(Vec::new()));
    }
    let mut items = vec![String::new()];
    let mut quote = None;
    for letter in inner.chars() {
        match (quote, letter) {
            (None, ',') => {
                items.push(String::new());
                continue;
            }
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
        items.last_mut()?.push(letter);
    }
    items.iter().map(|item| literal(primitive, item.trim())).collect::<Option<_>>().map(Value::Array)
}
