//! Generates the types of numbered commands: their structures, the commands with their numbers and services, the
//! replies.
//!
//! The code of [`codes`] uses `Code` of the module that includes it; that of [`telegrams`] uses `codes`, `field`, `frame`,
//! `properties`, `Coded`, `Tail`, `Text`, `DecodeError`, `EncodeError`, `Fault`, `Framing` and `Message`.

use super::{NoRust, line, sentence, sorted, variant};
use crate::kind::{Base, Count};
use crate::model::{Answer, Code, Field, Message, Protocol, Type};

/// The type of Booleans in answers, which keeps other numbers.
const FLAG: &str = "flag";

/// A source file with the types of the protocol that have names for numbers.
pub fn codes(protocol: &Protocol) -> String {
    let mut out = format!("// Made of the description of the {}.\n", protocol.title);
    for one in protocol.types.iter().filter(|one| !one.codes.is_empty() && one.name != FLAG) {
        let name = variant(&one.name);
        let values = sorted(one);
        line(&mut out, &format!("\n/// {}.", sentence(&one.meaning)));
        line(&mut out, "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]");
        line(&mut out, "#[allow(missing_docs, reason = \"the names of some say it\")]");
        line(&mut out, &format!("pub enum {name} {{"));
        for (value_name, value) in &values {
            if let Some(meaning) = value.meaning() {
                line(&mut out, &format!("    /// {}.\n    ///", sentence(meaning)));
            }
            line(&mut out, &format!("    /// `{}`", value.text().unwrap_or(value_name)));
            line(&mut out, &format!("    {} = {},", variant(value_name), value.code()));
        }
        line(&mut out, &format!("}}\n\nimpl Code for {name} {{\n    const ALL: &'static [Self] = &["));
        values
            .iter()
            .for_each(|(value_name, _)| line(&mut out, &format!("        Self::{},", variant(value_name))));
        line(&mut out, "    ];\n\n    fn code(self) -> u8 {\n        self as u8\n    }\n");
        line(&mut out, "    fn name(self) -> &'static str {\n        match self {");
        for (value_name, value) in &values {
            let text = value.text().unwrap_or(value_name);
            line(&mut out, &format!("            Self::{} => {text:?},", variant(value_name)));
        }
        line(&mut out, &format!("        }}\n    }}\n}}\n\nimpl std::fmt::Display for {name} {{"));
        line(&mut out, "    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {");
        line(&mut out, "        f.write_str(self.name())\n    }\n}");
    }
    out
}

/// A source file with the structures of the protocol, `CommandKind`, `Command` and `Reply`. `others` are structures
/// that are written by hand, `boxed` those that are too large for `Reply` and are boxed.
///
/// # Errors
/// A kind of field or body that is not supported yet.
pub fn telegrams(protocol: &Protocol, others: &[&str], boxed: &[&str]) -> Result<String, NoRust> {
    super::check(protocol, None)?;
    let emitter = Emitter { protocol, others, boxed };
    let mut out = format!("// Made of the description of the {}.\n", protocol.title);
    emitter.strict_codes(&mut out);
    for one in protocol.types.iter().filter(|one| !one.fields.is_empty() && !others.contains(&&*one.name)) {
        emitter.structure(one, &mut out)?;
    }
    emitter.kinds(&mut out)?;
    emitter.commands(&mut out)?;
    emitter.replies(&mut out)?;
    Ok(out)
}

struct Emitter<'a> {
    protocol: &'a Protocol,
    others: &'a [&'a str],
    boxed: &'a [&'a str],
}

/// A member of a structure: a field, or a Boolean and a field that exists if the Boolean is true.
struct Member<'a> {
    field: &'a Field,
    rust: String,
}

impl Emitter<'_> {
    fn find(&self, name: &str) -> Option<&Type> {
        self.protocol.types.iter().find(|one| one.name == name)
    }

    /// Numbers of commands whose unknown values are refused, with their widths.
    fn strict_codes(&self, out: &mut String) {
        let fields = self.protocol.types.iter().flat_map(|one| &one.fields).filter(|field| field.strict);
        for field in fields {
            let (Some(codes), base) = (&field.codes, field.kind().base) else { continue };
            let name = variant(codes);
            line(out, &format!("\nimpl field::Field for codes::{name} {{"));
            line(out, &format!("    const MIN_LEN: usize = size_of::<{base}>();\n"));
            line(out, "    fn read(reader: &mut field::Reader<'_>) -> Result<Self, Fault> {");
            line(
                out,
                &format!("        field::known(<{base} as field::Field>::read(reader)?.into())\n    }}\n"),
            );
            let code = "codes::Code::code(*self)";
            let wide =
                if base == Base::Unsigned(8) { code.to_owned() } else { format!("{base}::from({code})") };
            line(out, "    fn write(&self, bytes: &mut Vec<u8>) {");
            line(out, &format!("        field::Field::write(&{wide}, bytes);\n    }}\n"));
            line(out, "    #[cfg(test)]\n    fn sample(source: &mut properties::Source) -> Self {");
            line(out, "        *source.one_of(<Self as codes::Code>::ALL)\n    }\n}");
        }
    }

    fn structure(&self, one: &Type, out: &mut String) -> Result<(), NoRust> {
        let name = variant(&one.name);
        let members = self.members(one)?;
        let traits: Vec<&str> = [
            ("Copy", self.all(one, &|emitter, field| emitter.is_copy(field))),
            ("Eq", self.all(one, &|emitter, field| emitter.is_eq(field))),
            ("Default", self.all(one, &|emitter, field| emitter.has_default(field))),
        ]
        .into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect();
        let derived = traits.iter().map(|name| format!(", {name}")).collect::<String>();
        line(out, &format!("\n/// {}.", sentence(&one.meaning)));
        line(out, &format!("#[derive(Debug, Clone, PartialEq{derived})]"));
        line(out, "#[allow(missing_docs, reason = \"the names of some fields say it\")]");
        line(out, &format!("pub struct {name} {{"));
        for Member { field, rust } in &members {
            if !field.meaning.is_empty() {
                line(out, &format!("    /// {}.", sentence(&field.meaning)));
            }
            line(out, &format!("    pub {}: {rust},", field.name));
        }
        line(out, &format!("}}\n\nimpl field::Field for {name} {{"));
        let sizes: Vec<String> =
            members.iter().map(|member| format!("<{} as field::Field>::MIN_LEN", member.rust)).collect();
        line(out, &format!("    const MIN_LEN: usize = {};\n", sizes.join("\n        + ")));
        line(out, "    fn read(reader: &mut field::Reader<'_>) -> Result<Self, Fault> {\n        Ok(Self {");
        for Member { field, .. } in &members {
            line(out, &format!("            {0}: reader.field(\"{0}\")?,", field.name));
        }
        line(out, "        })\n    }\n\n    fn write(&self, bytes: &mut Vec<u8>) {");
        for Member { field, .. } in &members {
            line(out, &format!("        field::Field::write(&self.{}, bytes);", field.name));
        }
        line(
            out,
            "    }\n\n    #[cfg(test)]\n    fn sample(source: &mut properties::Source) -> Self {\n        Self {",
        );
        for Member { field, .. } in &members {
            line(out, &format!("            {}: field::Field::sample(source),", field.name));
        }
        line(out, "        }\n    }\n}");
        Ok(())
    }

    fn members<'a>(&self, one: &'a Type) -> Result<Vec<Member<'a>>, NoRust> {
        let guards: Vec<&String> = one.fields.iter().flat_map(|field| field.when.keys()).collect();
        let own = one.fields.iter().filter(|field| !guards.contains(&&field.name));
        own.map(|field| Ok(Member { field, rust: self.rust_type(&one.name, field)? })).collect()
    }

    fn rust_type(&self, place: &str, field: &Field) -> Result<String, NoRust> {
        let kind = field.kind();
        let number = || kind.base.to_string();
        let one = match (&field.codes, &kind.base) {
            (Some(codes), _) if field.strict => format!("codes::{}", variant(codes)),
            (Some(codes), _) => {
                let known =
                    if codes == FLAG { "bool".to_owned() } else { format!("codes::{}", variant(codes)) };
                format!("Coded<{known}, {}>", number())
            }
            (None, Base::Text) if kind.count == Some(Count::Prefixed(32)) => return Ok("Text".to_owned()),
            (None, Base::Bytes) => "u8".to_owned(),
            (None, Base::Named(name)) => variant(name),
            (None, Base::Unsigned(_) | Base::Signed(_) | Base::Float(_) | Base::Bool) => number(),
            _ => return Err(NoRust::new(place, &format!("{}: {kind} has no Rust yet", field.name))),
        };
        let all = match kind.count {
            None => one,
            Some(Count::Fixed(count)) => format!("[{one}; {count}]"),
            Some(Count::Prefixed(32)) => format!("Vec<{one}>"),
            Some(_) => return Err(NoRust::new(place, &format!("{}: {kind} has no Rust yet", field.name))),
        };
        Ok(match (field.optional, field.when.is_empty()) {
            (true, _) => format!("Tail<{all}>"),
            (false, false) => format!("Option<{all}>"),
            (false, true) => all,
        })
    }

    /// Whether all fields of a structure have a property.
    fn all(&self, one: &Type, has: &dyn Fn(&Self, &Field) -> bool) -> bool {
        one.fields.iter().all(|field| has(self, field))
    }

    fn of_named(&self, field: &Field, other: bool, has: &dyn Fn(&Self, &Field) -> bool) -> bool {
        match &field.kind().base {
            Base::Named(name) if self.others.contains(&&**name) => other,
            Base::Named(name) => self.find(name).is_none_or(|one| self.all(one, has)),
            _ => true,
        }
    }

    fn is_copy(&self, field: &Field) -> bool {
        let is_list = matches!(field.kind().count, Some(Count::Prefixed(_)));
        !is_list && self.of_named(field, false, &|emitter, field| emitter.is_copy(field))
    }

    fn is_eq(&self, field: &Field) -> bool {
        !matches!(field.kind().base, Base::Float(_))
            && self.of_named(field, true, &|emitter, field| emitter.is_eq(field))
    }

    fn has_default(&self, field: &Field) -> bool {
        !field.strict && self.of_named(field, true, &|emitter, field| emitter.has_default(field))
    }

    fn kinds(&self, out: &mut String) -> Result<(), NoRust> {
        let messages = &self.protocol.messages;
        let variants: Vec<String> = messages.iter().map(|one| variant(&one.name)).collect();
        line(out, "\n/// The commands, without their arguments.");
        line(
            out,
            "#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub enum CommandKind {",
        );
        for (name, message) in variants.iter().zip(messages) {
            line(out, &format!("    /// {}.\n    {name},", sentence(&message.meaning)));
        }
        line(out, &format!("}}\n\nimpl CommandKind {{\n    const ALL: [Self; {}] = [", variants.len()));
        variants.iter().for_each(|name| line(out, &format!("        Self::{name},")));
        line(out, "    ];\n");
        let mut table = |doc: &str, name: &str, kind: &str, values: Vec<String>| {
            line(out, &format!("    /// {doc}\n    pub fn {name}(self) -> {kind} {{\n        match self {{"));
            for (variant, value) in variants.iter().zip(values) {
                line(out, &format!("            Self::{variant} => {value},"));
            }
            line(out, "        }\n    }\n");
        };
        let numbers = messages.iter().map(|one| Ok(number(one)?.to_string())).collect::<Result<_, _>>()?;
        table("The first byte of its data.", "number", "u8", numbers);
        let of = |value: &dyn Fn(&Message) -> String| messages.iter().map(value).collect::<Vec<String>>();
        let doc = "Name of its ROS service in the namespace of the platform.";
        table(doc, "service", "&'static str", of(&|one| format!("{:?}", one.name)));
        let doc = "Whether the guide has a reply for it.";
        table(doc, "is_answered", "bool", of(&|one| one.answer.is_some().to_string()));
        table("Short description.", "meaning", "&'static str", of(&|one| format!("{:?}", one.meaning)));
        line(out, "    /// All commands, in the order of their numbers.");
        line(out, "    pub fn all() -> impl Iterator<Item = Self> {\n        Self::ALL.into_iter()\n    }\n");
        line(out, "    /// The command with this number.");
        line(out, "    pub fn from_number(number: u8) -> Option<Self> {");
        line(out, "        Self::all().find(|kind| kind.number() == number)\n    }\n}");
        Ok(())
    }

    /// The structure of a body, and whether a number -1 follows it.
    fn body(&self, message: &str, fields: &[Field]) -> Result<(Option<String>, bool), NoRust> {
        let name = |field: &Field| match field.kind().base {
            Base::Named(name) if field.name == "value" => Ok(name),
            _ => Err(NoRust::new(message, "a body is one field with the name value, of a type")),
        };
        match fields {
            [] => Ok((None, false)),
            [one] => Ok((Some(name(one)?), false)),
            [one, check] if check.value.as_deref() == Some("-1") => Ok((Some(name(one)?), true)),
            _ => Err(NoRust::new(message, "a body is one field, and perhaps -1")),
        }
    }

    fn commands(&self, out: &mut String) -> Result<(), NoRust> {
        let mut arms = Vec::new();
        for message in &self.protocol.messages {
            let (body, _) = self.body(&message.name, &message.fields)?;
            arms.push((variant(&message.name), body.map(|body| variant(&body)), message));
        }
        line(out, "\n/// A message of a client. Values are those on the wire; the platform checks them.");
        line(out, "#[derive(Debug, Clone, PartialEq)]\npub enum Command {");
        for (name, body, message) in &arms {
            let body = body.as_ref().map_or(String::new(), |body| format!("({body})"));
            line(out, &format!("    /// {}.\n    {name}{body},", sentence(&message.meaning)));
        }
        line(out, "}\n\nimpl Command {\n    /// The command without its arguments.");
        line(out, "    pub fn kind(&self) -> CommandKind {\n        match self {");
        for (name, body, _) in &arms {
            let pattern = if body.is_some() { "(_)" } else { "" };
            line(out, &format!("            Self::{name}{pattern} => CommandKind::{name},"));
        }
        line(out, "        }\n    }\n");
        line(out, "    /// Every command with random arguments.\n    #[cfg(test)]");
        line(out, "    fn samples(source: &mut properties::Source) -> Vec<Self> {\n        vec![");
        for (name, body, _) in &arms {
            let sample = if body.is_some() { "(field::Field::sample(source))" } else { "" };
            line(out, &format!("            Self::{name}{sample},"));
        }
        line(out, "        ]\n    }\n}\n\nimpl Message for Command {");
        line(out, "    fn decode(data: &[u8]) -> Result<Self, DecodeError> {");
        line(out, "        match frame::kind(data).ok_or_else(|| frame::unknown(data, \"command\"))? {");
        for (name, body, _) in &arms {
            let map =
                if body.is_some() { format!("map(Self::{name})") } else { format!("map(|()| Self::{name})") };
            line(out, &format!("            CommandKind::{name} => frame::decode(data, false).{map},"));
        }
        line(
            out,
            "        }\n    }\n\n    fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {",
        );
        line(out, "        let number = self.kind().number();\n        match self {");
        for (name, body, _) in &arms {
            let (pattern, value) = if body.is_some() { ("(arguments)", "arguments") } else { ("", "&()") };
            line(
                out,
                &format!(
                    "            Self::{name}{pattern} => frame::encode(number, {value}, false, framing),"
                ),
            );
        }
        line(out, "        }\n    }\n}");
        Ok(())
    }

    fn replies(&self, out: &mut String) -> Result<(), NoRust> {
        let mut arms = Vec::new();
        for message in &self.protocol.messages {
            let Some(Answer::Fields(fields)) = &message.answer else { continue };
            let (Some(body), is_checked) = self.body(&message.name, fields)? else {
                return Err(NoRust::new(&message.name, "its answer has no body"));
            };
            let is_boxed = self.boxed.contains(&&*body);
            let body = if is_boxed { format!("Box<{}>", variant(&body)) } else { variant(&body) };
            arms.push((variant(&message.name), body, is_checked, message));
        }
        line(out, "\n/// An answer; its variants are those of [`CommandKind`].");
        line(out, "#[derive(Debug, Clone, PartialEq)]\npub enum Reply {");
        for (name, body, _, message) in &arms {
            line(out, &format!("    /// {}.\n    {name}({body}),", sentence(&message.meaning)));
        }
        line(out, "}\n\nimpl Reply {\n    /// The command of this reply.");
        line(out, "    pub fn kind(&self) -> CommandKind {\n        match self {");
        for (name, ..) in &arms {
            line(out, &format!("            Self::{name}(_) => CommandKind::{name},"));
        }
        line(out, "        }\n    }\n");
        line(out, "    /// Every reply with random values.\n    #[cfg(test)]");
        line(out, "    fn samples(source: &mut properties::Source) -> Vec<Self> {\n        vec![");
        for (name, ..) in &arms {
            line(out, &format!("            Self::{name}(field::Field::sample(source)),"));
        }
        line(out, "        ]\n    }\n}\n\nimpl Message for Reply {");
        line(
            out,
            "    fn decode(data: &[u8]) -> Result<Self, DecodeError> {\n        match frame::kind(data) {",
        );
        for (name, _, is_checked, _) in &arms {
            line(
                out,
                &format!(
                    "            Some(CommandKind::{name}) => frame::decode(data, {is_checked}).map(Self::{name}),"
                ),
            );
        }
        line(out, "            _ => Err(frame::unknown(data, \"telegram\")),\n        }\n    }\n");
        line(out, "    fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {");
        line(out, "        let number = self.kind().number();\n        match self {");
        for (name, _, is_checked, _) in &arms {
            line(
                out,
                &format!(
                    "            Self::{name}(payload) => frame::encode(number, payload, {is_checked}, framing),"
                ),
            );
        }
        line(out, "        }\n    }\n}");
        Ok(())
    }
}

fn number(message: &Message) -> Result<u64, NoRust> {
    match message.code {
        Code::Number(number @ 0..=255) => Ok(number),
        _ => Err(NoRust::new(&message.name, "its code is not a number of one byte")),
    }
}
