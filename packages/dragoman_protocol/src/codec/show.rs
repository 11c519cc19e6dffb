//! Messages for people.

use std::fmt;

use super::{Codec, Item, MessageId, Role, Step, StepKind, Values, level};
use crate::expression::Number;

/// A message with its values, for people: `dim: level 30 cd, name "left"`.
pub struct Show<'a> {
    codec: &'a Codec,
    message: MessageId,
    values: &'a Values,
}

impl Codec {
    /// Shows a message that was decoded.
    pub fn show<'a>(&'a self, message: MessageId, values: &'a Values) -> Show<'a> {
        Show { codec: self, message, values }
    }
}

impl fmt::Display for Show<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(message) = self.codec.protocol.messages.get(self.message.number) else { return Ok(()) };
        f.write_str(&message.name)?;
        if self.message.is_answer {
            f.write_str(", answered")?;
        }
        let steps = self.codec.program(self.message).unwrap_or_default();
        let mut items = Items { values: self.values, at: 0, is_first: true };
        let [head, tail] = self.codec.around(self.message);
        for steps in [head, steps, tail] {
            items.fields(f, steps, "")?;
        }
        Ok(())
    }
}

struct Items<'a> {
    values: &'a Values,
    at: usize,
    is_first: bool,
}

impl Items<'_> {
    fn fields(&mut self, f: &mut fmt::Formatter<'_>, steps: &[Step], path: &str) -> fmt::Result {
        for (step, fields) in level(steps) {
            if !step.has_item() {
                continue;
            }
            let path = if path.is_empty() { step.name.clone() } else { format!("{path}.{}", step.name) };
            let item = self.values.items.get(self.at).copied();
            // A structure that is there has no item of its own: it is its first field that is missing.
            let is_there =
                matches!(step.kind, StepKind::Structure(_)) && step.count.is_none() && !step.may_be_missing();
            if item == Some(Item::Missing) && !is_there {
                self.at += 1;
                continue;
            }
            match (&step.kind, item, step.count) {
                (StepKind::Structure(_), _, None) => self.fields(f, fields, &path)?,
                (StepKind::Structure(_), Some(Item::List(count)), _) => {
                    self.at += 1;
                    for number in 0..count {
                        self.fields(f, fields, &format!("{path}[{number}]"))?;
                    }
                }
                (_, Some(Item::List(count)), _) => {
                    self.at += 1;
                    self.begin(f, &path)?;
                    f.write_str("[")?;
                    for number in 0..count {
                        f.write_str(if number == 0 { "" } else { ", " })?;
                        self.value(f, step)?;
                    }
                    f.write_str("]")?;
                    unit(f, step)?;
                }
                _ => {
                    self.begin(f, &path)?;
                    self.value(f, step)?;
                    unit(f, step)?;
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self, f: &mut fmt::Formatter<'_>, path: &str) -> fmt::Result {
        f.write_str(if self.is_first { ": " } else { ", " })?;
        self.is_first = false;
        write!(f, "{path} ")
    }

    fn value(&mut self, f: &mut fmt::Formatter<'_>, step: &Step) -> fmt::Result {
        let item = self.values.items.get(self.at).copied();
        self.at += 1;
        match (item, &step.kind) {
            (Some(Item::Number(number)), StepKind::Number(form)) => {
                match (number.whole().and_then(|whole| form.codes.get(&whole)), form.scale) {
                    (Some(name), _) => write!(f, "{name} ({number})"),
                    (None, Some(scale)) => write!(f, "{}", rounded(number.real(), scale)),
                    (None, None) if matches!(form.role, Role::Computed(_)) => match number {
                        Number::Real(real) => write!(f, "{}", significant(real)),
                        Number::Whole(whole) => write!(f, "{whole}"),
                    },
                    (None, None) => write!(f, "{number}"),
                }
            }
            (Some(item @ Item::Bytes { .. }), StepKind::Bytes { text: Some(_), .. }) => {
                write!(f, "{:?}", String::from_utf8_lossy(self.values.bytes(item)))
            }
            (Some(item), _) => {
                for byte in self.values.bytes(item) {
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
            (None, _) => f.write_str("?"),
        }
    }
}

/// To the decimal places that scale and offset have.
pub(crate) fn rounded(value: f64, scale: [f64; 2]) -> f64 {
    let places = scale.map(|one| one.to_string().split_once('.').map_or(0, |(_, places)| places.len()));
    let text = format!("{value:.*}", places.into_iter().max().unwrap_or(0));
    // Without trailing zeros, and without a negative zero.
    text.parse().unwrap_or(value) + 0.0
}

/// To twelve digits: the last ones of what was computed are noise.
fn significant(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

fn unit(f: &mut fmt::Formatter<'_>, step: &Step) -> fmt::Result {
    if step.unit.is_empty() { Ok(()) } else { write!(f, " {}", step.unit) }
}
