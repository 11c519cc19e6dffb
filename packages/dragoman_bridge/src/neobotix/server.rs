//! Server side: answers one client of a platform from the platform's services.
//!
//! # Map
//!
//! - this file: [`Session`], its inputs and outputs;
//! - `answers`: what is answered, also where there is nothing to tell;
//! - `limits`: what is refused before any service is called;
//! - `traffic`: what the client is told of its own connection;
//! - `config`: limits, counters, events.
//!
//! # Rules
//!
//! The commands of a client are worked on **in their order, one at a time**: a status that is asked for after a command tells what
//! the command has changed. Sessions know nothing of each other.
//!
//! Only the commands that have a reply in the guide are answered, in the form of their own request. A question that the platform refuses, or
//! that there is no platform for, is answered all the same, with what is true of no platform at all (`answers`): the protocol has no word for
//! errors, and old programs wait without end. Why it is so is in [`SessionEvent`]s, and among the log lines of `CMD_GET_DEBUG_DATA`.
//!
//! A message that is none of the guide's is skipped, and the stream stays in step. A length that no message has ends the session. Nothing of
//! a message is acted on before all of it was found to be in order.
//!
//! Memory is bounded on both ways: by one message of [`MAX_DATA_LEN`](super::wire::MAX_DATA_LEN) and [`ServerConfig::max_buffered`] for
//! what comes in, and by the latter and one answer for what goes out. A client that never reads is held up by TCP.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod answers;
mod config;
mod limits;
mod traffic;

use std::collections::VecDeque;
use std::time::Duration;

pub use config::{ServerConfig, ServerStatistics, SessionEvent};

use self::answers::Question;
use self::traffic::Traffic;
use super::call::{Outcome, Refusal};
use super::wire::{Command, Decoder, Fault, Framing, Message, QueueEntry, Received, Reply};

/// Events that may wait for the owner; further ones are counted only.
const MAX_EVENTS: usize = 16;
/// Log lines that wait for the client; the oldest go first.
const MAX_LINES: usize = 32;

/// The server's side of one connection. It owns no socket and no clock; see the module's documentation for its rules. Times are
/// durations since any one start.
///
/// After every input, drain [`poll_call`](Self::poll_call), send what [`unsent`](Self::unsent) gives, and drain
/// [`poll_event`](Self::poll_event).
#[derive(Debug)]
pub struct Session {
    config: ServerConfig,
    decoder: Decoder<Command>,
    /// Whether the decoder waits for the rest of a message.
    is_starved: bool,
    /// The command that was handed out and has no outcome yet.
    open: Option<Open>,
    unsent: Vec<u8>,
    is_closing: bool,
    events: VecDeque<SessionEvent>,
    lines: VecDeque<String>,
    statistics: ServerStatistics,
    traffic: Traffic,
}

#[derive(Debug)]
struct Open {
    question: Question,
    framing: Framing,
}

impl Session {
    /// A client that has sent nothing yet, connected at `now`.
    pub fn new(config: ServerConfig, now: Duration) -> Self {
        Self {
            config,
            decoder: Decoder::default(),
            is_starved: true,
            open: None,
            unsent: Vec::new(),
            is_closing: false,
            events: VecDeque::new(),
            lines: VecDeque::new(),
            statistics: ServerStatistics::default(),
            traffic: Traffic::new(now),
        }
    }

    /// Whether more bytes should be read from the client.
    pub fn wants_input(&self) -> bool {
        !self.is_closing && (self.is_starved || self.decoder.buffered() < self.config.max_buffered)
    }

    /// Bytes came from the client, cut anywhere.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.traffic.receive(now, bytes.len());
        if !self.is_closing {
            self.decoder.push(bytes);
            self.is_starved = false;
        }
    }

    /// The next service to call. Report its outcome with [`handle_outcome`](Self::handle_outcome): there is no other call
    /// before that.
    pub fn poll_call(&mut self, now: Duration) -> Option<Command> {
        while self.open.is_none() && !self.is_closing && self.unsent.len() < self.config.max_buffered {
            let Received { framing, message } = match self.decoder.next() {
                Ok(Some(received)) => received,
                Ok(None) => {
                    self.is_starved = true;
                    return None;
                }
                Err(error) => {
                    self.statistics.malformed += 1;
                    self.note(SessionEvent::Length(error));
                    self.is_closing = true;
                    return None;
                }
            };
            self.traffic.receive_telegram(now);
            match message {
                Ok(Command::CloseSocket) => {
                    self.statistics.commands += 1;
                    self.is_closing = true;
                }
                Ok(command) => {
                    self.statistics.commands += 1;
                    self.open = Some(Open { question: Question::of(&command), framing });
                    match limits::check(&command) {
                        Ok(()) => return Some(command),
                        Err(refusal) => self.handle_outcome(now, Outcome::Refused(refusal)),
                    }
                }
                Err(error) if error.fault == Fault::Unknown => {
                    self.statistics.unknown += 1;
                    self.note(SessionEvent::Malformed(error));
                }
                Err(error) => {
                    self.statistics.malformed += 1;
                    self.note(SessionEvent::Malformed(error));
                }
            }
        }
        None
    }

    /// The service answered, or cannot be called. Without an open call nothing happens.
    pub fn handle_outcome(&mut self, now: Duration, outcome: Outcome) {
        let Some(Open { question, framing }) = self.open.take() else {
            return;
        };
        let answered = match outcome {
            Outcome::Done => None,
            Outcome::Answered(reply) => Some(reply),
            Outcome::Refused(refusal) => {
                self.refuse(&question, refusal);
                None
            }
        };
        if !question.kind().is_answered() {
            return;
        }
        let fitting = answered.filter(|reply| reply.kind() == question.kind());
        let reply = fitting.map(|reply| self.completed(now, reply));
        let encoded = match reply.map(|reply| reply.encode(framing)) {
            Some(Ok(bytes)) => Some(bytes),
            Some(Err(too_long)) => {
                self.refuse(&question, too_long.into());
                None
            }
            None => None,
        };
        // What is true of no platform is short.
        let bytes = encoded.or_else(|| question.idle()?.encode(framing).ok()).unwrap_or_default();
        self.statistics.answers += 1;
        self.traffic.send_telegram(now, bytes.len());
        self.unsent.extend(bytes);
    }

    /// What is to be sent to the client.
    pub fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    /// So many bytes of it have been sent.
    pub fn sent(&mut self, len: usize) {
        self.unsent.drain(..len.min(self.unsent.len()));
        self.unsent.shrink_to(self.config.max_buffered);
    }

    /// Whether the connection is to be closed once what can be sent now was sent.
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// What the owner should know, oldest first.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    /// The counters since the last time that this was called.
    pub fn take_statistics(&mut self) -> ServerStatistics {
        std::mem::take(&mut self.statistics)
    }

    /// Debug data with what only the session knows.
    fn completed(&mut self, now: Duration, reply: Reply) -> Reply {
        match reply {
            Reply::GetDebugData(mut data) => {
                data.tcp = self.traffic.statistics(now);
                let lines = self.lines.drain(..).map(|line| QueueEntry { text: line.into() });
                data.protocol_queue.extend(lines);
                Reply::GetDebugData(data)
            }
            other => other,
        }
    }

    fn refuse(&mut self, question: &Question, refusal: Refusal) {
        self.statistics.refused += 1;
        self.note(SessionEvent::Refused { kind: question.kind(), refusal });
    }

    fn note(&mut self, event: SessionEvent) {
        if self.lines.len() >= MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(event.to_string());
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}
