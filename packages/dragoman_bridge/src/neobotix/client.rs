//! Client side: asks and commands a real PlatformCtrl, or another server of its protocol.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs;
//! - `config`: choices and times, counters, events;
//! - `check`: what is refused before anything is sent;
//! - `effect`: what the status shows of commands that are never answered;
//! - `questions`: what was asked, and what is answered;
//! - `outbox`: bytes on their way;
//! - `odometry`, `scan`: what ROS wants to know and the protocol tells in another way.
//!
//! # Rules
//!
//! Commands that are never answered are sent **at once**, in the order given: no stop waits for an answer. Questions are
//! asked **one at a time**; beside them the status, the position and the map are asked for again and again, one of each
//! at most being under way. A platform answers in the order of the requests, and an answer tells to which command it
//! belongs: so when a later question is answered, an earlier one never will be, and ends as [`Refusal::Unanswered`].
//!
//! A question without an answer for [`ClientConfig::answer_timeout`] is followed by one for the status, which every platform
//! answers. A status without an answer for so long, or bytes that nobody takes, end the connection, and a new one is made. So
//! does a stream that is none of messages; a message that makes no sense is skipped.
//!
//! What is never answered counts as done when it is on its way, except for what the status shows (the status is asked for
//! at once, and counts only when it was asked for after the command):
//!
//! | command | done when the status shows |
//! | --- | --- |
//! | CMD_INIT_PLTF | a platform that is initialized, within [`ClientConfig::initialize_timeout`] |
//! | CMD_SHUTDOWN_PLTF, CMD_EXIT | one that is not, within [`ClientConfig::effect_timeout`]; for CMD_EXIT the connection may end as well |
//! | CMD_START, CMD_CONTINUE; CMD_BREAK; CMD_STOP | that it runs; is broken; is ready; within the same time |
//! | CMD_SET_MODE | the mode, within the same time |
//! | CMD_MOVE_... | that it runs, in a mode in which the command acts: or it is refused |
//! | CMD_SET_PLTF_PARAM | nothing; but CMD_GET_PLTF_PARAM has to tell that value |
//!
//! While there is no connection, calls are refused at once: what moves a platform is not done later. After failures the pause before
//! the next attempt doubles, from [`ClientConfig::reconnect_min`] to [`ClientConfig::reconnect_max`], until the platform has
//! answered something: one that hangs up on everybody, because it has a client already, is not asked without end.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod check;
mod config;
mod effect;
mod odometry;
mod outbox;
mod questions;
mod scan;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub use config::{ClientConfig, ClientEvent, ClientStatistics, Loss};
pub use odometry::Odometry;
pub use scan::LaserGeometry;

use super::call::{CallId, Outcome, Refusal};
use super::wire::{Command, CommandKind, Decoder, GetParameter, Message, MoveVelocity, Reply};
use effect::Effect;
use outbox::Outbox;
use questions::{Asker, Open, Question};

/// Between two velocities of [`Client::handle_velocity`].
const VELOCITY_PERIOD: Duration = Duration::from_millis(20);
/// After so many questions for the position that were passed over, there is no further one on this connection.
const MAX_POSITIONS_UNANSWERED: u32 = 3;

/// The connection, as far as the owner has told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Link {
    /// To be made at this time.
    Down(Instant),
    /// Being made.
    Connecting,
    Up,
}

/// A call whose effect the status is to show.
#[derive(Debug)]
struct Watch {
    id: CallId,
    effect: Effect,
    /// Where its command ends in the stream.
    end: u64,
    deadline: Instant,
    /// The state that was told last.
    seen: Option<String>,
}

/// The velocity that is commanded again and again.
#[derive(Debug, Default)]
struct Drive {
    /// The next to send.
    wanted: Option<MoveVelocity>,
    sent: Option<Instant>,
    /// When a stop is due, unless another velocity comes.
    expires: Option<Instant>,
}

/// The client core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, look at [`poll_connect`](Self::poll_connect), drain [`poll_event`](Self::poll_event), send what is
/// [`unsent`](Self::unsent), and then sleep until the next input or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    link: Link,
    pause: Duration,
    decoder: Decoder<Reply>,
    outbox: Outbox,
    /// When the platform counts as one that does not read.
    stalled: Option<Instant>,
    open: VecDeque<Open>,
    waiting: VecDeque<Question>,
    watches: Vec<Watch>,
    status_due: Instant,
    position_due: Option<Instant>,
    map_due: Option<Instant>,
    positions_unanswered: u32,
    drive: Drive,
    events: VecDeque<ClientEvent>,
    statistics: ClientStatistics,
}

impl Client {
    /// A client that wants to be connected at `now`.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
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
    pub fn handle_call(&mut self, now: Instant, id: CallId, command: Command) {
        match self.accept(now, id, command) {
            Ok(()) => self.advance(now),
            Err(refusal) => self.report(id, Outcome::Refused(refusal)),
        }
    }

    /// A velocity is commanded, for [`ClientConfig::velocity_timeout`]. Of those that come too fast the last one counts. While there is
    /// no connection they are lost.
    pub fn handle_velocity(&mut self, now: Instant, velocity: MoveVelocity) {
        if self.link == Link::Up {
            self.drive.wanted = Some(velocity);
            let moves = velocity != MoveVelocity::default();
            self.drive.expires = moves.then(|| now + self.config.velocity_timeout);
            self.advance(now);
        }
    }

    /// The connection that [`poll_connect`](Self::poll_connect) asked for is there.
    pub fn handle_connected(&mut self, now: Instant) {
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

    /// The connection ended, for that reason.
    pub fn handle_disconnected(&mut self, now: Instant, reason: &str) {
        self.give_up(now, Loss::Closed(reason.to_owned()));
    }

    /// The connection that [`poll_connect`](Self::poll_connect) asked for could not be made.
    pub fn handle_connect_failed(&mut self, now: Instant) {
        if self.link == Link::Connecting {
            self.retry(now);
        }
    }

    /// Bytes came from the platform, cut anywhere.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
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

    /// Whether the owner should make a connection. Asks once for each attempt.
    pub fn poll_connect(&mut self, now: Instant) -> bool {
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

    /// The first `len` of the [`unsent`](Self::unsent) bytes are on their way.
    pub fn handle_sent(&mut self, now: Instant, len: usize) {
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
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.link {
            Link::Down(attempt) => return Some(attempt),
            Link::Connecting => return None,
            Link::Up => {}
        }
        let polls = [
            (Asker::Status, Some(self.status_due)),
            (Asker::Position, self.position_due),
            (Asker::Map, self.map_due),
        ];
        let polls = polls.into_iter().filter(|(asker, _)| !self.is_asking(asker)).filter_map(|(_, due)| due);
        // Behind what the platform has not read yet no velocity is sent, but the newest afterwards.
        let drive = match self.drive.wanted {
            Some(_) if !self.is_read() => None,
            Some(_) => self.next_velocity(),
            None => self.drive.expires,
        };
        let answers = self.open.iter().filter_map(|open| open.deadline);
        let effects = self.watches.iter().map(|watch| watch.deadline);
        polls.chain(drive).chain(answers).chain(effects).chain(self.stalled).min()
    }

    /// Does what is due. Harmless when called early.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.link != Link::Up {
            return;
        }
        if self.stalled.is_some_and(|stalled| stalled <= now) {
            return self.give_up(now, Loss::Stalled);
        }
        let is_over = |open: &Open| open.deadline.is_some_and(|deadline| deadline <= now);
        if self.open.iter().any(|open| is_over(open) && open.asker.is_for_status()) {
            return self.give_up(now, Loss::Silent);
        }
        for open in &mut self.open {
            if is_over(open) {
                // The next status tells whether it still comes.
                open.deadline = None;
                open.is_overdue = true;
            }
        }
        while let Some(index) = self.watches.iter().position(|watch| watch.deadline <= now) {
            let watch = self.watches.swap_remove(index);
            let seen = watch.seen.unwrap_or_else(|| "the platform does not tell its state".to_owned());
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

    fn accept(&mut self, now: Instant, id: CallId, command: Command) -> Result<(), Refusal> {
        if self.link != Link::Up {
            return Err(Refusal::NotConnected);
        }
        let calls = self.open.iter().filter(|open| open.asker.call().is_some()).count();
        if calls + self.waiting.len() + self.watches.len() >= self.config.max_calls {
            return Err(Refusal::Busy);
        }
        check::check(&command)?;
        let kind = command.kind();
        let bytes = command.encode(self.config.framing)?;
        // Questions that wait are there until they are asked.
        let waiting: usize = self.waiting.iter().map(|question| question.bytes.len()).sum();
        if self.outbox.unsent().len() + waiting + bytes.len() > self.config.max_unsent {
            return Err(Refusal::Busy);
        }
        if kind.is_answered() {
            self.waiting.push_back(Question { asker: Asker::Call(id), kind, bytes });
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
            let asker = Asker::Parameter(id, value);
            self.waiting.push_back(Question { asker, kind: CommandKind::GetPltfParam, bytes });
        } else if let Some(effect) = Effect::of(&command) {
            let timeout = match effect {
                Effect::Initialized => self.config.initialize_timeout,
                _ => self.config.effect_timeout,
            };
            let (end, deadline) = (self.outbox.queued(), now + timeout);
            self.watches.push(Watch { id, effect, end, deadline, seen: None });
        } else {
            self.report(id, Outcome::Done);
        }
        Ok(())
    }

    /// Sends what is due.
    fn advance(&mut self, now: Instant) {
        if self.link != Link::Up {
            return;
        }
        self.advance_velocity(now);
        if !self.open.iter().any(|open| open.asker.call().is_some())
            && let Some(question) = self.waiting.pop_front()
        {
            self.ask(now, question);
        }
        if self.position_due.is_some_and(|due| due <= now) && !self.is_asking(&Asker::Position) {
            self.position_due = next(self.position_due, self.config.position_period, now);
            self.ask_for(now, Asker::Position, &Command::GetPosition);
        }
        if self.map_due.is_some_and(|due| due <= now) && !self.is_asking(&Asker::Map) {
            self.map_due = next(self.map_due, self.config.map_period, now);
            self.ask_for(now, Asker::Map, &Command::GetMap);
        }
        // Last, so that it stands for all that was asked before.
        if self.wants_status(now) {
            self.status_due =
                next(Some(self.status_due), Some(self.config.status_period), now).unwrap_or(now);
            self.ask_for(now, Asker::Status, &Command::GetStatus);
        }
    }

    /// It is due; or a command, or a question that is overdue, has none behind it.
    fn wants_status(&self, now: Instant) -> bool {
        if self.status_due <= now && !self.is_asking(&Asker::Status) {
            return true;
        }
        let asked = self.open.iter().filter(|open| open.asker.is_for_status()).map(|open| open.end).max();
        let unseen = self.watches.iter().filter(|watch| watch.seen.is_none()).map(|watch| watch.end);
        let overdue = self.open.iter().filter(|open| open.is_overdue).map(|open| open.end);
        unseen.chain(overdue).max().is_some_and(|end| asked.is_none_or(|asked| asked < end))
    }

    fn advance_velocity(&mut self, now: Instant) {
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

    /// Whether the platform has taken all that was sent.
    fn is_read(&self) -> bool {
        self.outbox.unsent().is_empty()
    }

    /// When the next velocity may go; `None`: at once.
    fn next_velocity(&self) -> Option<Instant> {
        self.drive.sent.map(|sent| sent + VELOCITY_PERIOD)
    }

    fn send(&mut self, now: Instant, bytes: &[u8]) {
        self.statistics.requests += 1;
        if self.is_read() {
            self.stalled = Some(now + self.config.answer_timeout);
        }
        self.outbox.push(bytes);
    }

    /// The connection is over. A new one is made after a pause.
    fn give_up(&mut self, now: Instant, loss: Loss) {
        if self.link != Link::Up {
            return;
        }
        let lost = || Outcome::Refused(Refusal::Lost(loss.clone()));
        for asker in std::mem::take(&mut self.open).into_iter().map(|open| open.asker) {
            if let Some(id) = asker.call() {
                self.report(id, lost());
            }
        }
        for asker in std::mem::take(&mut self.waiting).into_iter().map(|question| question.asker) {
            if let Some(id) = asker.call() {
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

    fn retry(&mut self, now: Instant) {
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

/// When something is due again; the phase is kept unless a whole period was missed.
fn next(due: Option<Instant>, period: Option<Duration>, now: Instant) -> Option<Instant> {
    let period = period?;
    due.and_then(|due| due.checked_add(period)).filter(|next| *next > now).or(now.checked_add(period))
}

/// Whether the map may be another after the command.
fn changes_map(kind: CommandKind) -> bool {
    matches!(kind, CommandKind::SetMap | CommandKind::LoadMap | CommandKind::MappingStop)
}
