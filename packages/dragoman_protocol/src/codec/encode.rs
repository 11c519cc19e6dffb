//! From values to bytes.

use super::decode::{mask, mask_of_bits, shown};
use super::{
    Codec, Count, Form, Item, MAX_ITEMS, MessageId, NumberStep, Role, Step, StepKind, Values, level,
};
use crate::expression::Number;
use crate::model::{ByteOrder, Code, Counted, Encoding};

/// Why values are not a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The description does not have this message.
    #[error("there is no such message")]
    UnknownMessage,
    /// There are fewer items than fields.
    #[error("field {0} has no value")]
    NoValue(String),
    /// There are more items than fields.
    #[error("{0} values too many")]
    Rest(usize),
    /// A number for a text, a text for a number, or no list where one is needed.
    #[error("field {0} has a value of another kind")]
    OtherKind(String),
    /// The number does not fit its field, or is not finite.
    #[error("field {field}: {value} does not fit")]
    OutOfRange {
        /// The field.
        field: String,
        /// The number, as it is on the wire.
        value: String,
    },
    /// A text or list of another length than that of the field.
    #[error("field {field} has {count} elements, which does not fit")]
    OtherLength {
        /// The field.
        field: String,
        /// Its length.
        count: usize,
    },
    /// A field that may not be missing here, or one that must.
    #[error("field {0} is missing, or must be")]
    Missing(String),
    /// A text that would be two words.
    #[error("field {0} is empty or has blanks")]
    NotAWord(String),
    /// The frame is longer than the description allows.
    #[error("{0} bytes are longer than a frame")]
    TooLong(usize),
}

impl Codec {
    /// Appends the frame of a message to `out`. The slots of `values` are those of its counts and conditions afterwards, for
    /// the answer.
    ///
    /// # Errors
    /// The values are not those of the message.
    pub fn encode(
        &self,
        message: MessageId,
        values: &mut Values,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let code = self.protocol.messages.get(message.number).map(|message| &message.code);
        let (Some(code), Some(steps)) = (code, self.program(message)) else {
            return Err(EncodeError::UnknownMessage);
        };
        values.slots.resize(self.slots, None);
        let begin = out.len();
        let mut writer = Writer {
            out,
            begin,
            encoding: self.encoding,
            code,
            item: 0,
            values,
            size: None,
            sums: Vec::new(),
            shared: None,
            elements: 0,
        };
        if self.encoding == Encoding::Blanks {
            if let Code::Text(text) = code {
                writer.out.extend_from_slice(text.as_bytes());
            }
        } else {
            writer.run(&self.head, true)?;
        }
        let body = writer.out.len();
        writer.run(steps, true)?;
        let (end, rest) = (writer.out.len(), writer.values.items.len() - writer.item);
        if rest > 0 {
            return Err(EncodeError::Rest(rest));
        }
        if let Some([_, size]) = self.datagram {
            let room = size.saturating_sub(self.tail_size);
            if end - begin > room {
                return Err(EncodeError::TooLong(end - begin + self.tail_size));
            }
            writer.out.resize(begin + room, 0);
        }
        if let Some((step, number, at)) = writer.size {
            let len = writer.out.len() + self.tail_size - begin;
            let size = match number.role {
                Role::Size(Counted::Rest) => len - (at + number.size - begin),
                Role::Size(Counted::Body) => end - body,
                _ => len,
            };
            writer.patch(step, number, at, size)?;
        }
        writer.sums()?;
        writer.run(&self.tail, true)?;
        writer.sums()?;
        let len = writer.out.len() - begin;
        if self.protocol.frame.cut.most.is_some_and(|most| len > most) {
            return Err(EncodeError::TooLong(len));
        }
        Ok(())
    }
}

struct Writer<'a, 'o> {
    out: &'o mut Vec<u8>,
    /// Where the frame begins.
    begin: usize,
    encoding: Encoding,
    code: &'a Code,
    /// The next item.
    item: usize,
    values: &'o mut Values,
    /// The field of the size, and its place.
    size: Option<(&'a Step, &'a NumberStep, usize)>,
    /// The fields of check sums, and their places: what is in front of them may change until it is complete.
    sums: Vec<(&'a Step, &'a NumberStep, usize)>,
    /// Place of the number of which the next fields have bits.
    shared: Option<usize>,
    /// Elements of lists up to now: one may have neither bytes nor items.
    elements: usize,
}

impl<'a> Writer<'a, '_> {
    fn run(&mut self, steps: &'a [Step], is_top: bool) -> Result<(), EncodeError> {
        for (step, fields) in level(steps) {
            if let Some(at) = step.at.filter(|_| is_top) {
                let at = self.begin + at;
                let is_shared = matches!(&step.kind, StepKind::Number(number) if number.bits.is_some_and(|bits| bits.is_shared));
                if at > self.out.len() {
                    self.out.resize(at, 0);
                } else if at < self.out.len() && !is_shared {
                    return Err(EncodeError::OutOfRange {
                        field: step.name.clone(),
                        value: format!("offset {at}"),
                    });
                }
            }
            let is_here =
                step.when.iter().all(|(slot, value)| self.values.slot(*slot) == Some((*value).into()));
            let is_given = self.values.items.get(self.item) != Some(&Item::Missing);
            if !is_here && !step.has_item() {
                continue;
            }
            if !is_here || step.is_optional && !is_given {
                if is_given {
                    return Err(EncodeError::Missing(step.name.clone()));
                }
                self.item += 1;
                continue;
            }
            self.step(step, fields)?;
        }
        Ok(())
    }

    fn next(&mut self, step: &Step) -> Result<Item, EncodeError> {
        let item = self.values.items.get(self.item).copied();
        self.item += 1;
        item.ok_or_else(|| EncodeError::NoValue(step.name.clone()))
    }

    fn step(&mut self, step: &'a Step, fields: &'a [Step]) -> Result<(), EncodeError> {
        if let StepKind::Bytes { value, is_code, .. } = &step.kind {
            return self.bytes(step, value.as_deref(), *is_code);
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
        match count {
            Count::Fixed(fixed) if fixed != len => Err(other()),
            Count::Slot(slot) if self.values.slot(slot) != i128::try_from(len).ok() => Err(other()),
            Count::Prefixed(_) if self.encoding == Encoding::Blanks => {
                let base = if let StepKind::Number(number) = &step.kind { number.base } else { 16 };
                self.digits(i128::try_from(len).map_err(|_| other())?, base);
                Ok(())
            }
            Count::Prefixed(size) => {
                let len = u64::try_from(len).ok().filter(|len| *len <= mask(size)).ok_or_else(other)?;
                self.raw(len, size, ByteOrder::Big);
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

    /// Writes the check sums of what is complete now.
    fn sums(&mut self) -> Result<(), EncodeError> {
        for (step, number, at) in std::mem::take(&mut self.sums) {
            let Role::Checksum(checksum) = &number.role else { continue };
            let sum = checksum.of(self.out.get(self.begin..at).unwrap_or_default()) & mask(number.size);
            self.patch(step, number, at, usize::try_from(sum).unwrap_or(usize::MAX))?;
        }
        Ok(())
    }

    fn patch(
        &mut self,
        step: &Step,
        number: &NumberStep,
        at: usize,
        value: usize,
    ) -> Result<(), EncodeError> {
        let fits = u64::try_from(value).ok().filter(|value| *value <= mask(number.size));
        let value = fits.ok_or_else(|| out_of_range(step, value))?;
        let len = self.out.len();
        self.raw(value, number.size, number.order);
        self.out.copy_within(len.., at);
        self.out.truncate(len);
        Ok(())
    }

    /// A blank and the digits of a number.
    fn digits(&mut self, value: i128, base: u32) {
        use std::io::Write as _;
        self.out.push(b' ');
        // A vector takes everything.
        let _ = match base {
            16 if value >= 0 => write!(self.out, "{value:X}"),
            8 if value >= 0 => write!(self.out, "{value:o}"),
            2 if value >= 0 => write!(self.out, "{value:b}"),
            _ => write!(self.out, "{value}"),
        };
    }

    fn bytes(&mut self, step: &Step, value: Option<&[u8]>, is_code: bool) -> Result<(), EncodeError> {
        if is_code {
            if let Code::Text(code) = self.code {
                self.out.extend_from_slice(code.as_bytes());
            }
            return Ok(());
        }
        if let Some(value) = value {
            self.out.extend_from_slice(value);
            return Ok(());
        }
        let item = self.next(step)?;
        let Item::Bytes { len, .. } = item else { return Err(EncodeError::OtherKind(step.name.clone())) };
        if self.encoding == Encoding::Blanks {
            let word = self.values.bytes(item);
            if word.is_empty() || word.contains(&b' ') {
                return Err(EncodeError::NotAWord(step.name.clone()));
            }
            self.out.push(b' ');
            self.out.extend_from_slice(word);
            return Ok(());
        }
        let is_text = matches!(step.kind, StepKind::Bytes { is_text: true, .. });
        let padding = match step.count {
            // A shorter text is filled with zeros.
            Some(Count::Fixed(size)) if is_text && len < size => size - len,
            Some(count) => {
                self.count(step, count, len)?;
                0
            }
            None => 0,
        };
        self.out.extend_from_slice(self.values.bytes(item));
        self.out.resize(self.out.len() + padding, 0);
        Ok(())
    }

    fn number(&mut self, step: &'a Step, number: &'a NumberStep) -> Result<(), EncodeError> {
        let at = self.out.len();
        let value = match &number.role {
            Role::Value => {
                let Item::Number(value) = self.next(step)? else {
                    return Err(EncodeError::OtherKind(step.name.clone()));
                };
                on_wire(step, number, value)?
            }
            Role::Constant(value) => Number::Whole(*value),
            Role::Size(_) => {
                self.size = Some((step, number, at));
                Number::Whole(0)
            }
            Role::Checksum(_) => {
                self.sums.push((step, number, at));
                Number::Whole(0)
            }
            Role::Code => match self.code {
                Code::Number(code) => Number::Whole((*code).into()),
                Code::Text(_) => return Err(EncodeError::OtherKind(shown(self.code))),
            },
        };
        if let (Some(slot), Number::Whole(whole)) = (number.slot, value) {
            self.values.set_slot(slot, whole);
        }
        if self.encoding == Encoding::Blanks {
            let Number::Whole(whole) = value else { return Err(EncodeError::OtherKind(step.name.clone())) };
            self.digits(whole, number.base);
            return Ok(());
        }
        let raw = raw(step, number, value)?;
        let Some(bits) = number.bits else {
            self.raw(raw, number.size, number.order);
            return Ok(());
        };
        let place = match self.shared.filter(|_| bits.is_shared) {
            Some(place) => place,
            None => {
                self.raw(0, number.size, number.order);
                at
            }
        };
        self.shared = Some(place);
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

fn out_of_range(step: &Step, value: impl std::fmt::Display) -> EncodeError {
    EncodeError::OutOfRange { field: step.name.clone(), value: value.to_string() }
}

/// A value as it is on the wire, before it is checked.
fn on_wire(step: &Step, number: &NumberStep, value: Number) -> Result<Number, EncodeError> {
    let Some([scale, offset]) = number.scale else { return Ok(value) };
    let unscaled = (value.real() - offset) / scale;
    if number.form == Form::Float {
        return Ok(Number::Real(unscaled));
    }
    whole(step, unscaled.round())
}

#[allow(clippy::cast_possible_truncation, reason = "within 64 bits")]
fn whole(step: &Step, real: f64) -> Result<Number, EncodeError> {
    let fits = real.is_finite() && real.abs() < 18_446_744_073_709_551_616.0 && real.fract() == 0.0;
    if fits { Ok(Number::Whole(real as i128)) } else { Err(out_of_range(step, real)) }
}

/// The bits of a number on the wire.
#[allow(clippy::cast_possible_truncation, reason = "the nearest number of 32 bits, which is checked")]
fn raw(step: &Step, number: &NumberStep, value: Number) -> Result<u64, EncodeError> {
    if number.form == Form::Float {
        let real = value.real();
        if number.size == 8 {
            return Ok(real.to_bits());
        }
        let single = real as f32;
        let fits = single.is_finite() || !real.is_finite();
        return if fits { Ok(single.to_bits().into()) } else { Err(out_of_range(step, real)) };
    }
    let whole = match value {
        Number::Whole(whole) => whole,
        Number::Real(real) => match self::whole(step, real)? {
            Number::Whole(whole) => whole,
            Number::Real(_) => return Err(out_of_range(step, real)),
        },
    };
    let bits = number.bits.map_or(8 * u32::try_from(number.size).unwrap_or(8), |bits| bits.count);
    let range = match number.form {
        Form::Signed => -(1_i128 << (bits - 1))..=(1_i128 << (bits - 1)) - 1,
        Form::Bool => 0..=1,
        _ => 0..=(1_i128 << bits) - 1,
    };
    if !range.contains(&whole) {
        return Err(out_of_range(step, whole));
    }
    // Two's complement.
    let modulo = if whole < 0 { whole + (1_i128 << bits) } else { whole };
    Ok(u64::try_from(modulo).unwrap_or_default() & mask_of_bits(bits))
}
