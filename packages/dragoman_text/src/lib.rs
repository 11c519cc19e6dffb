//! Text from outside as text that is safe to show: in the log, on a terminal, in states.
//!
//! Names, messages and reasons may come from any client. A line break in them would look like another entry of the log,
//! an escape sequence changes the terminal, and a mark of the direction of writing shows a text in another order.
//!
//! `suggestion` proposes a known name for a misspelt one. `encoding` decodes the bytes of a file. `yaml` reads
//! documents that may contain unknown keys.
//!
//! [`excerpt`] and [`number`] shorten a text or a number from outside within a sentence, so that the end of the
//! sentence is not cut off.
//!
//! ```
//! assert_eq!(dragoman_text::line("hello\n\u{1b}[2J"), r"hello\n\u{1b}[2J");
//! assert_eq!(dragoman_text::nearest("Piooneer", ["pioneer", "puma"]), Some("pioneer"));
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod encoding;
mod suggestion;
pub mod yaml;

use std::borrow::Cow;
use std::fmt::Write as _;

pub use encoding::decode;
pub use suggestion::{hint, nearest};

/// Something in a document that was left out or read otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Where, from 1; 0 if unknown.
    pub line: usize,
    /// What it is, and what was done.
    pub text: String,
}

impl std::fmt::Display for Note {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => out.write_str(&self.text),
            line => write!(out, "line {line}: {}", self.text),
        }
    }
}

/// Maximum length of a line, characters.
const MAX_CHARS: usize = 2000;
/// Maximum length of a text within a sentence, characters.
const MAX_EXCERPT: usize = 80;

/// A text as one line, of a bounded length.
pub fn line(text: &str) -> Cow<'_, str> {
    cut(text, MAX_CHARS)
}

/// A name or a value within a sentence: as [`line()`], but short.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    cut(text, MAX_EXCERPT)
}

/// A number within a sentence. Very large and very small ones are in powers of ten: 1e300 instead of 301 digits.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e15).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let (shown, rest) = match text.char_indices().nth(most) {
        Some((at, _)) => text.split_at(at),
        None => (text, ""),
    };
    let shown = escaped(shown, is_unsafe);
    if rest.is_empty() {
        return shown;
    }
    format!("{shown}... ({} more characters)", rest.chars().count()).into()
}

/// A text of several lines, such as a table.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_unsafe(letter) && !matches!(letter, '\n' | '\t'))
}

fn escaped(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_unsafe) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            letter if !is_unsafe(letter) => escaped.push(letter),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            letter => {
                // Writing to a string does not fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(letter));
            }
        }
    }
    escaped.into()
}

/// Control characters (C0, DEL and C1), separators of lines and paragraphs, and marks of the direction of writing
/// (Unicode Standard Annex 9).
fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_marks_of_direction_are_escaped() {
        for (text, shown) in [
            ("plain text, äöü, 日本語, עברית \\ \"", "plain text, äöü, 日本語, עברית \\ \""),
            ("a\n2026-01-01T00:00:00Z ERROR forged", "a\\n2026-01-01T00:00:00Z ERROR forged"),
            ("\r\t\0", "\\r\\t\\u{0}"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
            ("\u{7f}\u{85}\u{9b}31m", "\\u{7f}\\u{85}\\u{9b}31m"),
            ("a\u{202e}b\u{202c}", "a\\u{202e}b\\u{202c}"),
            ("\u{2066}\u{2069}\u{200f}\u{61c}", "\\u{2066}\\u{2069}\\u{200f}\\u{61c}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
        ] {
            assert_eq!(line(text), shown);
        }
        for letter in ('\u{0}'..='\u{1f}').chain('\u{7f}'..='\u{9f}').chain('\u{202a}'..='\u{202e}') {
            assert!(!line(&format!("a{letter}b")).contains(letter), "{letter:?}");
        }
        assert_eq!(lines("a\tb\nc\u{1b}[1m\rd"), "a\tb\nc\\u{1b}[1m\\rd");
    }

    #[test]
    fn long_lines_are_cut() {
        let long = "ä".repeat(MAX_CHARS);
        assert_eq!(line(&long), long);
        assert_eq!(line(&format!("{long}xyz")), format!("{long}... (3 more characters)"));
        assert_eq!(excerpt("a\nb"), "a\\nb");
        assert_eq!(excerpt(&long), format!("{}... (1920 more characters)", "ä".repeat(MAX_EXCERPT)));
    }

    #[test]
    fn numbers_are_short() {
        for (value, shown) in [
            (0.0, "0"),
            (-5.0, "-5"),
            (0.001, "0.001"),
            (1e300, "1e300"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), shown);
        }
    }
}
