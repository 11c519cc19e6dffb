//! The machine's side of a description, its section `serve`: values that follow each other, periodic messages, answers.
//!
//! Without I/O, as the conversation; with faults for tests.

mod compile;
mod names;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::{Answer, Side};

use compile::Compiler;
use names::{FIELDS, StateLookup};

use super::outgoing::{Outgoing, OutgoingFrame, can_id};
use super::plan::{constants, error};
use super::term::{Message, Term};

/// Values change at least this often.
const STEP: Duration = Duration::from_millis(10);
/// Maximum pause that is simulated afterwards.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Maximum number of frames that wait to be sent.
const MAX_FRAMES: usize = 1024;

/// A simulated machine.
pub struct Simulated {
    codec: Arc<Codec>,
    cutter: Cutter,
    scratch: Values,
    names: Vec<String>,
    state: Vec<f64>,
    changes: Vec<StateMotion>,
    start: Vec<Outgoing>,
    every: Vec<Periodic>,
    reactions: Vec<Reaction>,
    now: Duration,
    frames: VecDeque<(Duration, OutgoingFrame)>,
    faults: Faults,
    received: u64,
    sequence: u64,
}

/// Faults of a simulated machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// It says nothing until then.
    pub silent_until: Duration,
    /// Its messages are late by this.
    pub late: Duration,
    /// It says everything twice.
    pub twice: bool,
    /// The last byte of this many of its next frames is wrong.
    pub corrupt: u32,
}

struct StateMotion {
    value: usize,
    target: MotionTarget,
    range: Option<[f64; 2]>,
    wraps: bool,
}

enum MotionTarget {
    Follows(Term, f64),
    Rate(Term),
}

struct Periodic {
    outgoing: Outgoing,
    period: Duration,
    due: Duration,
    /// Only while this is true.
    when: Option<Term>,
}

struct Reaction {
    receive: MessageId,
    paths: Vec<Path>,
    when: Option<Term>,
    set: Vec<(usize, Term)>,
    answer: Reply,
    send: Vec<Outgoing>,
}

enum Reply {
    None,
    /// The question itself.
    Echo,
    Fields(Outgoing),
    Recorded(Vec<u8>),
}

impl Simulated {
    /// The machine of a description.
    ///
    /// # Errors
    /// There is no section `serve`; a message, field or value does not exist.
    pub fn new(codec: Arc<Codec>) -> Result<Self, CodecError> {
        let protocol = codec.protocol();
        let place = format!("{}: serve", protocol.name);
        let none = "the description has no section serve, which says what the machine does";
        let serve = protocol.serve.as_ref().ok_or_else(|| error(&protocol.name, none))?;
        let bridge = protocol.bridge.as_ref();
        let constants = bridge.map(|bridge| constants(&format!("{}: bridge", protocol.name), bridge));
        let constants = constants.transpose()?.unwrap_or_default();
        let names: Vec<String> = serve.state.keys().cloned().collect();
        if names.len() > FIELDS {
            return Err(error(&place, format!("state: more than {FIELDS} values")));
        }
        let compiler = Compiler { codec: &codec, names: &names, constants: &constants };
        let changes = compiler.changes(&place, serve)?;
        let start = compiler.start(&place, serve)?;
        let every = compiler.every(&place, serve)?;
        let reactions = compiler.reactions(&place, serve)?;
        let cutter =
            Cutter::new(protocol).map_err(|reason| error(&format!("{}: frame", protocol.name), reason))?;
        Ok(Self {
            cutter,
            scratch: Values::default(),
            state: serve.state.values().copied().collect(),
            names,
            changes,
            start,
            every,
            reactions,
            now: Duration::ZERO,
            frames: VecDeque::new(),
            faults: Faults::default(),
            received: 0,
            sequence: 0,
            codec: Arc::clone(&codec),
        })
    }

    /// Its faults.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// A value by its name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.names.iter().position(|one| one == name).and_then(|at| self.state.get(at).copied())
    }

    /// The names of all values.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Sets a value; whether there is one of this name.
    pub fn set(&mut self, name: &str, value: f64) -> bool {
        let place = self.names.iter().position(|one| one == name).and_then(|at| self.state.get_mut(at));
        place.map(|place| *place = value).is_some()
    }

    /// How many messages it has received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// A client has connected, or gone: what was received in part, or waits for it, is forgotten.
    pub fn handle_connected(&mut self, now: Duration) {
        self.advance(now);
        self.cutter.reset();
        self.frames.clear();
        let lookup = StateLookup { state: &self.state, message: None };
        let first = self.start.iter().map(|outgoing| outgoing.prepare(&self.codec, &lookup, self.sequence));
        let first: Vec<_> = first.flatten().map(|prepared| prepared.frame).collect();
        first.into_iter().for_each(|frame| self.say(frame));
    }

    /// Takes bytes of a client.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        self.cutter.push(bytes);
        let codec = Arc::clone(&self.codec);
        let mut frame = Vec::new();
        loop {
            frame.clear();
            match self.cutter.next_frame_by(|rest| codec.measure(rest, Side::Client, &mut self.scratch)) {
                Some(content) => frame.extend_from_slice(content),
                None => return,
            }
            self.take(None, &frame);
        }
    }

    /// Takes a frame of a CAN bus, whose message has one of these codes.
    pub fn handle_frame(&mut self, now: Duration, codes: impl Iterator<Item = u64>, data: &[u8]) {
        self.advance(now);
        for code in codes {
            self.take(Some(code), data);
        }
    }

    fn take(&mut self, id: Option<u64>, frame: &[u8]) {
        let codec = Arc::clone(&self.codec);
        let mut values = Values::default();
        let Ok(message) = codec.decode_frame(id, frame, Side::Client, None, &mut values) else { return };
        self.received += 1;
        let sequence = codec.sequence(message).and_then(|path| codec.number_at(message, &values, &path));
        let sequence = sequence.and_then(|number| {
            if let Number::Whole(whole) = number { u64::try_from(whole).ok() } else { None }
        });
        let mut frames = Vec::new();
        let reaction = self.reactions.iter().find(|reaction| {
            let lookup = reaction.lookup(&codec, &self.state, &values);
            reaction.receive == message && reaction.when.as_ref().is_none_or(|when| when.is_true(&lookup))
        });
        let Some(reaction) = reaction else {
            // Without a reaction, a question with an empty answer is answered, so that its client goes on.
            let is_echo = is_echo(&codec, message);
            if is_echo {
                let answer = MessageId { is_answer: true, ..message };
                let mut frame = OutgoingFrame { id: can_id(&codec, answer), ..OutgoingFrame::default() };
                if codec.encode_wire(answer, &mut values, &mut frame.bytes).is_ok() {
                    self.say(frame);
                }
            }
            return;
        };
        let mut state = self.state.clone();
        for (value, term) in &reaction.set {
            let lookup = reaction.lookup(&codec, &self.state, &values);
            if let (Ok(Some(number)), Some(place)) = (term.number(&lookup), state.get_mut(*value)) {
                *place = number;
            }
        }
        let lookup = reaction.lookup(&codec, &state, &values);
        let answer = MessageId { is_answer: true, ..message };
        match &reaction.answer {
            Reply::None => {}
            Reply::Recorded(bytes) => {
                let id = can_id(&codec, answer);
                frames.push(OutgoingFrame { id, bytes: bytes.clone(), is_stop: false });
            }
            Reply::Echo => {
                let mut echoed = values.clone();
                let mut frame = OutgoingFrame { id: can_id(&codec, answer), ..OutgoingFrame::default() };
                if codec.encode_wire(answer, &mut echoed, &mut frame.bytes).is_ok() {
                    frames.push(frame);
                }
            }
            Reply::Fields(outgoing) => {
                if let Ok(prepared) = outgoing.answer(&codec, &lookup, sequence.unwrap_or(0), Some(&values)) {
                    frames.push(prepared.frame);
                }
            }
        }
        for outgoing in &reaction.send {
            if let Ok(prepared) = outgoing.prepare(&codec, &lookup, self.sequence) {
                frames.push(prepared.frame);
            }
        }
        self.state = state;
        frames.into_iter().for_each(|frame| self.say(frame));
    }

    fn say(&mut self, mut frame: OutgoingFrame) {
        if self.now < self.faults.silent_until || self.frames.len() >= MAX_FRAMES {
            return;
        }
        if self.faults.corrupt > 0
            && let Some(last) = frame.bytes.last_mut()
        {
            *last ^= 0x55;
            self.faults.corrupt -= 1;
        }
        let due = self.now + self.faults.late;
        if self.faults.twice {
            self.frames.push_back((due, frame.clone()));
        }
        self.frames.push_back((due, frame));
    }

    /// Advances the time.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
    }

    fn advance(&mut self, now: Duration) {
        if now.saturating_sub(self.now) > MAX_PAUSE {
            // A long pause without a client is skipped: simulating it would take too long.
            let skipped = now - self.now - MAX_PAUSE;
            self.now += skipped;
            self.every.iter_mut().for_each(|every| every.due += skipped);
        }
        while self.now < now {
            let due = self.every.iter().map(|every| every.due).min();
            let step = (self.now + STEP).min(now).min(due.unwrap_or(now)).max(self.now);
            self.change((step - self.now).as_secs_f64());
            self.now = step;
            self.send_periodic();
            if step == now {
                break;
            }
        }
    }

    fn change(&mut self, passed: f64) {
        if passed <= 0.0 {
            return;
        }
        let before = self.state.clone();
        let lookup = StateLookup { state: &before, message: None };
        for change in &self.changes {
            let Some(value) = self.state.get_mut(change.value) else { continue };
            match &change.target {
                MotionTarget::Follows(term, constant) => {
                    let target = term.number(&lookup).ok().flatten().unwrap_or(*value);
                    *value = target + (*value - target) * (-passed / constant).exp();
                }
                MotionTarget::Rate(term) => {
                    *value += passed * term.number(&lookup).ok().flatten().unwrap_or(0.0)
                }
            }
            if let Some([low, high]) = change.range {
                *value = if change.wraps {
                    low + (*value - low).rem_euclid(high - low)
                } else {
                    value.clamp(low, high)
                };
            }
        }
    }

    fn send_periodic(&mut self) {
        let codec = Arc::clone(&self.codec);
        let mut frames = Vec::new();
        for every in self.every.iter_mut().filter(|every| every.due <= self.now) {
            every.due += every.period;
            let lookup = StateLookup { state: &self.state, message: None };
            if every.when.as_ref().is_some_and(|when| !when.is_true(&lookup)) {
                continue;
            }
            self.sequence = self.sequence.wrapping_add(1);
            if let Ok(prepared) = every.outgoing.prepare(&codec, &lookup, self.sequence) {
                frames.push(prepared.frame);
            }
        }
        frames.into_iter().for_each(|frame| self.say(frame));
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let due = self.every.iter().map(|every| every.due);
        due.chain(self.frames.front().map(|(due, _)| *due)).min()
    }

    /// The next frame to send.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<OutgoingFrame> {
        if self.frames.front().is_some_and(|(due, _)| *due <= now) {
            return self.frames.pop_front().map(|(_, frame)| frame);
        }
        None
    }
}

fn is_echo(codec: &Codec, message: MessageId) -> bool {
    let described = codec.protocol().messages.get(message.number);
    matches!(described.and_then(|message| message.answer.as_ref()), Some(Answer::Named(name)) if name == "echo")
}

impl Reaction {
    fn lookup<'a>(&'a self, codec: &'a Codec, state: &'a [f64], values: &'a Values) -> StateLookup<'a> {
        StateLookup {
            state,
            message: Some(Message { codec, message: self.receive, values, paths: &self.paths }),
        }
    }
}
