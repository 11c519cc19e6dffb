//! Generates Rust from a description, for build scripts; `tests/emitted/` has examples of the result.
//!
//! [`requests`]: the commands of clients, their codes, names and fields, and a request of each with its fields.
//! [`interfaces`]: interfaces with structures and bodies in XDR.
//! [`codes`], [`telegrams`]: numbered commands and replies.
//!
//! [`services`], [`body_services`]: the rows of a table of ROS services, for commands with fields or with one body.
//!
//! The code of [`requests`] uses `Reader`, `Writer` and [`Role`](crate::model::Role) of the module that includes it,
//! for example those of [`bytes`](crate::bytes). For texts and lists the writer also needs `text_u8` and `count_u8`.
//! Fields are numbers, lists of them, and texts.

mod interfaces;
mod services;
mod telegrams;

use std::fmt::Write as _;

pub use interfaces::interfaces;
pub use services::{answers, body_services, services};
pub use telegrams::{codes, telegrams};

use crate::kind::{Base, Count, Kind};
use crate::model::{Code, Field, FieldRole, Message, Protocol, Side, Type, Value};

/// Error generating Rust from a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct NoRust {
    place: String,
    reason: String,
}

impl NoRust {
    fn new(place: &str, reason: &str) -> Self {
        Self { place: place.to_owned(), reason: reason.to_owned() }
    }
}

/// Whether code can do what the description needs.
fn check(protocol: &Protocol, side: Option<Side>) -> Result<(), NoRust> {
    match protocol.only_interpreted(side) {
        Some((place, reason)) => Err(NoRust::new(place, reason)),
        None => Ok(()),
    }
}

/// A source file with `Command` and `Request`.
///
/// # Errors
/// A kind of field or code that is not supported yet.
pub fn requests(protocol: &Protocol) -> Result<String, NoRust> {
    check(protocol, Some(Side::Client))?;
    let messages: Vec<&Message> =
        protocol.messages.iter().filter(|message| message.from == Side::Client).collect();
    let mut out = format!("// Made of the description of the {}.\n\n", protocol.title);
    commands(protocol, &messages, &mut out)?;
    enumeration(protocol, &messages, &mut out)?;
    Ok(out)
}

fn commands(protocol: &Protocol, messages: &[&Message], out: &mut String) -> Result<(), NoRust> {
    let codes = messages.iter().map(|message| code(protocol, message)).collect::<Result<Vec<_>, _>>()?;
    let Some((_, code_type)) = codes.first() else {
        return Err(NoRust::new(&protocol.name, "a client has no messages"));
    };
    let names: Vec<String> = messages.iter().map(|message| variant(&message.name)).collect();
    line(out, &format!("/// The commands of the {} ({}).", protocol.title, protocol.source));
    line(out, "#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum Command {");
    for (name, message) in names.iter().zip(messages) {
        line(out, &format!("    /// {}.\n    {name},", sentence(&message.meaning)));
    }
    line(out, "}\n\nimpl Command {");
    let all: Vec<String> = names.iter().map(|name| format!("Self::{name}")).collect();
    line(out, &format!("    const ALL: [Self; {}] = [{}];\n", all.len(), all.join(", ")));
    let mut table = |doc: &str, name: &str, kind: &str, values: Vec<String>| {
        line(
            out,
            &format!("    /// {doc}\n    pub const fn {name}(self) -> {kind} {{\n        match self {{"),
        );
        for (variant, value) in all.iter().zip(values) {
            line(out, &format!("            {variant} => {value},"));
        }
        line(out, "        }\n    }\n");
    };
    let of = |value: &dyn Fn(&Message) -> String| messages.iter().map(|message| value(message)).collect();
    let doc = "Code that identifies the command on the wire.";
    table(doc, "code", code_type, codes.iter().map(|(code, _)| code.clone()).collect());
    let doc = "ROS service that stands for it, or topic with its answer; in the namespace of the machine.";
    table(doc, "ros_name", "&'static str", of(&|one| format!("{:?}", one.ros_name().unwrap_or_default())));
    table("What it does to the machine.", "role", "Role", of(&|one| format!("Role::{:?}", one.role)));
    let doc = "Whether it may be sent again without knowing whether the first copy arrived.";
    table(doc, "is_repeatable", "bool", of(&|one| one.is_repeatable().to_string()));
    table("Short description.", "meaning", "&'static str", of(&|one| format!("{:?}", one.meaning)));
    let names = |one: &Message| {
        let names: Vec<&str> = one.fields.iter().map(|field| field.name.as_str()).collect();
        format!("&{names:?}")
    };
    table("Names of its fields.", "fields", "&'static [&'static str]", of(&names));
    let size = |one: &Message| {
        let in_line = one.fields.iter().filter(|field| field.at.is_none());
        in_line.filter_map(|field| field.kind().size()).sum::<usize>().to_string()
    };
    table("Size of the fields that follow its code, bytes.", "size", "usize", of(&size));
    line(out, "    /// All commands, in the order of the description.");
    line(out, "    pub fn all() -> impl Iterator<Item = Self> {\n        Self::ALL.into_iter()\n    }\n");
    line(
        out,
        &format!(
            "    /// The command with this code.\n    pub fn from_code(code: {code_type}) -> Option<Self> {{\n        \
             Self::ALL.into_iter().find(|command| command.code() == code)\n    }}\n}}\n"
        ),
    );
    Ok(())
}

fn enumeration(protocol: &Protocol, messages: &[&Message], out: &mut String) -> Result<(), NoRust> {
    line(
        out,
        &format!(
            "/// A request, with its values as on the wire: they may be NaN or infinite. {}",
            protocol.about
        ),
    );
    let mut fields = messages.iter().flat_map(|message| &message.fields);
    let is_copy = fields.all(|field| !matches!(field.kind().count, Some(Count::Prefixed(_))));
    let copy = if is_copy { ", Copy" } else { "" };
    line(out, &format!("#[derive(Debug, Clone{copy}, PartialEq)]"));
    line(out, "#[allow(missing_docs, reason = \"the names of some fields say it\")]\npub enum Request {");
    for message in messages {
        line(out, &format!("    /// {}.", sentence(&message.meaning)));
        if message.fields.is_empty() {
            line(out, &format!("    {},", variant(&message.name)));
            continue;
        }
        line(out, &format!("    {} {{", variant(&message.name)));
        for field in &message.fields {
            let unit = if field.unit.is_empty() { String::new() } else { format!(", {}", field.unit) };
            let meaning = if field.meaning.is_empty() { &field.name } else { &field.meaning };
            if !(field.meaning.is_empty() && field.unit.is_empty()) {
                line(out, &format!("        /// {}{unit}.", sentence(meaning)));
            }
            line(out, &format!("        {}: {},", field.name, rust_type(&message.name, field)?));
        }
        line(out, "    },");
    }
    line(
        out,
        "}\n\nimpl Request {\n    /// The command of this request.\n    pub const fn command(&self) -> Command {",
    );
    line(out, "        match self {");
    for message in messages {
        let name = variant(&message.name);
        let pattern = if message.fields.is_empty() { "" } else { " { .. }" };
        line(out, &format!("            Self::{name}{pattern} => Command::{name},"));
    }
    line(out, "        }\n    }\n");
    reading(protocol, messages, out)?;
    writing(protocol, messages, out)?;
    finite(messages, out);
    show(messages, out)?;
    line(out, "}");
    Ok(())
}

fn reading(protocol: &Protocol, messages: &[&Message], out: &mut String) -> Result<(), NoRust> {
    let head = head(protocol);
    line(out, "    /// Reads the fields of `command`, which follow its code.");
    line(out, "    fn read(command: Command, reader: &mut Reader<'_>) -> Self {\n        match command {");
    for message in messages {
        let name = variant(&message.name);
        if message.fields.is_empty() {
            line(out, &format!("            Command::{name} => Self::{name},"));
            continue;
        }
        line(out, &format!("            Command::{name} => {{"));
        let mut offset = Some(head);
        for field in &message.fields {
            if let Some(at) = field.at {
                line(
                    out,
                    &format!("                reader.bytes({});", gap(&message.name, field, at, offset)?),
                );
                offset = Some(at);
            }
            let value = match shape(&message.name, field)? {
                Shape::One(number) => format!("reader.{number}()"),
                Shape::Array(number, count) => format!("[(); {count}].map(|()| reader.{number}())"),
                Shape::List(number) => format!("(0..reader.len_u8()).map(|_| reader.{number}()).collect()"),
                Shape::Text => "reader.text_u8()".to_owned(),
            };
            line(out, &format!("                let {} = {value};", field.name));
            offset = offset.zip(field.kind().size()).map(|(offset, size)| offset + size);
        }
        line(out, &format!("                Self::{name} {{ {} }}\n            }}", names(message)));
    }
    line(out, "        }\n    }\n");
    Ok(())
}

fn writing(protocol: &Protocol, messages: &[&Message], out: &mut String) -> Result<(), NoRust> {
    let head = head(protocol);
    line(out, "    /// Writes the fields, which follow the code.");
    line(out, "    fn write(&self, writer: &mut Writer) {\n        match self {");
    plain(messages, out);
    for message in messages.iter().filter(|message| !message.fields.is_empty()) {
        line(out, &format!("            Self::{} {{ {} }} => {{", variant(&message.name), names(message)));
        for field in &message.fields {
            if let Some(at) = field.at {
                line(out, &format!("                writer.pad({});", at - head));
            }
            let (shape, name) = (shape(&message.name, field)?, &field.name);
            if let Shape::List(_) = shape {
                line(out, &format!("                writer.count_u8({name}.len());"));
            }
            let written = match shape {
                Shape::One(number) => format!("writer.{number}(*{name})"),
                Shape::Array(number, _) | Shape::List(number) => {
                    format!("{name}.iter().for_each(|one| writer.{number}(*one))")
                }
                Shape::Text => format!("writer.text_u8({name})"),
            };
            line(out, &format!("                {written};"));
        }
        line(out, "            }");
    }
    line(out, "        }\n    }\n");
    Ok(())
}

fn finite(messages: &[&Message], out: &mut String) {
    line(out, "    /// Whether no value is NaN or infinite.");
    line(out, "    pub fn is_finite(&self) -> bool {\n        match self {");
    for message in messages {
        let is_float = |field: &&Field| matches!(field.kind().base, Base::Float(_));
        let checks: Vec<String> = message
            .fields
            .iter()
            .filter(is_float)
            .map(|field| match field.kind().count {
                None => format!("{}.is_finite()", field.name),
                Some(_) => format!("{}.iter().all(|one| one.is_finite())", field.name),
            })
            .collect();
        if checks.is_empty() {
            continue;
        }
        let floats: Vec<&str> =
            message.fields.iter().filter(is_float).map(|field| field.name.as_str()).collect();
        let name = variant(&message.name);
        line(
            out,
            &format!("            Self::{name} {{ {}, .. }} => {},", floats.join(", "), checks.join(" && ")),
        );
    }
    line(out, "            _ => true,\n        }\n    }\n");
}

fn show(messages: &[&Message], out: &mut String) -> Result<(), NoRust> {
    line(out, "    /// Shows the fields, each after a blank: texts in quotes, whole numbers in parentheses.");
    line(
        out,
        "    fn show(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n        match self {",
    );
    for message in messages.iter().filter(|message| !message.fields.is_empty()) {
        line(out, &format!("            Self::{} {{ {} }} => {{", variant(&message.name), names(message)));
        for field in &message.fields {
            let (shape, name) = (shape(&message.name, field)?, &field.name);
            let shown = match shape {
                Shape::One(Base::Float(_)) => format!("write!(f, \" {{{name}}}\")"),
                Shape::One(_) => format!("write!(f, \" ({{{name}}})\")"),
                Shape::Array(..) | Shape::List(_) => {
                    format!("{name}.iter().try_for_each(|one| write!(f, \" {{one}}\"))")
                }
                Shape::Text => format!("write!(f, \" {{{name}:?}}\")"),
            };
            line(out, &format!("                {shown}?;"));
        }
        line(out, "            }");
    }
    plain(messages, out);
    line(out, "        }\n        Ok(())\n    }");
    Ok(())
}

/// A match arm without fields.
fn plain(messages: &[&Message], out: &mut String) {
    let plain = messages.iter().filter(|message| message.fields.is_empty());
    let plain: Vec<String> = plain.map(|message| format!("Self::{}", variant(&message.name))).collect();
    if !plain.is_empty() {
        line(out, &format!("            {} => {{}}", plain.join(" | ")));
    }
}

/// Offset of the first field of a message: the size of what comes before the body, bytes.
fn head(protocol: &Protocol) -> usize {
    let before = protocol.frame.fields.iter().take_while(|field| field.is != Some(FieldRole::Body));
    before.filter_map(|field| field.kind().size()).sum()
}

fn gap(message: &str, field: &Field, at: usize, offset: Option<usize>) -> Result<usize, NoRust> {
    offset
        .and_then(|offset| at.checked_sub(offset))
        .ok_or_else(|| no_rust(message, field, "lies before the end of the field before it"))
}

/// A code in Rust, and its type.
fn code(protocol: &Protocol, message: &Message) -> Result<(String, String), NoRust> {
    let field = protocol.frame.fields.iter().find(|field| field.is == Some(FieldRole::Code));
    match (&message.code, field.map(Field::kind)) {
        (Code::Text(text), Some(Kind { base: Base::Text, count: Some(Count::Fixed(size)) }))
            if text.len() == size && text.is_ascii() =>
        {
            Ok((format!("*b{text:?}"), format!("[u8; {size}]")))
        }
        (Code::Number(number), Some(kind @ Kind { base: Base::Unsigned(_), count: None })) => {
            Ok((number.to_string(), kind.to_string()))
        }
        _ => Err(NoRust::new(&message.name, "its code is not of the type of the frame's")),
    }
}

/// A field's type in Rust.
enum Shape {
    One(Base),
    Array(Base, usize),
    /// A list after a length of one byte.
    List(Base),
    /// A text after a length of one byte.
    Text,
}

fn shape(message: &str, field: &Field) -> Result<Shape, NoRust> {
    let Kind { base, count } = field.kind();
    let is_number = matches!(base, Base::Unsigned(_) | Base::Signed(_) | Base::Float(_));
    match (&base, count) {
        (_, None) if is_number => Ok(Shape::One(base)),
        (_, Some(Count::Fixed(count))) if is_number => Ok(Shape::Array(base, count)),
        (_, Some(Count::Prefixed(8))) if is_number => Ok(Shape::List(base)),
        (Base::Text, Some(Count::Prefixed(8))) => Ok(Shape::Text),
        _ => Err(no_rust(message, field, &format!("{} has no Rust yet", field.kind()))),
    }
}

fn rust_type(message: &str, field: &Field) -> Result<String, NoRust> {
    Ok(match shape(message, field)? {
        Shape::One(number) => number.to_string(),
        Shape::Array(number, count) => format!("[{number}; {count}]"),
        Shape::List(number) => format!("Vec<{number}>"),
        Shape::Text => "String".to_owned(),
    })
}

fn no_rust(message: &str, field: &Field, reason: &str) -> NoRust {
    NoRust::new(&format!("{message}: {}", field.name), reason)
}

fn names(message: &Message) -> String {
    let names: Vec<&str> = message.fields.iter().map(|field| field.name.as_str()).collect();
    names.join(", ")
}

/// The named numbers of a type, in their order.
pub(crate) fn sorted(one: &Type) -> Vec<(&String, &Value)> {
    let mut values: Vec<_> = one.codes.iter().collect();
    values.sort_by_key(|(_, value)| value.code());
    values
}

/// `set_goal_pose` as `SetGoalPose`.
pub(crate) fn variant(name: &str) -> String {
    name.split('_').map(sentence).collect()
}

/// The text with a capital first letter.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(crate) fn line(out: &mut String, text: &str) {
    // Writing into a text does not fail.
    let _ = writeln!(out, "{text}");
}
