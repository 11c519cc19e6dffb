//! The table of the commands, and messages of a client.

use std::fmt;

use super::frame::{self, Message};
use super::{
    DecodeError, EncodeError, Fault, FileName, Frame, Framing, GetCanMessages, GetParameter, HeadPosition,
    HeadVelocity, MouseMove, MovePath, MoveToStation, MoveVelocity, MoveWheelVelocity, NamedDocument,
    PanTiltPosition, ProgramDocument, SendCanMessage, SetBrake, SetDigitalOutput, SetEvent, SetMode,
    SetParameter, SpeakText, StartUltrasonic, hardware::CanId,
};

/// One row of the table.
struct Row {
    kind: CommandKind,
    number: u8,
    /// Name of its ROS service, and in capitals after `CMD_` in the guide.
    service: &'static str,
    is_answered: bool,
    meaning: &'static str,
}

macro_rules! commands {
    ($( $number:literal $variant:ident $(($payload:ty))?, $service:literal, $answered:ident, $meaning:literal; )*) => {
        /// The commands, without their arguments.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum CommandKind { $( #[doc = $meaning] $variant, )* }

        /// A message of a client. Values are those on the wire; the platform checks them.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Command { $( #[doc = $meaning] $variant $(($payload))?, )* }

        /// Rows in the order of [`CommandKind`]'s variants.
        static TABLE: [Row; [$($number),*].len()] = [$( Row {
            kind: CommandKind::$variant,
            number: $number,
            service: $service,
            is_answered: commands!(@answered $answered),
            meaning: $meaning,
        }, )*];

        impl Command {
            /// The command without its arguments.
            pub fn kind(&self) -> CommandKind {
                match self { $( Self::$variant { .. } => CommandKind::$variant, )* }
            }
        }

        impl Message for Command {
            fn decode(data: &[u8]) -> Result<Self, DecodeError> {
                let number = data.first().copied().unwrap_or_default();
                let unknown = DecodeError { number, field: "command", offset: 0, fault: Fault::Unknown };
                match CommandKind::from_number(number).filter(|_| !data.is_empty()).ok_or(unknown)? {
                    $( CommandKind::$variant => commands!(@decode data, $variant $($payload)?), )*
                }
            }

            fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {
                match self {
                    $( commands!(@pattern arguments, $variant $($payload)?) =>
                        frame::encode($number, commands!(@arguments arguments, $($payload)?), false, framing), )*
                }
            }
        }

        #[cfg(test)]
        impl Command {
            /// Every command with random arguments.
            pub(super) fn samples(source: &mut super::properties::Source) -> Vec<Self> {
                vec![$( commands!(@sample source, $variant $($payload)?), )*]
            }
        }
    };
    (@answered answered) => { true };
    (@answered silent) => { false };
    (@decode $data:ident, $variant:ident) => { frame::decode($data, false).map(|()| Self::$variant) };
    (@decode $data:ident, $variant:ident $payload:ty) => {
        frame::decode::<$payload>($data, false).map(Self::$variant)
    };
    (@pattern $arguments:ident, $variant:ident) => { Self::$variant };
    (@pattern $arguments:ident, $variant:ident $payload:ty) => { Self::$variant($arguments) };
    (@arguments $arguments:ident,) => { &() };
    (@arguments $arguments:ident, $payload:ty) => { $arguments };
    (@sample $source:ident, $variant:ident) => { Self::$variant };
    (@sample $source:ident, $variant:ident $payload:ty) => {
        Self::$variant(<$payload as super::field::Field>::sample($source))
    };
}

#[rustfmt::skip]
commands! {
    0  ConnectToPltf,                         "connect_to_pltf",           silent,   "connect the platform's CAN nodes, and test them";
    1  ShutdownPltf,                          "shutdown_pltf",             silent,   "disconnect the CAN nodes";
    2  InitPltf,                              "init_pltf",                 silent,   "initialize the hardware, and test the platform";
    3  SetBrake(SetBrake),                    "set_brake",                 silent,   "brake of a motor";
    4  SetDigout(SetDigitalOutput),           "set_digout",                silent,   "digital output";
    5  StartUltrasonic(StartUltrasonic),      "start_ultrasonic",          silent,   "start measuring with ultrasonic sensors";
    6  StopUltrasonic,                        "stop_ultrasonic",           silent,   "stop measuring with ultrasonic sensors";
    7  AddCanListeningId(CanId),              "add_can_listening_id",      silent,   "add an id to the CAN listening list";
    8  RemoveCanListeningId(CanId),           "remove_can_listening_id",   silent,   "remove an id from the CAN listening list";
    9  SendCanMessage(SendCanMessage),        "send_can_message",          silent,   "send a CAN message";
    10 GetCanMessages(GetCanMessages),        "get_can_messages",          answered, "stored CAN messages";
    11 Start,                                 "start",                     silent,   "start the motion mode";
    12 Break,                                 "break",                     silent,   "pause the motion";
    13 Continue,                              "continue",                  silent,   "continue after a pause";
    14 Stop,                                  "stop",                      silent,   "stop the motion mode";
    15 SetMode(SetMode),                      "set_mode",                  silent,   "change the motion mode";
    16 Exit,                                  "exit",                      silent,   "shut the platform down";
    17 CloseSocket,                           "close_socket",              silent,   "close the connection";
    18 GetStatus,                             "get_status",                answered, "status of the platform";
    19 MovePath(MovePath),                    "move_path",                 silent,   "drive on a path to its end";
    20 MoveToStation(MoveToStation),          "move_to_station",           silent,   "drive on the roadmap to a station";
    21 MoveAbs(Frame),                        "move_abs",                  silent,   "drive to a pose in the world";
    22 MoveRel(Frame),                        "move_rel",                  silent,   "drive to a pose relative to the platform";
    23 MoveVelWheel(MoveWheelVelocity),       "move_vel_wheel",            silent,   "velocities of the wheels";
    24 MoveVel(MoveVelocity),                 "move_vel",                  silent,   "velocities of the platform";
    25 SetMap(NamedDocument),                 "set_map",                   silent,   "set the active map";
    26 GetMap,                                "get_map",                   answered, "the active map";
    27 LoadMap,                               "load_map",                  silent,   "load the map from the platform's disk";
    28 SaveMap,                               "save_map",                  silent,   "save the map to the platform's disk";
    29 MappingStart,                          "mapping_start",             silent,   "start mapping";
    30 MappingReset,                          "mapping_reset",             silent,   "delete the mapped lines";
    31 MappingStop,                           "mapping_stop",              silent,   "stop mapping";
    32 SetRoadmap(NamedDocument),             "set_roadmap",               silent,   "set the active roadmap";
    33 GetRoadmap,                            "get_roadmap",               answered, "the active roadmap";
    34 LoadRoadmap,                           "load_roadmap",              silent,   "load the roadmap from the platform's disk";
    35 SaveRoadmap,                           "save_roadmap",              silent,   "save the roadmap to the platform's disk";
    36 SetFrmPltf(Frame),                     "set_frm_pltf",              silent,   "set the platform's pose";
    37 SetPltfParam(SetParameter),            "set_pltf_param",            silent,   "set a parameter";
    38 GetPltfParam(GetParameter),            "get_pltf_param",            answered, "a parameter";
    39 GetPltfParamVec,                       "get_pltf_param_vec",        answered, "all parameters";
    40 SetProgram(ProgramDocument),           "set_program",               silent,   "set the program";
    41 GetProgram,                            "get_program",               answered, "the program";
    42 LoadProgram,                           "load_program",              silent,   "load the program from the platform's disk";
    43 SaveProgram,                           "save_program",              silent,   "save the program to the platform's disk";
    44 SpeakText(SpeakText),                  "speak_text",                silent,   "speak";
    45 PlaySound(FileName),                   "play_sound",                silent,   "play a sound file";
    46 GrabImage(FileName),                   "grab_image",                silent,   "save an image of the camera";
    47 SetPosHeadDrive(HeadPosition),         "set_pos_head_drive",        silent,   "angle of the head";
    48 SetVelHeadDrive(HeadVelocity),         "set_vel_head_drive",        silent,   "angular velocity of the head";
    49 SetPosPanTiltCamera(PanTiltPosition),  "set_pos_pan_tilt_camera",   silent,   "position of the pan-tilt camera";
    50 GetDebugData,                          "get_debug_data",            answered, "debug data";
    51 Debug1,                                "debug1",                    silent,   "user event `debug1` for the running program";
    52 Debug2,                                "debug2",                    silent,   "user event `debug2` for the running program";
    53 Debug3,                                "debug3",                    silent,   "user event `debug3` for the running program";
    54 Debug4,                                "debug4",                    silent,   "user event `debug4` for the running program";
    55 MouseMove(MouseMove),                  "mouse_move",                silent,   "place or remove an obstacle";
    56 SetLogEnabled,                         "set_log_enabled",           silent,   "log; without effect on the original";
    57 SetPostProcessFilename,                "set_post_process_filename", silent,   "file for recordings; without effect on the original";
    58 SetEvent(SetEvent),                    "set_event",                 silent,   "recording and replay";
    59 GetCamera,                             "get_camera",                answered, "address of the camera";
    74 GetPosition,                           "get_position",              answered, "position and velocities";
}

impl CommandKind {
    /// All commands, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.kind)
    }

    /// The command with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        TABLE.iter().find(|row| row.number == number).map(|row| row.kind)
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "the table has a row for each variant, in their order; tested"
    )]
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The first byte of its data.
    pub fn number(self) -> u8 {
        self.row().number
    }

    /// Name of its ROS service in the namespace of the platform.
    pub fn service(self) -> &'static str {
        self.row().service
    }

    /// Whether the guide has a reply for it.
    pub fn is_answered(self) -> bool {
        self.row().is_answered
    }

    /// Short description.
    pub fn meaning(self) -> &'static str {
        self.row().meaning
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
#[allow(clippy::expect_used, clippy::indexing_slicing, reason = "a test may panic")]
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
