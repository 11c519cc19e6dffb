//! Default answers to questions that were refused.
//!
//! Numbers are 0, lists and texts empty. The status has `ST_OP_NOT_INITIALIZED` and the distances of ultrasonic sensors
//! that do not measure; a parameter has the requested key and no value.

use super::super::status::{Operation, ULTRASONIC_IDLE};
use super::super::wire::{Command, CommandKind, DocumentReply, ParameterReply, Reply, Status, Text};

/// The part of a command that is needed for its answer.
#[derive(Debug)]
pub(super) struct Question {
    kind: CommandKind,
    /// Key of `CMD_GET_PLTF_PARAM`.
    key: Text,
}

impl Question {
    pub(super) fn of(command: &Command) -> Self {
        let key = match command {
            Command::GetPltfParam(asked) => asked.key.clone(),
            _ => Text::default(),
        };
        Self { kind: command.kind(), key }
    }

    pub(super) fn kind(&self) -> CommandKind {
        self.kind
    }

    /// The default answer; `None`: the command has no answer.
    pub(super) fn default_answer(self) -> Option<Reply> {
        Some(match self.kind {
            CommandKind::GetCanMessages => Reply::GetCanMessages(Default::default()),
            CommandKind::GetStatus => Reply::GetStatus(Box::new(Status {
                operation_state: Operation::NotInitialized.into(),
                ultrasonic_mm: [(ULTRASONIC_IDLE * 1000.0) as i32; 16],
                ..Status::default()
            })),
            CommandKind::GetMap => Reply::GetMap(DocumentReply::default()),
            CommandKind::GetRoadmap => Reply::GetRoadmap(DocumentReply::default()),
            CommandKind::GetPltfParam => {
                Reply::GetPltfParam(ParameterReply { key: self.key, ..Default::default() })
            }
            CommandKind::GetPltfParamVec => Reply::GetPltfParamVec(Default::default()),
            CommandKind::GetProgram => Reply::GetProgram(Default::default()),
            CommandKind::GetDebugData => Reply::GetDebugData(Default::default()),
            CommandKind::GetCamera => Reply::GetCamera(Default::default()),
            CommandKind::GetPosition => Reply::GetPosition(Default::default()),
            _ => return None,
        })
    }
}
