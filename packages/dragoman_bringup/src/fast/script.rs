//! Scripts: what clients do in a lab on virtual time.

use std::path::Path;
use std::time::Duration;

use dragoman_text::yaml::{self, YamlError};
use serde::Deserialize;
use serde_json::Value;

/// A list of steps, one after the other.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// Whether it begins again after the last step.
    #[serde(default)]
    pub(super) repeat: bool,
    #[serde(with = "serde_norway::with::singleton_map_recursive")]
    pub(super) steps: Vec<Step>,
}

/// A step of a script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// Lets time pass.
    Wait(Seconds),
    /// Sends a datagram of the 31-byte protocol, and waits for its answer.
    Arm31(Arm31),
    /// Calls a service, and waits for its answer.
    Call(Call),
    /// Publishes a message ten times a second for a time, or once.
    Publish(Publish),
    /// Sends bytes to a TCP port of the lab; the connection stays.
    Send(Send),
}

/// A time in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub(super) struct Seconds(pub(super) Duration);

/// Two letters and up to seven numbers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Arm31 {
    pub(super) letters: [u8; 2],
    pub(super) values: [f32; 7],
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) service: String,
    /// By default that of the server.
    #[serde(rename = "type")]
    pub(super) type_name: Option<String>,
    #[serde(default = "empty")]
    pub(super) request: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Publish {
    pub(super) topic: String,
    /// By default that of other endpoints of the topic.
    #[serde(rename = "type")]
    pub(super) type_name: Option<String>,
    #[serde(default = "empty")]
    pub(super) message: Value,
    #[serde(rename = "for")]
    pub(super) time: Option<Seconds>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Send {
    pub(super) port: u16,
    #[serde(rename = "hex")]
    pub(super) bytes: Bytes,
}

/// Bytes in hexadecimal, with spaces where one likes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Bytes(pub(super) Vec<u8>);

fn empty() -> Value {
    Value::Object(serde_json::Map::new())
}

#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    #[error("{path}: {source}")]
    File { path: String, source: std::io::Error },
    #[error("{path}: {error}")]
    Content { path: String, error: YamlError },
    #[error("{path}: a script needs steps")]
    Empty { path: String },
    #[error("{path}: a script that repeats needs a step that waits")]
    Endless { path: String },
}

impl Script {
    /// The script of those without one.
    pub(super) fn tour() -> Self {
        // A test reads it.
        Self::parse("the tour", include_str!("tour.yaml"))
            .unwrap_or(Self { repeat: false, steps: Vec::new() })
    }

    pub(super) fn read(path: &Path) -> Result<Self, ScriptError> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => {
                let (text, note) = dragoman_text::decode(&bytes);
                if let Some(note) = note {
                    tracing::warn!("{name}, {note}");
                }
                Self::parse(&name, &text)
            }
            Err(source) => Err(ScriptError::File { path: name, source }),
        }
    }

    fn parse(path: &str, text: &str) -> Result<Self, ScriptError> {
        let path = path.to_owned();
        let (script, notes) = match yaml::lenient::<Self>(text) {
            Ok(read) => read,
            Err(error) => return Err(ScriptError::Content { path, error }),
        };
        for note in notes {
            tracing::warn!("{path}, {note}");
        }
        if script.steps.is_empty() {
            return Err(ScriptError::Empty { path });
        }
        let waits = |step: &Step| match step {
            Step::Wait(Seconds(time)) | Step::Publish(Publish { time: Some(Seconds(time)), .. }) => {
                !time.is_zero()
            }
            _ => false,
        };
        if script.repeat && !script.steps.iter().any(waits) {
            return Err(ScriptError::Endless { path });
        }
        Ok(script)
    }
}

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Self, String> {
        let time = Duration::try_from_secs_f64(seconds);
        time.map(Self).map_err(|_| format!("{seconds} is not a time in seconds"))
    }
}

impl TryFrom<String> for Arm31 {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let letters = words.next().and_then(|letters| letters.as_bytes().try_into().ok());
        let letters = letters.ok_or_else(|| format!("'{text}' does not begin with two letters"))?;
        let mut values = [0.0; 7];
        for (number, word) in words.enumerate() {
            let value =
                values.get_mut(number).ok_or_else(|| format!("'{text}' has more than seven numbers"))?;
            *value = word.parse().map_err(|_| format!("'{word}' is not a number"))?;
        }
        Ok(Self { letters, values })
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|c| !c.is_whitespace())
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        let digits = digits.ok_or_else(|| format!("'{text}' is not hexadecimal"))?;
        if digits.is_empty() || digits.len() % 2 != 0 {
            return Err(format!("'{text}' is not a number of whole bytes"));
        }
        Ok(Self(
            digits.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Script, String> {
        Script::parse("a.yaml", text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_of_step_is_read() {
        let text = "repeat: true
steps:
  - wait: 1.5
  - arm31: CM 2
  - call: {service: /ranger/stop}
  - call:
      service: /apolo/place_xyz
      type: dragoman_msgs/srv/PlaceXyz
      request: {object: Marvin, position: {x: 1}}
  - publish: {topic: /cmd_vel, message: {linear: {x: 0.2}}, for: 2}
  - send: {port: 12000, hex: 61 61 05 00 54}
";
        let script = parse(text).unwrap();
        assert!(script.repeat);
        let expected = [
            Step::Wait(Seconds(Duration::from_millis(1500))),
            Step::Arm31(Arm31 { letters: *b"CM", values: [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }),
            Step::Call(Call { service: "/ranger/stop".into(), type_name: None, request: json!({}) }),
            Step::Call(Call {
                service: "/apolo/place_xyz".into(),
                type_name: Some("dragoman_msgs/srv/PlaceXyz".into()),
                request: json!({"object": "Marvin", "position": {"x": 1}}),
            }),
            Step::Publish(Publish {
                topic: "/cmd_vel".into(),
                type_name: None,
                message: json!({"linear": {"x": 0.2}}),
                time: Some(Seconds(Duration::from_secs(2))),
            }),
            Step::Send(Send { port: 12000, bytes: Bytes(b"aa\x05\0T".to_vec()) }),
        ];
        assert_eq!(script.steps, expected);
    }

    #[test]
    fn an_error_says_where_it_is() {
        for (text, reason) in [
            ("steps: []", "a.yaml: a script needs steps"),
            ("steps: [{wait: -1}]", "-1 is not a time in seconds"),
            ("steps: [{wait: 1, arm31: ST}]", "expected map with a single key"),
            ("steps: [{hop: 1}]", "unknown variant `hop`, expected one of `wait`"),
            ("steps: [{wiat: 1}]", "did you mean 'wait'?"),
            ("steps: [{call: {servic: /x}}]", "the unknown key 'servic'; did you mean 'service'?"),
            ("steps: [{arm31: 'C 1'}]", "two letters"),
            ("steps: [{arm31: 'CM a'}]", "'a' is not a number"),
            ("steps: [{send: {port: 1, hex: '123'}}]", "whole bytes"),
            ("repeat: true\nsteps: [{arm31: ST}]", "needs a step that waits"),
            ("step: []", "line 1, column 1: the unknown key 'step'; did you mean 'steps'?"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        assert!(parse("steps:\n  - wait: 1\n  - wait: x\n").unwrap_err().contains("line 3"));
    }

    #[test]
    fn what_is_unknown_is_left_out() {
        let script = parse("author: me\nsteps:\n- call: {service: /x, priority: 1}\n").unwrap();
        assert_eq!(script, parse("steps: [{call: {service: /x}}]").unwrap());
    }

    #[test]
    fn the_tour_is_a_script() {
        assert!(Script::tour().repeat && Script::tour().steps.len() > 10);
    }
}
