//! Client side: asks an old server, one request at a time.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs;
//! - `config`: choices and times, counters, events;
//! - [`robot`]: what a mobile robot is asked again and again, and how it is driven.
//!
//! # Rules
//!
//! Calls go out **in the order given, one at a time**: nothing in an answer tells what it answers. What is never
//! answered counts as done when it is on its way. A question without an answer for [`ClientConfig::answer_timeout`] ends
//! as [`Refusal::TimedOut`]. Its answer may come later and would be taken for the answer to the next question, so the
//! connection is given up then, and a new one made. An original server is silent about names that it does not know.
//!
//! While there is no connection, calls are refused at once; but calls wait while the first attempt is made, and
//! while a connection that has just been given up or lost is replaced. After failures the pause before the next
//! attempt doubles, from [`ClientConfig::reconnect_min`] to [`ClientConfig::reconnect_max`].
//!
//! `F` is the answer to a question about a name that our own server side does not know; but to `j`, `m` and `p` it
//! is a verdict, and cannot be told from one.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod config;
pub mod robot;

use std::collections::VecDeque;
use std::time::Instant;

pub use config::{ClientConfig, ClientEvent, ClientStatistics};

use super::call::{CallId, Outcome, Refusal};
use super::wire::{Answer, Command, Received, Reply, ReplyDecoder, Request};

/// The request that waits for its answer.
#[derive(Debug)]
struct Open {
    id: CallId,
    answer: Answer,
    deadline: Instant,
}

/// The connection, as far as the owner has told.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Link {
    /// To be made at this time.
    Down {
        since_failure: bool,
        attempt: Instant,
    },
    /// Being made.
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
    pause: std::time::Duration,
    waiting: VecDeque<(CallId, Request)>,
    open: Option<Open>,
    decoder: ReplyDecoder,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<ClientEvent>,
    statistics: ClientStatistics,
}

impl Client {
    /// A client that wants to be connected at `now`.
    pub fn new(now: Instant, config: ClientConfig) -> Self {
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
    pub fn handle_call(&mut self, now: Instant, id: CallId, request: Request) {
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

    /// The connection that [`poll_connect`](Self::poll_connect) asked for is there.
    pub fn handle_connected(&mut self, now: Instant) {
        self.link = Link::Up;
        self.pause = self.config.reconnect_min;
        self.decoder = ReplyDecoder::new(self.config.size_base);
        self.statistics.connections += 1;
        self.events.push_back(ClientEvent::Connected);
        self.advance(now);
    }

    /// The connection ended.
    pub fn handle_disconnected(&mut self, now: Instant) {
        // A server that hangs up on everybody is not asked without end.
        self.give_up_connection(now + self.config.reconnect_min);
        if let Some(open) = self.open.take() {
            self.report(open.id, Outcome::Refused(Refusal::NotConnected));
        }
    }

    /// The connection that [`poll_connect`](Self::poll_connect) asked for could not be made.
    pub fn handle_connect_failed(&mut self, now: Instant) {
        self.link = Link::Down { since_failure: true, attempt: now + self.pause };
        self.pause = self.pause.saturating_mul(2).min(self.config.reconnect_max);
        while let Some((id, _)) = self.waiting.pop_front() {
            self.report(id, Outcome::Refused(Refusal::NotConnected));
        }
    }

    /// Bytes came from the server, cut anywhere.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
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

    /// Whether the owner should give up the connection that there may be, and make one. Asks once for each attempt.
    pub fn poll_connect(&mut self, now: Instant) -> bool {
        match self.link {
            Link::Down { since_failure, attempt } if attempt <= now => {
                self.link = Link::Connecting { since_failure };
                true
            }
            _ => false,
        }
    }

    /// The next bytes to send on the connection. Without one they are lost.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let attempt = match self.link {
            Link::Down { attempt, .. } => Some(attempt),
            _ => None,
        };
        self.open.as_ref().map(|open| open.deadline).into_iter().chain(attempt).min()
    }

    /// Ends the question whose time is over. Harmless when called early.
    pub fn handle_timeout(&mut self, now: Instant) {
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

    fn give_up_connection(&mut self, attempt: Instant) {
        if self.link == Link::Up {
            self.events.push_back(ClientEvent::Disconnected);
        }
        self.transmits.clear();
        self.link = Link::Down { since_failure: false, attempt };
    }

    /// Sends what may be sent.
    fn advance(&mut self, now: Instant) {
        while self.link == Link::Up
            && self.open.is_none()
            && let Some((id, request)) = self.waiting.pop_front()
        {
            let answer = match request.command() {
                Command::MoveMRobot if !self.config.move_reply => Answer::None,
                command => command.answer(),
            };
            match request.encode(self.config.size_base) {
                Err(error) => self.report(id, Outcome::Refused(error.into())),
                Ok(bytes) => {
                    self.statistics.requests += 1;
                    self.transmits.push_back(bytes);
                    match answer {
                        Answer::None => self.report(id, silent_outcome(request.command())),
                        answer => {
                            let deadline = now + self.config.answer_timeout;
                            self.open = Some(Open { id, answer, deadline });
                        }
                    }
                }
            }
        }
    }

    fn handle_reply(&mut self, reply: Reply) {
        let outcome = match (self.open.as_ref().map(|open| open.answer), reply) {
            (Some(Answer::Verdict), Reply::True) => Outcome::Verdict(true),
            (Some(Answer::Verdict), Reply::False) => Outcome::Verdict(false),
            (Some(Answer::Doubles(count)), Reply::Doubles(values)) if values.len() == count => {
                Outcome::Values(values)
            }
            (Some(Answer::AnyDoubles), Reply::Doubles(values)) => Outcome::Values(values),
            (Some(Answer::LandMarks), Reply::LandMarks(marks)) => Outcome::LandMarks(marks),
            (Some(_), Reply::False) => Outcome::Refused(Refusal::UnknownName(
                "the server answered F: it does not know that name, or refuses".to_owned(),
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

/// What is supposed of a request that is never answered.
fn silent_outcome(command: Command) -> Outcome {
    match command {
        Command::MoveMRobot => Outcome::Verdict(true),
        _ => Outcome::Done,
    }
}
