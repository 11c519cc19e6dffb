//! The timer of one periodic query.

use std::time::Duration;

use super::super::wire::Command;

/// A query with a fixed period and at most one outstanding request.
#[derive(Debug)]
pub(super) struct Poll {
    query: Command,
    period: Option<Duration>,
    next: Duration,
    /// When the outstanding query was sent; `None`: none is outstanding.
    sent: Option<Duration>,
}

impl Poll {
    pub(super) fn new(query: Command, period: Option<Duration>, now: Duration) -> Self {
        // With a period of zero the query would be due again immediately, in an endless loop.
        Self { query, period: period.filter(|period| !period.is_zero()), next: now, sent: None }
    }

    pub(super) fn query(&self) -> Command {
        self.query
    }

    pub(super) fn is_active(&self) -> bool {
        self.period.is_some()
    }

    /// When [`Self::run`] has to be called.
    pub(super) fn due(&self, timeout: Duration) -> Option<Duration> {
        self.period?;
        match self.sent {
            Some(sent) => sent.checked_add(timeout).map(|lost| lost.max(self.next)),
            None => Some(self.next),
        }
    }

    /// The query to send now, if due. Keeps the phase unless a whole period was missed.
    pub(super) fn run(&mut self, now: Duration, timeout: Duration) -> Option<Command> {
        let period = self.period?;
        if self.due(timeout)? > now {
            return None;
        }
        self.sent = Some(now);
        self.next = self.next.checked_add(period).filter(|next| *next > now).or(now.checked_add(period))?;
        Some(self.query)
    }

    /// The answer was received. `false`: no query was outstanding.
    pub(super) fn answered(&mut self) -> bool {
        self.sent.take().is_some()
    }
}
