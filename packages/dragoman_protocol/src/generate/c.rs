//! C99 of a description: one header without dependencies and without allocation, with a structure per message.

mod decode;
mod encode;

use std::collections::{BTreeMap, BTreeSet};

use super::{code, one_line, remark, statement};
use crate::checksum::Checksum;
use crate::codec::plan::{Part, PartCount, PartForm, PartKind, Plan, Planned, Reference, identifier};
use crate::codec::{Codec, CodecError};
use crate::model::{Code, Type};
use crate::rust::{line, sorted};

/// Words of C and C++ that cannot be names.
const KEYWORDS: &[&str] = &[
    "and",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
];
const SUPPORT: &str = include_str!("support.h");
/// One part per kind of check sum, behind a line with its name.
const SUMS: &str = include_str!("sums.h");
/// Elements of a list, if nothing says how many there may be.
const MOST: usize = 256;

/// A C99 header with a structure, an encoder and a decoder per message.
///
/// # Errors
/// The description has what is not generated: values that are written as text, or lists of lists.
pub fn header(codec: &Codec) -> Result<String, CodecError> {
    let plan = codec.plan(KEYWORDS, false)?;
    let name = plan.name.to_lowercase();
    let mut emitter =
        Emitter { codec, upper: name.to_uppercase(), name, plan: &plan, capacities: BTreeMap::new() };
    emitter.check()?;
    Ok(emitter.file())
}

struct Emitter<'a> {
    codec: &'a Codec,
    /// The beginning of all names, and of those of constants.
    name: String,
    upper: String,
    plan: &'a Plan<'a>,
    /// Maximum numbers of elements by their constants.
    capacities: BTreeMap<String, usize>,
}

/// Where fields are: in a message or in a structure.
#[derive(Clone)]
struct Place {
    /// What is in front of a member: `message->`, `message->notes[i0].`.
    path: String,
    /// Beginning of the names of constants.
    constants: String,
    indent: usize,
    /// Depth of loops.
    depth: usize,
    /// Offsets of fields count.
    is_top: bool,
}

impl Place {
    fn message(emitter: &Emitter<'_>, one: &Planned<'_>) -> Self {
        let constants = format!("{}_{}", emitter.upper, one.name.to_uppercase());
        Self { path: "message->".to_owned(), constants, indent: 1, depth: 0, is_top: true }
    }

    fn deeper(&self) -> Self {
        Self { indent: self.indent + 1, ..self.clone() }
    }

    fn line(&self, out: &mut String, text: &str) {
        line(out, &format!("{}{text}", "  ".repeat(self.indent)));
    }
}

impl Emitter<'_> {
    /// What C cannot express, and the capacities of lists.
    fn check(&mut self) -> Result<(), CodecError> {
        let protocol = self.codec.protocol();
        let plan = self.plan;
        let mut inner = BTreeSet::new();
        let messages = plan.messages.iter().map(|one| (&one.name, &one.parts));
        let structures = plan.structures.iter().map(|one| (&one.name, &one.parts));
        let frame = [("frame".to_owned(), &plan.head), ("frame".to_owned(), &plan.tail)];
        let all = messages.chain(structures).map(|(name, parts)| (name.clone(), parts)).chain(frame);
        let all: Vec<_> = all.collect();
        for (_, parts) in &all {
            for part in parts.iter() {
                if let (PartKind::Structure(index), Some(_)) = (&part.kind, &part.count) {
                    inner.insert(*index);
                }
            }
        }
        // Structures within them, which come before them.
        for (index, one) in plan.structures.iter().enumerate().rev() {
            if inner.contains(&index) {
                inner.extend(one.parts.iter().filter_map(|part| match part.kind {
                    PartKind::Structure(index) => Some(index),
                    _ => None,
                }));
            }
        }
        for index in inner {
            let Some(one) = plan.structures.get(index) else { continue };
            let variable = |part: &&Part<'_>| !matches!(part.count, None | Some(PartCount::Fixed(_)));
            if let Some(part) = one.parts.iter().find(variable) {
                let place = format!("{}: type {}: {}", protocol.name, one.name, part.name);
                let reason = "a list within a list of structures is not generated in C".to_owned();
                return Err(CodecError { place, reason });
            }
        }
        for (name, parts) in all {
            for part in parts.iter() {
                if let Some(count) = self.capacity(part) {
                    let constants = format!("{}_{}", self.upper, name.to_uppercase());
                    self.capacities.insert(capacity_name(&constants, part), count);
                }
            }
        }
        Ok(())
    }

    /// The maximum number of elements of a list whose length varies.
    fn capacity(&self, part: &Part<'_>) -> Option<usize> {
        let cut = &self.codec.protocol().frame.cut;
        let bytes = if cut.can { Some(64) } else { cut.most.or(cut.datagram) };
        let one = match &part.kind {
            PartKind::Number(number) => number.size,
            _ => 1,
        };
        let most = bytes.map_or(MOST, |bytes| bytes / one.max(1)).max(1);
        match part.count.as_ref()? {
            PartCount::Fixed(_) => None,
            PartCount::Prefixed { size: 1, .. } => Some(most.min(255)),
            _ => Some(most),
        }
    }

    fn file(&self) -> String {
        let protocol = self.codec.protocol();
        let mut out = String::new();
        line(&mut out, &format!("/*\n * {}", comment(&statement(&protocol.title))));
        line(&mut out, &format!(" * Source: {}", comment(&one_line(&protocol.source))));
        if !protocol.about.is_empty() {
            line(&mut out, &format!(" * {}", comment(&statement(&protocol.about))));
        }
        line(
            &mut out,
            " *\n * C99. NAME_MESSAGE_encode writes a whole frame and returns its size, or 0: a value does not fit, or",
        );
        line(
            &mut out,
            " * the buffer is too small. NAME_MESSAGE_decode returns whether a whole frame is this message.",
        );
        if protocol.frame.cut.can {
            line(&mut out, " * The frame of a message without data has the size 0, too.");
        }
        line(&mut out, " * Made by `dragoman bridge header`; changes belong in the description.\n */");
        line(&mut out, "#ifndef NAME_UPPER_H\n#define NAME_UPPER_H\n");
        line(
            &mut out,
            "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n",
        );
        line(&mut out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
        protocol.types.iter().filter(|one| !one.codes.is_empty()).for_each(|one| self.codes(one, &mut out));
        if !self.capacities.is_empty() {
            line(
                &mut out,
                "/* Maximum numbers of elements of lists; define them before this file is included to change them. */",
            );
        }
        for (name, count) in &self.capacities {
            line(&mut out, &format!("#ifndef {name}\n#define {name} {count}\n#endif"));
        }
        for one in &self.plan.structures {
            let meaning = if one.meaning.is_empty() { &one.name } else { one.meaning };
            let constants = format!("{}_{}", self.upper, one.name.to_uppercase());
            self.structure(
                &one.name,
                meaning,
                &constants,
                one.parts.iter().filter(|part| part.has_value()),
                &mut out,
            );
        }
        for one in &self.plan.messages {
            let constants = Place::message(self, one).constants;
            self.structure(&one.name, &self.described(one), &constants, self.plan.values(one), &mut out);
            if let (Code::Number(number), false) = (&one.message.code, one.is_answer) {
                let what = if protocol.frame.cut.can { "ID" } else { "CODE" };
                line(&mut out, &format!("#define {constants}_{what} UINT64_C({number})"));
            }
        }
        line(&mut out, "");
        out.push_str(SUPPORT);
        let used: BTreeSet<&str> = self.sums().map(sum_part).collect();
        for part in SUMS.split("\n=").filter_map(|part| part.split_once('\n')) {
            if used.contains(part.0) {
                line(&mut out, &format!("\n{}", part.1.trim_end()));
            }
        }
        for one in &self.plan.messages {
            self.encoder(one, &mut out);
            self.decoder(one, &mut out);
        }
        line(&mut out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif");
        // Texts of users do not have these words: see `comment` and `text`.
        let own = format!("{}_", self.name);
        out.replace("NAME_UPPER", &self.upper).replace("NAME_", &own).replace("WIRE_", &format!("{own}wire_"))
    }

    /// Names of all check sums.
    fn sums(&self) -> impl Iterator<Item = &str> {
        let bodies = self.plan.messages.iter().flat_map(|one| &one.parts);
        let all = self.plan.head.iter().chain(&self.plan.tail).chain(bodies);
        all.filter_map(|part| part.checksum()).map(|(_, name, _)| name)
    }

    fn described(&self, one: &Planned<'_>) -> String {
        let message = one.message;
        if one.is_answer {
            return format!("The answer to {}", self.plan.identifier(&message.name));
        }
        let way = if one.is_from_client() { "to the machine" } else { "from the machine" };
        format!("{} ({way}, code {})", message.meaning, code(&message.code))
    }

    fn codes(&self, one: &Type, out: &mut String) {
        let meaning = if one.meaning.is_empty() { &one.name } else { &one.meaning };
        let is_small = one.codes.values().all(|value| i32::try_from(value.code()).is_ok());
        line(out, &format!("/* {} */", comment(&statement(meaning))));
        let beginning = format!("{}_{}", self.upper, identifier(&one.name, &[]).to_uppercase());
        let values = sorted(one).into_iter().map(|(name, value)| {
            let remark =
                value.meaning().map_or(String::new(), |text| format!(" /* {} */", comment(&statement(text))));
            (format!("{beginning}_{}", identifier(name, &[]).to_uppercase()), value.code(), remark)
        });
        if is_small {
            line(out, "enum {");
            values.for_each(|(name, code, remark)| line(out, &format!("  {name} = {code},{remark}")));
            line(out, "};\n");
        } else {
            values.for_each(|(name, code, remark)| {
                line(out, &format!("#define {name} INT64_C({code}){remark}"))
            });
            line(out, "");
        }
    }

    fn structure<'p>(
        &self,
        name: &str,
        meaning: &str,
        constants: &str,
        parts: impl Iterator<Item = &'p Part<'p>>,
        out: &mut String,
    ) {
        line(out, &format!("\n/* {} */\ntypedef struct {{", comment(&statement(meaning))));
        let mut is_empty = true;
        for part in parts {
            is_empty = false;
            let mut remarks = vec![comment(&remark(part.field))];
            remarks.retain(|text| !text.is_empty());
            if let Some(codes) = &part.field.codes {
                remarks.push(format!("NAME_UPPER_{}_...", identifier(codes, &[]).to_uppercase()));
            }
            let remark =
                if remarks.is_empty() { String::new() } else { format!(" /* {} */", remarks.join("; ")) };
            if part.is_optional {
                line(out, &format!("  bool has_{};", part.name));
            }
            let size = match (&part.count, &part.kind) {
                (None, _) => String::new(),
                (Some(count), kind) => {
                    let size = match count {
                        PartCount::Fixed(count) => count.to_string(),
                        _ => capacity_name(constants, part),
                    };
                    let text = matches!(kind, PartKind::Bytes { is_text: true, .. });
                    // No array has the size 0.
                    if text {
                        format!("[{size} + 1]")
                    } else if size == "0" {
                        "[1]".to_owned()
                    } else {
                        format!("[{size}]")
                    }
                }
            };
            line(out, &format!("  {} {}{size};{remark}", self.member(part), part.name));
            if has_count(part) {
                line(out, &format!("  size_t {}_count;", part.name));
            }
        }
        if is_empty {
            line(out, "  uint8_t no_fields; /* C has no empty structures */");
        }
        line(out, &format!("}} NAME_{name};"));
    }

    fn member(&self, part: &Part<'_>) -> String {
        match &part.kind {
            PartKind::Bytes { is_text: true, .. } => "char".to_owned(),
            PartKind::Bytes { .. } => "uint8_t".to_owned(),
            PartKind::Structure(index) => {
                format!("NAME_{}", self.plan.structures.get(*index).map_or("", |one| one.name.as_str()))
            }
            PartKind::Number(number) => {
                let bits = match number.size {
                    1 => 8,
                    2 => 16,
                    3 | 4 => 32,
                    _ => 64,
                };
                match number.form {
                    PartForm::Float if number.size == 4 && number.scale.is_none() => "float".to_owned(),
                    PartForm::Float => "double".to_owned(),
                    _ if number.scale.is_some() => "double".to_owned(),
                    PartForm::Bool => "bool".to_owned(),
                    PartForm::Signed => format!("int{bits}_t"),
                    PartForm::Unsigned => format!("uint{bits}_t"),
                }
            }
        }
    }

    /// The condition under which a field is there.
    fn condition(&self, part: &Part<'_>, place: &Place) -> Option<String> {
        let conditions = part.when.iter().map(|(reference, value)| {
            let found = self.reference(reference, place);
            format!("(int64_t){found} == INT64_C({value})")
        });
        let conditions: Vec<String> = conditions.collect();
        (!conditions.is_empty()).then(|| conditions.join(" && "))
    }

    fn reference(&self, reference: &Reference, place: &Place) -> String {
        match reference {
            Reference::Here(name) => format!("{}{name}", place.path),
            Reference::Asked(name) => format!("asked->{name}"),
            Reference::Always(value) => value.to_string(),
        }
    }

    /// Parameters in front of the others: the question, if the answer depends on it.
    fn asked(&self, one: &Planned<'_>) -> String {
        if one.asks {
            format!("const NAME_{} *asked, ", self.plan.identifier(&one.message.name))
        } else {
            String::new()
        }
    }

    /// The function call of a check sum over bytes.
    fn sum(&self, name: &str, bytes: &str, count: &str) -> String {
        let one = Checksum::named(name);
        if let Some(crc) = one.as_ref().and_then(Checksum::parameters) {
            return format!(
                "WIRE_crc({bytes}, {count}, {}, {:#x}u, {:#x}u, {}, {}, {:#x}u)",
                crc.width, crc.poly, crc.init, crc.refin, crc.refout, crc.xorout
            );
        }
        let negated = if matches!(one, Some(Checksum::Sum { is_negated: true })) { "0 - " } else { "" };
        format!("({negated}WIRE_{}({bytes}, {count}))", sum_part(name))
    }
}

fn sum_part(name: &str) -> &'static str {
    match Checksum::named(name) {
        Some(Checksum::Xor) => "xor",
        Some(Checksum::Words) => "words",
        Some(Checksum::Sum { .. }) | None => "sum",
        Some(_) => "crc",
    }
}

/// Whether a list has a member with its length.
fn has_count(part: &Part<'_>) -> bool {
    let is_text = matches!(part.kind, PartKind::Bytes { is_text: true, .. });
    !is_text && matches!(part.count, Some(PartCount::Prefixed { .. } | PartCount::Rest))
}

fn capacity_name(constants: &str, part: &Part<'_>) -> String {
    format!("{constants}_{}_MAX", part.name.to_uppercase())
}

fn text(bytes: &[u8]) -> String {
    // Octal digits end after three; hexadecimal ones do not.
    let letters = bytes.iter().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        // `_` is in the words that are replaced, `?` begins trigraphs.
        b' '..=b'~' if !b"_?".contains(byte) => char::from(*byte).to_string(),
        _ => format!("\\{byte:03o}"),
    });
    format!("\"{}\"", letters.collect::<String>())
}

/// A text within a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace("NAME_", "NAME").replace("WIRE_", "WIRE")
}

/// A number, which may stand behind an operator.
fn real(value: f64) -> String {
    if value < 0.0 { format!("({value:?})") } else { format!("{value:?}") }
}

/// An expression and a number that is added to it, or subtracted from it.
fn shifted(what: &str, sign: char, by: usize) -> String {
    if by == 0 { what.to_owned() } else { format!("{what} {sign} {by}") }
}
