//! Server side: answers one client from the services of a world.
//!
//! # Map
//!
//! - this file: [`Connection`], its inputs and outputs;
//! - `answers`: how a call's outcome is encoded, or whether it is omitted;
//! - `config`: limits, counters, events.
//!
//! # Rules
//!
//! The requests of a connection are processed **in their order, one at a time**, so a client that sends several at once
//! gets the same answers as one that waits. Connections are independent of each other.
//!
//! Memory is bounded in both directions. While [`ServerConfig::max_buffered`] bytes of requests wait, the owner should
//! not read ([`wants_input`](ServerSession::wants_input)); while as many bytes of answers are unsent, no request is
//! processed. TCP thus slows a client that never reads, without an effect on others.
//!
//! NaN and infinite values are refused here, before a service is called. A refused question is answered `F`; but `j`,
//! for which `F` means "free of collisions", is answered `T`. The same holds for frames that are too short for their
//! values. Refused commands without an answer are only reported to the owner ([`ConnectionEvent`]).

mod answers;
mod config;

use std::collections::VecDeque;
use std::time::Duration;

pub use config::{ConnectionEvent, ServerConfig, ServerStatistics};

use super::call::{Outcome, Refusal};
use super::wire::{Command, Received, Request, RequestDecoder};
use crate::session::ServerSession;

/// Maximum number of waiting events; more are only counted.
const MAX_EVENTS: usize = 16;

/// The server's side of one connection; see the module's documentation for its rules.
#[derive(Debug)]
pub struct Connection {
    config: ServerConfig,
    decoder: RequestDecoder,
    skipped: u64,
    /// The request that was given to the owner and has no outcome yet.
    open: Option<Request>,
    unsent: Vec<u8>,
    events: VecDeque<ConnectionEvent>,
    statistics: ServerStatistics,
}

impl Connection {
    /// A connection without any input.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            decoder: RequestDecoder::default(),
            skipped: 0,
            open: None,
            unsent: Vec::new(),
            events: VecDeque::new(),
            statistics: ServerStatistics::default(),
        }
    }

    fn settle(&mut self, request: &Request, outcome: Outcome) {
        if let Outcome::Refused(refusal) = &outcome {
            self.statistics.refused += 1;
            self.note(ConnectionEvent::Refused { request: request.clone(), refusal: refusal.clone() });
        }
        self.answer(answers::to(request.command(), outcome, &self.config));
    }

    fn answer(&mut self, answer: Option<Vec<u8>>) {
        if let Some(answer) = answer {
            self.statistics.answers += 1;
            self.unsent.extend(answer);
        }
    }

    fn note_garbage(&mut self) {
        let bytes = self.decoder.skipped() - self.skipped;
        if bytes > 0 {
            self.skipped += bytes;
            self.statistics.garbage += bytes;
            self.note(ConnectionEvent::Garbage { bytes });
        }
    }

    fn note(&mut self, event: ConnectionEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push_back(event);
        }
    }
}

impl ServerSession for Connection {
    type Call = Request;
    type Outcome = Outcome;
    type Event = ConnectionEvent;
    type Statistics = ServerStatistics;

    fn wants_input(&self) -> bool {
        self.decoder.buffered() < self.config.max_buffered
    }

    fn handle_bytes(&mut self, _now: Duration, bytes: &[u8]) {
        self.statistics.bytes += bytes.len() as u64;
        self.decoder.push(bytes);
    }

    fn poll_call(&mut self, _now: Duration) -> Option<Request> {
        while self.open.is_none() && self.unsent.len() < self.config.max_buffered {
            let received = self.decoder.next();
            self.note_garbage();
            match received? {
                Received::Message(request) => {
                    self.statistics.requests += 1;
                    if request.is_finite() {
                        self.open = Some(request.clone());
                        return Some(request);
                    }
                    self.settle(&request, Outcome::Refused(Refusal::NotFinite));
                }
                Received::Malformed { kind } => {
                    self.statistics.malformed += 1;
                    self.note(ConnectionEvent::Malformed { kind });
                    if let Some(command) = Command::from_letter(kind) {
                        self.answer(answers::to_malformed(command, &self.config));
                    }
                }
                Received::Unknown { kind } => {
                    self.statistics.unknown += 1;
                    self.note(ConnectionEvent::Unknown { kind });
                }
            }
        }
        None
    }

    fn handle_outcome(&mut self, _now: Duration, outcome: Outcome) {
        if let Some(request) = self.open.take() {
            self.settle(&request, outcome);
        }
    }

    fn unsent(&self) -> &[u8] {
        &self.unsent
    }

    fn handle_sent(&mut self, len: usize) {
        self.unsent.drain(..len.min(self.unsent.len()));
    }

    fn poll_event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    fn poll_statistics(&mut self) -> ServerStatistics {
        std::mem::take(&mut self.statistics)
    }

    fn is_closing(&self) -> bool {
        false
    }
}
