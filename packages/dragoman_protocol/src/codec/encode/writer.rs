//! Runs the steps of a description over values.

use super::{EncodeError, on_wire, out_of_range, raw, text};
use crate::codec::decode::{mask, shown};
use crate::codec::{
    Count, Direct, EmptyWord, Item, MAX_ITEMS, NumberStep, Role, Step, StepKind, Sum, TextStep,
};
use crate::codec::{Values, level};
use crate::expression::{NoValue, Number};
use crate::model::{ByteOrder, Code};

pub(super) struct Writer<'a, 'o> {
    pub(super) out: &'o mut Vec<u8>,
    /// Where the frame begins.
    begin: usize,
    /// What is in front of each value, if they are words.
    pub(super) separator: Option<u8>,
    /// Words of missing fields that are written if another one follows.
    empty_words: usize,
    code: &'a Code,
    /// The next item.
    item: usize,
    pub(super) values: &'o mut Values,
    /// The field of the size, and its place.
    pub(super) size: Option<(&'a Step, &'a NumberStep, usize)>,
    /// The fields of check sums, and their places: what they cover may change until it is complete.
    sums: Vec<(&'a Step, &'a NumberStep, &'a Sum, usize)>,
    /// Place of the number of which the next fields have bits.
    shared: Option<usize>,
    /// Place of the next number, which other fields may have bits of.
    place: Option<usize>,
    /// Elements of lists up to now: one may have neither bytes nor items.
    elements: usize,
}

impl<'a, 'o> Writer<'a, 'o> {
    pub(super) fn new(out: &'o mut Vec<u8>, code: &'a Code, values: &'o mut Values) -> Self {
        let begin = out.len();
        Self {
            out,
            begin,
            separator: None,
            empty_words: 0,
            code,
            item: 0,
            values,
            size: None,
            sums: Vec::new(),
            shared: None,
            place: None,
            elements: 0,
        }
    }

    /// Items that are left, apart from those of these steps.
    pub(super) fn rest(&self, steps: &[Step]) -> usize {
        let needed = level(steps).filter(|(step, _)| step.has_item()).count();
        self.values.items.len().saturating_sub(self.item + needed)
    }

    pub(super) fn run(&mut self, steps: &'a [Step], is_top: bool) -> Result<(), EncodeError> {
        for (step, fields) in level(steps) {
            if let Some(direct) = &step.direct {
                if let Some(at) = step.at.filter(|_| is_top) {
                    self.go_to(step, at)?;
                }
                if self.place.is_none() && self.direct(direct) {
                    continue;
                }
            }
            let holds = self.values.holds(step);
            let is_here =
                holds.map_err(|reason| EncodeError::Expression { field: step.name.clone(), reason })?;
            let is_given = self.values.items.get(self.item) != Some(&Item::Missing);
            if !is_here && !step.has_item() {
                self.values.skip(step, fields);
                continue;
            }
            if let (true, StepKind::Number(NumberStep { role: Role::Computed(expression), .. })) =
                (is_here, &step.kind)
            {
                self.next(step)?;
                let value = match expression.compute(|slot| self.values.slot(slot)) {
                    Ok(value) => Some(value),
                    Err(NoValue::Missing) => None,
                    Err(reason) => return Err(EncodeError::Expression { field: step.name.clone(), reason }),
                };
                self.values.set_slot(step.slot, value);
                continue;
            }
            let may_be_missing = step.is_optional || step.empty == EmptyWord::Always;
            if !is_here || step.has_item() && may_be_missing && !is_given {
                if is_given {
                    return Err(EncodeError::Missing(step.name.clone()));
                }
                self.item += 1;
                self.values.skip(step, fields);
                match step.empty {
                    EmptyWord::Always if is_here => self.separate(),
                    EmptyWord::Within if is_here => self.empty_words += 1,
                    _ => {}
                }
                continue;
            }
            if let Some(at) = step.at.filter(|_| is_top) {
                self.go_to(step, at)?;
            }
            let begin =
                self.place.unwrap_or(self.out.len()) - self.begin + usize::from(self.separator.is_some());
            self.step(step, fields)?;
            self.values.set_place(step.place, [begin, self.out.len() - self.begin]);
        }
        if is_top {
            self.empty_words = 0;
        }
        Ok(())
    }

    /// Writes numbers in one go, unless something is wrong with them.
    fn direct(&mut self, direct: &Direct) -> bool {
        let elements = self.elements.saturating_add(direct.list.unwrap_or(0));
        let items = self.values.items.get(self.item..).unwrap_or_default();
        if elements > MAX_ITEMS || direct.write(items, self.out).is_none() {
            return false;
        }
        self.item += direct.items();
        self.elements = elements;
        true
    }

    /// Fills with zeros up to the offset of a field. Fields with bits may overlap others: what they do not have is left alone.
    fn go_to(&mut self, step: &Step, offset: usize) -> Result<(), EncodeError> {
        let at = self.begin + offset;
        let bits = if let StepKind::Number(number) = &step.kind { number.bits } else { None };
        self.place = bits.filter(|bits| !bits.is_shared && at < self.out.len()).map(|_| at);
        if at > self.out.len() {
            self.out.resize(at, 0);
        } else if at < self.out.len() && bits.is_none() {
            return Err(out_of_range(step, format!("offset {offset}")));
        }
        Ok(())
    }

    fn next(&mut self, step: &Step) -> Result<Item, EncodeError> {
        let item = self.values.items.get(self.item).copied();
        self.item += 1;
        item.ok_or_else(|| EncodeError::NoValue(step.name.clone()))
    }

    /// Separators in front of a word.
    fn separate(&mut self) {
        if let Some(separator) = self.separator {
            let count = 1 + std::mem::take(&mut self.empty_words);
            self.out.resize(self.out.len() + count, separator);
        }
    }

    fn step(&mut self, step: &'a Step, fields: &'a [Step]) -> Result<(), EncodeError> {
        if let StepKind::Bytes { text, value, is_code } = &step.kind {
            return self.bytes(step, *text, value.as_deref(), *is_code);
        }
        let Some(count) = step.count else { return self.one(step, fields) };
        let Item::List(len) = self.next(step)? else { return Err(EncodeError::OtherKind(step.name.clone())) };
        self.count(step, count, len)?;
        self.elements = self.elements.saturating_add(len);
        if self.elements > MAX_ITEMS {
            return Err(EncodeError::OtherLength { field: step.name.clone(), count: len });
        }
        for _ in 0..len {
            self.one(step, fields)?;
        }
        Ok(())
    }

    fn one(&mut self, step: &'a Step, fields: &'a [Step]) -> Result<(), EncodeError> {
        match &step.kind {
            StepKind::Number(number) => self.number(step, number),
            _ => self.run(fields, false),
        }
    }

    /// Writes the length of a list or text, or compares it.
    fn count(&mut self, step: &Step, count: Count, len: usize) -> Result<(), EncodeError> {
        let other = || EncodeError::OtherLength { field: step.name.clone(), count: len };
        let whole = i128::try_from(len).map_err(|_| other())?;
        match count {
            Count::Fixed(fixed) if fixed != len => Err(other()),
            Count::Slot(slot)
                if !self.values.slot(slot).is_some_and(|slot| slot.is(Number::Whole(whole))) =>
            {
                Err(other())
            }
            Count::Prefixed(..) if self.separator.is_some() => {
                let base = if let StepKind::Number(number) = &step.kind { number.digits.base } else { 16 };
                self.separate();
                text::whole(whole, base, 0, self.out);
                Ok(())
            }
            Count::Prefixed(size, order) => {
                let len = u64::try_from(len).ok().filter(|len| *len <= mask(size)).ok_or_else(other)?;
                self.raw(len, size, order);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn raw(&mut self, value: u64, size: usize, order: ByteOrder) {
        let bytes = value.to_le_bytes();
        let bytes = bytes.get(..size).unwrap_or(&bytes);
        match order {
            ByteOrder::Little => self.out.extend_from_slice(bytes),
            ByteOrder::Big => self.out.extend(bytes.iter().rev()),
        }
    }

    /// Writes the check sums of what is complete now: those that the others cover first.
    pub(super) fn sums(&mut self, is_whole: bool) -> Result<(), EncodeError> {
        let sums = std::mem::take(&mut self.sums);
        for is_later in [false, true] {
            for (step, number, sum, at) in &sums {
                if sum.is_of_tail && !is_whole || sum.is_later != is_later {
                    continue;
                }
                let range = sum.range(self.values, at - self.begin);
                let frame = self.out.get(self.begin..).unwrap_or_default();
                let value = sum.checksum.of(frame.get(range).unwrap_or_default()) & sum.mask;
                self.patch(step, number, *at, value)?;
            }
        }
        if !is_whole {
            self.sums = sums.into_iter().filter(|(_, _, sum, _)| sum.is_of_tail).collect();
        }
        Ok(())
    }

    /// Writes a number over what is there.
    pub(super) fn patch(
        &mut self,
        step: &Step,
        number: &NumberStep,
        at: usize,
        value: u64,
    ) -> Result<(), EncodeError> {
        let len = self.out.len();
        if number.digits.width.is_some() {
            text::number(step, number, Number::Whole(value.into()), self.out)?;
        } else if value <= mask(number.size) {
            self.raw(value, number.size, number.order);
        } else {
            return Err(out_of_range(step, value));
        }
        self.out.copy_within(len.., at);
        self.out.truncate(len);
        Ok(())
    }

    fn bytes(
        &mut self,
        step: &Step,
        text: Option<TextStep>,
        value: Option<&[u8]>,
        is_code: bool,
    ) -> Result<(), EncodeError> {
        if is_code {
            if let Code::Text(code) = self.code {
                self.out.extend_from_slice(code.as_bytes());
            }
            return Ok(());
        }
        if let Some(value) = value {
            self.separate();
            self.out.extend_from_slice(value);
            return Ok(());
        }
        let item = self.next(step)?;
        let Item::Bytes { .. } = item else { return Err(EncodeError::OtherKind(step.name.clone())) };
        let begin = self.out.len();
        if let Some(separator) = self.separator {
            self.separate();
            let begin = self.out.len();
            text::bytes(step, text, self.values.bytes(item), self.out)?;
            self.keep_character(step, begin);
            let word = self.out.get(begin..).unwrap_or_default();
            return match separator {
                _ if text.is_some_and(|text| text.is_rest) => Ok(()),
                b' ' if word.is_empty() || word.contains(&b' ') => {
                    Err(EncodeError::NotAWord(step.name.clone()))
                }
                _ if word.contains(&separator) => {
                    Err(EncodeError::HasSeparator { field: step.name.clone(), separator: separator.into() })
                }
                _ => Ok(()),
            };
        }
        text::bytes(step, text, self.values.bytes(item), self.out)?;
        let len = self.out.len() - begin;
        match (step.count, text) {
            // A shorter text is filled.
            (Some(Count::Fixed(size)), Some(text)) if len < size => self.out.resize(begin + size, text.pad),
            (Some(count @ Count::Prefixed(..)), _) => {
                let content = self.out.split_off(begin);
                self.count(step, count, len)?;
                self.out.extend_from_slice(&content);
            }
            (Some(count), _) => self.count(step, count, len)?,
            (None, _) => {}
        }
        self.keep_character(step, begin);
        Ok(())
    }

    /// Expressions find a text of one character as a number.
    fn keep_character(&mut self, step: &Step, begin: usize) {
        let written = self.out.get(begin..).unwrap_or_default();
        let character = if let [one] = written { Some(Number::Whole((*one).into())) } else { None };
        self.values.set_slot(step.slot, character);
    }

    fn number(&mut self, step: &'a Step, number: &'a NumberStep) -> Result<(), EncodeError> {
        let value = match &number.role {
            Role::Value | Role::Computed(_) => {
                let Item::Number(value) = self.next(step)? else {
                    return Err(EncodeError::OtherKind(step.name.clone()));
                };
                on_wire(step, number, value)?
            }
            Role::Constant(value) => Number::Whole(*value),
            Role::Expression(expression) => expression
                .compute(|slot| self.values.slot(slot))
                .map_err(|reason| EncodeError::Expression { field: step.name.clone(), reason })?,
            Role::Size(_) | Role::Checksum(_) => Number::Whole(0),
            Role::Code => match self.code {
                Code::Number(code) => Number::Whole((*code).into()),
                Code::Text(_) => return Err(EncodeError::OtherKind(shown(self.code))),
            },
        };
        self.separate();
        let at = self.out.len();
        match &number.role {
            Role::Size(_) => self.size = Some((step, number, at)),
            Role::Checksum(sum) => self.sums.push((step, number, sum, at)),
            _ => {}
        }
        self.values.set_slot(step.slot, Some(value));
        if self.separator.is_some() || number.digits.width.is_some() {
            return text::number(step, number, value, self.out);
        }
        let raw = raw(step, number, value)?;
        let Some(bits) = number.bits else {
            self.raw(raw, number.size, number.order);
            return Ok(());
        };
        let place = match self.shared.filter(|_| bits.is_shared) {
            Some(place) => place,
            None => self.place.take().unwrap_or(at),
        };
        self.shared = Some(place);
        if self.out.len() < place + number.size {
            self.out.resize(place + number.size, 0);
        }
        for byte in 0..number.size {
            let shift = 8 * match number.order {
                ByteOrder::Little => byte,
                ByteOrder::Big => number.size - 1 - byte,
            };
            if let Some(out) = self.out.get_mut(place + byte) {
                *out |= u8::try_from((raw << bits.lowest) >> shift & 0xff).unwrap_or_default();
            }
        }
        Ok(())
    }
}
