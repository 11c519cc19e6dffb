//! Python of a description: one file without dependencies, with a dataclass per message.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{code, one_line, remark, statement};
use crate::checksum::Checksum;
use crate::codec::plan::{
    Part, PartCount, PartForm, PartKind, PartNumber, PartRole, Plan, Planned, Reference, identifier,
};
use crate::codec::{Codec, CodecError};
use crate::model::{ByteOrder, Code, Counted, Escape, Field, FieldRole, NamedEscape, Stuffing, Type};
use crate::rust::{line, sorted, variant};

/// What is the same in every file.
const RUNTIME: &str = include_str!("runtime.py");
/// What is the same in every file of a protocol with escapes.
const ESCAPES: &str = include_str!("escapes.py");

/// Words that cannot be names.
const KEYWORDS: &[&str] = &[
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
    "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
    "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Names of the file itself.
const TAKEN: &[&str] = &[
    "ProtocolError",
    "Reader",
    "IntEnum",
    "Any",
    "Callable",
    "Dict",
    "Iterator",
    "List",
    "Optional",
    "Tuple",
    "Union",
];

/// A Python module with a dataclass per message, `encode`, `decode` and `Reader`.
///
/// # Errors
/// The description has what is not generated: values that are written as text, for example.
pub fn python(codec: &Codec) -> Result<String, CodecError> {
    let plan = codec.plan(KEYWORDS, true)?;
    let protocol = codec.protocol();
    let mut names = Names { taken: TAKEN.iter().map(|name| (*name).to_owned()).collect() };
    let codes: Vec<&Type> = protocol.types.iter().filter(|one| !one.codes.is_empty()).collect();
    let enumerations: Vec<String> = codes.iter().map(|one| names.class(&one.name, "Codes")).collect();
    let structures: Vec<String> = plan.structures.iter().map(|one| names.class(&one.name, "Part")).collect();
    let messages: Vec<String> = plan.messages.iter().map(|one| names.class(&one.name, "Message")).collect();
    let emitter = Emitter { plan: &plan, codec, codes: &codes, enumerations, structures, messages };
    Ok(emitter.file())
}

struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// The name of a class; one that is there already gets the ending.
    fn class(&mut self, name: &str, ending: &str) -> String {
        let mut class = variant(&identifier(name, &[]));
        if class.is_empty() || matches!(class.as_str(), "None" | "True" | "False") {
            class.push('_');
        }
        while !self.taken.insert(class.clone()) {
            class.push_str(ending);
        }
        class
    }
}

struct Emitter<'a> {
    plan: &'a Plan<'a>,
    codec: &'a Codec,
    codes: &'a [&'a Type],
    /// Names of classes, in the order of `codes`, of the structures and of the messages.
    enumerations: Vec<String>,
    structures: Vec<String>,
    messages: Vec<String>,
}

impl Emitter<'_> {
    fn file(&self) -> String {
        let protocol = self.codec.protocol();
        let mut out = String::new();
        line(&mut out, &format!("\"\"\"{}", doc(&statement(&protocol.title))));
        line(&mut out, &format!("\nSource: {}", doc(&one_line(&protocol.source))));
        if !protocol.about.is_empty() {
            line(&mut out, &doc(&statement(&protocol.about)));
        }
        line(&mut out, "\nMade by `dragoman bridge python`; changes belong in the description.\n\"\"\"\n");
        line(&mut out, "from __future__ import annotations\n");
        line(
            &mut out,
            "import math\nimport struct\nfrom dataclasses import dataclass, field as _field\nfrom enum import IntEnum",
        );
        line(&mut out, "from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, Union\n");
        for (one, class) in self.codes.iter().zip(&self.enumerations) {
            self.enumeration(one, class, &mut out);
        }
        for (one, class) in self.plan.structures.iter().zip(&self.structures) {
            let meaning = if one.meaning.is_empty() { &one.name } else { one.meaning };
            self.class(class, &doc(&statement(meaning)), one.parts.iter(), &one.parts, &mut out);
        }
        for (one, class) in self.plan.messages.iter().zip(&self.messages) {
            let values = self.plan.values(one);
            self.class(class, &self.described(one), values, &one.parts, &mut out);
        }
        line(&mut out, "");
        out.push('\n');
        out.push_str(RUNTIME);
        if self.codec.protocol().frame.cut.escape.is_some() {
            out.push_str(ESCAPES);
        }
        self.tables(&mut out);
        out
    }

    fn described(&self, one: &Planned<'_>) -> String {
        let message = one.message;
        let code = doc(&code(&message.code));
        let answers: Vec<&str> = self
            .plan
            .messages
            .iter()
            .zip(&self.messages)
            .filter(|(other, _)| other.message.name == message.name && other.is_answer)
            .map(|(_, class)| class.as_str())
            .collect();
        let question = self
            .plan
            .messages
            .iter()
            .zip(&self.messages)
            .find(|(other, _)| other.message.name == message.name && !other.is_answer)
            .map_or("", |(_, class)| class.as_str());
        let mut text = doc(&statement(&message.meaning));
        if one.is_answer {
            text = format!("The answer to {question}.");
            if one.asks {
                text += " Its fields depend on it: `decode` and `encode` need `asked`.";
            }
            return text;
        }
        let way = if one.is_from_client() { "Sent to the machine" } else { "Sent by the machine" };
        let _ = write!(text, "\n\n    {way}, code {code}");
        if let [answer] = answers[..] {
            let _ = write!(text, "; answered by {answer}");
        }
        text + ".\n    "
    }

    fn enumeration(&self, one: &Type, class: &str, out: &mut String) {
        let meaning = if one.meaning.is_empty() { &one.name } else { &one.meaning };
        line(out, &format!("\nclass {class}(IntEnum):\n    \"\"\"{}\"\"\"\n", doc(&statement(meaning))));
        for (name, value) in sorted(one) {
            line(out, &format!("    {} = {}", identifier(name, &[]).to_uppercase(), value.code()));
            if let Some(meaning) = value.meaning() {
                line(out, &format!("    \"\"\"{}\"\"\"", doc(&statement(meaning))));
            }
        }
        line(out, "");
    }

    fn class<'p>(
        &self,
        class: &str,
        text: &str,
        values: impl Iterator<Item = &'p Part<'p>>,
        beside: &[Part<'_>],
        out: &mut String,
    ) {
        line(out, &format!("\n@dataclass\nclass {class}:\n    \"\"\"{text}\"\"\"\n"));
        let mut is_empty = true;
        for part in values.filter(|part| part.has_value() && counted(part, beside).is_none()) {
            is_empty = false;
            let (kind, initial) = self.member(part);
            line(out, &format!("    {}: {kind} = {initial}", part.name));
            let mut text = remark(part.field);
            if let (PartKind::Number(_), Some(codes)) = (&part.kind, part.field.codes.as_deref()) {
                let _ = write!(text, "{}{codes}", if text.is_empty() { "" } else { "; " });
            }
            if !text.is_empty() {
                line(out, &format!("    \"\"\"{}\"\"\"", doc(&text)));
            }
        }
        if is_empty {
            out.truncate(out.trim_end().len());
            line(out, "");
        }
        line(out, "");
    }

    /// The type of a member and its initial value.
    fn member(&self, part: &Part<'_>) -> (String, String) {
        let (one, initial) = match &part.kind {
            PartKind::Bytes { is_text: true, .. } => ("str".to_owned(), "\"\"".to_owned()),
            PartKind::Bytes { .. } => (
                "bytes".to_owned(),
                match part.count {
                    Some(PartCount::Fixed(count)) => format!("bytes({count})"),
                    _ => "b\"\"".to_owned(),
                },
            ),
            PartKind::Structure(index) => {
                let class = self.structures.get(*index).cloned().unwrap_or_default();
                let initial = format!("_field(default_factory={class})");
                (class, initial)
            }
            PartKind::Number(number) => match (number.form, self.names(part)) {
                _ if number.scale.is_some() => {
                    ("float".to_owned(), real(number.scale.map_or(0.0, |scale| scale[1])))
                }
                (PartForm::Float, _) => ("float".to_owned(), "0.0".to_owned()),
                (_, Some(class)) => (format!("Union[{class}, int]"), "0".to_owned()),
                (PartForm::Bool, _) => ("bool".to_owned(), "False".to_owned()),
                _ => ("int".to_owned(), "0".to_owned()),
            },
        };
        if part.is_optional || !part.when.is_empty() {
            let one = if self.is_list(part) { format!("List[{one}]") } else { one };
            return (format!("Optional[{one}]"), "None".to_owned());
        }
        if !self.is_list(part) {
            return (one, initial);
        }
        let initial = match (&part.count, &part.kind) {
            (Some(PartCount::Fixed(count)), PartKind::Structure(index)) => {
                let class = self.structures.get(*index).cloned().unwrap_or_default();
                format!("_field(default_factory=lambda: [{class}() for _ in range({count})])")
            }
            (Some(PartCount::Fixed(count)), _) => {
                format!("_field(default_factory=lambda: [{initial}] * {count})")
            }
            _ => "_field(default_factory=list)".to_owned(),
        };
        (format!("List[{one}]"), initial)
    }

    fn is_list(&self, part: &Part<'_>) -> bool {
        part.count.is_some() && !matches!(part.kind, PartKind::Bytes { .. })
    }

    /// The class with the names of a field's values.
    fn names(&self, part: &Part<'_>) -> Option<&str> {
        let codes = part.field.codes.as_deref()?;
        let index = self.codes.iter().position(|one| one.name == codes)?;
        self.enumerations.get(index).map(String::as_str)
    }

    fn tables(&self, out: &mut String) {
        let protocol = self.codec.protocol();
        let cut = &protocol.frame.cut;
        line(out, "\n\n_STRUCTURES: Dict[Any, Tuple[_Part, ...]] = {");
        for (one, class) in self.plan.structures.iter().zip(&self.structures) {
            line(out, &format!("    {class}: {},", self.parts(&one.parts, "    ")));
        }
        line(out, "}");
        line(out, &format!("_HEAD: Tuple[_Part, ...] = {}", self.parts(&self.plan.head, "")));
        line(out, &format!("_TAIL: Tuple[_Part, ...] = {}", self.parts(&self.plan.tail, "")));
        line(out, &format!("_TAIL_SIZE = {}", self.plan.tail_size));
        let marks = self.plan.marks.map(bytes);
        line(out, &format!("_MARKS = ({}, {})", marks[0], marks[1]));
        let escapes = cut.escape.as_ref().map(|escape| match escape {
            Escape::Named(NamedEscape::Slip) => "_Escapes(\"slip\")".to_owned(),
            Escape::Named(NamedEscape::Cobs) => "_Escapes(\"cobs\")".to_owned(),
            Escape::Named(NamedEscape::Hex) => "_Escapes(\"hex\")".to_owned(),
            Escape::Named(NamedEscape::Double) => "_Escapes(\"double\")".to_owned(),
            Escape::Stuffing(Stuffing { mark, xor, of }) => {
                format!("_Escapes(\"stuffing\", {mark:#04x}, {xor:#04x}, {})", bytes(of))
            }
        });
        line(out, &format!("_ESCAPES: Any = {}", escapes.unwrap_or_else(none)));
        line(out, "# Minimum and maximum size of a datagram.");
        let datagram = cut.datagram.map(|size| format!("({}, {size})", cut.least.unwrap_or(size)));
        line(out, &format!("_DATAGRAM: Any = {}", datagram.unwrap_or_else(none)));
        line(
            out,
            &format!("_MAX_SIZE: Optional[int] = {}", cut.most.map_or_else(none, |most| most.to_string())),
        );
        let counts = match cut.counts.unwrap_or(Counted::Frame) {
            Counted::Frame => "frame",
            Counted::Rest => "rest",
            Counted::Body => "body",
        };
        line(out, &format!("_COUNTS = \"{counts}\""));
        self.cut(out);
        line(out, "_MESSAGES = (");
        for (one, class) in self.plan.messages.iter().zip(&self.messages) {
            let code = match one.code() {
                Code::Number(number) => number.to_string(),
                Code::Text(text) => bytes(text.as_bytes()),
            };
            let question = self
                .plan
                .messages
                .iter()
                .zip(&self.messages)
                .find(|(other, _)| {
                    one.is_answer && other.message.name == one.message.name && !other.is_answer
                })
                .map_or_else(none, |(_, class)| class.clone());
            let from_client = if one.is_from_client() { "True" } else { "False" };
            let parts = self.parts(&one.parts, "    ");
            line(out, &format!("    _Message({class}, {from_client}, {code}, {question}, {parts}),"));
        }
        line(out, ")\n_BY_TYPE = {one.type: one for one in _MESSAGES}");
    }

    /// How a stream is cut.
    fn cut(&self, out: &mut String) {
        let protocol = self.codec.protocol();
        let cut = &protocol.frame.cut;
        let (mut at, mut constants, mut size_at) = (0, Vec::new(), None);
        for field in protocol.frame.fields.iter().take_while(|field| field.is != Some(FieldRole::Body)) {
            let size = field.size().unwrap_or(0);
            if cut.size.as_ref() == Some(&field.name) {
                let order = order(field.order.unwrap_or(protocol.order) == ByteOrder::Little);
                size_at = Some(format!("({at}, {size}, \"{order}\")"));
            }
            let part = self.plan.head.iter().find(|part| std::ptr::eq::<Field>(part.field, field));
            if let Some(PartKind::Bytes { value: Some(value), .. }) = part.map(|part| &part.kind) {
                constants.push(format!("({at}, {})", bytes(value)));
            }
            at += size;
        }
        let way = match () {
            () if size_at.is_some() => "size",
            () if self.plan.marks.iter().any(|mark| !mark.is_empty()) => "marks",
            () if cut.by_code => "code",
            () => "whole",
        };
        line(
            out,
            "# How a stream is cut; offset, bytes and order of the size; constants with their offsets.",
        );
        line(out, &format!("_CUT = \"{way}\""));
        line(out, &format!("_SIZE_AT: Any = {}", size_at.unwrap_or_else(none)));
        line(out, &format!("_HEAD_SIZE = {at}"));
        line(out, &format!("_CONSTANTS: Any = {}", tuple(&constants)));
    }

    fn parts(&self, parts: &[Part<'_>], indent: &str) -> String {
        if parts.is_empty() {
            return "()".to_owned();
        }
        let mut text = "(\n".to_owned();
        for part in parts {
            let _ = writeln!(text, "{indent}    {},", self.part(part, parts));
        }
        text + indent + ")"
    }

    fn part(&self, part: &Part<'_>, beside: &[Part<'_>]) -> String {
        let mut text = format!("_Part(\"{}\"", part.name);
        match &part.kind {
            PartKind::Structure(index) => {
                let class = self.structures.get(*index).map_or("", String::as_str);
                let _ = write!(text, ", \"structure\", type={class}");
            }
            PartKind::Bytes { is_text, value, is_code } => {
                let _ = write!(text, ", \"{}\"", if *is_text { "text" } else { "bytes" });
                match value {
                    _ if *is_code => text.push_str(", role=\"code\""),
                    Some(value) => {
                        let _ = write!(text, ", role=\"constant\", value={}", bytes(value));
                    }
                    None => {}
                }
            }
            PartKind::Number(number) => self.number(part, number, beside, &mut text),
        }
        match &part.count {
            None => {}
            Some(PartCount::Fixed(count)) => text += &format!(", count={count}"),
            Some(PartCount::Prefixed { size, is_little }) => {
                text += &format!(", count=(\"{}\", {size})", order(*is_little));
            }
            Some(PartCount::Rest) => text += ", count=\"*\"",
            Some(PartCount::Of(reference)) => match reference {
                Reference::Always(count) => text += &format!(", count={count}"),
                Reference::Here(name) | Reference::Asked(name) => {
                    text += &format!(", count=(\"field\", \"{name}\")");
                }
            },
        }
        let when: Vec<String> = part
            .field
            .when
            .values()
            .map(|(name, value)| format!("(\"{}\", {value})", self.plan.identifier(name)))
            .collect();
        if !when.is_empty() {
            let _ = write!(text, ", when={}", tuple(&when));
        }
        if part.is_optional {
            text.push_str(", optional=True");
        }
        if let Some(at) = part.at {
            let _ = write!(text, ", at={at}");
        }
        text + ")"
    }

    fn number(&self, part: &Part<'_>, number: &PartNumber<'_>, beside: &[Part<'_>], text: &mut String) {
        let form = match number.form {
            PartForm::Unsigned => "u",
            PartForm::Signed => "i",
            PartForm::Float => "f",
            PartForm::Bool => "bool",
        };
        *text += &format!(", \"{form}\", {}, \"{}\"", number.size, order(number.is_little));
        if let Some(bits) = number.bits {
            let is_shared = if bits.opens { "False" } else { "True" };
            *text += &format!(", bits=({}, {}, {is_shared})", bits.lowest, bits.count);
        }
        if let Some([scale, offset]) = number.scale {
            *text += &format!(", scale=({}, {})", real(scale), real(offset));
        }
        match number.role {
            PartRole::Value => {
                if let Some(list) = counted(part, beside) {
                    *text += &format!(", role=\"count\", value=\"{list}\"");
                }
            }
            PartRole::Constant(value) => *text += &format!(", role=\"constant\", value={value}"),
            PartRole::Size(_) => text.push_str(", role=\"size\""),
            PartRole::Checksum { name, skipped } => {
                *text += &format!(", role=\"checksum\", value={}", checksum(name));
                if skipped > 0 {
                    *text += &format!(", skipped={skipped}");
                }
            }
            PartRole::Code => text.push_str(", role=\"code\""),
        }
        if let Some(class) = self.names(part) {
            *text += &format!(", type={class}");
        }
        if number.is_strict {
            text.push_str(", strict=True");
        }
    }
}

/// The list whose length a number is, if it has no other use.
fn counted<'p>(part: &Part<'_>, beside: &'p [Part<'_>]) -> Option<&'p str> {
    let PartKind::Number(PartNumber { role: PartRole::Value, is_strict: false, .. }) = part.kind else {
        return None;
    };
    if part.field.codes.is_some() {
        return None;
    }
    let reference = Some(PartCount::Of(Reference::Here(part.name.clone())));
    let list = |other: &&Part<'_>| other.count == reference && other.when.is_empty() && !other.is_optional;
    beside.iter().find(list).map(|other| other.name.as_str())
}

/// The function of a check sum.
fn checksum(name: &str) -> String {
    let one = Checksum::named(name);
    match (&one, one.as_ref().and_then(Checksum::parameters)) {
        (_, Some(crc)) => format!(
            "_crc({}, {:#x}, {:#x}, {}, {}, {:#x})",
            crc.width,
            crc.poly,
            crc.init,
            boolean(crc.refin),
            boolean(crc.refout),
            crc.xorout
        ),
        (Some(Checksum::Sum { is_negated: true }), _) => "_sum_to_zero".to_owned(),
        (Some(Checksum::Xor), _) => "_xor".to_owned(),
        (Some(Checksum::Words), _) => "_words".to_owned(),
        _ => "_sum".to_owned(),
    }
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn none() -> String {
    "None".to_owned()
}

fn order(is_little: bool) -> &'static str {
    if is_little { "little" } else { "big" }
}

/// A number that is read as the same one.
fn real(value: f64) -> String {
    format!("{value:?}")
}

fn tuple(parts: &[String]) -> String {
    match parts {
        [one] => format!("({one},)"),
        _ => format!("({})", parts.join(", ")),
    }
}

fn bytes(bytes: &[u8]) -> String {
    format!("b\"{}\"", bytes.escape_ascii())
}

/// A text within a docstring.
fn doc(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
