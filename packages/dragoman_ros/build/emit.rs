//! Writes the Rust side of the interfaces: one struct per message, three per service, and a module per action.

use crate::definitions::definitions;
use crate::formats::{self, Formats};
use crate::hash::Descriptions;
use crate::{Definitions, Distribution, literal};
use roslibrust_codegen::{ArrayType, FieldInfo, MessageFile, ServiceFile};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Default)]
pub(crate) struct Package<'a> {
    pub(crate) messages: Vec<&'a MessageFile>,
    pub(crate) services: Vec<&'a ServiceFile>,
    /// Goal, result and feedback by the action's name.
    pub(crate) actions: BTreeMap<&'a str, BTreeMap<&'a str, &'a MessageFile>>,
}

pub(crate) type Packages<'a> = BTreeMap<String, Package<'a>>;

/// Properties of types besides their fields.
struct Types<'a> {
    descriptions: Descriptions,
    formats: Formats<'a>,
}

impl Types<'_> {
    fn hash(&self, type_name: &str) -> String {
        self.descriptions.hash(type_name)
    }
}

/// The source text of all interfaces, a module per package. Messages from `.action` files are named `Action_Part`.
/// `announced` are the types whose hashes are known, in Jazzy.
pub(crate) fn interfaces(
    jazzy: &Definitions,
    others: &[Distribution],
    announced: &Definitions,
) -> Result<String, std::fmt::Error> {
    let mut packages = self::packages(jazzy);
    for other in others {
        add_new_messages(&mut packages, &other.definitions);
    }
    let mut out = String::new();
    let types = Types { descriptions: descriptions(&packages), formats: Formats::new(others) };
    for (name, package) in &packages {
        writeln!(out, "pub mod {name} {{")?;
        if !package.messages.is_empty() {
            writeln!(out, "pub mod msg {{ use serde::Serialize;")?;
            for message in &package.messages {
                let short = message.get_short_name();
                structure(&mut out, &types, message, &short, &format!("{name}/msg/{short}"))?;
            }
            writeln!(out, "}}")?;
        }
        if !package.services.is_empty() {
            writeln!(out, "pub mod srv {{")?;
            for service in &package.services {
                emit_service(&mut out, &types, name, service)?;
            }
            writeln!(out, "}}")?;
        }
        if !package.actions.is_empty() {
            writeln!(out, "pub mod action {{")?;
            for (action, parts) in &package.actions {
                emit_action(&mut out, &types, name, action, parts)?;
            }
            writeln!(out, "}}")?;
        }
        writeln!(out, "}}")?;
    }
    let in_jazzy = definitions(&self::packages(jazzy));
    let hashes_in_jazzy = descriptions(&self::packages(announced)).hashes();
    registry(&mut out, "DEFINITIONS", &in_jazzy)?;
    registry(&mut out, "TYPE_HASHES", &hashes_in_jazzy)?;
    for other in others {
        let (packages, name) = (self::packages(&other.definitions), other.variant.to_uppercase());
        let new = difference(definitions(&packages), &in_jazzy);
        registry(&mut out, &format!("DEFINITIONS_OF_{name}"), &new)?;
        // Humble has no hashes.
        if other.is_later {
            let new = difference(descriptions(&packages).hashes(), &hashes_in_jazzy);
            registry(&mut out, &format!("TYPE_HASHES_OF_{name}"), &new)?;
        }
    }
    Ok(out)
}

/// What `other` has that is not the same in `jazzy`.
fn difference(
    mut other: BTreeMap<String, String>,
    jazzy: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    other.retain(|name, entry| jazzy.get(name) != Some(entry));
    other
}

/// Adds the messages that only a later distribution has.
fn add_new_messages<'a>(packages: &mut Packages<'a>, other: &'a Definitions) {
    for (name, package) in self::packages(other) {
        let known = packages.entry(name).or_default();
        let names: Vec<String> = known.messages.iter().map(|message| message.get_short_name()).collect();
        let new = package.messages.into_iter().filter(|message| !names.contains(&message.get_short_name()));
        known.messages.extend(new);
    }
}

fn packages((messages, services): &Definitions) -> Packages<'_> {
    let mut packages = Packages::new();
    for message in messages {
        let package = packages.entry(message.parsed.package.clone()).or_default();
        match part_of_action(message) {
            Some((action, part)) => {
                package.actions.entry(action).or_default().insert(part, message);
            }
            None => package.messages.push(message),
        }
    }
    for service in services {
        packages.entry(service.get_package_name()).or_default().services.push(service);
    }
    packages
}

/// The action's name and `Goal`, `Result` or `Feedback`, for a message from an `.action` file.
fn part_of_action(message: &MessageFile) -> Option<(&str, &str)> {
    let is_of_action = message.parsed.path.extension().is_some_and(|extension| extension == "action");
    message.parsed.name.rsplit_once('_').filter(|_| is_of_action)
}

/// The fields of all structures by type name.
pub(crate) fn structures((messages, services): &Definitions) -> impl Iterator<Item = (String, &[FieldInfo])> {
    let of_messages = messages.iter().map(|message| {
        let kind = if part_of_action(message).is_some() { "action" } else { "msg" };
        (format!("{}/{kind}/{}", message.parsed.package, message.parsed.name), message.get_fields())
    });
    let of_services = services.iter().flat_map(|service| {
        [("Request", service.request()), ("Response", service.response())].map(|(part, message)| {
            let name = format!("{}/srv/{}_{part}", service.get_package_name(), service.get_short_name());
            (name, message.get_fields())
        })
    });
    of_messages.chain(of_services)
}

fn descriptions(packages: &Packages) -> Descriptions {
    let mut types = Descriptions::default();
    for (name, package) in packages {
        for message in &package.messages {
            types.add(format!("{name}/msg/{}", message.get_short_name()), message.get_fields());
        }
        for service in &package.services {
            let service_name = format!("{name}/srv/{}", service.get_short_name());
            types.add(format!("{service_name}_Request"), service.request().get_fields());
            types.add(format!("{service_name}_Response"), service.response().get_fields());
            types.add_service(&service_name);
        }
        for (action, parts) in &package.actions {
            for (part, message) in parts {
                types.add(format!("{name}/action/{action}_{part}"), message.get_fields());
            }
            types.add_action(&format!("{name}/action/{action}"));
        }
    }
    types
}

fn emit_service(out: &mut String, types: &Types, package: &str, service: &ServiceFile) -> std::fmt::Result {
    let name = service.get_short_name();
    let type_name = format!("{package}/srv/{name}");
    writeln!(out, "pub mod {name} {{ use serde::Serialize;")?;
    structure(out, types, service.request(), "Request", &format!("{type_name}_Request"))?;
    structure(out, types, service.response(), "Response", &format!("{type_name}_Response"))?;
    service_type(out, types, &type_name)?;
    writeln!(out, "}}")
}

fn service_type(out: &mut String, types: &Types, type_name: &str) -> std::fmt::Result {
    writeln!(
        out,
        "#[derive(Clone, Debug)] pub struct Service;
         impl crate::WrappedServiceTypeSupport for Service {{
             type Request = Request; type Response = Response;
             const TYPE_NAME: &'static str = \"{type_name}\";
             const TYPE_HASH: &'static str = \"{}\";
         }}",
        types.hash(type_name)
    )
}

/// The three structures of the file, and the services and the message that carry them.
fn emit_action(
    out: &mut String,
    types: &Types,
    package: &str,
    name: &str,
    parts: &BTreeMap<&str, &MessageFile>,
) -> std::fmt::Result {
    const ID: (&str, &str) = ("goal_id", "crate::unique_identifier_msgs::msg::UUID");
    const STAMP: (&str, &str) = ("stamp", "crate::builtin_interfaces::msg::Time");
    let type_name = format!("{package}/action/{name}");
    writeln!(out, "pub mod {name} {{ use serde::Serialize;")?;
    for (part, message) in parts {
        structure(out, types, message, part, &format!("{type_name}_{part}"))?;
    }
    let feedback = [ID, ("feedback", "Feedback")];
    wrapper(out, types, "FeedbackMessage", &format!("{type_name}_FeedbackMessage"), &feedback)?;
    let services = [
        ("SendGoal", vec![ID, ("goal", "super::Goal")], [("accepted", "bool"), STAMP]),
        ("GetResult", vec![ID], [("status", "i8"), ("result", "super::Result")]),
    ];
    for (service, request, response) in services {
        let service_name = format!("{type_name}_{service}");
        writeln!(out, "pub mod {service} {{ use serde::Serialize;")?;
        wrapper(out, types, "Request", &format!("{service_name}_Request"), &request)?;
        wrapper(out, types, "Response", &format!("{service_name}_Response"), &response)?;
        service_type(out, types, &service_name)?;
        writeln!(out, "}}")?;
    }
    writeln!(
        out,
        "#[derive(Clone, Debug)] pub struct Action;
         impl crate::WrappedActionTypeSupport for Action {{
             type Goal = Goal; type Result = Result; type Feedback = Feedback;
             type FeedbackMessage = FeedbackMessage;
             type SendGoal = SendGoal::Service; type GetResult = GetResult::Service;
             const TYPE_NAME: &'static str = \"{type_name}\";
             const TYPE_HASH: &'static str = \"{}\";
             fn make_goal_request_msg(goal_id: {uuid}, goal: Goal) -> SendGoal::Request {{ SendGoal::Request {{ goal_id, goal }} }}
             fn make_goal_response_msg(accepted: bool, stamp: {time}) -> SendGoal::Response {{ SendGoal::Response {{ accepted, stamp }} }}
             fn make_feedback_msg(goal_id: {uuid}, feedback: Feedback) -> FeedbackMessage {{ FeedbackMessage {{ goal_id, feedback }} }}
             fn make_result_request_msg(goal_id: {uuid}) -> GetResult::Request {{ GetResult::Request {{ goal_id }} }}
             fn make_result_response_msg(status: i8, result: Result) -> GetResult::Response {{ GetResult::Response {{ status, result }} }}
             fn destructure_goal_request_msg(msg: SendGoal::Request) -> ({uuid}, Goal) {{ (msg.goal_id, msg.goal) }}
             fn destructure_goal_response_msg(msg: SendGoal::Response) -> (bool, {time}) {{ (msg.accepted, msg.stamp) }}
             fn destructure_feedback_msg(msg: FeedbackMessage) -> ({uuid}, Feedback) {{ (msg.goal_id, msg.feedback) }}
             fn destructure_result_request_msg(msg: GetResult::Request) -> {uuid} {{ msg.goal_id }}
             fn destructure_result_response_msg(msg: GetResult::Response) -> (i8, Result) {{ (msg.status, msg.result) }}
         }} }}",
        types.hash(&type_name),
        uuid = ID.1,
        time = STAMP.1,
    )
}

/// A structure that is not defined by a file.
fn wrapper(
    out: &mut String,
    types: &Types,
    rust_name: &str,
    type_name: &str,
    fields: &[(&str, &str)],
) -> std::fmt::Result {
    writeln!(out, "#[derive(Clone, Debug, Default, PartialEq, Serialize)] pub struct {rust_name} {{")?;
    for (name, rust_type) in fields {
        writeln!(out, "pub {name}: {rust_type},")?;
    }
    writeln!(
        out,
        "}}
         impl crate::cdr::Cdr for {rust_name} {{
             fn write(&self, out: &mut crate::cdr::Output) {{"
    )?;
    for (name, _) in fields {
        writeln!(out, "crate::cdr::Cdr::write(&self.{name}, out);")?;
    }
    writeln!(out, "}}\nfn read(input: &mut crate::cdr::Input<'_>) -> Self {{ Self {{")?;
    for (name, _) in fields {
        writeln!(out, "{name}: crate::cdr::Cdr::read(input),")?;
    }
    writeln!(out, "}} }} }}")?;
    typesupport(out, types, rust_name, type_name)
}

fn typesupport(out: &mut String, types: &Types, rust_name: &str, type_name: &str) -> std::fmt::Result {
    writeln!(
        out,
        "impl crate::WrappedTypesupport for {rust_name} {{
             const TYPE_NAME: &'static str = \"{type_name}\";
             const TYPE_HASH: &'static str = \"{}\";
         }}",
        types.hash(type_name)
    )
}

fn structure(
    out: &mut String,
    types: &Types,
    message: &MessageFile,
    rust_name: &str,
    type_name: &str,
) -> std::fmt::Result {
    let formats = types.formats.of(type_name, message.get_fields());
    let fields = formats.as_ref().map_or(message.get_fields(), |formats| &formats.structure);
    let serialize = if formats.is_some() { "" } else { ", Serialize" };
    writeln!(out, "#[derive(Clone, Debug, PartialEq{serialize})] pub struct {rust_name} {{")?;
    self::fields(out, fields)?;
    writeln!(out, "}}\nimpl Default for {rust_name} {{ fn default() -> Self {{ Self {{")?;
    for field in fields {
        writeln!(out, "{}: {},", identifier(&field.field_name), default_value(field))?;
    }
    if fields.is_empty() {
        writeln!(out, "structure_needs_at_least_one_member: 0,")?;
    }
    writeln!(out, "}} }} }}")?;
    constants(out, message, rust_name)?;
    match &formats {
        Some(formats) => formats::dispatch(out, rust_name, formats)?,
        None => codec(out, rust_name, fields)?,
    }
    typesupport(out, types, rust_name, type_name)
}

/// Writes the CDR functions of a structure.
fn codec(out: &mut String, rust_name: &str, fields: &[FieldInfo]) -> std::fmt::Result {
    writeln!(
        out,
        "impl crate::cdr::Cdr for {rust_name} {{
             fn write(&self, out: &mut crate::cdr::Output) {{"
    )?;
    write_fields(out, fields)?;
    writeln!(out, "}}\nfn read(input: &mut crate::cdr::Input<'_>) -> Self {{ Self {{")?;
    read_fields(out, fields)?;
    writeln!(out, "}} }} }}")
}

/// Writes the statements that append the fields of `self` to `out`.
pub(crate) fn write_fields(out: &mut String, fields: &[FieldInfo]) -> std::fmt::Result {
    for field in fields {
        let name = identifier(&field.field_name);
        match field.field_type.array_info {
            ArrayType::FixedLength(length) => writeln!(out, "out.array(&self.{name}, {length});")?,
            _ => writeln!(out, "crate::cdr::Cdr::write(&self.{name}, out);")?,
        }
    }
    if fields.is_empty() {
        writeln!(out, "crate::cdr::Cdr::write(&self.structure_needs_at_least_one_member, out);")?;
    }
    Ok(())
}

/// Writes the fields of a structure expression, read from `input`.
fn read_fields(out: &mut String, fields: &[FieldInfo]) -> std::fmt::Result {
    for field in fields {
        let name = identifier(&field.field_name);
        match field.field_type.array_info {
            ArrayType::FixedLength(length) => writeln!(out, "{name}: input.array({length}),")?,
            _ => writeln!(out, "{name}: crate::cdr::Cdr::read(input),")?,
        }
    }
    if fields.is_empty() {
        writeln!(out, "structure_needs_at_least_one_member: crate::cdr::Cdr::read(input),")?;
    }
    Ok(())
}

/// Writes the fields of a structure.
fn fields(out: &mut String, fields: &[FieldInfo]) -> std::fmt::Result {
    for field in fields {
        writeln!(out, "pub {}: {},", identifier(&field.field_name), rust_type(field))?;
    }
    if fields.is_empty() {
        // rosidl's C structures must not be empty, so one byte is sent.
        writeln!(out, "pub structure_needs_at_least_one_member: u8,")?;
    }
    Ok(())
}

/// Constants as in r2r: integers have the type that bindgen gives to a C enumeration.
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

fn registry(out: &mut String, name: &str, entries: &BTreeMap<String, String>) -> std::fmt::Result {
    writeln!(out, "pub(crate) static {name}: &[(&str, &str)] = &[")?;
    for (type_name, entry) in entries {
        writeln!(out, "({type_name:?}, {entry:?}),")?;
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

pub(crate) fn rust_type(field: &FieldInfo) -> String {
    match field.field_type.array_info {
        ArrayType::NotArray => scalar_type(field),
        _ => format!("::std::vec::Vec<{}>", scalar_type(field)),
    }
}

/// The number of elements of a field whose type is an array of fixed length.
pub(crate) fn fixed_length(field: &FieldInfo) -> Option<usize> {
    match field.field_type.array_info {
        ArrayType::FixedLength(length) => Some(length),
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

/// A field's name, with the underscore that bindgen appends to reserved words.
pub(crate) fn identifier(name: &str) -> String {
    const RESERVED: [&str; 41] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop",
        "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static",
        "struct", "trait", "type", "use", "virtual", "where",
    ];
    if RESERVED.contains(&name) { format!("{name}_") } else { name.to_owned() }
}
