//! The open call, and stops. The rules are in the documentation of [`super`].

use std::collections::VecDeque;
use std::time::Duration;

use super::super::call::{CommandMode, Outcome, Refusal};
use super::super::wire::{Command, Request, Role};
use super::encoding;
use super::{Client, ClientConfig};
use crate::CallId;

/// The one call that is sent and not answered.
#[derive(Debug)]
pub(super) struct OpenCall {
    id: CallId,
    request: Request,
    /// When the latest copy was sent.
    sent: Duration,
    copies: u32,
    deadline: Duration,
}

impl OpenCall {
    /// When the next action is due.
    pub(super) fn due(&self, config: &ClientConfig) -> Duration {
        self.retry_at(config).map_or(self.deadline, |retry| retry.min(self.deadline))
    }

    fn retry_at(&self, config: &ClientConfig) -> Option<Duration> {
        let doubled = 2u32.saturating_pow(self.copies.saturating_sub(1));
        let pause = config.retry_interval.saturating_mul(doubled).max(MIN_PAUSE);
        self.request.command().is_repeatable().then(|| self.sent.checked_add(pause)).flatten()
    }
}

/// Minimum pause between two copies, whatever the configuration says: with 0 the loop would never end.
const MIN_PAUSE: Duration = Duration::from_millis(1);

/// Copies of an answered request that may still be in transit.
#[derive(Debug)]
pub(super) struct Drain {
    command: Command,
    missing: u32,
    pub(super) until: Duration,
}

/// An unanswered stop.
#[derive(Debug)]
pub(super) struct PendingStop {
    ids: Vec<CallId>,
    sent: Duration,
    /// Copies sent and not answered.
    outstanding: u32,
    /// Remaining answers until the latest relevant `ST` is answered.
    needed: u32,
    /// A motion start was outstanding when the stop came, and has no result yet.
    awaits_start: bool,
    deadline: Duration,
}

impl PendingStop {
    /// When the next action is due.
    pub(super) fn due(&self, config: &ClientConfig) -> Duration {
        self.retry_at(config).map_or(self.deadline, |retry| retry.min(self.deadline))
    }

    fn retry_at(&self, config: &ClientConfig) -> Option<Duration> {
        // Once answered, nothing is repeated until the result of the start arrives.
        (self.needed > 0).then(|| self.sent.checked_add(config.retry_interval.max(MIN_PAUSE))).flatten()
    }
}

impl Client {
    /// Sends the next waiting call unless an answer or a result is awaited.
    pub(super) fn advance(&mut self, now: Duration) {
        if self.open.is_some() || self.stop.is_some() || self.drain.is_some() {
            return;
        }
        let Some((id, request)) = self.waiting.pop_front() else { return };
        let timeout = match request.command() {
            Command::Recalibrate if self.config.recalibrate_unanswered => self.config.retry_interval,
            _ => self.config.call_timeout,
        };
        self.send(&request);
        let deadline = now.checked_add(timeout).unwrap_or(now);
        self.open = Some(OpenCall { id, request, sent: now, copies: 1, deadline });
    }

    /// Repeats or ends the open call when due.
    pub(super) fn run_open(&mut self, now: Duration) {
        let Some(open) = &mut self.open else { return };
        if open.deadline <= now {
            let silent = open.request.command() == Command::Recalibrate && self.config.recalibrate_unanswered;
            if silent {
                return self.finish_open(now, Outcome::Done, 0);
            }
            self.statistics.call_timeouts += 1;
            self.unanswered = true;
            return self.finish_open(now, Outcome::Refused(Refusal::TimedOut), 0);
        }
        if open.retry_at(&self.config).is_some_and(|retry| retry <= now) {
            open.sent = now;
            open.copies += 1;
            self.statistics.retransmissions += 1;
            let request = open.request;
            self.send(&request);
        }
    }

    /// An echo came.
    pub(super) fn accepted(&mut self, now: Duration, echo: &Request) {
        match &self.open {
            Some(open) if encoding::is_answer(&open.request, echo) => {
                let outcome = match *echo {
                    Request::SetCommandMode { mode } => mode_in_force(mode),
                    _ => Outcome::Done,
                };
                self.finish_open(now, outcome, 1);
            }
            _ => self.unsolicited(now, echo.command()),
        }
    }

    /// An error text named `command`.
    pub(super) fn call_refused(&mut self, now: Duration, command: Command, refusal: Refusal) {
        match &self.open {
            Some(open) if open.request.command() == command => {
                self.finish_open(now, Outcome::Refused(refusal), 1);
            }
            _ => self.unsolicited(now, command),
        }
    }

    /// A second answer: the copy it belongs to is no longer in transit.
    fn unsolicited(&mut self, now: Duration, command: Command) {
        self.statistics.unsolicited += 1;
        if let Some(drain) = self.drain.as_mut().filter(|drain| drain.command == command) {
            drain.missing = drain.missing.saturating_sub(1);
            if drain.missing == 0 {
                self.drain = None;
                self.advance(now);
            }
        }
    }

    fn finish_open(&mut self, now: Duration, outcome: Outcome, answers: u32) {
        let Some(open) = self.open.take() else { return };
        let command = open.request.command();
        self.begin_drain(now, command, open.copies.saturating_sub(answers), open.sent);
        self.report(open.id, outcome);
        if command.role() == Role::Start {
            let may_move = !matches!(outcome, Outcome::Refused(refusal) if refusal != Refusal::TimedOut);
            self.start_settled(now, may_move);
        }
        self.advance(now);
    }

    fn begin_drain(&mut self, now: Duration, command: Command, missing: u32, sent: Duration) {
        let until = sent.checked_add(self.config.settling_time).filter(|until| *until > now);
        self.drain = until.filter(|_| missing > 0).map(|until| Drain { command, missing, until });
    }

    /// The stop service was called.
    pub(super) fn handle_stop(&mut self, now: Duration, id: CallId) {
        let is_start = |(_, request): &(CallId, Request)| request.command().role() == Role::Start;
        let (starts, others): (VecDeque<_>, VecDeque<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(is_start);
        self.waiting = others;
        for (start, _) in starts {
            self.report(start, Outcome::Refused(Refusal::Stopped));
        }
        match &mut self.stop {
            // No start was sent since the pending stop, so the pending stop covers this call too.
            Some(stop) if stop.ids.len() < self.config.max_waiting => stop.ids.push(id),
            Some(_) => self.report(id, Outcome::Refused(Refusal::Busy)),
            None => {
                let awaits_start =
                    self.open.as_ref().is_some_and(|open| open.request.command().role() == Role::Start);
                let deadline = now.checked_add(self.config.call_timeout).unwrap_or(now);
                self.stop = Some(PendingStop {
                    ids: vec![id],
                    sent: now,
                    outstanding: 1,
                    needed: 1,
                    awaits_start,
                    deadline,
                });
                self.send(&Request::Stop);
            }
        }
    }

    /// Repeats or ends the pending stop when due.
    pub(super) fn run_stop(&mut self, now: Duration) {
        let Some(stop) = &mut self.stop else { return };
        // While a start is awaited, its own time limit ends the wait.
        if stop.deadline <= now && !(stop.awaits_start && stop.needed == 0) {
            self.statistics.call_timeouts += 1;
            self.unanswered = true;
            self.finish_stop(now, Outcome::Refused(Refusal::TimedOut));
        } else if stop.retry_at(&self.config).is_some_and(|retry| retry <= now) {
            stop.sent = now;
            stop.outstanding += 1;
            self.statistics.retransmissions += 1;
            self.send(&Request::Stop);
        }
    }

    pub(super) fn stop_answered(&mut self, now: Duration) {
        match &mut self.stop {
            Some(stop) => {
                stop.outstanding = stop.outstanding.saturating_sub(1);
                stop.needed = stop.needed.saturating_sub(1);
                if stop.needed == 0 && !stop.awaits_start {
                    self.finish_stop(now, Outcome::Done);
                }
            }
            None => self.unsolicited(now, Command::Stop),
        }
    }

    pub(super) fn stop_refused(&mut self, now: Duration, refusal: Refusal) {
        if self.stop.is_some() {
            self.finish_stop(now, Outcome::Refused(refusal));
        } else {
            self.unsolicited(now, Command::Stop);
        }
    }

    /// The start that was outstanding when the stop came has ended.
    fn start_settled(&mut self, now: Duration, may_move: bool) {
        let Some(stop) = self.stop.as_mut().filter(|stop| stop.awaits_start) else { return };
        stop.awaits_start = false;
        if may_move {
            // With one answer more than outstanding copies, at least one copy sent from now on was answered.
            stop.needed = stop.outstanding + 1;
            stop.outstanding += 1;
            stop.sent = now;
            stop.deadline = now.checked_add(self.config.call_timeout).unwrap_or(now);
            self.send(&Request::Stop);
        } else if stop.needed == 0 {
            self.finish_stop(now, Outcome::Done);
        }
    }

    fn finish_stop(&mut self, now: Duration, outcome: Outcome) {
        let Some(stop) = self.stop.take() else { return };
        if self.open.is_none() {
            self.begin_drain(now, Command::Stop, stop.outstanding, stop.sent);
        }
        for id in stop.ids {
            self.report(id, outcome);
        }
        self.advance(now);
    }
}

/// The mode reported by the controller.
fn mode_in_force(mode: f32) -> Outcome {
    [CommandMode::Off, CommandMode::Joint, CommandMode::Cartesian]
        .into_iter()
        .find(|candidate| f32::from(u8::from(*candidate)) == mode)
        .map_or(Outcome::Refused(Refusal::Rejected), Outcome::Mode)
}
