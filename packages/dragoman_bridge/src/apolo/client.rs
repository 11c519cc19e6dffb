//! Client side: sends requests to an old server, one at a time.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs;
//! - `config`: choices and times, counters, events;
//! - [`robot`]: periodic queries of a mobile robot, and its velocity commands.
//!
//! # Rules
//!
//! Calls are sent **in the order given, one at a time**, because an answer does not identify its request. A command
//! that is never answered counts as done once it is sent. A question without an answer for
//! [`ClientConfig::answer_timeout`] ends as [`Refusal::TimedOut`]. A late answer would be taken for the answer to the
//! next question, so the connection is then closed and a new one made. An original server does not answer questions
//! about unknown names.
//!
//! While disconnected, calls are refused at once. They wait only during the first connection attempt and while a
//! connection that was just closed or lost is replaced. After failures the pause before the next attempt doubles, from
//! [`ClientConfig::reconnect_min`] to [`ClientConfig::reconnect_max`].
//!
//! Our server side answers `F` to a question about an unknown name. For `j`, `m` and `p`, `F` is also a verdict; the
//! two cannot be distinguished.

mod config;
pub mod robot;

use std::collections::VecDeque;
use std::time::Duration;

pub use config::{ClientConfig, ClientEvent, ClientStatistics};

use super::call::{Outcome, Refusal};
use super::wire::{AnswerFormat, Command, Received, Reply, ReplyDecoder, Request};
use crate::CallId;

/// The request that is waiting for its answer.
#[derive(Debug)]
struct OpenCall {
    id: CallId,
    answer: AnswerFormat,
    deadline: Duration,
}

/// State of the connection, as reported by the owner.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Link {
    /// Connect at this time.
    Down {
        since_failure: bool,
        attempt: Duration,
    },
    /// A connection attempt is under way.
    Connecting {
        since_failure: bool,
    },
    Up,
}

/// The client core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, look at [`poll_connect`](Self::poll_connect), drain [`poll_transmit`](Self::poll_transmit) and
/// [`poll_event`](Self::poll_event), then sleep until the next input or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    link: Link,
    pause: Duration,
    waiting: VecDeque<(CallId, Request)>,
    open: Option<OpenCall>,
    decoder: ReplyDecoder,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<ClientEvent>,
    statistics: ClientStatistics,
}

impl Client {
    /// A client whose first connection attempt is due at `now`.
    pub fn new(now: Duration, config: ClientConfig) -> Self {
        Self {
            link: Link::Down { since_failure: false, attempt: now },
            pause: config.reconnect_min,
            waiting: VecDeque::new(),
            open: None,
            decoder: ReplyDecoder::new(config.size_base),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            statistics: ClientStatistics::default(),
            config,
        }
    }

    /// A service was called. Exactly one [`ClientEvent::Result`] with this id will follow.
    pub fn handle_call(&mut self, now: Duration, id: CallId, request: Request) {
        let refusal = match self.link {
            Link::Down { since_failure: true, .. } | Link::Connecting { since_failure: true } => {
                Refusal::NotConnected
            }
            _ if !request.is_finite() => Refusal::NotFinite,
            _ if self.waiting.len() >= self.config.max_waiting => Refusal::Busy,
            _ => {
                self.waiting.push_back((id, request));
                return self.advance(now);
            }
        };
        self.report(id, Outcome::Refused(refusal));
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) is established.
    pub fn handle_connected(&mut self, now: Duration) {
        self.link = Link::Up;
        self.pause = self.config.reconnect_min;
        self.decoder = ReplyDecoder::new(self.config.size_base);
        self.statistics.connections += 1;
        self.events.push_back(ClientEvent::Connected);
        self.advance(now);
    }

    /// The connection ended.
    pub fn handle_disconnected(&mut self, now: Duration) {
        // Back off if the server closes every connection.
        self.give_up_connection(now + self.config.reconnect_min);
        if let Some(open) = self.open.take() {
            self.report(open.id, Outcome::Refused(Refusal::NotConnected));
        }
    }

    /// The connection requested by [`poll_connect`](Self::poll_connect) failed.
    pub fn handle_connect_failed(&mut self, now: Duration) {
        self.link = Link::Down { since_failure: true, attempt: now + self.pause };
        self.pause = self.pause.saturating_mul(2).min(self.config.reconnect_max);
        while let Some((id, _)) = self.waiting.pop_front() {
            self.report(id, Outcome::Refused(Refusal::NotConnected));
        }
    }

    /// Receives bytes from the server, in pieces of any size.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        if self.link != Link::Up {
            return;
        }
        self.decoder.push(bytes);
        while let Some(received) = self.decoder.next() {
            match received {
                Received::Message(reply) => self.handle_reply(reply),
                Received::Malformed { .. } | Received::Unknown { .. } => self.statistics.undecodable += 1,
            }
        }
        self.advance(now);
    }

    /// `true` once for each attempt: the owner closes the current connection, if any, and makes a new one.
    pub fn poll_connect(&mut self, now: Duration) -> bool {
        match self.link {
            Link::Down { since_failure, attempt } if attempt <= now => {
                self.link = Link::Connecting { since_failure };
                true
            }
            _ => false,
        }
    }

    /// The next bytes to send. They are lost without a connection.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let attempt = match self.link {
            Link::Down { attempt, .. } => Some(attempt),
            _ => None,
        };
        self.open.as_ref().map(|open| open.deadline).into_iter().chain(attempt).min()
    }

    /// Ends a question that has timed out. May be called early.
    pub fn handle_timeout(&mut self, now: Duration) {
        if let Some(open) = self.open.take_if(|open| open.deadline <= now) {
            self.statistics.timeouts += 1;
            self.give_up_connection(now);
            self.report(open.id, Outcome::Refused(Refusal::TimedOut));
        }
    }

    /// Whether there is a connection.
    pub fn is_connected(&self) -> bool {
        self.link == Link::Up
    }

    /// Counters since the start, for diagnostics.
    pub fn statistics(&self) -> ClientStatistics {
        self.statistics
    }

    fn give_up_connection(&mut self, attempt: Duration) {
        if self.link == Link::Up {
            self.events.push_back(ClientEvent::Disconnected);
        }
        self.transmits.clear();
        self.link = Link::Down { since_failure: false, attempt };
    }

    /// Sends the next request if possible.
    fn advance(&mut self, now: Duration) {
        while self.link == Link::Up
            && self.open.is_none()
            && let Some((id, request)) = self.waiting.pop_front()
        {
            let answer = match request.command() {
                Command::MoveMRobot if !self.config.move_reply => AnswerFormat::None,
                command => command.answer(),
            };
            match request.encode(self.config.size_base) {
                Err(error) => self.report(id, Outcome::Refused(error.into())),
                Ok(bytes) => {
                    self.statistics.requests += 1;
                    self.transmits.push_back(bytes);
                    match answer {
                        AnswerFormat::None => self.report(id, unanswered_outcome(request.command())),
                        answer => {
                            let deadline = now + self.config.answer_timeout;
                            self.open = Some(OpenCall { id, answer, deadline });
                        }
                    }
                }
            }
        }
    }

    fn handle_reply(&mut self, reply: Reply) {
        let outcome = match (self.open.as_ref().map(|open| open.answer), reply) {
            (Some(AnswerFormat::Verdict), Reply::True) => Outcome::Verdict(true),
            (Some(AnswerFormat::Verdict), Reply::False) => Outcome::Verdict(false),
            (Some(AnswerFormat::Doubles(count)), Reply::Doubles(values)) if values.len() == count => {
                Outcome::Values(values)
            }
            (Some(AnswerFormat::AnyDoubles), Reply::Doubles(values)) => Outcome::Values(values),
            (Some(AnswerFormat::LandMarks), Reply::LandMarks(marks)) => Outcome::LandMarks(marks),
            (Some(_), Reply::False) => Outcome::Refused(Refusal::UnknownName(
                "the server answered F: unknown name, or refused".to_owned(),
            )),
            _ => {
                self.statistics.unsolicited += 1;
                return;
            }
        };
        self.statistics.replies += 1;
        if let Some(open) = self.open.take() {
            self.report(open.id, outcome);
        }
    }

    fn report(&mut self, id: CallId, outcome: Outcome) {
        self.events.push_back(ClientEvent::Result { id, outcome });
    }
}

/// Assumed outcome of a request that is never answered.
fn unanswered_outcome(command: Command) -> Outcome {
    match command {
        Command::MoveMRobot => Outcome::Verdict(true),
        _ => Outcome::Done,
    }
}
