//! The machine's side of a description, its section `serve`: values that follow each other, periodic messages, answers.
//!
//! Without I/O, as the conversation; with faults for tests.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::bridge::{Serve, Setting, Settings};
use dragoman_protocol::model::{Answer, Side};

use super::outgoing::{Outgoing, OutgoingFrame, is_range, named};
use super::plan::{error, seconds};
use super::term::{Computed, Constants, Lookup, Message, MessageNames, Names, Shape, Term};

/// Values change at least this often.
const STEP: Duration = Duration::from_millis(10);
/// Maximum pause that is simulated afterwards.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// Where the numbers of the fields of a message begin.
const FIELDS: usize = 1 << 8;
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

/// The names of a machine's values, and of the fields of a message.
struct StateNames<'a> {
    states: &'a [String],
    fields: Option<MessageNames<'a>>,
}

impl Names for StateNames<'_> {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        // A field of the message hides a value of the same name.
        let field = self.fields.as_mut().map(|fields| fields.find(name));
        if let Some(Ok((at, shape))) = field {
            return Ok((FIELDS + at, shape));
        }
        if let Some(at) = self.states.iter().position(|one| one == name) {
            return Ok((at, Shape::Number));
        }
        let hint = dragoman_text::hint(name, self.states.iter().map(String::as_str));
        Err(match field {
            Some(Err(reason)) if reason.contains("did you mean") => reason,
            Some(Err(_)) => format!("{name} is neither a value of state nor a field of the message{hint}"),
            _ => format!("there is no value {name}{hint}"),
        })
    }

    fn code(&self, name: &str, value: &str) -> Result<i64, String> {
        match self.fields.as_ref().filter(|fields| fields.has(name)) {
            Some(fields) => fields.code(name, value),
            None => Err(format!(
                "{name} is a value of state: only fields of messages have names for their values"
            )),
        }
    }
}

struct StateLookup<'a> {
    state: &'a [f64],
    message: Option<Message<'a>>,
}

impl Lookup for StateLookup<'_> {
    fn number(&self, name: usize) -> Option<Number> {
        match name.checked_sub(FIELDS) {
            Some(field) => self.message.as_ref()?.number(field),
            None => self.state.get(name).copied().map(Number::Real),
        }
    }

    fn whole(&self, name: usize) -> Computed {
        match (name.checked_sub(FIELDS), &self.message) {
            (Some(field), Some(message)) => message.whole(field),
            _ => self.number(name).map_or(Computed::Missing, Computed::Number),
        }
    }
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
        let constants = protocol.bridge.as_ref().map(|bridge| bridge.constants.clone()).unwrap_or_default();
        let names: Vec<String> = serve.state.keys().cloned().collect();
        if names.len() > FIELDS {
            return Err(error(&place, format!("state: more than {FIELDS} values")));
        }
        let compiler = Compiler { codec: &codec, names: &names, constants: &constants };
        let changes = compiler.changes(&place, serve)?;
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

    /// Takes a frame of a CAN bus.
    pub fn handle_frame(&mut self, now: Duration, id: u64, data: &[u8]) {
        self.advance(now);
        self.take(Some(id), data);
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
                let mut frame = OutgoingFrame { id, ..OutgoingFrame::default() };
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
            Reply::Recorded(bytes) => frames.push(OutgoingFrame { id, bytes: bytes.clone(), is_stop: false }),
            Reply::Echo => {
                let mut echoed = values.clone();
                let mut frame = OutgoingFrame { id, ..OutgoingFrame::default() };
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
            self.sequence = self.sequence.wrapping_add(1);
            let lookup = StateLookup { state: &self.state, message: None };
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

struct Compiler<'a> {
    codec: &'a Codec,
    names: &'a [String],
    constants: &'a Constants,
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

    fn changes(&self, place: &str, serve: &Serve) -> Result<Vec<StateMotion>, CodecError> {
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

    fn every(&self, place: &str, serve: &Serve) -> Result<Vec<Periodic>, CodecError> {
        let mut every = Vec::new();
        for described in &serve.every {
            let place = format!("{place}: every: send {}", described.send);
            let mut names = StateNames { states: self.names, fields: None };
            let outgoing = self.outgoing(&place, &described.send, &described.fields, &mut names)?;
            let period = seconds(&format!("{place}: period"), described.period, 0.001)?;
            if described.state.is_some() {
                return Err(error(&place, "in is for bridge: a simulated machine has values, no states"));
            }
            every.push(Periodic { outgoing, period, due: period });
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

    fn reactions(&self, place: &str, serve: &Serve) -> Result<Vec<Reaction>, CodecError> {
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
