//! The parameters that a command line and its parameter files give, and whether the program has such parameters.
//!
//! ROS ignores a parameter of a node that does not exist: `-p traker:misalignment:=...` starts a program, and an
//! experiment measures nothing. [`KnownNodes`] has the nodes and parameters of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dragoman_text::{decode, nearest, yaml};
use serde_norway::{Mapping, Value};

use crate::command_line;
#[cfg(not(feature = "r2r"))]
use crate::names::NodeName;
use crate::remapping::{Rules, split_rule};

/// One value for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    /// The file that gives it; `None`: the command line.
    file: Option<Arc<File>>,
    /// The keys in the file, from the outermost.
    keys: Vec<String>,
    /// Fully qualified node name, with `*` for one part and `**` for any number of parts.
    node: String,
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// A parameter file.
#[derive(Debug, PartialEq)]
struct File {
    path: PathBuf,
    text: String,
}

/// The key below which a node's parameters are.
const PARAMETERS: &str = "ros__parameters";

/// The parameters that a command line gives, with those of its files.
///
/// # Errors
/// An assignment without `:=`, a file that cannot be read: the text gives the reason.
pub(crate) fn of_command_line(arguments: impl IntoIterator<Item = String>) -> Result<Vec<Given>, String> {
    let (mut all, (_, ros)) = (Vec::new(), command_line::split(arguments));
    let mut arguments = ros.into_iter();
    while let Some(argument) = arguments.next() {
        match (argument.as_str(), arguments.as_slice().first()) {
            ("-p" | "--param", Some(assignment)) => all.push(of_assignment(assignment)?),
            ("--params-file", Some(file)) => all.extend(of_file(Path::new(file))?),
            _ => {}
        }
    }
    Ok(all)
}

/// What `-p` gives: `name:=value` or `node:name:=value`.
///
/// # Errors
/// The text has no `:=`, or its value is not YAML.
pub(crate) fn of_assignment(text: &str) -> Result<Given, String> {
    let (name, value) = split_rule(text).map_err(|error| error.to_string())?;
    let (node, name) = match name.rsplit_once(':') {
        Some((node, name)) => (format!("/**/{}", node.trim_start_matches('/')), name),
        None => ("/**".to_owned(), name),
    };
    let value = serde_norway::from_str(value).map_err(|error| format!("the value of '{text}': {error}"))?;
    Ok(Given { file: None, keys: Vec::new(), node, name: name.to_owned(), value })
}

/// The parameters of a ROS parameter file.
///
/// # Errors
/// The file cannot be read, or its text is refused by [`of_text`].
pub(crate) fn of_file(path: &Path) -> Result<Vec<Given>, String> {
    let wrong = |error: String| format!("parameter file {}: {error}", path.display());
    // What is in another encoding is a comment or a name that no parameter has.
    let (text, _) = decode(&std::fs::read(path).map_err(|error| wrong(error.to_string()))?);
    of_text(&text, Some(path)).map_err(wrong)
}

/// The parameters of the text of a ROS parameter file.
///
/// # Errors
/// It is not YAML of the form `node: {ros__parameters: {name: value}}`.
pub(crate) fn of_text(yaml: &str, file: Option<&Path>) -> Result<Vec<Given>, String> {
    let mut all = Vec::new();
    match yaml::strict(yaml).map_err(|error| error.to_string())? {
        Value::Null => {}
        Value::Mapping(nodes) => add_nodes(&mut all, &[], &nodes).map_err(|(keys, reason)| {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let line = yaml::line_of(yaml, &keys).map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{line}{reason}")
        })?,
        _ => return Err("the outermost level must map node names".to_owned()),
    }
    let file = file.map(|path| Arc::new(File { path: path.to_owned(), text: yaml.to_owned() }));
    for given in &mut all {
        given.file.clone_from(&file);
    }
    Ok(all)
}

/// Keys of a place, and what is wrong there.
type Wrong = (Vec<String>, String);

fn add_nodes(all: &mut Vec<Given>, above: &[String], nodes: &Mapping) -> Result<(), Wrong> {
    for (key, value) in nodes {
        let keys = below(above, key, "node")?;
        let (Some(name), parts) = (key.as_str(), above.iter().map(|key| key.trim_start_matches('/'))) else {
            continue;
        };
        let node: String = parts.map(|part| format!("/{part}")).collect();
        match value {
            Value::Mapping(values) if name == PARAMETERS => add_values(all, &node, "", &keys, values)?,
            // All of them may be comments.
            Value::Null if name == PARAMETERS => {}
            Value::Mapping(nodes) => add_nodes(all, &keys, nodes)?,
            // A node without anything, or a parameter where a node should be.
            _ => {
                let is_misspelt = |key: &&String| nearest(key, [PARAMETERS]).is_some();
                let reason = match above.iter().find(is_misspelt) {
                    Some(misspelt) => format!("there is '{misspelt}'; did you mean '{PARAMETERS}'?"),
                    None => format!("'{node}/{}' has no {PARAMETERS}", name.trim_start_matches('/')),
                };
                return Err((keys, reason));
            }
        }
    }
    Ok(())
}

fn add_values(
    all: &mut Vec<Given>,
    node: &str,
    prefix: &str,
    above: &[String],
    values: &Mapping,
) -> Result<(), Wrong> {
    for (key, value) in values {
        let keys = below(above, key, "parameter")?;
        let key = key.as_str().unwrap_or_default();
        let name = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        match value {
            Value::Mapping(nested) => add_values(all, node, &name, &keys, nested)?,
            value => all.push(Given { file: None, keys, node: node.to_owned(), name, value: value.clone() }),
        }
    }
    Ok(())
}

/// The keys with one more, which must be a text.
fn below(above: &[String], key: &Value, kind: &str) -> Result<Vec<String>, Wrong> {
    let mut keys = above.to_vec();
    match key.as_str() {
        Some(key) => keys.push(key.to_owned()),
        None => {
            let shown = serde_norway::to_string(key).unwrap_or_default();
            return Err((keys, format!("the key {} is not a {kind} name", shown.trim_end())));
        }
    }
    Ok(keys)
}

impl Given {
    /// Whether it is for this node. rcl decides it itself.
    #[cfg(not(feature = "r2r"))]
    pub(crate) fn is_for(&self, node: &NodeName) -> bool {
        let (pattern, full) = (self.node.trim_start_matches('/'), node.fully_qualified());
        let path: Vec<&str> = full.split('/').skip(1).collect();
        pattern == node.name || matches_path(&pattern.split('/').collect::<Vec<_>>(), &path)
    }

    /// Where it stands, and its name.
    pub(crate) fn origin(&self) -> String {
        let node = self.node_name().map(|node| format!("{node}:")).unwrap_or_default();
        match &self.file {
            Some(file) => {
                format!("parameter file {}, {}{node}{}", file.path.display(), self.place(), self.name)
            }
            None => format!("-p {node}{}", self.name),
        }
    }

    /// Its line in its file, for a sentence; empty without.
    fn place(&self) -> String {
        let keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let line = self.file.as_ref().and_then(|file| yaml::line_of(&file.text, &keys));
        line.map(|line| format!("line {line}: ")).unwrap_or_default()
    }

    /// The name of the node that it is for; `None`: it is for several.
    fn node_name(&self) -> Option<&str> {
        self.node.rsplit('/').next().filter(|name| !name.contains('*'))
    }
}

#[cfg(not(feature = "r2r"))]
fn matches_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            (0..=path.len()).any(|skipped| matches_path(rest, path.get(skipped..).unwrap_or(&[])))
        }
        (Some((token, rest)), Some((part, others))) => {
            (*token == "*" || token == part) && matches_path(rest, others)
        }
        _ => false,
    }
}

/// The nodes that a program may have, by name, with the names of their parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownNodes(BTreeMap<String, BTreeSet<String>>);

impl KnownNodes {
    /// From lines `node: parameter parameter...`.
    pub fn from_table(table: &str) -> Self {
        let mut known = Self::default();
        for (node, parameters) in table.lines().filter_map(|line| line.split_once(':')) {
            let of_node = known.0.entry(node.trim().to_owned()).or_default();
            of_node.extend(parameters.split_whitespace().map(str::to_owned));
        }
        known
    }

    /// Compares the nodes and parameters that a command line and parameter files name with the known ones. A file may
    /// also be for other programs: a name in it that does not resemble a known one is not refused. Returns a warning
    /// for each file with such names.
    ///
    /// # Errors
    /// A node or parameter that does not exist, with the nearest name that does.
    pub(crate) fn check(&self, given: &[Given], rules: &Rules) -> Result<Vec<String>, String> {
        let renamed: BTreeSet<&str> = rules.node_names().collect();
        let mut left_out: BTreeMap<&Path, BTreeSet<String>> = BTreeMap::new();
        for one in given {
            let Err(unknown) = self.look_up(one, &renamed) else { continue };
            let similar = nearest(unknown.name, unknown.known.iter().copied());
            match (&one.file, similar) {
                (Some(file), Some(similar)) => {
                    return Err(format!(
                        "parameter file {}, {}{unknown}; did you mean '{similar}'?",
                        file.path.display(),
                        one.place()
                    ));
                }
                (Some(file), None) => {
                    left_out.entry(&file.path).or_default().insert(unknown.to_string());
                }
                (None, _) => {
                    let hint = dragoman_text::hint(unknown.name, unknown.known.iter().copied());
                    return Err(format!("{}: {unknown}{hint}", one.origin()));
                }
            }
        }
        let warning = |(file, all): (&Path, BTreeSet<String>)| {
            let all: Vec<String> = all.into_iter().collect();
            format!("parameter file {}: {}: left out", file.display(), all.join("; "))
        };
        Ok(left_out.into_iter().map(warning).collect())
    }

    /// Whether a node has this parameter. A renamed node may be any of the known ones.
    fn look_up<'a>(&'a self, given: &'a Given, renamed: &BTreeSet<&str>) -> Result<(), Unknown<'a>> {
        let node = given.node_name().filter(|node| !renamed.contains(node));
        let known: BTreeSet<&str> = match node {
            None => self.0.values().flatten().map(String::as_str).collect(),
            Some(node) => {
                let known = self.0.keys().map(String::as_str);
                let of_node = self.0.get(node).ok_or_else(|| Unknown {
                    name: node,
                    node: None,
                    known: known.collect(),
                })?;
                of_node.iter().map(String::as_str).collect()
            }
        };
        let name = given.name.as_str();
        if known.contains(name) || name == "use_sim_time" || name.starts_with("qos_overrides.") {
            return Ok(());
        }
        Err(Unknown { name, node: Some(node), known })
    }
}

/// A name that does not exist, and those that do.
struct Unknown<'a> {
    name: &'a str,
    /// Of a parameter: its node, or that it was for several. `None`: a node is unknown.
    node: Option<Option<&'a str>>,
    known: BTreeSet<&'a str>,
}

impl std::fmt::Display for Unknown<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.name;
        match self.node {
            None => write!(out, "there is no node '{name}'"),
            Some(None) => write!(out, "no node has a parameter '{name}'"),
            Some(Some(node)) => write!(out, "node {node} has no parameter '{name}'"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "arm: rate home limits.velocity\ntracker: misalignment noise\nrelay:\n";

    fn check(arguments: &str) -> Result<Vec<String>, String> {
        let words = || arguments.split_whitespace().map(str::to_owned);
        let given = of_command_line(words())?;
        KnownNodes::from_table(TABLE).check(&given, &Rules::accepted(words()))
    }

    #[test]
    fn what_the_command_line_misspells_is_refused_with_the_nearest_name() {
        for (given, reason) in [
            (
                "-p traker:misalignment:=1",
                "-p traker:misalignment: there is no node 'traker'; did you mean 'tracker'?",
            ),
            (
                "-p tracker:misalignmnt:=1",
                "-p tracker:misalignmnt: node tracker has no parameter 'misalignmnt'; did you mean 'misalignment'?",
            ),
            (
                "-p misaligment:=1",
                "-p misaligment: no node has a parameter 'misaligment'; did you mean 'misalignment'?",
            ),
            (
                "-p arm:noise:=1",
                "-p arm:noise: node arm has no parameter 'noise'; known: home, limits.velocity, rate",
            ),
            ("-p gripper:rate:=1", "-p gripper:rate: there is no node 'gripper'; known: arm, relay, tracker"),
            ("-p relay:rate:=1", "-p relay:rate: node relay has no parameter 'rate'"),
        ] {
            assert_eq!(check(&format!("up --ros-args {given}")), Err(reason.to_owned()));
        }
    }

    #[test]
    fn what_exists_is_accepted() {
        for given in [
            "-p arm:rate:=1 -p /ranger/arm:rate:=1 -p rate:=1",
            "-p arm:use_sim_time:=true -p use_sim_time:=true",
            "-p qos_overrides./scan.publisher.depth:=1 -p relay:qos_overrides./scan.publisher.depth:=1",
            "-p limb:rate:=1 -r arm:__node:=limb",
            "-r a:=b --log-level debug -e /p",
        ] {
            assert_eq!(check(&format!("up --ros-args {given}")), Ok(Vec::new()), "{given}");
        }
        assert_eq!(check("up -p traker:misalignment:=1"), Ok(Vec::new()), "it is not ROS's");
    }

    #[test]
    fn a_file_may_be_for_others_but_not_misspelt() {
        let check = |yaml: &str| {
            let given = of_text(yaml, Some(Path::new("lab.yaml"))).unwrap();
            KnownNodes::from_table(TABLE).check(&given, &Rules::default())
        };
        let node = |name: &str, parameter: &str| format!("{name}: {{ros__parameters: {{{parameter}: 1}}}}\n");
        let nested = "/ranger:\n  arm:\n    ros__parameters:\n      limits: {velocity: 1}\n";
        assert_eq!(check(nested), Ok(Vec::new()));
        let others = node("/**", "far_away") + &node("/nav/planner", "radius") + &node("arm", "colour");
        let warning = "parameter file lab.yaml: no node has a parameter 'far_away'; node arm has no parameter 'colour'; \
                       there is no node 'planner': left out";
        assert_eq!(check(&others), Ok(vec![warning.to_owned()]));
        for (yaml, reason) in [
            (node("/ranger/traker", "noise"), "there is no node 'traker'; did you mean 'tracker'?"),
            (node("tracker", "nois"), "node tracker has no parameter 'nois'; did you mean 'noise'?"),
            (node("/*/*", "nois"), "no node has a parameter 'nois'; did you mean 'noise'?"),
        ] {
            let expected = format!("parameter file lab.yaml, line 4: {reason}");
            assert_eq!(check(&(others.clone() + &yaml)), Err(expected));
        }
    }

    #[test]
    fn an_invalid_file_is_refused_with_the_place_of_the_error() {
        for (yaml, reason) in [
            (
                "arm:\n  ros_parameters:\n    rate: 1\n",
                "line 3: there is 'ros_parameters'; did you mean 'ros__parameters'?",
            ),
            ("/ranger:\n  arm:\n    rate: 1\n", "line 3: '/ranger/arm/rate' has no ros__parameters"),
            ("arm: 1\n", "line 1: '/arm' has no ros__parameters"),
            ("arm:\n  ros__parameters:\n    1: x\n", "line 2: the key 1 is not a parameter name"),
            ("- arm\n", "the outermost level must map node names"),
        ] {
            assert_eq!(of_text(yaml, None), Err(reason.to_owned()), "{yaml}");
        }
        let twice = "arm:\n  ros__parameters:\n    rate: 1\n    rate: 2\n";
        let error = of_text(twice, None).unwrap_err();
        assert!(error.contains("line 3") && error.contains("rate"), "{error}");
        let empty = "arm:\r\n  ros__parameters:\r\n# nothing yet\r\n";
        assert_eq!(of_text(empty, None), Ok(Vec::new()), "all are comments");
        let folder = std::env::temp_dir().join(format!("dragoman-given-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("lab.yaml");
        std::fs::write(&file, b"\xef\xbb\xbf# Gr\xf6\xdfe\r\narm:\r\n  ros__parameters: {rate: 1}\r\n")
            .unwrap();
        let given = of_file(&file).unwrap();
        assert_eq!(given[0].origin(), format!("parameter file {}, line 3: arm:rate", file.display()));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
