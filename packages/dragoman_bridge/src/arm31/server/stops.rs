//! How `ST` overtakes. The rules are in the documentation of [`super`].

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use super::super::call::ArmCall;
use super::super::wire::{Command, DATAGRAM_LEN, Notice, Reply, Request, Role};
use super::Server;
use super::session::Entry;
use crate::CallId;

/// Number of timed-out starts that are remembered in case their result still arrives.
const LATE_STARTS: usize = 64;

/// The unsettled stop of one client. There is at most one; stops that arrive meanwhile share the next one.
#[derive(Debug)]
pub(super) struct PendingStop {
    /// The open call of the stop service.
    call: Option<CallId>,
    /// Starts that were made before the stop came and have no result yet.
    awaited: Vec<CallId>,
    /// One of these may have been carried out after the stop.
    repeat: bool,
    /// Number of clients' requests that this stop answers.
    owed: usize,
    /// Number of requests that the next stop answers.
    owed_next: usize,
}

/// Starts that were made and timed out: they may still be carried out.
#[derive(Debug, Default)]
pub(super) struct LateStarts(VecDeque<(CallId, bool)>);

impl LateStarts {
    pub(super) fn remember(&mut self, id: CallId, overtaken: bool) {
        if self.0.len() >= LATE_STARTS {
            self.0.pop_front();
        }
        self.0.push_back((id, overtaken));
    }

    /// Removes the start; returns whether a stop came after it.
    pub(super) fn take_overtaken(&mut self, id: CallId) -> bool {
        let found = self.0.iter().position(|(late, _)| *late == id);
        found.and_then(|place| self.0.remove(place)).is_some_and(|(_, overtaken)| overtaken)
    }

    fn overtake(&mut self) {
        self.0.iter_mut().for_each(|(_, overtaken)| *overtaken = true);
    }
}

impl Server {
    /// `ST` came from `client`.
    pub(super) fn handle_stop(&mut self, now: Duration, client: SocketAddr) {
        self.statistics.stops += 1;
        self.cancel_waiting_starts(now);
        match self.sessions.get_mut(&client).and_then(|session| session.stop.as_mut()) {
            Some(pending) => {
                pending.owed_next = self.config.max_waiting_per_client.min(pending.owed_next + 1);
            }
            None => self.begin_stop(now, client, 1),
        }
    }

    /// Rejects the waiting starts of all clients.
    fn cancel_waiting_starts(&mut self, now: Duration) {
        for entry in self.sessions.values_mut().flat_map(|session| &mut session.waiting) {
            if let Entry::Request(command, _) = *entry
                && entry.is_start()
            {
                self.statistics.cancelled_starts += 1;
                *entry = Entry::Answer(Notice::rejected(command));
            }
        }
        let ready: Vec<CallId> = self.ready.iter().copied().collect();
        for id in ready {
            if self.calls.get(&id).is_some_and(|call| call.command.role() == Role::Start)
                && let Some(call) = self.calls.remove(&id)
            {
                self.forget_ready(id);
                self.statistics.cancelled_starts += 1;
                self.finish(now, id, &call, super::Outcome::Refused(super::Refusal::Stopped));
            }
        }
    }

    /// Calls the stop service for `owed` requests of `client`.
    fn begin_stop(&mut self, now: Duration, client: SocketAddr, owed: usize) {
        let mut awaited = Vec::new();
        for (id, call) in &mut self.calls {
            if call.command.role() == Role::Start {
                call.overtaken = true;
                awaited.push(*id);
            }
        }
        self.late_starts.overtake();
        let call = self.open_call(now, Some(client), Command::Stop, ArmCall::Plain(Command::Stop), &done());
        if let (Some(_), Some(session)) = (call, self.sessions.get_mut(&client)) {
            session.stop = Some(PendingStop { call, awaited, repeat: false, owed, owed_next: 0 });
        } else {
            self.answer_stops(client, owed, Notice::rejected(Command::Stop).encode());
        }
    }

    /// Handles the result of the stop service for `client`, or its timeout.
    pub(super) fn finish_stop(&mut self, now: Duration, client: SocketAddr, succeeded: bool) {
        let Some(pending) = self.sessions.get_mut(&client).and_then(|session| session.stop.as_mut()) else {
            return;
        };
        pending.call = None;
        if succeeded {
            self.advance_stop(now, client);
        } else {
            self.settle_stop(now, client, Notice::rejected(Command::Stop).encode());
        }
    }

    /// Handles the end of a start that was made before a stop.
    pub(super) fn settle_overtaken_start(&mut self, now: Duration, id: CallId, may_move: bool) {
        let mut waiting = Vec::new();
        for (client, session) in &mut self.sessions {
            if let Some(pending) = &mut session.stop
                && let Some(place) = pending.awaited.iter().position(|awaited| *awaited == id)
            {
                pending.awaited.swap_remove(place);
                pending.repeat |= may_move;
                waiting.push(*client);
            }
        }
        if waiting.is_empty() && may_move {
            self.call_stop_without_client(now);
        }
        for client in waiting {
            self.advance_stop(now, client);
        }
    }

    /// A start succeeded although a later stop was requested, and no client waits for that stop.
    pub(super) fn call_stop_without_client(&mut self, now: Duration) {
        self.statistics.repeated_stops += 1;
        self.open_call(now, None, Command::Stop, ArmCall::Plain(Command::Stop), &done());
    }

    /// Answers the stop if no call is open; repeats it if necessary.
    fn advance_stop(&mut self, now: Duration, client: SocketAddr) {
        let Some(pending) = self.sessions.get_mut(&client).and_then(|session| session.stop.as_mut()) else {
            return;
        };
        if pending.call.is_some() || !pending.awaited.is_empty() {
            return;
        }
        if !std::mem::take(&mut pending.repeat) {
            return self.settle_stop(now, client, done());
        }
        self.statistics.repeated_stops += 1;
        let call = self.open_call(now, Some(client), Command::Stop, ArmCall::Plain(Command::Stop), &done());
        match self.sessions.get_mut(&client).and_then(|session| session.stop.as_mut()) {
            Some(pending) if call.is_some() => pending.call = call,
            _ => self.settle_stop(now, client, Notice::rejected(Command::Stop).encode()),
        }
    }

    /// Sends the client its answers and processes its later requests.
    fn settle_stop(&mut self, now: Duration, client: SocketAddr, answer: [u8; DATAGRAM_LEN]) {
        let Some(pending) = self.sessions.get_mut(&client).and_then(|session| session.stop.take()) else {
            return;
        };
        self.answer_stops(client, pending.owed, answer);
        if pending.owed_next > 0 {
            self.begin_stop(now, client, pending.owed_next);
        }
        self.resume(now, client);
    }

    fn answer_stops(&mut self, client: SocketAddr, count: usize, answer: [u8; DATAGRAM_LEN]) {
        for _ in 0..count {
            self.send(client, answer);
        }
    }
}

/// The answer `TS`.
fn done() -> [u8; DATAGRAM_LEN] {
    Reply::Accepted(Request::Stop).encode()
}
