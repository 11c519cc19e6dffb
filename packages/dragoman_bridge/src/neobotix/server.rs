//! Server side: answers one client of a platform from the platform's services.
//!
//! # Map
//!
//! - this file: [`Session`], its inputs and outputs;
//! - `answers`: default answers to questions that were refused;
//! - `limits`: checks before any service is called;
//! - `traffic`: statistics of the client's own connection;
//! - `config`: limits, counters, events.
//!
//! # Rules
//!
//! The commands of a client are processed **in their order, one at a time**: a status that is queried after a command
//! shows the command's effect. Sessions are independent of each other.
//!
//! Only the commands that have a reply in the PlatformCtrl guide are answered, in the framing of their request. A
//! question that is refused, or for which no platform is available, gets a default answer (`answers`): the protocol has
//! no error reply, and old programs wait forever. The reason is in [`SessionEvent`]s, and in the log lines of
//! `CMD_GET_DEBUG_DATA`.
//!
//! An invalid message is skipped, and the stream stays in step. An invalid length ends the session. A message takes
//! effect only if all of it is valid.
//!
//! Memory is bounded in both directions: input by one message of [`MAX_DATA_LEN`](super::wire::MAX_DATA_LEN) and
//! [`ServerConfig::max_buffered`], output by the latter and one answer. TCP slows a client that never reads.

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
use crate::session::ServerSession;

/// Maximum number of waiting events; more are only counted.
const MAX_EVENTS: usize = 16;
/// Maximum number of log lines that wait for the client; the oldest are dropped first.
const MAX_LINES: usize = 32;

/// The server's side of one connection; see the module's documentation for its rules.
#[derive(Debug)]
pub struct Session {
    config: ServerConfig,
    decoder: Decoder<Command>,
    /// Whether the decoder is waiting for the rest of a message.
    is_starved: bool,
    /// The command that was given to the owner and has no outcome yet.
    open: Option<OpenCommand>,
    unsent: Vec<u8>,
    is_closing: bool,
    events: VecDeque<SessionEvent>,
    lines: VecDeque<String>,
    /// Number of the last line of the platform's log that was sent.
    logged: u32,
    statistics: ServerStatistics,
    traffic: Traffic,
}

#[derive(Debug)]
struct OpenCommand {
    question: Question,
    framing: Framing,
}

impl Session {
    /// A connection without any input, made at `now`.
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
            logged: 0,
            statistics: ServerStatistics::default(),
            traffic: Traffic::new(now),
        }
    }

    /// Adds the data to debug data that only the session has.
    fn completed(&mut self, now: Duration, reply: Reply) -> Reply {
        match reply {
            Reply::GetDebugData(mut data) => {
                data.tcp = self.traffic.statistics(now);
                // Numbers that went back are those of a platform that was restarted.
                let last = data.protocol_queue.iter().map(|entry| entry.number).max().unwrap_or_default();
                let before = if last < self.logged { 0 } else { self.logged };
                data.protocol_queue.retain(|entry| entry.number == 0 || entry.number > before);
                self.logged = last;
                let lines = self.lines.drain(..).map(|line| QueueEntry { text: line.into(), number: 0 });
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

impl ServerSession for Session {
    type Call = Command;
    type Outcome = Outcome;
    type Event = SessionEvent;
    type Statistics = ServerStatistics;

    fn wants_input(&self) -> bool {
        !self.is_closing && (self.is_starved || self.decoder.buffered() < self.config.max_buffered)
    }

    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.traffic.receive(now, bytes.len());
        if !self.is_closing {
            self.decoder.push(bytes);
            self.is_starved = false;
        }
    }

    fn poll_call(&mut self, now: Duration) -> Option<Command> {
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
                    self.open = Some(OpenCommand { question: Question::of(&command), framing });
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

    fn handle_outcome(&mut self, now: Duration, outcome: Outcome) {
        let Some(OpenCommand { question, framing }) = self.open.take() else {
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
        // Default answers are short.
        let bytes = encoded.or_else(|| question.default_answer()?.encode(framing).ok()).unwrap_or_default();
        self.statistics.answers += 1;
        self.traffic.send_telegram(now, bytes.len());
        self.unsent.extend(bytes);
    }

    fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    fn handle_sent(&mut self, len: usize) {
        self.unsent.drain(..len.min(self.unsent.len()));
        self.unsent.shrink_to(self.config.max_buffered);
    }

    fn is_closing(&self) -> bool {
        self.is_closing
    }

    fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    fn poll_statistics(&mut self) -> ServerStatistics {
        std::mem::take(&mut self.statistics)
    }
}
