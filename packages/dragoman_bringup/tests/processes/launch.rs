//! The launch files without ROS: their arguments, the commands they start, and the parameter file next to them. They are
//! programs of Python, which Python runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_norway::Value;

const LAUNCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch");

/// The processes that a launch file starts in one mode, with the defaults of its other arguments.
#[derive(Debug, Deserialize)]
struct Start {
    file: String,
    mode: String,
    params_file: String,
    /// Configuration of rviz2.
    rviz: String,
    /// Of rviz2, with namespace `/far`.
    rviz_namespace: String,
    rviz_remappings: Vec<[String; 2]>,
    arguments: Vec<String>,
    undescribed: Vec<String>,
    programs: Vec<Vec<String>>,
    package: Vec<String>,
}

/// All starts; empty on a machine without Python.
fn starts() -> Vec<Start> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launch/commands.py");
    let output = match Command::new("python3").args(["-B", script, LAUNCH]).output() {
        Err(error) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none() => {
            println!("skipped: there is no python3 here ({error})");
            return Vec::new();
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn launch_files_start_existing_commands() {
    let starts = starts();
    for start in &starts {
        assert_eq!(start.package, ["dragoman_bringup"], "{start:?}");
        for words in &start.programs {
            // The command line is parsed before the help is printed.
            let output =
                Command::new(env!("CARGO_BIN_EXE_dragoman")).args(words).arg("--help").output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let modes: BTreeSet<(&str, &str)> =
        starts.iter().map(|start| (start.file.as_str(), start.mode.as_str())).collect();
    if !starts.is_empty() {
        let files: BTreeSet<&str> = modes.iter().map(|(file, _)| *file).collect();
        let wanted =
            ["apolo", "arm31", "kobuki", "lab", "machine", "neobotix", "ranger", "turtlebot2_widowx"]
                .map(|name| format!("{name}.launch.py"));
        assert_eq!(files.into_iter().collect::<Vec<_>>(), wanted);
        for file in &wanted {
            assert!(modes.contains(&(file, "sim")) && modes.contains(&(file, "real")), "{file}");
        }
    }
}

#[test]
fn launch_files_have_the_common_arguments_and_describe_all() {
    for start in starts() {
        assert!(start.undescribed.is_empty(), "{start:?}");
        for name in ["mode", "namespace", "use_sim_time", "params_file", "rviz"] {
            assert!(start.arguments.iter().any(|argument| argument == name), "{start:?}");
        }
        assert!(start.params_file.is_empty() && Path::new(&start.rviz).is_file(), "{start:?}");
    }
}

/// The topics of its configurations are relative (`rviz.rs`), so the transforms must be too.
#[test]
fn rviz2_is_in_the_namespace_of_the_robot() {
    for start in starts() {
        assert_eq!(start.rviz_namespace, "/far", "{start:?}");
        let own = if start.rviz.ends_with("/ranger.rviz") { "ranger/" } else { "" };
        let wanted = ["tf", "tf_static"].map(|name| [format!("/{name}"), format!("{own}{name}")]);
        assert_eq!(start.rviz_remappings, wanted, "{start:?}");
    }
}

/// A node of a parameter file: name, page of the reference, heading of its tables there.
type Described = (&'static str, &'static str, &'static str);

/// Parameter files with their nodes.
const FILES: [(&str, &[Described]); 1] =
    [("romaa", &[("mobile_base", "base", "Node /mobile_base, differential drive")])];

/// Users find the defaults in the reference, which `../reference.rs` compares with the nodes: a file says what differs.
/// r2r supports `/**` and names, and ignores other patterns.
#[test]
fn parameters_are_for_nodes_that_r2r_finds() {
    for folder in [LAUNCH, concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config")] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let text = std::fs::read_to_string(&path).unwrap();
                assert!(!text.contains("/**/") && !text.contains("/*/"), "{}", path.display());
            }
        }
    }
}

#[test]
fn parameter_files_repeat_no_default() {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(format!("{LAUNCH}/config")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml")
            && std::fs::read_to_string(&path).unwrap().contains("ros__parameters")
        {
            found.insert(path.file_stem().unwrap().to_str().unwrap().to_owned());
        }
    }
    assert_eq!(found, FILES.map(|(name, _)| name.to_owned()).into());
    for (name, nodes) in FILES {
        let file = format!("{LAUNCH}/config/{name}.yaml");
        let file: Value = serde_norway::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let sections = file.as_mapping().unwrap();
        assert_eq!(sections.len(), nodes.len(), "{name}.yaml");
        for (node, page, heading) in nodes {
            let section = sections.iter().find_map(|(key, section)| {
                (key.as_str().and_then(|key| key.rsplit('/').next()) == Some(node)).then_some(section)
            });
            let mut given = Vec::new();
            flatten("", &section.unwrap()["ros__parameters"], &mut given);
            assert!(!given.is_empty());
            let defaults = defaults(page, heading);
            for (parameter, value) in given {
                let default = defaults.iter().find(|(known, _)| *known == parameter).map(|(_, text)| text);
                let default = default.unwrap_or_else(|| panic!("{name}.yaml: {node} has no {parameter}"));
                let default = if default.is_empty() { "''" } else { default.as_str() };
                let default: Value = serde_norway::from_str(default).unwrap();
                assert_ne!(value, default, "{name}.yaml: {node}, {parameter}");
            }
        }
    }
}

/// Parameters of nested mappings by their full names.
fn flatten(prefix: &str, value: &Value, into: &mut Vec<(String, Value)>) {
    match value.as_mapping() {
        Some(mapping) => {
            for (key, value) in mapping {
                let key = key.as_str().unwrap();
                let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
                flatten(&name, value, into);
            }
        }
        None => into.push((prefix.to_owned(), value.clone())),
    }
}

/// The rows of the table of parameters below a heading: name and default.
fn defaults(page: &str, heading: &str) -> Vec<(String, String)> {
    let path = format!("{}/../../docs/reference/{page}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text
        .lines()
        .skip_while(|line| {
            !line.starts_with('#') || line.trim_matches(['#', ' ']).replace('`', "") != heading
        })
        .skip(1)
        .take_while(|line| !line.starts_with('#'))
        .skip_while(|line| !line.starts_with("| parameter |"));
    let head = lines.next();
    assert!(head.is_some(), "{page}: no parameters below '{heading}'");
    lines
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1].trim_matches('`').to_owned(), cells[3].to_owned())
        })
        .collect()
}
