//! Numbers with names, for expressions.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A number with a name; a parameter of the node in ROS.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Constant {
    /// Its value, which a parameter of the node may replace.
    pub value: f64,
    /// Its unit.
    pub unit: Option<String>,
    /// What it is, in a few words.
    pub meaning: Option<String>,
    /// The values that are possible.
    pub range: Option<[f64; 2]>,
}

/// A [`Constant`], written as a mapping.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "Constant")]
struct Described {
    value: f64,
    #[serde(default)]
    unit: Option<String>,
    #[serde(default)]
    meaning: Option<String>,
    #[serde(default)]
    range: Option<[f64; 2]>,
}

impl From<f64> for Constant {
    fn from(value: f64) -> Self {
        Self { value, ..Self::default() }
    }
}

struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Constant;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number, or a mapping with value")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Constant, E> {
        Ok(value.into())
    }

    #[allow(clippy::cast_precision_loss, reason = "a constant is a real number")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Constant, E> {
        Ok((value as f64).into())
    }

    #[allow(clippy::cast_precision_loss, reason = "a constant is a real number")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Constant, E> {
        Ok((value as f64).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Constant, A::Error> {
        let Described { value, unit, meaning, range } =
            Described::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Constant { value, unit, meaning, range })
    }
}

impl<'de> Deserialize<'de> for Constant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Form)
    }
}
