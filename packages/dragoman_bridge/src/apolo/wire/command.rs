//! The table of commands.

use std::fmt;

/// The commands of the Apolo port manual, and those that its users' programs need in addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the table below says in words what each does")]
pub enum Command {
    CheckRobotJoints,
    GetAllultrasonicSensors,
    GetLaserData,
    GetLaserLandMarks,
    GetLocation,
    GetLocationMRobot,
    GetOdometry,
    GetUltrasonicSensor,
    LinkToRobotTcp,
    MoveMRobot,
    Place,
    PlaceMRobot,
    ResetOdometry,
    SetRobotJoints,
    Update,
}

/// Data after the names of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Data {
    /// This number of doubles.
    Doubles(usize),
    /// One byte with the number of doubles that follow.
    Counted,
}

/// The answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Nothing, ever.
    None,
    /// `T` or `F`.
    Verdict,
    /// `D` with this number of doubles.
    Doubles(usize),
    /// `D` with any number of doubles.
    AnyDoubles,
    /// `b`.
    LandMarks,
}

/// One row of the table.
struct Row {
    command: Command,
    letter: u8,
    /// ROS service in the namespace of the world.
    service: &'static str,
    /// Number of STRINGs in a request, the world's name first.
    names: usize,
    data: Data,
    answer: Answer,
    meaning: &'static str,
}

const fn row(
    letter: u8,
    command: Command,
    service: &'static str,
    names: usize,
    data: Data,
    answer: Answer,
    meaning: &'static str,
) -> Row {
    Row { command, letter, service, names, data, answer, meaning }
}

/// Rows in the order of [`Command`]'s variants.
#[rustfmt::skip]
static TABLE: [Row; 15] = [
    //   letter, command,                        service,                 names, data,             answer,             meaning
    row(b'j', Command::CheckRobotJoints,        "check_robot_joints",        2, Data::Counted,    Answer::Verdict,    "move the joints of an arm; does it collide?"),
    row(b'd', Command::GetAllultrasonicSensors, "get_allultrasonic_sensors", 2, Data::Doubles(0), Answer::AnyDoubles, "ranges of all ultrasonic sensors of a robot"),
    row(b'l', Command::GetLaserData,            "get_laser_data",            2, Data::Doubles(0), Answer::AnyDoubles, "ranges of a laser"),
    row(b'B', Command::GetLaserLandMarks,       "get_laser_land_marks",      2, Data::Doubles(0), Answer::LandMarks,  "landmarks that a laser sees"),
    row(b'G', Command::GetLocation,             "get_location",              2, Data::Doubles(0), Answer::Doubles(6), "position, roll, pitch and yaw of an object"),
    row(b'g', Command::GetLocationMRobot,       "get_location_m_robot",      2, Data::Doubles(0), Answer::Doubles(4), "position and heading of a wheeled robot"),
    row(b'o', Command::GetOdometry,             "get_odometry",              2, Data::Doubles(0), Answer::Doubles(3), "odometry: x, y, heading"),
    row(b'u', Command::GetUltrasonicSensor,     "get_ultrasonic_sensor",     2, Data::Doubles(0), Answer::Doubles(1), "range of an ultrasonic sensor"),
    row(b'L', Command::LinkToRobotTcp,          "link_to_robot_tcp",         3, Data::Doubles(0), Answer::None,       "attach an object to the tool of an arm"),
    row(b'm', Command::MoveMRobot,              "move_m_robot",              2, Data::Doubles(3), Answer::Verdict,    "move a wheeled robot: speed, rotation speed, time; did it?"),
    row(b'P', Command::Place,                   "place",                     2, Data::Doubles(6), Answer::None,       "place an object: position, roll, pitch, yaw"),
    row(b'p', Command::PlaceMRobot,             "place_m_robot",             2, Data::Doubles(4), Answer::Verdict,    "drop a wheeled robot: position, heading; does it stand?"),
    row(b'R', Command::ResetOdometry,           "reset_odometry",            2, Data::Doubles(3), Answer::None,       "reset the odometry: x, y, heading"),
    row(b'J', Command::SetRobotJoints,          "set_robot_joints",          2, Data::Counted,    Answer::None,       "move the joints of an arm"),
    row(b'U', Command::Update,                  "update",                    1, Data::Doubles(0), Answer::None,       "update the display"),
];

impl Command {
    /// All commands, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.command)
    }

    /// The command of a frame's kind byte.
    pub fn from_letter(letter: u8) -> Option<Self> {
        TABLE.iter().find(|row| row.letter == letter).map(|row| row.command)
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "the table has a row for each variant, in their order; tested"
    )]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The kind byte of its frame.
    pub fn letter(self) -> u8 {
        self.row().letter
    }

    /// Name of its ROS service in the namespace of the world.
    pub fn service(self) -> &'static str {
        self.row().service
    }

    /// How many names a request has, the world's first.
    pub fn name_count(self) -> usize {
        self.row().names
    }

    /// The data after the names.
    pub fn data(self) -> Data {
        self.row().data
    }

    /// The answer according to the table.
    pub fn answer(self) -> Answer {
        self.row().answer
    }

    /// Short description.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(self.letter()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (index, command) in Command::all().enumerate() {
            assert_eq!(command as usize, index);
            assert_eq!(Command::from_letter(command.letter()), Some(command));
        }
        assert_eq!(Command::all().map(Command::letter).collect::<BTreeSet<_>>().len(), 15);
    }

    /// Annex of the Apolo port manual, `ApoloMessage.h`, and the letters that later programs use.
    #[test]
    fn letters_are_the_annex_s() {
        let letters: String = Command::all().map(|command| char::from(command.letter())).collect();
        assert_eq!(letters, "jdlBGgouLmPpRJU");
        for reply in *b"TFDb\0" {
            assert_eq!(Command::from_letter(reply), None);
        }
    }
}
