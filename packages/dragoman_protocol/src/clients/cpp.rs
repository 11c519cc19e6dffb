//! C++: structures that list their fields, enumerations, and the numbers of messages of interfaces.

use super::{ClientNames, Scope, explained};
use crate::kind::{Base, Count};
use crate::model::{Code, Field, Interface, Protocol, Type};
use crate::rust::{line, sentence};

/// The types of the protocol and of its interfaces, and the numbers of their messages. The code uses `DRAGOMAN_FIELDS`.
pub fn types(protocol: &Protocol, names: &ClientNames<'_>) -> String {
    let mut out = String::new();
    let interfaces = protocol.interfaces.iter().map(|one| one.name.as_str());
    let interfaces: Vec<&str> = std::iter::once("").chain(interfaces).collect();
    for scope in Scope::all(protocol, names, &interfaces) {
        for one in scope.types().iter().filter(|one| !scope.is_by_hand(&one.name)) {
            match (one.name.as_str(), one.codes.is_empty()) {
                ("constants", _) => {}
                (_, true) => structure(&scope, one, &mut out),
                (_, false) => enumeration(&scope, one, &mut out),
            }
        }
    }
    line(
        &mut out,
        "/// Codes of interfaces, numbers of their messages, and other numbers.\nnamespace numbers {",
    );
    protocol.interfaces.iter().for_each(|one| numbers(one, &mut out));
    line(&mut out, "}  // namespace numbers\n");
    line(
        &mut out,
        "/// Names of the interfaces, by their numbers.\ninline const std::map<std::uint16_t, std::string>& interface_names() {",
    );
    line(&mut out, "  static const std::map<std::uint16_t, std::string> names = {");
    for one in protocol.interfaces.iter().filter(|one| one.code != 0) {
        line(&mut out, &format!("      {{{}, {:?}}},", one.code, one.name));
    }
    line(&mut out, "  };\n  return names;\n}");
    out
}

fn enumeration(scope: &Scope<'_>, one: &Type, out: &mut String) {
    let base = one.base.as_ref().map_or_else(|| "int".to_owned(), |base| number(&base.base));
    comment(out, "", &one.meaning);
    line(out, &format!("enum class {} : {base} {{", scope.class(&one.name)));
    if scope.has_unknown(one) {
        line(out, "  unknown = 0,");
    }
    for (name, value) in scope.codes(one) {
        comment(out, "  ", value.meaning().unwrap_or_default());
        line(out, &format!("  {name} = {},", value.code()));
    }
    line(out, "};\n");
}

fn structure(scope: &Scope<'_>, one: &Type, out: &mut String) {
    comment(out, "", &one.meaning);
    line(out, &format!("struct {} {{", scope.class(&one.name)));
    let fields = scope.fields(one);
    for (name, field) in &fields {
        comment(out, "  ", &explained(name, field));
        let (kind, initial) = member(scope, field);
        line(out, &format!("  {kind} {name}{initial};"));
    }
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    line(out, &format!("  DRAGOMAN_FIELDS({})\n}};\n", names.join(", ")));
}

/// The type of a field, and its initial value.
fn member(scope: &Scope<'_>, field: &Field) -> (String, &'static str) {
    let kind = field.kind();
    let (one, initial) = match (&field.codes, &kind.base) {
        (Some(codes), _) => (scope.class(codes), "{}"),
        (None, Base::Named(name)) => (scope.class(name), ""),
        (None, Base::Text) => return ("std::string".to_owned(), ""),
        (None, Base::Bytes) => return ("Bytes".to_owned(), ""),
        (None, Base::Bool) => ("bool".to_owned(), " = false"),
        (None, base) => (number(base), " = 0"),
    };
    match kind.count {
        None => (one, initial),
        Some(Count::Fixed(count)) => (format!("std::array<{one}, {count}>"), "{}"),
        Some(_) => (format!("std::vector<{one}>"), ""),
    }
}

fn number(base: &Base) -> String {
    match base {
        Base::Float(32) => "float".to_owned(),
        Base::Float(_) => "double".to_owned(),
        Base::Signed(bits) => format!("std::int{bits}_t"),
        Base::Unsigned(bits) => format!("std::uint{bits}_t"),
        other => other.to_string(),
    }
}

fn numbers(interface: &Interface, out: &mut String) {
    line(out, &format!("namespace {} {{", interface.name));
    let mut constant = |kind: &str, name: &str, value: &str| {
        line(out, &format!("constexpr {kind} {name} = {value};"));
    };
    constant("std::uint16_t", "interface", &interface.code.to_string());
    for message in &interface.messages {
        if let Code::Number(number) = message.code {
            constant("std::uint8_t", &message.name, &number.to_string());
        }
    }
    for one in interface.types.iter().filter(|one| one.name == "constants") {
        let kind = one.base.as_ref().map_or_else(|| "int".to_owned(), |base| number(&base.base));
        one.codes.iter().for_each(|(name, value)| constant(&kind, name, &value.code().to_string()));
    }
    line(out, &format!("}}  // namespace {}", interface.name));
}

fn comment(out: &mut String, indent: &str, meaning: &str) {
    if !meaning.is_empty() {
        line(out, &format!("{indent}/// {}.", sentence(meaning)));
    }
}
