//! Interfaces of a protocol with XDR's encoding: a module of each with its structures, its names for numbers, and its
//! messages as typed constants and as a table.
//!
//! The code uses `Ask`, `Bytes`, `Interface`, `Kind`, `Note`, `Reader`, `Row`, `Xdr`, `XdrError` and `table` of the module
//! that includes it.

use super::{NoRust, line, sentence, sorted, variant};
use crate::kind::{Base, Count, Kind};
use crate::model::{Answer, Field, Interface, Message, Protocol, Side, Type, Value};

/// A source file with a module for each interface, `common` with the types of the protocol, and `INTERFACES`, all those
/// with a code. `others` are types that are written by hand, with their paths.
///
/// # Errors
/// A field or a body of a kind that has no Rust yet.
pub fn interfaces(protocol: &Protocol, others: &[(&str, &str)]) -> Result<String, NoRust> {
    let mut out = format!("// Made of the description of {}.\n\n", protocol.title);
    line(&mut out, "/// What several interfaces use.\npub mod common {");
    let emitter = Emitter { others, types: &protocol.types, messages: &[] };
    emitter.declare_types(&mut out)?;
    line(&mut out, "}");
    for interface in &protocol.interfaces {
        let emitter = Emitter { others, types: &interface.types, messages: &interface.messages };
        emitter.interface(interface, &mut out)?;
    }
    let coded: Vec<&Interface> = protocol.interfaces.iter().filter(|one| one.code != 0).collect();
    line(&mut out, "\n/// All interfaces, by their codes.");
    line(&mut out, &format!("pub const INTERFACES: [&Interface; {}] = [", coded.len()));
    coded.iter().for_each(|one| line(&mut out, &format!("    &{}::INTERFACE,", one.name)));
    line(&mut out, "];");
    Ok(out)
}

struct Emitter<'a> {
    others: &'a [(&'a str, &'a str)],
    /// Types and messages of the module.
    types: &'a [Type],
    messages: &'a [Message],
}

impl Emitter<'_> {
    fn interface(&self, interface: &Interface, out: &mut String) -> Result<(), NoRust> {
        line(out, &format!("\n/// {}.", sentence(&interface.meaning)));
        line(out, &format!("pub mod {} {{", interface.name));
        line(
            out,
            "    #[allow(unused_imports, reason = \"not every interface has them\")]\n    pub use super::common::*;\n",
        );
        self.declare_types(out)?;
        let mut rows = Vec::new();
        for message in &interface.messages {
            let name = message.name.to_uppercase();
            let body = self.body(&message.name, &message.fields)?;
            let number = number(message)?;
            let (kind, constant, rewrite, answer) = match (&message.answer, message.from) {
                (None, Side::Server) => (
                    "Data",
                    format!("Note<{body}> = super::Note::new(super::Kind::Data, {number})"),
                    "rewrite",
                    None,
                ),
                (None, Side::Client) => (
                    "Command",
                    format!("Note<{body}> = super::Note::new(super::Kind::Command, {number})"),
                    "rewrite_all",
                    None,
                ),
                (Some(Answer::Fields(fields)), Side::Client) => {
                    let answer = self.body(&message.name, fields)?;
                    (
                        "Request",
                        format!("Ask<{body}, {answer}> = super::Ask::new({number})"),
                        "rewrite_all",
                        Some(answer),
                    )
                }
                _ => return Err(NoRust::new(&message.name, "such an answer has no Rust yet")),
            };
            line(
                out,
                &format!(
                    "    /// {}.\n    pub const {name}: super::{constant};\n",
                    sentence(&message.meaning)
                ),
            );
            let rewrite_answer =
                answer.map_or("None".to_owned(), |answer| format!("Some(super::table::rewrite::<{answer}>)"));
            rows.push(format!(
                "            super::Row {{\n                kind: super::Kind::{kind},\n                subtype: {number},\n                \
                 name: {name:?},\n                meaning: {:?},\n                rewrite: super::table::{rewrite}::<{body}>,\n                \
                 rewrite_answer: {rewrite_answer},\n            }},",
                message.meaning
            ));
        }
        line(out, &format!("    /// {}.", sentence(&interface.meaning)));
        line(out, "    pub const INTERFACE: super::Interface = super::Interface {");
        let name = interface.name.replace('_', " ");
        line(
            out,
            &format!("        code: {},\n        name: {name:?},\n        messages: &[", interface.code),
        );
        rows.iter().for_each(|row| line(out, row));
        line(out, "        ],\n    };\n}");
        Ok(())
    }

    /// The type of a body: that of its only field `value`, or none.
    fn body(&self, message: &str, fields: &[Field]) -> Result<String, NoRust> {
        match fields {
            [] => Ok("()".to_owned()),
            [one] if one.name == "value" => self.rust_type(message, one),
            _ => Err(NoRust::new(message, "a body is one field with the name value")),
        }
    }

    fn declare_types(&self, out: &mut String) -> Result<(), NoRust> {
        for one in self.types.iter().filter(|one| self.other(&one.name).is_none()) {
            match (&one.base, one.codes.is_empty()) {
                (_, true) => self.structure(one, out)?,
                (Some(base), false) if self.is_field_s(&one.name) => enumeration(one, base, out),
                (Some(base), false) => constants(one, base, out),
                (None, false) => return Err(NoRust::new(&one.name, "its numbers have no base")),
            }
        }
        Ok(())
    }

    /// Whether a field has the numbers of this type.
    fn is_field_s(&self, name: &str) -> bool {
        let answers = self.messages.iter().filter_map(|message| match &message.answer {
            Some(Answer::Fields(fields)) => Some(fields),
            _ => None,
        });
        let bodies = self.messages.iter().map(|message| &message.fields).chain(answers);
        let mut fields = self.types.iter().map(|one| &one.fields).chain(bodies).flatten();
        fields.any(|field| field.codes.as_deref() == Some(name))
    }

    fn structure(&self, one: &Type, out: &mut String) -> Result<(), NoRust> {
        let name = variant(&one.name);
        line(out, &format!("    /// {}.", sentence(&one.meaning)));
        line(out, "    #[derive(Debug, Clone, PartialEq, Default)]");
        line(out, "    #[allow(missing_docs, reason = \"the names of some fields say it\")]");
        line(out, &format!("    pub struct {name} {{"));
        for field in &one.fields {
            let unit = if field.unit.is_empty() { String::new() } else { format!(", {}", field.unit) };
            if !field.meaning.is_empty() || !unit.is_empty() {
                let meaning = if field.meaning.is_empty() { &field.name } else { &field.meaning };
                line(out, &format!("        /// {}{unit}.", sentence(meaning)));
            }
            line(out, &format!("        pub {}: {},", field.name, self.rust_type(&one.name, field)?));
        }
        line(
            out,
            &format!(
                "    }}\n\n    impl super::Xdr for {name} {{\n        fn write(&self, bytes: &mut Vec<u8>) {{"
            ),
        );
        for field in &one.fields {
            line(out, &format!("            super::Xdr::write(&self.{}, bytes);", field.name));
        }
        line(
            out,
            "        }\n\n        fn read(reader: &mut super::Reader<'_>) -> Result<Self, super::XdrError> {",
        );
        line(out, "            Ok(Self {");
        for field in &one.fields {
            line(out, &format!("                {}: super::Xdr::read(reader)?,", field.name));
        }
        line(out, "            })\n        }\n    }\n");
        Ok(())
    }

    fn rust_type(&self, place: &str, field: &Field) -> Result<String, NoRust> {
        let kind = field.kind();
        let one = match (&field.codes, &kind.base) {
            (Some(name), _) => self.path(name),
            (None, Base::Named(name)) => self.path(name),
            (None, Base::Text) if matches!(kind.count, Some(Count::Prefixed(_))) => {
                return Ok("String".to_owned());
            }
            (None, Base::Bytes) if matches!(kind.count, Some(Count::Prefixed(_))) => {
                return Ok("super::Bytes".to_owned());
            }
            (None, base @ (Base::Unsigned(_) | Base::Signed(_) | Base::Float(_) | Base::Bool)) => {
                base.to_string()
            }
            _ => return Err(NoRust::new(place, &format!("{kind} has no Rust yet"))),
        };
        match kind.count {
            None => Ok(one),
            Some(Count::Fixed(count)) => Ok(format!("[{one}; {count}]")),
            Some(Count::Prefixed(_)) => Ok(format!("Vec<{one}>")),
            Some(_) => Err(NoRust::new(place, &format!("{kind} has no Rust yet"))),
        }
    }

    fn other(&self, name: &str) -> Option<&str> {
        self.others.iter().find(|(other, _)| *other == name).map(|(_, path)| *path)
    }

    fn path(&self, name: &str) -> String {
        self.other(name).map_or_else(|| variant(name), str::to_owned)
    }
}

fn enumeration(one: &Type, base: &Kind, out: &mut String) {
    let name = variant(&one.name);
    let values = sorted(one);
    line(out, &format!("    /// {}.", sentence(&one.meaning)));
    line(out, &format!("    #[derive(Debug, Clone, Copy, PartialEq, Eq)]\n    pub enum {name} {{"));
    for (value_name, value) in &values {
        line(out, &format!("        /// {}.", explained(value_name, value)));
        line(out, &format!("        {},", variant(value_name)));
    }
    line(out, &format!("        /// Any other code.\n        Other({base}),\n    }}\n"));
    line(
        out,
        &format!(
            "    impl From<{base}> for {name} {{\n        fn from(code: {base}) -> Self {{\n            match code {{"
        ),
    );
    for (value_name, value) in &values {
        line(out, &format!("                {} => Self::{},", value.code(), variant(value_name)));
    }
    line(out, "                _ => Self::Other(code),\n            }\n        }\n    }\n");
    line(
        out,
        &format!(
            "    impl From<{name}> for {base} {{\n        fn from(value: {name}) -> Self {{\n            match value {{"
        ),
    );
    for (value_name, value) in &values {
        line(out, &format!("                {name}::{} => {},", variant(value_name), value.code()));
    }
    line(out, &format!("                {name}::Other(code) => code,\n            }}\n        }}\n    }}\n"));
    line(
        out,
        &format!(
            "    /// Code 0.\n    impl Default for {name} {{\n        fn default() -> Self {{\n            Self::from(0)\n        }}\n    }}\n"
        ),
    );
    line(
        out,
        &format!(
            "    impl super::Xdr for {name} {{\n        fn write(&self, bytes: &mut Vec<u8>) {{\n            \
             super::Xdr::write(&{base}::from(*self), bytes);\n        }}\n\n        \
             fn read(reader: &mut super::Reader<'_>) -> Result<Self, super::XdrError> {{\n            \
             <{base} as super::Xdr>::read(reader).map(Self::from)\n        }}\n    }}\n"
        ),
    );
}

fn constants(one: &Type, base: &Kind, out: &mut String) {
    for (name, value) in &one.codes {
        line(out, &format!("    /// {}.", explained(name, value)));
        line(out, &format!("    pub const {}: {base} = {};\n", name.to_uppercase(), value.code()));
    }
}

fn number(message: &Message) -> Result<u64, NoRust> {
    match message.code {
        crate::model::Code::Number(number) => Ok(number),
        crate::model::Code::Text(_) => Err(NoRust::new(&message.name, "its code is not a number")),
    }
}

/// What a named number means; by default its name.
fn explained(name: &str, value: &Value) -> String {
    sentence(&value.meaning().map_or_else(|| name.replace('_', " "), str::to_owned))
}
