//! Values that a description computes: `left * 0.5`, `'base_link'`, `ranges`.
//!
//! A [`Term`] is made of a [`Setting`], of [`Constants`] and of [`Names`], which say what its names are: fields of a message of the machine,
//! of a message of ROS, velocities. It is computed with the [`Lookup`] of the same names.

use std::cell::RefCell;

use dragoman_protocol::codec::{Codec, Item, Leaf, MessageId, Path, Values};
use dragoman_protocol::expression::{Expression, NoValue, Number};
use dragoman_protocol::model::bridge::Setting;

pub use super::constants::Constants;

/// A value that is computed for each message.
#[derive(Debug, Clone, PartialEq)]
pub struct Term(TermKind);

#[derive(Debug, Clone, PartialEq)]
enum TermKind {
    Text(String),
    /// A text or a list, taken as it is.
    Whole(usize),
    Constant(Number),
    /// Names from [`CONSTANTS`] on are those of the constants.
    Expression(Expression, Constants),
}

/// Where the numbers of constants begin.
const CONSTANTS: usize = 1 << 16;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A number.
    Number,
    /// A text, or bytes.
    Text,
    /// A list of numbers.
    List,
}

/// Says what names stand for.
pub trait Names {
    /// The number by which [`Lookup`] finds the value of a name, and its shape.
    ///
    /// # Errors
    /// There is no such name; the text says what may be meant.
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String>;

    /// The number that `name` has if its value is called `value`.
    ///
    /// # Errors
    /// Its values have no names, or not this one.
    fn code(&self, name: &str, _value: &str) -> Result<i64, String> {
        Err(format!("{name} has no names for its values"))
    }
}

/// Finds values of names.
pub trait Lookup {
    /// A number.
    fn number(&self, name: usize) -> Option<Number>;

    /// A text or a list; numbers as they are.
    fn whole(&self, name: usize) -> Computed {
        self.number(name).map_or(Computed::Missing, Computed::Number)
    }
}

/// The value of a term.
#[derive(Debug, Clone, PartialEq)]
pub enum Computed {
    /// A number.
    Number(Number),
    /// A text, or bytes.
    Text(Vec<u8>),
    /// A list of numbers.
    List(Vec<Number>),
    /// The field is not in this message.
    Missing,
}

impl Term {
    /// Reads a setting.
    ///
    /// # Errors
    /// It is not an expression, or has a name that does not exist.
    pub fn read(setting: &Setting, constants: &Constants, names: &mut dyn Names) -> Result<Self, String> {
        let constant = |number| Ok(Self(TermKind::Constant(number)));
        let text = match setting {
            Setting::Bool(value) => return constant(Number::Whole((*value).into())),
            Setting::Whole(value) => return constant(Number::Whole((*value).into())),
            Setting::Real(value) if value.is_finite() => return constant(Number::Real(*value)),
            Setting::Real(value) => return Err(format!("{value} is not finite")),
            Setting::Text(text) => text.trim(),
        };
        if let Some(text) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            return Ok(Self(TermKind::Text(text.to_owned())));
        }
        if let Ok((number, Shape::Text | Shape::List)) = names.find(text) {
            return Ok(Self(TermKind::Whole(number)));
        }
        let names = RefCell::new((names, None));
        let field = |name: &str| {
            let mut borrowed = names.borrow_mut();
            let (names, reason) = &mut *borrowed;
            if let Some(constant) = constants.find(name) {
                return Some(CONSTANTS + constant);
            }
            match names.find(name) {
                Ok((number, Shape::Number)) => Some(number),
                Ok(_) => {
                    reason.get_or_insert(format!("{name} is not a number: it can only stand alone"));
                    None
                }
                Err(error) => {
                    reason.get_or_insert(error);
                    None
                }
            }
        };
        let code = |name: &str, value: &str| names.borrow().0.code(name, value);
        let read = Expression::read_with_codes(text, &field, &code);
        let (_, reason) = names.into_inner();
        match read {
            Ok(expression) => Ok(Self(TermKind::Expression(expression, constants.clone()))),
            Err(error) => Err(reason.unwrap_or_else(|| {
                let quote = if text.contains('\'') { '"' } else { '\'' };
                format!("{quote}{text}{quote}: {error}")
            })),
        }
    }

    /// Computes it.
    ///
    /// # Errors
    /// The arithmetic has no value.
    pub fn compute(&self, lookup: &dyn Lookup) -> Result<Computed, NoValue> {
        match &self.0 {
            TermKind::Text(text) => Ok(Computed::Text(text.clone().into_bytes())),
            TermKind::Whole(name) => Ok(lookup.whole(*name)),
            TermKind::Constant(number) => Ok(Computed::Number(*number)),
            TermKind::Expression(expression, constants) => {
                let value = |name: usize| match name.checked_sub(CONSTANTS) {
                    Some(constant) => constants.value(constant).map(Number::Real),
                    None => lookup.number(name),
                };
                match expression.compute(value) {
                    Ok(number) => Ok(Computed::Number(number)),
                    Err(NoValue::Missing) => Ok(Computed::Missing),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Its number; `None` if the field is missing.
    ///
    /// # Errors
    /// As [`compute`](Self::compute).
    pub fn number(&self, lookup: &dyn Lookup) -> Result<Option<f64>, NoValue> {
        Ok(match self.compute(lookup)? {
            Computed::Number(number) => Some(number.real()),
            _ => None,
        })
    }

    /// Whether it is a number other than 0. What is missing or has no value is not true.
    pub fn is_true(&self, lookup: &dyn Lookup) -> bool {
        matches!(self.compute(lookup), Ok(Computed::Number(number)) if number.real() != 0.0)
    }

    /// Whether it is a text whatever is looked up.
    pub fn is_text(&self) -> bool {
        matches!(self.0, TermKind::Text(_))
    }
}

/// The fields of a message of the machine.
pub struct MessageNames<'a> {
    codec: &'a Codec,
    message: MessageId,
    paths: &'a mut Vec<Path>,
}

impl<'a> MessageNames<'a> {
    /// Names of fields of `message`; those that are used are appended to `paths`.
    pub fn new(codec: &'a Codec, message: MessageId, paths: &'a mut Vec<Path>) -> Self {
        Self { codec, message, paths }
    }

    /// Whether the message has this field.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.codec.path(self.message, name).is_ok()
    }
}

impl Names for MessageNames<'_> {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        let path = self.codec.path(self.message, name).map_err(|reason| {
            match self.codec.field_with_code(self.message, name) {
                Some(field) => {
                    format!("there is no field {name}; the name of a value is in quotes: {field} == '{name}'")
                }
                None => reason,
            }
        })?;
        let shape = match path.leaf {
            Leaf::Number if path.is_list => Shape::List,
            Leaf::Number => Shape::Number,
            Leaf::Text | Leaf::Bytes => Shape::Text,
        };
        let number = self.paths.iter().position(|known| *known == path).unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        });
        Ok((number, shape))
    }

    fn code(&self, name: &str, value: &str) -> Result<i64, String> {
        self.codec.code(self.message, name, value)
    }
}

/// The values of a message of the machine.
pub struct Message<'a> {
    /// Who knows where its fields are.
    pub codec: &'a Codec,
    /// Which message it is.
    pub message: MessageId,
    /// Its values.
    pub values: &'a Values,
    /// The fields by their numbers, of [`MessageNames`].
    pub paths: &'a [Path],
}

impl Lookup for Message<'_> {
    fn number(&self, name: usize) -> Option<Number> {
        self.codec.number_at(self.message, self.values, self.paths.get(name)?)
    }

    fn whole(&self, name: usize) -> Computed {
        let Some(path) = self.paths.get(name) else { return Computed::Missing };
        let mut found = if path.is_list { Computed::List(Vec::new()) } else { Computed::Missing };
        self.codec.find(self.message, self.values, path, &mut |item| match (item, &mut found) {
            (Item::Number(number), Computed::List(list)) => list.push(number),
            (Item::Number(number), found) => *found = Computed::Number(number),
            (item @ Item::Bytes { .. }, found) => *found = Computed::Text(self.values.bytes(item).to_vec()),
            _ => {}
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Names for Two {
        fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
            match name {
                "a" => Ok((0, Shape::Number)),
                "text" => Ok((1, Shape::Text)),
                _ => Err(format!("there is no {name}")),
            }
        }

        fn code(&self, name: &str, value: &str) -> Result<i64, String> {
            if value == "six" { Ok(6) } else { Err(format!("no value of {name} is called '{value}'")) }
        }
    }

    impl Lookup for Two {
        fn number(&self, name: usize) -> Option<Number> {
            (name == 0).then_some(Number::Whole(6))
        }

        fn whole(&self, _name: usize) -> Computed {
            Computed::Text(b"whole".to_vec())
        }
    }

    #[test]
    fn terms_are_numbers_texts_and_expressions() {
        let constants = Constants::from_iter([("half", 0.5)]);
        let value = |setting: Setting| {
            Term::read(&setting, &constants, &mut Two).map(|term| term.compute(&Two).unwrap())
        };
        let text = |text: &str| Setting::Text(text.to_owned());
        for (setting, expected) in [
            (Setting::Bool(true), Computed::Number(Number::Whole(1))),
            (Setting::Whole(-3), Computed::Number(Number::Whole(-3))),
            (Setting::Real(1e-9), Computed::Number(Number::Real(1e-9))),
            (text("a / 4"), Computed::Number(Number::Whole(1))),
            (text("a * half"), Computed::Number(Number::Real(3.0))),
            (text("'a * half'"), Computed::Text(b"a * half".to_vec())),
            (text("text"), Computed::Text(b"whole".to_vec())),
            (text("a == 'six'"), Computed::Number(Number::Whole(1))),
        ] {
            assert_eq!(value(setting.clone()), Ok(expected), "{setting:?}");
        }
        for (setting, expected) in [
            (text("a *"), "'a *': column 4: expected a number or a field"),
            (text("b + 1"), "there is no b"),
            (text("a == 'seven'"), "\"a == 'seven'\": column 6: no value of a is called 'seven'"),
            (text("text + 1"), "text is not a number: it can only stand alone"),
            (Setting::Real(f64::NAN), "NaN is not finite"),
        ] {
            assert_eq!(value(setting.clone()), Err(expected.to_owned()), "{setting:?}");
        }
    }
}
