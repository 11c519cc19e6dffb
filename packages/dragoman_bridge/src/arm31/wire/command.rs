//! The table of commands.

use std::fmt;

use super::{Letters, VALUE_COUNT};

/// The 20 commands of the Ranger thesis, appendix A. Names say what a command does; [`Command::letters`] gives its
/// letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the table below says in words what each does")]
pub enum Command {
    BeginMotion,
    SetCommandMode,
    SetGoalPose,
    SetTimedGoalPose,
    BeginJointMotion,
    ClearJointViaPoints,
    ExecuteJointViaPoints,
    SetJointGoal,
    JointPosition,
    ResetJointMotion,
    SetJointViaPoint,
    Disable,
    Enable,
    Pose,
    Recalibrate,
    Stop,
    Temperature,
    ClearViaPoints,
    ExecuteViaPoints,
    SetViaPoint,
}

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

#[allow(clippy::too_many_arguments, reason = "the columns of the table below")]
const fn row(
    letters: &[u8; 2],
    command: Command,
    ros_name: &'static str,
    role: Role,
    values: usize,
    indexed: bool,
    repeatable: bool,
    meaning: &'static str,
) -> Row {
    Row { command, letters: Letters(*letters), ros_name, role, values, indexed, repeatable, meaning }
}

const YES: bool = true;
const NO: bool = false;

/// Rows in the order of [`Command`]'s variants, which is that of the appendix.
///
/// Requests are not repeatable if a late second copy could move the arm or falsify its state: starts, `ON` (would undo
/// a later `OF`), `CM` (every switch resets the generators) and `RC` (its angles are valid for one instant only).
#[rustfmt::skip]
static TABLE: [Row; 20] = [
    // letters, command, service or topic, role, values, indexed, repeatable, meaning
    row(b"BG", Command::BeginMotion,           "begin_motion",             Role::Start,   0, NO,  NO,  "begin motion to the Cartesian goal"),
    row(b"CM", Command::SetCommandMode,        "set_command_mode",         Role::Setting, 1, NO,  NO,  "switch command mode: 0 off, 1 joint, 2 Cartesian"),
    row(b"GL", Command::SetGoalPose,           "set_goal_pose",            Role::Setting, 7, NO,  YES, "Cartesian goal: position, quaternion"),
    row(b"GT", Command::SetTimedGoalPose,      "set_goal_pose",            Role::Setting, 7, NO,  YES, "Cartesian goal: position, roll-pitch-yaw, minimum duration"),
    row(b"jB", Command::BeginJointMotion,      "begin_joint_motion",       Role::Start,   0, NO,  NO,  "begin motion to the joint goal"),
    row(b"jC", Command::ClearJointViaPoints,   "clear_joint_via_points",   Role::Setting, 0, NO,  YES, "clear the joint via points"),
    row(b"jE", Command::ExecuteJointViaPoints, "execute_joint_via_points", Role::Start,   0, NO,  NO,  "execute the joint via points"),
    row(b"jG", Command::SetJointGoal,          "set_joint_goal",           Role::Setting, 6, NO,  YES, "joint goal: six angles"),
    row(b"jP", Command::JointPosition,         "joint_states",             Role::Query,   0, NO,  YES, "measured joint angles"),
    row(b"jR", Command::ResetJointMotion,      "reset_joint_motion",       Role::Setting, 0, NO,  YES, "reset the joint generator"),
    row(b"jV", Command::SetJointViaPoint,      "set_joint_via_point",      Role::Setting, 7, YES, YES, "joint via point: six angles, minimum duration, index"),
    row(b"OF", Command::Disable,               "disable",                  Role::Setting, 0, NO,  YES, "disable the arm"),
    row(b"ON", Command::Enable,                "enable",                   Role::Setting, 0, NO,  NO,  "enable the arm"),
    row(b"PS", Command::Pose,                  "pose",                     Role::Query,   0, NO,  YES, "measured pose of the tool: position, quaternion"),
    row(b"RC", Command::Recalibrate,           "recalibrate",              Role::Setting, 6, NO,  NO,  "declare the present joint angles: six angles"),
    row(b"ST", Command::Stop,                  "stop",                     Role::Stop,    0, NO,  YES, "stop"),
    row(b"TM", Command::Temperature,           "drive_status",             Role::Query,   0, NO,  YES, "drive temperatures"),
    row(b"VC", Command::ClearViaPoints,        "clear_via_points",         Role::Setting, 0, NO,  YES, "clear the Cartesian via points"),
    row(b"VE", Command::ExecuteViaPoints,      "execute_via_points",       Role::Start,   0, NO,  NO,  "execute the Cartesian via points"),
    row(b"VP", Command::SetViaPoint,           "set_via_point",            Role::Setting, 7, YES, YES, "Cartesian via point: position, roll-pitch-yaw, minimum duration, index"),
];

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
