//! The declaration of one parameter: its checks, and its descriptor for other nodes.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::{Field, type_code};
use crate::ParameterValue;
use crate::rcl_interfaces::msg::{FloatingPointRange, IntegerRange, ParameterDescriptor};

/// Allowed values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Range {
    /// Every value of the default's type.
    Any,
    /// A floating-point number, or an array of them, within inclusive bounds.
    Double {
        /// Minimum value.
        from: f64,
        /// Maximum value.
        to: f64,
    },
    /// An integer, or an array of them, within inclusive bounds.
    Integer {
        /// Minimum value.
        from: i64,
        /// Maximum value.
        to: i64,
    },
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

impl From<RangeInclusive<f64>> for Range {
    fn from(range: RangeInclusive<f64>) -> Self {
        Self::Double { from: *range.start(), to: *range.end() }
    }
}

impl From<&'static [&'static str]> for Range {
    fn from(texts: &'static [&'static str]) -> Self {
        Self::OneOf(texts)
    }
}

/// The declaration of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Name, with dots between levels.
    pub name: Cow<'static, str>,
    /// Default value, which also determines the type.
    pub default: ParameterValue,
    /// Allowed values.
    pub range: Range,
    /// Fixed once the node runs.
    pub read_only: bool,
    /// Description, with the unit.
    pub description: Cow<'static, str>,
}

impl Declaration {
    /// A parameter that is fixed once the node runs, and accepts every value of its type.
    pub fn new<T: Field>(
        name: impl Into<Cow<'static, str>>,
        default: &T,
        description: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            name: name.into(),
            default: default.to_value(),
            range: T::ANY,
            read_only: true,
            description: description.into(),
        }
    }

    /// With bounds.
    #[must_use]
    pub fn within<R: Into<Range>>(self, range: R) -> Self {
        Self { range: range.into(), ..self }
    }

    /// May change while the node runs.
    #[must_use]
    pub fn settable(self) -> Self {
        Self { read_only: false, ..self }
    }

    pub(super) fn check(&self, value: &ParameterValue) -> Result<(), String> {
        let name = &self.name;
        if value.type_name() != self.default.type_name() {
            let (is, given) = (self.default.type_name(), value.type_name());
            return Err(format!("parameter '{name}' is of type {is}; a value of type {given} was given"));
        }
        let doubles = match value {
            ParameterValue::Double(value) => vec![*value],
            ParameterValue::DoubleArray(values) => values.clone(),
            _ => Vec::new(),
        };
        if let Some(bad) = doubles.iter().find(|value| !value.is_finite()) {
            return Err(format!("parameter '{name}' must be finite; {bad} was given"));
        }
        let integers = match value {
            ParameterValue::Integer(value) => vec![*value],
            ParameterValue::IntegerArray(values) => values.clone(),
            _ => Vec::new(),
        };
        match &self.range {
            Range::Double { from, to } => {
                match doubles.iter().find(|value| !(*from..=*to).contains(*value)) {
                    Some(bad) => {
                        Err(format!("parameter '{name}' must lie between {from} and {to}; {bad} was given"))
                    }
                    None => Ok(()),
                }
            }
            Range::Integer { from, to } => {
                match integers.iter().find(|value| !(*from..=*to).contains(*value)) {
                    Some(bad) => {
                        Err(format!("parameter '{name}' must lie between {from} and {to}; {bad} was given"))
                    }
                    None => Ok(()),
                }
            }
            Range::OneOf(texts) => match value {
                ParameterValue::String(text) if !texts.contains(&text.as_str()) => {
                    Err(format!("parameter '{name}' must be one of {}; '{text}' was given", texts.join(", ")))
                }
                _ => Ok(()),
            },
            Range::Any => Ok(()),
        }
    }

    pub(super) fn descriptor(&self) -> ParameterDescriptor {
        let mut descriptor = ParameterDescriptor {
            name: self.name.clone().into_owned(),
            type_: type_code(&self.default),
            description: self.description.clone().into_owned(),
            read_only: self.read_only,
            ..Default::default()
        };
        match self.range {
            Range::Double { from, to } => {
                descriptor.floating_point_range =
                    vec![FloatingPointRange { from_value: from, to_value: to, step: 0.0 }];
            }
            Range::Integer { from, to } => {
                descriptor.integer_range = vec![IntegerRange { from_value: from, to_value: to, step: 1 }];
            }
            Range::OneOf(texts) => descriptor.additional_constraints = format!("one of {}", texts.join(", ")),
            Range::Any => {}
        }
        descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_checked_against_their_declaration() {
        let rate = Declaration::new("rate", &100.0, "Hz").within(1.0..=1000.0);
        assert!(rate.check(&ParameterValue::Double(1000.0)).is_ok());
        for bad in [
            ParameterValue::Double(0.5),
            ParameterValue::Double(f64::NAN),
            ParameterValue::Integer(5),
            ParameterValue::NotSet,
        ] {
            assert!(rate.check(&bad).unwrap_err().contains("rate"), "{bad:?}");
        }
        let mode = Declaration::new("mode", &"sim".to_owned(), "").within(Range::OneOf(&["sim", "real"]));
        assert!(mode.check(&ParameterValue::String("both".into())).is_err());
        assert!(mode.check(&ParameterValue::String("real".into())).is_ok());
    }
}
