//! The platform's parameters (seed 002, section 5.9): which there are, their values, and the forms that values have.
//!
//! - [`declarations`]: the table. What goes over the wire, what a ROS parameter is declared as, and what an `.ini` file may
//!   hold, all follow from it;
//! - [`Parameters`]: a value for each;
//! - [`IniFile`]: a parameter file with its comments.
//!
//! # What the guide leaves open, and how it is read here
//!
//! | where | read as |
//! | --- | --- |
//! | ranges | ours; the guide has none, but its replies do |
//! | values "-" | a platform of 0.9 m by 0.6 m |
//! | "Planning Enabled" | `PlanningEnabled`; blanks in a key do not count |
//! | four parameters of each ultrasonic sensor, without keys | `UltraSonic1X`, `UltraSonic1Y`, `UltraSonic1Z`, `UltraSonic1Angle` and so on up to 16 |
//! | unit of LineExtractMaxCov | mm² |
//! | `.ini` files: names only (section 4.4) | `[section]`, `key = value`, comments after `#`, `;` or `//`. A key counts in whatever section it is |

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod ini;
mod table;

use std::fmt;

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
    /// A number, which is finite.
    Double(f64),
}

impl Value {
    /// What kind of value this is.
    pub fn kind(self) -> ParameterType {
        match self {
            Self::Boolean(_) => ParameterType::Boolean,
            Self::Integer(_) => ParameterType::Integer,
            Self::Double(_) => ParameterType::Double,
        }
    }

    /// A value of this kind. `true` and `1`, `false` and `0` are the same. `None`: the text is none.
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

    /// As a number; `true` is 1.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Boolean(value) => f64::from(u8::from(value)),
            Self::Integer(value) => value.into(),
            Self::Double(value) => value,
        }
    }

    /// `None`: it is a number.
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

/// What is known of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub key: &'static str,
    /// Where it belongs.
    pub category: ParameterCategory,
    /// Its value when nobody sets it; its kind is the parameter's.
    pub default: Value,
    /// The least value.
    pub minimum: i32,
    /// The greatest value.
    pub maximum: i32,
    /// Unit of the value; empty where it has none.
    pub unit: &'static str,
    /// What it does.
    pub description: &'static str,
}

/// A value that a parameter cannot have.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// There is no such parameter.
    #[error("there is no parameter '{key}'")]
    Unknown {
        /// The name.
        key: String,
    },
    /// The value is of another kind.
    #[error("{key} = '{text}': {kind} is needed")]
    Kind {
        /// The parameter.
        key: &'static str,
        /// What is needed.
        kind: ParameterType,
        /// What was given.
        text: String,
    },
    /// The value is out of range.
    #[error("{key} = {value}: it has to be from {minimum} to {maximum} {unit}")]
    Range {
        /// The parameter.
        key: &'static str,
        /// What was given.
        value: f64,
        /// The least value.
        minimum: i32,
        /// The greatest value.
        maximum: i32,
        /// Their unit.
        unit: &'static str,
    },
}

impl Declaration {
    /// What kind of value it has.
    pub fn kind(&self) -> ParameterType {
        self.default.kind()
    }

    /// The value that a text stands for.
    ///
    /// # Errors
    /// Not of its kind, or out of range.
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

    /// Whether it may have this value.
    ///
    /// # Errors
    /// Not of its kind, or out of range.
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

    /// Name of the file that it is in.
    pub fn file(&self) -> &'static str {
        match self.category {
            ParameterCategory::Interpolation => "Interpolation.ini",
            ParameterCategory::Localization => "Localization.ini",
            ParameterCategory::MotionControl => "MotionCtrl.ini",
            ParameterCategory::Ultrasonic => "UltraSonic.ini",
            _ => "Platform.ini",
        }
    }

    /// The section of the file that a file written by us has it in.
    pub fn section(&self) -> &'static str {
        crate::codes::Code::name(self.category)
    }
}

/// A value for each parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    values: Vec<Value>,
}

/// Everything as declared.
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

    /// A value. `None`: there is no such parameter.
    pub fn value(&self, key: &str) -> Option<Value> {
        let declaration = declaration(key)?;
        self.iter().find_map(|(one, value)| (one.key == declaration.key).then_some(value))
    }

    /// Sets a value that is written out, and says which it is.
    ///
    /// # Errors
    /// There is no such parameter, or it cannot have this value. Nothing has changed then.
    pub fn set(&mut self, key: &str, text: &str) -> Result<Value, ParameterError> {
        let unknown = || ParameterError::Unknown { key: key.to_owned() };
        let value = declaration(key).ok_or_else(unknown)?.parse(text)?;
        self.set_value(key, value)?;
        Ok(value)
    }

    /// Sets a value.
    ///
    /// # Errors
    /// There is no such parameter, or it cannot have this value. Nothing has changed then.
    pub fn set_value(&mut self, key: &str, value: Value) -> Result<(), ParameterError> {
        let unknown = || ParameterError::Unknown { key: key.to_owned() };
        let declaration = declaration(key).ok_or_else(unknown)?;
        declaration.check(value)?;
        let places = declarations().iter().zip(&mut self.values);
        places.filter(|(one, _)| one.key == declaration.key).for_each(|(_, place)| *place = value);
        Ok(())
    }

    /// Takes over the values that a file has; what is in no table is passed over.
    ///
    /// # Errors
    /// A parameter comes twice, or with a value that it cannot have. Nothing has changed then.
    pub fn read_ini(&mut self, file: &IniFile) -> Result<(), IniError> {
        let mut new = self.clone();
        let mut seen = std::collections::HashMap::new();
        for IniEntry { line, key, value, .. } in file.entries() {
            let Some(declaration) = declaration(key) else { continue };
            if let Some(first) = seen.insert(declaration.key, line) {
                return Err(IniError::Duplicate { line, key: declaration.key.to_owned(), first });
            }
            new.set(key, value).map_err(|error| IniError::Value { line, error })?;
        }
        *self = new;
        Ok(())
    }

    /// Writes the values of the parameters of the file of this name ([`Declaration::file`]) into it. What else is in it,
    /// comments too, stays; parameters that it does not have are appended to their sections.
    ///
    /// # Errors
    /// None, as long as keys and values of the table can be written.
    pub fn write_ini(&self, name: &str, file: &mut IniFile) -> Result<(), IniError> {
        for (declaration, value) in self.iter().filter(|(declaration, _)| declaration.file() == name) {
            let there = file.entries().find(|entry| table::is_key(declaration.key, entry.key));
            let there = there.map(|entry| (entry.section.to_owned(), entry.key.to_owned()));
            let (section, key) =
                there.unwrap_or_else(|| (declaration.section().to_owned(), declaration.key.to_owned()));
            file.set(&section, &key, &value.to_string())?;
        }
        Ok(())
    }
}
