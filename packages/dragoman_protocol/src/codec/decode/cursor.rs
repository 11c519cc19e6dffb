//! Runs the steps of a description over bytes.

use super::text;
use super::{DecodeError, value};
use crate::codec::{
    Count, Direct, EmptyWord, FoundCode, Item, MAX_ITEMS, NumberStep, Role, Step, StepKind, Sum,
};
use crate::codec::{TextStep, Values, level};
use crate::expression::{Expression, NoValue, Number};
use crate::model::{ByteOrder, Counted};

/// Check sums of what follows them, at most.
const MAX_LATER: usize = 4;

pub(super) struct Cursor<'a, 'v> {
    frame: &'a [u8],
    pub(super) at: usize,
    /// End of the bytes that fields have had: a field with bits may begin in front of it.
    pub(super) furthest: usize,
    /// End of the part that is read; what the frame does not have of it is 0.
    pub(super) end: usize,
    /// What is in front of each value, if they are words.
    pub(super) separator: Option<u8>,
    pub(super) code: Option<FoundCode<'a>>,
    /// What a size counts, the end of its field, and its value.
    pub(super) size: Option<(Counted, usize, i128)>,
    /// Check sums are not looked at.
    pub(super) is_measuring: bool,
    /// Check sums of what follows them: their fields, what they are, and where they begin.
    later: [Option<(&'a Step, &'a Sum, u64, usize)>; MAX_LATER],
    /// The number of which the next fields have bits.
    shared: u64,
    /// Elements of lists up to now: one may have neither bytes nor items.
    elements: usize,
    pub(super) values: &'v mut Values,
}

impl<'a, 'v> Cursor<'a, 'v> {
    pub(super) fn new(frame: &'a [u8], end: usize, values: &'v mut Values) -> Self {
        Self {
            frame,
            at: 0,
            furthest: 0,
            end,
            separator: None,
            code: None,
            size: None,
            is_measuring: false,
            later: [None; MAX_LATER],
            shared: 0,
            elements: 0,
            values,
        }
    }

    /// What is not read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.frame.get(self.at..self.end.min(self.frame.len())).unwrap_or_default()
    }

    /// `is_top`: the offsets of fields count.
    pub(super) fn run(&mut self, steps: &'a [Step], is_top: bool) -> Result<(), DecodeError> {
        for (step, fields) in level(steps) {
            if let Some(direct) = &step.direct {
                self.at = step.at.filter(|_| is_top).unwrap_or(self.at);
                if self.direct(direct) {
                    continue;
                }
            }
            let is_here = self.values.holds(step).map_err(|reason| no_value(step, reason))?;
            if let Some(at) = step.at.filter(|_| is_top && is_here) {
                self.at = at;
            }
            if !is_here || step.is_optional && self.at >= self.end || self.takes_empty_word(step) {
                self.furthest = self.furthest.max(self.at);
                self.values.skip(step, fields);
                if step.has_item() {
                    self.push(step, Item::Missing)?;
                }
                continue;
            }
            let begin = self.at + usize::from(self.separator.is_some());
            self.step(step, fields)?;
            self.furthest = self.furthest.max(self.at);
            self.values.set_place(step.place, [begin, self.at]);
        }
        Ok(())
    }

    /// Reads numbers in one go, unless something is wrong with them.
    fn direct(&mut self, direct: &Direct) -> bool {
        let end = self.at.saturating_add(direct.len);
        let elements = self.elements.saturating_add(direct.list.unwrap_or(0));
        let items = self.values.items.len().saturating_add(direct.items());
        if end > self.end || elements > MAX_ITEMS || items > MAX_ITEMS {
            return false;
        }
        let Some(bytes) = self.frame.get(self.at..end) else { return false };
        (self.at, self.elements) = (end, elements);
        self.furthest = self.furthest.max(end);
        direct.read(bytes, &mut self.values.items);
        true
    }

    /// Whether an empty word stands for the field.
    fn takes_empty_word(&mut self, step: &Step) -> bool {
        let Some(separator) = self.separator.filter(|_| step.empty != EmptyWord::Never) else { return false };
        let is_empty = match self.rest() {
            [first] => *first == separator,
            [first, second, ..] => *first == separator && *second == separator,
            [] => false,
        };
        self.at += usize::from(is_empty);
        is_empty
    }

    fn step(&mut self, step: &'a Step, fields: &'a [Step]) -> Result<(), DecodeError> {
        if let StepKind::Bytes { text, value, is_code } = &step.kind {
            return self.bytes(step, *text, value.as_deref(), *is_code);
        }
        let Some(count) = step.count else { return self.one(step, fields) };
        let is_rest = count == Count::Rest;
        let count = self.count(step, count)?;
        let list = self.values.items.len();
        self.push(step, Item::List(count))?;
        let mut found = 0;
        while if is_rest { self.at < self.end } else { found < count } {
            let before = self.at;
            self.one(step, fields)?;
            found += 1;
            self.elements += 1;
            if self.elements > MAX_ITEMS || is_rest && before == self.at {
                return Err(DecodeError::TooMany { field: step.name.clone() });
            }
        }
        if let Some(item) = self.values.items.get_mut(list) {
            *item = Item::List(found);
        }
        Ok(())
    }

    fn one(&mut self, step: &'a Step, fields: &'a [Step]) -> Result<(), DecodeError> {
        match &step.kind {
            StepKind::Number(number) => self.number(step, number),
            _ => self.run(fields, false),
        }
    }

    fn push(&mut self, step: &Step, item: Item) -> Result<(), DecodeError> {
        if self.values.items.len() >= MAX_ITEMS {
            return Err(DecodeError::TooMany { field: step.name.clone() });
        }
        self.values.items.push(item);
        Ok(())
    }

    /// Number of elements; of those up to the end 0.
    fn count(&mut self, step: &Step, count: Count) -> Result<usize, DecodeError> {
        let too_many = || DecodeError::TooMany { field: step.name.clone() };
        let count = match (count, self.separator) {
            (Count::Fixed(count), _) => count,
            (Count::Rest, _) => 0,
            (Count::Slot(slot), _) => match self.values.slot(slot) {
                Some(Number::Whole(count)) => usize::try_from(count).map_err(|_| too_many())?,
                Some(Number::Real(_)) => return Err(too_many()),
                None => 0,
            },
            (Count::Prefixed(..), Some(separator)) => {
                let base = if let StepKind::Number(number) = &step.kind { number.digits.base } else { 16 };
                let word = self.word(step, separator)?;
                let count = text::whole(word, base).ok_or_else(|| text::not_digits(step, word, base))?;
                usize::try_from(count).map_err(|_| too_many())?
            }
            (Count::Prefixed(size, order), None) => {
                usize::try_from(self.raw(step, size, order)?).map_err(|_| too_many())?
            }
        };
        if count > MAX_ITEMS { Err(too_many()) } else { Ok(count) }
    }

    /// Measuring, which may be done again for each byte, takes no memory for a name.
    fn short(&self, step: &Step) -> DecodeError {
        DecodeError::Short { field: if self.is_measuring { String::new() } else { step.name.clone() } }
    }

    /// The next bytes as a number without sign.
    fn raw(&mut self, step: &Step, size: usize, order: ByteOrder) -> Result<u64, DecodeError> {
        let begin = self.at;
        self.at += size;
        if self.at > self.end {
            return Err(self.short(step));
        }
        let byte = |at: usize| self.frame.get(at).copied().unwrap_or(0);
        let add = |number: u64, at: usize| number << 8 | u64::from(byte(at));
        Ok(match order {
            ByteOrder::Big => (begin..begin + size).fold(0, add),
            ByteOrder::Little => (begin..begin + size).rev().fold(0, add),
        })
    }

    /// The next bytes; without those that the frame does not have.
    fn take(&mut self, step: &Step, count: usize) -> Result<&'a [u8], DecodeError> {
        let begin = self.at;
        self.at = self.at.saturating_add(count);
        if self.at > self.end {
            return Err(self.short(step));
        }
        Ok(self.frame.get(begin..self.at.min(self.frame.len())).unwrap_or_default())
    }

    /// The next word, behind its separator. Between blanks it is not empty at the end.
    fn word(&mut self, step: &Step, separator: u8) -> Result<&'a [u8], DecodeError> {
        let is_blank = separator == b' ';
        let content = match self.rest().split_first() {
            Some((first, content)) if *first == separator && !(is_blank && content.is_empty()) => content,
            _ => return Err(self.short(step)),
        };
        let word = content.split(|byte| *byte == separator).next().unwrap_or_default();
        self.at += 1 + word.len();
        Ok(word)
    }

    /// All that is left, behind its separator.
    fn all_words(&mut self, step: &Step, separator: u8) -> Result<&'a [u8], DecodeError> {
        match self.rest().split_first() {
            Some((first, content)) if *first == separator => {
                self.at = self.end;
                Ok(content)
            }
            _ => Err(self.short(step)),
        }
    }

    fn bytes(
        &mut self,
        step: &Step,
        text: Option<TextStep>,
        value: Option<&[u8]>,
        is_code: bool,
    ) -> Result<(), DecodeError> {
        let is_rest = text.is_some_and(|text| text.is_rest);
        let found = match (self.separator, step.count.unwrap_or(Count::Rest)) {
            (Some(separator), _) if is_rest => self.all_words(step, separator)?,
            (Some(separator), _) => self.word(step, separator)?,
            (None, Count::Rest) => self.take(step, self.end.saturating_sub(self.at))?,
            (None, count) => {
                let count = self.count(step, count)?;
                self.take(step, count)?
            }
        };
        if is_code {
            self.code = Some(FoundCode::Text(found));
            return Ok(());
        }
        if let Some(value) = value {
            let shown = |bytes: &[u8]| match text {
                Some(_) => format!("{:?}", String::from_utf8_lossy(bytes)),
                None => format!("{bytes:02x?}"),
            };
            if found == value {
                return Ok(());
            }
            let (found, expected) = (shown(found), shown(value));
            return Err(DecodeError::Other { field: step.name.clone(), found, expected });
        }
        let start = self.values.bytes.len();
        match text {
            Some(text) => text::append(step, text, found, &mut self.values.bytes)?,
            None => self.values.bytes.extend_from_slice(found),
        }
        let character = if let [character] = found { Some(Number::Whole((*character).into())) } else { None };
        self.values.set_slot(step.slot, character);
        let len = self.values.bytes.len() - start;
        self.push(step, Item::Bytes { start, len })
    }

    fn computed(&mut self, step: &Step, expression: &Expression) -> Result<(), DecodeError> {
        let value = match expression.compute(|slot| self.values.slot(slot)) {
            Ok(value) => Some(value),
            Err(NoValue::Missing) => None,
            Err(reason) => return Err(no_value(step, reason)),
        };
        self.values.set_slot(step.slot, value);
        self.push(step, value.map_or(Item::Missing, Item::Number))
    }

    fn number(&mut self, step: &'a Step, number: &'a NumberStep) -> Result<(), DecodeError> {
        if let Role::Computed(expression) = &number.role {
            return self.computed(step, expression);
        }
        let begin = self.at;
        let value = match (self.separator, number.digits.width) {
            (Some(separator), _) => text::number(step, number, self.word(step, separator)?)?,
            (None, Some(width)) => text::number(step, number, self.take(step, width)?)?,
            (None, None) => {
                let raw = match number.bits {
                    Some(bits) if bits.is_shared => self.shared,
                    _ => self.raw(step, number.size, number.order)?,
                };
                self.shared = raw;
                value(raw, number)
            }
        };
        self.values.set_slot(step.slot, Some(value));
        let field = || step.name.clone();
        let whole = match value {
            Number::Whole(whole) => whole,
            Number::Real(_) => 0,
        };
        let expected = match &number.role {
            Role::Value | Role::Computed(_) => None,
            Role::Code => {
                self.code = Some(FoundCode::Number(u64::try_from(whole).unwrap_or_default()));
                return Ok(());
            }
            Role::Size(counts) => {
                self.size = Some((*counts, self.at, whole));
                return Ok(());
            }
            Role::Constant(expected) => Some(Number::Whole(*expected)),
            Role::Expression(expression) => {
                let computed = expression.compute(|slot| self.values.slot(slot));
                Some(computed.map_err(|reason| no_value(step, reason))?)
            }
            Role::Checksum(sum) => {
                let begin = begin + usize::from(self.separator.is_some());
                return self.checksum(step, sum, u64::try_from(whole).unwrap_or_default(), begin);
            }
        };
        if let Some(expected) = expected {
            if number.is_near(value, expected) {
                return Ok(());
            }
            let (found, expected) = (value.to_string(), expected.to_string());
            return Err(DecodeError::Other { field: field(), found, expected });
        }
        if number.is_strict && !i64::try_from(whole).is_ok_and(|whole| number.codes.contains_key(&whole)) {
            return Err(DecodeError::NoMeaning { field: field(), found: whole });
        }
        let value = match number.scale {
            Some([scale, offset]) => Number::Real(value.real() * scale + offset),
            None => value,
        };
        self.push(step, Item::Number(value))
    }

    fn checksum(&mut self, step: &'a Step, sum: &'a Sum, found: u64, at: usize) -> Result<(), DecodeError> {
        if self.is_measuring {
            return Ok(());
        }
        if !sum.is_later {
            return self.verify(step, sum, found, at);
        }
        let free = self.later.iter_mut().find(|one| one.is_none());
        *free.ok_or_else(|| DecodeError::TooMany { field: step.name.clone() })? =
            Some((step, sum, found, at));
        Ok(())
    }

    /// Compares the check sums of what follows them.
    pub(super) fn verify_later(&self) -> Result<(), DecodeError> {
        self.later.iter().flatten().try_for_each(|(step, sum, found, at)| self.verify(step, sum, *found, *at))
    }

    fn verify(&self, step: &Step, sum: &Sum, found: u64, at: usize) -> Result<(), DecodeError> {
        let range = sum.range(self.values, at);
        let expected = sum.checksum.of(self.frame.get(range).unwrap_or_default()) & sum.mask;
        if found == expected {
            return Ok(());
        }
        Err(DecodeError::Checksum { field: step.name.clone(), found, expected })
    }
}

impl NumberStep {
    /// Whether a number is the computed one, as exactly as it is written.
    #[allow(clippy::cast_possible_truncation, reason = "rounded as on the wire")]
    fn is_near(&self, found: Number, computed: Number) -> bool {
        match (self.digits.decimals, found) {
            (Some(decimals), Number::Real(found)) => {
                let half = 0.5 / 10_f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
                (found - computed.real()).abs() <= half * 1.000_001
            }
            (None, Number::Real(found)) if self.size == 4 => {
                f64::from(computed.real() as f32).to_bits() == found.to_bits()
            }
            _ => found.is(computed),
        }
    }
}

fn no_value(step: &Step, reason: NoValue) -> DecodeError {
    DecodeError::Expression { field: step.name.clone(), reason }
}
