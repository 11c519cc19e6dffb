//! Open questions and their answers. The rules are in the documentation of [`super`].

use std::time::Duration;

use super::super::call::{Outcome, Refusal};
use super::super::wire::{Command, CommandKind, DecodeError, Message, ParameterReply, Reply, Status, Text};
use super::effect::{Verdict, describe};
use super::{Client, ClientEvent, MAX_POSITIONS_UNANSWERED};
use crate::CallId;

/// Source of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum QuestionSource {
    /// The client's periodic query of the status.
    Status,
    Position,
    Map,
    /// A service call.
    Call(CallId),
    /// The service that sets a parameter: checks whether the parameter has this value.
    Parameter(CallId, Text),
}

impl QuestionSource {
    pub(super) fn call(&self) -> Option<CallId> {
        match self {
            Self::Call(id) | Self::Parameter(id, _) => Some(*id),
            _ => None,
        }
    }

    pub(super) fn is_for_status(&self) -> bool {
        *self == Self::Status
    }
}

/// A sent question.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) source: QuestionSource,
    kind: CommandKind,
    /// Its end in the stream, bytes.
    pub(super) end: u64,
    /// Time limit; `None`: not completely sent, or overdue.
    pub(super) deadline: Option<Duration>,
    pub(super) is_overdue: bool,
}

impl OpenQuestion {
    /// Notes that the question is completely sent.
    pub(super) fn is_sent(&mut self, deadline: Duration) {
        if self.deadline.is_none() && !self.is_overdue {
            self.deadline = Some(deadline);
        }
    }
}

/// A question that waits until the one before it is answered.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) source: QuestionSource,
    pub(super) kind: CommandKind,
    pub(super) bytes: Vec<u8>,
}

impl Client {
    pub(super) fn ask(&mut self, now: Duration, Question { source, kind, bytes }: Question) {
        self.send(now, &bytes);
        let end = self.outbox.queued();
        self.open.push_back(OpenQuestion { source, kind, end, deadline: None, is_overdue: false });
    }

    /// Sends one of the client's own queries.
    pub(super) fn ask_for(&mut self, now: Duration, source: QuestionSource, command: &Command) {
        // Commands without arguments are never too long.
        if let Ok(bytes) = command.encode(self.config.framing) {
            self.ask(now, Question { source, kind: command.kind(), bytes });
        }
    }

    pub(super) fn is_asking(&self, source: &QuestionSource) -> bool {
        self.open.iter().any(|open| open.source == *source)
    }

    pub(super) fn handle_reply(&mut self, now: Duration, reply: Reply) {
        let Some(open) = self.settle(reply.kind()) else {
            self.statistics.unsolicited += 1;
            return;
        };
        self.statistics.replies += 1;
        self.pause = self.config.reconnect_min;
        match &reply {
            Reply::GetStatus(status) => {
                self.check_effects(status, open.end);
                self.events.push_back(ClientEvent::Status(status.clone()));
            }
            Reply::GetPosition(position) => {
                self.positions_unanswered = 0;
                if position.is_finite() {
                    self.events.push_back(ClientEvent::Position(*position));
                } else {
                    self.statistics.undecodable += 1;
                }
            }
            Reply::GetMap(map) => self.events.push_back(ClientEvent::Map(map.clone())),
            _ => {}
        }
        match open.source {
            QuestionSource::Call(id) => self.report(id, answer(reply)),
            QuestionSource::Parameter(id, wanted) => {
                let outcome = match &reply {
                    Reply::GetPltfParam(reply) if reply.value.as_bytes().is_empty() => no_parameter(reply),
                    Reply::GetPltfParam(reply) if is_same(&reply.value, &wanted) => Outcome::Done,
                    Reply::GetPltfParam(reply) => {
                        Outcome::Refused(Refusal::NoEffect(format!("{} is {}", reply.key, reply.value)))
                    }
                    _ => Outcome::Refused(Refusal::Unanswered),
                };
                self.report(id, outcome);
            }
            QuestionSource::Status | QuestionSource::Position | QuestionSource::Map => {}
        }
        self.advance(now);
    }

    pub(super) fn handle_undecodable(&mut self, error: DecodeError) {
        self.statistics.undecodable += 1;
        let open = CommandKind::from_number(error.number).and_then(|kind| self.settle(kind));
        if let Some(id) = open.and_then(|open| open.source.call()) {
            self.report(id, Outcome::Refused(Refusal::Undecodable(error.clone())));
        }
        self.events.push_back(ClientEvent::Undecodable(error));
    }

    /// Removes the question that an answer of this kind belongs to. Earlier questions will not be answered.
    fn settle(&mut self, kind: CommandKind) -> Option<OpenQuestion> {
        let index = self.open.iter().position(|open| open.kind == kind)?;
        for _ in 0..index {
            let Some(open) = self.open.pop_front() else { break };
            self.statistics.unanswered += 1;
            match open.source {
                QuestionSource::Call(id) | QuestionSource::Parameter(id, _) => {
                    self.report(id, Outcome::Refused(Refusal::Unanswered));
                }
                QuestionSource::Position => {
                    self.positions_unanswered += 1;
                    if self.positions_unanswered >= MAX_POSITIONS_UNANSWERED {
                        self.position_due = None;
                    }
                }
                QuestionSource::Status | QuestionSource::Map => {}
            }
        }
        self.open.pop_front()
    }

    /// Checks effects with a status that was queried by the bytes up to `end`.
    fn check_effects(&mut self, status: &Status, end: u64) {
        let mut ended = Vec::new();
        self.watches.retain_mut(|watch| {
            if watch.end > end {
                return true;
            }
            let outcome = match watch.effect.judge(status) {
                Verdict::Seen => Outcome::Done,
                Verdict::Never(reason) => Outcome::Refused(Refusal::NoEffect(reason)),
                Verdict::NotYet => {
                    watch.seen = Some(describe(status));
                    return true;
                }
            };
            ended.push((watch.id, outcome));
            false
        });
        for (id, outcome) in ended {
            self.report(id, outcome);
        }
    }
}

/// Outcome of an answer. Refused if a position is not finite, or a parameter has no value.
fn answer(reply: Reply) -> Outcome {
    match &reply {
        Reply::GetPltfParam(reply) if reply.value.as_bytes().is_empty() => no_parameter(reply),
        Reply::GetPosition(position) if !position.is_finite() => Outcome::Refused(Refusal::Rejected(
            "the platform reported a position that is not finite".to_owned(),
        )),
        _ => Outcome::Answered(reply),
    }
}

/// A platform that does not know the parameter answers with the key only.
fn no_parameter(reply: &ParameterReply) -> Outcome {
    Outcome::Refused(Refusal::Rejected(format!("there is no parameter '{}'", reply.key)))
}

/// Whether two written values are equal: as text, as numbers, or as flags.
fn is_same(actual: &Text, wanted: &Text) -> bool {
    let [actual, wanted] = [actual, wanted].map(|text| text.to_str().trim().to_ascii_lowercase());
    let number = |text: &str| match text {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.parse::<f64>().ok(),
    };
    actual == wanted || number(&actual).is_some_and(|actual| number(&wanted) == Some(actual))
}
