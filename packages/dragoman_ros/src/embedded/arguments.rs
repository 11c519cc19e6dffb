//! `--ros-args`: remapping, parameters, parameter files and logging, as rcl reads them.

use std::path::Path;

use serde_norway::Value;

use super::error::{Error, Result};
use super::parameter::ParameterValue;
use crate::command_line;
use crate::given::{self, Given};
use crate::names::NodeName;
use crate::remapping::Rules;

/// The ROS part of a command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    rules: Rules,
    parameters: Vec<(Given, ParameterValue)>,
    enclave: Option<String>,
}

impl Arguments {
    /// Parses the part of a command line that belongs to ROS.
    ///
    /// # Errors
    /// An unknown option, a rule without `:=`, a parameter file that cannot be read: the text gives the reason.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut parsed = Self::default();
        let (_, ros) = command_line::split(arguments);
        let mut arguments = ros.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "-r" | "--remap" => parsed.rules.add(&value_of(&argument, arguments.next())?)?,
                "-p" | "--param" => {
                    let assignment = value_of(&argument, arguments.next())?;
                    parsed.add(vec![given::of_assignment(&assignment).map_err(Error::InvalidArgument)?])?;
                }
                "--params-file" => {
                    let path = value_of(&argument, arguments.next())?;
                    parsed.add(given::of_file(Path::new(&path)).map_err(Error::InvalidArgument)?)?;
                }
                // Logging is set up before a context exists; `logging` reads its arguments.
                "-e" | "--enclave" => parsed.enclave = Some(enclave(value_of(&argument, arguments.next())?)?),
                "--log-level" | "--log-config-file" | "--log-file-name" => {
                    value_of(&argument, arguments.next())?;
                }
                "--disable-rosout-logs"
                | "--enable-rosout-logs"
                | "--enable-stdout-logs"
                | "--disable-stdout-logs"
                | "--enable-external-lib-logs"
                | "--disable-external-lib-logs" => {}
                other => {
                    return Err(Error::InvalidArgument(format!("'{other}' is not an option of --ros-args")));
                }
            }
        }
        Ok(parsed)
    }

    /// Adds the parameters of a ROS parameter file.
    ///
    /// # Errors
    /// The text is not YAML of the form `node: {ros__parameters: {name: value}}`.
    pub fn add_parameter_text(&mut self, yaml: &str) -> Result<()> {
        self.add(given::of_text(yaml, None).map_err(Error::InvalidArgument)?)
    }

    fn add(&mut self, all: Vec<Given>) -> Result<()> {
        for given in all {
            let value = parameter_value(&given.value).ok_or_else(|| {
                Error::InvalidArgument(format!("{}: the value is not a parameter value", given.origin()))
            })?;
            self.parameters.push((given, value));
        }
        Ok(())
    }

    /// The enclave of the security settings; peers see it.
    pub(crate) fn enclave(&self) -> &str {
        self.enclave.as_deref().unwrap_or("/")
    }

    /// The remapping rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The parameters of the command line for a node; a later one wins.
    pub(crate) fn parameters_of(&self, node: &NodeName) -> Vec<(String, ParameterValue)> {
        let meant = self.parameters.iter().filter(|(given, _)| given.is_for(node));
        meant.map(|(given, value)| (given.name.clone(), value.clone())).collect()
    }
}

/// Checks for a full name, like a namespace.
fn enclave(name: String) -> Result<String> {
    let is_token = |token: &str| {
        !token.starts_with(|c: char| c.is_ascii_digit())
            && token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !token.is_empty()
    };
    let is_valid =
        name.strip_prefix('/').is_some_and(|rest| rest.is_empty() || rest.split('/').all(is_token));
    if is_valid {
        Ok(name)
    } else {
        Err(Error::InvalidArgument(format!("--enclave: '{name}' is not a full name")))
    }
}

fn value_of(option: &str, value: Option<String>) -> Result<String> {
    value.ok_or_else(|| Error::InvalidArgument(format!("{option} needs a value")))
}

fn parameter_value(value: &Value) -> Option<ParameterValue> {
    Some(match value {
        Value::Bool(value) => ParameterValue::Bool(*value),
        Value::Number(number) => match number.as_i64() {
            Some(integer) if !number.is_f64() => ParameterValue::Integer(integer),
            _ => ParameterValue::Double(number.as_f64()?),
        },
        Value::String(text) => ParameterValue::String(text.clone()),
        Value::Sequence(items) => array_value(items)?,
        _ => return None,
    })
}

/// An array has one type; integers among floating-point numbers are converted. An empty one counts as strings.
fn array_value(items: &[Value]) -> Option<ParameterValue> {
    fn all<T>(items: &[Value], convert: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        items.iter().map(convert).collect()
    }
    if let Some(strings) = all(items, |item| item.as_str().map(str::to_owned)) {
        return Some(ParameterValue::StringArray(strings));
    }
    all(items, Value::as_bool)
        .map(ParameterValue::BoolArray)
        .or_else(|| all(items, Value::as_i64).map(ParameterValue::IntegerArray))
        .or_else(|| all(items, Value::as_f64).map(ParameterValue::DoubleArray))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameKind;

    fn parse(text: &str) -> Result<Arguments> {
        Arguments::parse(text.split_whitespace().map(str::to_owned))
    }

    fn node(namespace: &str, name: &str) -> NodeName {
        NodeName { name: name.into(), namespace: namespace.into() }
    }

    #[test]
    fn only_the_ros_part_is_read() {
        let arguments = parse("up --bind 0.0.0.0 --ros-args -r pose:=/tool -- --domain 3").unwrap();
        assert_eq!(arguments, parse("--ros-args -r pose:=/tool").unwrap());
        let ranger = node("/ranger", "kinematics");
        assert_eq!(ranger.resolve_name("pose", NameKind::Topic, arguments.rules()).unwrap(), "/tool");
        assert_eq!(
            ranger.resolve_name("joint_states", NameKind::Topic, arguments.rules()).unwrap(),
            "/ranger/joint_states"
        );
    }

    #[test]
    fn the_enclave_is_a_full_name() {
        assert_eq!(parse("--ros-args").unwrap().enclave(), "/");
        for name in ["/", "/lab", "/lab/arm_1"] {
            assert_eq!(parse(&format!("--ros-args --enclave {name}")).unwrap().enclave(), name);
        }
        for name in ["lab", "/lab/", "//lab", "/1st", "/a-b"] {
            assert!(parse(&format!("--ros-args -e {name}")).unwrap_err().to_string().contains(name));
        }
    }

    #[test]
    fn rules_can_be_bound_to_a_node_and_to_a_kind() {
        let arguments = parse(
            "--ros-args -r arm:enable:=on -r rosservice://stop:=halt -r __ns:=/left -r arm:__node:=limb",
        )
        .unwrap();
        let arm = NodeName::resolve("arm", "/ranger", arguments.rules()).unwrap();
        assert_eq!(arm, node("/left", "limb"));
        let other = node("/ranger", "other");
        assert_eq!(
            other.resolve_name("enable", NameKind::Service, arguments.rules()).unwrap(),
            "/ranger/enable"
        );
        assert_eq!(other.resolve_name("stop", NameKind::Service, arguments.rules()).unwrap(), "/ranger/halt");
        assert_eq!(other.resolve_name("stop", NameKind::Topic, arguments.rules()).unwrap(), "/ranger/stop");
    }

    #[test]
    fn parameters_are_typed_by_yaml() {
        let arguments =
            parse("--ros-args -p rate:=100 -p gain:=2.5 -p on:=true -p name:=arm -p arm:home:=[1,2.5] -p ids:=[1,2]").unwrap();
        let given = arguments.parameters_of(&node("/ranger", "arm"));
        assert!(given.contains(&("rate".into(), ParameterValue::Integer(100))));
        assert!(given.contains(&("gain".into(), ParameterValue::Double(2.5))));
        assert!(given.contains(&("on".into(), ParameterValue::Bool(true))));
        assert!(given.contains(&("home".into(), ParameterValue::DoubleArray(vec![1.0, 2.5]))));
        assert!(given.contains(&("ids".into(), ParameterValue::IntegerArray(vec![1, 2]))));
        assert!(!arguments.parameters_of(&node("/ranger", "other")).iter().any(|(name, _)| name == "home"));
    }

    #[test]
    fn parameter_files_know_wildcards_and_namespaces() {
        let mut arguments = Arguments::default();
        arguments
            .add_parameter_text(
                "/**:\n  ros__parameters: {a: 1, nested: {b: text}}\n\
                 /ranger/arm:\n  ros__parameters: {a: 2}\n\
                 left:\n  '*':\n    ros__parameters: {a: 3}\n",
            )
            .unwrap();
        let last = |node: &NodeName| arguments.parameters_of(node).into_iter().rfind(|(n, _)| n == "a");
        assert_eq!(last(&node("/", "any")).unwrap().1, ParameterValue::Integer(1));
        assert_eq!(last(&node("/ranger", "arm")).unwrap().1, ParameterValue::Integer(2));
        assert_eq!(last(&node("/left", "arm")).unwrap().1, ParameterValue::Integer(3));
        let nested = ("nested.b".into(), ParameterValue::String("text".into()));
        assert!(arguments.parameters_of(&node("/", "any")).contains(&nested));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, named) in [
            ("--ros-args -r pose", "pose"),
            ("--ros-args -p", "-p"),
            ("--ros-args --params-file /none.yaml", "/none.yaml"),
            ("--ros-args --what", "--what"),
            ("--ros-args -p a:=[1,[2]]", "-p a: "),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_parameter_file_makes_the_parser_panic(text in "[ a-z_/*:{}\\[\\]0-9.,\n'-]{0,200}") {
            let _ = Arguments::default().add_parameter_text(&text);
            let _ = parse(&format!("--ros-args -r {text} -p {text}"));
        }
    }
}
