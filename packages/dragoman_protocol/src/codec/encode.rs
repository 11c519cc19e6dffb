//! From values to bytes.

mod text;
mod writer;

use super::decode::mask_of_bits;
use super::{Codec, Form, MessageId, NumberStep, Role, Step, Values};
use crate::cut::MarkWithin;
use crate::expression::{NoValue, Number};
use crate::model::{Code, Counted};
use writer::Writer;

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
    /// A text that would be two words, or none.
    #[error("field {0} is empty or has blanks")]
    NotAWord(String),
    /// A text with the separator of values.
    #[error("field {field} has '{separator}', which separates values")]
    HasSeparator {
        /// The field.
        field: String,
        /// The separator.
        separator: char,
    },
    /// A text with characters that the encoding of the field does not have.
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
    /// The receiver would cut the frame at another place.
    #[error(transparent)]
    MarkWithin(#[from] MarkWithin),
    /// The frame is longer than the description allows.
    #[error("{0} bytes are longer than a frame")]
    TooLong(usize),
}

impl Codec {
    /// Appends a message as it is on the wire: its frame with marks, escapes, and the end of its line. What receives it is a
    /// [`Cutter`](crate::cut::Cutter).
    ///
    /// # Errors
    /// As [`encode`](Self::encode); the frame has the bytes of a mark, and the description has no escape. `out` then is as
    /// before.
    pub fn encode_wire(
        &self,
        message: MessageId,
        values: &mut Values,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let begin = out.len();
        let encoded = self.encode(message, values, out);
        if self.envelope.is_empty() {
            if encoded.is_err() {
                out.truncate(begin);
            }
            return encoded;
        }
        let frame = out.split_off(begin);
        encoded?;
        self.envelope.wrap(&frame, out)?;
        let len = out.len() - begin;
        // Without escapes the maximum is that of all bytes.
        if !self.envelope.has_escapes() && self.protocol.frame.cut.most.is_some_and(|most| len > most) {
            out.truncate(begin);
            return Err(EncodeError::TooLong(len));
        }
        Ok(())
    }

    /// Appends the frame of a message to `out`, without marks and escapes. The slots of `values` are those of its counts and
    /// conditions afterwards, for the answer. A computed field has an item, of any kind, that is not read.
    ///
    /// # Errors
    /// The values are not those of the message.
    pub fn encode(
        &self,
        message: MessageId,
        values: &mut Values,
        out: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let code = self.protocol.messages.get(message.number);
        let code = code.map(|one| if message.is_answer { one.code_of_answer() } else { &one.code });
        let (Some(code), Some(steps)) = (code, self.program(message)) else {
            return Err(EncodeError::UnknownMessage);
        };
        values.slots.resize(self.slots, None);
        values.places.clear();
        values.places.resize(self.places, [0; 2]);
        let begin = out.len();
        let [head, tail] = self.around(message);
        let tail_size = if self.is_bare(message) { 0 } else { self.tail_size };
        let mut writer = Writer::new(out, code, values);
        writer.run(head, true)?;
        if self.separator.is_some() && !self.protocol.frame.cut.can {
            let at = writer.out.len();
            match code {
                Code::Text(text) => writer.out.extend_from_slice(text.as_bytes()),
                Code::Number(number) => writer.out.extend_from_slice(number.to_string().as_bytes()),
            }
            writer.values.set_place(self.code_place, [at - begin, writer.out.len() - begin]);
        }
        let body = writer.out.len();
        writer.separator = self.separator;
        writer.run(steps, true)?;
        writer.separator = None;
        let (end, rest) = (writer.out.len(), writer.rest(tail));
        if rest > 0 {
            return Err(EncodeError::Rest(rest));
        }
        if let Some([_, size]) = self.datagram {
            let room = size.saturating_sub(tail_size);
            if end - begin > room {
                return Err(EncodeError::TooLong(end - begin + tail_size));
            }
            writer.out.resize(begin + room, 0);
        }
        let place = [body - begin, writer.out.len() - begin];
        // The first value, behind a separator.
        let is_word = self.separator.is_some() && place[0] < place[1];
        writer.values.set_place(self.body_place, [place[0] + usize::from(is_word), place[1]]);
        if let Some((step, number, at)) = writer.size {
            let len = writer.out.len() + tail_size - begin;
            let size = match number.role {
                Role::Size(Counted::Rest) => len - (at + number.size() - begin),
                Role::Size(Counted::Body) => end - body,
                _ => len,
            };
            writer.patch(step, number, at, u64::try_from(size).unwrap_or(u64::MAX))?;
        }
        writer.sums(false)?;
        writer.run(tail, true)?;
        writer.sums(true)?;
        let len = writer.out.len() - begin;
        if self.protocol.frame.cut.most.is_some_and(|most| len > most) {
            return Err(EncodeError::TooLong(len));
        }
        Ok(())
    }
}

impl NumberStep {
    /// Bytes on the wire, if their number is fixed.
    fn size(&self) -> usize {
        self.digits.width.unwrap_or(self.size)
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
    whole_of(step, unscaled.round()).map(Number::Whole)
}

#[allow(clippy::cast_possible_truncation, reason = "within 64 bits")]
fn whole_of(step: &Step, real: f64) -> Result<i128, EncodeError> {
    let fits = real.is_finite() && real.abs() < 18_446_744_073_709_551_616.0 && real.fract() == 0.0;
    if fits { Ok(real as i128) } else { Err(out_of_range(step, real)) }
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
        Number::Real(real) => whole_of(step, real)?,
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
