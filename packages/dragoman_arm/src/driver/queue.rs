//! Set-points for a drive that interpolates them itself: rows are written to its queue ahead of the row it reads.
//!
//! The group makes one set-point per cycle of our clock, for all drives together; each drive reads one row per cycle of
//! its own clock. While the clocks agree, a row is a set-point. When a drive's queue has grown or shrunk by
//! [`DRIFT_ROWS`], its rows are sampled from the set-points at slightly wider or narrower spacing until the drift is
//! corrected: a clock error causes a slightly different speed for a while, never a jump.

use std::time::Duration;

/// Drift of the number of rows ahead that triggers a correction.
const DRIFT_ROWS: f64 = 1.5;
/// Relative change of the row spacing during a correction.
const CORRECTION: f64 = 1.0 / 64.0;
/// Smoothing weight of one observation: rows are whole numbers, and the answer is delayed.
const SMOOTHING: f64 = 0.2;

/// The writer of one drive's rows. Positions in counts.
#[derive(Debug, Clone)]
pub(super) struct RowWriter {
    rows: f64,
    lead: u16,
    cycle: f64,
    /// Rows made, including one that waits for its pair.
    drawn: f64,
    /// Rows that the drive had read at `read_at`; `None` before the first answer.
    read: Option<(Duration, f64)>,
    /// Rows ahead beyond the lead, smoothed.
    drift: f64,
    correction: f64,
    /// Position of the next row: 0 is the previous set-point, 1 the present one.
    phase: f64,
    before: f64,
    waiting: Option<i32>,
}

impl RowWriter {
    /// For a queue of `rows` rows, of which `lead` are written ahead; the drive reads one per `cycle`.
    pub(super) fn new(rows: u16, lead: u16, cycle: Duration) -> Self {
        Self {
            rows: f64::from(rows),
            lead,
            cycle: cycle.as_secs_f64(),
            drawn: 0.0,
            read: None,
            drift: 0.0,
            correction: 0.0,
            phase: 1.0,
            before: 0.0,
            waiting: None,
        }
    }

    /// Restarts with a drive at rest at `position`. Returns how many pairs of that position to write first.
    pub(super) fn restart(&mut self, position: f64) -> u16 {
        let pairs = self.lead / 2;
        let ahead = f64::from(2 * pairs);
        let fresh = Self { drawn: ahead, before: position, ..self.clone() };
        *self = Self { read: None, drift: 0.0, correction: 0.0, phase: 1.0, waiting: None, ..fresh };
        pairs
    }

    /// The drive begins to read its first row at `now`.
    pub(super) fn begin(&mut self, now: Duration) {
        self.read = Some((now, 0.0));
    }

    /// Takes the next set-point; calls `write` with every complete pair of rows.
    pub(super) fn push(&mut self, setpoint: f64, mut write: impl FnMut(i32, i32)) {
        while self.phase < 1.0 + 1e-9 {
            let row = round(self.before + (setpoint - self.before) * self.phase);
            self.phase += 1.0 + self.correction;
            self.drawn += 1.0;
            match self.waiting.take() {
                None => self.waiting = Some(row),
                Some(first) => write(first, row),
            }
        }
        self.phase -= 1.0;
        self.before = setpoint;
    }

    /// The drive reported at `now` that it reads row `row`, 1 to the number of rows.
    pub(super) fn observe(&mut self, now: Duration, row: u16) {
        let Some(predicted) = self.read_by(now) else { return };
        // The row is known modulo the queue length: take the value nearest to the expectation.
        let beyond =
            (f64::from(row) - 1.0 - predicted + self.rows / 2.0).rem_euclid(self.rows) - self.rows / 2.0;
        let read = predicted + SMOOTHING * beyond;
        self.read = Some((now, read));
        self.drift = self.drawn - read - f64::from(self.lead);
        if self.drift.abs() > DRIFT_ROWS {
            // Too many rows ahead: produce fewer.
            self.correction = CORRECTION.copysign(self.drift);
        } else if self.drift.abs() < 0.5 {
            self.correction = 0.0;
        }
    }

    fn read_by(&self, now: Duration) -> Option<f64> {
        let (at, read) = self.read?;
        Some(read + now.saturating_sub(at).as_secs_f64() / self.cycle)
    }
}

/// Rounds to whole counts, half away from zero; saturates at the drive's range.
#[allow(clippy::cast_possible_truncation)]
pub(super) fn round(counts: f64) -> i32 {
    counts.round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_millis(10);

    /// Simulates a drive whose clock is faster than ours by `faster` for `cycles`; returns the rows, and the minimum
    /// and maximum number of rows ahead.
    fn run(faster: f64, cycles: u32, setpoint: impl Fn(u32) -> f64) -> (Vec<i32>, f64, f64) {
        let mut writer = RowWriter::new(256, 8, CYCLE);
        let mut rows = vec![round(setpoint(0)); 2 * usize::from(writer.restart(setpoint(0)))];
        writer.begin(Duration::ZERO);
        let (mut least, mut most) = (f64::MAX, f64::MIN);
        for cycle in 1..cycles {
            let now = CYCLE * cycle;
            writer.push(setpoint(cycle), |first, second| rows.extend([first, second]));
            let read = f64::from(cycle) * (1.0 + faster);
            let ahead = rows.len() as f64 - read;
            (least, most) = (least.min(ahead), most.max(ahead));
            if cycle % 6 == 0 {
                writer.observe(now, (read as u32 % 256 + 1) as u16);
            }
        }
        (rows, least, most)
    }

    #[test]
    fn rows_are_the_setpoints_while_the_clocks_agree() {
        let (rows, least, most) = run(0.0, 1001, |cycle| f64::from(cycle) * 3.0);
        let expected = std::iter::repeat_n(0, 8).chain((1..=1000).map(|cycle| 3 * cycle));
        assert!(rows.iter().copied().eq(expected), "{:?}", &rows[..20]);
        assert!(least >= 6.0 && most <= 9.0, "{least} {most}");
    }

    #[test]
    fn a_drives_clock_may_be_off_for_hours_without_a_jump() {
        for faster in [-2e-4, 2e-4] {
            let (rows, least, most) = run(faster, 1_000_000, |cycle| f64::from(cycle) * 64.0);
            assert!(least > 3.0 && most < 13.0, "{faster}: {least} {most}");
            let moving = &rows[8..];
            assert!(moving.windows(2).all(|pair| (62..=66).contains(&(pair[1] - pair[0]))), "{faster}");
        }
    }
}
