//! Client side: queries and commands a real PlatformCtrl, or another server of its protocol.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs;
//! - `config`: times and limits, counters, events;
//! - `check`: checks of a command before it is sent;
//! - `effect`: effects of unanswered commands that the status shows;
//! - `questions`: open questions and their answers;
//! - `outbox`: unsent bytes;
//! - `odometry`, `scan`: conversions of the protocol's data for ROS.
//!
//! # Rules
//!
//! Commands that are never answered are sent **at once**, in the order given: a stop never waits for an answer.
//! Questions are sent **one at a time**; status, position and map are queried periodically beside them, with at most
//! one open query each. A platform answers in the order of the requests, and an answer names its command: when a later
//! question is answered, an earlier one never will be, and ends as [`Refusal::Unanswered`].
//!
//! After a question without an answer for [`ClientConfig::answer_timeout`], the client queries the status, which every
//! platform answers. The connection is closed and a new one made if the status is not answered in the same time, if the
//! platform does not read, or if the stream is not a sequence of messages. A single invalid message is skipped.
//!
//! A command that is never answered counts as done when it is sent, except for the effects below. The status is queried
//! at once, and only a status that was queried after the command counts:
//!
//! | command | done when the status shows |
//! | --- | --- |
//! | CMD_INIT_PLTF | a platform that is initialized, within [`ClientConfig::initialize_timeout`] |
//! | CMD_SHUTDOWN_PLTF, CMD_EXIT | a platform that is not initialized (CMD_EXIT: or the end of the connection), within [`ClientConfig::effect_timeout`] |
//! | CMD_START, CMD_CONTINUE; CMD_BREAK; CMD_STOP | running; broken; ready; within the same time |
//! | CMD_SET_MODE | the mode, within the same time |
//! | CMD_MOVE_... | running, in a mode in which the command acts; otherwise it is refused |
//! | CMD_SET_PLTF_PARAM | nothing; but CMD_GET_PLTF_PARAM has to return that value |
//!
//! While disconnected, calls are refused at once, because a motion must not start later. After failures the pause
//! before the next attempt doubles, from [`ClientConfig::reconnect_min`] to [`ClientConfig::reconnect_max`], until the
//! platform has answered a request. So a server that closes every connection, because it already has a client, is not
//! flooded.

mod check;
mod config;
mod effect;
mod odometry;
mod outbox;
mod questions;
mod scan;

use std::collections::VecDeque;
use std::time::Duration;

pub use config::{ClientConfig, ClientEvent, ClientStatistics, Loss};
pub use odometry::Odometry;
pub use scan::LaserGeometry;

use super::call::{Outcome, Refusal};
use super::wire::{Command, CommandKind, Decoder, GetParameter, Message, MoveVelocity, Reply};
use crate::CallId;
use effect::Effect;
use outbox::Outbox;
use questions::{OpenQuestion, Question, QuestionSource};

/// Minimum period between two velocities of [`Client::handle_velocity`].
const VELOCITY_PERIOD: Duration = Duration::from_millis(20);
/// After this many unanswered position queries, the position is not queried again on this connection.
const MAX_POSITIONS_UNANSWERED: u32 = 3;

/// State of the connection, as reported by the owner.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Link {
    /// Connect at this time.
    Down(Duration),
    /// A connection attempt is under way.
    Connecting,
    Up,
}

/// A call whose effect must appear in the status.
#[derive(Debug)]
struct EffectWatch {
    id: CallId,
    effect: Effect,
    /// End of its command in the stream, bytes.
    end: u64,
    deadline: Duration,
    /// The last reported state.
    seen: Option<String>,
}

/// The velocity that is commanded periodically.
#[derive(Debug, Default)]
struct Drive {
    /// The next velocity to send.
    wanted: Option<MoveVelocity>,
    sent: Option<Duration>,
    /// When a stop is sent, unless another velocity arrives.
    expires: Option<Duration>,
}

/// The client core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, check [`poll_connect`](Self::poll_connect), drain [`poll_event`](Self::poll_event), send the
/// [`unsent`](Self::unsent) bytes, and then sleep until the next input or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    link: Link,
    pause: Duration,
    decoder: Decoder<Reply>,
    outbox: Outbox,
    /// When the connection ends because the platform does not read.
    stalled: Option<Duration>,
    open: VecDeque<OpenQuestion>,
    waiting: VecDeque<Question>,
    watches: Vec<EffectWatch>,
    status_due: Duration,
    position_due: Option<Duration>,
    map_due: Option<Duration>,
    positions_unanswered: u32,
    drive: Drive,
    events: VecDeque<ClientEvent>,
    statistics: ClientStatistics,
}

impl Client {
    /// A client whose first connection attempt is due at `now`.
    pub fn new(now: Duration, config: ClientConfig) -> Self {
        Self {
            link: Link::Down(now),
            pause: config.reconnect_min,
            decoder: Decoder::default(),
            outbox: Outbox::default(),
            stalled: None,
            open: VecDeque::new(),
            waiting: VecDeque::new(),
            watches: Vec::new(),
            status_due: now,
            position_due: None,
            map_due: None,
            positions_unanswered: 0,
            drive: Drive::default(),
            events: VecDeque::new(),
            statistics: ClientStatistics::default(),
            config,
        }
    }

    /// A service was called. Exactly one [`ClientEvent::Result`] with this id will follow.
    pub fn handle_call(&mut self, now: Duration, id: CallId, command: Command) {
        match self.accept(now, id, command) {
            Ok(()) => self.advance(now),
            Err(refusal) => self.report(id, Outcome::Refused(refusal)),
        }
    }

    /// Commands a velocity for [`ClientConfig::velocity_timeout`]. If velocities come too fast, the last one is sent.
    /// They are discarded while disconnected.
    pub fn handle_velocity(&mut self, now: Duration, velocity: MoveVelocity) {
        if self.link == Link::Up {
            self.drive.wanted = Some(velocity);
            let moves = velocity != MoveVelocity::default();
            self.drive.expires = moves.then(|| now + self.config.velocity_timeout);
            self.advance(now);
        }
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) is established.
    pub fn handle_connected(&mut self, now: Duration) {
        if self.link != Link::Connecting {
            return;
        }
        self.link = Link::Up;
        self.statistics.connections += 1;
        self.status_due = now;
        self.position_due = self.config.position_period.map(|_| now);
        self.map_due = Some(now);
        self.positions_unanswered = 0;
        self.events.push_back(ClientEvent::Connected);
        self.advance(now);
    }

    /// The connection ended for this reason.
    pub fn handle_disconnected(&mut self, now: Duration, reason: &str) {
        self.give_up(now, Loss::Closed(reason.to_owned()));
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) failed.
    pub fn handle_connect_failed(&mut self, now: Duration) {
        if self.link == Link::Connecting {
            self.retry(now);
        }
    }

    /// Receives bytes from the platform, in pieces of any size.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        if self.link != Link::Up {
            return;
        }
        self.decoder.push(bytes);
        while self.link == Link::Up {
            match self.decoder.next() {
                Ok(Some(received)) => match received.message {
                    Ok(reply) => self.handle_reply(now, reply),
                    Err(error) => self.handle_undecodable(error),
                },
                Ok(None) => break,
                Err(error) => self.give_up(now, error.into()),
            }
        }
        self.advance(now);
    }

    /// `true` once for each attempt: the owner should connect.
    pub fn poll_connect(&mut self, now: Duration) -> bool {
        let is_due = matches!(self.link, Link::Down(attempt) if attempt <= now);
        if is_due {
            self.link = Link::Connecting;
        }
        is_due
    }

    /// The bytes to send on the connection.
    pub fn unsent(&self) -> &[u8] {
        self.outbox.unsent()
    }

    /// The first `len` of the [`unsent`](Self::unsent) bytes were sent.
    pub fn handle_sent(&mut self, now: Duration, len: usize) {
        self.outbox.sent(len);
        self.stalled = (!self.is_read()).then(|| now + self.config.answer_timeout);
        let written = self.outbox.written();
        for open in self.open.iter_mut().filter(|open| open.end <= written) {
            open.is_sent(now + self.config.answer_timeout);
        }
        if self.is_read() && self.drive.wanted.is_some() {
            self.advance(now);
        }
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        match self.link {
            Link::Down(attempt) => return Some(attempt),
            Link::Connecting => return None,
            Link::Up => {}
        }
        let polls = [
            (QuestionSource::Status, Some(self.status_due)),
            (QuestionSource::Position, self.position_due),
            (QuestionSource::Map, self.map_due),
        ];
        let polls =
            polls.into_iter().filter(|(source, _)| !self.is_asking(source)).filter_map(|(_, due)| due);
        // While the platform has unread data no velocity is sent; afterwards the newest one is.
        let drive = match self.drive.wanted {
            Some(_) if !self.is_read() => None,
            Some(_) => self.next_velocity(),
            None => self.drive.expires,
        };
        let answers = self.open.iter().filter_map(|open| open.deadline);
        let effects = self.watches.iter().map(|watch| watch.deadline);
        polls.chain(drive).chain(answers).chain(effects).chain(self.stalled).min()
    }

    /// Performs all actions that are due. May be called early.
    pub fn handle_timeout(&mut self, now: Duration) {
        if self.link != Link::Up {
            return;
        }
        if self.stalled.is_some_and(|stalled| stalled <= now) {
            return self.give_up(now, Loss::Stalled);
        }
        let is_over = |open: &OpenQuestion| open.deadline.is_some_and(|deadline| deadline <= now);
        if self.open.iter().any(|open| is_over(open) && open.source.is_for_status()) {
            return self.give_up(now, Loss::Silent);
        }
        for open in &mut self.open {
            if is_over(open) {
                // The next status shows whether the effect still occurs.
                open.deadline = None;
                open.is_overdue = true;
            }
        }
        while let Some(index) = self.watches.iter().position(|watch| watch.deadline <= now) {
            let watch = self.watches.swap_remove(index);
            let seen = watch.seen.unwrap_or_else(|| "the platform does not report its state".to_owned());
            self.report(watch.id, Outcome::Refused(Refusal::NoEffect(seen)));
        }
        self.advance(now);
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.link == Link::Up
    }

    /// Counters since the start, for diagnostics.
    pub fn statistics(&self) -> ClientStatistics {
        self.statistics
    }

    fn accept(&mut self, now: Duration, id: CallId, command: Command) -> Result<(), Refusal> {
        if self.link != Link::Up {
            return Err(Refusal::NotConnected);
        }
        let calls = self.open.iter().filter(|open| open.source.call().is_some()).count();
        if calls + self.waiting.len() + self.watches.len() >= self.config.max_calls {
            return Err(Refusal::Busy);
        }
        check::check(&command)?;
        let kind = command.kind();
        let bytes = command.encode(self.config.framing)?;
        // Waiting questions count as well.
        let waiting: usize = self.waiting.iter().map(|question| question.bytes.len()).sum();
        if self.outbox.unsent().len() + waiting + bytes.len() > self.config.max_unsent {
            return Err(Refusal::Busy);
        }
        if kind.is_answered() {
            self.waiting.push_back(Question { source: QuestionSource::Call(id), kind, bytes });
            return Ok(());
        }
        let parameter = match &command {
            Command::SetPltfParam(set) => {
                let question = Command::GetPltfParam(GetParameter { key: set.key.clone() });
                Some((set.value.clone(), question.encode(self.config.framing)?))
            }
            _ => None,
        };
        self.send(now, &bytes);
        if changes_map(kind) {
            self.map_due = Some(now);
        }
        if let Some((value, bytes)) = parameter {
            let source = QuestionSource::Parameter(id, value);
            self.waiting.push_back(Question { source, kind: CommandKind::GetPltfParam, bytes });
        } else if let Some(effect) = Effect::of(&command) {
            let timeout = match effect {
                Effect::Initialized => self.config.initialize_timeout,
                _ => self.config.effect_timeout,
            };
            let (end, deadline) = (self.outbox.queued(), now + timeout);
            self.watches.push(EffectWatch { id, effect, end, deadline, seen: None });
        } else {
            self.report(id, Outcome::Done);
        }
        Ok(())
    }

    /// Sends all messages that are due.
    fn advance(&mut self, now: Duration) {
        if self.link != Link::Up {
            return;
        }
        self.advance_velocity(now);
        if !self.open.iter().any(|open| open.source.call().is_some())
            && let Some(question) = self.waiting.pop_front()
        {
            self.ask(now, question);
        }
        if self.position_due.is_some_and(|due| due <= now) && !self.is_asking(&QuestionSource::Position) {
            self.position_due = next(self.position_due, self.config.position_period, now);
            self.ask_for(now, QuestionSource::Position, &Command::GetPosition);
        }
        if self.map_due.is_some_and(|due| due <= now) && !self.is_asking(&QuestionSource::Map) {
            self.map_due = next(self.map_due, self.config.map_period, now);
            self.ask_for(now, QuestionSource::Map, &Command::GetMap);
        }
        // Last, so that it covers all earlier commands.
        if self.wants_status(now) {
            self.status_due =
                next(Some(self.status_due), Some(self.config.status_period), now).unwrap_or(now);
            self.ask_for(now, QuestionSource::Status, &Command::GetStatus);
        }
    }

    /// Whether a status query is due, or a command or an overdue question has no status query after it.
    fn wants_status(&self, now: Duration) -> bool {
        if self.status_due <= now && !self.is_asking(&QuestionSource::Status) {
            return true;
        }
        let asked = self.open.iter().filter(|open| open.source.is_for_status()).map(|open| open.end).max();
        let unseen = self.watches.iter().filter(|watch| watch.seen.is_none()).map(|watch| watch.end);
        let overdue = self.open.iter().filter(|open| open.is_overdue).map(|open| open.end);
        unseen.chain(overdue).max().is_some_and(|end| asked.is_none_or(|asked| asked < end))
    }

    fn advance_velocity(&mut self, now: Duration) {
        if self.drive.expires.is_some_and(|expires| expires <= now) {
            self.drive.expires = None;
            self.drive.wanted = Some(MoveVelocity::default());
        }
        if !self.is_read() || self.next_velocity().is_some_and(|next| next > now) {
            return;
        }
        let Some(velocity) = self.drive.wanted.take() else { return };
        if let Ok(bytes) = Command::MoveVel(velocity).encode(self.config.framing) {
            self.drive.sent = Some(now);
            self.send(now, &bytes);
        }
    }

    /// Whether the platform has read everything that was sent.
    fn is_read(&self) -> bool {
        self.outbox.unsent().is_empty()
    }

    /// When the next velocity may be sent; `None`: now.
    fn next_velocity(&self) -> Option<Duration> {
        self.drive.sent.map(|sent| sent + VELOCITY_PERIOD)
    }

    fn send(&mut self, now: Duration, bytes: &[u8]) {
        self.statistics.requests += 1;
        if self.is_read() {
            self.stalled = Some(now + self.config.answer_timeout);
        }
        self.outbox.push(bytes);
    }

    /// Ends the connection. A new one is made after a pause.
    fn give_up(&mut self, now: Duration, loss: Loss) {
        if self.link != Link::Up {
            return;
        }
        let lost = || Outcome::Refused(Refusal::Lost(loss.clone()));
        for source in std::mem::take(&mut self.open).into_iter().map(|open| open.source) {
            if let Some(id) = source.call() {
                self.report(id, lost());
            }
        }
        for source in std::mem::take(&mut self.waiting).into_iter().map(|question| question.source) {
            if let Some(id) = source.call() {
                self.report(id, lost());
            }
        }
        for watch in std::mem::take(&mut self.watches) {
            let outcome = if watch.effect == Effect::Gone { Outcome::Done } else { lost() };
            self.report(watch.id, outcome);
        }
        self.decoder = Decoder::default();
        self.outbox = Outbox::default();
        self.stalled = None;
        self.drive = Drive::default();
        self.events.push_back(ClientEvent::Disconnected(loss));
        self.retry(now);
    }

    fn retry(&mut self, now: Duration) {
        self.link = Link::Down(now + self.pause);
        self.pause = self.pause.saturating_mul(2).min(self.config.reconnect_max);
    }

    fn report(&mut self, id: CallId, outcome: Outcome) {
        if matches!(outcome, Outcome::Refused(_)) {
            self.statistics.refused += 1;
        }
        self.events.push_back(ClientEvent::Result { id, outcome });
    }
}

/// The next due time; keeps the phase unless a whole period was missed.
fn next(due: Option<Duration>, period: Option<Duration>, now: Duration) -> Option<Duration> {
    let period = period?;
    due.and_then(|due| due.checked_add(period)).filter(|next| *next > now).or(now.checked_add(period))
}

/// Whether the command may change the map.
fn changes_map(kind: CommandKind) -> bool {
    matches!(kind, CommandKind::SetMap | CommandKind::LoadMap | CommandKind::MappingStop)
}
