//! Splits text into words, values and brackets.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::Arc;

use super::{ConfigError, MAX_DEPTH, MAX_TOKENS, Place, Problem, ValueKind};

/// Minimum number of words that an included file counts as, so that an empty file cannot be included without end.
const WORDS_PER_FILE: usize = 200;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// The name of a section or an option.
    Word,
    Value(ValueKind),
    /// `(`
    OpenSection,
    /// `)`
    CloseSection,
    /// `[`
    OpenTuple,
    /// `]`
    CloseTuple,
}

/// A word, a value or a bracket.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// The token as written, without quotes.
    pub(super) text: Arc<str>,
    pub(super) place: Place,
}

/// Returns the text of an included file.
type Include<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// The tokens of a text. The tokens of an included file replace its `include`.
pub(super) fn tokens(text: &str, include: Include<'_>) -> Result<Vec<Token>, ConfigError> {
    let mut tokens = Vec::new();
    let mut included = 0;
    Lexer::new(text, "".into()).run(&mut tokens, include, &mut included, 0)?;
    Ok(tokens)
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, file: Arc<str>) -> Self {
        Self { rest: text.chars().peekable(), place: Place { file, line: 1, column: 1 } }
    }

    fn error<T>(&self, problem: Problem) -> Result<T, ConfigError> {
        Err(ConfigError { place: self.place.clone(), problem })
    }

    /// The next character in its line. `None`: the line or the text ends.
    fn character(&mut self) -> Option<char> {
        let character = self.rest.next_if(|character| !matches!(character, '\n' | '\r'))?;
        self.place.column = self.place.column.saturating_add(1);
        Some(character)
    }

    /// Skips the end of a line: `\n`, `\r`, or both in any order.
    fn end_of_line(&mut self) {
        let Some(first) = self.rest.next() else { return };
        self.rest.next_if(|second| matches!((first, second), ('\n', '\r') | ('\r', '\n')));
        self.place.line = self.place.line.saturating_add(1);
        self.place.column = 1;
    }

    fn all(&mut self, wanted: impl Fn(char) -> bool) -> Arc<str> {
        let mut text = String::new();
        while self.rest.peek().is_some_and(|character| wanted(*character)) {
            text.extend(self.character());
        }
        text.into()
    }

    /// The next token.
    fn token(&mut self) -> Result<Option<Token>, ConfigError> {
        loop {
            let place = self.place.clone();
            let Some(next) = self.rest.peek().copied() else { return Ok(None) };
            let token = |kind, text| Ok(Some(Token { kind, text, place: place.clone() }));
            match next {
                '\n' | '\r' => self.end_of_line(),
                ' ' | '\t' => {
                    self.character();
                }
                '#' => while self.character().is_some() {},
                'a'..='z' | 'A'..='Z' => {
                    let text = self.all(|one| one.is_ascii_alphanumeric() || ".-_[]:".contains(one));
                    let is_flag = matches!(&*text, "true" | "false" | "yes" | "no");
                    let kind = if is_flag { TokenKind::Value(ValueKind::Flag) } else { TokenKind::Word };
                    return token(kind, text);
                }
                '0'..='9' | '+' | '-' | '.' => {
                    let text = self.all(|one| one.is_ascii_digit() || "+-.".contains(one));
                    return token(TokenKind::Value(ValueKind::Number), text);
                }
                '"' => {
                    self.character();
                    let text = self.all(|one| !matches!(one, '"' | '\n' | '\r'));
                    if self.character().is_none() {
                        return Err(ConfigError { place, problem: Problem::OpenQuote });
                    }
                    return token(TokenKind::Value(ValueKind::Text), text);
                }
                '(' | ')' | '[' | ']' => {
                    self.character();
                    let kind = match next {
                        '(' => TokenKind::OpenSection,
                        ')' => TokenKind::CloseSection,
                        '[' => TokenKind::OpenTuple,
                        _ => TokenKind::CloseTuple,
                    };
                    return token(kind, next.to_string().into());
                }
                other => return self.error(Problem::Character(other)),
            }
        }
    }

    fn run(
        mut self,
        tokens: &mut Vec<Token>,
        include: Include<'_>,
        included: &mut usize,
        depth: usize,
    ) -> Result<(), ConfigError> {
        while let Some(token) = self.token()? {
            if tokens.len() + *included >= MAX_TOKENS {
                return Err(ConfigError { place: token.place, problem: Problem::TooLong });
            }
            if token.kind != TokenKind::Word || &*token.text != "include" {
                tokens.push(token);
                continue;
            }
            let at = token.place;
            let name = match self.token()? {
                Some(Token { kind: TokenKind::Value(ValueKind::Text), text, .. }) => text,
                other => {
                    let found = other.map_or_else(String::new, |token| token.text.to_string());
                    let problem = Problem::Unexpected { found, expected: "a file's name in quotes" };
                    return Err(ConfigError { place: at, problem });
                }
            };
            if depth >= MAX_DEPTH {
                return Err(ConfigError { place: at, problem: Problem::TooDeep });
            }
            *included += WORDS_PER_FILE;
            let text = include(&name).map_err(|reason| {
                let problem = Problem::Include { name: name.to_string(), reason };
                ConfigError { place: at, problem }
            })?;
            Lexer::new(&text, name).run(tokens, include, included, depth + 1)?;
        }
        Ok(())
    }
}
