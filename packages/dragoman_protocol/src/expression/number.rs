//! Numbers of messages and of expressions.

use std::fmt;

/// A number on the wire or in an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number; large enough for 64 bits with and without sign.
    Whole(i128),
    /// A number of IEEE 754.
    Real(f64),
}

impl Number {
    /// As a real number; whole ones above 2^53 are rounded.
    pub fn real(self) -> f64 {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "documented")]
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    /// As a whole number of 64 bits, if it is one.
    pub fn whole(self) -> Option<i64> {
        match self {
            Self::Whole(whole) => i64::try_from(whole).ok(),
            #[allow(clippy::cast_possible_truncation, reason = "compared")]
            Self::Real(real) => Some(real as i64).filter(|whole| Self::Whole((*whole).into()).real() == real),
        }
    }

    /// Whether two numbers are equal, whole or not.
    pub(crate) fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a == b,
            _ => self.real() == other.real(),
        }
    }

    pub(crate) fn is_true(self) -> bool {
        self != Self::Whole(0) && self != Self::Real(0.0)
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Real(real) => write!(f, "{real}"),
        }
    }
}
