//! Samples for readers that are not matched yet: answers of services.
//!
//! A client that has just started may have matched us before we have matched its reply reader; what is written in that
//! time is lost. So the answer waits a moment for the match. The caller does not: a client that never matches, or many
//! of them, delay nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_timer::Delay;

use super::{Peer, SampleId, Writer};
use crate::embedded::background::Spawner;
use crate::embedded::clock::lock;
use crate::embedded::rate_limit::RateLimit;

/// How long a match may take; rmw_cyclonedds waits as long.
const MATCH_TIME: Duration = Duration::from_millis(100);

/// So many samples wait at most, of one participant and in all. Further ones are dropped.
const MOST_OF_ONE: usize = 32;
const MOST: usize = 512;

/// A sample that waits for its reader.
pub(super) struct Postponed {
    pub(super) writer: Arc<Writer>,
    pub(super) reader: Peer,
    pub(super) payload: Vec<u8>,
    pub(super) related: Option<SampleId>,
}

/// All samples of a participant that wait for their readers.
#[derive(Default)]
pub(super) struct PostponedWrites {
    queue: Mutex<Queue>,
    dropped: Mutex<RateLimit>,
}

#[derive(Default)]
struct Queue {
    /// With the end of its waiting time, soonest first.
    waiting: VecDeque<(Instant, Postponed)>,
    /// Whether a task looks after the waiting times.
    is_watched: bool,
}

impl PostponedWrites {
    /// Writes `sample` when its reader is matched, or when it has waited long enough.
    pub(super) fn add(self: &Arc<Self>, sample: Postponed, spawner: &Spawner) {
        let mut queue = lock(&self.queue);
        let participant = sample.reader.participant();
        let of_one = queue.waiting.iter().filter(|(_, other)| other.reader.participant() == participant);
        if queue.waiting.len() >= MOST || of_one.count() >= MOST_OF_ONE {
            if let Some(more) = lock(&self.dropped).admit(Instant::now()) {
                tracing::warn!(more, "an answer is dropped: its client is not found by discovery");
            }
            return;
        }
        queue.waiting.push_back((Instant::now() + MATCH_TIME, sample));
        if !std::mem::replace(&mut queue.is_watched, true) {
            let writes = Arc::clone(self);
            spawner.spawn(async move { writes.watch().await });
        }
    }

    /// Writes samples whose readers have been matched.
    pub(super) fn write_matched(&self) {
        self.write_where(|_, sample| sample.writer.is_matched(sample.reader));
    }

    /// Writes samples whose time is over: the message of a match may have been lost.
    async fn watch(&self) {
        loop {
            let next = {
                let mut queue = lock(&self.queue);
                let Some((end, _)) = queue.waiting.front() else {
                    queue.is_watched = false;
                    return;
                };
                *end
            };
            Delay::new(next.saturating_duration_since(Instant::now())).await;
            let now = Instant::now();
            self.write_where(|end, _| end <= now);
        }
    }

    fn write_where(&self, is_due: impl Fn(Instant, &Postponed) -> bool) {
        let mut due = Vec::new();
        lock(&self.queue).waiting.retain_mut(|(end, sample)| {
            let is_due = is_due(*end, sample);
            if is_due {
                due.push((Arc::clone(&sample.writer), std::mem::take(&mut sample.payload), sample.related));
            }
            !is_due
        });
        for (writer, payload, related) in due {
            if let Err(error) = writer.write(payload, related) {
                tracing::debug!(%error, "an answer could not be sent");
            }
        }
    }
}
