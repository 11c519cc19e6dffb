//! Code for programs that talk to a machine, made of a description: [`c`] and [`python`]. Unlike [`clients`](crate::clients),
//! which are parts of Dragoman's own clients, the files are complete: they encode, decode and need nothing else.

pub mod c;
pub mod python;

use crate::model::{Code, Field};
use crate::rust::sentence;

/// A code as it is written in texts.
pub(crate) fn code(code: &Code) -> String {
    match code {
        Code::Number(number) => number.to_string(),
        Code::Text(text) => format!("'{text}'"),
    }
}

/// A text without ends of lines.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line, which begins with a capital letter and ends with a full stop.
pub(crate) fn statement(text: &str) -> String {
    let text = sentence(&one_line(text));
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Unit and meaning of a field, for a comment; empty if there are none.
pub(crate) fn remark(field: &Field) -> String {
    let parts = [field.unit.as_str(), field.meaning.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    one_line(&parts.join("; "))
}
