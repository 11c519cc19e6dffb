//! Writes the Rust side of the interfaces: one struct per message, three per service.

use crate::literal;
use roslibrust_codegen::{ArrayType, FieldInfo, MessageFile, ServiceFile};
use std::collections::BTreeMap;
use std::fmt::Write;

type Packages<'a> = BTreeMap<String, (Vec<&'a MessageFile>, Vec<&'a ServiceFile>)>;

/// The source text of all interfaces, a module per package.
pub(crate) fn interfaces(
    messages: &[MessageFile],
    services: &[ServiceFile],
) -> Result<String, std::fmt::Error> {
    let mut packages = Packages::new();
    for message in messages {
        packages.entry(message.get_package_name()).or_default().0.push(message);
    }
    for service in services {
        packages.entry(service.get_package_name()).or_default().1.push(service);
    }
    let mut out = String::new();
    for (package, (messages, services)) in &packages {
        writeln!(out, "pub mod {package} {{")?;
        if !messages.is_empty() {
            writeln!(out, "pub mod msg {{ use serde::{{Deserialize, Serialize}};")?;
            for message in messages {
                let name = message.get_short_name();
                structure(&mut out, message, &name, &format!("{package}/msg/{name}"))?;
            }
            writeln!(out, "}}")?;
        }
        if !services.is_empty() {
            writeln!(out, "pub mod srv {{")?;
            for service in services {
                emit_service(&mut out, package, service)?;
            }
            writeln!(out, "}}")?;
        }
        writeln!(out, "}}")?;
    }
    registry(&mut out, &packages)?;
    Ok(out)
}

fn emit_service(out: &mut String, package: &str, service: &ServiceFile) -> std::fmt::Result {
    let name = service.get_short_name();
    writeln!(out, "pub mod {name} {{ use serde::{{Deserialize, Serialize}};")?;
    structure(out, service.request(), "Request", &format!("{package}/srv/{name}_Request"))?;
    structure(out, service.response(), "Response", &format!("{package}/srv/{name}_Response"))?;
    writeln!(
        out,
        "#[derive(Clone, Debug)] pub struct Service;
         impl crate::WrappedServiceTypeSupport for Service {{
             type Request = Request; type Response = Response;
             const TYPE_NAME: &'static str = \"{package}/srv/{name}\";
             const TYPE_HASH: &'static str = \"{}\";
         }} }}",
        service.get_ros2_hash().to_hash_string()
    )
}

fn structure(out: &mut String, message: &MessageFile, rust_name: &str, type_name: &str) -> std::fmt::Result {
    let fields = message.get_fields();
    writeln!(out, "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)] pub struct {rust_name} {{")?;
    for field in fields {
        if let Some(attribute) = serde_attribute(field) {
            writeln!(out, "{attribute}")?;
        }
        writeln!(out, "pub {}: {},", identifier(&field.field_name), rust_type(field))?;
    }
    if fields.is_empty() {
        // rosidl's C structures must not be empty, and so one byte travels; r2r shows it as well.
        writeln!(out, "pub structure_needs_at_least_one_member: u8,")?;
    }
    writeln!(out, "}}\nimpl Default for {rust_name} {{ fn default() -> Self {{ Self {{")?;
    for field in fields {
        writeln!(out, "{}: {},", identifier(&field.field_name), default_value(field))?;
    }
    if fields.is_empty() {
        writeln!(out, "structure_needs_at_least_one_member: 0,")?;
    }
    writeln!(out, "}} }} }}")?;
    constants(out, message, rust_name)?;
    writeln!(
        out,
        "impl crate::WrappedTypesupport for {rust_name} {{
             const TYPE_NAME: &'static str = \"{type_name}\";
             const TYPE_HASH: &'static str = \"{}\";
         }}",
        message.ros2_hash.to_hash_string()
    )
}

/// Constants as r2r shows them: integers have the type that bindgen gives to a C enumeration.
fn constants(out: &mut String, message: &MessageFile, rust_name: &str) -> std::fmt::Result {
    let constants = message.get_constants();
    if constants.is_empty() {
        return Ok(());
    }
    writeln!(out, "impl {rust_name} {{")?;
    for constant in constants {
        let (rust_type, value) = match constant.constant_type.as_str() {
            "string" => ("&'static str", literal::string(&constant.constant_value.inner)),
            "bool" => ("bool", literal::scalar("bool", &constant.constant_value.inner)),
            "float32" => ("f32", literal::scalar("f32", &constant.constant_value.inner)),
            "float64" => ("f64", literal::scalar("f64", &constant.constant_value.inner)),
            _ if constant.constant_value.inner.trim().starts_with('-') => {
                ("i32", constant.constant_value.inner.trim().to_owned())
            }
            _ => ("u32", constant.constant_value.inner.trim().to_owned()),
        };
        writeln!(out, "pub const {}: {rust_type} = {value};", constant.constant_name)?;
    }
    writeln!(out, "}}")
}

/// The definitions by type name, with those of all nested types: what a recorder writes beside its messages.
fn registry(out: &mut String, packages: &Packages) -> std::fmt::Result {
    writeln!(out, "pub(crate) static DEFINITIONS: &[(&str, &str)] = &[")?;
    for (package, (messages, services)) in packages {
        let mut entries: Vec<(String, &str)> =
            messages.iter().map(|m| (format!("msg/{}", m.get_short_name()), m.get_definition())).collect();
        for service in services {
            let name = service.get_short_name();
            entries.push((format!("srv/{name}_Request"), service.request().get_definition()));
            entries.push((format!("srv/{name}_Response"), service.response().get_definition()));
        }
        for (name, definition) in entries {
            writeln!(out, "(\"{package}/{name}\", {definition:?}),")?;
        }
    }
    writeln!(out, "];")
}

fn scalar_type(field: &FieldInfo) -> String {
    match field.field_type.field_type.as_str() {
        "bool" => "bool".into(),
        "int8" => "i8".into(),
        "uint8" | "byte" | "char" => "u8".into(),
        "int16" => "i16".into(),
        "uint16" => "u16".into(),
        "int32" => "i32".into(),
        "uint32" => "u32".into(),
        "int64" => "i64".into(),
        "uint64" => "u64".into(),
        "float32" => "f32".into(),
        "float64" => "f64".into(),
        "string" => "::std::string::String".into(),
        "wstring" => {
            panic!("field {}: wide strings are not supported by the embedded layer", field.field_name)
        }
        nested => {
            let package = field.field_type.package_name.as_ref().unwrap_or(&field.field_type.source_package);
            format!("crate::{package}::msg::{nested}")
        }
    }
}

fn rust_type(field: &FieldInfo) -> String {
    match field.field_type.array_info {
        ArrayType::NotArray => scalar_type(field),
        _ => format!("::std::vec::Vec<{}>", scalar_type(field)),
    }
}

fn serde_attribute(field: &FieldInfo) -> Option<String> {
    let is_bytes = scalar_type(field) == "u8";
    match field.field_type.array_info {
        ArrayType::FixedLength(n) => {
            Some(format!("#[serde(with = \"crate::embedded::cdr::FixedArray::<{n}>\")]"))
        }
        ArrayType::Bounded(_) | ArrayType::Unbounded if is_bytes => {
            Some("#[serde(with = \"serde_bytes\")]".into())
        }
        _ => None,
    }
}

fn default_value(field: &FieldInfo) -> String {
    let scalar = scalar_type(field);
    match (&field.field_type.array_info, &field.default) {
        (ArrayType::NotArray, Some(default)) => literal::scalar(&scalar, &default.inner),
        (_, Some(default)) => literal::array(&scalar, &default.inner),
        (ArrayType::FixedLength(n), None) => format!("vec![Default::default(); {n}]"),
        (_, None) => "Default::default()".into(),
    }
}

/// A field's name, with the underscore that bindgen appends where it is a word of the language.
fn identifier(name: &str) -> String {
    const RESERVED: [&str; 41] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static",
        "struct", "trait", "type", "use", "virtual", "where",
    ];
    if RESERVED.contains(&name) { format!("{name}_") } else { name.to_owned() }
}
