//! The clock of one periodic query.

use std::time::{Duration, Instant};

use super::super::wire::Command;

/// A query that is asked at a fixed rate, with at most one outstanding.
#[derive(Debug)]
pub(super) struct Poll {
    query: Command,
    period: Option<Duration>,
    next: Instant,
    /// When the outstanding query was sent.
    sent: Option<Instant>,
}

impl Poll {
    pub(super) fn new(query: Command, period: Option<Duration>, now: Instant) -> Self {
        // A period of zero would be due again at once, for ever.
        Self { query, period: period.filter(|period| !period.is_zero()), next: now, sent: None }
    }

    pub(super) fn query(&self) -> Command {
        self.query
    }

    pub(super) fn is_active(&self) -> bool {
        self.period.is_some()
    }

    /// When [`Self::run`] has something to do.
    pub(super) fn due(&self, timeout: Duration) -> Option<Instant> {
        self.period?;
        match self.sent {
            Some(sent) => sent.checked_add(timeout).map(|lost| lost.max(self.next)),
            None => Some(self.next),
        }
    }

    /// The query to send now, if it is time. Keeps the phase unless a whole period was missed.
    pub(super) fn run(&mut self, now: Instant, timeout: Duration) -> Option<Command> {
        let period = self.period?;
        if self.due(timeout)? > now {
            return None;
        }
        self.sent = Some(now);
        self.next = self.next.checked_add(period).filter(|next| *next > now).or(now.checked_add(period))?;
        Some(self.query)
    }

    /// The answer came. `false`: none was outstanding.
    pub(super) fn answered(&mut self) -> bool {
        self.sent.take().is_some()
    }
}
