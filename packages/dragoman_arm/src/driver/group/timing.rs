//! When the next cycle and the next heartbeat are due.

use std::time::Duration;

#[derive(Debug)]
pub(super) struct Timing {
    pub(super) next_cycle: Duration,
    pub(super) next_heartbeat: Duration,
    /// Number of cycles.
    pub(super) cycles: u64,
    /// Time of the last SYNC.
    synced: Duration,
    /// Time from the SYNC before the last one to the last one.
    pub(super) between_syncs: Duration,
}

impl Timing {
    pub(super) fn new(now: Duration, cycle: Duration) -> Self {
        Self { next_cycle: now, next_heartbeat: now, cycles: 0, synced: now, between_syncs: cycle }
    }

    /// Nothing is due before the next cycle.
    pub(super) fn pause(&mut self, now: Duration, cycle: Duration) {
        self.next_cycle = now + cycle;
        self.next_heartbeat = self.next_cycle;
    }

    /// Notes a SYNC.
    pub(super) fn begin_cycle(&mut self, now: Duration, cycle: Duration) {
        self.cycles += 1;
        self.between_syncs = now.saturating_sub(self.synced).max(cycle / 2);
        self.synced = now;
    }
}
