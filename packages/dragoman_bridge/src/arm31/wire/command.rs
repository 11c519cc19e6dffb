//! The table of commands and their requests.

use std::fmt;

use super::{Datagram, JOINT_COUNT, Letters, VALUE_COUNT};

/// What a command does to the arm. Decides about overtaking and retransmission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Reads measured data.
    Query,
    /// Changes a setting; nothing moves.
    Setting,
    /// Starts a motion.
    Start,
    /// Stops every motion.
    Stop,
}

/// One row of the table.
struct Row {
    command: Command,
    letters: Letters,
    /// ROS service on the arm's namespace; topic for a query.
    ros_name: &'static str,
    role: Role,
    /// How many of the seven floats a request uses, from the first.
    values: usize,
    /// Whether a request uses the last byte.
    indexed: bool,
    /// Whether a client may send the request again without knowing whether the first copy arrived.
    repeatable: bool,
    meaning: &'static str,
}

/// The data of a datagram, read or written field by field.
struct Cursor {
    values: [f32; VALUE_COUNT],
    next: usize,
    index: u8,
}

/// A field of a request: floats, or the index of a via point, which is the last byte.
trait Field: Sized {
    const VALUES: usize;
    const INDEXED: bool = false;

    fn read(data: &mut Cursor) -> Self;

    fn write(&self, data: &mut Cursor);
}

impl Field for f32 {
    const VALUES: usize = 1;

    fn read(data: &mut Cursor) -> Self {
        data.next += 1;
        data.values.get(data.next - 1).copied().unwrap_or_default()
    }

    fn write(&self, data: &mut Cursor) {
        if let Some(value) = data.values.get_mut(data.next) {
            *value = *self;
        }
        data.next += 1;
    }
}

impl<const COUNT: usize> Field for [f32; COUNT] {
    const VALUES: usize = COUNT;

    fn read(data: &mut Cursor) -> Self {
        [(); COUNT].map(|()| f32::read(data))
    }

    fn write(&self, data: &mut Cursor) {
        self.iter().for_each(|value| value.write(data));
    }
}

impl Field for u8 {
    const VALUES: usize = 0;
    const INDEXED: bool = true;

    fn read(data: &mut Cursor) -> Self {
        data.index
    }

    fn write(&self, data: &mut Cursor) {
        data.index = *self;
    }
}

/// A row per command, in the order of the appendix: letters, command, fields of a request; service or topic, role,
/// `once` if a request is not repeatable, meaning.
macro_rules! commands {
    ($(
        $letters:literal $command:ident $({ $($field:ident: $type:ty),* })? =>
        $ros_name:literal, $role:expr, $($once:ident,)? $meaning:literal;
    )*) => {
        /// The 20 commands of the Ranger thesis, appendix A. Names say what a command does; [`Command::letters`] gives
        /// its letters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Command { $( #[doc = concat!($meaning, ".")] $command, )* }

        /// Rows in the order of [`Command`]'s variants.
        static TABLE: &[Row] = &[ $( Row {
            command: Command::$command,
            letters: Letters(*$letters),
            ros_name: $ros_name,
            role: $role,
            values: 0 $($( + <$type as Field>::VALUES )*)?,
            indexed: false $($( | <$type as Field>::INDEXED )*)?,
            repeatable: true $( & commands!(@$once) )?,
            meaning: $meaning,
        }, )* ];

        /// A request (Ranger thesis, appendix A), values as on the wire and unchecked: they may be NaN or infinite.
        ///
        /// Positions in metres, joint positions (base of the chain first) and roll, pitch, yaw in radians, durations in
        /// seconds. Roll, pitch and yaw turn about the fixed axes X, Y, Z in this order. Quaternions are x, y, z, w, of
        /// any length but zero. A mode is 0 (off), 1 (joint space) or 2 (Cartesian space); the controller rounds it. A
        /// negative minimum duration counts as 0. The index in a sequence of via points starts at 0.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[allow(missing_docs, reason = "the names are those of the services and their fields")]
        pub enum Request { $( $command $({ $($field: $type),* })?, )* }

        impl Request {
            /// Reads the data of `datagram` as that of `command`, whatever the letters are. Unused fields are ignored.
            pub fn from_datagram(command: Command, datagram: &Datagram) -> Self {
                let data = &mut Cursor { values: datagram.values(), next: 0, index: datagram.index() };
                match command {
                    $( Command::$command => Self::$command $({ $($field: Field::read(data)),* })?, )*
                }
            }

            /// The command of this request.
            pub fn command(&self) -> Command {
                match self {
                    $( Self::$command { .. } => Command::$command, )*
                }
            }

            /// The datagram to send. Unused fields are zero.
            pub fn encode(&self) -> Datagram {
                let mut data = Cursor { values: [0.0; VALUE_COUNT], next: 0, index: 0 };
                match self {
                    $( Self::$command $({ $($field),* })? => { $($( $field.write(&mut data); )*)? } )*
                }
                Datagram::new(self.command().letters(), data.values, data.index)
            }
        }
    };
    (@once) => { false };
}

// Not repeatable are requests of which a late second copy could move the arm or falsify its state: starts, `ON` (would
// undo a later `OF`), `CM` (every switch resets the generators) and `RC` (its angles are valid for one instant only).
commands! {
    b"BG" BeginMotion => "begin_motion", Role::Start, once, "begin motion to the Cartesian goal";
    b"CM" SetCommandMode { mode: f32 } => "set_command_mode", Role::Setting, once, "switch command mode: 0 off, 1 joint, 2 Cartesian";
    b"GL" SetGoalPose { position: [f32; 3], quaternion_xyzw: [f32; 4] } => "set_goal_pose", Role::Setting, "Cartesian goal: position, quaternion";
    b"GT" SetTimedGoalPose { position: [f32; 3], rpy: [f32; 3], min_duration: f32 } => "set_goal_pose", Role::Setting, "Cartesian goal: position, roll-pitch-yaw, minimum duration";
    b"jB" BeginJointMotion => "begin_joint_motion", Role::Start, once, "begin motion to the joint goal";
    b"jC" ClearJointViaPoints => "clear_joint_via_points", Role::Setting, "clear the joint via points";
    b"jE" ExecuteJointViaPoints => "execute_joint_via_points", Role::Start, once, "execute the joint via points";
    b"jG" SetJointGoal { position: [f32; JOINT_COUNT] } => "set_joint_goal", Role::Setting, "joint goal: six angles";
    b"jP" JointPosition => "joint_states", Role::Query, "measured joint angles";
    b"jR" ResetJointMotion => "reset_joint_motion", Role::Setting, "reset the joint generator";
    b"jV" SetJointViaPoint { position: [f32; JOINT_COUNT], min_duration: f32, index: u8 } => "set_joint_via_point", Role::Setting, "joint via point: six angles, minimum duration, index";
    b"OF" Disable => "disable", Role::Setting, "disable the arm";
    b"ON" Enable => "enable", Role::Setting, once, "enable the arm";
    b"PS" Pose => "pose", Role::Query, "measured pose of the tool: position, quaternion";
    b"RC" Recalibrate { position: [f32; JOINT_COUNT] } => "recalibrate", Role::Setting, once, "declare the present joint angles: six angles";
    b"ST" Stop => "stop", Role::Stop, "stop";
    b"TM" Temperature => "drive_status", Role::Query, "drive temperatures";
    b"VC" ClearViaPoints => "clear_via_points", Role::Setting, "clear the Cartesian via points";
    b"VE" ExecuteViaPoints => "execute_via_points", Role::Start, once, "execute the Cartesian via points";
    b"VP" SetViaPoint { position: [f32; 3], rpy: [f32; 3], min_duration: f32, index: u8 } => "set_via_point", Role::Setting, "Cartesian via point: position, roll-pitch-yaw, minimum duration, index";
}

impl Command {
    /// All commands in the order of the appendix.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.command)
    }

    /// The command with these letters.
    pub fn from_letters(letters: Letters) -> Option<Self> {
        TABLE.iter().find(|row| row.letters == letters).map(|row| row.command)
    }

    #[expect(clippy::indexing_slicing, reason = "a variant's number is its row, never outside data; tested")]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The letters of a request.
    pub fn letters(self) -> Letters {
        self.row().letters
    }

    /// ROS service that serves the command, or topic with a query's data; in the arm's namespace.
    pub fn ros_name(self) -> &'static str {
        self.row().ros_name
    }

    /// What the command does to the arm.
    pub fn role(self) -> Role {
        self.row().role
    }

    /// Number of floats that a request uses, counted from the first of seven. The others are neither checked nor used.
    pub fn value_count(self) -> usize {
        self.row().values.min(VALUE_COUNT)
    }

    /// Whether a request uses the last byte (index of a via point).
    pub fn is_indexed(self) -> bool {
        self.row().indexed
    }

    /// Whether the client side may retransmit the request: a second copy has no relevant effect.
    pub fn is_repeatable(self) -> bool {
        self.row().repeatable
    }

    /// Short description.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_variants() {
        for (number, row) in TABLE.iter().enumerate() {
            assert_eq!(row.command as usize, number);
            assert_eq!(Command::from_letters(row.letters), Some(row.command));
        }
        assert_eq!(Command::all().count(), 20);
    }

    #[test]
    fn no_reply_s_letters_are_a_request_s() {
        for command in Command::all() {
            assert_eq!(Command::from_letters(command.letters().swapped()), None, "{command}");
        }
    }

    #[test]
    fn nothing_that_starts_motion_is_repeatable() {
        for command in Command::all() {
            assert!(command.role() != Role::Start || !command.is_repeatable(), "{command}");
        }
    }
}
