//! The descriptions of the package are valid; errors in descriptions are found.

use std::path::Path;

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::model::Side;
use proptest::prelude::*;

/// The descriptions of a folder, with the names of their files.
fn files(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn all_are_read_and_have_the_names_of_their_files() {
    let all = [files("protocols"), files("machines"), files("other_machines")].concat();
    assert!(all.len() >= 11);
    for (name, text) in all {
        let protocol = Protocol::read(&text).unwrap_or_else(|error| panic!("{name}.yaml: {error}"));
        assert_eq!(protocol.name, name);
        let messages = protocol.interfaces.iter().flat_map(|one| &one.messages).chain(&protocol.messages);
        assert!(messages.count() > 0, "{name}");
    }
}

#[test]
fn the_readme_s_description_is_read() {
    let readme = include_str!("../README.md");
    let (_, block) = readme.split_once("```yaml\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let lamp = Protocol::read(block).unwrap();
    assert_eq!((lamp.messages.len(), lamp.types.len()), (1, 1));
}

/// The keys of the definitions of the schema, for those that the README's tables have.
#[test]
fn the_readme_has_all_keys_of_bridge_serve_and_links() {
    let schema: serde_json::Value = serde_json::from_str(&dragoman_protocol::schema::schema()).unwrap();
    let (_, tables) = include_str!("../README.md").split_once("## In ROS, and without the machine").unwrap();
    for (name, definition) in schema["definitions"].as_object().unwrap() {
        let is_of_messages = ["frame", "cut", "field", "over", "stuffing", "separator", "type", "code"]
            .into_iter()
            .chain(["message", "interface", "notices", "notice"])
            .any(|other| other == name);
        for key in definition["properties"].as_object().unwrap().keys().filter(|_| !is_of_messages) {
            let code = tables.split('`').skip(1).step_by(2);
            let mut words = code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
            assert!(words.any(|word| word == key), "README.md: {name}: {key}");
        }
    }
}

#[test]
fn the_page_s_sections_are_those_of_the_machines() {
    let page = include_str!("../../../docs/own-protocol.md");
    let rover = include_str!("../machines/rover.yaml");
    let (_, sections) = rover.split_once("\nbridge:\n").unwrap();
    let (bridge, serve) = sections.split_once("\nserve:\n").unwrap();
    for section in [format!("bridge:\n{}", bridge.trim_end()), format!("serve:\n{}", serve.trim_end())] {
        assert!(page.contains(&format!("\n```yaml\n{section}\n```\n")), "not on the page:\n{section}");
    }
    let gripper = include_str!("../machines/gripper.yaml");
    let (_, actions) = gripper.split_once("\n  actions:\n").unwrap();
    let (actions, _) = actions.split_once("\n  publish:\n").unwrap();
    let section = format!("bridge:\n  actions:\n{actions}");
    assert!(page.contains(&format!("\n```yaml\n{section}\n```\n")), "not on the page:\n{section}");
}

#[test]
fn the_table_of_machines_has_all_files() {
    let table = include_str!("../machines/README.md");
    for (name, _) in files("machines") {
        assert!(table.contains(&format!("| [{name}.yaml]({name}.yaml) |")), "machines/README.md: {name}");
    }
}

const LAMP: &str = "
protocol: lamp
title: A lamp
source: its manual
link: { serial: 9600 }
frame:
  cut: { size: size, counts: body }
  fields:
    - { name: size, type: u8, is: size }
    - { name: command, type: u8, is: code }
    - { name: data, is: body }
messages:
  - name: dim
    code: 7
    meaning: set the brightness
    fields:
      - { name: count, type: u8 }
      - { name: levels, type: 'u8[count]' }
";

#[test]
fn inconsistent_descriptions_are_refused_with_the_place() {
    assert!(Protocol::read(LAMP).is_ok());
    for (from, to, error) in [
        ("u8[count]", "u8[cuont]", "lamp: dim: levels: no field cuont comes before it"),
        ("u8[count]", "level[count]", "lamp: dim: levels: there is no type level"),
        ("name: levels", "name: count", "lamp: dim: the field count is there twice"),
        ("is: code", "is: address", "lamp: frame: no field is its code"),
        (
            "size: size, counts",
            "size: length, counts",
            "lamp: frame: there is no field length, which cut names as the size",
        ),
        ("{ size: size, counts: body }", "{}", "lamp: frame: cut must have one of datagram, size,"),
        ("type: u8, is: size", "type: u9, is: size", "lamp: frame: size: there is no type u9"),
        ("meaning: set", "maening: set", "meaning"),
        ("'u8[count]'", "'u8[count'", "is no type"),
    ] {
        assert_ne!(LAMP.replace(from, to), LAMP);
        let text = Protocol::read(&LAMP.replace(from, to)).unwrap_err().to_string();
        assert!(text.contains(error), "{from} -> {to}: {text}");
    }
}

#[test]
fn a_frame_with_one_message_needs_no_code() {
    let text =
        LAMP.replace("    - { name: command, type: u8, is: code }\n", "").replace("code: 7", "code: 0");
    let codec = Codec::new(Protocol::read(&text).unwrap()).unwrap();
    let mut values = Values::default();
    let message = codec.decode(&[3, 2, 8, 9], Side::Client, None, &mut values).unwrap();
    assert_eq!(codec.show(message, &values).to_string(), "dim: count 2, levels [8, 9]");
    let mut out = Vec::new();
    codec.encode(message, &mut values, &mut out).unwrap();
    assert_eq!(out, [3, 2, 8, 9]);
    let refused = dragoman_protocol::generate::python::python(&codec).unwrap_err();
    assert_eq!(refused.to_string(), "lamp: frame: frames without a code are not generated");
}

proptest! {
    #[test]
    fn no_text_causes_a_panic(text in "\\PC*", at in 0_usize..LAMP.len(), with in "[a-z0-9:{}\\[\\]'\\-, \n]{0,4}") {
        let _ = Protocol::read(&text);
        let (before, after) = LAMP.split_at(at);
        let _ = Protocol::read(&format!("{before}{with}{after}"));
    }
}
