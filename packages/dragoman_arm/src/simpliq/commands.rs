//! The commands of the interpreter that the driver uses, and the interpreter's error codes.

use std::fmt;

/// A command: two letters and an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Command {
    /// The letters, upper case.
    pub letters: [u8; 2],
    /// The index, 0 where the command has none.
    pub index: u16,
}

/// Description of a command and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct CommandInfo {
    pub letters: [u8; 2],
    /// Lowest and highest index.
    pub indices: (u16, u16),
    /// Whether the value is a float.
    pub is_float: bool,
    /// Its description, with the unit.
    pub text: &'static str,
}

/// The commands (Ranger thesis, 3.2.2 and `elmoarm2.cpp`; protocols.md, SimplIQ).
pub const COMMANDS: [CommandInfo; 20] = [
    info(b"BG", (0, 0), false, "begin motion"),
    info(b"EC", (0, 0), false, "last error of the interpreter"),
    info(b"IQ", (0, 0), true, "active current, A"),
    info(b"JV", (0, 0), false, "jogging velocity, counts/s"),
    info(b"MF", (0, 0), false, "why the motor was switched off"),
    info(b"MO", (0, 0), false, "motor on"),
    info(b"MP", (1, 6), false, "set-up of PT motion"),
    info(b"PA", (0, 0), false, "absolute position to go to, counts"),
    info(b"PT", (0, 0), false, "PT motion: row to start at, row that is read"),
    info(b"PX", (0, 0), false, "position, counts"),
    info(b"QP", (1, super::QUEUE_ROWS), false, "position of a row of the queue, counts"),
    info(b"QT", (1, super::QUEUE_ROWS), false, "time of a row of the queue, ms"),
    info(b"SD", (0, 0), false, "deceleration of a stop, counts/s^2"),
    info(b"SR", (0, 0), false, "status register"),
    info(b"ST", (0, 0), false, "stop motion"),
    info(b"TC", (0, 0), true, "current to the motor, A"),
    info(b"TI", (1, 1), false, "temperature of the drive, degrees Celsius"),
    info(b"UM", (0, 0), false, "unit mode"),
    info(b"VR", (0, 0), false, "version of the firmware"),
    info(b"VX", (0, 0), false, "velocity, counts/s"),
];

const fn info(letters: &[u8; 2], indices: (u16, u16), is_float: bool, text: &'static str) -> CommandInfo {
    CommandInfo { letters: *letters, indices, is_float, text }
}

impl Command {
    /// Begin motion.
    pub const BEGIN: Self = Self::new(b"BG");
    /// Active current in A, a float.
    pub const CURRENT: Self = Self::new(b"IQ");
    /// Jogging velocity in counts/s.
    pub const JOG: Self = Self::new(b"JV");
    /// Why the motor was switched off.
    pub const MOTOR_FAILURE: Self = Self::new(b"MF");
    /// Motor on (1) or off (0).
    pub const MOTOR: Self = Self::new(b"MO");
    /// Set-up of PT motion, indices 1 to 6; see [`motion`].
    pub const MOTION: Self = Self::new(b"MP");
    /// PT motion: the start row when set, the present row when read.
    pub const PT: Self = Self::new(b"PT");
    /// Position in counts.
    pub const POSITION: Self = Self::new(b"PX");
    /// A row's position in counts, indices 1 to 1024.
    pub const QUEUE: Self = Self::new(b"QP");
    /// The status register, see [`super::Status`].
    pub const STATUS: Self = Self::new(b"SR");
    /// Stop motion.
    pub const STOP: Self = Self::new(b"ST");
    /// Current to the motor in A, a float.
    pub const TORQUE: Self = Self::new(b"TC");
    /// Temperature of the drive in degrees Celsius, index 1.
    pub const TEMPERATURE: Self = Self::new(b"TI").at(1);
    /// Unit mode, see [`unit_mode`].
    pub const UNIT_MODE: Self = Self::new(b"UM");
    /// Velocity in counts/s.
    pub const VELOCITY: Self = Self::new(b"VX");

    /// A command without index.
    pub const fn new(letters: &[u8; 2]) -> Self {
        Self { letters: *letters, index: 0 }
    }

    /// A command with an index.
    #[must_use]
    pub const fn at(self, index: u16) -> Self {
        Self { index, ..self }
    }

    /// Its entry in the table of commands.
    pub fn info(&self) -> Option<&'static CommandInfo> {
        COMMANDS.iter().find(|known| known.letters == self.letters)
    }
}

/// The command as a person writes it, for example `MP[5]`.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.letters;
        write!(f, "{}{}", char::from(first), char::from(second))?;
        if self.index == 0 { Ok(()) } else { write!(f, "[{}]", self.index) }
    }
}

/// Values of `UM` (Ranger thesis, `elmoarm2.h`).
pub mod unit_mode {
    /// Torque: the value of `TC`.
    pub const TORQUE: i32 = 1;
    /// Speed: the value of `JV`.
    pub const SPEED: i32 = 2;
    /// Position: PT motion.
    pub const POSITION: i32 = 5;
}

/// Indices of `MP`.
pub mod motion {
    /// The first row of the queue that is used.
    pub const FIRST_ROW: u16 = 1;
    /// The last row of the queue that is used.
    pub const LAST_ROW: u16 = 2;
    /// 1: the first row follows the last.
    pub const CYCLIC: u16 = 3;
    /// Period of the rows, in position loops ([`super::super::POSITION_LOOP`]).
    pub const SAMPLE_RATIO: u16 = 4;
    /// Remaining rows at which the drive warns.
    pub const LOW_MARK: u16 = 5;
    /// The next row to write.
    pub const WRITE_ROW: u16 = 6;
}

/// The interpreter's error codes.
pub mod error {
    /// No such command.
    pub const BAD_COMMAND: u8 = 2;
    /// No such index.
    pub const BAD_INDEX: u8 = 3;
    /// The motion cannot begin with this set-up.
    pub const BAD_INITIAL_DATA: u8 = 7;
    /// The value is out of range.
    pub const OUT_OF_RANGE: u8 = 21;
    /// The motor could not be switched on.
    pub const MOTOR_COULD_NOT_START: u8 = 48;
    /// The queue of PT motion is full.
    pub const QUEUE_FULL: u8 = 52;
    /// The motor must be off.
    pub const MOTOR_MUST_BE_OFF: u8 = 57;
    /// The motor must be on.
    pub const MOTOR_MUST_BE_ON: u8 = 58;
    /// Not possible in this unit mode.
    pub const BAD_UNIT_MODE: u8 = 60;
    /// Not possible in the drive's present state.
    pub const NOT_READY: u8 = 66;
}

/// Meaning of an error code of the interpreter.
pub fn error_meaning(code: u8) -> &'static str {
    let found = ERRORS.iter().find(|(known, _)| *known == code);
    found.map_or("unknown reason", |(_, text)| text)
}

const ERRORS: [(u8, &str); 12] = [
    (error::BAD_COMMAND, "bad command"),
    (error::BAD_INDEX, "bad index"),
    (error::BAD_INITIAL_DATA, "bad initial data"),
    (8, "motion ended, the queue ran empty"),
    (error::OUT_OF_RANGE, "value out of range"),
    (error::MOTOR_COULD_NOT_START, "motor could not start"),
    (51, "an input inhibits the motor"),
    (error::QUEUE_FULL, "queue full"),
    (error::MOTOR_MUST_BE_OFF, "motor must be off"),
    (error::MOTOR_MUST_BE_ON, "motor must be on"),
    (error::BAD_UNIT_MODE, "not in this unit mode"),
    (error::NOT_READY, "drive not ready"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_in_order_and_name_everything_once() {
        assert!(COMMANDS.windows(2).all(|pair| pair[0].letters < pair[1].letters));
        assert!(ERRORS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(Command::TORQUE.info().unwrap().is_float);
        assert_eq!(Command::MOTION.at(5).to_string(), "MP[5]");
    }
}
