//! Functions of one number.

use super::{NoValue, Number};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Negate,
    Absolute,
    /// The next whole number below.
    Floor,
    /// Of an angle in rad.
    Sine,
    Cosine,
    SquareRoot,
}

impl Function {
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "abs" => Self::Absolute,
            "floor" => Self::Floor,
            "sin" => Self::Sine,
            "cos" => Self::Cosine,
            "sqrt" => Self::SquareRoot,
            _ => return None,
        })
    }

    pub(super) fn apply(self, value: Number) -> Result<Number, NoValue> {
        use Number::{Real, Whole};
        let real = value.real();
        let finite = |real: f64| if real.is_finite() { Ok(Real(real)) } else { Err(NoValue::NotFinite) };
        match (self, value) {
            (Self::Negate, Whole(whole)) => whole.checked_neg().map(Whole).ok_or(NoValue::Overflow),
            (Self::Absolute, Whole(whole)) => whole.checked_abs().map(Whole).ok_or(NoValue::Overflow),
            (Self::Floor, Whole(_)) => Ok(value),
            (Self::Floor, Real(_)) => {
                let whole = Real(real.floor()).whole().ok_or(NoValue::Overflow)?;
                Ok(Whole(whole.into()))
            }
            (Self::Negate, Real(_)) => Ok(Real(-real)),
            (Self::Absolute, Real(_)) => Ok(Real(real.abs())),
            (Self::Sine, _) => finite(real.sin()),
            (Self::Cosine, _) => finite(real.cos()),
            (Self::SquareRoot, _) => finite(real.sqrt()),
        }
    }
}
