//! RIHS01 type hashes (REP 2011): SHA-256 of a type's description in JSON.
//!
//! The parser computes them too, but not for actions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use roslibrust_codegen::{ArrayType, FieldInfo};
use sha2::{Digest, Sha256};

/// A field as `type_description_interfaces/msg/FieldType` describes it.
struct Field {
    name: String,
    type_id: u8,
    capacity: usize,
    string_capacity: usize,
    /// Empty for primitive types.
    nested: String,
}

/// `FieldType.FIELD_TYPE_NESTED_TYPE`.
const NESTED: u8 = 1;

/// Added to the code of the element type for a bounded sequence.
const BOUNDED_SEQUENCE: u8 = 96;

/// The fields of all types, by `package/kind/Name`.
#[derive(Default)]
pub(crate) struct Descriptions(BTreeMap<String, Vec<Field>>);

impl Descriptions {
    /// The hashes of all types by name.
    pub(crate) fn hashes(&self) -> BTreeMap<String, String> {
        self.0.keys().map(|name| (name.clone(), self.hash(name))).collect()
    }

    /// Adds a structure that a file defines.
    pub(crate) fn add(&mut self, type_name: String, fields: &[FieldInfo]) {
        self.0.insert(type_name, fields.iter().map(defined).collect());
    }

    /// Adds a structure of nested messages that is not defined by a file.
    fn compose(&mut self, type_name: String, fields: &[(&str, &str)]) {
        self.0.insert(type_name, fields.iter().map(|(name, nested)| composed(name, nested)).collect());
    }

    /// Adds service `name`, whose request and response were added, with the event type of introspection.
    pub(crate) fn add_service(&mut self, name: &str) {
        let parts = ["_Request", "_Response", "_Event"].map(|part| format!("{name}{part}"));
        let [request, response, event] = parts.each_ref().map(String::as_str);
        self.compose(
            name.to_owned(),
            &[("request_message", request), ("response_message", response), ("event_message", event)],
        );
        let optional = |name, nested| Field {
            type_id: NESTED + BOUNDED_SEQUENCE,
            capacity: 1,
            ..composed(name, nested)
        };
        let fields = vec![
            composed("info", "service_msgs/msg/ServiceEventInfo"),
            optional("request", request),
            optional("response", response),
        ];
        self.0.insert(event.to_owned(), fields);
    }

    /// Adds action `name`, whose goal, result and feedback were added, with the types that ROS derives from them.
    pub(crate) fn add_action(&mut self, name: &str) {
        let part = |part: &str| format!("{name}_{part}");
        let (goal, result, feedback) = (part("Goal"), part("Result"), part("Feedback"));
        let (send, get, message) = (part("SendGoal"), part("GetResult"), part("FeedbackMessage"));
        let id = ("goal_id", "unique_identifier_msgs/msg/UUID");
        self.compose(format!("{send}_Request"), &[id, ("goal", &goal)]);
        let accepted = vec![primitive("accepted", "bool"), composed("stamp", "builtin_interfaces/msg/Time")];
        self.0.insert(format!("{send}_Response"), accepted);
        self.add_service(&send);
        self.compose(format!("{get}_Request"), &[id]);
        let ended = vec![primitive("status", "int8"), composed("result", &result)];
        self.0.insert(format!("{get}_Response"), ended);
        self.add_service(&get);
        self.compose(message.clone(), &[id, ("feedback", &feedback)]);
        self.compose(
            name.to_owned(),
            &[
                ("goal", &goal),
                ("result", &result),
                ("feedback", &feedback),
                ("send_goal_service", &send),
                ("get_result_service", &get),
                ("feedback_message", &message),
            ],
        );
    }

    /// `RIHS01_` and 64 hexadecimal digits.
    pub(crate) fn hash(&self, type_name: &str) -> String {
        let mut nested = BTreeSet::new();
        self.collect_nested(type_name, &mut nested);
        let nested: Vec<String> = nested.into_iter().map(|name| self.json(name)).collect();
        let description = format!(
            "{{\"type_description\": {}, \"referenced_type_descriptions\": [{}]}}",
            self.json(type_name),
            nested.join(", ")
        );
        let mut text = "RIHS01_".to_owned();
        for byte in Sha256::digest(description) {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    fn fields(&self, type_name: &str) -> &[Field] {
        self.0.get(type_name).unwrap_or_else(|| panic!("{type_name} is nested, but not defined"))
    }

    fn collect_nested<'a>(&'a self, type_name: &str, nested: &mut BTreeSet<&'a str>) {
        for field in self.fields(type_name).iter().filter(|field| !field.nested.is_empty()) {
            if nested.insert(&field.nested) {
                self.collect_nested(&field.nested, nested);
            }
        }
    }

    fn json(&self, type_name: &str) -> String {
        // rosidl's C structures must not be empty, so it adds a member that is in no file.
        let unnamed = [primitive("structure_needs_at_least_one_member", "uint8")];
        let fields = self.fields(type_name);
        let fields: Vec<String> =
            if fields.is_empty() { &unnamed } else { fields }.iter().map(Field::json).collect();
        format!("{{\"type_name\": \"{type_name}\", \"fields\": [{}]}}", fields.join(", "))
    }
}

impl Field {
    fn json(&self) -> String {
        let Self { name, type_id, capacity, string_capacity, nested } = self;
        format!(
            "{{\"name\": \"{name}\", \"type\": {{\"type_id\": {type_id}, \"capacity\": {capacity}, \
             \"string_capacity\": {string_capacity}, \"nested_type_name\": \"{nested}\"}}}}"
        )
    }
}

fn composed(name: &str, nested: &str) -> Field {
    Field {
        name: name.to_owned(),
        type_id: NESTED,
        capacity: 0,
        string_capacity: 0,
        nested: nested.to_owned(),
    }
}

fn primitive(name: &str, ros_type: &str) -> Field {
    Field { type_id: type_id(ros_type, false), ..composed(name, "") }
}

fn defined(field: &FieldInfo) -> Field {
    let ros_type = &field.field_type;
    let string_capacity = ros_type.string_capacity.unwrap_or(0);
    let (kind, capacity) = match ros_type.array_info {
        ArrayType::NotArray => (0, 0),
        ArrayType::FixedLength(length) => (48, length),
        ArrayType::Bounded(length) => (BOUNDED_SEQUENCE, length),
        ArrayType::Unbounded => (144, 0),
    };
    let element = type_id(&ros_type.field_type, string_capacity > 0);
    let nested = if element == NESTED { field.get_ros2_full_type_name() } else { String::new() };
    Field { name: field.field_name.clone(), type_id: element + kind, capacity, string_capacity, nested }
}

/// The constants of `type_description_interfaces/msg/FieldType`.
fn type_id(ros_type: &str, bounded: bool) -> u8 {
    match ros_type {
        "int8" => 2,
        "uint8" | "char" => 3,
        "int16" => 4,
        "uint16" => 5,
        "int32" => 6,
        "uint32" => 7,
        "int64" => 8,
        "uint64" => 9,
        "float32" => 10,
        "float64" => 11,
        "bool" => 15,
        "byte" => 16,
        "string" if bounded => 21,
        "string" => 17,
        "wstring" if bounded => 22,
        "wstring" => 18,
        _ => NESTED,
    }
}
