//! How long measurements will still take, for the user who waits.

use std::fmt;
use std::time::{Duration, Instant};

/// Minimum time of a motion from a pose to another, s.
const MIN_MOTION_TIME: f64 = 0.5;

/// Duration of a motion in joint space without a stop, of which no joint turns faster than `speed`.
pub(crate) fn motion_time(from: &[f64], to: &[f64], speed: f64) -> Duration {
    let farthest = from.iter().zip(to).map(|(from, to)| (to - from).abs()).fold(0.0, f64::max);
    // A quintic needs 15/8 of the mean speed in its middle.
    Duration::from_secs_f64((1.875 * farthest / speed).max(MIN_MOTION_TIME))
}

/// The remaining time of a series of motions with a measurement after each.
pub(crate) struct Progress {
    began: Instant,
    motions: Vec<Duration>,
}

impl Progress {
    /// Starts now, with these times of motion.
    pub(crate) fn begin(motions: Vec<Duration>) -> Self {
        Self { began: dragoman_time::now(), motions }
    }

    /// The remaining time after `done` motions. Their additional time is expected of the remaining ones as well.
    pub(crate) fn left(&self, done: usize) -> Duration {
        let (past, coming) = self.motions.split_at(done.min(self.motions.len()));
        let measuring = dragoman_time::since(self.began).saturating_sub(past.iter().sum());
        let each = measuring.checked_div(u32::try_from(past.len()).unwrap_or(u32::MAX));
        let rest = u32::try_from(coming.len()).unwrap_or(u32::MAX);
        coming.iter().sum::<Duration>() + each.unwrap_or_default().saturating_mul(rest)
    }
}

/// A duration as text: `40 s`, `2 min 5 s`.
pub(crate) struct DurationText(pub(crate) Duration);

impl fmt::Display for DurationText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64().round() as u64;
        match (seconds / 60, seconds % 60) {
            (0, seconds) => write!(out, "{seconds} s"),
            (minutes, 0) => write!(out, "{minutes} min"),
            (minutes, seconds) => write!(out, "{minutes} min {seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_counts_motions_and_measurements() {
        dragoman_time::Simulation::new(1).block_on(async {
            let motions = [2.0, 4.0, 6.0].map(Duration::from_secs_f64).to_vec();
            let progress = Progress::begin(motions);
            assert_eq!(progress.left(0), Duration::from_secs(12));
            dragoman_time::sleep(Duration::from_secs(3)).await;
            // Each reading takes a second.
            assert_eq!(progress.left(1), Duration::from_secs(12));
            assert_eq!(progress.left(3), Duration::ZERO);
        });
    }

    #[test]
    fn a_motion_is_as_slow_as_its_fastest_joint_needs() {
        assert_eq!(motion_time(&[0.0, 1.0], &[0.4, 1.1], 0.5), Duration::from_secs_f64(1.5));
        assert_eq!(motion_time(&[0.0], &[0.0], 0.5), Duration::from_secs_f64(0.5));
    }

    #[test]
    fn durations_are_printed_in_words() {
        let text = |seconds| DurationText(Duration::from_secs_f64(seconds)).to_string();
        assert_eq!([0.2, 40.4, 60.0, 125.0].map(text), ["0 s", "40 s", "1 min", "2 min 5 s"]);
    }
}
