//! The schema knows the keys of the model, and says of descriptions what the model says.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;
use crate::model::{self, bridge};

/// The names that serde expects, which its error lists.
fn known<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> BTreeSet<String> {
    let error = serde_norway::from_str::<T>(text).unwrap_err().to_string();
    let (_, names) = error.split_once("expected ").unwrap_or_else(|| panic!("{error}"));
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn objects() -> impl Iterator<Item = &'static Object> {
    OBJECTS.iter().chain(super::bridge::OBJECTS)
}

fn find(name: &str) -> &'static Object {
    objects().find(|one| one.name == name).unwrap_or_else(|| panic!("src/schema.rs: no object {name}"))
}

fn keys(name: &str) -> BTreeSet<String> {
    find(name).keys.iter().map(|key| key.name.to_owned()).collect()
}

/// An object has the keys of a type, and needs one if the type does.
fn compare<T: DeserializeOwned + std::fmt::Debug>(name: &'static str) -> &'static str {
    assert_eq!(keys(name), known::<T>("there_is_no_such_key: 0"), "src/schema.rs: {name}");
    let mut needed = find(name).keys.iter().filter(|key| key.is_needed).map(|key| key.name).peekable();
    match serde_norway::from_str::<T>("{}") {
        Ok(_) => assert_eq!(needed.next(), None, "src/schema.rs: {name}"),
        // The first one of those that are missing.
        Err(error) => {
            let error = error.to_string();
            assert!(needed.any(|key| error.contains(&format!("`{key}`"))), "src/schema.rs: {name}: {error}");
        }
    }
    name
}

#[test]
fn the_keys_are_those_of_the_model() {
    let compared = [
        compare::<model::Protocol>("protocol"),
        compare::<model::Udp>("udp"),
        compare::<model::Tcp>("tcp"),
        compare::<model::Serial>("serial"),
        compare::<model::Can>("can"),
        compare::<model::Frame>("frame"),
        compare::<model::Cut>("cut"),
        compare::<model::Field>("field"),
        compare::<model::Over>("over"),
        compare::<model::Stuffing>("stuffing"),
        compare::<model::Type>("type"),
        compare::<model::Described>("code"),
        compare::<model::Message>("message"),
        compare::<model::Interface>("interface"),
        compare::<model::Notices>("notices"),
        compare::<model::Notice>("notice"),
        compare::<bridge::Bridge>("bridge"),
        compare::<bridge::Constant>("constant"),
        compare::<bridge::OtherAnswer>("other_answer"),
        compare::<bridge::Timing>("timing"),
        compare::<bridge::Sending>("sending"),
        compare::<bridge::Periodic>("periodic"),
        compare::<bridge::NamedState>("state"),
        compare::<bridge::Change>("change"),
        compare::<bridge::Quality>("qos"),
        compare::<bridge::Publish>("publish"),
        compare::<bridge::Subscribe>("subscribe"),
        compare::<bridge::Service>("service"),
        compare::<bridge::Fails>("fails"),
        compare::<bridge::Action>("action"),
        compare::<bridge::Feedback>("feedback"),
        compare::<bridge::Ending>("ending"),
        compare::<bridge::CmdVel>("cmd_vel"),
        compare::<bridge::Odometry>("odometry"),
        compare::<bridge::MeasuredPose>("measured_pose"),
        compare::<bridge::MeasuredTwist>("measured_twist"),
        compare::<bridge::Differential>("differential"),
        compare::<bridge::JointStates>("joint_states"),
        compare::<bridge::Joint>("joint"),
        compare::<bridge::LaserScan>("laser_scan"),
        compare::<bridge::Range>("range"),
        compare::<bridge::Battery>("battery"),
        compare::<bridge::Imu>("imu"),
        compare::<bridge::MotorPower>("motor_power"),
        compare::<bridge::Serve>("serve"),
        compare::<bridge::Motion>("motion"),
        compare::<bridge::Reaction>("reaction"),
    ];
    // Those of enums.
    let others = ["link", "separator"];
    let all: BTreeSet<&str> = objects().map(|one| one.name).collect();
    assert_eq!(all, compared.into_iter().chain(others).collect());
    assert_eq!(all.len(), objects().count());

    let wrong = "there_is_no_such_word";
    assert_eq!(keys("link"), known::<model::Link>(wrong), "src/schema.rs: link");
    let mut encodings = known::<model::Encoding>(wrong);
    assert!(encodings.remove("separator"));
    for (name, key, known) in [
        ("protocol", "encoding", encodings),
        ("protocol", "order", known::<model::ByteOrder>(wrong)),
        ("cut", "counts", known::<model::Counted>(wrong)),
        ("cut", "escape", known::<model::NamedEscape>(wrong)),
        ("field", "is", known::<model::FieldRole>(wrong)),
        ("field", "empty", known::<model::Empty>(wrong)),
        ("field", "encoding", known::<model::TextEncoding>(wrong)),
        ("message", "from", known::<model::Side>(wrong)),
        ("message", "role", known::<model::Role>(wrong)),
        ("serial", "parity", known::<model::Parity>(wrong)),
        ("bridge", "others", known::<bridge::Others>(wrong)),
        ("differential", "since", known::<bridge::Since>(wrong)),
    ] {
        let words = match find(name).keys.iter().find(|one| one.name == key).unwrap().shape {
            Words(words) | Any(&[Words(words), ..]) => words,
            other => panic!("{other:?}"),
        };
        let words: BTreeSet<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(words, known, "src/schema.rs: {name}: {key}");
    }
}

/// Validates what the schema uses of draft 7, except patterns.
fn validate(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/definitions/").unwrap();
        return validate(root, &root["definitions"][name], value);
    }
    let wrong = |reason: &str| Err(format!("{value}: {reason}"));
    if let Some(all) = schema["allOf"].as_array() {
        all.iter().try_for_each(|one| validate(root, one, value))?;
    }
    if let Some(any) = schema["anyOf"].as_array()
        && !any.iter().any(|one| validate(root, one, value).is_ok())
    {
        return wrong("none of the possibilities");
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return wrong("not one of the words");
    }
    let is_right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some(other) => panic!("{other}"),
        None => true,
    };
    if !is_right {
        return wrong("another type");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            return wrong(&format!("no {name}"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        let found = match schema["properties"].get(name) {
            None => &schema["additionalProperties"],
            Some(found) => found,
        };
        match found {
            Value::Null => {}
            Value::Bool(false) => return wrong(&format!("the unknown key {name}")),
            found => validate(root, found, inner).map_err(|reason| format!("{name}: {reason}"))?,
        }
    }
    let sizes = [value.as_array().map(Vec::len), value.as_object().map(|object| object.len())];
    for (size, [least, most]) in
        sizes.into_iter().zip([["minItems", "maxItems"], ["minProperties", "maxProperties"]])
    {
        let limit = |name: &str| schema[name].as_u64().and_then(|limit| usize::try_from(limit).ok());
        if size.is_some_and(|size| {
            size < limit(least).unwrap_or(0) || limit(most).is_some_and(|most| size > most)
        }) {
            return wrong("another size");
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        if let Some(items) = schema.get("items") {
            validate(root, items, inner)?;
        }
    }
    Ok(())
}

#[test]
fn all_descriptions_are_valid_and_wrong_ones_are_not() {
    let root: Value = serde_json::from_str(&schema()).unwrap();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut texts = vec![];
    for folder in ["protocols", "machines", "other_machines", "tests/generated"].map(|name| folder.join(name))
    {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "yaml") {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    assert!(texts.len() >= 12);
    for text in &texts {
        let value: Value = serde_norway::from_str(text).unwrap();
        validate(&root, &root, &value).unwrap();
    }
    let page = include_str!("../../../../docs/own-protocol.md");
    let first = page.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let rover = include_str!("../../machines/rover.yaml");
    let is_valid = |text: &str, right: &str, replaced: &str| {
        validate(&root, &root, &serde_norway::from_str(text).unwrap()).unwrap();
        let replaced = text.replacen(right, replaced, 1);
        assert_ne!(replaced, text);
        validate(&root, &root, &serde_norway::from_str(&replaced).unwrap()).is_ok()
    };
    for (text, right, wrong) in [
        (first, "title:", "titel:"),
        (first, "order: little", "order: middle"),
        (first, "is: size", "is: length"),
        (first, "code: 1\n", "code: [1]\n"),
        (first, "link: { serial: 57600 }", "link: { serial: fast }"),
        (first, "link: { serial: 57600 }", "link: { serial: { rate: 57600, parity: evn } }"),
        (first, "link: { serial: 57600 }", "link: { serial: { parity: even } }"),
        (first, "link: { serial: 57600 }", "link: { serial: 57600, tcp: 80 }"),
        (first, "source:", "about:"),
        (rover, "constants:", "constant:"),
        (rover, "half_track: 0.15", "half_track: broad"),
        (rover, "stop: drive", "stop: [{ fields: {} }]"),
        (rover, "period: 0.5", "period: half"),
        (rover, "pose: { x: x", "pose: { ax: x"),
        (rover, "level: [0, 100]", "level: [0]"),
        (rover, "{ level: data * 100 }", "{ level: [data] }"),
        (rover, "time_constant: 0.1", "time_constants: 0.1"),
        (rover, "receive: heartbeat", "received: heartbeat"),
    ] {
        assert!(!is_valid(text, right, wrong), "{wrong}");
    }
    for (right, other) in [
        ("link: { serial: 57600 }", "link: { serial: { rate: 57600, parity: even, stop_bits: 2 } }"),
        ("link: { serial: 57600 }", "link: { udp: { port: 4000, listen: true } }"),
        ("stop: drive", "stop: [drive, { send: lamp, fields: { level: 0 } }]"),
        ("stop: drive", "stop: { send: drive, fields: { left: 0.0 } }"),
        ("stop: drive", "stop: drive\n  motor_power: { on: clear, off: { send: drive } }"),
        ("when: fault != 0", "when: true"),
    ] {
        assert!(is_valid(rover, right, other), "{other}");
        model::Protocol::read(&rover.replacen(right, other, 1)).unwrap();
    }
}
