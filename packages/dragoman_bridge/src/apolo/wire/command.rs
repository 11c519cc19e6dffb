//! The table of commands and their requests.

use std::fmt;

use super::payload::PayloadReader;

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
    service: &'static str,
    names: usize,
    data: Data,
    answer: Answer,
    meaning: &'static str,
}

/// The numbers of one field of a request.
trait Numbers: Sized {
    const DATA: Data;

    fn read(reader: &mut PayloadReader<'_>) -> Option<Self>;

    fn write(&self, values: &mut Vec<f64>);
}

impl Numbers for f64 {
    const DATA: Data = Data::Doubles(1);

    fn read(reader: &mut PayloadReader<'_>) -> Option<Self> {
        reader.double()
    }

    fn write(&self, values: &mut Vec<f64>) {
        values.push(*self);
    }
}

impl Numbers for [f64; 3] {
    const DATA: Data = Data::Doubles(3);

    fn read(reader: &mut PayloadReader<'_>) -> Option<Self> {
        Some([reader.double()?, reader.double()?, reader.double()?])
    }

    fn write(&self, values: &mut Vec<f64>) {
        values.extend(self);
    }
}

impl Numbers for Vec<f64> {
    const DATA: Data = Data::Counted;

    fn read(reader: &mut PayloadReader<'_>) -> Option<Self> {
        let count = reader.byte()?;
        reader.doubles(count.into())
    }

    fn write(&self, values: &mut Vec<f64>) {
        values.extend(self);
    }
}

impl Data {
    /// This data, and then the data of another field. Counted data stand alone.
    const fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Doubles(first), Self::Doubles(second)) => Self::Doubles(first + second),
            _ => Self::Counted,
        }
    }
}

/// A row per command: letter, command, service in the namespace of the world; the names of a request after the world's,
/// its numbers; the answer; the meaning.
macro_rules! commands {
    ($(
        $letter:literal $command:ident $service:literal
        ($($name:ident),*) { $($field:ident: $numbers:ty),* } => $answer:expr, $meaning:literal;
    )*) => {
        /// The commands of the Apolo port manual, and those that its users' programs need in addition.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Command { $( #[doc = concat!("`", $service, "`: ", $meaning, ".")] $command, )* }

        /// Rows in the order of [`Command`]'s variants.
        static TABLE: &[Row] = &[ $( Row {
            command: Command::$command,
            letter: $letter,
            service: $service,
            names: ["world" $(, stringify!($name))*].len(),
            data: Data::Doubles(0)$(.and(<$numbers as Numbers>::DATA))*,
            answer: $answer,
            meaning: $meaning,
        }, )* ];

        /// A request: a call of the world's service [`Command::service`]. Values are as on the wire and unchecked: they
        /// may be NaN or infinite.
        ///
        /// Positions are in the frame of the world, in metres; angles in radians; roll, pitch and yaw turn about the
        /// fixed axes x, y and z in this order. An empty `world` means the first world, in order, that has the object.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the names are those of the services and their fields")]
        pub enum Request { $( $command { world: String, $($name: String,)* $($field: $numbers),* }, )* }

        impl Request {
            /// Reads the payload of a frame of this command. Bytes after the request are ignored. `None`: too short.
            pub fn decode(command: Command, payload: &[u8]) -> Option<Self> {
                let mut reader = PayloadReader(payload);
                let world = reader.name()?;
                Some(match command {
                    $( Command::$command => Self::$command {
                        world,
                        $($name: reader.name()?,)*
                        $($field: Numbers::read(&mut reader)?,)*
                    }, )*
                })
            }

            /// The command, the names and the numbers.
            pub(super) fn parts(&self) -> (Command, Vec<&str>, Vec<f64>) {
                match self {
                    $( Self::$command { world, $($name,)* $($field),* } => {
                        #[allow(unused_mut, reason = "not every request has numbers")]
                        let mut values = Vec::new();
                        $($field.write(&mut values);)*
                        (Command::$command, vec![world, $($name),*], values)
                    } )*
                }
            }
        }
    };
}

commands! {
    b'j' CheckRobotJoints "check_robot_joints" (robot) { values: Vec<f64> } => Answer::Verdict,
        "move the joints of an arm; does it collide?";
    b'd' GetAllultrasonicSensors "get_allultrasonic_sensors" (robot) {} => Answer::AnyDoubles,
        "ranges of all ultrasonic sensors of a robot";
    b'l' GetLaserData "get_laser_data" (laser) {} => Answer::AnyDoubles,
        "ranges of a laser";
    b'B' GetLaserLandMarks "get_laser_land_marks" (laser) {} => Answer::LandMarks,
        "landmarks that a laser sees";
    b'G' GetLocation "get_location" (object) {} => Answer::Doubles(6),
        "position, roll, pitch and yaw of an object";
    b'g' GetLocationMRobot "get_location_m_robot" (robot) {} => Answer::Doubles(4),
        "position and heading of a wheeled robot";
    b'o' GetOdometry "get_odometry" (robot) {} => Answer::Doubles(3),
        "odometry: x, y, heading";
    b'u' GetUltrasonicSensor "get_ultrasonic_sensor" (sensor) {} => Answer::Doubles(1),
        "range of an ultrasonic sensor";
    b'L' LinkToRobotTcp "link_to_robot_tcp" (robot, object) {} => Answer::None,
        "attach an object to the tool of an arm";
    b'm' MoveMRobot "move_m_robot" (robot) { speed: f64, rotation_speed: f64, duration: f64 } => Answer::Verdict,
        "move a wheeled robot: speed, rotation speed, time; did it?";
    b'P' Place "place" (object) { position: [f64; 3], rpy: [f64; 3] } => Answer::None,
        "place an object: position, roll, pitch, yaw";
    b'p' PlaceMRobot "place_m_robot" (robot) { position: [f64; 3], yaw: f64 } => Answer::Verdict,
        "drop a wheeled robot: position, heading; does it stand?";
    b'R' ResetOdometry "reset_odometry" (robot) { x: f64, y: f64, yaw: f64 } => Answer::None,
        "reset the odometry: x, y, heading";
    b'J' SetRobotJoints "set_robot_joints" (robot) { values: Vec<f64> } => Answer::None,
        "move the joints of an arm";
    b'U' Update "update" () {} => Answer::None,
        "update the display";
}

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
