//! What the machine says: frames, messages, and the questions to which they belong.

use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, DecodeError, MessageId, Path, Values};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::Side;

use super::{Conversation, Event, Heard, Kind, Open};
use crate::machine::term::{Computed, Lookup, Message};

/// Maximum number of bytes of a frame that are shown.
const MAX_SHOWN: usize = 32;
/// Minimum silence after a frame that ends with it: what a serial adapter needs.
const MIN_GAP: Duration = Duration::from_millis(4);

/// What a frame is.
enum Decoded {
    Heard(Heard),
    /// A message that is not used: a late answer, or a frame for another node of the bus.
    Unwanted,
    /// No message.
    Wrong,
}

impl Conversation {
    /// Takes received bytes; call [`next_message`](Self::next_message) until it returns `None`.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.plan.gap {
            Some(gap) => {
                if self.gap_end.is_some_and(|end| now >= end) && !self.gap.is_empty() {
                    // What was there before the silence is no message.
                    self.gap.clear();
                    self.statistics.wrong += 1;
                }
                let room = self.plan.max_frame.saturating_sub(self.gap.len());
                self.gap.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
                self.gap_end = Some(now + gap.max(MIN_GAP));
            }
            None => self.cutter.push(bytes),
        }
    }

    /// Takes a datagram, or what else is received as a whole: no message is in two of them.
    pub fn handle_datagram(&mut self, now: Duration, bytes: &[u8]) {
        self.cutter.reset();
        self.handle_bytes(now, bytes);
    }

    /// Takes a frame of a CAN bus. `None`: it is not a message.
    pub fn handle_frame(&mut self, now: Duration, id: u64, data: &[u8]) -> Option<Heard> {
        match self.decoded(now, Some(id), data) {
            Decoded::Heard(heard) => Some(heard),
            Decoded::Unwanted | Decoded::Wrong => None,
        }
    }

    /// The next message of the received bytes.
    pub fn next_message(&mut self, now: Duration) -> Option<Heard> {
        if self.plan.gap.is_some() {
            return self.next_after_gap(now);
        }
        let codec = Arc::clone(&self.plan.codec);
        let mut frame = std::mem::take(&mut self.frame);
        let heard = loop {
            frame.clear();
            // An answer without a code is as long as the question says.
            let asked = self.open.iter().map(|open| &open.queued.prepared);
            let asked = asked.map(|prepared| (prepared.message, &prepared.values)).next();
            let scratch = &mut self.scratch;
            let measure = |rest: &[u8]| codec.measure_asked(rest, Side::Server, asked, scratch);
            match self.cutter.next_frame_by(measure) {
                Some(content) => frame.extend_from_slice(content),
                None => break None,
            }
            match self.decoded(now, None, &frame) {
                Decoded::Heard(heard) => break Some(heard),
                Decoded::Unwanted => {}
                // With a wrong size it may hide other frames.
                Decoded::Wrong if self.plan.may_hide => self.cutter.reject(),
                Decoded::Wrong => {}
            }
        };
        self.frame = frame;
        heard
    }

    /// A frame ends with a silence, or as soon as it is a message.
    fn next_after_gap(&mut self, now: Duration) -> Option<Heard> {
        if self.gap.is_empty() {
            return None;
        }
        let frame = std::mem::take(&mut self.gap);
        let is_over = self.gap_end.is_some_and(|end| now >= end);
        let wrong = self.statistics.wrong;
        match self.decoded(now, None, &frame) {
            Decoded::Heard(heard) => {
                self.gap_end = None;
                Some(heard)
            }
            Decoded::Wrong if !is_over => {
                // The rest may come.
                self.statistics.wrong = wrong;
                self.gap = frame;
                None
            }
            Decoded::Unwanted | Decoded::Wrong => {
                self.gap_end = None;
                None
            }
        }
    }

    fn decoded(&mut self, now: Duration, id: Option<u64>, frame: &[u8]) -> Decoded {
        let codec = Arc::clone(&self.plan.codec);
        // The question to which it belongs; without one, it is something that the machine says by itself.
        let mut error = None;
        for at in 0..=self.open.len() {
            let asked = self.open.get(at).map(|open| &open.queued.prepared);
            let asked = asked.map(|prepared| (prepared.message, &prepared.values));
            match codec.decode_frame(id, frame, Side::Server, asked, &mut self.values) {
                Ok(message) => {
                    let belongs = self.open.get(at).is_some_and(|open| self.answers(open, message));
                    if belongs || at == self.open.len() {
                        let heard = self.understood(now, message, belongs.then_some(at));
                        return heard.map_or(Decoded::Unwanted, Decoded::Heard);
                    }
                }
                Err(wrong) => error = error.or(Some(wrong)),
            }
        }
        match error {
            // Frames of others on the same bus, or messages that are not used.
            Some(DecodeError::UnknownCode { .. }) if id.is_some() || self.plan.ignores_others => {
                return Decoded::Unwanted;
            }
            Some(error) => self.reason = Some(format!("{error}: {}", excerpt(frame))),
            None => {}
        }
        self.statistics.wrong += 1;
        Decoded::Wrong
    }

    /// Whether the message that was decoded answers this question.
    fn answers(&self, open: &Open, message: MessageId) -> bool {
        let prepared = &open.queued.prepared;
        if !message.is_answer || message.number != prepared.message.number {
            return false;
        }
        self.has_sequence_of(open, message)
    }

    /// Whether the message that was decoded has the number of this question, if questions have one.
    fn has_sequence_of(&self, open: &Open, message: MessageId) -> bool {
        let Some(sequence) = open.queued.prepared.sequence else { return true };
        let codec = &self.plan.codec;
        let Some(path) = codec.sequence(message) else { return true };
        codec
            .number_at(message, &self.values, &path)
            .is_some_and(|number| number == Number::Whole(sequence.into()))
    }

    fn understood(&mut self, now: Duration, message: MessageId, open: Option<usize>) -> Option<Heard> {
        self.statistics.received += 1;
        self.heard = now;
        if std::mem::take(&mut self.is_silent) {
            self.event(Event::Heard);
        }
        let plan = Arc::clone(&self.plan);
        // What has a code of its own is an answer to an open question if there is one.
        let others = plan.answers.iter().filter(|other| other.from == message);
        let others: Vec<_> = others.filter(|other| other.holds(&plan.codec, &self.values)).collect();
        let found = others.iter().find_map(|other| {
            let answers = |open: &Open| {
                other.of.contains(&open.queued.prepared.message.number) && self.has_sequence_of(open, message)
            };
            self.open.iter().position(answers).map(|at| (*other, at))
        });
        let other = found.map(|(other, _)| other).or(others.first().copied());
        let open = open.or(found.map(|(_, at)| at));
        let number = other.and_then(|other| other.of.first().copied()).unwrap_or(message.number);
        if (message.is_answer || other.is_some()) && self.is_late(open, number) {
            self.statistics.unexpected += 1;
            return None;
        }
        let answered = open.and_then(|at| self.open.remove(at));
        if (message.is_answer || other.is_some()) && answered.is_none() {
            self.statistics.unexpected += 1;
            return None;
        }
        self.change_state(now, message);
        if let (Some(other), Some(answered)) = (other.filter(|other| other.fails), &answered) {
            let reason = other.reason.as_ref();
            let reason = reason.map_or_else(
                || plan.name_of(message).replace('_', " "),
                |path| reason_of(&plan.codec, message, &self.values, path),
            );
            self.event(match answered.queued.kind {
                Kind::Call(ticket) | Kind::Cancel(ticket) => Event::Failed(ticket, reason),
                _ => Event::Refused(plan.name_of(answered.queued.prepared.message), reason),
            });
            if answered.queued.kind == Kind::Start {
                self.continue_start(now);
            }
            return Some(Heard { message, ticket: None });
        }
        let ticket = answered.as_ref().and_then(|open| open.queued.ticket());
        if answered.is_some_and(|open| open.queued.kind == Kind::Start) {
            self.continue_start(now);
        }
        Some(Heard { message, ticket })
    }
}

/// The first bytes of a frame, for people.
fn excerpt(frame: &[u8]) -> String {
    let mut text: Vec<String> = frame.iter().take(MAX_SHOWN).map(|byte| format!("{byte:02x}")).collect();
    if frame.len() > MAX_SHOWN {
        text.push("...".to_owned());
    }
    text.join(" ")
}

/// A field as the reason of a failure: a text, or the name of a number.
pub(crate) fn reason_of(codec: &Codec, message: MessageId, values: &Values, path: &Path) -> String {
    let paths = std::slice::from_ref(path);
    match (Message { codec, message, values, paths }).whole(0) {
        Computed::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        Computed::Number(number) => {
            let name = number.whole().and_then(|whole| codec.meaning(message, path, whole));
            name.map_or_else(|| format!("error {number}"), |name| name.replace('_', " "))
        }
        _ => "the machine refuses".to_owned(),
    }
}
