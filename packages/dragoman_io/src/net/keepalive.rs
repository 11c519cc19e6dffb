//! When a silent peer counts as lost.

use std::time::Duration;

/// Settings for detecting that a client's machine has vanished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keepalive {
    /// Silence before the first probe, s.
    pub idle_s: u32,
    /// Time between two probes, s.
    pub interval_s: u32,
    /// Number of unanswered probes.
    pub probes: u32,
}

impl Keepalive {
    /// Silence after which a peer counts as lost.
    pub fn total(&self) -> Duration {
        Duration::from_secs(self.total_s().into())
    }

    pub(super) fn total_s(&self) -> u32 {
        self.idle_s.saturating_add(self.interval_s.saturating_mul(self.probes))
    }
}
