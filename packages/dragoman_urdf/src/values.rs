//! Numbers and names in attributes.

use crate::xml::Element;

/// What is wrong with an element, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) text: String,
}

pub(crate) type Read<T> = Result<T, Fault>;

pub(crate) fn fault<T>(element: &Element, text: impl Into<String>) -> Read<T> {
    Err(Fault { line: element.line, text: text.into() })
}

/// An attribute that must be there.
pub(crate) fn required<'e>(element: &'e Element, name: &str) -> Read<&'e str> {
    match element.attribute(name) {
        Some(value) => Ok(value),
        None => fault(element, format!("<{}> has no {name}", element.name)),
    }
}

/// A number; `None` if the attribute is not there.
pub(crate) fn number(element: &Element, name: &str) -> Read<Option<f64>> {
    let Some(value) = element.attribute(name) else { return Ok(None) };
    match value.trim().parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(Some(number)),
        _ => fault(element, format!("{name}=\"{value}\" of <{}> is no number", element.name)),
    }
}

pub(crate) fn required_number(element: &Element, name: &str) -> Read<f64> {
    required(element, name)?;
    Ok(number(element, name)?.unwrap_or_default())
}

/// Finite numbers between spaces; `None` if the attribute is not there.
pub(crate) fn numbers<const N: usize>(element: &Element, name: &str) -> Read<Option<[f64; N]>> {
    let Some(value) = element.attribute(name) else { return Ok(None) };
    let found: Option<Vec<f64>> = value
        .split_whitespace()
        .map(|word| word.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    match found.and_then(|found| <[f64; N]>::try_from(found).ok()) {
        Some(found) => Ok(Some(found)),
        None => fault(element, format!("{name}=\"{value}\" of <{}> is not {N} numbers", element.name)),
    }
}
