//! From bytes to values.

use super::{
    Codec, Count, Form, Item, MAX_ITEMS, MessageId, NumberStep, Role, Step, StepKind, Values, level,
};
use crate::cut::Begin;
use crate::expression::Number;
use crate::model::{ByteOrder, Code, Counted, Encoding, Side};

/// Why bytes are not a message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The frame ends within a field.
    #[error("the frame ends before field {field}")]
    Short {
        /// The field.
        field: String,
    },
    /// Bytes follow the last field.
    #[error("{bytes} bytes follow the last field")]
    Long {
        /// How many.
        bytes: usize,
    },
    /// No message has this code.
    #[error("no message has the code {code}")]
    UnknownCode {
        /// The code, as it is written in descriptions.
        code: String,
    },
    /// A field has another value than the only one that it may have.
    #[error("field {field} is {found}, not {expected}")]
    Other {
        /// The field.
        field: String,
        /// What it has.
        found: String,
        /// What it must have.
        expected: String,
    },
    /// The check sum is another one.
    #[error("field {field} is {found:#x}; the bytes have the check sum {expected:#x}")]
    Checksum {
        /// The field.
        field: String,
        /// What it has.
        found: u64,
        /// What the bytes have.
        expected: u64,
    },
    /// The description has no name for this number, and says that there is no other.
    #[error("field {field} is {found}, which has no meaning")]
    NoMeaning {
        /// The field.
        field: String,
        /// What it has.
        found: i128,
    },
    /// Characters that are not a number.
    #[error("field {field} is \"{found}\", which is not a number of base {base}")]
    Digits {
        /// The field.
        field: String,
        /// What it has.
        found: String,
        /// The base.
        base: u32,
    },
    /// A count is negative, or a message has too many values.
    #[error("field {field} has too many elements, or a negative number of them")]
    TooMany {
        /// The field.
        field: String,
    },
}

impl Codec {
    /// Decodes a frame. On a CAN bus `id` is its identifier, as in a description.
    ///
    /// `asked` is the question that was asked last, with its values: what comes from the server with its code is its answer.
    ///
    /// # Errors
    /// The bytes are not a message of this side; `values` then have what was read before the error.
    pub fn decode_frame(
        &self,
        id: Option<u64>,
        frame: &[u8],
        from: Side,
        asked: Option<(MessageId, &Values)>,
        values: &mut Values,
    ) -> Result<MessageId, DecodeError> {
        let len = match self.datagram {
            Some([least, size]) if frame.len() >= least && frame.len() <= size => size,
            Some([_, size]) if frame.len() > size => {
                return Err(DecodeError::Long { bytes: frame.len() - size });
            }
            Some(_) => return Err(DecodeError::Short { field: self.first_missing(frame.len()) }),
            None => frame.len(),
        };
        values.begin(self.slots, asked.map(|(_, values)| values));
        let end = len.saturating_sub(self.tail_size);
        let mut cursor = Cursor::new(frame, end, self.encoding, values);
        cursor.code = id.map(Code::Number);
        let message = if self.encoding == Encoding::Blanks {
            self.worded(&mut cursor, from, asked)?
        } else {
            cursor.run(&self.head, true)?;
            let code = cursor.code.take().unwrap_or(Code::Number(0));
            self.message(&code, from, asked).ok_or_else(|| DecodeError::UnknownCode { code: shown(&code) })?
        };
        let begin = cursor.at;
        if let Some((counts, after, size)) = cursor.size {
            let expected = match counts {
                Counted::Frame => len,
                Counted::Rest => len - after,
                Counted::Body => end.saturating_sub(begin),
            };
            if usize::try_from(size) != Ok(expected) {
                let (found, expected) = (size.to_string(), expected.to_string());
                return Err(DecodeError::Other { field: "size".to_owned(), found, expected });
            }
        }
        cursor.run(self.program(message).unwrap_or_default(), true)?;
        if cursor.at < end && self.datagram.is_none() {
            return Err(DecodeError::Long { bytes: end - cursor.at });
        }
        (cursor.at, cursor.end) = (end, len);
        cursor.run(&self.tail, true)?;
        Ok(message)
    }

    /// [`decode_frame`](Self::decode_frame) of a link that is not a bus.
    ///
    /// # Errors
    /// As there.
    pub fn decode(
        &self,
        frame: &[u8],
        from: Side,
        asked: Option<(MessageId, &Values)>,
        values: &mut Values,
    ) -> Result<MessageId, DecodeError> {
        self.decode_frame(None, frame, from, asked, values)
    }

    /// What a buffer begins with, if each code has a size of its own.
    pub fn measure(&self, buffer: &[u8], from: Side) -> Begin {
        let mut values = Values::default();
        values.begin(self.slots, None);
        let mut cursor = Cursor::new(buffer, buffer.len(), self.encoding, &mut values);
        let measured = cursor.run(&self.head, true).and_then(|()| {
            let code = cursor.code.take().unwrap_or(Code::Number(0));
            let message = self.message(&code, from, None);
            let message = message.ok_or_else(|| DecodeError::UnknownCode { code: shown(&code) })?;
            cursor.run(self.program(message).unwrap_or_default(), true)?;
            cursor.run(&self.tail, true)
        });
        match measured {
            // Decoding reports a wrong check sum.
            Ok(()) | Err(DecodeError::Checksum { .. }) => {
                Begin::Frame { len: cursor.at, from: 0, to: cursor.at }
            }
            Err(DecodeError::Short { .. }) => Begin::Incomplete,
            Err(_) => Begin::Garbage(1),
        }
    }

    fn first_missing(&self, len: usize) -> String {
        format!("{} (it has {len} bytes)", self.head.last().map_or("data", |step| step.name.as_str()))
    }

    /// The message with this code. What the server sends with the code of the question is its answer; otherwise it is a
    /// message of its own, or the answer to a question that was not asked here.
    fn message(&self, code: &Code, from: Side, asked: Option<(MessageId, &Values)>) -> Option<MessageId> {
        let of = |side: Side| self.by_code.get(&(side, code.clone())).into_iter().flatten().copied();
        let answers =
            |number: &usize| self.messages.get(*number).is_some_and(|message| message.answer.is_some());
        let body = |number| MessageId { number, is_answer: false };
        let answer = |number| MessageId { number, is_answer: true };
        if from == Side::Client {
            return of(Side::Client).next().map(body);
        }
        let expected = asked.map(|(asked, _)| asked.number);
        of(Side::Client)
            .find(|number| Some(*number) == expected && answers(number))
            .map(answer)
            .or_else(|| of(Side::Server).next().map(body))
            .or_else(|| of(Side::Client).find(answers).map(answer))
    }

    /// The message whose code, in words, is in front.
    fn worded(
        &self,
        cursor: &mut Cursor,
        from: Side,
        asked: Option<(MessageId, &Values)>,
    ) -> Result<MessageId, DecodeError> {
        let content = cursor.frame.get(..cursor.end).unwrap_or_default();
        let mut longest: Option<(MessageId, usize)> = None;
        for (_, code) in self.by_code.keys() {
            let Code::Text(text) = code else { continue };
            let rest = content.strip_prefix(text.as_bytes());
            let is_whole = rest.is_some_and(|rest| rest.first().is_none_or(|next| *next == b' '));
            if is_whole && longest.is_none_or(|(_, len)| len < text.len()) {
                let message = self.message(code, from, asked).map(|message| (message, text.len()));
                longest = message.or(longest);
            }
        }
        let (message, len) = longest.ok_or_else(|| {
            let word = content.split(|byte| *byte == b' ').next().unwrap_or_default();
            DecodeError::UnknownCode { code: String::from_utf8_lossy(word).into_owned() }
        })?;
        cursor.at = len;
        Ok(message)
    }
}

pub(super) fn shown(code: &Code) -> String {
    match code {
        Code::Number(number) => number.to_string(),
        Code::Text(text) => format!("'{text}'"),
    }
}

struct Cursor<'a, 'v> {
    frame: &'a [u8],
    at: usize,
    /// End of the part that is read; what the frame does not have of it is 0.
    end: usize,
    encoding: Encoding,
    code: Option<Code>,
    /// What a size counts, the end of its field, and its value.
    size: Option<(Counted, usize, i128)>,
    /// The number of which the next fields have bits.
    shared: u64,
    /// Elements of lists up to now: one may have neither bytes nor items.
    elements: usize,
    values: &'v mut Values,
}

impl<'a, 'v> Cursor<'a, 'v> {
    fn new(frame: &'a [u8], end: usize, encoding: Encoding, values: &'v mut Values) -> Self {
        Self { frame, at: 0, end, encoding, code: None, size: None, shared: 0, elements: 0, values }
    }

    /// `is_top`: the offsets of fields count.
    fn run(&mut self, steps: &[Step], is_top: bool) -> Result<(), DecodeError> {
        for (step, fields) in level(steps) {
            if let Some(at) = step.at.filter(|_| is_top) {
                self.at = at;
            }
            let is_here =
                step.when.iter().all(|(slot, value)| self.values.slot(*slot) == Some((*value).into()));
            if !is_here || step.is_optional && self.at >= self.end {
                if step.has_item() {
                    self.push(step, Item::Missing)?;
                }
                continue;
            }
            self.step(step, fields)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, fields: &[Step]) -> Result<(), DecodeError> {
        if let StepKind::Bytes { is_text, value, is_code } = &step.kind {
            return self.bytes(step, *is_text, value.as_deref(), *is_code);
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

    fn one(&mut self, step: &Step, fields: &[Step]) -> Result<(), DecodeError> {
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
        let count = match count {
            Count::Fixed(count) => count,
            Count::Rest => 0,
            Count::Slot(slot) => {
                let count = self.values.slot(slot).unwrap_or_default();
                usize::try_from(count).map_err(|_| too_many())?
            }
            Count::Prefixed(_) if self.encoding == Encoding::Blanks => {
                let base = if let StepKind::Number(number) = &step.kind { number.base } else { 16 };
                usize::try_from(self.digits(step, base)?).map_err(|_| too_many())?
            }
            Count::Prefixed(size) => {
                usize::try_from(self.raw(step, size, ByteOrder::Big)?).map_err(|_| too_many())?
            }
        };
        if count > MAX_ITEMS { Err(too_many()) } else { Ok(count) }
    }

    /// The next bytes as a number without sign.
    fn raw(&mut self, step: &Step, size: usize, order: ByteOrder) -> Result<u64, DecodeError> {
        let begin = self.at;
        self.at += size;
        if self.at > self.end {
            return Err(DecodeError::Short { field: step.name.clone() });
        }
        let byte = |at: usize| self.frame.get(at).copied().unwrap_or(0);
        let add = |number: u64, at: usize| number << 8 | u64::from(byte(at));
        Ok(match order {
            ByteOrder::Big => (begin..begin + size).fold(0, add),
            ByteOrder::Little => (begin..begin + size).rev().fold(0, add),
        })
    }

    /// The next word.
    fn word(&mut self, step: &Step) -> Result<&[u8], DecodeError> {
        let content = self.frame.get(self.at..self.end).unwrap_or_default();
        let Some(content) = content.strip_prefix(b" ").filter(|content| !content.is_empty()) else {
            return Err(DecodeError::Short { field: step.name.clone() });
        };
        let word = content.split(|byte| *byte == b' ').next().unwrap_or_default();
        self.at += 1 + word.len();
        Ok(word)
    }

    fn digits(&mut self, step: &Step, base: u32) -> Result<i128, DecodeError> {
        let word = self.word(step)?;
        let text = std::str::from_utf8(word).unwrap_or_default();
        // A number with a sign is decimal.
        let base = if text.starts_with(['+', '-']) { 10 } else { base };
        let number = i64::from_str_radix(text, base).map(i128::from);
        number.map_err(|_| {
            let found = String::from_utf8_lossy(word).into_owned();
            DecodeError::Digits { field: step.name.clone(), found, base }
        })
    }

    fn bytes(
        &mut self,
        step: &Step,
        is_text: bool,
        value: Option<&[u8]>,
        is_code: bool,
    ) -> Result<(), DecodeError> {
        let (begin, end) = if self.encoding == Encoding::Blanks {
            let end = {
                self.word(step)?;
                self.at
            };
            let begin = self.frame.get(..end).unwrap_or_default().iter().rposition(|byte| *byte == b' ');
            (begin.map_or(0, |blank| blank + 1), end)
        } else {
            let count = match step.count.unwrap_or(Count::Rest) {
                Count::Rest => self.end.saturating_sub(self.at),
                count => self.count(step, count)?,
            };
            let begin = self.at;
            self.at += count;
            if self.at > self.end {
                return Err(DecodeError::Short { field: step.name.clone() });
            }
            (begin, self.at)
        };
        let mut found = self.frame.get(begin..end.min(self.frame.len())).unwrap_or_default();
        if is_code {
            self.code = Some(Code::Text(String::from_utf8_lossy(found).into_owned()));
            return Ok(());
        }
        if let Some(value) = value {
            let text = |bytes: &[u8]| {
                if is_text {
                    format!("{:?}", String::from_utf8_lossy(bytes))
                } else {
                    format!("{bytes:02x?}")
                }
            };
            if found == value {
                return Ok(());
            }
            let (found, expected) = (text(found), text(value));
            return Err(DecodeError::Other { field: step.name.clone(), found, expected });
        }
        if is_text {
            // Up to the first zero.
            found = found.split(|byte| *byte == 0).next().unwrap_or_default();
        }
        let start = self.values.bytes.len();
        self.values.bytes.extend_from_slice(found);
        self.push(step, Item::Bytes { start, len: found.len() })
    }

    fn number(&mut self, step: &Step, number: &NumberStep) -> Result<(), DecodeError> {
        let begin = self.at;
        let value = if self.encoding == Encoding::Blanks {
            Number::Whole(self.digits(step, number.base)?)
        } else {
            let raw = match number.bits {
                Some(bits) if bits.is_shared => self.shared,
                _ => self.raw(step, number.size, number.order)?,
            };
            self.shared = raw;
            value(raw, number)
        };
        let field = || step.name.clone();
        let whole = match value {
            Number::Whole(whole) => whole,
            Number::Real(_) => 0,
        };
        if let Some(slot) = number.slot {
            self.values.set_slot(slot, whole);
        }
        match &number.role {
            Role::Value => {}
            Role::Code => {
                self.code = Some(Code::Number(u64::try_from(whole).unwrap_or_default()));
                return Ok(());
            }
            Role::Size(counts) => {
                self.size = Some((*counts, self.at, whole));
                return Ok(());
            }
            Role::Constant(expected) if *expected == whole => return Ok(()),
            Role::Constant(expected) => {
                let (found, expected) = (whole.to_string(), expected.to_string());
                return Err(DecodeError::Other { field: field(), found, expected });
            }
            Role::Checksum(checksum) => {
                let mask = mask(number.size);
                let expected = checksum.of(self.frame.get(..begin).unwrap_or_default()) & mask;
                let found = u64::try_from(whole).unwrap_or_default();
                if found == expected {
                    return Ok(());
                }
                return Err(DecodeError::Checksum { field: field(), found, expected });
            }
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
}

/// The bits of so many bytes.
pub(super) fn mask(size: usize) -> u64 {
    if size >= 8 { u64::MAX } else { (1 << (8 * size)) - 1 }
}

fn value(raw: u64, number: &NumberStep) -> Number {
    let (raw, bits) = match number.bits {
        Some(bits) => (raw >> bits.lowest & mask_of_bits(bits.count), bits.count),
        None => (raw, 8 * u32::try_from(number.size).unwrap_or(8)),
    };
    Number::Whole(match number.form {
        Form::Float if number.size == 4 => {
            return Number::Real(f32::from_bits(u32::try_from(raw).unwrap_or_default()).into());
        }
        Form::Float => return Number::Real(f64::from_bits(raw)),
        Form::Bool => i128::from(raw != 0),
        Form::Unsigned => raw.into(),
        Form::Signed => {
            let is_negative = bits > 0 && raw >> (bits - 1) & 1 == 1;
            i128::from(raw) - if is_negative { 1_i128 << bits } else { 0 }
        }
    })
}

pub(super) fn mask_of_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}
