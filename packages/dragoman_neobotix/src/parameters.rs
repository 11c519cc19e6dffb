//! The platform's parameters (PlatformCtrl guide, 5.9): the table, the values, and their representations.
//!
//! - [`declarations`]: the table. The wire format, the declarations of ROS parameters, and the content of `.ini` files follow
//!   from it;
//! - [`Parameters`]: a value for each parameter;
//! - [`IniFile`]: a parameter file.
//!
//! # Choices where the guide is silent
//!
//! | topic | choice |
//! | --- | --- |
//! | ranges | ours; the guide has none, but its replies have them |
//! | values "-" | a platform of 0.9 m by 0.6 m |
//! | "Planning Enabled" | `PlanningEnabled`; blanks in a key are ignored |
//! | four parameters of each ultrasonic sensor, without keys | `UltraSonic1X`, `UltraSonic1Y`, `UltraSonic1Z`, `UltraSonic1Angle` and so on up to 16 |
//! | unit of LineExtractMaxCov | mm² |
//! | `.ini` files: names only (section 4.4) | `[section]`, `key = value`, comments after `#`, `;` or `//`. A key is valid in any section |

mod ini;
mod table;

use std::fmt;

use dragoman_text::{excerpt, number};

pub use ini::{IniEntry, IniError, IniFile, MAX_INI_LEN};
pub use table::{declaration, declarations};

use crate::codes::{ParameterCategory, ParameterType};

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i32),
    /// A finite number.
    Double(f64),
}

impl Value {
    /// Type of the value.
    pub fn kind(self) -> ParameterType {
        match self {
            Self::Boolean(_) => ParameterType::Boolean,
            Self::Integer(_) => ParameterType::Integer,
            Self::Double(_) => ParameterType::Double,
        }
    }

    /// Parses a value of this type. `true` and `1`, `false` and `0` are equivalent. `None`: invalid.
    pub fn parse(kind: ParameterType, text: &str) -> Option<Self> {
        let text = text.trim();
        match kind {
            ParameterType::Boolean if text == "1" || text.eq_ignore_ascii_case("true") => {
                Some(Self::Boolean(true))
            }
            ParameterType::Boolean if text == "0" || text.eq_ignore_ascii_case("false") => {
                Some(Self::Boolean(false))
            }
            ParameterType::Boolean => None,
            ParameterType::Integer => text.parse().ok().map(Self::Integer),
            ParameterType::Double => {
                text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Double)
            }
        }
    }

    /// As a number; `true` is 1, `false` is 0.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Boolean(value) => f64::from(u8::from(value)),
            Self::Integer(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// `None` for a number.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(value),
            Self::Integer(_) | Self::Double(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Double(value) => write!(f, "{value}"),
        }
    }
}

/// Declaration of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Declaration {
    pub key: &'static str,
    pub category: ParameterCategory,
    /// Its default value, which also determines its type.
    pub default: Value,
    pub minimum: i32,
    pub maximum: i32,
    /// Unit of the value; empty if it has none.
    pub unit: &'static str,
    /// Short description.
    pub description: &'static str,
    /// Why the platform keeps the value without using it; `None` if it uses it.
    pub without_effect: Option<&'static str>,
}

/// Error setting a parameter.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ParameterError {
    /// Unknown parameter.
    #[error("there is no parameter '{}'", excerpt(.key))]
    Unknown { key: String },
    /// The value has another type.
    #[error("{key} = '{}': {kind} is needed", excerpt(.text))]
    Kind {
        key: &'static str,
        /// The required type.
        kind: ParameterType,
        /// The given value.
        text: String,
    },
    /// The value is out of range.
    #[error(
        "{key} = {}: it has to be from {minimum} to {maximum}{}{unit}",
        number(*.value), if .unit.is_empty() { "" } else { " " }
    )]
    Range {
        key: &'static str,
        /// The given value.
        value: f64,
        minimum: i32,
        maximum: i32,
        /// Their unit.
        unit: &'static str,
    },
}

impl Declaration {
    /// Type of its value.
    pub fn kind(&self) -> ParameterType {
        self.default.kind()
    }

    /// Parses a value.
    ///
    /// # Errors
    /// Not of its type, or out of range.
    pub fn parse(&self, text: &str) -> Result<Value, ParameterError> {
        let (key, kind) = (self.key, self.kind());
        let value = Value::parse(kind, text).ok_or_else(|| ParameterError::Kind {
            key,
            kind,
            text: text.to_owned(),
        })?;
        self.check(value)?;
        Ok(value)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Not of its type, or out of range.
    pub fn check(&self, value: Value) -> Result<(), ParameterError> {
        let &Self { key, minimum, maximum, unit, .. } = self;
        if value.kind() != self.kind() {
            return Err(ParameterError::Kind { key, kind: self.kind(), text: value.to_string() });
        }
        let value = value.as_f64();
        if (f64::from(minimum)..=f64::from(maximum)).contains(&value) {
            Ok(())
        } else {
            Err(ParameterError::Range { key, value, minimum, maximum, unit })
        }
    }
}

/// A value for each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    values: Vec<Value>,
}

/// All parameters with their defaults.
impl Default for Parameters {
    fn default() -> Self {
        Self { values: declarations().iter().map(|one| one.default).collect() }
    }
}

impl Parameters {
    /// All parameters, in the order of the table.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Declaration, Value)> {
        declarations().iter().zip(self.values.iter().copied())
    }

    /// A value. `None`: unknown parameter.
    pub fn value(&self, key: &str) -> Option<Value> {
        let declaration = declaration(key)?;
        self.iter().find_map(|(one, value)| (one.key == declaration.key).then_some(value))
    }

    /// The value of a flag of the table.
    pub fn flag(&self, key: &str) -> bool {
        let value = self.value(key).and_then(Value::as_bool);
        debug_assert!(value.is_some(), "'{key}' is not a flag of the table");
        value.unwrap_or_default()
    }

    /// Parses and sets a value, and returns it.
    ///
    /// # Errors
    /// Unknown parameter, or invalid value. Nothing has changed then.
    pub fn set(&mut self, key: &str, text: &str) -> Result<Value, ParameterError> {
        let unknown = || ParameterError::Unknown { key: key.to_owned() };
        let value = declaration(key).ok_or_else(unknown)?.parse(text)?;
        self.set_value(key, value)?;
        Ok(value)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// Unknown parameter, or invalid value. Nothing has changed then.
    pub fn set_value(&mut self, key: &str, value: Value) -> Result<(), ParameterError> {
        let unknown = || ParameterError::Unknown { key: key.to_owned() };
        let declaration = declaration(key).ok_or_else(unknown)?;
        declaration.check(value)?;
        let places = declarations().iter().zip(&mut self.values);
        places.filter(|(one, _)| one.key == declaration.key).for_each(|(_, place)| *place = value);
        Ok(())
    }

    /// Reads the values of a file, without those of unknown keys ([`IniFile::unknown`]).
    ///
    /// # Errors
    /// A parameter occurs twice, or has an invalid value. Nothing has changed then.
    pub fn read_ini(&mut self, file: &IniFile) -> Result<(), IniError> {
        let mut new = self.clone();
        let mut seen = std::collections::BTreeMap::new();
        for &IniEntry { line, ref key, ref value, .. } in file.entries() {
            let Some(declaration) = declaration(key) else { continue };
            if let Some(first) = seen.insert(declaration.key, line) {
                return Err(IniError::Duplicate { line, key: declaration.key.to_owned(), first });
            }
            new.set(key, value).map_err(|error| IniError::Value { line, error })?;
        }
        *self = new;
        Ok(())
    }
}
