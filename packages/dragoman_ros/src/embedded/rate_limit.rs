//! Limits log messages that remote peers can cause.

use std::time::{Duration, Instant};

/// Passes one message a second, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct RateLimit {
    last: Option<Instant>,
    held_back: u64,
}

const PERIOD: Duration = Duration::from_secs(1);

impl RateLimit {
    /// Whether a message passes at `now`, and if so, how many were suppressed since the last one.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) < PERIOD) {
            self.held_back += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_a_second_passes_with_the_number_of_suppressed_ones() {
        let start = Instant::now();
        let mut limit = RateLimit::default();
        let passed: Vec<_> =
            (0..=25).filter_map(|tenth| limit.admit(start + Duration::from_millis(100) * tenth)).collect();
        assert_eq!(passed, [0, 9, 9]);
    }
}
