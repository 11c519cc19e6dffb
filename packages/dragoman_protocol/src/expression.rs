//! Expressions over the fields of a message, such as `(raw - 512) * 0.01` or `flags & 4 ? 1 : 0`.
//!
//! Numbers are decimal, hexadecimal (`0x1F`), binary (`0b101`) or with a decimal point; a character in quotes (`'N'`) is the
//! number of its byte; names are those of fields. A field with names for its values is compared with one of them in quotes:
//! `fault == 'motor'`. Operators in the order in which they bind, as in Python and Kaitai Struct:
//!
//! | | |
//! | --- | --- |
//! | `-x`, `( )` | |
//! | `min(a, b)`, `max(a, b)`, `abs(x)`, `sqrt(x)` | |
//! | `floor(x)` | the next whole number below |
//! | `sin(x)`, `cos(x)` | of an angle in rad |
//! | `has(field)` | 1 if the message has this field, 0 if it is missing |
//! | `*` `/` `%` | whole numbers are divided to whole ones, rounded down; the remainder has the divisor's sign |
//! | `+` `-` | |
//! | `<<` `>>` | of whole numbers |
//! | `&` | of whole numbers |
//! | `\|` | of whole numbers |
//! | `<` `<=` `>` `>=` `==` `!=` | 1 or 0; not chained |
//! | `condition ? a : b` | everything but 0 is true; only one side is computed |
//!
//! An expression is computed in a number of steps that is known beforehand. Arithmetic is checked: an overflow, a division
//! by zero, a shift by more bits than there are, and a result that is not finite are errors.

mod function;
mod number;

use std::cell::RefCell;
use std::collections::BTreeMap;

use function::Function;
pub use number::Number;

/// How deep expressions may be nested.
pub const MAX_DEPTH: usize = 16;
/// Operands that wait for an operator, at most: each level of nesting has up to one per level of precedence.
const MAX_STACK: usize = 128;
/// Steps of a short expression.
const SHORT: usize = 8;

/// Why a text is not an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {reason}")]
pub struct ExpressionError {
    /// Where in the text, from 1.
    pub column: usize,
    /// What is wrong.
    pub reason: String,
}

/// Why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoValue {
    /// The result does not fit.
    #[error("overflow")]
    Overflow,
    /// The divisor is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// An operation on bits has an operand that is not whole.
    #[error("{0} needs whole numbers")]
    NotWhole(&'static str),
    /// The result is not a number, or infinite.
    #[error("the result is not finite")]
    NotFinite,
    /// A field is missing in this message.
    #[error("a field is missing in this message")]
    Missing,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    Push(Number),
    /// The field with this number.
    Field(usize),
    /// Whether it is there.
    Has(usize),
    Function(Function),
    Binary(Binary),
    /// Takes a condition; goes on at this step if it is false.
    Unless(usize),
    /// Goes on at this step.
    GoTo(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Minimum,
    Maximum,
}

/// Operators by their precedence, the weakest first. Of two that begin alike the longer one comes first.
const OPERATORS: [&[(&str, Binary)]; 6] = [
    &[
        ("<=", Binary::LessOrEqual),
        (">=", Binary::GreaterOrEqual),
        ("==", Binary::Equal),
        ("!=", Binary::NotEqual),
        ("<", Binary::Less),
        (">", Binary::Greater),
    ],
    &[("|", Binary::Or)],
    &[("&", Binary::And)],
    &[("<<", Binary::ShiftLeft), (">>", Binary::ShiftRight)],
    &[("+", Binary::Add), ("-", Binary::Subtract)],
    &[("*", Binary::Multiply), ("/", Binary::Divide), ("%", Binary::Remainder)],
];
/// The level of [`OPERATORS`] that is not chained.
const COMPARISON: usize = 0;

/// An expression, ready to be computed without allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// In the order of computation; a jump goes forward.
    steps: Vec<Step>,
}

impl Expression {
    /// Reads an expression. `field` gives the number by which [`compute`](Self::compute) asks for a field.
    ///
    /// # Errors
    /// The text is not an expression, names an unknown field, or is nested deeper than [`MAX_DEPTH`].
    pub fn read(text: &str, field: &dyn Fn(&str) -> Option<usize>) -> Result<Self, ExpressionError> {
        Self::read_with_codes(text, field, &|name, _| Err(format!("{name} has no names for its values")))
    }

    /// As [`read`](Self::read); `code` gives the number that a field has if its value has this name, or the reason why there is
    /// none.
    ///
    /// # Errors
    /// As there; there is no such name.
    pub fn read_with_codes(
        text: &str,
        field: &dyn Fn(&str) -> Option<usize>,
        code: &dyn Fn(&str, &str) -> Result<i64, String>,
    ) -> Result<Self, ExpressionError> {
        let mut parser =
            Parser { text, at: 0, depth: 0, steps: Vec::new(), words: BTreeMap::new(), field, code };
        parser.choice()?;
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.error(format!("expected an operator or the end{}", parser.advice())));
        }
        let unused = parser.words.values().find(|word| matches!(word.kind, WordKind::Text(Quoted::Name)));
        if let Some(word) = unused {
            let reason = format!(
                "'{0}' is the name of a value: it can only be compared with a field that has such names, as in fault == '{0}'",
                word.text
            );
            return Err(parser.error_at(word.at, reason));
        }
        Ok(Self { steps: parser.steps })
    }

    /// The names of fields in a text; up to an error, if there is one.
    pub(crate) fn names(text: &str) -> Vec<String> {
        let names = RefCell::new(Vec::new());
        // Names that come before an error do no harm.
        let field = |name: &str| {
            names.borrow_mut().push(name.to_owned());
            Some(0)
        };
        let _ = Self::read_with_codes(text, &field, &|_, _| Ok(0));
        names.into_inner()
    }

    /// The value with these fields; a field that is missing in a message is `None`.
    ///
    /// # Errors
    /// See [`NoValue`].
    pub fn compute(&self, field: impl Fn(usize) -> Option<Number>) -> Result<Number, NoValue> {
        // Each step leaves one operand more, at most. Most expressions are short, and a large stack takes time to be made.
        if self.steps.len() <= SHORT { self.run::<SHORT>(field) } else { self.run::<MAX_STACK>(field) }
    }

    fn run<const SIZE: usize>(&self, field: impl Fn(usize) -> Option<Number>) -> Result<Number, NoValue> {
        let mut stack = Stack { values: [Number::Whole(0); SIZE], len: 0 };
        let mut at = 0;
        while let Some(step) = self.steps.get(at) {
            at += 1;
            match *step {
                Step::Push(number) => stack.push(number)?,
                Step::Field(number) => stack.push(field(number).ok_or(NoValue::Missing)?)?,
                Step::Has(number) => stack.push(Number::Whole(field(number).is_some().into()))?,
                Step::Function(function) => {
                    let value = stack.pop()?;
                    stack.push(function.apply(value)?)?;
                }
                Step::Binary(operation) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    stack.push(operation.apply(left, right)?)?;
                }
                Step::Unless(target) => {
                    if !stack.pop()?.is_true() {
                        at = target;
                    }
                }
                Step::GoTo(target) => at = target,
            }
        }
        match stack.pop()? {
            Number::Real(real) if !real.is_finite() => Err(NoValue::NotFinite),
            value => Ok(value),
        }
    }
}

struct Stack<const SIZE: usize> {
    values: [Number; SIZE],
    len: usize,
}

impl<const SIZE: usize> Stack<SIZE> {
    fn push(&mut self, value: Number) -> Result<(), NoValue> {
        *self.values.get_mut(self.len).ok_or(NoValue::Overflow)? = value;
        self.len += 1;
        Ok(())
    }

    fn pop(&mut self) -> Result<Number, NoValue> {
        self.len = self.len.checked_sub(1).ok_or(NoValue::Missing)?;
        self.values.get(self.len).copied().ok_or(NoValue::Missing)
    }
}

impl Binary {
    fn apply(self, left: Number, right: Number) -> Result<Number, NoValue> {
        use Number::{Real, Whole};
        if let Some(holds) = self.compare(left, right) {
            return Ok(Whole(holds.into()));
        }
        let (a, b) = match (self, left, right) {
            (Self::Minimum | Self::Maximum, ..) => {
                let is_left = (left.real() < right.real()) == (self == Self::Minimum);
                return Ok(if is_left { left } else { right });
            }
            (_, Whole(a), Whole(b)) => return self.whole(a, b).map(Whole),
            _ => (left.real(), right.real()),
        };
        Ok(Real(match self {
            Self::Multiply => a * b,
            Self::Divide if b == 0.0 => return Err(NoValue::DivisionByZero),
            Self::Divide => a / b,
            Self::Remainder if b == 0.0 => return Err(NoValue::DivisionByZero),
            Self::Remainder => a - b * (a / b).floor(),
            Self::Add => a + b,
            Self::Subtract => a - b,
            _ => return Err(NoValue::NotWhole(self.text())),
        }))
    }

    fn compare(self, left: Number, right: Number) -> Option<bool> {
        let order = match (left, right) {
            (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
            _ => left.real().partial_cmp(&right.real()),
        };
        Some(match self {
            Self::Less => order.is_some_and(|order| order.is_lt()),
            Self::LessOrEqual => order.is_some_and(|order| order.is_le()),
            Self::Greater => order.is_some_and(|order| order.is_gt()),
            Self::GreaterOrEqual => order.is_some_and(|order| order.is_ge()),
            Self::Equal => order.is_some_and(|order| order.is_eq()),
            Self::NotEqual => order.is_none_or(|order| order.is_ne()),
            _ => return None,
        })
    }

    fn whole(self, a: i128, b: i128) -> Result<i128, NoValue> {
        let bits = || u32::try_from(b).ok().filter(|bits| *bits < 64).ok_or(NoValue::Overflow);
        let result = match self {
            Self::Divide | Self::Remainder if b == 0 => return Err(NoValue::DivisionByZero),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_div(b).map(|quotient| {
                let is_exact = quotient.checked_mul(b) == Some(a);
                if is_exact || (a < 0) == (b < 0) { quotient } else { quotient - 1 }
            }),
            Self::Remainder => {
                a.checked_rem(b).map(|rest| if rest == 0 || (rest < 0) == (b < 0) { rest } else { rest + b })
            }
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::ShiftLeft => a.checked_mul(1_i128 << bits()?),
            Self::ShiftRight => Some(a >> bits()?),
            Self::And => Some(a & b),
            Self::Or => Some(a | b),
            _ => None,
        };
        result.ok_or(NoValue::Overflow)
    }

    fn text(self) -> &'static str {
        let all = OPERATORS.iter().copied().flatten();
        all.copied().find(|(_, operation)| *operation == self).map_or("it", |(text, _)| text)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    steps: Vec<Step>,
    /// Fields, and texts in quotes, by the steps that they are.
    words: BTreeMap<usize, Word<'a>>,
    field: &'a dyn Fn(&str) -> Option<usize>,
    code: &'a dyn Fn(&str, &str) -> Result<i64, String>,
}

/// A name of a field, or a text in quotes.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    /// Where it begins.
    at: usize,
    kind: WordKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordKind {
    Field,
    Text(Quoted),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    /// One character, which is also the number of its byte.
    Character,
    Name,
}

impl<'a> Parser<'a> {
    fn error(&self, reason: impl Into<String>) -> ExpressionError {
        self.error_at(self.at, reason)
    }

    fn error_at(&self, at: usize, reason: impl Into<String>) -> ExpressionError {
        let column = self.text.get(..at).unwrap_or_default().chars().count() + 1;
        ExpressionError { column, reason: reason.into() }
    }

    /// What is written otherwise in other languages.
    fn advice(&self) -> &'static str {
        // Of two characters the first may be read already.
        let behind = |back: usize| self.text.get(self.at.saturating_sub(back)..).unwrap_or_default();
        let begins = |word: &str| behind(0).starts_with(word);
        let is_double = ["&&", "||"].iter().any(|word| begins(word) || behind(1).starts_with(word));
        if is_double || begins("and ") || begins("or ") {
            "; and is written (a) & (b), or is written (a) | (b)"
        } else if begins("=") {
            "; equal is written =="
        } else if begins("!") || begins("not ") {
            "; not is written == 0"
        } else {
            ""
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn takes(&mut self, token: &str) -> bool {
        self.blanks();
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), ExpressionError> {
        if self.takes(token) { Ok(()) } else { Err(self.error(format!("expected {token}"))) }
    }

    /// `a`, or `condition ? a : b`.
    fn choice(&mut self) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.binary(0)?;
        if self.takes("?") {
            let unless = self.hole();
            self.choice()?;
            self.expect(":")?;
            let go_to = self.hole();
            self.fill(unless, Step::Unless);
            self.choice()?;
            self.fill(go_to, Step::GoTo);
        }
        self.depth -= 1;
        Ok(())
    }

    /// Keeps a place for a jump.
    fn hole(&mut self) -> usize {
        self.steps.push(Step::GoTo(0));
        self.steps.len() - 1
    }

    /// Lets the jump at `hole` lead to the next step.
    fn fill(&mut self, hole: usize, jump: fn(usize) -> Step) {
        let target = self.steps.len();
        if let Some(step) = self.steps.get_mut(hole) {
            *step = jump(target);
        }
    }

    /// Operators of this level of [`OPERATORS`], and of stronger ones.
    fn binary(&mut self, level: usize) -> Result<(), ExpressionError> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let left = self.steps.len();
        self.binary(level + 1)?;
        while let Some(operation) = self.operator(operators) {
            let right = self.steps.len();
            self.binary(level + 1)?;
            if matches!(operation, Binary::Equal | Binary::NotEqual) {
                self.name_of_value(left, right)?;
            }
            self.steps.push(Step::Binary(operation));
            if level == COMPARISON {
                break;
            }
        }
        Ok(())
    }

    /// A field that is compared with a text in quotes: the text is the name of one of its values. Both are one step each.
    fn name_of_value(&mut self, left: usize, right: usize) -> Result<(), ExpressionError> {
        if right != left + 1 || self.steps.len() != right + 1 {
            return Ok(());
        }
        let words = self.words.get(&left).copied().zip(self.words.get(&right).copied());
        let (field, text, step) = match words {
            Some((
                field @ Word { kind: WordKind::Field, .. },
                text @ Word { kind: WordKind::Text(_), .. },
            )) => (field, text, right),
            Some((
                text @ Word { kind: WordKind::Text(_), .. },
                field @ Word { kind: WordKind::Field, .. },
            )) => (field, text, left),
            _ => return Ok(()),
        };
        match (self.code)(field.text, text.text) {
            Ok(code) => {
                if let Some(step) = self.steps.get_mut(step) {
                    *step = Step::Push(Number::Whole(code.into()));
                }
                self.words.remove(&step);
            }
            // The number of a byte.
            Err(_) if text.kind == WordKind::Text(Quoted::Character) => {}
            Err(reason) => return Err(self.error_at(text.at, reason)),
        }
        Ok(())
    }

    fn operator(&mut self, operators: &[(&str, Binary)]) -> Option<Binary> {
        self.blanks();
        let rest = self.rest();
        // `<<` is not `<`.
        let is_shift = rest.starts_with("<<") || rest.starts_with(">>");
        let found =
            operators.iter().find(|(text, _)| rest.starts_with(text) && (text.len() > 1 || !is_shift));
        let (text, operation) = found?;
        self.at += text.len();
        Some(*operation)
    }

    fn unary(&mut self) -> Result<(), ExpressionError> {
        if !self.takes("-") {
            return self.primary();
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {MAX_DEPTH}")));
        }
        self.unary()?;
        self.depth -= 1;
        self.steps.push(Step::Function(Function::Negate));
        Ok(())
    }

    /// `has(field)`.
    fn has(&mut self) -> Result<(), ExpressionError> {
        self.expect("(")?;
        self.blanks();
        let begin = self.at;
        let word = self.word();
        let Some(field) = (self.field)(word) else {
            self.at = begin;
            return Err(self.error(format!("'{word}' is not an earlier field")));
        };
        self.steps.push(Step::Has(field));
        self.expect(")")
    }

    /// The next name or number.
    fn word(&mut self) -> &'a str {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.[]".contains(letter);
        let word = self.rest().split(|letter| !is_part(letter)).next().unwrap_or_default();
        self.at += word.len();
        word
    }

    fn primary(&mut self) -> Result<(), ExpressionError> {
        if self.takes("(") {
            self.choice()?;
            return self.expect(")");
        }
        let rest = self.rest();
        if let Some(quoted) = rest.strip_prefix('\'') {
            let wrong =
                "expected a character in quotes, such as 'N', or the name of a value, such as 'motor'";
            let Some((text, _)) = quoted.split_once('\'').filter(|(text, _)| !text.is_empty()) else {
                return Err(self.error(wrong));
            };
            let (number, kind) = match text.as_bytes() {
                [byte] if byte.is_ascii_graphic() => (*byte, Quoted::Character),
                _ => (0, Quoted::Name),
            };
            self.words.insert(self.steps.len(), Word { text, at: self.at, kind: WordKind::Text(kind) });
            self.at += text.len() + 2;
            self.steps.push(Step::Push(Number::Whole(number.into())));
            return Ok(());
        }
        let begin = self.at;
        let word = self.word();
        if let Some(function) = Function::named(word) {
            return self.function(&[Step::Function(function)], 1);
        }
        let step = match word {
            "" => return Err(self.error(format!("expected a number or a field{}", self.advice()))),
            "min" => return self.function(&[Step::Binary(Binary::Minimum)], 2),
            "max" => return self.function(&[Step::Binary(Binary::Maximum)], 2),
            "has" => return self.has(),
            _ if word.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
                number(word).map(Step::Push)
            }
            _ => {
                self.words.insert(self.steps.len(), Word { text: word, at: begin, kind: WordKind::Field });
                (self.field)(word).map(Step::Field)
            }
        };
        let step = step.ok_or_else(|| {
            self.at = begin;
            self.error(format!("'{word}' is neither a number nor an earlier field"))
        })?;
        self.steps.push(step);
        Ok(())
    }

    fn function(&mut self, steps: &[Step], arguments: usize) -> Result<(), ExpressionError> {
        self.expect("(")?;
        for number in 0..arguments {
            if number > 0 {
                self.expect(",")?;
            }
            self.choice()?;
        }
        self.expect(")")?;
        self.steps.extend_from_slice(steps);
        Ok(())
    }
}

fn number(word: &str) -> Option<Number> {
    let whole = match word.get(..2) {
        Some("0x") => i64::from_str_radix(word.get(2..)?, 16).ok(),
        Some("0b") => i64::from_str_radix(word.get(2..)?, 2).ok(),
        _ => word.parse().ok(),
    };
    let real = || word.parse().ok().filter(|real: &f64| real.is_finite() && word.contains('.'));
    whole.map(|whole| Number::Whole(whole.into())).or_else(|| real().map(Number::Real))
}

#[cfg(test)]
mod tests;
