//! Messages of a platform.

use super::command::CommandKind;
use super::frame::{self, Message};
use super::{
    Camera, CanMessages, DebugData, DecodeError, DocumentReply, EncodeError, Fault, Framing,
    ParameterReplies, ParameterReply, Position, ProgramDocument, Status,
};

macro_rules! replies {
    ($( $(#[$doc:meta])* $variant:ident($payload:ty), $checked:literal; )*) => {
        /// An answer; its variants are those of [`CommandKind`].
        #[derive(Debug, Clone, PartialEq)]
        pub enum Reply { $( $(#[$doc])* $variant($payload), )* }

        impl Reply {
            /// The command of this reply.
            pub fn kind(&self) -> CommandKind {
                match self { $( Self::$variant(_) => CommandKind::$variant, )* }
            }
        }

        impl Message for Reply {
            fn decode(data: &[u8]) -> Result<Self, DecodeError> {
                let number = data.first().copied().unwrap_or_default();
                match CommandKind::from_number(number).filter(|_| !data.is_empty()) {
                    $( Some(CommandKind::$variant) => frame::decode(data, $checked).map(Self::$variant), )*
                    _ => Err(DecodeError { number, field: "telegram", offset: 0, fault: Fault::Unknown }),
                }
            }

            fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {
                let number = self.kind().number();
                match self { $( Self::$variant(payload) => frame::encode(number, payload, $checked, framing), )* }
            }
        }

        #[cfg(test)]
        impl Reply {
            /// Every reply with random values.
            pub(super) fn samples(source: &mut super::properties::Source) -> Vec<Self> {
                vec![$( Self::$variant(<$payload as super::field::Field>::sample(source)), )*]
            }
        }
    };
}

replies! {
    /// Stored CAN messages.
    GetCanMessages(CanMessages), false;
    /// Status of the platform; ends in -1.
    GetStatus(Box<Status>), true;
    /// The active map.
    GetMap(DocumentReply), false;
    /// The active roadmap.
    GetRoadmap(DocumentReply), false;
    /// A parameter.
    GetPltfParam(ParameterReply), false;
    /// All parameters.
    GetPltfParamVec(ParameterReplies), false;
    /// The program.
    GetProgram(ProgramDocument), false;
    /// Debug data; ends in -1.
    GetDebugData(Box<DebugData>), true;
    /// Address of the camera.
    GetCamera(Camera), false;
    /// Position and velocities.
    GetPosition(Position), false;
}
