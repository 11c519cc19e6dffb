//! The line about its progress on a terminal.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dragoman_time::{Interval, MissedTicks, interval};

use super::file::Progress;

const PERIOD: Duration = Duration::from_secs(1);

/// Number of periods over which the rate is measured.
const MEASURED: usize = 10;

/// Shows one line, again and again in its place.
pub(super) struct View {
    progress: Arc<Progress>,
    /// `None`: there is no terminal.
    ticks: Option<Interval>,
    begin: Instant,
    rate: Rate,
}

impl View {
    /// Shows something if it is wanted and there is a terminal.
    pub(super) fn new(is_wanted: bool, progress: Arc<Progress>) -> Self {
        let is_shown = is_wanted && !dragoman_time::is_virtual() && std::io::stderr().is_terminal();
        let ticks = is_shown.then(|| interval(PERIOD).with_missed(MissedTicks::Delay));
        Self { progress, ticks, begin: dragoman_time::now(), rate: Rate::default() }
    }

    /// Shows the line when it is due; resolves afterwards.
    pub(super) async fn tick(&mut self) {
        let Some(ticks) = &mut self.ticks else { return std::future::pending().await };
        ticks.tick().await;
        let bytes = self.progress.bytes.load(Ordering::Relaxed);
        let line = Line {
            time: dragoman_time::since(self.begin),
            topics: self.progress.topics.load(Ordering::Relaxed),
            bytes,
            rate: self.rate.measure(dragoman_time::now(), bytes),
            room: self.progress.room.load(Ordering::Relaxed),
        };
        // The cursor stays at its start, so that a line of the log takes its place.
        eprint!("\x1b[K{}\r", line.text());
    }

    /// Removes the line.
    pub(super) fn clear(&self) {
        if self.ticks.is_some() {
            eprint!("\x1b[K");
        }
    }
}

/// Bytes per second over the last periods.
#[derive(Default)]
struct Rate(VecDeque<(Instant, u64)>);

impl Rate {
    fn measure(&mut self, now: Instant, bytes: u64) -> f64 {
        self.0.push_back((now, bytes));
        if self.0.len() > MEASURED + 1 {
            self.0.pop_front();
        }
        let Some((since, before)) = self.0.front() else { return 0.0 };
        let seconds = now.saturating_duration_since(*since).as_secs_f64();
        if seconds > 0.0 { bytes.saturating_sub(*before) as f64 / seconds } else { 0.0 }
    }
}

/// The content of the line.
struct Line {
    time: Duration,
    topics: u32,
    bytes: u64,
    /// Bytes per second.
    rate: f64,
    /// What the disk has left; the maximum if that is not known.
    room: u64,
}

impl Line {
    fn text(&self) -> String {
        let mut text = format!(
            "{:.0} s, {} topics, {:.2} MB, {:.2} MB/s",
            self.time.as_secs_f64(),
            self.topics,
            self.bytes as f64 * 1e-6,
            self.rate * 1e-6
        );
        if self.room < u64::MAX && self.rate > 0.0 {
            let seconds = self.room as f64 / self.rate;
            text += &match seconds {
                0.0..120.0 => format!("; the disk is full in {seconds:.0} s"),
                120.0..7200.0 => format!("; the disk is full in {:.0} min", seconds / 60.0),
                7200.0..172_800.0 => format!("; the disk is full in {:.0} h", seconds / 3600.0),
                _ => format!("; the disk is full in {:.0} days", seconds / 86400.0),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let (mut rate, begin) = (Rate::default(), Instant::now());
        let mut measure = |second: u64, bytes| rate.measure(begin + Duration::from_secs(second), bytes);
        assert_eq!(measure(0, 0), 0.0);
        assert_eq!(measure(1, 500), 500.0);
        for second in 2..=20 {
            measure(second, 500);
        }
        assert_eq!(measure(21, 10_500), 1000.0);
    }

    #[test]
    fn the_line_says_when_the_disk_is_full() {
        let mut line = Line {
            time: Duration::from_secs(62),
            topics: 12,
            bytes: 3_500_000,
            rate: 2e6,
            room: 1_000_000_000,
        };
        assert_eq!(line.text(), "62 s, 12 topics, 3.50 MB, 2.00 MB/s; the disk is full in 8 min");
        for (room, words) in [
            (100_000_000, "50 s"),
            (50_000_000_000, "7 h"),
            (2_000_000_000_000, "12 days"),
            (u64::MAX, "MB/s"),
        ] {
            line.room = room;
            assert!(line.text().ends_with(words), "{}", line.text());
        }
    }
}
