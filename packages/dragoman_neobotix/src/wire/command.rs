//! Names of commands.

use std::fmt;

use super::CommandKind;

/// Name of its ROS service.
impl AsRef<str> for CommandKind {
    fn as_ref(&self) -> &str {
        self.service()
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CMD_{}", self.service().to_ascii_uppercase())
    }
}

/// Name of a command number in error messages.
pub(super) fn describe(number: u8) -> String {
    match CommandKind::from_number(number) {
        Some(kind) => format!("{kind} ({number})"),
        None => format!("command {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (index, kind) in CommandKind::all().enumerate() {
            assert_eq!(kind as usize, index);
            assert_eq!(CommandKind::from_number(kind.number()), Some(kind));
        }
    }

    /// PlatformCtrl guide, 6.1: 0 to 59 without a gap, and 74; 6.4: commands with a reply.
    #[test]
    fn numbers_are_the_guide_s() {
        let numbers: Vec<u8> = CommandKind::all().map(CommandKind::number).collect();
        assert_eq!(numbers, (0..60).chain([74]).collect::<Vec<_>>());
        let answered = CommandKind::all().filter(|kind| kind.is_answered()).map(CommandKind::number);
        assert_eq!(answered.collect::<Vec<_>>(), [10, 18, 26, 33, 38, 39, 41, 50, 59, 74]);
        assert_eq!(CommandKind::MoveVelWheel.to_string(), "CMD_MOVE_VEL_WHEEL");
    }
}
