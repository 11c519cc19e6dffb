//! Client side: drives a controller of the 31-byte protocol, and provides it as an arm in ROS.
//!
//! # Map
//!
//! - this file: [`Client`], its inputs and outputs, and the handling of replies;
//! - `calls`: the open call, retransmission, and stops;
//! - `encoding`: a service call -> the request, and which replies answer it;
//! - `poll`: the timer of one periodic query;
//! - `config`: limits, times, counters and events;
//! - [`state`]: the arm's state, derived from calls and measurements.
//!
//! # Rules
//!
//! Calls are sent **in the order given, one at a time**, so the controller receives them in that order on any network.
//! Queries run independently, at most one outstanding of each kind. `stop` overtakes: waiting motion starts are
//! refused, the `ST` is sent at once, and later calls wait for its answer. If a motion start is outstanding at that
//! moment, the network may swap the two; so unless the start failed, `ST` is sent once more before `stop` is reported
//! done.
//!
//! **Only requests whose second copy does no harm are retransmitted** ([`Command::is_repeatable`]): `ST OF jR`, which
//! end something, and the settings `GL GT jG jV VP jC VC`. After a request that was sent more than once, the next one
//! waits until every copy is answered or [`ClientConfig::settling_time`] has passed, so that a late copy of an old goal
//! cannot replace a new one. A call without an answer ends as [`Refusal::TimedOut`]; it may have been carried out.
//!
//! Replies are matched by their letters and by the values that they echo. Peculiarities of the original controller are
//! supported: `PV` with zeros answers `VC`; bytes after the end of a text; via points echoed with different, equivalent
//! angles; with [`ClientConfig::recalibrate_unanswered`] the missing answer to `RC`.

mod calls;
mod config;
mod encoding;
mod poll;
pub mod state;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

pub use config::{ClientConfig, ClientEvent, ClientStatistics};

use self::calls::{Drain, OpenCall, PendingStop};
use self::poll::Poll;
use super::call::{ArmCall, MotionEvent, Outcome, Refusal};
use super::rotation;
use super::wire::{Command, DATAGRAM_LEN, Datagram, Letters, Notice, Reply, Request, Role};
use crate::CallId;

/// Maximum number of waiting measurements; results and connection changes are never dropped.
const MAX_WAITING_MEASUREMENTS: usize = 64;

/// The client core. It owns no socket and no clock; see the module's documentation for its rules.
///
/// After every input, drain [`poll_transmit`](Self::poll_transmit) and [`poll_event`](Self::poll_event), then sleep
/// until the next input or [`poll_timeout`](Self::poll_timeout).
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    waiting: VecDeque<(CallId, Request)>,
    open: Option<OpenCall>,
    drain: Option<Drain>,
    stop: Option<PendingStop>,
    polls: [Poll; 3],
    connected: bool,
    last_received: Duration,
    /// A call has timed out since the last message from the controller.
    unanswered: bool,
    transmits: VecDeque<(SocketAddr, [u8; DATAGRAM_LEN])>,
    events: VecDeque<ClientEvent>,
    statistics: ClientStatistics,
}

impl Client {
    /// A client that starts its periodic queries at `now`.
    pub fn new(now: Duration, config: ClientConfig) -> Self {
        let mut client = Self {
            polls: [
                Poll::new(Command::JointPositions, config.joint_state_period, now),
                Poll::new(Command::Pose, config.pose_period, now),
                Poll::new(Command::Temperatures, config.temperature_period, now),
            ],
            config,
            waiting: VecDeque::new(),
            open: None,
            drain: None,
            stop: None,
            connected: false,
            last_received: now,
            unanswered: false,
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            statistics: ClientStatistics::default(),
        };
        client.run_polls(now);
        client
    }

    /// A service of the arm was called. Exactly one [`ClientEvent::Result`] with this id will follow.
    pub fn handle_call(&mut self, now: Duration, id: CallId, call: ArmCall) {
        if call.command().role() == Role::Stop {
            return self.handle_stop(now, id);
        }
        match encoding::request(&call) {
            Err(refusal) => self.report(id, Outcome::Refused(refusal)),
            Ok(_) if self.waiting.len() >= self.config.max_waiting => {
                self.report(id, Outcome::Refused(Refusal::Busy));
            }
            Ok(request) => {
                self.waiting.push_back((id, request));
                self.advance(now);
            }
        }
    }

    /// Receives a datagram of any length and content from `source`. Only the controller's datagrams are processed.
    pub fn handle_datagram(&mut self, now: Duration, source: SocketAddr, bytes: &[u8]) {
        if source != self.config.controller {
            self.statistics.foreign += 1;
            return;
        }
        let Ok(reply) = Reply::decode(bytes) else {
            self.statistics.undecodable += 1;
            return;
        };
        self.statistics.replies += 1;
        self.last_received = now;
        self.unanswered = false;
        if !std::mem::replace(&mut self.connected, true) {
            self.events.push_back(ClientEvent::Connected);
        }
        match reply {
            Reply::Accepted(Request::Stop) => self.stop_answered(now),
            Reply::Accepted(echo) => self.accepted(now, &echo),
            Reply::JointPosition(values) => {
                let position = self.joints(&values);
                self.measured(now, Command::JointPositions, &values, ClientEvent::JointState { position });
            }
            Reply::Temperature(values) => {
                let temperature = self.joints(&values);
                self.measured(now, Command::Temperatures, &values, ClientEvent::DriveStatus { temperature });
            }
            Reply::Pose { position, quaternion_xyzw } => {
                match rotation::normalized(quaternion_xyzw.map(f64::from)) {
                    Some(quaternion_xyzw) => {
                        let pose = ClientEvent::Pose { position: position.map(f64::from), quaternion_xyzw };
                        self.measured(now, Command::Pose, &position, pose);
                    }
                    None => self.statistics.undecodable += 1,
                }
            }
            Reply::Notice(notice) => self.handle_notice(now, notice),
        }
    }

    /// The next datagram to send, and its destination (always the controller).
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, [u8; DATAGRAM_LEN])> {
        self.transmits.pop_front()
    }

    /// What happened, oldest first.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due. Ask again after every input.
    pub fn poll_timeout(&self) -> Option<Duration> {
        let calls = [
            self.open.as_ref().map(|open| open.due(&self.config)),
            self.stop.as_ref().map(|stop| stop.due(&self.config)),
            self.drain.as_ref().map(|drain| drain.until),
            self.lost_at(),
        ];
        calls
            .into_iter()
            .chain(self.polls.iter().map(|poll| poll.due(self.config.poll_timeout)))
            .flatten()
            .min()
    }

    /// Sends what is due, ends calls that timed out, and detects that the controller is lost. May be called early.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.run_stop(now);
        self.run_open(now);
        if self.drain.as_ref().is_some_and(|drain| drain.until <= now) {
            self.drain = None;
        }
        if self.lost_at().is_some_and(|lost| lost <= now) {
            self.connected = false;
            self.statistics.losses += 1;
            self.events.push_back(ClientEvent::Lost);
        }
        self.run_polls(now);
        self.advance(now);
    }

    /// Whether the controller answers.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Counters since the start, for diagnostics.
    pub fn statistics(&self) -> ClientStatistics {
        self.statistics
    }

    /// When silence counts as loss of the controller. `None` while a call is open: a controller that answers in order
    /// may delay all other answers until then.
    fn lost_at(&self) -> Option<Duration> {
        let expects_answers = self.unanswered || self.polls.iter().any(Poll::is_active);
        (self.connected && expects_answers && self.open.is_none() && self.stop.is_none())
            .then(|| self.last_received.checked_add(self.config.lost_timeout))
            .flatten()
    }

    fn run_polls(&mut self, now: Duration) {
        for poll in &mut self.polls {
            if let Some(query) = poll.run(now, self.config.poll_timeout) {
                let request = Datagram::new(query.letters(), [0.0; 7], 0);
                self.transmits.push_back((self.config.controller, *request.bytes()));
            }
        }
    }

    fn joints(&self, values: &[f32]) -> Vec<f64> {
        values.iter().take(self.config.joint_count).map(|value| f64::from(*value)).collect()
    }

    /// The answer to a query. Without an open query it is a duplicate, perhaps older than the last measurement.
    fn measured(&mut self, now: Duration, query: Command, values: &[f32], event: ClientEvent) {
        if !values.iter().all(|value| value.is_finite()) {
            self.statistics.undecodable += 1;
        } else if !self.poll_answered(query) {
            self.statistics.unsolicited += 1;
        } else if self.events.len() >= MAX_WAITING_MEASUREMENTS {
            self.statistics.dropped_measurements += 1;
        } else {
            self.events.push_back(event);
        }
        self.run_polls(now);
    }

    fn poll_answered(&mut self, query: Command) -> bool {
        self.polls.iter_mut().find(|poll| poll.query() == query).is_some_and(Poll::answered)
    }

    fn handle_notice(&mut self, now: Duration, notice: Notice) {
        match notice {
            Notice::WorkspaceLimit => self.events.push_back(ClientEvent::Motion(MotionEvent::WorkspaceLimit)),
            Notice::JointLimit => self.events.push_back(ClientEvent::Motion(MotionEvent::JointLimit)),
            Notice::InverseKinematicsDivergence => {
                self.events.push_back(ClientEvent::Motion(MotionEvent::InverseKinematicsDivergence));
            }
            Notice::DidNotStart => self.refused(now, Command::Enable.letters(), Refusal::DidNotStart),
            Notice::DidNotStop => self.refused(now, Command::Disable.letters(), Refusal::DidNotStop),
            Notice::Rejected(letters) => self.refused(now, letters, Refusal::Rejected),
            Notice::NotUnderstood(letters) | Notice::Undersized(letters) => {
                self.refused(now, letters, Refusal::NotUnderstood);
            }
        }
    }

    fn refused(&mut self, now: Duration, letters: Letters, refusal: Refusal) {
        let Some(command) = Command::from_letters(letters) else {
            self.statistics.unsolicited += 1;
            return;
        };
        match command.role() {
            Role::Stop => self.stop_refused(now, refusal),
            Role::Query => {
                if !self.poll_answered(command) {
                    self.statistics.unsolicited += 1;
                }
            }
            Role::Setting | Role::Start => self.call_refused(now, command, refusal),
        }
    }

    fn report(&mut self, id: CallId, outcome: Outcome) {
        self.events.push_back(ClientEvent::Result { id, outcome });
    }

    fn send(&mut self, request: &Request) {
        self.transmits.push_back((self.config.controller, *request.encode().bytes()));
    }
}
