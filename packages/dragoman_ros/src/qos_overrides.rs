//! Quality of service overrides, as in rclcpp: parameters `qos_overrides.<topic>.<publisher or subscription>.<policy>`.

use crate::indexmap::IndexMap;
use crate::qos::{DurabilityPolicy, HistoryPolicy, QosProfile, ReliabilityPolicy};
use crate::{Parameter, ParameterValue};

/// Prefix of these parameters.
const PREFIX: &str = "qos_overrides.";

/// Side of a topic.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Publisher,
    Subscription,
}

/// A policy that cannot be overridden, or an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parameter '{name}': {reason}")]
pub(crate) struct InvalidOverride {
    pub(crate) name: String,
    pub(crate) reason: String,
}

/// `qos` with the overrides of `given`, the parameters of a node, for this side of `topic`, a full name after
/// remapping.
///
/// # Errors
/// A policy that cannot be overridden, or an invalid value.
pub(crate) fn overridden(
    given: &IndexMap<String, Parameter>,
    topic: &str,
    side: Side,
    mut qos: QosProfile,
) -> Result<QosProfile, InvalidOverride> {
    let side = match side {
        Side::Publisher => "publisher",
        Side::Subscription => "subscription",
    };
    let start = format!("{PREFIX}{topic}.{side}.");
    for (name, parameter) in given {
        let Some(policy) = name.strip_prefix(&start) else { continue };
        set(&mut qos, policy, &parameter.value)
            .map_err(|reason| InvalidOverride { name: name.clone(), reason })?;
    }
    Ok(qos)
}

fn set(qos: &mut QosProfile, policy: &str, value: &ParameterValue) -> Result<(), String> {
    use ParameterValue::{Integer, String as Text};
    match (policy, value) {
        ("reliability", Text(word)) => {
            qos.reliability = match word.as_str() {
                "reliable" => ReliabilityPolicy::Reliable,
                "best_effort" => ReliabilityPolicy::BestEffort,
                "system_default" => ReliabilityPolicy::SystemDefault,
                _ => return Err(format!("'{word}' is not one of reliable, best_effort, system_default")),
            }
        }
        ("durability", Text(word)) => {
            qos.durability = match word.as_str() {
                "volatile" => DurabilityPolicy::Volatile,
                "transient_local" => DurabilityPolicy::TransientLocal,
                "system_default" => DurabilityPolicy::SystemDefault,
                _ => return Err(format!("'{word}' is not one of volatile, transient_local, system_default")),
            }
        }
        ("history", Text(word)) => {
            qos.history = match word.as_str() {
                "keep_last" => HistoryPolicy::KeepLast,
                "keep_all" => HistoryPolicy::KeepAll,
                "system_default" => HistoryPolicy::SystemDefault,
                _ => return Err(format!("'{word}' is not one of keep_last, keep_all, system_default")),
            }
        }
        ("depth", Integer(depth)) => {
            qos.depth = usize::try_from(*depth).map_err(|_| format!("{depth} is not a depth"))?;
        }
        ("reliability" | "durability" | "history", other) => {
            return Err(format!("a word is expected, not a value of type {}", other.type_name()));
        }
        ("depth", other) => {
            return Err(format!("an integer is expected, not a value of type {}", other.type_name()));
        }
        _ => return Err("only reliability, durability, history and depth can be set".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(parameters: &[(&str, ParameterValue)]) -> IndexMap<String, Parameter> {
        parameters.iter().map(|(name, value)| ((*name).to_owned(), Parameter::new(value.clone()))).collect()
    }

    fn word(word: &str) -> ParameterValue {
        ParameterValue::String(word.to_owned())
    }

    #[test]
    fn policies_of_one_side_of_one_topic_are_set() {
        let given = given(&[
            ("qos_overrides./scan.publisher.reliability", word("best_effort")),
            ("qos_overrides./scan.publisher.depth", ParameterValue::Integer(3)),
            ("qos_overrides./map.subscription.durability", word("transient_local")),
            ("qos_overrides./map.subscription.history", word("keep_all")),
            ("rate", ParameterValue::Double(1.0)),
        ]);
        let of = |topic, side| overridden(&given, topic, side, QosProfile::default()).unwrap();
        assert_eq!(of("/scan", Side::Publisher), QosProfile::default().best_effort().keep_last(3));
        assert_eq!(of("/scan", Side::Subscription), QosProfile::default());
        assert_eq!(of("/scan2", Side::Publisher), QosProfile::default());
        let map = QosProfile::default().transient_local().history(HistoryPolicy::KeepAll);
        assert_eq!(of("/map", Side::Subscription), map);
    }

    #[test]
    fn invalid_overrides_are_refused_with_their_name() {
        for (policy, value, words) in [
            ("reliability", word("reliably"), "'reliably' is not one of reliable"),
            ("durability", word(""), "not one of volatile"),
            ("history", word("last"), "not one of keep_last"),
            ("depth", ParameterValue::Integer(-1), "-1 is not a depth"),
            ("depth", word("3"), "an integer is expected, not a value of type string"),
            ("history", ParameterValue::Bool(true), "a word is expected, not a value of type boolean"),
            ("deadline", ParameterValue::Integer(1), "only reliability, durability, history and depth"),
        ] {
            let name = format!("qos_overrides./a.publisher.{policy}");
            let given = given(&[(&name, value)]);
            let error = overridden(&given, "/a", Side::Publisher, QosProfile::default()).unwrap_err();
            assert!(error.to_string().starts_with(&format!("parameter '{name}': ")), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
