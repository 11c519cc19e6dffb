//! Steps of numbers.

use std::collections::BTreeMap;

use super::{Compiler, Context, form};
use crate::checksum::Checksum;
use crate::codec::{Bits, Digits, Form, NumberStep, Role, Sum};
use crate::kind::{self, Base};
use crate::model::{Field, FieldRole};

impl Compiler<'_> {
    pub(super) fn number(
        &self,
        field: &Field,
        siblings: &[Field],
        base: &Base,
        context: Context<'_>,
    ) -> Result<NumberStep, String> {
        // A computed field has no bytes between those of its neighbours.
        let before = siblings.iter().take_while(|one| one.name != field.name);
        let before: Vec<&Field> = before.filter(|one| !one.is_computed()).collect();
        let width = match field.kind().count {
            Some(kind::Count::Fixed(width)) if field.is_text_number() => Some(width),
            _ => None,
        };
        let (form, size) = match (width, field.base) {
            (None, _) => form(base)?,
            (Some(_), _) if field.decimals.is_some() => (Form::Float, 8),
            (Some(_), Some(10)) => (Form::Signed, 8),
            (Some(_), _) => (Form::Unsigned, 8),
        };
        let is_words = self.is_words(context);
        let role = match (field.is, &field.value) {
            (Some(FieldRole::Code), _) => Role::Code,
            (Some(FieldRole::Checksum), _) if is_words && width.is_none() => {
                return Err(
                    "a check sum between separators needs a fixed size, such as type: \"text[2]\", base: 16"
                        .to_owned(),
                );
            }
            (Some(FieldRole::Checksum), _) => Role::Checksum(self.sum(field, size, siblings, context)?),
            (Some(FieldRole::Computed), _) => Role::Computed(self.expression_of(field, context)?),
            (_, Some(_)) if field.expression().is_some() => {
                Role::Expression(self.expression_of(field, context)?)
            }
            (_, Some(value)) => {
                Role::Constant(whole(value).ok_or_else(|| format!("{value} is not a whole number"))?)
            }
            _ => Role::Value,
        };
        let codes = match &field.codes {
            None => BTreeMap::new(),
            Some(name) => {
                let names = self.protocol.types.iter().find(|one| one.name == *name);
                let names = names.ok_or_else(|| format!("there is no type {name}"))?;
                names.codes.iter().map(|(name, value)| (value.code(), name.clone())).collect()
            }
        };
        let scale = (field.scale.is_some() || field.offset.is_some())
            .then(|| [field.scale.unwrap_or(1.0), field.offset.unwrap_or(0.0)]);
        if scale.is_some_and(|[scale, offset]| !scale.is_finite() || scale == 0.0 || !offset.is_finite()) {
            return Err("scale must be finite and not 0, offset finite".to_owned());
        }
        let digits = Digits {
            base: field.base.unwrap_or(10).into(),
            width: width.filter(|_| !is_words),
            least: field.digits.or(width).unwrap_or(0),
            decimals: field.decimals,
        };
        Ok(NumberStep {
            form,
            size,
            order: field.order.unwrap_or(self.protocol.order),
            digits,
            bits: field.bits.map(|bits| bits_of(bits, size, field, &before)).transpose()?,
            scale,
            role,
            codes,
            is_strict: field.strict,
        })
    }

    fn expression_of(
        &self,
        field: &Field,
        context: Context<'_>,
    ) -> Result<crate::expression::Expression, String> {
        let text = field.expression().unwrap_or_default();
        self.expression(text, context).map_err(|reason| format!("value: {reason}"))
    }

    fn sum(
        &self,
        field: &Field,
        size: usize,
        siblings: &[Field],
        context: Context<'_>,
    ) -> Result<Sum, String> {
        let over = field.over.as_ref();
        let name = |one: Option<&String>| one.map(|name| self.place_of(name, context)).transpose();
        let to = over.and_then(|over| over.to.as_ref());
        let frame = &self.protocol.frame.fields;
        let siblings = if context.is_frame { frame } else { siblings }.iter();
        let position = |name: &str| frame.iter().position(|one| one.name == name);
        let body = frame.iter().position(|one| one.is == Some(FieldRole::Body));
        Ok(Sum {
            checksum: checksum(field.algorithm.as_deref())?,
            mask: mask(field, size),
            from: name(over.and_then(|over| over.from.as_ref()))?,
            to: name(to)?,
            is_later: siblings.skip_while(|one| one.name != field.name).any(|one| Some(&one.name) == to),
            is_of_tail: context.is_frame && to.and_then(|to| position(to)) > body,
        })
    }

    /// A field of the message, or of the frame.
    fn place_of(&self, name: &str, context: Context<'_>) -> Result<usize, String> {
        let here = self.place(context.is_frame, name).or_else(|| self.place(true, name));
        here.ok_or_else(|| format!("over: there is no field {name}"))
    }
}

/// The bits of a check sum that its field has.
fn mask(field: &Field, size: usize) -> u64 {
    let digits = match field.kind().count {
        Some(kind::Count::Fixed(digits)) if field.is_text_number() => digits,
        _ => return crate::codec::decode::mask(size),
    };
    let bits = match field.base {
        Some(16) => 4 * digits,
        Some(8) => 3 * digits,
        Some(2) => digits,
        // As many whole bytes as have a place in so many decimal digits.
        _ => match digits {
            0..=4 => 8,
            5..=9 => 16,
            10..=19 => 32,
            _ => 64,
        },
    };
    crate::codec::decode::mask_of_bits(u32::try_from(bits).unwrap_or(64))
}

fn checksum(name: Option<&str>) -> Result<Checksum, String> {
    let name = name.unwrap_or_default();
    Checksum::named(name).ok_or_else(|| Checksum::unknown(name))
}

/// The bits of a number; those of two neighbours are in the same one if they come in order.
fn bits_of([lowest, count]: [u8; 2], size: usize, field: &Field, before: &[&Field]) -> Result<Bits, String> {
    let (lowest, count) = (u32::from(lowest), u32::from(count));
    if count == 0 || (lowest + count) as usize > size * 8 {
        return Err(format!(
            "bits {lowest} to {} are not in {} bits",
            (lowest + count).saturating_sub(1),
            8 * size
        ));
    }
    Ok(Bits { lowest, count, is_shared: is_shared(field, before) })
}

/// Whether a field in front, which is there whenever this one is, has bits of the same number.
fn is_shared(field: &Field, before: &[&Field]) -> bool {
    let mut next = field;
    for one in before.iter().rev() {
        if !next.shares_with(one) {
            return false;
        }
        if one.when.is_empty() || one.when == field.when {
            return true;
        }
        next = one;
    }
    false
}

fn whole(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
