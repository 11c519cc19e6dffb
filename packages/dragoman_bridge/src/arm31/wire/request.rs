//! Messages of a client.

use std::fmt;

use super::{Command, Datagram, DecodeError, JOINT_COUNT};

/// A request (Ranger thesis, appendix A), values as on the wire and unchecked: they may be NaN or infinite.
///
/// Positions in metres, joint positions and roll, pitch, yaw in radians, durations in seconds. Roll, pitch and yaw
/// turn about the fixed axes X, Y, Z in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request {
    /// `BG`
    BeginMotion,
    /// `CM`: 0 off, 1 joint space, 2 Cartesian space; rounded by the controller.
    SetCommandMode {
        /// The mode as a float.
        mode: f32,
    },
    /// `GL`
    SetGoalPose {
        /// x, y, z.
        position: [f32; 3],
        /// x, y, z, w; of any length but zero.
        quaternion_xyzw: [f32; 4],
    },
    /// `GT`
    SetTimedGoalPose {
        /// x, y, z.
        position: [f32; 3],
        /// Roll, pitch, yaw.
        rpy: [f32; 3],
        /// Minimum duration; negative counts as 0.
        min_duration: f32,
    },
    /// `jB`
    BeginJointMotion,
    /// `jC`
    ClearJointViaPoints,
    /// `jE`
    ExecuteJointViaPoints,
    /// `jG`
    SetJointGoal {
        /// Base of the chain first.
        position: [f32; JOINT_COUNT],
    },
    /// `jP`
    JointPosition,
    /// `jR`
    ResetJointMotion,
    /// `jV`
    SetJointViaPoint {
        /// Base of the chain first.
        position: [f32; JOINT_COUNT],
        /// Minimum duration of the motion to this point.
        min_duration: f32,
        /// Index in the sequence, from 0.
        index: u8,
    },
    /// `OF`
    Disable,
    /// `ON`
    Enable,
    /// `PS`
    Pose,
    /// `RC`
    Recalibrate {
        /// Base of the chain first.
        position: [f32; JOINT_COUNT],
    },
    /// `ST`
    Stop,
    /// `TM`
    Temperature,
    /// `VC`
    ClearViaPoints,
    /// `VE`
    ExecuteViaPoints,
    /// `VP`
    SetViaPoint {
        /// x, y, z.
        position: [f32; 3],
        /// Roll, pitch, yaw.
        rpy: [f32; 3],
        /// Minimum duration of the motion to this point.
        min_duration: f32,
        /// Index in the sequence, from 0.
        index: u8,
    },
}

impl Request {
    /// Reads the data of `datagram` as that of `command`, whatever the letters are. Unused fields are ignored.
    pub fn from_datagram(command: Command, datagram: &Datagram) -> Self {
        let [a, b, c, d, e, f, g] = datagram.values();
        let index = datagram.index();
        match command {
            Command::BeginMotion => Self::BeginMotion,
            Command::SetCommandMode => Self::SetCommandMode { mode: a },
            Command::SetGoalPose => Self::SetGoalPose { position: [a, b, c], quaternion_xyzw: [d, e, f, g] },
            Command::SetTimedGoalPose => {
                Self::SetTimedGoalPose { position: [a, b, c], rpy: [d, e, f], min_duration: g }
            }
            Command::BeginJointMotion => Self::BeginJointMotion,
            Command::ClearJointViaPoints => Self::ClearJointViaPoints,
            Command::ExecuteJointViaPoints => Self::ExecuteJointViaPoints,
            Command::SetJointGoal => Self::SetJointGoal { position: [a, b, c, d, e, f] },
            Command::JointPosition => Self::JointPosition,
            Command::ResetJointMotion => Self::ResetJointMotion,
            Command::SetJointViaPoint => {
                Self::SetJointViaPoint { position: [a, b, c, d, e, f], min_duration: g, index }
            }
            Command::Disable => Self::Disable,
            Command::Enable => Self::Enable,
            Command::Pose => Self::Pose,
            Command::Recalibrate => Self::Recalibrate { position: [a, b, c, d, e, f] },
            Command::Stop => Self::Stop,
            Command::Temperature => Self::Temperature,
            Command::ClearViaPoints => Self::ClearViaPoints,
            Command::ExecuteViaPoints => Self::ExecuteViaPoints,
            Command::SetViaPoint => {
                Self::SetViaPoint { position: [a, b, c], rpy: [d, e, f], min_duration: g, index }
            }
        }
    }

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

    /// The command of this request.
    pub fn command(&self) -> Command {
        match self {
            Self::BeginMotion => Command::BeginMotion,
            Self::SetCommandMode { .. } => Command::SetCommandMode,
            Self::SetGoalPose { .. } => Command::SetGoalPose,
            Self::SetTimedGoalPose { .. } => Command::SetTimedGoalPose,
            Self::BeginJointMotion => Command::BeginJointMotion,
            Self::ClearJointViaPoints => Command::ClearJointViaPoints,
            Self::ExecuteJointViaPoints => Command::ExecuteJointViaPoints,
            Self::SetJointGoal { .. } => Command::SetJointGoal,
            Self::JointPosition => Command::JointPosition,
            Self::ResetJointMotion => Command::ResetJointMotion,
            Self::SetJointViaPoint { .. } => Command::SetJointViaPoint,
            Self::Disable => Command::Disable,
            Self::Enable => Command::Enable,
            Self::Pose => Command::Pose,
            Self::Recalibrate { .. } => Command::Recalibrate,
            Self::Stop => Command::Stop,
            Self::Temperature => Command::Temperature,
            Self::ClearViaPoints => Command::ClearViaPoints,
            Self::ExecuteViaPoints => Command::ExecuteViaPoints,
            Self::SetViaPoint { .. } => Command::SetViaPoint,
        }
    }

    /// The datagram to send. Unused fields are zero.
    pub fn encode(&self) -> Datagram {
        let (values, index) = match *self {
            Self::SetCommandMode { mode } => ([mode, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0),
            Self::SetGoalPose { position: [x, y, z], quaternion_xyzw: [qx, qy, qz, qw] } => {
                ([x, y, z, qx, qy, qz, qw], 0)
            }
            Self::SetTimedGoalPose { position: [x, y, z], rpy: [roll, pitch, yaw], min_duration } => {
                ([x, y, z, roll, pitch, yaw, min_duration], 0)
            }
            Self::SetViaPoint { position: [x, y, z], rpy: [roll, pitch, yaw], min_duration, index } => {
                ([x, y, z, roll, pitch, yaw, min_duration], index)
            }
            Self::SetJointGoal { position: [a, b, c, d, e, f] }
            | Self::Recalibrate { position: [a, b, c, d, e, f] } => ([a, b, c, d, e, f, 0.0], 0),
            Self::SetJointViaPoint { position: [a, b, c, d, e, f], min_duration, index } => {
                ([a, b, c, d, e, f, min_duration], index)
            }
            _ => ([0.0; 7], 0),
        };
        Datagram::new(self.command().letters(), values, index)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command();
        let datagram = self.encode();
        write!(f, "{command}")?;
        datagram.values().iter().take(command.value_count()).try_for_each(|value| write!(f, " {value}"))?;
        if command.is_indexed() { write!(f, " ({})", datagram.index()) } else { Ok(()) }
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]
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
                Request::SetGoalPose { position: three, quaternion_xyzw: [4.0, 5.0, 6.0, 7.0] },
                message(b"GL", COUNT, 0),
            ),
            (Request::SetTimedGoalPose { position: three, rpy, min_duration: 7.0 }, message(b"GT", COUNT, 0)),
            (Request::BeginJointMotion, message(b"jB", b"", 0)),
            (Request::ClearJointViaPoints, message(b"jC", b"", 0)),
            (Request::ExecuteJointViaPoints, message(b"jE", b"", 0)),
            (Request::SetJointGoal { position: six }, message(b"jG", &COUNT[..24], 0)),
            (Request::JointPosition, message(b"jP", b"", 0)),
            (Request::ResetJointMotion, message(b"jR", b"", 0)),
            (
                Request::SetJointViaPoint { position: six, min_duration: 7.0, index: 19 },
                message(b"jV", COUNT, 19),
            ),
            (Request::Disable, message(b"OF", b"", 0)),
            (Request::Enable, message(b"ON", b"", 0)),
            (Request::Pose, message(b"PS", b"", 0)),
            (Request::Recalibrate { position: six }, message(b"RC", &COUNT[..24], 0)),
            (Request::Stop, message(b"ST", b"", 0)),
            (Request::Temperature, message(b"TM", b"", 0)),
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
