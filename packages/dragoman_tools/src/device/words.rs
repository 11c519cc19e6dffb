//! Parsers for words of the devices' commands.

use std::fmt::Display;
use std::str::FromStr;

use dragoman_sim::chassis::Wheels;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl Side {
    /// The value for this side.
    pub(super) fn of<T>(self, wheels: &mut Wheels<T>) -> &mut T {
        match self {
            Self::Left => &mut wheels.left,
            Self::Right => &mut wheels.right,
        }
    }
}

pub(super) fn side(text: &str) -> Result<Side, String> {
    match text {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => Err(format!("'{text}' is neither left nor right")),
    }
}

pub(super) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "1" => Ok(true),
        "off" | "0" => Ok(false),
        _ => Err(format!("'{text}' is neither on nor off")),
    }
}

/// A whole number from 0 to `max`.
pub(super) fn number<T>(text: &str, max: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let parsed = text.parse().ok().filter(|number| *number <= max);
    parsed.ok_or_else(|| format!("'{text}' is not a whole number from 0 to {max}"))
}
