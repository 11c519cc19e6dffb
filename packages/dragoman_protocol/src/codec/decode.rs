//! From bytes to values.

mod cursor;
mod text;

use cursor::Cursor;

use super::{Codec, Form, FoundCode, MessageId, NumberStep, Values};
use crate::cut::Begin;
use crate::expression::{NoValue, Number};
use crate::model::{Code, Counted, Side};

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
    /// Digits of a number that is too large for its type.
    #[error("field {field} is \"{found}\", which does not fit its type")]
    OutOfRange {
        /// The field.
        field: String,
        /// What it has.
        found: String,
    },
    /// Bytes that are not a text of the encoding of the field.
    #[error("field {field} is not {encoding}")]
    NotText {
        /// The field.
        field: String,
        /// The encoding.
        encoding: &'static str,
    },
    /// The expression of a value or of a condition has no result.
    #[error("field {field}: {reason}")]
    Expression {
        /// The field.
        field: String,
        /// Why.
        reason: NoValue,
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
        values.begin(self.slots, self.places, asked.map(|(_, values)| values));
        let bare = self.bare_answer(from, asked);
        let (tail, tail_size) = if bare.is_some() { (&[][..], 0) } else { (&self.tail[..], self.tail_size) };
        let end = len.saturating_sub(tail_size);
        let mut cursor = Cursor::new(frame, end, values);
        cursor.code = id.map(FoundCode::Number);
        let message = match bare {
            Some(answer) => answer,
            None => self.head(&mut cursor, from, asked)?,
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
        cursor.separator = self.separator;
        cursor.run(self.program(message).unwrap_or_default(), true)?;
        let furthest = cursor.furthest.max(cursor.at);
        if furthest < end && self.datagram.is_none() {
            return Err(DecodeError::Long { bytes: end - furthest });
        }
        // The first value, behind a separator.
        let begin = begin + usize::from(self.separator.is_some() && begin < end);
        cursor.values.set_place(self.body_place, [begin, end]);
        (cursor.at, cursor.end, cursor.separator) = (end, len, None);
        cursor.run(tail, true)?;
        cursor.verify_later()?;
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

    /// What a buffer begins with, if each code has a size of its own. `scratch` is used again for the next buffer.
    pub fn measure(&self, buffer: &[u8], from: Side, scratch: &mut Values) -> Begin {
        self.measure_asked(buffer, from, None, scratch)
    }

    /// As [`measure`](Self::measure), where the answer to this question is expected.
    pub fn measure_asked(
        &self,
        buffer: &[u8],
        from: Side,
        asked: Option<(MessageId, &Values)>,
        scratch: &mut Values,
    ) -> Begin {
        scratch.begin(self.slots, self.places, asked.map(|(_, values)| values));
        let mut cursor = Cursor::new(buffer, buffer.len(), scratch);
        // Decoding reports a wrong check sum.
        cursor.is_measuring = true;
        let message = match self.bare_answer(from, asked) {
            Some(answer) => Ok(answer),
            None => self.head(&mut cursor, from, None),
        };
        let measured = message.and_then(|message| {
            cursor.run(self.program(message).unwrap_or_default(), true)?;
            cursor.run(self.around(message)[1], true)
        });
        match measured {
            Ok(()) if cursor.at == 0 => Begin::Garbage(1),
            Ok(()) => Begin::Frame { len: cursor.at, from: 0, to: cursor.at },
            Err(DecodeError::Short { .. }) => Begin::Incomplete,
            Err(_) => Begin::Garbage(1),
        }
    }

    /// The answer to this question, if it has no code of its own.
    fn bare_answer(&self, from: Side, asked: Option<(MessageId, &Values)>) -> Option<MessageId> {
        let answer = MessageId { is_answer: true, ..asked?.0 };
        (from == Side::Server && self.is_bare(answer)).then_some(answer)
    }

    fn first_missing(&self, len: usize) -> String {
        format!("{} (it has {len} bytes)", self.head.last().map_or("data", |step| step.name.as_str()))
    }

    /// Reads what is in front of the body, and finds the message.
    fn head<'a>(
        &'a self,
        cursor: &mut Cursor<'a, '_>,
        from: Side,
        asked: Option<(MessageId, &Values)>,
    ) -> Result<MessageId, DecodeError> {
        cursor.run(&self.head, true)?;
        if let (Some(separator), None) = (self.separator, cursor.code) {
            return self.worded(cursor, separator, from, asked);
        }
        let code = cursor.code.take().unwrap_or(FoundCode::Number(0));
        self.message(code, from, asked).ok_or_else(|| {
            let code = match code {
                _ if cursor.is_measuring => String::new(),
                FoundCode::Number(number) => number.to_string(),
                FoundCode::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
            };
            DecodeError::UnknownCode { code }
        })
    }

    /// The message with this code. What the server sends with the code of the question is its answer; otherwise it is a
    /// message of its own, or the answer to a question that was not asked here.
    fn message(
        &self,
        code: FoundCode<'_>,
        from: Side,
        asked: Option<(MessageId, &Values)>,
    ) -> Option<MessageId> {
        let coded = self.codes.find(code)?;
        let body = |number: &usize| MessageId { number: *number, is_answer: false };
        let answer = |number: &usize| MessageId { number: *number, is_answer: true };
        if from == Side::Client {
            return coded.clients.first().map(body);
        }
        let asked = asked.and_then(|(asked, _)| coded.answers.iter().find(|one| **one == asked.number));
        asked
            .map(answer)
            .or_else(|| coded.servers.first().map(body))
            .or_else(|| coded.answers.first().map(answer))
    }

    /// The message whose code, in words, is in front: the longest one.
    fn worded(
        &self,
        cursor: &mut Cursor<'_, '_>,
        separator: u8,
        from: Side,
        asked: Option<(MessageId, &Values)>,
    ) -> Result<MessageId, DecodeError> {
        let content = cursor.rest();
        let longest = self.codes.longest.min(content.len());
        let is_end = |len: &usize| content.get(*len).is_none_or(|next| *next == separator);
        let found = (0..=longest).rev().filter(is_end).find_map(|len| {
            let message = self.message(FoundCode::Text(content.get(..len)?), from, asked)?;
            Some((message, len))
        });
        let (message, len) = found.ok_or_else(|| {
            let word = content.split(|byte| *byte == separator).next().unwrap_or_default();
            DecodeError::UnknownCode { code: String::from_utf8_lossy(word).into_owned() }
        })?;
        cursor.values.set_place(self.code_place, [cursor.at, cursor.at + len]);
        cursor.at += len;
        Ok(message)
    }
}

pub(super) fn shown(code: &Code) -> String {
    match code {
        Code::Number(number) => number.to_string(),
        Code::Text(text) => format!("'{text}'"),
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
