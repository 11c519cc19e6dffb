//! Encodes a call's outcome for the client, if the command has an answer.

use super::super::call::{Outcome, Refusal};
use super::super::wire::{AnswerFormat, Command, Reply};
use super::ServerConfig;

/// The answer to a request of this command. `None`: no answer.
pub(super) fn to(command: Command, outcome: Outcome, config: &ServerConfig) -> Option<Vec<u8>> {
    let expected = answer(command, config);
    let reply = match (expected, outcome) {
        (AnswerFormat::None, _) => return None,
        (_, Outcome::Refused(Refusal::UnknownName(_))) if config.silent_on_unknown => return None,
        (AnswerFormat::Verdict, Outcome::Verdict(true)) => Reply::True,
        (AnswerFormat::Verdict, Outcome::Verdict(false)) | (_, Outcome::Refused(Refusal::UnknownName(_))) => {
            Reply::False
        }
        (AnswerFormat::Doubles(count), Outcome::Values(values)) if values.len() == count => {
            Reply::Doubles(values)
        }
        (AnswerFormat::AnyDoubles, Outcome::Values(values)) => Reply::Doubles(values),
        (AnswerFormat::LandMarks, Outcome::LandMarks(marks)) => Reply::LandMarks(marks),
        _ => refusal(command),
    };
    // The list is too long for the protocol.
    reply.encode(config.size_base).or_else(|_| Reply::False.encode(config.size_base)).ok()
}

/// The answer to a frame of this command that is too short for its values. `None`: no answer.
pub(super) fn to_malformed(command: Command, config: &ServerConfig) -> Option<Vec<u8>> {
    match answer(command, config) {
        AnswerFormat::None => None,
        _ => refusal(command).encode(config.size_base).ok(),
    }
}

/// The answer to a request that is not carried out. `F` to `j` would mean "free of collisions", and a planner would use
/// a path that was never checked, or that the arm cannot reach.
fn refusal(command: Command) -> Reply {
    if command == Command::CheckRobotJoints { Reply::True } else { Reply::False }
}

fn answer(command: Command, config: &ServerConfig) -> AnswerFormat {
    match command {
        Command::MoveMRobot if !config.move_reply => AnswerFormat::None,
        _ => command.answer(),
    }
}
