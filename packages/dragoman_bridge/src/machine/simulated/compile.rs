//! Finds the names of a section `serve`.

use std::collections::BTreeMap;

use dragoman_protocol::codec::{Codec, CodecError, MessageId};
use dragoman_protocol::model::Side;
use dragoman_protocol::model::bridge::{Serve, Setting, Settings};

use super::names::{StateLookup, StateNames};
use super::{MotionTarget, Periodic, Reaction, Reply, StateMotion, is_echo};
use crate::machine::outgoing::{Outgoing, is_range, named};
use crate::machine::plan::{error, seconds};
use crate::machine::term::{Constants, MessageNames, Names, Term};

pub(super) struct Compiler<'a> {
    pub(super) codec: &'a Codec,
    pub(super) names: &'a [String],
    pub(super) constants: &'a Constants,
}

impl Compiler<'_> {
    fn term(&self, place: &str, setting: &Setting) -> Result<Term, CodecError> {
        let mut names = StateNames { states: self.names, fields: None };
        Term::read(setting, self.constants, &mut names).map_err(|reason| error(place, reason))
    }

    fn value(&self, place: &str, name: &str) -> Result<usize, CodecError> {
        self.names.iter().position(|one| one == name).ok_or_else(|| {
            let hint = dragoman_text::hint(name, self.names.iter().map(String::as_str));
            error(place, format!("there is no value {name}{hint}"))
        })
    }

    pub(super) fn changes(&self, place: &str, serve: &Serve) -> Result<Vec<StateMotion>, CodecError> {
        let mut changes = Vec::new();
        for described in &serve.changes {
            let place = format!("{place}: changes: value {}", described.value);
            let target = match (&described.follows, described.time_constant, &described.rate) {
                (Some(follows), constant, None) => {
                    let constant = seconds(&place, constant.unwrap_or(0.1), 0.001)?;
                    MotionTarget::Follows(self.term(&place, follows)?, constant.as_secs_f64())
                }
                (None, None, Some(rate)) => MotionTarget::Rate(self.term(&place, rate)?),
                _ => return Err(error(&place, "needs either follows with time_constant, or rate")),
            };
            if let Some([low, high]) =
                described.range.filter(|[low, high]| !is_range(*low, *high) || low == high)
            {
                return Err(error(
                    &place,
                    format!("range: [{low}, {high}] is not a range: the lowest value comes first"),
                ));
            }
            changes.push(StateMotion {
                value: self.value(&place, &described.value)?,
                target,
                range: described.range,
                wraps: described.wraps,
            });
        }
        Ok(changes)
    }

    pub(super) fn start(&self, place: &str, serve: &Serve) -> Result<Vec<Outgoing>, CodecError> {
        let place = format!("{place}: start");
        let mut names = StateNames { states: self.names, fields: None };
        let start = serve.start.0.iter();
        start.map(|one| self.outgoing(&place, &one.send, &one.fields, &mut names)).collect()
    }

    pub(super) fn every(&self, place: &str, serve: &Serve) -> Result<Vec<Periodic>, CodecError> {
        let state: Vec<f64> = serve.state.values().copied().collect();
        let mut every = Vec::new();
        for described in &serve.every {
            let place = format!("{place}: every: send {}", described.send);
            let mut names = StateNames { states: self.names, fields: None };
            let outgoing = self.outgoing(&place, &described.send, &described.fields, &mut names)?;
            let period = seconds(&format!("{place}: period"), described.period, 0.001)?;
            if described.state.is_some() {
                return Err(error(&place, "in is for bridge: a simulated machine has values, no states"));
            }
            let when = described.when.as_ref();
            let when = when.map(|when| self.term(&format!("{place}: when"), when)).transpose()?;
            let lookup = StateLookup { state: &state, message: None };
            if when.as_ref().is_none_or(|when| when.is_true(&lookup)) {
                // A value that does not fit is found now, not when it is sent.
                outgoing.prepare(self.codec, &lookup, 0).map_err(|reason| error(&place, reason))?;
            }
            every.push(Periodic { outgoing, period, due: period, when });
        }
        Ok(every)
    }

    /// A message of the machine.
    fn outgoing(
        &self,
        place: &str,
        name: &str,
        fields: &Settings,
        names: &mut dyn Names,
    ) -> Result<Outgoing, CodecError> {
        let wrong = |reason: String| error(place, reason);
        let message = named(self.codec, name).map_err(wrong)?;
        if self
            .codec
            .protocol()
            .messages
            .get(message.number)
            .is_none_or(|message| message.from == Side::Client)
        {
            return Err(error(
                place,
                format!("{name} is not what the machine sends: it has no from: server"),
            ));
        }
        Outgoing::of(self.codec, message, fields, &BTreeMap::new(), self.constants, names)
            .map_err(|reason| error(place, reason))
    }

    pub(super) fn reactions(&self, place: &str, serve: &Serve) -> Result<Vec<Reaction>, CodecError> {
        let mut reactions = Vec::new();
        for described in &serve.on {
            let place = format!("{place}: on: receive {}", described.receive);
            let wrong = |reason: String| error(&place, reason);
            let receive = named(self.codec, &described.receive).map_err(wrong)?;
            let by_machine = self.codec.protocol().messages.get(receive.number);
            if by_machine.is_some_and(|message| message.from == Side::Server) {
                return Err(error(&place, "this is what the machine sends: it never receives it"));
            }
            if described.silent && (!described.answer.is_empty() || described.recorded.is_some()) {
                return Err(error(
                    &place,
                    "silent: nothing is answered, so there is neither answer nor recorded",
                ));
            }
            if described.recorded.is_some() && !described.answer.is_empty() {
                return Err(error(&place, "recorded is the whole answer: leave out answer, or recorded"));
            }
            let mut paths = Vec::new();
            let mut names = StateNames {
                states: self.names,
                fields: Some(MessageNames::new(self.codec, receive, &mut paths)),
            };
            let when = described.when.as_ref().map(|when| Term::read(when, self.constants, &mut names));
            let when = when.transpose().map_err(|reason| error(&place, format!("when: {reason}")))?;
            let mut set = Vec::new();
            for (value, setting) in &described.set {
                let term = Term::read(setting, self.constants, &mut names);
                let term = term.map_err(|reason| error(&place, format!("set: {value}: {reason}")))?;
                set.push((self.value(&place, value)?, term));
            }
            let has_answer = self.codec.has_answer(receive) && !described.silent;
            if !self.codec.has_answer(receive)
                && (!described.answer.is_empty() || described.recorded.is_some())
            {
                return Err(error(&place, "nothing answers this message"));
            }
            let answer = match &described.recorded {
                _ if !has_answer => Reply::None,
                Some(bytes) => Reply::Recorded(recorded(bytes).map_err(|reason| error(&place, reason))?),
                None if described.answer.is_empty() && is_echo(self.codec, receive) => Reply::Echo,
                None => {
                    let answer = MessageId { is_answer: true, ..receive };
                    let no_limits = BTreeMap::new();
                    let fields = &described.answer;
                    Reply::Fields(
                        Outgoing::of(self.codec, answer, fields, &no_limits, self.constants, &mut names)
                            .map_err(|reason| error(&place, format!("answer: {reason}")))?,
                    )
                }
            };
            let mut send = Vec::new();
            for sending in &described.send.0 {
                send.push(self.outgoing(&place, &sending.send, &sending.fields, &mut names)?);
            }
            reactions.push(Reaction { receive, paths, when, set, answer, send });
        }
        Ok(reactions)
    }
}

/// Bytes in hexadecimal digits.
fn recorded(text: &str) -> Result<Vec<u8>, String> {
    let bytes = text.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16));
    bytes.collect::<Result<_, _>>().map_err(|_| format!("recorded: '{text}' is not bytes such as '0d ff 01'"))
}
