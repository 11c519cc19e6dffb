//! The commands and their requests, made of `protocols/apolo.yaml` in `dragoman_protocol`.

use std::fmt;

use dragoman_protocol::bytes::{BytesError, Reader};
use dragoman_protocol::model::{ByteOrder, Role};

use super::payload::FrameWriter as Writer;
use super::{EncodeError, SizeBase};

include!(concat!(env!("OUT_DIR"), "/apolo.rs"));

/// The form of the answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnswerFormat {
    /// No answer.
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

impl Command {
    /// The command of a frame's kind byte.
    pub fn from_letter(letter: u8) -> Option<Self> {
        Self::from_code([letter])
    }

    /// The kind byte of its frame.
    pub const fn letter(self) -> u8 {
        let [letter] = self.code();
        letter
    }
}

impl Request {
    /// Reads the payload of a frame of this command. Bytes after the request are ignored. `None`: too short.
    pub fn decode(command: Command, payload: &[u8]) -> Option<Self> {
        Self::decode_start(command, payload).ok().map(|(request, _)| request)
    }

    /// As `decode`, with the number of bytes that belong to the request.
    ///
    /// # Errors
    /// Bytes are missing. So many does the request have, unless they end before or within a name or the number of values.
    pub(super) fn decode_start(command: Command, payload: &[u8]) -> Result<(Self, usize), Option<usize>> {
        let mut reader = Reader::new(payload, ByteOrder::Little);
        let request = Self::read(command, &mut reader);
        match reader.end() {
            Err(BytesError::Missing { .. }) if reader.is_size_open() => Err(None),
            Err(BytesError::Missing { missing }) => Err(Some(payload.len() + missing)),
            _ => Ok((request, payload.len() - reader.left())),
        }
    }

    /// The frame to send.
    ///
    /// # Errors
    /// A name or a list of joint values is too long for the protocol, or a name contains a NUL.
    pub fn encode(&self, base: SizeBase) -> Result<Vec<u8>, EncodeError> {
        let mut writer = Writer::new(self.command().letter(), base);
        self.write(&mut writer);
        writer.finish()
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(self.letter()))
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command().ros_name())?;
        self.show(f)
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const ONE: &[u8] = b"\0\0\0\0\0\0\xf0\x3f";
    const TWO: &[u8] = b"\0\0\0\0\0\0\0\x40";
    const THREE: &[u8] = b"\0\0\0\0\0\0\x08\x40";
    const FOUR: &[u8] = b"\0\0\0\0\0\0\x10\x40";

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

    fn w() -> String {
        "W".to_owned()
    }

    /// Apolo port manual, example of the chapter on the protocol: 46 = 5 + (8 + 1) + (14 + 1) + 1 + 2 * 8.
    #[test]
    fn the_example_has_46_bytes() {
        let request = Request::SetRobotJoints {
            world: "World 1".into(),
            robot: "robot_de_ejem".into(),
            values: vec![1.0, 2.0],
        };
        let expected = [b"aa\x2e\0J\x08World 1\0\x0erobot_de_ejem\0\x02".as_slice(), ONE, TWO].concat();
        assert_eq!(expected.len(), 46);
        for base in [SizeBase::Annex255, SizeBase::Full256] {
            assert_eq!(request.encode(base), Ok(expected.clone()));
        }
        assert_eq!(Request::decode(Command::SetRobotJoints, &expected[5..]), Some(request));
    }

    /// The frames of the Apolo port manual, one section each, and of the additional commands.
    #[test]
    fn every_command_byte_by_byte() {
        let names = b"\x02W\0\x02x\0".as_slice();
        let name = || "x".to_owned();
        let three = [ONE, TWO, THREE].concat();
        let cases: [(Request, Vec<u8>); 15] = [
            (
                Request::CheckRobotJoints { world: w(), robot: name(), values: vec![1.0] },
                [b"aa\x14\0j", names, b"\x01", ONE].concat(),
            ),
            (Request::GetAllultrasonicSensors { world: w(), robot: name() }, [b"aa\x0b\0d", names].concat()),
            (Request::GetLaserData { world: w(), laser: name() }, [b"aa\x0b\0l", names].concat()),
            (Request::GetLaserLandMarks { world: w(), laser: name() }, [b"aa\x0b\0B", names].concat()),
            (Request::GetLocation { world: String::new(), object: name() }, b"aa\x09\0G\0\x02x\0".to_vec()),
            (Request::GetLocationMRobot { world: w(), robot: name() }, [b"aa\x0b\0g", names].concat()),
            (Request::GetOdometry { world: w(), robot: name() }, [b"aa\x0b\0o", names].concat()),
            (Request::GetUltrasonicSensor { world: w(), sensor: name() }, [b"aa\x0b\0u", names].concat()),
            (
                Request::LinkToRobotTcp { world: w(), robot: name(), object: "y".into() },
                [b"aa\x0e\0L", names, b"\x02y\0"].concat(),
            ),
            (
                Request::MoveMRobot {
                    world: w(),
                    robot: name(),
                    speed: 1.0,
                    rotation_speed: 2.0,
                    duration: 3.0,
                },
                [b"aa\x23\0m", names, &three].concat(),
            ),
            (
                Request::Place {
                    world: w(),
                    object: name(),
                    position: [1.0, 2.0, 3.0],
                    rpy: [1.0, 2.0, 3.0],
                },
                [b"aa\x3b\0P", names, &three, &three].concat(),
            ),
            (
                Request::PlaceMRobot { world: w(), robot: name(), position: [1.0, 2.0, 3.0], yaw: 4.0 },
                [b"aa\x2b\0p", names, &three, FOUR].concat(),
            ),
            (
                Request::ResetOdometry { world: w(), robot: name(), x: 1.0, y: 2.0, yaw: 3.0 },
                [b"aa\x23\0R", names, &three].concat(),
            ),
            (
                Request::SetRobotJoints { world: w(), robot: String::new(), values: vec![] },
                b"aa\x0a\0J\x02W\0\0\0".to_vec(),
            ),
            (Request::Update { world: String::new() }, b"aa\x06\0U\0".to_vec()),
        ];
        for (request, bytes) in cases {
            assert_eq!(request.encode(SizeBase::Full256).as_ref(), Ok(&bytes), "{request}");
            let command = Command::from_letter(bytes[4]).expect("a command");
            let [exact, longer] = [&bytes[5..], &[&bytes[5..], b"rest"].concat()]
                .map(|payload| Request::decode_start(command, payload));
            assert_eq!(exact, Ok((request.clone(), bytes.len() - 5)), "{request}");
            assert_eq!(longer, exact, "{request}");
            for cut in 5..bytes.len() {
                assert_eq!(Request::decode(command, &bytes[5..cut]), None, "{request} cut at {cut}");
            }
            assert_eq!(Request::decode(command, &bytes[5..]), Some(request));
        }
    }

    #[test]
    fn more_joints_than_a_byte_counts_are_refused() {
        let request = Request::SetRobotJoints { world: w(), robot: w(), values: vec![0.0; 256] };
        assert_eq!(request.encode(SizeBase::Full256), Err(EncodeError::TooManyJoints { count: 256 }));
    }

    #[test]
    fn display_is_readable() {
        let request = Request::MoveMRobot {
            world: w(),
            robot: "Neo".into(),
            speed: 0.1,
            rotation_speed: -1.0,
            duration: 0.5,
        };
        assert_eq!(request.to_string(), "move_m_robot \"W\" \"Neo\" 0.1 -1 0.5");
        assert_eq!(Request::Update { world: w() }.to_string(), "update \"W\"");
    }
}
