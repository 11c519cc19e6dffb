//! Server side: answers clients of the 31-byte protocol from the arm's ROS services and topics.
//!
//! # Map
//!
//! - this file: [`Server`], its inputs and outputs, queues and calls;
//! - `admission`: converts a request's values to the service call and the answer on success, or refuses it;
//! - `measurements`: the latest joint positions, pose and temperatures as ready answers;
//! - `session`: the state of one client, and its flood protection;
//! - `settling`: answers to a recalibration that wait until the measurements show it;
//! - `stops`: how `ST` overtakes safely;
//! - `statistics`: counters for diagnostics.
//!
//! # Order of answers
//!
//! The answers of one client keep the order of its requests: while a service call of a client is open, its next
//! requests wait in a bounded queue of their own. Other clients do not wait. The one exception is `ST`: its service
//! call is made immediately, before all others, and `TS` may come before the answers to earlier requests that do not
//! start a motion.
//!
//! **A stop applies to everything that reached the server before it, from any client.** Motion starts (`BG`, `jB`,
//! `jE`, `VE`) that still wait are answered `ER20 Cmd XX rejected`. Starts whose call is already made cannot be
//! cancelled and might be carried out after the stop; so the server awaits their results, calls the stop service once
//! more if one of them may have succeeded, and only then answers `TS`. Later requests of the same client wait until the
//! stop is settled.
//!
//! # Datagrams dropped without an answer, and counted
//!
//! Empty datagrams (an answer could not name a command); datagrams that look like an `ER` or `WN` text (two servers
//! must not answer each other's errors forever); datagrams above a client's rate; datagrams that find the client's
//! queue full (an `ER20` out of order could be taken for the answer to an earlier request). Queries may fill only half
//! of that queue, so that polls do not block commands.

mod admission;
mod config;
mod measurements;
mod session;
mod settling;
mod statistics;
mod stops;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

pub use config::ServerConfig;
pub use statistics::ServerStatistics;

use self::admission::Admission;
use self::measurements::Measurements;
use self::session::{Entry, Rate, Session};
use self::settling::Settling;
use self::stops::LateStarts;
use super::call::{ArmCall, MotionEvent, Outcome, Refusal};
use super::wire::{Command, DATAGRAM_LEN, Datagram, DecodeError, Notice, Reply, Request, Role};
use crate::CallId;

/// A call that has no result yet.
#[derive(Debug)]
struct OpenCall {
    /// The client and its session number (an evicted client may have come back). `None`: the server itself.
    client: Option<(SocketAddr, u64)>,
    /// As sent by the client: `GL` and `GT` call the same service.
    command: Command,
    /// Present until the owner has taken the call.
    call: Option<ArmCall>,
    /// Answer on success.
    reply: [u8; DATAGRAM_LEN],
    deadline: Duration,
    /// A motion start that the owner had taken before a stop arrived.
    overtaken: bool,
}

/// Counts how often a condition was met; one in [`ServerConfig::event_period`] events is sent.
#[derive(Debug, Default, Clone, Copy)]
struct EventCounter {
    count: u32,
    last: Option<Duration>,
}

/// The server core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, drain [`poll_call`](Self::poll_call) and [`poll_transmit`](Self::poll_transmit), then sleep until
/// the next input or [`poll_timeout`](Self::poll_timeout). `now` must not go backwards between inputs.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    sessions: BTreeMap<SocketAddr, Session>,
    next_session: u64,
    /// Ids grow and all calls have the same time limit, so the first one is the first to time out.
    calls: BTreeMap<CallId, OpenCall>,
    next_call: u64,
    ready_stops: VecDeque<CallId>,
    ready: VecDeque<CallId>,
    /// Calls that were carried out, and are not answered yet.
    settling: VecDeque<(CallId, OpenCall, Settling)>,
    late_starts: LateStarts,
    transmits: VecDeque<(SocketAddr, [u8; DATAGRAM_LEN])>,
    measurements: Measurements,
    events: [EventCounter; 3],
    statistics: ServerStatistics,
}

impl Server {
    /// A server without clients and measurements.
    pub fn new(config: ServerConfig) -> Self {
        Self {
            config,
            sessions: BTreeMap::new(),
            next_session: 0,
            calls: BTreeMap::new(),
            next_call: 0,
            ready_stops: VecDeque::new(),
            ready: VecDeque::new(),
            settling: VecDeque::new(),
            late_starts: LateStarts::default(),
            transmits: VecDeque::new(),
            measurements: Measurements::default(),
            events: Default::default(),
            statistics: ServerStatistics::default(),
        }
    }

    /// Receives a datagram of any length and content from `client`. The receive buffer must hold more than 31 bytes
    /// ([`RECEIVE_BUFFER_LEN`](super::wire::RECEIVE_BUFFER_LEN)), so that a datagram that is too long is detected.
    pub fn handle_datagram(&mut self, now: Duration, client: SocketAddr, bytes: &[u8]) {
        self.statistics.datagrams += 1;
        let parsed = Datagram::parse(bytes);
        let command = parsed.ok().and_then(|datagram| Command::from_letters(datagram.letters()));
        let rate = Rate { per_second: self.config.rate_per_second, burst: self.config.burst };
        if !self.session(now, client).admits(now, rate, command == Some(Command::Stop)) {
            self.statistics.dropped_over_rate += 1;
            return;
        }
        let entry = match (parsed, command) {
            (Ok(_), Some(Command::Stop)) => return self.handle_stop(now, client),
            (Ok(datagram), Some(command)) => Entry::Request(command, datagram),
            (Ok(datagram), None) if Notice::is_notice(&datagram) => {
                self.statistics.ignored += 1;
                return;
            }
            (Ok(datagram), None) => Entry::Answer(Notice::NotUnderstood(datagram.letters())),
            (Err(DecodeError::Undersized { letters, .. }), _) => Entry::Answer(Notice::Undersized(letters)),
            (Err(DecodeError::Oversized { letters, .. }), _) => Entry::Answer(Notice::NotUnderstood(letters)),
            (Err(_), _) => {
                self.statistics.ignored += 1;
                return;
            }
        };
        let Some(session) = self.sessions.get_mut(&client) else { return };
        if !session.must_wait() {
            return self.process(now, client, entry);
        }
        if session.waiting.len() < entry.queue_share(self.config.max_waiting_per_client) {
            session.waiting.push_back(entry);
        } else {
            self.statistics.dropped_queue_full += 1;
        }
    }

    /// Outcome of a service call. Unknown ids (already timed out, or never given) are only counted.
    pub fn handle_outcome(&mut self, now: Duration, id: CallId, outcome: Outcome) {
        match self.calls.remove(&id) {
            Some(call) if call.command == Command::Recalibrate && outcome == Outcome::Done => {
                self.settling.push_back((id, call, Settling::new(now)));
            }
            Some(call) => self.finish(now, id, &call, outcome),
            None => {
                self.statistics.late_results += 1;
                if self.late_starts.take_overtaken(id) && may_have_happened(outcome) {
                    self.call_stop_without_client(now);
                }
            }
        }
    }

    /// Measured joint positions in radians, base of the chain first. The first seven are used. Refused, and counted, if
    /// the list is empty or a value is not finite.
    pub fn handle_joint_state(&mut self, now: Duration, position: &[f64]) {
        if !self.measurements.set_joint_position(now, position) {
            self.statistics.refused_measurements += 1;
            return;
        }
        self.settling.iter_mut().for_each(|(.., settling)| settling.handle_joints());
        self.settle(now);
    }

    /// Measured pose of the tool frame in the arm's base frame: metres, quaternion of any length but zero. Refused,
    /// and counted, if a value is not finite.
    pub fn handle_pose(&mut self, now: Duration, position: [f64; 3], quaternion_xyzw: [f64; 4]) {
        if !self.measurements.set_pose(now, position, quaternion_xyzw) {
            self.statistics.refused_measurements += 1;
            return;
        }
        self.settling.iter_mut().for_each(|(.., settling)| settling.handle_pose());
        self.settle(now);
    }

    /// Drive temperatures in degrees Celsius, base of the chain first. The first seven are used; values that are not
    /// finite count as absent.
    pub fn handle_drive_status(&mut self, now: Duration, temperature: &[f64]) {
        self.measurements.set_temperature(now, temperature);
    }

    /// A condition was met in one cycle of the arm. It is sent to every client that was recently active, once in
    /// [`ServerConfig::event_period`] events; after a pause of [`ServerConfig::event_pause`] it counts as new.
    pub fn handle_event(&mut self, now: Duration, event: MotionEvent) {
        let (counter, notice) = match (event, &mut self.events) {
            (MotionEvent::WorkspaceLimit, [counter, _, _]) => (counter, Notice::WorkspaceLimit),
            (MotionEvent::JointLimit, [_, counter, _]) => (counter, Notice::JointLimit),
            (MotionEvent::InverseKinematicsDivergence, [_, _, counter]) => {
                (counter, Notice::InverseKinematicsDivergence)
            }
        };
        let repeats = counter.last.is_some_and(|last| now.saturating_sub(last) < self.config.event_pause);
        counter.last = Some(now);
        counter.count = if repeats { (counter.count + 1) % self.config.event_period.max(1) } else { 0 };
        if counter.count != 0 {
            self.statistics.events_suppressed += 1;
            return;
        }
        let listeners: Vec<SocketAddr> = self
            .sessions
            .iter()
            .filter(|(_, session)| now.saturating_sub(session.last_received) <= self.config.listening_window)
            .map(|(client, _)| *client)
            .collect();
        self.statistics.events_sent += 1;
        for client in listeners {
            self.send(client, notice.encode());
        }
    }

    /// The next datagram to send, and its destination. Drop it if it cannot be sent at once: UDP is unreliable anyway.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, [u8; DATAGRAM_LEN])> {
        self.transmits.pop_front()
    }

    /// The next service to call; stops first. Report its result with
    /// [`handle_outcome`](Self::handle_outcome); the time limit is the core's.
    pub fn poll_call(&mut self) -> Option<(CallId, ArmCall)> {
        while let Some(id) = self.ready_stops.pop_front().or_else(|| self.ready.pop_front()) {
            if let Some(call) = self.calls.get_mut(&id).and_then(|open| open.call.take()) {
                return Some((id, call));
            }
        }
        None
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let call = self.calls.first_key_value().map(|(_, call)| call.deadline);
        call.into_iter().chain(self.settling.front().map(|(.., settling)| settling.deadline())).min()
    }

    /// Ends calls that timed out. May be called early.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(entry) = self.calls.first_entry().filter(|entry| entry.get().deadline <= now) {
            let (id, call) = entry.remove_entry();
            self.statistics.call_timeouts += 1;
            if call.call.is_some() {
                self.forget_ready(id);
            } else if call.command.role() == Role::Start {
                self.late_starts.remember(id, call.overtaken);
            }
            self.finish(now, id, &call, Outcome::Refused(Refusal::TimedOut));
        }
        self.settle(now);
    }

    /// Answers what the measurements show by now.
    fn settle(&mut self, now: Duration) {
        while self.settling.front().is_some_and(|(.., settling)| settling.is_settled(now))
            && let Some((id, call, _)) = self.settling.pop_front()
        {
            self.finish(now, id, &call, Outcome::Done);
        }
    }

    /// Whether every measurement has arrived, so that all queries are answered.
    pub fn is_measured(&self) -> bool {
        self.measurements.are_complete()
    }

    /// Counters since the start, for diagnostics.
    pub fn statistics(&self) -> ServerStatistics {
        ServerStatistics { clients: self.sessions.len(), open_calls: self.calls.len(), ..self.statistics }
    }

    /// The clients that are remembered.
    pub fn clients(&self) -> impl Iterator<Item = SocketAddr> {
        self.sessions.keys().copied()
    }

    /// The client's session, created with its first datagram. A full table removes the client that has been silent
    /// longest, clients without an open call first.
    fn session(&mut self, now: Duration, client: SocketAddr) -> &mut Session {
        if !self.sessions.contains_key(&client) && self.sessions.len() >= self.config.max_clients.max(1) {
            let oldest =
                self.sessions.iter().min_by_key(|(_, session)| (session.is_busy(), session.last_received));
            if let Some(oldest) = oldest.map(|(client, _)| *client) {
                self.sessions.remove(&oldest);
                self.statistics.evicted_clients += 1;
            }
        }
        let number = &mut self.next_session;
        let session = self.sessions.entry(client).or_insert_with(|| {
            *number += 1;
            Session::new(*number, now, self.config.burst)
        });
        session.last_received = now;
        session
    }

    /// Processes the queue of `client` until one of its calls is open again.
    fn resume(&mut self, now: Duration, client: SocketAddr) {
        while let Some(session) = self.sessions.get_mut(&client)
            && !session.is_busy()
            && let Some(entry) = session.waiting.pop_front()
        {
            self.process(now, client, entry);
        }
    }

    fn process(&mut self, now: Duration, client: SocketAddr, entry: Entry) {
        match entry {
            Entry::Answer(notice) => self.send(client, notice.encode()),
            Entry::Request(command, datagram) => match admission::admit(command, datagram) {
                Admission::Query => {
                    let answer = self.measurements.answer(now, command, self.config.measurement_timeout);
                    self.send(client, answer.unwrap_or_else(|| Notice::rejected(command).encode()));
                }
                Admission::Call(call, reply) => {
                    let opened = self.open_call(now, Some(client), command, call, reply.bytes());
                    match (opened, self.sessions.get_mut(&client)) {
                        (Some(id), Some(session)) => session.open = Some(id),
                        _ => self.send(client, failure(command).encode()),
                    }
                }
                Admission::Rejected => self.send(client, Notice::rejected(command).encode()),
            },
        }
    }

    /// Queues a call for [`poll_call`](Self::poll_call). `None` when too many are open; stops have a reserve of their
    /// own.
    fn open_call(
        &mut self,
        now: Duration,
        client: Option<SocketAddr>,
        command: Command,
        call: ArmCall,
        reply: &[u8; DATAGRAM_LEN],
    ) -> Option<CallId> {
        let is_stop = command.role() == Role::Stop;
        let limit = self.config.max_open_calls;
        if self.calls.len() >= if is_stop { limit.saturating_mul(2) } else { limit } {
            self.statistics.refused_busy += 1;
            return None;
        }
        let id = CallId(self.next_call);
        self.next_call += 1;
        let client = client.and_then(|address| Some((address, self.sessions.get(&address)?.number)));
        let deadline = now.checked_add(self.config.service_timeout).unwrap_or(now);
        let call = Some(call);
        self.calls.insert(id, OpenCall { client, command, call, reply: *reply, deadline, overtaken: false });
        if is_stop {
            self.ready_stops.push_back(id)
        } else {
            self.ready.push_back(id)
        }
        self.statistics.calls += 1;
        Some(id)
    }

    /// Handles the end of a call that was already removed from the table.
    fn finish(&mut self, now: Duration, id: CallId, call: &OpenCall, outcome: Outcome) {
        let client = call.client.filter(|(address, number)| {
            self.sessions.get(address).is_some_and(|session| session.number == *number)
        });
        if let Some((client, _)) = client {
            if call.command.role() == Role::Stop {
                return self.finish_stop(now, client, !matches!(outcome, Outcome::Refused(_)));
            }
            if let Some(session) = self.sessions.get_mut(&client) {
                session.open = None;
            }
            self.send(client, answer(call, outcome));
        }
        if call.overtaken {
            self.settle_overtaken_start(now, id, may_have_happened(outcome));
        }
        if let Some((client, _)) = client {
            self.resume(now, client);
        }
    }

    fn forget_ready(&mut self, id: CallId) {
        self.ready.retain(|ready| *ready != id);
        self.ready_stops.retain(|ready| *ready != id);
    }

    fn send(&mut self, client: SocketAddr, bytes: [u8; DATAGRAM_LEN]) {
        if self.transmits.len() >= self.config.max_transmits {
            self.statistics.dropped_transmits += 1;
            return;
        }
        if let [b'E', b'R', ..] = bytes {
            self.statistics.errors_sent += 1;
        }
        self.statistics.answers += 1;
        self.transmits.push_back((client, bytes));
    }
}

/// The client's answer to a call that was refused or timed out.
fn failure(command: Command) -> Notice {
    match command {
        Command::Enable => Notice::DidNotStart,
        Command::Disable => Notice::DidNotStop,
        other => Notice::rejected(other),
    }
}

fn answer(call: &OpenCall, outcome: Outcome) -> [u8; DATAGRAM_LEN] {
    match outcome {
        Outcome::Mode(mode) if call.command == Command::SetCommandMode => {
            Reply::Accepted(Request::SetCommandMode { mode: f32::from(u8::from(mode)) }).encode()
        }
        Outcome::Done | Outcome::Mode(_) => call.reply,
        Outcome::Refused(_) => failure(call.command).encode(),
    }
}

/// Whether the arm may have carried out the call: yes, or unknown.
fn may_have_happened(outcome: Outcome) -> bool {
    match outcome {
        Outcome::Done | Outcome::Mode(_) => true,
        Outcome::Refused(refusal) => refusal == Refusal::TimedOut,
    }
}
