//! Python: dataclasses whose annotations are the layout, enumerations, and the messages of interfaces.

use super::{ClientNames, Scope, explained, per_unit};
use crate::kind::{Base, Count};
use crate::model::{Answer, Code, Field, Message, Protocol, Side, Type};
use crate::rust::{line, sentence};

/// A module with the types of these interfaces; an empty name stands for the types outside of interfaces. `head` is its
/// beginning with documentation and imports. `is_wanted` selects the structures.
pub fn types(
    protocol: &Protocol,
    names: &ClientNames<'_>,
    interfaces: &[&str],
    head: &str,
    is_wanted: impl Fn(&Type) -> bool,
) -> String {
    let mut out = head.to_owned();
    for scope in Scope::all(protocol, names, interfaces) {
        for one in scope.types().iter().filter(|one| !scope.is_by_hand(&one.name) && is_wanted(one)) {
            match (one.name.as_str(), one.codes.is_empty()) {
                ("constants", _) => constants(&scope, one, &mut out),
                (_, true) => structure(&scope, one, &mut out),
                (_, false) => enumeration(&scope, one, &mut out),
            }
        }
    }
    out
}

fn constants(scope: &Scope<'_>, one: &Type, out: &mut String) {
    let interface = scope.interface.map_or_else(String::new, |one| one.name.to_uppercase() + "_");
    line(out, "\n");
    for (name, value) in scope.codes(one) {
        line(out, &format!("{interface}{} = {}", name.to_uppercase(), value.code()));
        text(out, "", value.meaning().unwrap_or_default());
    }
}

fn enumeration(scope: &Scope<'_>, one: &Type, out: &mut String) {
    head(out, &format!("class {}(IntEnum):", scope.class(&one.name)), one);
    if scope.has_unknown(one) {
        line(out, "    UNKNOWN = 0");
    }
    for (name, value) in scope.codes(one) {
        line(out, &format!("    {} = {}", name.to_uppercase(), value.code()));
        text(out, "    ", value.meaning().unwrap_or_default());
    }
}

fn structure(scope: &Scope<'_>, one: &Type, out: &mut String) {
    head(out, &format!("@dataclass(frozen=True)\nclass {}:", scope.class(&one.name)), one);
    let fields = scope.fields(one);
    let is_flag = |name: &str| fields.iter().any(|(_, other)| other.when.contains_key(name));
    for (name, field) in fields.iter().filter(|(name, _)| !is_flag(name)) {
        let kind = annotation(scope, field);
        let kind = match (field.when.is_empty(), field.optional) {
            (false, _) => format!("Optional[{kind}]"),
            (true, true) => format!("Annotated[Optional[{kind}], Ending(DIALECT.codec({kind}))] = None"),
            (true, false) => kind,
        };
        line(out, &format!("    {name}: {kind}"));
        text(out, "    ", &explained(name, field));
    }
}

fn head(out: &mut String, declaration: &str, one: &Type) {
    let meaning = if one.meaning.is_empty() { &one.name } else { &one.meaning };
    line(out, &format!("\n\n{declaration}\n    \"\"\"{}.\"\"\"\n", sentence(meaning)));
}

fn text(out: &mut String, indent: &str, meaning: &str) {
    if !meaning.is_empty() {
        line(out, &format!("{indent}\"\"\"{}.\"\"\"", sentence(meaning)));
    }
}

/// The annotation of a field: its type and, if necessary, its form on the wire.
fn annotation(scope: &Scope<'_>, field: &Field) -> String {
    let kind = field.kind();
    let number = kind.base.to_string();
    let codec = number.to_uppercase();
    let (scale, _) = per_unit(field);
    let (one, codec) = match &kind.base {
        Base::Named(name) => (scope.class(name), format!("DIALECT.codec({})", scope.class(name))),
        Base::Text => return "str".to_owned(),
        Base::Bytes => match kind.count {
            Some(Count::Fixed(count)) => return format!("Annotated[bytes, Raw({count})]"),
            _ => return "bytes".to_owned(),
        },
        Base::Bool => ("bool".to_owned(), "BOOL".to_owned()),
        base => match (field.codes.as_deref(), base) {
            // A number that means true or false.
            (Some("flag"), _) => ("bool".to_owned(), "BOOL".to_owned()),
            (Some(codes), _) => {
                let class = scope.class(codes);
                let coded = format!("Coded({class}, {codec})");
                (format!("Annotated[Union[{class}, int], {coded}]"), coded)
            }
            (None, Base::Float(_)) if scale != "1" => scaled("ScaledReal", &codec, scale),
            (None, Base::Float(_)) => (format!("Annotated[float, {codec}]"), codec),
            (None, _) if scale != "1" || field.unit == "rad" => scaled("Scaled", &codec, scale),
            (None, _) => (format!("Annotated[int, {codec}]"), codec),
        },
    };
    match kind.count {
        None => one,
        Some(Count::Fixed(count)) => {
            let plain = one.strip_prefix("Annotated[").and_then(|rest| rest.split(", ").next());
            format!("Annotated[tuple[{}, ...], Repeat({codec}, {count})]", plain.unwrap_or(&one))
        }
        Some(_) => format!("list[{one}]"),
    }
}

fn scaled(codec: &str, number: &str, scale: &str) -> (String, String) {
    let codec = format!("{codec}({number}, {scale})");
    (format!("Annotated[float, {codec}]"), codec)
}

/// A module with the messages of the protocol, and a table and the messages of each interface. Messages without fields
/// have a function. `head` is its beginning.
pub fn messages(protocol: &Protocol, names: &ClientNames<'_>, head: &str) -> String {
    let mut out = head.to_owned();
    let interfaces = protocol.interfaces.iter().map(|one| one.name.as_str());
    let interfaces: Vec<&str> = std::iter::once("").chain(interfaces).collect();
    for scope in Scope::all(protocol, names, &interfaces) {
        let messages = scope.interface.map_or(&protocol.messages, |interface| &interface.messages);
        let table = scope.interface.map(|interface| interface.name.to_uppercase());
        if let (Some(interface), Some(table)) = (scope.interface, &table) {
            let meaning = sentence(&interface.meaning);
            let call = format!("Interface({}, {:?}, \"{meaning}.\", {{", interface.code, interface.name);
            line(&mut out, &format!("\n{table} = {call}"));
            for message in messages.iter().filter(|message| message.from == Side::Server) {
                let body = body(&scope, &message.fields);
                line(&mut out, &format!("    {}: ({:?}, {body}),", code(message), message.name));
            }
            line(&mut out, "})");
        }
        for message in messages.iter().filter(|message| message.from == Side::Client) {
            let (kind, answer) = match &message.answer {
                Some(Answer::Fields(fields)) => ("REQUEST", body(&scope, fields)),
                _ => ("COMMAND", "None".to_owned()),
            };
            let constant = message.name.to_uppercase();
            let (constant, place) = match &table {
                Some(table) => (format!("{table}_{constant}"), format!("{table}, {kind}")),
                None => (constant, format!("{:?}", message.name)),
            };
            let body = body(&scope, &message.fields);
            line(&mut out, &format!("{constant} = Message({place}, {}, {body}, {answer})", code(message)));
            text(&mut out, "", &message.meaning);
            if message.fields.is_empty() {
                function(&scope, message, &constant, &mut out);
            }
        }
    }
    out
}

/// The function of a command without arguments.
fn function(scope: &Scope<'_>, message: &Message, constant: &str, out: &mut String) {
    let answer = match &message.answer {
        Some(Answer::Fields(fields)) => fields.first().map(|field| annotation(scope, field)),
        _ => None,
    };
    let answer = answer.unwrap_or_else(|| "None".to_owned());
    let name = constant.to_lowercase();
    let end = if matches!(name.as_str(), "break" | "continue") { "_" } else { "" };
    line(out, &format!("\n\n@{constant}.function\ndef {name}{end}() -> Request[{answer}]:"));
    text(out, "    ", &message.meaning);
    line(out, &format!("    return {constant}()\n\n"));
}

fn code(message: &Message) -> String {
    match &message.code {
        Code::Number(number) => number.to_string(),
        Code::Text(text) => format!("{text:?}"),
    }
}

/// The annotation of a body: its value and, if there is one, the value at its end; empty without fields.
fn body(scope: &Scope<'_>, fields: &[Field]) -> String {
    match fields {
        [] => "None".to_owned(),
        [one] => annotation(scope, one),
        [one, end, ..] => {
            let value = end.value.as_deref().unwrap_or_default();
            format!("Checked(DIALECT.codec({}), {value})", annotation(scope, one))
        }
    }
}
