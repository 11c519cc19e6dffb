//! Generates a module for each interface of a protocol with XDR encoding: its structures, its named numbers, and its
//! messages as typed constants, as a table, and as enumerations of their bodies ([`GROUPS`]). Outside of the modules,
//! enumerations with the same names have the bodies of all interfaces.
//!
//! The code uses `BodyError`, `Bytes`, `Interface`, `MessageInfo`, `MessageKind`, `OneWayMessage`, `Reader`,
//! `RequestMessage`, `Xdr` and `XdrError` of the module that includes it.

use super::{NoRust, line, sentence, sorted, variant};
use crate::kind::{Base, Count, Kind};
use crate::model::{Answer, Field, Interface, Message, Protocol, Side, Type, Value};

/// The enumerations of bodies, and their doc comments.
const GROUPS: [(&str, &str); 4] = [
    ("Data", "Data of a server"),
    ("Command", "A command of a client"),
    ("Request", "A request of a client"),
    ("Answer", "The answer to a request"),
];

/// A source file with a module for each interface, `common` with the types of the protocol, `INTERFACES`, all those
/// with a code, and the bodies of all interfaces. `others` are types that are written by hand, with their paths.
///
/// # Errors
/// A kind of field or body that is not supported yet.
pub fn interfaces(protocol: &Protocol, others: &[(&str, &str)]) -> Result<String, NoRust> {
    super::check(protocol, None)?;
    let mut out = format!("// Made of the description of {}.\n\n", protocol.title);
    line(&mut out, "/// What several interfaces use.\npub mod common {");
    let emitter = Emitter { others, types: &protocol.types, messages: &[] };
    emitter.declare_types(&mut out)?;
    line(&mut out, "}");
    let mut all = GROUPS.map(|_| Vec::new());
    for interface in &protocol.interfaces {
        let emitter = Emitter { others, types: &interface.types, messages: &interface.messages };
        emitter.interface(interface, &mut all, &mut out)?;
    }
    let coded: Vec<&Interface> = protocol.interfaces.iter().filter(|one| one.code != 0).collect();
    line(&mut out, "\n/// All interfaces, by their codes.");
    line(&mut out, &format!("pub const INTERFACES: [&Interface; {}] = [", coded.len()));
    coded.iter().for_each(|one| line(&mut out, &format!("    &{}::INTERFACE,", one.name)));
    line(&mut out, "];");
    for ((group, meaning), bodies) in GROUPS.iter().zip(&all).filter(|(_, bodies)| !bodies.is_empty()) {
        line(&mut out, "");
        out += &enumeration_of_bodies(group, &format!("{meaning}, by its interface"), bodies, true);
    }
    Ok(out)
}

struct Emitter<'a> {
    others: &'a [(&'a str, &'a str)],
    /// Types and messages of the module.
    types: &'a [Type],
    messages: &'a [Message],
}

impl Emitter<'_> {
    /// Adds this interface's bodies to those of all.
    fn interface(
        &self,
        interface: &Interface,
        all: &mut [Vec<Body>; GROUPS.len()],
        out: &mut String,
    ) -> Result<(), NoRust> {
        line(out, &format!("\n/// {}.", sentence(&interface.meaning)));
        line(out, &format!("pub mod {} {{", interface.name));
        line(
            out,
            "    #[allow(unused_imports, reason = \"not every interface has them\")]\n    pub use super::common::*;\n",
        );
        self.declare_types(out)?;
        let [mut data, mut commands, mut requests, mut answers] = GROUPS.map(|_| Vec::new());
        let mut rows = String::new();
        for message in &interface.messages {
            let (name, meaning) = (message.name.to_uppercase(), sentence(&message.meaning));
            let (body, number) = (self.body(&message.name, &message.fields)?, number(message)?);
            let (kind, bodies, read) = match (&message.answer, message.from) {
                (None, Side::Server) => ("Data", &mut data, "body"),
                (None, Side::Client) => ("Command", &mut commands, "body"),
                (Some(Answer::Fields(_)), Side::Client) => ("Request", &mut requests, "question"),
                _ => return Err(NoRust::new(&message.name, "such an answer has no Rust yet")),
            };
            bodies.push(Body::of(message, number, &body, read));
            let constant = match &message.answer {
                Some(Answer::Fields(fields)) => {
                    let answer = self.body(&message.name, fields)?;
                    answers.push(Body::of(message, number, &answer, "answer"));
                    format!("RequestMessage<{body}, {answer}> = super::RequestMessage::new({number})")
                }
                _ => format!(
                    "OneWayMessage<{body}> = super::OneWayMessage::new(super::MessageKind::{kind}, {number})"
                ),
            };
            line(out, &format!("    /// {meaning}.\n    pub const {name}: super::{constant};\n"));
            let meaning = &message.meaning;
            let row = format!(
                "kind: super::MessageKind::{kind}, subtype: {number}, name: {name:?}, meaning: {meaning:?}"
            );
            line(&mut rows, &format!("            super::MessageInfo {{ {row} }},"));
        }
        let groups = [data, commands, requests, answers];
        for (((group, meaning), bodies), all) in GROUPS.iter().zip(&groups).zip(all) {
            if bodies.is_empty() {
                continue;
            }
            let text = enumeration_of_bodies(group, meaning, bodies, false);
            text.lines().for_each(|text| line(out, format!("    {text}").trim_end()));
            line(out, "");
            all.push(Body::of_all(interface, group));
        }
        line(out, &format!("    /// {}.", sentence(&interface.meaning)));
        line(out, "    pub const INTERFACE: super::Interface = super::Interface {");
        let (code, name) = (interface.code, interface.name.replace('_', " "));
        line(
            out,
            &format!(
                "        code: {code},\n        name: {name:?},\n        messages: &[\n{rows}        ],"
            ),
        );
        line(out, "    };\n}");
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
                (Some(base), false) if self.is_used_by_a_field(&one.name) => enumeration(one, base, out),
                (Some(base), false) => constants(one, base, out),
                (None, false) => return Err(NoRust::new(&one.name, "its numbers have no base")),
            }
        }
        Ok(())
    }

    /// Whether a field uses the numbers of this type.
    fn is_used_by_a_field(&self, name: &str) -> bool {
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

/// A variant of an enumeration of bodies.
struct Body {
    meaning: String,
    variant: String,
    /// Type of its content; empty without content.
    holds: String,
    /// The number that selects it.
    number: u64,
    /// The code that reads it.
    read: String,
    bytes: String,
}

impl Body {
    /// A message's body of this type; `read` is the function of the message's constant that reads it.
    fn of(message: &Message, number: u64, kind: &str, read: &str) -> Self {
        let (name, variant) = (message.name.to_uppercase(), variant(&message.name));
        let (holds, make, bytes) = match kind {
            "()" => ("", format!("|()| Self::{variant}"), "Vec::new()"),
            _ => (kind, format!("Self::{variant}"), "super::Xdr::to_bytes(body)"),
        };
        let read = format!("{name}.{read}(bytes).map({make}).map_err(super::BodyError::of({name:?}))");
        let meaning = sentence(&message.meaning);
        Self { meaning, variant, holds: holds.to_owned(), number, read, bytes: bytes.to_owned() }
    }

    /// The bodies of an interface, among those of all.
    fn of_all(interface: &Interface, group: &str) -> Self {
        let (name, variant) = (&interface.name, variant(&interface.name));
        Self {
            meaning: sentence(&interface.meaning),
            holds: format!("{name}::{group}"),
            number: interface.code,
            read: format!("{name}::{group}::read(subtype, bytes).map(Self::{variant})"),
            bytes: "body.to_bytes()".to_owned(),
            variant,
        }
    }
}

/// An enumeration of bodies, of one interface or of all.
fn enumeration_of_bodies(group: &str, meaning: &str, bodies: &[Body], of_all: bool) -> String {
    let (mut variants, mut read, mut write) = (String::new(), String::new(), String::new());
    for Body { meaning, variant, holds, number, read: how, bytes } in bodies {
        let (holds, body) =
            if holds.is_empty() { (String::new(), "") } else { (format!("({holds})"), "(body)") };
        line(&mut variants, &format!("    /// {meaning}.\n    {variant}{holds},"));
        line(&mut read, &format!("            {number} => {how},"));
        line(&mut write, &format!("            Self::{variant}{body} => {bytes},"));
    }
    let (argument, by, base) =
        if of_all { ("interface: u16, ", "interface", "") } else { ("", "subtype", "super::") };
    format!(
        "/// {meaning}.
#[derive(Debug, Clone, PartialEq)]
pub enum {group} {{
{variants}}}

impl {group} {{
    /// Reads the body of the message with this number.
    ///
    /// # Errors
    /// There is no such message; the bytes are not its body.
    pub fn read({argument}subtype: u8, bytes: &[u8]) -> Result<Self, {base}BodyError> {{
        match {by} {{
{read}            _ => Err({base}BodyError::Unknown {{ subtype }}),
        }}
    }}

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {{
        match self {{
{write}        }}
    }}
}}
"
    )
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

/// The meaning of a named number; by default its name.
fn explained(name: &str, value: &Value) -> String {
    sentence(&value.meaning().map_or_else(|| name.replace('_', " "), str::to_owned))
}
