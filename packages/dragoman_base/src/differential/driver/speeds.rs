//! Speeds of the wheels of a base without a clock: encoder counts come without the time at which they were read.

use std::collections::VecDeque;
use std::time::Duration;

/// Minimum number of readings that the line is fitted to. In steady acceleration the slope of five evenly spaced
/// readings is that of two periods ago.
const MIN_READINGS: usize = 5;
/// Maximum number of readings that the line is fitted to, if answers are late.
const MAX_READINGS: usize = 10;
/// The total weight of the readings of a line is at least this many times the weight of the best one, so that late
/// readings do not determine the line.
const PROMPT: f64 = 2.5;

/// Counts of both encoders, read at an unknown time between question and answer.
#[derive(Debug, Clone, Copy)]
struct Reading {
    asked: Duration,
    answered: Duration,
    /// Since the first reading; they do not wrap.
    ticks: [i64; 2],
}

impl Reading {
    /// The middle of question and answer, s before `time`.
    fn age(&self, time: Duration) -> f64 {
        let since = |earlier: Duration| time.saturating_sub(earlier).as_secs_f64();
        (since(self.asked) + since(self.answered)) / 2.0
    }

    /// Time between question and answer, s.
    fn delay(&self) -> f64 {
        self.answered.saturating_sub(self.asked).as_secs_f64()
    }
}

/// Estimates the speeds of both wheels from encoder readings whose time is only known to be between question `s` and
/// answer `r`.
///
/// The speed is the slope of a line through the last readings `(t, x)`, by weighted least squares:
///
/// ```text
/// v = sum w (t - mean t) (x - mean x) / sum w (t - mean t)^2
/// t = (s + r) / 2        w = 1 / ((r - s)^2 + (period / 10)^2)
/// ```
///
/// The means are weighted too. A time that is equally likely anywhere between `s` and `r` has the variance
/// `(r - s)^2 / 12`; the summand of a tenth of a period stands for the resolution of the counts. So a late answer
/// hardly counts, and the line continues through the others. The line has five readings; if several of them are late,
/// as many more, up to ten, as it takes to weigh as much as two and a half of the best.
///
/// The result is then limited to what two readings `d` ticks apart allow, wherever between question and answer they were
/// taken: the last one, and the newest whose answer had arrived half a period before the question of the last.
///
/// ```text
/// (d - 1) / (r2 - s1) <= v <= (d + 1) / (s2 - r1)        0 if d is 0
/// ```
///
/// With prompt answers these bounds are near to each other: a stop is seen at once, and the estimate follows a wheel
/// that brakes or accelerates. With late ones they are wide.
///
/// | | with a period of 33 ms |
/// | --- | --- |
/// | steady motion, one answer in five late by up to 100 ms | 3 % error, if the others take 2 to 6 ms |
/// | the same, one in ten late at random | 5 % error |
/// | more late answers, the first readings | the error may be larger; never beyond the bounds above |
/// | steady acceleration | at most two periods late, and never beyond the bounds above |
/// | less than a tick per period | alternates between 0 and about a tick per period |
#[derive(Debug)]
pub(super) struct Speeds {
    half_period: Duration,
    /// Square of the smallest uncertainty of a time, s^2.
    floor: f64,
    counts: [i32; 2],
    readings: VecDeque<Reading>,
    /// Ticks per s.
    speeds: [f64; 2],
}

#[expect(clippy::indexing_slicing, reason = "`wheel` is 0 or 1")]
impl Speeds {
    /// For readings with this period.
    pub(super) fn new(period: Duration) -> Self {
        Self {
            half_period: period / 2,
            floor: (period.as_secs_f64() / 10.0).powi(2),
            counts: [0; 2],
            readings: VecDeque::with_capacity(MAX_READINGS),
            speeds: [0.0; 2],
        }
    }

    /// Forgets the readings: the counts or the times before and after do not belong together.
    pub(super) fn clear(&mut self) {
        self.readings.clear();
        self.speeds = [0.0; 2];
    }

    /// Takes a reading, and returns the speeds of the left and the right wheel, ticks per s: 0 after the first one.
    pub(super) fn update(&mut self, asked: Duration, answered: Duration, counts: [i32; 2]) -> [f64; 2] {
        let before = std::mem::replace(&mut self.counts, counts);
        let ticks = self.readings.back().map_or([0; 2], |last| {
            // The counters wrap.
            let rolled = |wheel: usize| i64::from(counts[wheel].wrapping_sub(before[wheel]));
            [last.ticks[0] + rolled(0), last.ticks[1] + rolled(1)]
        });
        if self.readings.len() == MAX_READINGS {
            self.readings.pop_front();
        }
        self.readings.push_back(Reading { asked, answered, ticks });
        self.speeds = [0, 1].map(|wheel| self.estimate(wheel));
        self.speeds
    }

    /// Maximum possible time between the last two readings.
    pub(super) fn max_interval(&self) -> Duration {
        let mut newest_first = self.readings.iter().rev();
        match (newest_first.next(), newest_first.next()) {
            (Some(last), Some(before)) => last.answered.saturating_sub(before.asked),
            _ => Duration::ZERO,
        }
    }

    fn estimate(&self, wheel: usize) -> f64 {
        let mut newest_first = self.readings.iter().rev();
        let Some(last) = newest_first.next() else { return 0.0 };
        let is_earlier = |reading: &&Reading| last.asked.saturating_sub(reading.answered) >= self.half_period;
        let Some(before) = newest_first.clone().find(is_earlier).or(newest_first.next_back()) else {
            return 0.0;
        };
        let longest = last.answered.saturating_sub(before.asked).as_secs_f64();
        let shortest = last.asked.saturating_sub(before.answered).as_secs_f64();
        if longest == 0.0 {
            // Our clock has not advanced.
            return self.speeds[wheel];
        }
        let rolled = (last.ticks[wheel] - before.ticks[wheel]) as f64;
        if rolled == 0.0 {
            return 0.0;
        }
        let (distance, direction) = (rolled.abs(), rolled.signum());
        let speed = direction * self.slope(last, wheel);
        direction * speed.max((distance - 1.0) / longest).min((distance + 1.0) / shortest)
    }

    /// The slope of the fitted line, ticks per s.
    fn slope(&self, last: &Reading, wheel: usize) -> f64 {
        let points = || {
            self.readings.iter().rev().map(|reading| {
                let weight = 1.0 / (reading.delay().powi(2) + self.floor);
                let ticks = (reading.ticks[wheel] - last.ticks[wheel]) as f64;
                (weight, -reading.age(last.answered), ticks)
            })
        };
        let (mut count, mut best) = (0, 0.0_f64);
        let [mut total, mut time, mut ticks] = [0.0; 3];
        for (weight, t, x) in points() {
            if count >= MIN_READINGS && total >= PROMPT * best {
                break;
            }
            (count, best) = (count + 1, best.max(weight));
            (total, time, ticks) = (total + weight, time + weight * t, ticks + weight * x);
        }
        let (mean_time, mean_ticks) = (time / total, ticks / total);
        let (mut covariance, mut variance) = (0.0, 0.0);
        for (weight, t, x) in points().take(count) {
            let late = weight * (t - mean_time);
            (covariance, variance) =
                (covariance + late * (x - mean_ticks), variance + late * (t - mean_time));
        }
        covariance / variance
    }
}
