//! Numbers that are read and written in one go: those of a fixed size on which nothing depends, and which depend on nothing.
//! Most fields are such. What does not fit is left to the general way, which also has the errors.

use super::{Count, EmptyWord, Form, Item, NumberStep, Role, Step, StepKind};
use crate::expression::Number;
use crate::model::ByteOrder;

/// One number, or a list of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direct {
    form: Form,
    /// Bytes of a number.
    size: usize,
    order: ByteOrder,
    /// Value = number * scale + offset.
    scale: Option<[f64; 2]>,
    /// Elements of a list.
    pub(super) list: Option<usize>,
    /// All bytes.
    pub(super) len: usize,
}

impl Direct {
    pub(super) fn of(step: &Step) -> Option<Self> {
        let Step { when, condition, is_optional: false, empty: EmptyWord::Never, count, slot, place, .. } =
            step
        else {
            return None;
        };
        let StepKind::Number(NumberStep {
            form,
            size,
            order,
            digits,
            bits: None,
            scale,
            role: Role::Value,
            is_strict: false,
            ..
        }) = &step.kind
        else {
            return None;
        };
        let list = match count {
            None => None,
            Some(Count::Fixed(count)) => Some(*count),
            Some(_) => return None,
        };
        let is_alone = when.is_empty() && condition.is_none() && slot.is_none() && place.is_none();
        let is_plain = digits.width.is_none() && matches!(size, 1 | 2 | 4 | 8);
        let len = size.checked_mul(list.unwrap_or(1))?;
        (is_alone && is_plain).then_some(Self {
            form: *form,
            size: *size,
            order: *order,
            scale: *scale,
            list,
            len,
        })
    }

    /// Items of a message.
    pub(super) fn items(&self) -> usize {
        self.list.map_or(1, |count| 1 + count)
    }

    /// Appends the items of so many bytes.
    pub(super) fn read(&self, bytes: &[u8], items: &mut Vec<Item>) {
        if let Some(count) = self.list {
            items.push(Item::List(count));
        }
        let scale = self.scale;
        let item = move |number: Number| {
            Item::Number(match scale {
                None => number,
                Some([scale, offset]) => Number::Real(number.real() * scale + offset),
            })
        };
        macro_rules! read {
            ($type:ty, $number:expr) => {{
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                match self.order {
                    ByteOrder::Little => {
                        items
                            .extend(chunks.iter().map(|bytes| item($number(<$type>::from_le_bytes(*bytes)))));
                    }
                    ByteOrder::Big => {
                        items
                            .extend(chunks.iter().map(|bytes| item($number(<$type>::from_be_bytes(*bytes)))));
                    }
                }
            }};
        }
        let is_true = |raw: u8| Number::Whole((raw != 0).into());
        match (self.form, self.size) {
            (Form::Float, 4) => read!(f32, |real: f32| Number::Real(real.into())),
            (Form::Float, _) => read!(f64, Number::Real),
            (Form::Bool, _) => read!(u8, is_true),
            (Form::Unsigned, 1) => read!(u8, |whole: u8| Number::Whole(whole.into())),
            (Form::Unsigned, 2) => read!(u16, |whole: u16| Number::Whole(whole.into())),
            (Form::Unsigned, 4) => read!(u32, |whole: u32| Number::Whole(whole.into())),
            (Form::Unsigned, _) => read!(u64, |whole: u64| Number::Whole(whole.into())),
            (Form::Signed, 1) => read!(i8, |whole: i8| Number::Whole(whole.into())),
            (Form::Signed, 2) => read!(i16, |whole: i16| Number::Whole(whole.into())),
            (Form::Signed, 4) => read!(i32, |whole: i32| Number::Whole(whole.into())),
            (Form::Signed, _) => read!(i64, |whole: i64| Number::Whole(whole.into())),
        }
    }

    /// Appends the bytes of the items at the beginning of `items`. `None`: they are not such numbers; `out` is as before.
    pub(super) fn write(&self, items: &[Item], out: &mut Vec<u8>) -> Option<()> {
        if self.scale.is_some() {
            return None;
        }
        let numbers = match (self.list, items.split_first()?) {
            (None, _) => items.get(..1)?,
            (Some(count), (Item::List(found), rest)) if *found == count => rest.get(..count)?,
            _ => return None,
        };
        macro_rules! write {
            ($convert:expr) => {
                numbers.iter().try_for_each(|item| {
                    let Item::Number(number) = item else { return None };
                    let value = $convert(*number)?;
                    match self.order {
                        ByteOrder::Little => out.extend_from_slice(&value.to_le_bytes()),
                        ByteOrder::Big => out.extend_from_slice(&value.to_be_bytes()),
                    }
                    Some(())
                })
            };
        }
        macro_rules! whole {
            ($type:ty) => {
                |number: Number| match number {
                    Number::Whole(whole) => <$type>::try_from(whole).ok(),
                    Number::Real(_) => None,
                }
            };
        }
        let begin = out.len();
        let written = match (self.form, self.size) {
            (Form::Float, 4) => write!(single),
            (Form::Float, _) => write!(|number: Number| Some(number.real())),
            (Form::Unsigned, 1) => write!(whole!(u8)),
            (Form::Unsigned, 2) => write!(whole!(u16)),
            (Form::Unsigned, 4) => write!(whole!(u32)),
            (Form::Unsigned, _) => write!(whole!(u64)),
            (Form::Signed, 1) => write!(whole!(i8)),
            (Form::Signed, 2) => write!(whole!(i16)),
            (Form::Signed, 4) => write!(whole!(i32)),
            (Form::Signed, _) => write!(whole!(i64)),
            (Form::Bool, _) => None,
        };
        if written.is_none() {
            out.truncate(begin);
        }
        written
    }
}

/// The nearest number of 32 bits; `None`: it would be infinite.
#[allow(clippy::cast_possible_truncation, reason = "the nearest number, which is checked")]
fn single(number: Number) -> Option<f32> {
    let real = number.real();
    let single = real as f32;
    (single.is_finite() || !real.is_finite()).then_some(single)
}
