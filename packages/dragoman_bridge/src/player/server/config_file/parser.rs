//! Combines words, values and brackets to sections.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::lexer::{Token, TokenKind};
use super::{ConfigError, MAX_DEPTH, MAX_TOKENS, Place, Problem, Section, Value, ValueKind};

const AT_END: &str = "the end of the file";

/// The sections, the global options first, and the plugins.
pub(super) fn parse(tokens: Vec<Token>) -> Result<(Vec<Section>, Vec<Value>), ConfigError> {
    let place = Place { file: "".into(), line: 1, column: 1 };
    let global = Section { kind: "".into(), place, options: BTreeMap::new() };
    let mut parser = Parser {
        tokens: tokens.into(),
        steps: 0,
        definitions: BTreeMap::new(),
        sections: vec![global],
        plugins: Vec::new(),
    };
    let mut at = 0;
    while let Some(token) = parser.token(at)? {
        at = match (token.kind, &*token.text) {
            (TokenKind::Word, "define") => parser.definition(at + 1)?,
            (TokenKind::Word, "plugin") => parser.plugin(at + 1)?,
            (TokenKind::Word, _) => parser.statement(0, at, 0)?,
            _ => return parser.unexpected(at, "the name of a section or an option"),
        };
    }
    Ok((parser.sections, parser.plugins))
}

struct Parser {
    tokens: Arc<[Token]>,
    /// Number of tokens read so far. Definitions are parsed at each use, so it may exceed the number of tokens.
    steps: usize,
    /// Index of the base of each definition.
    definitions: BTreeMap<Arc<str>, usize>,
    sections: Vec<Section>,
    plugins: Vec<Value>,
}

impl Parser {
    /// The token with this index.
    fn token(&mut self, at: usize) -> Result<Option<Token>, ConfigError> {
        let token = self.tokens.get(at).cloned();
        self.steps += 1;
        match token {
            Some(Token { place, .. }) if self.steps > 4 * MAX_TOKENS => {
                Err(ConfigError { place, problem: Problem::TooLong })
            }
            token => Ok(token),
        }
    }

    /// The token with this index, inside of the brackets that were opened at `open`.
    fn within(&mut self, at: usize, open: &Place) -> Result<Token, ConfigError> {
        let problem = Problem::OpenBracket;
        self.token(at)?.ok_or_else(|| ConfigError { place: open.clone(), problem })
    }

    fn unexpected<T>(&self, at: usize, expected: &'static str) -> Result<T, ConfigError> {
        let token = self.tokens.get(at).or(self.tokens.last());
        let place = token.map_or(Place { file: "".into(), line: 1, column: 1 }, |token| token.place.clone());
        let found = self.tokens.get(at).map_or_else(|| AT_END.to_owned(), |token| token.text.to_string());
        Err(ConfigError { place, problem: Problem::Unexpected { found, expected } })
    }

    /// `NAME BASE ( ... )`. Its content is parsed at each use. Returns the index of the next token.
    fn definition(&mut self, at: usize) -> Result<usize, ConfigError> {
        let is = |token: Option<Token>, kind| token.filter(|token| token.kind == kind);
        let Some(name) = is(self.token(at)?, TokenKind::Word) else {
            return self.unexpected(at, "the name of a definition");
        };
        if is(self.token(at + 1)?, TokenKind::Word).is_none() {
            return self.unexpected(at + 1, "the section or definition that it is made of");
        }
        let Some(open) = is(self.token(at + 2)?, TokenKind::OpenSection) else {
            return self.unexpected(at + 2, "(");
        };
        // As in the original, the first definition of a name is valid.
        self.definitions.entry(name.text).or_insert(at + 1);
        let (mut depth, mut end) = (1_usize, at + 3);
        while depth > 0 {
            match self.within(end, &open.place)?.kind {
                TokenKind::OpenSection => depth += 1,
                TokenKind::CloseSection => depth -= 1,
                _ => {}
            }
            end += 1;
        }
        Ok(end)
    }

    /// `"LIBRARY"`
    fn plugin(&mut self, at: usize) -> Result<usize, ConfigError> {
        match self.token(at)? {
            Some(Token { kind: TokenKind::Value(kind @ ValueKind::Text), text, place }) => {
                self.plugins.push(Value::new(kind, text, place));
                Ok(at + 1)
            }
            _ => self.unexpected(at, "a library's name in quotes"),
        }
    }

    /// `NAME ( ... )`, `NAME VALUE` or `NAME [ VALUE ... ]` in this section.
    fn statement(&mut self, section: usize, at: usize, depth: usize) -> Result<usize, ConfigError> {
        match self.token(at + 1)?.map(|token| token.kind) {
            Some(TokenKind::OpenSection) => self.section(at, depth + 1),
            Some(TokenKind::Value(_) | TokenKind::OpenTuple) => self.option(section, at),
            _ => self.unexpected(at + 1, "a value, [ or ("),
        }
    }

    /// `NAME ( ... )`, where the name may be that of a definition.
    fn section(&mut self, at: usize, depth: usize) -> Result<usize, ConfigError> {
        let (Some(name), Some(open)) = (self.token(at)?, self.token(at + 1)?) else {
            return self.unexpected(at, "a section");
        };
        if depth > MAX_DEPTH {
            return Err(ConfigError { place: name.place, problem: Problem::TooDeep });
        }
        let section = self.sections.len();
        match self.definitions.get(&name.text).copied() {
            Some(base) => {
                self.section(base, depth + 1)?;
                if let Some(section) = self.sections.get_mut(section) {
                    section.place = name.place;
                }
            }
            None => {
                let section = Section { kind: name.text, place: name.place, options: BTreeMap::new() };
                self.sections.push(section);
            }
        }
        let mut at = at + 2;
        loop {
            match self.within(at, &open.place)?.kind {
                TokenKind::Word => at = self.statement(section, at, depth)?,
                TokenKind::CloseSection => return Ok(at + 1),
                _ => return self.unexpected(at, "an option or )"),
            }
        }
    }

    /// `NAME VALUE` or `NAME [ VALUE ... ]`.
    fn option(&mut self, section: usize, at: usize) -> Result<usize, ConfigError> {
        let (Some(name), Some(first)) = (self.token(at)?, self.token(at + 1)?) else {
            return self.unexpected(at, "an option");
        };
        if let TokenKind::Value(kind) = first.kind {
            self.set(section, name.text, 0, Value::new(kind, first.text, first.place));
            return Ok(at + 2);
        }
        for index in 0.. {
            let at = at + 2 + index;
            let token = self.within(at, &first.place)?;
            match token.kind {
                TokenKind::Value(kind) => {
                    let value = Value::new(kind, token.text, token.place);
                    self.set(section, name.text.clone(), index, value);
                }
                TokenKind::CloseTuple => return Ok(at + 1),
                _ => return self.unexpected(at, "a value or ]"),
            }
        }
        Ok(at)
    }

    fn set(&mut self, section: usize, name: Arc<str>, index: usize, value: Value) {
        let Some(section) = self.sections.get_mut(section) else { return };
        let values = section.options.entry(name).or_default();
        match values.get_mut(index) {
            Some(old) => *old = value,
            None => values.push(value),
        }
    }
}
