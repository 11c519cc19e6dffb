//! The conversation with a machine: what is sent when, and which answer belongs to which question.
//!
//! Without I/O: it takes bytes and a time, and gives frames, messages and events. After every input the owner drains
//! [`next_message`](Conversation::next_message), [`poll_event`](Conversation::poll_event) and
//! [`poll_transmit`](Conversation::poll_transmit); it calls [`handle_timeout`](Conversation::handle_timeout) when
//! [`poll_timeout`](Conversation::poll_timeout) is due.
//!
//! | what is sent | when |
//! | --- | --- |
//! | a stop | before everything else, whatever the pace is and whatever is open |
//! | the start | when the link is there; everything else waits for it |
//! | commands, questions, periodic messages | in the order in which they came, but what nothing answers does not wait for answers; a newer command of a topic takes the place of the older one |

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, DecodeError, MessageId, Path, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::Side;

use super::outgoing::{Outgoing, OutgoingFrame, Prepared};
use super::plan::{Missing, Plan};
use super::term::{Computed, Lookup, Message};

/// Maximum number of messages that wait to be sent.
pub const MAX_QUEUE: usize = 64;
/// Maximum number of bytes of a frame that are shown.
const MAX_SHOWN: usize = 32;
/// Maximum number of events that wait for the owner.
const MAX_EVENTS: usize = 256;
/// Minimum silence after a frame that ends with it: what a serial adapter needs.
const MIN_GAP: Duration = Duration::from_millis(4);

/// Identifies a question of a service until its outcome is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Identifies an output whose newer commands take the place of older ones.
pub type OutputId = usize;

/// Why a command is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no link.
    #[error("the machine is not connected")]
    NotConnected,
    /// The start is not over.
    #[error("the machine is being started")]
    Starting,
    /// The output is for another state.
    #[error("the machine is in state {is}, not in {needed}")]
    State {
        /// The present state.
        is: String,
        /// The state that is needed.
        needed: String,
    },
    /// Too many messages wait.
    #[error("{MAX_QUEUE} messages wait to be sent")]
    Full,
    /// The values are not possible.
    #[error("{0}")]
    Values(String),
}

/// What has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The start is over.
    Ready,
    /// A question without an answer was sent.
    Sent(Ticket),
    /// A question was not answered, or could not be sent.
    Failed(Ticket, String),
    /// Another question was not answered: its name.
    NotAnswered(String),
    /// The machine has refused another question: its name, and the reason.
    Refused(String, String),
    /// A command was not renewed: the machine was stopped.
    Expired,
    /// The machine has not said anything for a while; if it was moved, it was stopped.
    Silent,
    /// It is not silent any more.
    Heard,
    /// The machine is in another state.
    State {
        /// Its name.
        name: String,
        /// It is a fault.
        is_fault: bool,
    },
}

/// Counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Messages that were received and understood.
    pub received: u64,
    /// Messages that were sent.
    pub sent: u64,
    /// Frames that are no messages.
    pub wrong: u64,
    /// Bytes that belong to no frame.
    pub left_out: u64,
    /// Questions that were not answered in time.
    pub unanswered: u64,
    /// Answers for which no question is open: they are late, or there twice.
    pub unexpected: u64,
    /// Questions that were asked again.
    pub repeated: u64,
    /// Stops because a command was not renewed.
    pub expired: u64,
    /// Values that a term does not have, and messages of the plan that could not be made.
    pub no_value: u64,
}

/// A message that was received, and the question of a service that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Which message; its values are [`Conversation::values`].
    pub message: MessageId,
    /// The question.
    pub ticket: Option<Ticket>,
}

/// What a frame is.
enum Decoded {
    Heard(Heard),
    /// A message that is not used: a late answer, or a frame for another node of the bus.
    Unwanted,
    /// No message.
    Wrong,
}

/// See the [module](self).
pub struct Conversation {
    plan: Arc<Plan>,
    cutter: Cutter,
    values: Values,
    /// The last frame.
    frame: Vec<u8>,
    /// Values of frames whose size depends on them.
    scratch: Values,
    link: LinkState,
    queue: VecDeque<Queued>,
    /// Stops, before everything else, and how often each was sent already.
    urgent: VecDeque<(Prepared, u32)>,
    open: VecDeque<Open>,
    events: VecDeque<Event>,
    statistics: Statistics,
    /// Why the last frame was no message.
    reason: Option<String>,
    sequence: u64,
    tickets: u64,
    /// When the last message was sent.
    last_sent: Option<Duration>,
    /// When the machine was heard.
    heard: Duration,
    is_silent: bool,
    /// When the commands end that move something, by their messages.
    moving: BTreeMap<usize, Duration>,
    /// Something was moved, by any command.
    has_moved: bool,
    /// When each periodic message is due.
    due: Vec<Option<Duration>>,
    state: usize,
    entered: Duration,
    /// What was received since the last silence, if frames end with one.
    gap: Vec<u8>,
    gap_end: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LinkState {
    Down,
    /// So many messages of the start were queued.
    Starting(usize),
    Up,
}

#[derive(Debug)]
struct Queued {
    kind: Kind,
    prepared: Prepared,
    tries: u32,
    moves: bool,
    /// The state without which it is not sent.
    state: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    Enter,
    Every(usize),
    Topic(OutputId),
    Call(Ticket),
    Stop,
}

struct Open {
    queued: Queued,
    deadline: Duration,
}

impl Conversation {
    /// A conversation that has not begun.
    ///
    /// # Errors
    /// The frames have no fixed place for their size.
    pub fn new(plan: Arc<Plan>) -> Result<Self, String> {
        let cutter = Cutter::new(plan.codec.protocol())?;
        let due = vec![None; plan.every.len()];
        Ok(Self {
            plan,
            cutter,
            values: Values::default(),
            frame: Vec::new(),
            scratch: Values::default(),
            link: LinkState::Down,
            queue: VecDeque::new(),
            urgent: VecDeque::new(),
            open: VecDeque::new(),
            events: VecDeque::new(),
            statistics: Statistics::default(),
            reason: None,
            sequence: 0,
            tickets: 0,
            last_sent: None,
            heard: Duration::ZERO,
            is_silent: false,
            moving: BTreeMap::new(),
            has_moved: false,
            due,
            state: 0,
            entered: Duration::ZERO,
            gap: Vec::new(),
            gap_end: None,
        })
    }

    /// The link is there.
    pub fn handle_connected(&mut self, now: Duration) {
        self.reset();
        self.link = LinkState::Starting(0);
        (self.heard, self.is_silent) = (now, false);
        if self.has_moved {
            // What was moved before the link was lost may still move.
            let _ = self.stop();
        }
        self.continue_start(now);
    }

    /// The link is lost: questions fail, nothing that waits is sent, and everything begins again.
    pub fn handle_disconnected(&mut self) {
        self.reset();
        self.link = LinkState::Down;
    }

    fn reset(&mut self) {
        self.cutter.reset();
        self.gap.clear();
        self.gap_end = None;
        self.urgent.clear();
        let lost = "the connection to the machine is lost";
        let all = self.open.drain(..).map(|open| open.queued).chain(self.queue.drain(..));
        let failed: Vec<Ticket> = all.filter_map(|queued| queued.ticket()).collect();
        failed.into_iter().for_each(|ticket| self.event(Event::Failed(ticket, lost.to_owned())));
        self.due.fill(None);
        self.moving.clear();
        self.last_sent = None;
        self.state = 0;
    }

    /// Whether the link is there and the start is over.
    pub fn is_ready(&self) -> bool {
        self.link == LinkState::Up
    }

    /// Whether the machine has not said anything for a while.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// The name of the machine's state, if it has states, and whether it is a fault.
    pub fn state(&self) -> Option<(&str, bool)> {
        self.plan.states.get(self.state).map(|state| (state.name.as_str(), state.is_fault))
    }

    /// The counters.
    pub fn statistics(&self) -> Statistics {
        Statistics { left_out: self.cutter.left_out(), ..self.statistics }
    }

    /// Why the last frame was no message; each reason is returned once.
    pub fn take_reason(&mut self) -> Option<String> {
        self.reason.take()
    }

    /// The values of the last message.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

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
            match self.cutter.next_frame_by(|rest| codec.measure(rest, Side::Server, &mut self.scratch)) {
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
            // Frames of others on the same bus.
            Some(DecodeError::UnknownCode { .. }) if id.is_some() => return Decoded::Unwanted,
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
        let other = plan.answers.iter().find(|other| other.from == message);
        let open = open.or_else(|| {
            let other = other?;
            self.open.iter().position(|open| {
                other.of.contains(&open.queued.prepared.message.number) && self.has_sequence_of(open, message)
            })
        });
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
                Kind::Call(ticket) => Event::Failed(ticket, reason),
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

    /// Follows the changes of state to which a message leads.
    fn change_state(&mut self, now: Duration, message: MessageId) {
        let plan = Arc::clone(&self.plan);
        let Some(state) = plan.states.get(self.state) else { return };
        let values = &self.values;
        let change = state.next.iter().find(|change| {
            change.from == Some(message)
                && change.when.as_ref().is_none_or(|term| {
                    term.is_true(&Message { codec: &plan.codec, message, values, paths: &change.paths })
                })
        });
        if let Some(change) = change {
            self.enter(now, change.to);
        }
    }

    fn enter(&mut self, now: Duration, state: usize) {
        (self.state, self.entered) = (state, now);
        let plan = Arc::clone(&self.plan);
        let Some(described) = plan.states.get(state) else { return };
        self.event(Event::State { name: described.name.clone(), is_fault: described.is_fault });
        if described.is_fault && !self.moving.is_empty() {
            // What a description names a fault is no time to move; without a stop there is no motion.
            let _ = self.stop();
        }
        // What waits for another state is not sent in this one.
        let is_here = |needed: Option<usize>| needed.is_none_or(|needed| needed == state);
        self.drop_waiting(|queued| !is_here(queued.state), "the machine is in another state now");
        if self.link != LinkState::Up {
            return;
        }
        for (due, every) in self.due.iter_mut().zip(&plan.every) {
            if !is_here(every.state) {
                *due = None;
            } else if due.is_none() {
                *due = Some(now);
            }
        }
        for outgoing in &described.enter {
            self.send_own(Kind::Enter, outgoing, Some(state));
        }
    }

    /// Drops messages that wait to be sent.
    fn drop_waiting(&mut self, is_dropped: impl Fn(&Queued) -> bool, reason: &str) {
        let (dropped, kept): (VecDeque<Queued>, VecDeque<Queued>) =
            std::mem::take(&mut self.queue).into_iter().partition(is_dropped);
        self.queue = kept;
        for ticket in dropped.iter().filter_map(Queued::ticket) {
            self.event(Event::Failed(ticket, reason.to_owned()));
        }
    }

    /// Queues a message of the plan, all of whose fields are known.
    fn send_own(&mut self, kind: Kind, outgoing: &Outgoing, state: Option<usize>) {
        let prepared = self.prepare(outgoing, &Missing);
        let queued =
            prepared.and_then(|prepared| self.push(Queued { kind, prepared, tries: 0, moves: false, state }));
        if queued.is_err() {
            self.statistics.no_value += 1;
        }
    }

    /// Fills in a message for [`command`](Self::command) or [`ask`](Self::ask).
    ///
    /// # Errors
    /// A value is not possible.
    pub fn prepare(&mut self, outgoing: &Outgoing, lookup: &dyn Lookup) -> Result<Prepared, Refusal> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut prepared =
            outgoing.prepare(&self.plan.codec, lookup, self.sequence).map_err(Refusal::Values)?;
        prepared.has_answer = self.plan.is_question(prepared.message);
        Ok(prepared)
    }

    /// Whether commands are possible, in this state if it is given.
    ///
    /// # Errors
    /// They are not.
    pub fn admit(&self, state: Option<usize>) -> Result<(), Refusal> {
        match self.link {
            LinkState::Down => return Err(Refusal::NotConnected),
            LinkState::Starting(_) => return Err(Refusal::Starting),
            LinkState::Up => {}
        }
        let Some(needed) = state.filter(|needed| *needed != self.state) else { return Ok(()) };
        let name =
            |state: usize| self.plan.states.get(state).map(|state| state.name.clone()).unwrap_or_default();
        Err(Refusal::State { is: name(self.state), needed: name(needed) })
    }

    /// Sends a command; it takes the place of an older one of this output that waits. With `timeout` the machine is stopped
    /// if no further command comes within this time.
    ///
    /// # Errors
    /// There is no link, or the queue is full.
    pub fn command(
        &mut self,
        now: Duration,
        output: OutputId,
        prepared: Prepared,
        timeout: Option<Duration>,
        state: Option<usize>,
    ) -> Result<(), Refusal> {
        self.admit(state)?;
        let (moves, message) = (timeout.is_some(), prepared.message.number);
        let kind = Kind::Topic(output);
        if !moves {
            // It stands still, so nothing has to end it.
            self.moving.remove(&message);
        }
        match self.queue.iter_mut().find(|queued| queued.kind == kind) {
            Some(older) => (older.prepared, older.tries) = (prepared, 0),
            None => self.push(Queued { kind, prepared, tries: 0, moves, state })?,
        }
        self.moves(now, message, timeout);
        Ok(())
    }

    /// Asks the machine for a service. The outcome comes with the ticket: an answer, or an event.
    ///
    /// # Errors
    /// There is no link, or the queue is full.
    pub fn ask(
        &mut self,
        now: Duration,
        prepared: Prepared,
        timeout: Option<Duration>,
        state: Option<usize>,
    ) -> Result<Ticket, Refusal> {
        self.admit(state)?;
        self.tickets += 1;
        let (ticket, message) = (Ticket(self.tickets), prepared.message.number);
        let moves = timeout.is_some();
        self.push(Queued { kind: Kind::Call(ticket), prepared, tries: 0, moves, state })?;
        self.moves(now, message, timeout);
        Ok(ticket)
    }

    fn moves(&mut self, now: Duration, message: usize, timeout: Option<Duration>) {
        if let Some(timeout) = timeout {
            self.moving.insert(message, now + timeout);
            self.has_moved = true;
        }
    }

    /// Stops the machine: before everything that waits. Commands that wait are not sent any more.
    ///
    /// # Errors
    /// There is no link, or no message that stops the machine.
    pub fn stop(&mut self) -> Result<(), Refusal> {
        if self.link == LinkState::Down {
            return Err(Refusal::NotConnected);
        }
        if self.plan.stop.is_empty() {
            return Err(Refusal::Values(
                "the description names no message that stops the machine".to_owned(),
            ));
        }
        let plan = Arc::clone(&self.plan);
        let mut stop = VecDeque::new();
        for outgoing in &plan.stop {
            stop.push_back((self.prepare(outgoing, &Missing)?, 0));
        }
        self.urgent = stop;
        self.moving.clear();
        self.drop_waiting(|queued| queued.moves, "the machine was stopped before");
        Ok(())
    }

    /// Whether a stop waits to be sent.
    pub fn is_stopping(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// A message of the machine has no values for what is made of it.
    pub fn note_no_value(&mut self) {
        self.statistics.no_value += 1;
    }

    /// Whether the machine has been moved since the link is there, so that it must be stopped at the end.
    pub fn has_moved(&self) -> bool {
        self.has_moved
    }

    fn push(&mut self, queued: Queued) -> Result<(), Refusal> {
        if self.queue.len() >= MAX_QUEUE {
            return Err(Refusal::Full);
        }
        self.queue.push_back(queued);
        Ok(())
    }

    /// Queues the next message of the start, or ends it.
    fn continue_start(&mut self, now: Duration) {
        let plan = Arc::clone(&self.plan);
        while let LinkState::Starting(at) = self.link {
            let Some(outgoing) = plan.start.get(at) else {
                self.link = LinkState::Up;
                self.event(Event::Ready);
                for (due, every) in self.due.iter_mut().zip(&plan.every) {
                    *due = every.state.is_none_or(|needed| needed == self.state).then_some(now);
                }
                // That which the machine may have said meanwhile.
                self.enter(now, self.state);
                return;
            };
            self.link = LinkState::Starting(at + 1);
            self.send_own(Kind::Start, outgoing, None);
            if plan.is_question(outgoing.message) {
                return;
            }
        }
    }

    /// Advances the time.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(at) = self.open.iter().position(|open| now >= open.deadline) {
            if let Some(open) = self.open.remove(at) {
                self.not_answered(now, open.queued);
            }
        }
        if self.moving.values().any(|until| now >= *until) {
            self.statistics.expired += 1;
            let _ = self.stop();
            self.event(Event::Expired);
        }
        if self.link == LinkState::Up {
            self.queue_periodic(now);
            if !self.is_silent && now >= self.heard + self.plan.silence {
                self.is_silent = true;
                // The rest of an incomplete frame does not come any more.
                self.cutter.reset();
                if !self.moving.is_empty() {
                    let _ = self.stop();
                }
                self.event(Event::Silent);
            }
        }
        if let Some((to, after)) = self.later_state()
            && now >= self.entered + after
        {
            self.enter(now, to);
        }
    }

    fn queue_periodic(&mut self, now: Duration) {
        let plan = Arc::clone(&self.plan);
        for (number, every) in plan.every.iter().enumerate() {
            let Some(due) = self.due.get_mut(number).and_then(Option::as_mut).filter(|due| now >= **due)
            else {
                continue;
            };
            *due += every.period;
            if *due <= now {
                // It was late by more than a period.
                *due = now + every.period;
            }
            let kind = Kind::Every(number);
            let is_open = self.open.iter().any(|open| open.queued.kind == kind);
            if !is_open && !self.queue.iter().any(|queued| queued.kind == kind) {
                self.send_own(kind, &every.outgoing, every.state);
            }
        }
    }

    fn later_state(&self) -> Option<(usize, Duration)> {
        let state = self.plan.states.get(self.state).filter(|_| self.link == LinkState::Up)?;
        let all = state.next.iter().filter_map(|change| change.after.map(|after| (change.to, after)));
        all.min_by_key(|(_, after)| *after)
    }

    fn not_answered(&mut self, now: Duration, queued: Queued) {
        if queued.kind == Kind::Stop {
            if queued.tries < self.plan.retries && self.moving.is_empty() {
                self.statistics.repeated += 1;
                self.urgent.push_back((queued.prepared, queued.tries + 1));
                return;
            }
        } else if queued.prepared.is_repeatable
            && queued.tries < self.plan.retries
            && !queued.moves
            && !self.queue.iter().any(|newer| newer.kind == queued.kind)
        {
            // What moves is not sent again: it may have been stopped meanwhile.
            self.statistics.repeated += 1;
            self.queue.push_front(Queued { tries: queued.tries + 1, ..queued });
            return;
        }
        self.statistics.unanswered += 1;
        let name = self.plan.name_of(queued.prepared.message);
        match queued.kind {
            Kind::Call(ticket) => {
                let reason = format!("no answer to {name} within {} s", self.plan.answer.as_secs_f64());
                self.event(Event::Failed(ticket, reason));
            }
            Kind::Start => {
                self.event(Event::NotAnswered(name));
                // The start begins again: a machine that was off does not know of it.
                if let LinkState::Starting(_) = self.link {
                    self.link = LinkState::Starting(0);
                    self.continue_start(now);
                }
            }
            _ => self.event(Event::NotAnswered(name)),
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) must be called at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let open = self.open.iter().map(|open| open.deadline);
        let due = self.due.iter().copied().flatten();
        let silence = (self.link == LinkState::Up && !self.is_silent).then(|| self.heard + self.plan.silence);
        let later = self.later_state().map(|(_, after)| self.entered + after);
        let pace = self.next_queued().and(self.last_sent).map(|last| last + self.plan.pace);
        let all =
            open.chain(due).chain(self.moving.values().copied()).chain(silence).chain(later).chain(pace);
        all.chain(self.gap_end).min()
    }

    /// The place of the next message that may be sent now, but for the pace.
    fn next_queued(&self) -> Option<usize> {
        let asked = self.open.iter().filter(|open| open.queued.kind != Kind::Stop).count();
        let may_ask = asked < self.plan.in_flight;
        let is_starting = matches!(self.link, LinkState::Starting(_));
        self.queue.iter().position(|queued| {
            (may_ask || !queued.prepared.has_answer) && (!is_starting || queued.kind == Kind::Start)
        })
    }

    /// The next frame to send.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<OutgoingFrame> {
        if self.link == LinkState::Down {
            return None;
        }
        if let Some((prepared, tries)) = self.urgent.pop_front() {
            let frame = OutgoingFrame { is_stop: true, ..prepared.frame.clone() };
            self.sent(now, Queued { kind: Kind::Stop, prepared, tries, moves: false, state: None });
            return Some(frame);
        }
        if self.last_sent.is_some_and(|last| now < last + self.plan.pace) {
            return None;
        }
        let queued = self.queue.remove(self.next_queued()?)?;
        let frame = queued.prepared.frame.clone();
        self.sent(now, queued);
        Some(frame)
    }

    fn sent(&mut self, now: Duration, queued: Queued) {
        self.last_sent = Some(now);
        self.statistics.sent += 1;
        if queued.prepared.has_answer {
            self.open.push_back(Open { queued, deadline: now + self.plan.answer });
            // A stop is never refused, so nothing else bounds those that are not answered.
            let is_stop = |open: &Open| open.queued.kind == Kind::Stop;
            if self.open.len() > MAX_QUEUE
                && let Some(at) = self.open.iter().position(is_stop)
            {
                self.open.remove(at);
            }
        } else if let Kind::Call(ticket) = queued.kind {
            self.event(Event::Sent(ticket));
        }
    }

    /// Events, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn event(&mut self, event: Event) {
        // Questions are bounded, so their outcomes are not lost; of others the oldest are.
        if self.events.len() >= MAX_EVENTS {
            let other = |event: &Event| !matches!(event, Event::Sent(_) | Event::Failed(..));
            if let Some(oldest) = self.events.iter().position(other) {
                self.events.remove(oldest);
            }
        }
        self.events.push_back(event);
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
        Computed::Number(Number::Whole(whole)) => {
            let name = i64::try_from(whole).ok().and_then(|whole| codec.meaning(message, path, whole));
            name.map_or_else(|| format!("error {whole}"), |name| name.replace('_', " "))
        }
        Computed::Number(number) => format!("error {number}"),
        _ => "the machine refuses".to_owned(),
    }
}

impl Queued {
    fn ticket(&self) -> Option<Ticket> {
        if let Kind::Call(ticket) = self.kind { Some(ticket) } else { None }
    }
}
