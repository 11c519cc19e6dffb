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

mod deadlines;
mod event;
mod late;
mod reception;
mod states;
mod stops;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::Values;
use dragoman_protocol::cut::Cutter;

use late::Late;

pub use event::{Event, Heard, Refusal, Statistics, Ticket};
#[cfg(feature = "node")]
pub(crate) use reception::reason_of;

use super::outgoing::{Outgoing, OutgoingFrame, Prepared};
use super::plan::{Missing, Plan, Timings};
use super::term::Lookup;

/// Maximum number of messages that wait to be sent.
pub const MAX_QUEUE: usize = 64;
/// Maximum number of events that wait for the owner.
const MAX_EVENTS: usize = 256;
/// Identifies an output whose newer commands take the place of older ones.
pub type OutputId = usize;

/// See the [module](self).
pub struct Conversation {
    plan: Arc<Plan>,
    timings: Timings,
    cutter: Cutter,
    values: Values,
    /// The last frame.
    frame: Vec<u8>,
    /// Values of frames whose size depends on them.
    scratch: Values,
    link: LinkState,
    queue: VecDeque<Queued>,
    /// Stops, before everything else.
    urgent: VecDeque<Queued>,
    stops: u64,
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
    /// Answers that may still come.
    late: Late,
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
    /// The end of a motion, for which a call waits.
    Cancel(Ticket),
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
            timings: plan.timings,
            plan,
            cutter,
            values: Values::default(),
            frame: Vec::new(),
            scratch: Values::default(),
            link: LinkState::Down,
            queue: VecDeque::new(),
            urgent: VecDeque::new(),
            stops: 0,
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
            late: Late::default(),
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
        let lost = "the connection to the machine is lost";
        let all = self.open.drain(..).map(|open| open.queued);
        let all = all.chain(self.urgent.drain(..)).chain(self.queue.drain(..));
        let failed: Vec<Ticket> = all.filter_map(|queued| queued.ticket()).collect();
        failed.into_iter().for_each(|ticket| self.event(Event::Failed(ticket, lost.to_owned())));
        self.due.fill(None);
        self.moving.clear();
        self.late.clear();
        self.last_sent = None;
        self.state = 0;
    }

    /// Changes the times and limits, from the next message on.
    #[cfg(feature = "node")]
    pub(crate) fn set_timings(&mut self, timings: Timings) {
        self.timings = timings;
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

    /// As [`values`](Self::values), while the conversation is used; give them back.
    #[cfg(feature = "node")]
    pub(crate) fn take_values(&mut self) -> Values {
        std::mem::take(&mut self.values)
    }

    #[cfg(feature = "node")]
    pub(crate) fn return_values(&mut self, values: Values) {
        self.values = values;
    }

    /// The times and limits.
    #[cfg(feature = "node")]
    pub(crate) fn timings(&self) -> Timings {
        self.timings
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
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
            // A stop must find out what it drops.
            Some(older) => *older = Queued { kind, prepared, tries: 0, moves, state },
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

    /// A message of the machine has no values for what is made of it.
    pub fn note_no_value(&mut self) {
        self.statistics.no_value += 1;
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

    /// The place of the next message that may be sent now, but for the pace.
    fn next_queued(&self) -> Option<usize> {
        let asked = self.open.iter().filter(|open| !open.queued.is_stop()).count();
        let may_ask = asked < self.timings.in_flight;
        let is_starting = matches!(self.link, LinkState::Starting(_));
        self.queue.iter().position(|queued| {
            (may_ask || !queued.prepared.has_answer)
                && (!is_starting || queued.kind == Kind::Start)
                && !self.waits_for_late(queued)
        })
    }

    /// The next frame to send.
    pub fn poll_transmit(&mut self, now: Duration) -> Option<OutgoingFrame> {
        if self.link == LinkState::Down {
            return None;
        }
        if let Some(stop) = self.urgent.pop_front() {
            let frame = OutgoingFrame { is_stop: true, ..stop.prepared.frame.clone() };
            self.sent(now, stop);
            return Some(frame);
        }
        if self.last_sent.is_some_and(|last| now < last + self.timings.pace) {
            return None;
        }
        self.late.advance(now);
        let queued = self.queue.remove(self.next_queued()?)?;
        let frame = queued.prepared.frame.clone();
        self.sent(now, queued);
        Some(frame)
    }

    fn sent(&mut self, now: Duration, queued: Queued) {
        self.last_sent = Some(now);
        self.statistics.sent += 1;
        if queued.prepared.has_answer {
            self.open.push_back(Open { queued, deadline: now + self.timings.answer });
            // A stop is never refused, so nothing else bounds those that are not answered.
            let is_stop = |open: &Open| open.queued.kind == Kind::Stop;
            if self.open.len() > MAX_QUEUE
                && let Some(at) = self.open.iter().position(is_stop)
            {
                self.open.remove(at);
            }
        } else if let Some(ticket) = queued.ticket() {
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

impl Queued {
    fn ticket(&self) -> Option<Ticket> {
        if let Kind::Call(ticket) | Kind::Cancel(ticket) = self.kind { Some(ticket) } else { None }
    }

    fn is_stop(&self) -> bool {
        matches!(self.kind, Kind::Stop | Kind::Cancel(_))
    }
}
