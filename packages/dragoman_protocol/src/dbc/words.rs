//! The words of a DBC file.

use std::str::FromStr;

use super::DbcError;

/// Characters that stand alone.
const MARKS: &str = ":|@()[],;";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// A name or a number.
    Plain,
    /// A text in quotes, without them.
    Quoted,
    /// One of [`MARKS`].
    Mark,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) kind: WordKind,
    /// From 1.
    pub(super) line: usize,
    /// Nothing is in front of it in its line.
    pub(super) is_first: bool,
}

/// Splits a text into words. A copy of it looks ahead.
#[derive(Debug, Clone)]
pub(super) struct Words<'a> {
    rest: &'a str,
    line: usize,
    is_first: bool,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, is_first: true }
    }

    /// The line that was reached.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The first `len` bytes, which are taken.
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            let newlines = self.take(blanks).matches('\n').count();
            self.line += newlines;
            self.is_first |= newlines > 0;
            if !self.rest.starts_with("//") {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
    }

    /// The next word; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Word<'a>>, DbcError> {
        self.skip_blanks();
        let (line, is_first) = (self.line, std::mem::take(&mut self.is_first));
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let (text, kind) = if first == '"' {
            self.take(1);
            let text = self.quoted().ok_or_else(|| DbcError::at(line, "a text has no \" at its end"))?;
            (text, WordKind::Quoted)
        } else if MARKS.contains(first) {
            (self.take(1), WordKind::Mark)
        } else {
            let is_end = |one: char| one.is_whitespace() || one == '"' || MARKS.contains(one);
            let end = self.rest.find(is_end).unwrap_or(self.rest.len());
            (self.take(end), WordKind::Plain)
        };
        Ok(Some(Word { text, kind, line, is_first }))
    }

    /// The text up to the closing quote, which may have quotes behind backslashes.
    fn quoted(&mut self) -> Option<&'a str> {
        let mut is_escaped = false;
        let end = self.rest.bytes().position(|byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        })?;
        let text = self.take(end);
        self.line += text.matches('\n').count();
        self.take(1);
        Some(text)
    }

    pub(super) fn peek(&self) -> Result<Option<Word<'a>>, DbcError> {
        self.clone().next()
    }

    /// The next word, which is of the same statement.
    pub(super) fn word(&mut self, what: &str) -> Result<Word<'a>, DbcError> {
        match self.next()? {
            Some(word) => Ok(word),
            None => Err(DbcError::at(self.line(), format!("the file ends in front of {what}"))),
        }
    }

    pub(super) fn plain(&mut self, what: &str) -> Result<Word<'a>, DbcError> {
        let word = self.word(what)?;
        if word.kind == WordKind::Plain { Ok(word) } else { Err(wrong(word, what)) }
    }

    pub(super) fn text(&mut self, what: &str) -> Result<&'a str, DbcError> {
        let word = self.word(what)?;
        if word.kind == WordKind::Quoted {
            Ok(word.text)
        } else {
            Err(wrong(word, &format!("{what} in quotes")))
        }
    }

    pub(super) fn mark(&mut self, mark: &str) -> Result<(), DbcError> {
        let word = self.word(&format!("'{mark}'"))?;
        if word.kind == WordKind::Mark && word.text == mark {
            Ok(())
        } else {
            Err(wrong(word, &format!("'{mark}'")))
        }
    }

    /// Takes the mark if it is next.
    pub(super) fn has_mark(&mut self, mark: &str) -> Result<bool, DbcError> {
        let is_next = self.peek()?.is_some_and(|word| word.kind == WordKind::Mark && word.text == mark);
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    pub(super) fn whole<T: FromStr>(&mut self, what: &str) -> Result<T, DbcError> {
        let word = self.plain(what)?;
        word.text.parse().map_err(|_| wrong(word, &format!("{what}, a whole number")))
    }

    pub(super) fn number(&mut self, what: &str) -> Result<f64, DbcError> {
        let word = self.plain(what)?;
        let number = word.text.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| wrong(word, &format!("{what}, a number")))
    }
}

/// What is expected, and what is there.
pub(super) fn wrong(word: Word<'_>, expected: &str) -> DbcError {
    DbcError::at(word.line, format!("expected {expected}, not '{}'", dragoman_text::excerpt(word.text)))
}
