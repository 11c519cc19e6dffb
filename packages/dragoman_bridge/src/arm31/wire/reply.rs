//! Messages of a controller.

use std::fmt;

use super::{Command, DATAGRAM_LEN, Datagram, DecodeError, Letters, Notice, Request, VALUE_COUNT};

/// A reply: swapped letters and data, or a text (Ranger thesis, appendix A, and listing of the message handler).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// The request was accepted. The data are its echo, if the command has data: for `CM` the mode in force, for `GL`
    /// the normalized quaternion, for `GT` the clamped duration. Never a query.
    Accepted(Request),
    /// `Pj`, answer to `jP`: joint positions in radians, base of the chain first, padded with 0.
    JointPosition([f32; VALUE_COUNT]),
    /// `SP`, answer to `PS`: measured pose of the tool frame in the arm's base frame.
    Pose {
        /// x, y, z in metres.
        position: [f32; 3],
        /// Unit quaternion x, y, z, w with w >= 0.
        quaternion_xyzw: [f32; 4],
    },
    /// `MT`, answer to `TM`: drive temperatures in degrees Celsius, base of the chain first, padded with -1000.
    Temperature([f32; VALUE_COUNT]),
    /// `ER..` or `WN..`.
    Notice(Notice),
}

impl Reply {
    /// Reads a received reply.
    ///
    /// # Errors
    /// Those of [`Datagram::parse`]; [`DecodeError::UnknownNotice`] for `ER` or `WN` with an unknown text;
    /// [`DecodeError::UnknownLetters`] for anything else that is not a command with its letters swapped.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let datagram = Datagram::parse(bytes)?;
        let letters = datagram.letters();
        if matches!(letters, Letters([b'E', b'R'] | [b'W', b'N'])) {
            return Notice::decode(&datagram).map(Self::Notice);
        }
        let command =
            Command::from_letters(letters.swapped()).ok_or(DecodeError::UnknownLetters { letters })?;
        let values = datagram.values();
        Ok(match command {
            Command::JointPositions => Self::JointPosition(values),
            Command::Temperatures => Self::Temperature(values),
            Command::Pose => {
                let [x, y, z, qx, qy, qz, qw] = values;
                Self::Pose { position: [x, y, z], quaternion_xyzw: [qx, qy, qz, qw] }
            }
            _ => Self::Accepted(Request::from_datagram(command, &datagram)),
        })
    }

    /// The datagram to send.
    pub fn encode(&self) -> [u8; DATAGRAM_LEN] {
        let answer =
            |command: Command, values| *Datagram::new(command.letters().swapped(), values, 0).bytes();
        match *self {
            Self::Accepted(request) => *request.encode().echo().bytes(),
            Self::JointPosition(values) => answer(Command::JointPositions, values),
            Self::Temperature(values) => answer(Command::Temperatures, values),
            Self::Pose { position: [x, y, z], quaternion_xyzw: [qx, qy, qz, qw] } => {
                answer(Command::Pose, [x, y, z, qx, qy, qz, qw])
            }
            Self::Notice(notice) => notice.encode(),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |f: &mut fmt::Formatter<'_>, name: &str, values: &[f32]| {
            f.write_str(name)?;
            values.iter().try_for_each(|value| write!(f, " {value}"))
        };
        match self {
            Self::Accepted(request) => write!(f, "{request} accepted"),
            Self::JointPosition(values) => named(f, "jP:", values),
            Self::Temperature(values) => named(f, "TM:", values),
            Self::Pose { position, quaternion_xyzw } => {
                named(f, "PS:", position)?;
                named(f, " /", quaternion_xyzw)
            }
            Self::Notice(notice) => write!(f, "{notice}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Listing of the message handler: letters of the answers. `CV` and `CR` are corrections of its slips.
    #[test]
    fn replies_have_swapped_letters() {
        let letters: Vec<String> =
            Command::all().map(|command| command.letters().swapped().to_string()).collect();
        assert_eq!(letters.join(" "), "GB MC LG TG Bj Cj Ej Gj Pj Rj Vj FO NO SP CR TS MT CV EV PV");
    }

    #[test]
    fn query_answers_byte_by_byte() {
        let pose = Reply::Pose { position: [1.0, -0.5, 0.25], quaternion_xyzw: [0.0, 0.0, 0.0, 1.0] };
        let bytes = b"SP\0\0\x80\x3f\0\0\x00\xbf\0\0\x80\x3e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\x3f\0";
        assert_eq!(&pose.encode(), bytes);
        assert_eq!(Reply::decode(bytes), Ok(pose));

        let temperature = Reply::Temperature([33.0, 32.0, 27.0, -1000.0, -1000.0, -1000.0, -1000.0]);
        let bytes =
            b"MT\0\0\x04\x42\0\0\x00\x42\0\0\xd8\x41\0\0\x7a\xc4\0\0\x7a\xc4\0\0\x7a\xc4\0\0\x7a\xc4\0";
        assert_eq!(&temperature.encode(), bytes);
        assert_eq!(Reply::decode(bytes), Ok(temperature));

        let joints = Reply::JointPosition([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]);
        let bytes = b"Pj\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0\0";
        assert_eq!(&joints.encode(), bytes);
        assert_eq!(Reply::decode(bytes), Ok(joints));
    }

    #[test]
    fn requests_and_noise_are_no_replies() {
        for letters in [b"PS", b"BG", b"\0\0", b"zz"] {
            let bytes = Datagram::new(Letters(*letters), [0.0; 7], 0);
            assert!(matches!(Reply::decode(bytes.bytes()), Err(DecodeError::UnknownLetters { .. })));
        }
    }

    #[test]
    fn display_is_readable() {
        let pose = Reply::Pose { position: [1.0, -0.5, 0.25], quaternion_xyzw: [0.0, 0.0, 0.0, 1.0] };
        assert_eq!(pose.to_string(), "PS: 1 -0.5 0.25 / 0 0 0 1");
        assert_eq!(Reply::Accepted(Request::Enable).to_string(), "ON accepted");
    }
}
