//! Load of a bus.

use std::collections::VecDeque;
use std::time::Duration;

use super::frame::Frame;

/// Counts the frames and bits of the recent past.
///
/// Times are since any fixed moment, and should not decrease; a frame older than the one before counts as being of the
/// same time.
#[derive(Debug, Clone)]
pub struct BusStatistics {
    bit_rate: u32,
    window: Duration,
    /// Time and bits of the frames in the window, oldest first.
    frames: VecDeque<(Duration, u32)>,
    bits: u64,
    began: Option<Duration>,
    now: Duration,
    total: u64,
}

impl BusStatistics {
    /// For a bus of `bit_rate` bit/s, over the last `window`.
    ///
    /// A rate below 1 bit/s or a window below 1 ms is raised to that.
    pub fn new(bit_rate: u32, window: Duration) -> Self {
        Self {
            bit_rate: bit_rate.max(1),
            window: window.max(Duration::from_millis(1)),
            frames: VecDeque::new(),
            bits: 0,
            began: None,
            now: Duration::ZERO,
            total: 0,
        }
    }

    /// Counts a frame that was on the bus at `time`.
    pub fn count(&mut self, time: Duration, frame: &Frame) {
        self.advance(time);
        let bits = frame.bits();
        self.frames.push_back((self.now, bits));
        self.bits += u64::from(bits);
        self.total += 1;
    }

    /// Advances the time to `time` without a frame.
    pub fn advance(&mut self, time: Duration) {
        self.now = self.now.max(time);
        self.began.get_or_insert(self.now);
        while let Some((time, bits)) = self.frames.front() {
            if self.now - *time < self.window {
                break;
            }
            self.bits -= u64::from(*bits);
            self.frames.pop_front();
        }
    }

    /// Fraction of the time in which the bus was not idle, 0 to 1 on a real one; a virtual one has no bit rate and can
    /// exceed 1.
    pub fn load(&self) -> f64 {
        self.bits as f64 / (f64::from(self.bit_rate) * self.span())
    }

    /// Frames per second.
    pub fn frame_rate(&self) -> f64 {
        self.frames.len() as f64 / self.span()
    }

    /// All frames since the start.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Averaging time in seconds: the window, or less at the beginning, but at least a tenth of the window, so that a
    /// single frame does not look like many.
    fn span(&self) -> f64 {
        let since = self.began.map_or(Duration::ZERO, |began| self.now - began);
        since.clamp(self.window / 10, self.window).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn load_and_rate_are_those_of_the_window() {
        let frame: Frame = "181#5555555555555555".parse().unwrap();
        let mut statistics = BusStatistics::new(500_000, milliseconds(1000));
        for at in 0..4000 {
            statistics.count(milliseconds(at), &frame);
        }
        assert_eq!((statistics.frame_rate(), statistics.total()), (1000.0, 4000));
        assert!((statistics.load() - f64::from(frame.bits()) / 500.0).abs() < 1e-9, "{}", statistics.load());
        statistics.advance(milliseconds(4499));
        assert_eq!(statistics.frame_rate(), 500.0);
        statistics.advance(milliseconds(10_000));
        assert_eq!((statistics.load(), statistics.frame_rate(), statistics.total()), (0.0, 0.0, 4000));
    }

    #[test]
    fn the_first_frames_count_over_the_time_they_took() {
        let frame: Frame = "080#".parse().unwrap();
        let mut statistics = BusStatistics::new(500_000, milliseconds(1000));
        for at in 0..=500 {
            statistics.count(milliseconds(100_000 + at), &frame);
        }
        assert_eq!(statistics.frame_rate(), 1002.0);
    }

    #[test]
    fn a_clock_that_goes_back_does_no_harm() {
        let frame: Frame = "080#".parse().unwrap();
        let mut statistics = BusStatistics::new(0, Duration::ZERO);
        statistics.count(milliseconds(10), &frame);
        statistics.count(milliseconds(5), &frame);
        assert!(statistics.load().is_finite() && statistics.frame_rate().is_finite());
    }

    proptest! {
        #[test]
        fn frames_before_the_window_do_not_count(steps in prop::collection::vec(0_u64..400, 1..200)) {
            let frame: Frame = "123#00".parse().unwrap();
            let mut statistics = BusStatistics::new(1_000_000, milliseconds(1000));
            let mut at = 0;
            let mut times = Vec::new();
            for step in steps {
                at += step;
                times.push(at);
                statistics.count(milliseconds(at), &frame);
            }
            let inside = times.iter().filter(|time| at - **time < 1000).count();
            prop_assert_eq!(statistics.frames.len(), inside);
            prop_assert_eq!(statistics.bits, inside as u64 * u64::from(frame.bits()));
        }
    }
}
