//! Samples for readers that are not matched yet: responses of services.
//!
//! A client that has just started may have matched us before we have matched its reply reader; a response written in
//! that time is lost. So the response waits a moment for the match. The caller does not wait: clients that never match
//! delay no others.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dragoman_time::precise_sleep;
use parking_lot::Mutex;

use super::{Peer, SampleId, Writer};
use crate::embedded::background::Spawner;
use crate::embedded::rate_limit::RateLimit;

/// Timeout of a match; the same as in rmw_cyclonedds.
const MATCH_TIME: Duration = Duration::from_millis(100);

/// Maximum number of waiting samples, for one participant and in total. Further ones are dropped.
const MAX_OF_ONE: usize = 32;
const MOST: usize = 512;

/// A sample waiting for its reader.
pub(super) struct Postponed {
    pub(super) writer: Arc<Writer>,
    pub(super) reader: Peer,
    pub(super) payload: Vec<u8>,
    pub(super) related: Option<SampleId>,
}

/// All waiting samples of a participant.
#[derive(Default)]
pub(super) struct PostponedWrites {
    queue: Mutex<Queue>,
    dropped: Mutex<RateLimit>,
}

#[derive(Default)]
struct Queue {
    /// With the end of its waiting time, earliest first.
    waiting: VecDeque<(Instant, Postponed)>,
    /// Whether a task checks the waiting times.
    is_watched: bool,
}

impl PostponedWrites {
    /// Writes `sample` when its reader is matched, or after the timeout.
    pub(super) fn add(self: &Arc<Self>, sample: Postponed, spawner: &Spawner) {
        let mut queue = self.queue.lock();
        let participant = sample.reader.participant();
        let of_one = queue.waiting.iter().filter(|(_, other)| other.reader.participant() == participant);
        if queue.waiting.len() >= MOST || of_one.count() >= MAX_OF_ONE {
            if let Some(more) = self.dropped.lock().admit(dragoman_time::now()) {
                tracing::warn!(more, "response dropped: client not discovered");
            }
            return;
        }
        queue.waiting.push_back((dragoman_time::now() + MATCH_TIME, sample));
        if !std::mem::replace(&mut queue.is_watched, true) {
            let writes = Arc::clone(self);
            spawner.spawn(async move { writes.watch().await });
        }
    }

    /// Writes samples whose readers were matched.
    pub(super) fn write_matched(&self) {
        self.write_where(|_, sample| sample.writer.is_matched(sample.reader));
    }

    /// Writes samples whose timeout has passed: the event of a match may have been lost.
    async fn watch(&self) {
        loop {
            let next = {
                let mut queue = self.queue.lock();
                let Some((end, _)) = queue.waiting.front() else {
                    queue.is_watched = false;
                    return;
                };
                *end
            };
            precise_sleep(next.saturating_duration_since(dragoman_time::now())).await;
            let now = dragoman_time::now();
            self.write_where(|end, _| end <= now);
        }
    }

    fn write_where(&self, is_due: impl Fn(Instant, &Postponed) -> bool) {
        let mut due = Vec::new();
        self.queue.lock().waiting.retain_mut(|(end, sample)| {
            let is_due = is_due(*end, sample);
            if is_due {
                due.push((Arc::clone(&sample.writer), std::mem::take(&mut sample.payload), sample.related));
            }
            !is_due
        });
        for (writer, payload, related) in due {
            if let Err(error) = writer.write(payload, related) {
                tracing::debug!(%error, "sending a response failed");
            }
        }
    }
}
