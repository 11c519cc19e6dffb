//! Requests as datagrams; their fields are in the table of commands.

use super::{Command, Datagram, DecodeError, Request};

impl Request {
    /// Reads a received request.
    ///
    /// # Errors
    /// Those of [`Datagram::parse`], and [`DecodeError::UnknownLetters`].
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let datagram = Datagram::parse(bytes)?;
        let letters = datagram.letters();
        let command = Command::from_letters(letters).ok_or(DecodeError::UnknownLetters { letters })?;
        Ok(Self::from_datagram(command, &datagram))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven floats 1, 2, ... 7 as on the wire.
    const COUNT: &[u8; 28] =
        b"\0\0\x80\x3f\0\0\x00\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40\0\0\xc0\x40\0\0\xe0\x40";

    fn message(letters: &[u8; 2], data: &[u8], index: u8) -> [u8; 31] {
        let mut bytes = [0; 31];
        bytes[..2].copy_from_slice(letters);
        bytes[2..2 + data.len()].copy_from_slice(data);
        bytes[30] = index;
        bytes
    }

    /// Appendix A, one entry per command.
    #[test]
    fn every_command_has_the_appendix_s_fields() {
        let three = [1.0, 2.0, 3.0];
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let rpy = [4.0, 5.0, 6.0];
        let cases: [(Request, [u8; 31]); 20] = [
            (Request::BeginMotion, message(b"BG", b"", 0)),
            (Request::SetCommandMode { mode: 1.0 }, message(b"CM", &COUNT[..4], 0)),
            (
                Request::SetGoalPose { position: three, quaternion: [4.0, 5.0, 6.0, 7.0] },
                message(b"GL", COUNT, 0),
            ),
            (Request::SetTimedGoalPose { position: three, rpy, min_duration: 7.0 }, message(b"GT", COUNT, 0)),
            (Request::BeginJointMotion, message(b"jB", b"", 0)),
            (Request::ClearJointViaPoints, message(b"jC", b"", 0)),
            (Request::ExecuteJointViaPoints, message(b"jE", b"", 0)),
            (Request::SetJointGoal { joints: six }, message(b"jG", &COUNT[..24], 0)),
            (Request::JointPositions, message(b"jP", b"", 0)),
            (Request::ResetJointMotion, message(b"jR", b"", 0)),
            (
                Request::SetJointViaPoint { joints: six, min_duration: 7.0, index: 19 },
                message(b"jV", COUNT, 19),
            ),
            (Request::Disable, message(b"OF", b"", 0)),
            (Request::Enable, message(b"ON", b"", 0)),
            (Request::Pose, message(b"PS", b"", 0)),
            (Request::Recalibrate { joints: six }, message(b"RC", &COUNT[..24], 0)),
            (Request::Stop, message(b"ST", b"", 0)),
            (Request::Temperatures, message(b"TM", b"", 0)),
            (Request::ClearViaPoints, message(b"VC", b"", 0)),
            (Request::ExecuteViaPoints, message(b"VE", b"", 0)),
            (
                Request::SetViaPoint { position: three, rpy, min_duration: 7.0, index: 255 },
                message(b"VP", COUNT, 255),
            ),
        ];
        for (request, bytes) in cases {
            assert_eq!(request.encode().bytes(), &bytes, "{request}");
            assert_eq!(Request::decode(&bytes), Ok(request));
        }
    }

    #[test]
    fn display_names_only_what_the_command_uses() {
        assert_eq!(Request::Stop.to_string(), "ST");
        let point = Request::SetViaPoint {
            position: [0.5, 0.0, -1.0],
            rpy: [0.0; 3],
            min_duration: f32::INFINITY,
            index: 3,
        };
        assert_eq!(point.to_string(), "VP 0.5 0 -1 0 0 0 inf (3)");
    }
}
