//! Values that are written as text.

use super::DecodeError;
use crate::codec::{Form, NumberStep, Step, TextStep};
use crate::expression::Number;
use crate::model::TextEncoding;

/// A number of 64 bits. One with a sign is decimal, whatever the base.
pub(super) fn whole(word: &[u8], base: u32) -> Option<i128> {
    let text = std::str::from_utf8(word).ok()?.trim_matches(' ');
    let base = if text.starts_with(['+', '-']) { 10 } else { base };
    let number = i128::from_str_radix(text, base).ok()?;
    (i128::from(i64::MIN)..=u64::MAX.into()).contains(&number).then_some(number)
}

fn real(word: &[u8], size: usize) -> Option<f64> {
    let text = std::str::from_utf8(word).ok()?.trim_matches(' ');
    let real = if size == 4 { text.parse().map(|real: f32| real.into()) } else { text.parse::<f64>() };
    // Rust also reads "inf" and "nan".
    real.ok().filter(|real| real.is_finite())
}

/// A real number whose bits are written as a whole one.
fn of_bits(word: &[u8], base: u32, size: usize) -> Option<f64> {
    let bits = u64::try_from(whole(word, base)?).ok()?;
    let real =
        if size == 4 { f32::from_bits(u32::try_from(bits).ok()?).into() } else { f64::from_bits(bits) };
    Some(real).filter(|real| real.is_finite())
}

pub(super) fn not_digits(step: &Step, word: &[u8], base: u32) -> DecodeError {
    DecodeError::Digits { field: step.name.clone(), found: String::from_utf8_lossy(word).into_owned(), base }
}

/// The number in a word.
pub(super) fn number(step: &Step, number: &NumberStep, word: &[u8]) -> Result<Number, DecodeError> {
    let base = number.digits.base;
    if number.form == Form::Float {
        let found = if base == 10 { real(word, number.size) } else { of_bits(word, base, number.size) };
        return found.map(Number::Real).ok_or_else(|| not_digits(step, word, base));
    }
    let value = whole(word, base).ok_or_else(|| not_digits(step, word, base))?;
    let bits = 8 * u32::try_from(number.size).unwrap_or(8);
    let above = 1_i128 << bits;
    let value = match number.form {
        // Digits that are not decimal are two's complement.
        Form::Signed if base != 10 && value >= above / 2 && value < above => value - above,
        Form::Bool => i128::from(value != 0),
        _ => value,
    };
    let range = match number.form {
        Form::Signed => -above / 2..above / 2,
        _ => 0..above,
    };
    if !range.contains(&value) {
        let found = String::from_utf8_lossy(word).into_owned();
        return Err(DecodeError::OutOfRange { field: step.name.clone(), found });
    }
    Ok(Number::Whole(value))
}

/// Appends a text in UTF-8, without what fills it; without an encoding, its bytes.
pub(super) fn append(
    step: &Step,
    text: TextStep,
    found: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let found = if text.pad == 0 {
        found.split(|byte| *byte == 0).next().unwrap_or_default()
    } else {
        let len = found.iter().rposition(|byte| *byte != text.pad).map_or(0, |last| last + 1);
        found.get(..len).unwrap_or_default()
    };
    let not = |encoding| Err(DecodeError::NotText { field: step.name.clone(), encoding });
    match text.encoding {
        Some(TextEncoding::Latin1) => {
            for byte in found {
                out.extend_from_slice(char::from(*byte).encode_utf8(&mut [0; 4]).as_bytes());
            }
            return Ok(());
        }
        Some(TextEncoding::Utf8) if std::str::from_utf8(found).is_err() => return not("UTF-8"),
        Some(TextEncoding::Ascii) if !found.is_ascii() => return not("ASCII"),
        _ => out.extend_from_slice(found),
    }
    Ok(())
}
