//! Statistics of a list of times.

use std::time::Duration;

/// Distribution of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) median: Duration,
    /// 90th percentile.
    pub(super) p90: Duration,
    /// 99th percentile.
    pub(super) p99: Duration,
    pub(super) longest: Duration,
}

impl Summary {
    /// By nearest rank; `None` for an empty list.
    pub(super) fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let rank = |percent: usize| {
            let rank = (percent * sorted.len()).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).copied()
        };
        Some(Self { median: rank(50)?, p90: rank(90)?, p99: rank(99)?, longest: rank(100)? })
    }
}

/// Milliseconds with two decimals.
pub(super) fn milliseconds(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn ranks_are_of_the_times_in_order() {
        let mut times: Vec<Duration> = (1..=200).map(ms).collect();
        times.reverse();
        let expected = Summary { median: ms(100), p90: ms(180), p99: ms(198), longest: ms(200) };
        assert_eq!(Summary::of(&times), Some(expected));
        let one = Summary { median: ms(7), p90: ms(7), p99: ms(7), longest: ms(7) };
        assert_eq!(Summary::of(&[ms(7)]), Some(one));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.23");
    }
}
