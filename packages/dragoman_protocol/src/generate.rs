//! Code for programs that talk to a machine, made of a description: [`c`] and [`python`]. Unlike [`clients`](crate::clients),
//! which are parts of Dragoman's own clients, the files are complete: they encode, decode and need nothing else.

pub mod c;
pub mod python;

use crate::model::Code;
use crate::rust::sentence;

/// A code as it is written in texts.
pub(crate) fn code(code: &Code) -> String {
    match code {
        Code::Number(number) => number.to_string(),
        Code::Text(text) => format!("'{text}'"),
    }
}

/// One line, which begins with a capital letter and ends with a full stop.
pub(crate) fn statement(text: &str) -> String {
    let text = sentence(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Unit, meaning and scale of a field, for a comment; empty if there are none.
pub(crate) fn remark(field: &crate::model::Field) -> String {
    let parts = [field.unit.as_str(), field.meaning.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("; ").split_whitespace().collect::<Vec<_>>().join(" ")
}
