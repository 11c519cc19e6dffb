//! Actions: goals that the machine carries out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge;
use dragoman_types::schema::Structure;
use serde_json::{Map, Value};

use super::compile::Compiler;
use super::{Command, Failure, insert_reason};
use crate::machine::conversation::reason_of;
use crate::machine::mapping::ToRos;
use crate::machine::outgoing::Outgoing;
use crate::machine::plan::{NoNames, error, heard, is_sent, seconds};
use crate::machine::services;
use crate::machine::term::{Message, MessageNames, Term};

/// Maximum time of a goal, s.
const MAX_GOAL: f64 = 3600.0;

/// An action whose goals the machine carries out.
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) kind: String,
    /// What a goal sends; `timeout` is that of the goal, if it moves.
    pub(crate) command: Command,
    /// Time within which a goal is done.
    pub(crate) timeout: Duration,
    /// Time after sending before which no message ends a goal.
    pub(crate) settle: Duration,
    pub(crate) fails: Option<Failure>,
    pub(crate) feedback: Option<(MessageId, ToRos)>,
    pub(crate) endings: Vec<Ending>,
    pub(crate) result: Arc<Structure>,
    /// What ends a goal on request; none: the whole machine is stopped, if the goal moves.
    pub(crate) cancel: Vec<Outgoing>,
}

/// A message that ends a goal.
pub(crate) struct Ending {
    pub(crate) from: MessageId,
    when: Option<Term>,
    paths: Vec<Path>,
    /// The goal has failed, for the reason in this field.
    failed: Option<Option<Path>>,
    result: ToRos,
}

/// How a goal has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    /// It is done, with the fields of its result.
    Done(Value),
    /// It has failed, with the fields of its result.
    Failed(Value),
    /// It was ended on request.
    Canceled,
}

impl Action {
    /// How this message ends a goal, if it does.
    pub(crate) fn ended(&self, codec: &Codec, message: MessageId, values: &Values) -> Option<Ended> {
        let ending = self.endings.iter().filter(|ending| ending.from == message).find(|ending| {
            let lookup = Message { codec, message, values, paths: &ending.paths };
            ending.when.as_ref().is_none_or(|when| when.is_true(&lookup))
        })?;
        let result = ending.result.object(&Message { codec, message, values, paths: ending.result.paths() });
        // A value that does not exist leaves its field as it is by default.
        let result = result.unwrap_or_default();
        Some(match &ending.failed {
            None => Ended::Done(Value::Object(result)),
            Some(reason) => {
                let reason = reason.as_ref().map(|path| reason_of(codec, message, values, path));
                self.failed(result, &reason.unwrap_or_else(|| "the machine has failed".to_owned()))
            }
        })
    }

    /// A failure for this reason.
    pub(crate) fn failed(&self, mut result: Map<String, Value>, reason: &str) -> Ended {
        tracing::warn!(action = self.name, reason, "goal failed");
        insert_reason(&self.result, &mut result, reason);
        Ended::Failed(Value::Object(result))
    }
}

impl Compiler<'_> {
    pub(super) fn action(&self, place: &str, described: &bridge::Action) -> Result<Action, CodecError> {
        let wrong = |reason: String| error(place, reason);
        if !services::ACTIONS.contains(&described.kind.as_str()) {
            let possible = services::ACTIONS.join(", ");
            return Err(wrong(format!("actions have one of the types {possible}, not {}", described.kind)));
        }
        let [goal, result, feedback] =
            self.types.action(&described.kind).map_err(|reason| wrong(reason.to_string()))?;
        let timeout = described
            .command
            .timeout
            .ok_or_else(|| wrong("needs timeout, the time in s within which a goal is done".to_owned()))?;
        let timeout = seconds(&format!("{place}: timeout"), timeout, 0.01)?;
        if timeout.as_secs_f64() > MAX_GOAL {
            return Err(wrong(format!("timeout: a goal takes {MAX_GOAL} s at most")));
        }
        let moves = self.moves(&described.command);
        // The time of a goal that moves nothing is not that of a motion.
        let sent = bridge::Command {
            timeout: described.command.timeout.filter(|_| moves),
            ..described.command.clone()
        };
        let command = self.command(place, goal, &sent)?;
        let fails = self.failure(place, command.outgoing.message, described.fails.as_ref())?;
        let constants = &self.plan.constants;
        let heard = |place: &str, name: &str| heard(self.codec, name).map_err(|reason| error(place, reason));
        let feedback = described.feedback.as_ref().map(|described| {
            let place = format!("{place}: feedback");
            let from = heard(&place, &described.from)?;
            let when = [described.when.as_ref(), None];
            let to = ToRos::new(self.codec, from, feedback, &described.fields, when, constants);
            Ok::<_, CodecError>((from, to.map_err(|reason| error(&place, reason))?))
        });
        let mut endings = Vec::new();
        let done = described.done.0.iter().map(|one| ("done", one));
        // A failure counts more.
        for (key, ending) in described.failed.0.iter().map(|one| ("failed", one)).chain(done) {
            let place = format!("{place}: {key}");
            let wrong = |reason: String| error(&place, reason);
            let from = heard(&place, &ending.from)?;
            let mut paths = Vec::new();
            let when = ending.when.as_ref().map(|when| {
                Term::read(when, constants, &mut MessageNames::new(self.codec, from, &mut paths))
                    .map_err(|reason| wrong(format!("when: {reason}")))
            });
            let when = when.transpose()?;
            let reason = ending.reason.as_deref().map(|name| self.codec.path(from, name)).transpose();
            let reason = reason.map_err(|reason| wrong(format!("reason: {reason}")))?;
            if key == "done" && reason.is_some() {
                return Err(wrong("reason is for failed".to_owned()));
            }
            let result =
                ToRos::new(self.codec, from, Arc::clone(&result), &ending.result, [None, None], constants)
                    .map_err(|reason| wrong(format!("result: {reason}")))?;
            endings.push(Ending { from, when, paths, failed: (key == "failed").then_some(reason), result });
        }
        if described.done.0.is_empty() {
            return Err(wrong("done names no message with which a goal is done".to_owned()));
        }
        let cancel = described.cancel.0.iter().map(|sending| {
            let place = format!("{place}: cancel");
            is_sent(self.codec, &sending.send).map_err(|reason| error(&place, reason))?;
            let no_limits = BTreeMap::new();
            Outgoing::new(self.codec, &sending.send, &sending.fields, &no_limits, constants, &mut NoNames)
                .and_then(|outgoing| outgoing.check(self.codec).map(|()| outgoing))
                .map_err(|reason| error(&place, reason))
        });
        Ok(Action {
            name: self.name(place, &described.action)?,
            kind: described.kind.clone(),
            timeout,
            settle: seconds(&format!("{place}: settle"), described.settle, 0.0)?,
            fails,
            feedback: feedback.transpose()?,
            endings,
            result,
            cancel: cancel.collect::<Result<_, _>>()?,
            command,
        })
    }
}
