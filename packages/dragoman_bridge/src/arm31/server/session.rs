//! State of one client.

use std::collections::VecDeque;
use std::time::Duration;

use super::super::wire::{Command, Datagram, Notice, Role};
use super::stops::PendingStop;
use crate::CallId;

/// Limits of a client's datagrams.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate {
    /// Sustained rate, 1/s.
    pub(super) per_second: f64,
    pub(super) burst: f64,
}

/// Stops that a client may send when it has exceeded its ordinary rate.
const STOP_RESERVE: Rate = Rate { per_second: 10.0, burst: 10.0 };

/// An entry of a client's queue. Errors are queued too, so that answers keep their order.
#[derive(Debug)]
pub(super) enum Entry {
    Request(Command, Datagram),
    Answer(Notice),
}

impl Entry {
    pub(super) fn is_start(&self) -> bool {
        matches!(self, Self::Request(command, _) if command.role() == Role::Start)
    }

    /// Maximum queue length at which this entry may be added.
    pub(super) fn queue_share(&self, limit: usize) -> usize {
        match self {
            Self::Request(command, _) if command.role() == Role::Query => limit / 2,
            _ => limit,
        }
    }
}

/// One client.
#[derive(Debug)]
pub(super) struct Session {
    /// Distinguishes this session from an earlier one of the same address.
    pub(super) number: u64,
    pub(super) last_received: Duration,
    pub(super) open: Option<CallId>,
    pub(super) stop: Option<PendingStop>,
    pub(super) waiting: VecDeque<Entry>,
    bucket: TokenBucket,
    stop_bucket: TokenBucket,
}

impl Session {
    pub(super) fn new(number: u64, now: Duration, burst: f64) -> Self {
        Self {
            number,
            last_received: now,
            open: None,
            stop: None,
            waiting: VecDeque::new(),
            bucket: TokenBucket { tokens: burst, filled: now },
            stop_bucket: TokenBucket { tokens: STOP_RESERVE.burst, filled: now },
        }
    }

    /// Whether a datagram is within the client's rate. Stops have a reserve: they must get through even if the client
    /// floods the server.
    pub(super) fn admits(&mut self, now: Duration, rate: Rate, is_stop: bool) -> bool {
        self.bucket.take(now, rate) || (is_stop && self.stop_bucket.take(now, STOP_RESERVE))
    }

    /// Whether a call or a stop of this client is not settled.
    pub(super) fn is_busy(&self) -> bool {
        self.open.is_some() || self.stop.is_some()
    }

    /// Whether a new request has to queue.
    pub(super) fn must_wait(&self) -> bool {
        self.is_busy() || !self.waiting.is_empty()
    }
}

/// Enforces a [`Rate`].
#[derive(Debug)]
struct TokenBucket {
    tokens: f64,
    filled: Duration,
}

impl TokenBucket {
    fn take(&mut self, now: Duration, rate: Rate) -> bool {
        let elapsed = now.saturating_sub(self.filled).as_secs_f64();
        self.filled = self.filled.max(now);
        self.tokens = (self.tokens + elapsed * rate.per_second).min(rate.burst);
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }
}
