//! Whether the keys of a field fit together.

use std::cell::RefCell;

use super::sense;
use crate::expression::Expression;
use crate::kind::{Base, Count};
use crate::model::{Field, FieldRole, Over, Protocol, ProtocolError, When};

/// Maximum number of digits in front of a decimal point, and behind it.
const MAX_DIGITS: [usize; 2] = [40, 17];

/// Where fields are, and which ones are in front of them.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) part: Part,
    /// The fields of the request, to which fields of an answer may refer.
    pub(super) asked: &'a [Field],
}

/// What has fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Frame,
    Message,
    Type,
}

impl Protocol {
    /// The keys of a field, which do not need its type.
    pub(super) fn check_keys(
        &self,
        place: &str,
        field: &Field,
        before: &[&Field],
        scope: Scope<'_>,
    ) -> Result<(), ProtocolError> {
        let wrong = |reason: String| Err(sense(place, reason));
        // Values between separators are words; the fields around a body have their sizes.
        let is_word = self.encoding.separator().is_some() && scope.part != Part::Frame;
        if let Some(reason) = contradiction(field, is_word) {
            return wrong(reason);
        }
        if let When::Expression(text) = &field.when
            && !text.starts_with('=')
        {
            return wrong(format!("when: an expression begins with =, such as \"={text}\""));
        }
        let head = self.frame.fields.iter().take_while(|field| field.is != Some(FieldRole::Body));
        let head: Vec<&Field> = head.filter(|_| scope.part != Part::Frame).collect();
        let known = || before.iter().chain(&head).copied();
        for (key, text) in [("when", field.when.expression()), ("value", field.expression())] {
            if let Some(text) = text {
                self.check_expression(text, known().collect())
                    .map_err(|reason| sense(place, format!("{key}: {reason}")))?;
            }
        }
        Ok(())
    }

    /// `known`: the fields in front.
    fn check_expression(&self, text: &str, known: Vec<&Field>) -> Result<(), String> {
        let reason = RefCell::new(None);
        let is_size = |field: &Field| {
            field.is == Some(FieldRole::Size) && self.frame.fields.iter().any(|one| std::ptr::eq(one, field))
        };
        let field = |name: &str| {
            let found = known.iter().find(|one| one.name == name);
            let why_not = match found {
                None => {
                    let names = known.iter().map(|one| one.name.as_str());
                    let named = known.iter().find(|one| self.code_of(Some(one), name).is_ok());
                    let hint = match named {
                        Some(field) => {
                            format!("; the name of a value is in quotes: {} == '{name}'", field.name)
                        }
                        None => dragoman_text::hint(name, names),
                    };
                    Some(format!("no field {name} comes before it{hint}"))
                }
                Some(field) if is_size(field) || field.is == Some(FieldRole::Checksum) => {
                    Some(format!("{name} is known only when the message is complete"))
                }
                Some(field) => not_a_number(field),
            };
            let is_known = why_not.is_none();
            *reason.borrow_mut() = why_not;
            is_known.then_some(0)
        };
        let code =
            |name: &str, value: &str| self.code_of(known.iter().find(|one| one.name == name).copied(), value);
        let read = Expression::read_with_codes(text, &field, &code);
        read.map(|_| ()).map_err(|error| {
            // The description has = in front.
            let reason = reason.into_inner().unwrap_or(error.reason);
            format!("column {}: {reason}", error.column + 1)
        })
    }

    /// The bytes of a check sum; `fields` are those of its part.
    pub(super) fn check_over(
        &self,
        place: &str,
        field: &Field,
        over: &Over,
        fields: &[Field],
        scope: Scope<'_>,
    ) -> Result<(), ProtocolError> {
        let wrong = |reason: String| Err(sense(place, format!("over: {reason}")));
        if field.is != Some(FieldRole::Checksum) {
            return wrong("only a check sum has it".to_owned());
        }
        if scope.part == Part::Type {
            return wrong("only for check sums of the frame and of messages, not of types".to_owned());
        }
        if over.from.is_none() && over.to.is_none() {
            return wrong("needs from or to, the names of fields".to_owned());
        }
        let head = self.frame.fields.iter().take_while(|field| field.is != Some(FieldRole::Body));
        let all: Vec<&Field> = head.filter(|_| scope.part != Part::Frame).chain(fields).collect();
        // Of two with the same name the one of the message.
        let position = |name: &str| all.iter().rposition(|one| one.name == name);
        let (mut from, at) = (0, position(&field.name).unwrap_or(0));
        let mut to = None;
        for (name, end) in [(&over.from, false), (&over.to, true)] {
            let Some(name) = name else { continue };
            let Some(number) = position(name) else {
                let names = all.iter().map(|one| one.name.as_str());
                return wrong(format!("there is no field {name}{}", dragoman_text::hint(name, names)));
            };
            if all.get(number).is_some_and(|one| one.optional || !one.when.is_empty() || one.is_computed()) {
                return wrong(format!("{name} may be missing, or has no bytes"));
            }
            if end { to = Some(number) } else { from = number }
        }
        match to {
            Some(to) if from > to => wrong("from comes after to".to_owned()),
            Some(to) if from <= at && at <= to => wrong("the check sum would cover itself".to_owned()),
            None if from >= at => wrong("from is not in front of the check sum; it needs to".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Why an expression cannot have a field.
fn not_a_number(field: &Field) -> Option<String> {
    let (name, kind) = (&field.name, field.kind());
    match (&kind.base, &kind.count) {
        _ if field.is_text_number() => None,
        (Base::Named(_), _) => Some(format!("{name} is a structure, not a number")),
        (Base::Text, Some(Count::Fixed(1))) => None,
        (Base::Text, _) => Some(format!("{name} is a text; only that of a text[1] is a number")),
        (Base::Bytes, _) => Some(format!("{name} is bytes, not a number")),
        (_, Some(_)) => Some(format!("{name} is a list, not a number")),
        (_, None) => None,
    }
}

/// Keys of a field that contradict each other.
fn contradiction(field: &Field, is_word: bool) -> Option<String> {
    let kind = field.kind();
    let is_text = kind.base == Base::Text && !field.is_text_number();
    let is_fixed = matches!(kind.count, Some(Count::Fixed(_)));
    let is_real = matches!(kind.base, Base::Float(_));
    let [max_digits, max_decimals] = MAX_DIGITS;
    let expression = field.value.as_ref().filter(|value| value.starts_with('='));
    let reason = if field.is_computed() {
        let others = [
            field.has_type(),
            field.at.is_some(),
            field.scale.is_some() || field.offset.is_some(),
            field.bits.is_some() || field.order.is_some(),
            field.base.is_some() || field.digits.is_some() || field.decimals.is_some(),
            field.optional || field.empty.is_some(),
        ];
        if expression.is_none() {
            "a computed field needs a value such as \"=raw * 2\""
        } else if others.contains(&true) {
            "a computed field has no bytes: it has name, value, unit, meaning, codes and when only"
        } else {
            return None;
        }
    } else if let Some(base) = field.base.filter(|base| ![2, 8, 10, 16].contains(base)) {
        return Some(format!("numbers of base {base}; possible are 2, 8, 10 and 16"));
    } else if field.is_text_number() && !is_fixed {
        "a number that is written as text needs its number of digits, such as text[2]"
    } else if field.is_text_number() && kind.count == Some(Count::Fixed(0)) {
        "a number has at least one digit"
    } else if field.is_text_number()
        && matches!(kind.count, Some(Count::Fixed(width)) if width > max_digits + max_decimals)
    {
        return Some(format!("a number has at most {} digits", max_digits + max_decimals));
    } else if field.bits.is_some() && (is_word || field.is_text_number()) {
        "bits are parts of a number in bytes, not of one that is written as text"
    } else if (field.digits.is_some() || field.decimals.is_some()) && !is_word && !field.is_text_number() {
        "digits and decimals are for numbers that are written as text: with encoding: blanks or a separator, or of type text[N] with base"
    } else if field.digits.is_some() && field.is_text_number() {
        "the type has the number of digits; digits is for numbers between separators"
    } else if (field.digits.is_some() || field.decimals.is_some())
        && matches!(kind.base, Base::Text | Base::Bytes | Base::Named(_))
        && !field.is_text_number()
    {
        "digits and decimals are for numbers"
    } else if field.decimals.is_some() && !is_real && !field.is_text_number() {
        "decimals needs type f32 or f64"
    } else if field.decimals.is_some() && field.base.is_some_and(|base| base != 10) {
        "a number with decimals has base 10"
    } else if field.digits.is_some_and(|digits| digits > max_digits)
        || field.decimals.is_some_and(|decimals| decimals > max_decimals)
    {
        return Some(format!("at most {max_digits} digits and {max_decimals} decimals are possible"));
    } else if field.empty.is_some() && !is_word {
        "empty is for values with separators: encoding: blanks, or { separator: \",\" }"
    } else if field.empty.is_some()
        && (matches!(kind.base, Base::Named(_))
            || !is_text && !field.is_text_number() && kind.count.is_some())
    {
        "empty is for one number or text, not for lists and structures"
    } else if field.rest && !(is_text && is_word && kind.count == Some(Count::Rest)) {
        "rest is for a text[*] between separators: encoding: blanks, or { separator: \",\" }"
    } else if field.pad.is_some() && !(is_text && is_fixed && !is_word) {
        "pad fills a text of fixed size, text[N], that has no separators"
    } else if field.pad.as_ref().is_some_and(|pad| pad.bytes().len() != 1) {
        "pad is one byte, such as \" \" or [0xFF]"
    } else if field.encoding.is_some() && !is_text {
        "encoding is for texts"
    } else if field.expression().is_some() && kind.count.is_some() && !field.is_text_number() {
        "an expression gives one number, not a list"
    } else if field.expression().is_some()
        && matches!(field.is, Some(FieldRole::Code | FieldRole::Size | FieldRole::Checksum))
    {
        "value: a code, a size and a check sum have their value already"
    } else {
        return None;
    };
    Some(reason.to_owned())
}
