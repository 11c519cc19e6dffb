//! Values that are written as text.

use std::io::Write as _;

use super::{EncodeError, out_of_range};
use crate::codec::{Form, NumberStep, Step, TextStep};
use crate::expression::Number;
use crate::model::TextEncoding;

/// Appends a whole number, with zeros in front up to `least` digits.
pub(super) fn whole(value: i128, base: u32, least: usize, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    let value = value.unsigned_abs();
    // A vector takes everything.
    let _ = match base {
        16 => write!(out, "{value:0least$X}"),
        8 => write!(out, "{value:0least$o}"),
        2 => write!(out, "{value:0least$b}"),
        _ => write!(out, "{value:0least$}"),
    };
}

/// Appends a real number, with zeros in front up to `least` digits before the decimal point.
fn real(value: f64, is_single: bool, least: usize, decimals: Option<usize>, out: &mut Vec<u8>) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let begin = out.len();
    let value = value.abs();
    #[allow(clippy::cast_possible_truncation, reason = "the shortest text of a number of 32 bits")]
    let _ = match decimals {
        Some(decimals) => write!(out, "{value:.decimals$}"),
        None if is_single => write!(out, "{}", value as f32),
        None => write!(out, "{value}"),
    };
    let digits = out.get(begin..).unwrap_or_default();
    let digits = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let zeros = std::iter::repeat_n(b'0', least.saturating_sub(digits));
    out.splice(begin..begin, zeros);
}

/// Appends the digits of a number.
pub(super) fn number(
    step: &Step,
    number: &NumberStep,
    value: Number,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let (digits, begin) = (number.digits, out.len());
    let is_negative = value.real() < 0.0;
    // A fixed number of characters includes the sign, the point, and what follows it.
    let least = match digits.width {
        Some(width) => {
            let decimals = digits.decimals.map_or(0, |decimals| decimals + usize::from(decimals > 0));
            width.saturating_sub(decimals + usize::from(is_negative))
        }
        None => digits.least,
    };
    if number.form == Form::Float {
        if !value.real().is_finite() {
            return Err(out_of_range(step, value));
        }
        if digits.base != 10 {
            whole(super::raw(step, number, value)?.into(), digits.base, least, out);
            return Ok(());
        }
        real(value.real(), number.size == 4, least, digits.decimals, out);
    } else {
        let raw = super::raw(step, number, value)?;
        let (base, bits) = (digits.base, 8 * u32::try_from(number.size).unwrap_or(8));
        match value {
            // Other digits than decimal ones are two's complement.
            Number::Whole(value) if base == 10 => whole(value, base, least, out),
            Number::Real(value) if base == 10 => {
                whole(super::whole_of(step, value)?, base, least, out);
            }
            _ => whole((raw & crate::codec::decode::mask_of_bits(bits)).into(), base, least, out),
        }
    }
    if digits.width.is_some_and(|width| out.len() - begin != width) {
        out.truncate(begin);
        return Err(out_of_range(step, value));
    }
    Ok(())
}

/// Appends a text in the encoding of its field; bytes as they are.
pub(super) fn bytes(
    step: &Step,
    text: Option<TextStep>,
    bytes: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let not = |encoding| EncodeError::NotText { field: step.name.clone(), encoding };
    match text.and_then(|text| text.encoding) {
        Some(TextEncoding::Latin1) => {
            let text = std::str::from_utf8(bytes).map_err(|_| not("Latin-1"))?;
            for character in text.chars() {
                out.push(u8::try_from(u32::from(character)).map_err(|_| not("Latin-1"))?);
            }
            return Ok(());
        }
        Some(TextEncoding::Utf8) if std::str::from_utf8(bytes).is_err() => return Err(not("UTF-8")),
        Some(TextEncoding::Ascii) if !bytes.is_ascii() => return Err(not("ASCII")),
        _ => out.extend_from_slice(bytes),
    }
    Ok(())
}
