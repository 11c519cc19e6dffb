//! Compares the base's clock with ours: the time passed for the base, and whether it has restarted.

use std::time::Duration;

/// Allowed difference of the two clocks, ms.
const TOLERANCE_MS: i16 = 500;
/// Upper bound of the time that a frame waits for a stalled process.
const WAIT: Duration = Duration::from_secs(2);
/// After this time the base's clock may have wrapped more than once, so that the distance rolled is unknown.
const RANGE: Duration = Duration::from_secs(60);
/// Upper bound of a crystal's error: 1 in 1000.
const DRIFT: u32 = 1000;

/// Arrival of a frame, by both clocks.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    here: Duration,
    there_ms: u16,
}

/// Result of a frame's time stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Time since the previous frame, by the base's clock.
    pub interval: Duration,
    /// The base was power-cycled, or its time is implausible.
    pub restarted: bool,
}

/// Compares each frame with the least delayed one so far. Frames buffered while this process stalled are late by that
/// time, and those after them are not; after a restart all frames are early or late.
///
/// If a buffer overflows during a stall, its frames are lost, the newest or the oldest. In the second case the next
/// frame is neither the next one nor in time. It is not a restart as long as it may be younger than the last frame.
#[derive(Debug, Default)]
pub(super) struct DeviceClock {
    last: Option<Arrival>,
    /// The least delayed frame.
    anchor: Option<Arrival>,
    /// Arrival of the last frame that was not buffered.
    fresh: Duration,
}

impl DeviceClock {
    /// Takes the time stamp of a frame that was read now. A late frame was buffered if the frames before it arrived
    /// without a pause, that is unless `after_silence`.
    pub(super) fn step(&mut self, now: Duration, there_ms: u16, after_silence: bool) -> Step {
        let arrival = Arrival { here: now, there_ms };
        let last = self.last.replace(arrival);
        let (Some(last), Some(anchor)) = (last, self.anchor.as_mut()) else {
            (self.anchor, self.fresh) = (Some(arrival), now);
            return Step { interval: Duration::ZERO, restarted: false };
        };
        let here = now.saturating_sub(last.here);
        let there_ms = there_ms.wrapping_sub(last.there_ms);
        let late_ms = arrival.late_ms(anchor);
        // A buffered frame follows the previous one directly. Its delay modulo 65 s may have any value.
        let is_next = !after_silence && i32::from(there_ms) <= i32::from(TOLERANCE_MS);
        let in_time = (-TOLERANCE_MS..=TOLERANCE_MS).contains(&late_ms);
        // Sent after the last frame, which may be late itself.
        let milliseconds = |count: i16| Duration::from_millis(u64::try_from(count).unwrap_or(0));
        let max_wait = (here.min(WAIT) + milliseconds(last.late_ms(anchor))).min(WAIT);
        let has_waited =
            !after_silence && late_ms >= 0 && milliseconds(late_ms) <= max_wait + milliseconds(TOLERANCE_MS);
        let is_known = is_next || in_time || has_waited;
        let restarted = !is_known || (!is_next && now.saturating_sub(self.fresh) > RANGE);
        if restarted || in_time {
            self.fresh = now;
        }
        if restarted || (in_time && late_ms < 0) {
            *anchor = arrival;
        } else {
            anchor.here += here / DRIFT;
        }
        Step { interval: Duration::from_millis(u64::from(there_ms)), restarted }
    }

    /// Our clock has gone back to `now`; the base's has not.
    pub(super) fn set_back(&mut self, now: Duration) {
        self.last = self.last.map(|last| Arrival { here: now, ..last });
        self.anchor = self.last;
        self.fresh = now;
    }
}

impl Arrival {
    /// Its delay relative to the anchor; the base's clock has 16 bits.
    fn late_ms(&self, anchor: &Self) -> i16 {
        let here_ms = self.here.saturating_sub(anchor.here).as_millis() as u16;
        here_ms.wrapping_sub(self.there_ms.wrapping_sub(anchor.there_ms)) as i16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// A clock after a second of frames, the last at 10 s on our clock and 65 s on the base's.
    fn running() -> DeviceClock {
        let mut clock = DeviceClock::default();
        for frame in 0..=50 {
            let step = clock.step(milliseconds(9_000 + 20 * frame), 64_000 + 20 * frame as u16, false);
            assert_eq!(
                step,
                Step { interval: milliseconds(if frame == 0 { 0 } else { 20 }), restarted: false }
            );
        }
        clock
    }

    #[test]
    fn a_restart_during_silence_is_seen_whatever_the_clock_shows() {
        // The base kept running for the same time as our clock, within the tolerance.
        for (after, there_ms) in [(20_000, 19_464), (20_000, 19_900), (300, 65_300), (59_000, 58_000)] {
            let step = running().step(milliseconds(10_000 + after), there_ms, true);
            assert!(!step.restarted, "{after} {there_ms}");
        }
        // It did not: its clock shows less, or more.
        for (after, there_ms) in
            [(20_000, 2976), (20_000, 65_020), (20_000, 30_000), (2000, 200), (61_000, 60_464)]
        {
            let step = running().step(milliseconds(10_000 + after), there_ms, true);
            assert!(step.restarted, "{after} {there_ms}");
        }
    }

    #[test]
    fn buffered_frames_and_fresh_ones_after_them_are_not_a_restart() {
        // A pause of this process; a second of frames was buffered, those after it are lost, and fresh ones come.
        for stall in [20_000_u64, 31_000, 33_000, 40_000, 59_000] {
            let mut clock = running();
            let now = milliseconds(10_000 + stall);
            for frame in 1..=50_u16 {
                assert!(!clock.step(now, 65_000_u16.wrapping_add(20 * frame), false).restarted, "{stall}");
            }
            let there_ms = 65_000 + stall;
            let step = clock.step(now, there_ms as u16, false);
            assert_eq!(step, Step { interval: milliseconds(stall - 1000), restarted: false });
            let restarted = |clock: &mut DeviceClock, later: u64, there_ms: u64| {
                clock.step(now + milliseconds(later), there_ms as u16, false).restarted
            };
            assert!(!restarted(&mut clock, 20, there_ms + 20), "{stall}");
            assert!(restarted(&mut clock, 40, 200), "{stall}: a restart is still seen");
            assert!(!restarted(&mut clock, 60, 220), "{stall}");
        }
    }

    /// The frames of the first part of a stall are lost, those of its last `kept` ms have waited.
    #[test]
    fn buffered_frames_after_lost_ones_are_not_a_restart() {
        for (stall, kept) in [(1200, 600), (1500, 900), (2500, 1900), (30_000, 900)] {
            let mut clock = running();
            let now = milliseconds(10_000 + stall);
            let first = 65_000 + stall - kept;
            let step = clock.step(now, first as u16, false);
            assert_eq!(
                step,
                Step { interval: milliseconds(stall - kept), restarted: false },
                "{stall} {kept}"
            );
            for later in 1..=kept / 20 {
                assert!(!clock.step(now, (first + 20 * later) as u16, false).restarted, "{stall} {kept}");
            }
            let fresh =
                |clock: &mut DeviceClock, there_ms| clock.step(now + milliseconds(20), there_ms, false);
            assert!(!fresh(&mut clock, (65_000 + stall + 20) as u16).restarted);
            assert!(fresh(&mut clock, 33_000).restarted, "{stall} {kept}: a restart is still seen");
        }
        // A frame has not waited for longer than the pause or the bound, and not after silence: then nothing was unread.
        for (stall, there_ms, after_silence) in
            [(1000, 64_000, false), (5000, 1500, false), (1500, 65_900_u32 as u16, true)]
        {
            let step = running().step(milliseconds(10_000 + stall), there_ms, after_silence);
            assert!(step.restarted, "{stall} {there_ms}");
        }
    }

    #[test]
    fn after_a_minute_the_distance_rolled_is_unknown() {
        let mut clock = running();
        let now = milliseconds(80_000);
        // Buffered frames still belong to the time before.
        for frame in 1..=50_u16 {
            assert!(!clock.step(now, 65_000_u16.wrapping_add(20 * frame), false).restarted);
        }
        assert!(clock.step(now, 135_000_u32 as u16, false).restarted);
        assert!(!clock.step(now + milliseconds(20), 135_020_u32 as u16, false).restarted);
    }

    #[test]
    fn a_line_that_holds_frames_back_and_then_gives_them_is_one_restart_at_most() {
        let mut clock = running();
        let now = milliseconds(13_000);
        let restarts = (1..=150_u16)
            .filter(|frame| clock.step(now, 65_000_u16.wrapping_add(20 * frame), *frame == 1).restarted)
            .count();
        assert_eq!(restarts, 1);
    }

    #[test]
    fn clocks_that_drift_apart_for_days_are_not_a_restart() {
        for slow in [true, false] {
            let (mut clock, mut there) = (DeviceClock::default(), 0_u64);
            for frame in 0..1_000_000_u64 {
                // 200 in a million, which are 4 s in all.
                there += if frame % 250 == 0 { if slow { 19 } else { 21 } } else { 20 };
                let step = clock.step(milliseconds(20 * frame), there as u16, false);
                assert!(!step.restarted, "frame {frame}");
            }
        }
    }

    #[test]
    fn our_clock_may_go_back() {
        let mut clock = running();
        clock.set_back(milliseconds(7));
        assert_eq!(
            clock.step(milliseconds(27), 65_020, false),
            Step { interval: milliseconds(20), restarted: false }
        );
        assert!(clock.step(milliseconds(47), 200, false).restarted);
    }
}
