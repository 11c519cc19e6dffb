//! The plan of a conversation: the section `bridge` of a description, with all names found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge::{Bridge, Others, Sending, Settings, Timing};
use dragoman_protocol::model::{Link, Role, Side};

use super::conversation::MAX_QUEUE;
use super::outgoing::{Outgoing, is_range, named};
use super::term::{Constants, Message, MessageNames, Names, Shape, Term};

/// Time after which a motion that is not renewed ends, unless the description says another one.
pub const MOTION_TIMEOUT: f64 = 0.6;
/// Maximum number of questions that are open at the same time.
pub(crate) const MAX_IN_FLIGHT: usize = 32;
/// Maximum number of times that a question is asked again.
pub(crate) const MAX_RETRIES: u32 = 1000;
/// Minimum period of a periodic message, s.
const MIN_PERIOD: f64 = 0.001;
/// Minimum time within which an answer comes, after which the machine is silent, and before a lost link is opened again, s.
pub(crate) const MIN_ANSWER: f64 = 0.001;
pub(crate) const MIN_SILENCE: f64 = 0.01;
pub(crate) const MIN_RECONNECT: f64 = 0.01;
/// Maximum of all times, s.
pub(crate) const MAX_TIME: f64 = 86_400.0;
/// Parameters of the node that are not constants. Others have a dot in their names, which constants cannot have.
const OTHER_PARAMETERS: [&str; 5] =
    ["link", "frame_prefix", "use_sim_time", "cmd_vel_timeout_sec", "enable_stamped_cmd_vel"];
/// Bits of a character on a serial line, with those around it.
const CHARACTER: f64 = 11.0;

/// What a description says about the conversation, with all names found.
pub struct Plan {
    pub(crate) codec: Arc<Codec>,
    pub(crate) timings: Timings,
    /// Frames end with so much silence.
    pub(crate) gap: Option<Duration>,
    pub(crate) max_frame: usize,
    /// A frame with a wrong size may hide others.
    pub(crate) may_hide: bool,
    pub(crate) answers: Vec<OtherAnswer>,
    /// What is known of the answers to each message.
    pub(crate) questions: Vec<Question>,
    /// Messages with other codes are not wrong.
    pub(crate) ignores_others: bool,
    pub(crate) start: Vec<Outgoing>,
    pub(crate) stop: Vec<Outgoing>,
    pub(crate) every: Vec<Every>,
    pub(crate) states: Vec<State>,
    /// Numbers with names, for expressions.
    pub constants: Constants,
}

/// Times and limits of the conversation, which may change while the machine runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timings {
    pub(crate) answer: Duration,
    pub(crate) retries: u32,
    pub(crate) in_flight: usize,
    pub(crate) pace: Duration,
    pub(crate) silence: Duration,
    /// Delay before a lost link is opened again: the first, and the longest.
    pub(crate) reconnect: [Duration; 2],
}

impl Timings {
    fn new(place: &str, described: &Timing) -> Result<Self, CodecError> {
        let Timing { answer, retries, in_flight, pace, silence, reconnect, reconnect_max } = *described;
        let time = |name: &str, value: f64, min: f64| seconds(&format!("{place}: {name}"), value, min);
        if !(1..=MAX_IN_FLIGHT).contains(&in_flight) {
            let reason = format!("{in_flight} is not between 1 and {MAX_IN_FLIGHT}");
            return Err(error(&format!("{place}: in_flight"), reason));
        }
        if retries > MAX_RETRIES {
            let reason = format!("{retries} is not between 0 and {MAX_RETRIES}");
            return Err(error(&format!("{place}: retries"), reason));
        }
        Ok(Self {
            answer: time("answer", answer, MIN_ANSWER)?,
            retries,
            in_flight,
            pace: time("pace", pace, 0.0)?,
            silence: time("silence", silence, MIN_SILENCE)?,
            reconnect: [
                time("reconnect", reconnect, MIN_RECONNECT)?,
                time("reconnect_max", reconnect_max, MIN_RECONNECT)?,
            ],
        })
    }
}

/// An answer that has a code of its own.
pub(crate) struct OtherAnswer {
    pub(crate) from: MessageId,
    /// The questions, by their places in the description.
    pub(crate) of: Vec<usize>,
    pub(crate) fails: bool,
    pub(crate) reason: Option<Path>,
    /// Whether it is one, and the fields on which this depends.
    when: Option<Term>,
    paths: Vec<Path>,
}

impl OtherAnswer {
    /// Whether a message with these values is this answer.
    pub(crate) fn holds(&self, codec: &Codec, values: &Values) -> bool {
        let message = Message { codec, message: self.from, values, paths: &self.paths };
        self.when.as_ref().is_none_or(|when| when.is_true(&message))
    }
}

/// What is known of the answers to a message.
pub(crate) struct Question {
    /// Questions of one kind have answers that look alike.
    pub(crate) kind: usize,
    /// All answers repeat a number of the question.
    pub(crate) is_numbered: bool,
}

/// The kinds of questions.
fn questions(codec: &Codec, answers: &[OtherAnswer]) -> Vec<Question> {
    let messages = &codec.protocol().messages;
    let mut kinds: Vec<usize> = (0..messages.len()).collect();
    let mut join = |one: usize, other: usize| {
        if let (Some(one), Some(other)) = (kinds.get(one).copied(), kinds.get(other).copied()) {
            kinds.iter_mut().filter(|kind| **kind == other).for_each(|kind| *kind = one);
        }
    };
    let mut by_code = BTreeMap::new();
    for (number, message) in messages.iter().enumerate() {
        if message.answer.is_some() && message.from == Side::Client {
            join(*by_code.entry(message.code_of_answer()).or_insert(number), number);
        }
    }
    let mut by_message = BTreeMap::new();
    for answer in answers {
        for number in &answer.of {
            join(*by_message.entry(answer.from.number).or_insert(*number), *number);
        }
    }
    let has_number = |message: MessageId| codec.sequence(message).is_some();
    kinds
        .into_iter()
        .enumerate()
        .map(|(number, kind)| {
            let question = MessageId { number, is_answer: false };
            let own = codec.has_answer(question).then_some(MessageId { is_answer: true, ..question });
            let others =
                answers.iter().filter(|answer| answer.of.contains(&number)).map(|answer| answer.from);
            Question {
                kind,
                is_numbered: has_number(question) && own.into_iter().chain(others).all(has_number),
            }
        })
        .collect()
}

/// A periodic message.
pub(crate) struct Every {
    pub(crate) outgoing: Outgoing,
    pub(crate) period: Duration,
    pub(crate) state: Option<usize>,
}

/// A state of the machine.
pub(crate) struct State {
    pub(crate) name: String,
    pub(crate) is_fault: bool,
    pub(crate) enter: Vec<Outgoing>,
    pub(crate) next: Vec<StateChange>,
}

/// A change of state.
pub(crate) struct StateChange {
    pub(crate) to: usize,
    pub(crate) from: Option<MessageId>,
    pub(crate) when: Option<Term>,
    pub(crate) paths: Vec<Path>,
    pub(crate) after: Option<Duration>,
    /// Silence of the machine leads there.
    pub(crate) is_silent: bool,
}

/// An error of a plan, with its place.
pub(crate) fn error(place: &str, reason: impl Into<String>) -> CodecError {
    CodecError { place: place.to_owned(), reason: reason.into() }
}

/// Names of which there are none: the fields of messages that the bridge sends by itself.
pub(crate) struct NoNames;

impl Names for NoNames {
    fn find(&mut self, name: &str) -> Result<(usize, Shape), String> {
        Err(format!(
            "{name} is neither a number nor one of the constants, and there is no message from which it could come"
        ))
    }
}

impl Plan {
    /// The plan of a description.
    ///
    /// # Errors
    /// A message, field or state does not exist; a time is out of range.
    pub fn new(codec: Arc<Codec>, bridge: &Bridge) -> Result<Self, CodecError> {
        let protocol = codec.protocol();
        let place = format!("{}: bridge", protocol.name);
        let timings = Timings::new(&format!("{place}: timing"), &bridge.timing)?;
        let constants = constants(&place, bridge)?;
        let rate = if let Link::Serial(serial) = protocol.link { f64::from(serial.rate) } else { 9600.0 };
        let gap = protocol.frame.cut.silence.map(|characters| {
            seconds(
                &format!("{}: frame: silence", protocol.name),
                characters * CHARACTER / rate.max(1.0),
                0.0,
            )
        });
        let states: Vec<String> = bridge.states.iter().map(|state| state.name.clone()).collect();
        let compiler = Compiler { codec: &codec, constants: &constants, states: &states };
        let own = |place: &str, sendings: &[Sending]| {
            if sendings.len() > MAX_QUEUE {
                return Err(error(place, format!("{} messages; {MAX_QUEUE} are possible", sendings.len())));
            }
            sendings.iter().map(|sending| compiler.still(place, &sending.send, &sending.fields)).collect()
        };
        let start = own(&format!("{place}: start"), &bridge.start.0)?;
        let stop = bridge.stop.0.iter();
        let stop = stop.map(|one| compiler.own(&format!("{place}: stop"), &one.send, &one.fields));
        let stop = stop.collect::<Result<Vec<_>, _>>()?;
        let mut every = Vec::new();
        for periodic in &bridge.every {
            let place = format!("{place}: every: send {}", periodic.send);
            if periodic.when.is_some() {
                return Err(error(&place, "when is for serve; here in names a state"));
            }
            every.push(Every {
                outgoing: compiler.still(&place, &periodic.send, &periodic.fields)?,
                period: seconds(&format!("{place}: period"), periodic.period, MIN_PERIOD)?,
                state: compiler.state(&place, periodic.state.as_deref())?,
            });
        }
        let states = compiler.states(&place, bridge, &own)?;
        let answers = compiler.answers(&place, bridge)?;
        Ok(Self {
            timings,
            gap: gap.transpose()?,
            max_frame: protocol.frame.cut.most.unwrap_or(dragoman_protocol::cut::MAX_FRAME),
            may_hide: protocol.frame.cut.size.is_some() || protocol.frame.cut.by_code,
            questions: questions(&codec, &answers),
            answers,
            ignores_others: bridge.others == Others::Ignore,
            start,
            stop,
            every,
            states,
            constants,
            codec: Arc::clone(&codec),
        })
    }

    /// The codec of the description.
    pub fn codec(&self) -> &Arc<Codec> {
        &self.codec
    }

    /// The number of a state.
    ///
    /// # Errors
    /// There is no such state.
    pub fn state_named(&self, place: &str, name: Option<&str>) -> Result<Option<usize>, CodecError> {
        let names: Vec<String> = self.states.iter().map(|state| state.name.clone()).collect();
        state_named(place, &names, name)
    }

    /// The message that answers a question with a code of its own.
    pub(crate) fn other_answer(&self, question: MessageId) -> Option<MessageId> {
        let answer = self.answers.iter().find(|answer| !answer.fails && answer.of.contains(&question.number));
        answer.map(|answer| answer.from)
    }

    /// The messages that the bridge sends by itself.
    #[cfg(feature = "node")]
    pub(crate) fn own(&self) -> impl Iterator<Item = &Outgoing> {
        let every = self.every.iter().map(|every| &every.outgoing);
        let enter = self.states.iter().flat_map(|state| &state.enter);
        self.start.iter().chain(&self.stop).chain(every).chain(enter)
    }

    /// Whether anything answers a message.
    pub(crate) fn is_question(&self, message: MessageId) -> bool {
        self.codec.has_answer(message) || self.other_answer(message).is_some()
    }

    pub(crate) fn name_of(&self, message: MessageId) -> String {
        let message = self.codec.protocol().messages.get(message.number);
        message.map(|message| message.name.clone()).unwrap_or_default()
    }
}

/// The constants of a description.
///
/// # Errors
/// A name that no parameter can have; a value that is not in its range.
pub(crate) fn constants(place: &str, bridge: &Bridge) -> Result<Constants, CodecError> {
    for (name, constant) in &bridge.constants {
        let place = format!("{place}: constants: {name}");
        if !is_name(name) || OTHER_PARAMETERS.contains(&name.as_str()) {
            let reason = if is_name(name) {
                "this parameter belongs to the node itself"
            } else {
                "is a parameter of the node, so it has letters, digits and _, and does not begin with a digit"
            };
            return Err(error(&place, reason));
        }
        let value = constant.value;
        if !value.is_finite() {
            return Err(error(&place, format!("{value} is not finite")));
        }
        if let Some([low, high]) = constant.range {
            if !is_range(low, high) {
                return Err(error(&place, format!("[{low}, {high}] is not a range")));
            }
            if !(low..=high).contains(&value) {
                return Err(error(&place, format!("{value} is outside of {low} to {high}")));
            }
        }
    }
    Ok(bridge.constants.iter().map(|(name, constant)| (name.clone(), constant.value)).collect())
}

/// Whether a text is a part of a name in ROS.
pub(crate) fn is_name(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// A time in seconds.
pub(crate) fn seconds(place: &str, value: f64, min: f64) -> Result<Duration, CodecError> {
    if !(min..=MAX_TIME).contains(&value) {
        // Some numbers would have hundreds of zeros.
        let is_short = value == 0.0 || (1e-6..1e9).contains(&value.abs());
        let shown = if is_short { value.to_string() } else { format!("{value:e}") };
        return Err(error(place, format!("{shown} s is not between {min} and {MAX_TIME} s")));
    }
    Duration::try_from_secs_f64(value).map_err(|reason| error(place, reason.to_string()))
}

fn state_named(place: &str, states: &[String], name: Option<&str>) -> Result<Option<usize>, CodecError> {
    let Some(name) = name else { return Ok(None) };
    let found = states.iter().position(|state| state == name);
    found.map(Some).ok_or_else(|| {
        let hint = dragoman_text::hint(name, states.iter().map(String::as_str));
        error(place, format!("there is no state {name}{hint}"))
    })
}

/// The message that the machine sends with this name, or its answer to the question of this name.
pub(crate) fn heard(codec: &Codec, name: &str) -> Result<MessageId, String> {
    let message = named(codec, name)?;
    let described = codec.protocol().messages.get(message.number);
    if described.is_some_and(|described| described.from == Side::Server) {
        return Ok(message);
    }
    if codec.has_answer(message) {
        return Ok(MessageId { is_answer: true, ..message });
    }
    Err(format!("nothing answers {name}: it is only sent to the machine"))
}

/// A message that is sent to the machine.
pub(crate) fn is_sent(codec: &Codec, name: &str) -> Result<(), String> {
    let message = named(codec, name)?;
    let from = codec.protocol().messages.get(message.number).map(|message| message.from);
    if from == Some(Side::Server) {
        return Err(format!("{name} is what the machine sends, not what is sent to it"));
    }
    Ok(())
}

/// Whether a message moves nothing, so that it may be sent without a command.
pub(crate) fn stands_still(codec: &Codec, name: &str) -> Result<(), String> {
    let message = named(codec, name)?;
    match codec.protocol().messages.get(message.number).map(|message| message.role) {
        Some(Role::Start) => {
            Err(format!("{name} moves the machine: only cmd_vel, subscribe and services do"))
        }
        _ => Ok(()),
    }
}

/// Messages of the plan.
type Messages = Result<Vec<Outgoing>, CodecError>;

struct Compiler<'a> {
    codec: &'a Codec,
    constants: &'a Constants,
    states: &'a [String],
}

impl Compiler<'_> {
    /// A message whose fields are known, and that moves nothing.
    fn still(&self, place: &str, name: &str, fields: &Settings) -> Result<Outgoing, CodecError> {
        let outgoing = self.own(place, name, fields)?;
        stands_still(self.codec, name).map_err(|reason| error(place, reason))?;
        Ok(outgoing)
    }

    /// A message whose fields are known.
    fn own(&self, place: &str, name: &str, fields: &Settings) -> Result<Outgoing, CodecError> {
        is_sent(self.codec, name).map_err(|reason| error(place, reason))?;
        Outgoing::new(self.codec, name, fields, &BTreeMap::new(), self.constants, &mut NoNames)
            .and_then(|outgoing| {
                // A field that is out of range is found now, not when it is sent.
                outgoing.check(self.codec).map(|()| outgoing)
            })
            .map_err(|reason| error(place, format!("{name}: {reason}")))
    }

    fn answers(&self, place: &str, bridge: &Bridge) -> Result<Vec<OtherAnswer>, CodecError> {
        let mut answers = Vec::new();
        for described in &bridge.answers {
            let place = format!("{place}: answers: from {}", described.from);
            let from = named(self.codec, &described.from).map_err(|reason| error(&place, reason))?;
            let by_machine = self.codec.protocol().messages.get(from.number);
            if by_machine.is_none_or(|message| message.from == Side::Client) {
                return Err(error(&place, "is not what the machine sends: it has no from: server"));
            }
            let mut of = Vec::new();
            for name in &described.of {
                is_sent(self.codec, name).map_err(|reason| error(&place, format!("of: {reason}")))?;
                of.push(named(self.codec, name).map_err(|reason| error(&place, reason))?.number);
            }
            let reason = described.reason.as_deref().map(|name| self.codec.path(from, name)).transpose();
            let reason = reason.map_err(|reason| error(&place, format!("reason: {reason}")))?;
            let mut paths = Vec::new();
            let mut names = MessageNames::new(self.codec, from, &mut paths);
            let when = described.when.as_ref().map(|when| Term::read(when, self.constants, &mut names));
            let when = when.transpose().map_err(|reason| error(&place, format!("when: {reason}")))?;
            answers.push(OtherAnswer { from, of, fails: described.fails, reason, when, paths });
        }
        Ok(answers)
    }

    fn state(&self, place: &str, name: Option<&str>) -> Result<Option<usize>, CodecError> {
        state_named(place, self.states, name)
    }

    fn states(
        &self,
        place: &str,
        bridge: &Bridge,
        own: &dyn Fn(&str, &[Sending]) -> Messages,
    ) -> Result<Vec<State>, CodecError> {
        let mut states = Vec::new();
        for described in &bridge.states {
            let place = format!("{place}: states: {}", described.name);
            if self.states.iter().filter(|name| **name == described.name).count() > 1 {
                return Err(error(&place, "is there twice"));
            }
            let mut next = Vec::new();
            for change in &described.next {
                let place = format!("{place}: to {}", change.to);
                let mut paths = Vec::new();
                let from = change.from.as_deref().map(|name| heard(self.codec, name)).transpose();
                let from = from.map_err(|reason| error(&place, reason))?;
                let ways = [from.is_some(), change.after.is_some(), change.silent];
                if ways.iter().filter(|way| **way).count() != 1 {
                    let reason = "needs one of from, the message that leads there, after, a time, and silent";
                    return Err(error(&place, reason));
                }
                let when = match (&change.when, from) {
                    (None, _) => None,
                    (Some(_), None) => {
                        return Err(error(&place, "when needs from, the message with its fields"));
                    }
                    (Some(when), Some(message)) => {
                        let mut names = MessageNames::new(self.codec, message, &mut paths);
                        let term = Term::read(when, self.constants, &mut names);
                        Some(term.map_err(|reason| error(&place, format!("when: {reason}")))?)
                    }
                };
                next.push(StateChange {
                    to: self.state(&place, Some(&change.to))?.unwrap_or_default(),
                    from,
                    when,
                    paths,
                    after: change.after.map(|after| seconds(&place, after, MIN_PERIOD)).transpose()?,
                    is_silent: change.silent,
                });
            }
            states.push(State {
                name: described.name.clone(),
                is_fault: described.fault,
                enter: own(&format!("{place}: enter"), &described.enter.0)?,
                next,
            });
        }
        // What cannot be reached is a mistake.
        let mut reached = vec![false; states.len()];
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            if let Some(seen) = reached.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                open.extend(
                    states.get(at).into_iter().flat_map(|state| state.next.iter().map(|next| next.to)),
                );
            }
        }
        if let Some(state) = reached.iter().position(|seen| !seen).and_then(|at| states.get(at)) {
            let place = format!("{place}: states: {}", state.name);
            return Err(error(&place, "no change leads to this state"));
        }
        Ok(states)
    }
}

/// Values of which there are none.
pub(crate) struct Missing;

impl super::term::Lookup for Missing {
    fn number(&self, _name: usize) -> Option<dragoman_protocol::expression::Number> {
        None
    }
}
