//! Actions: goals that take a while.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{Setting, Settings};
use crate::model::short::{Written, written};

/// Feedback of an action.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feedback {
    /// The message of the machine, or the question whose answer it is.
    pub from: String,
    /// Only messages for which this is true.
    #[serde(default)]
    pub when: Option<Setting>,
    /// Fields of the feedback.
    pub fields: Settings,
}

/// A message that ends a goal.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ending {
    /// The message of the machine, or the question whose answer it is.
    pub from: String,
    /// Only messages for which this is true.
    #[serde(default)]
    pub when: Option<Setting>,
    /// A field with the reason of a failure: a text, or a number whose values have names.
    #[serde(default)]
    pub reason: Option<String>,
    /// Fields of the result.
    #[serde(default)]
    pub result: Settings,
}

/// Messages that end a goal; a single one is written without a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Endings(pub Vec<Ending>);

impl<'de> Deserialize<'de> for Endings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const EXPECTED: &str = "a mapping with from, or a list of these";
        match written::<D, Ending, Vec<Ending>>(deserializer, false, EXPECTED)? {
            Written::Mapping(one) => Ok(Self(vec![one])),
            Written::List(all) => Ok(Self(all)),
            Written::Number(_) | Written::Text(_) => Err(D::Error::custom(format!("expected {EXPECTED}"))),
        }
    }
}
