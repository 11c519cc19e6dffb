//! Commands that come at their sender's rate, as a smooth curve for the drives' cycle.
//!
//! A sender at 100 Hz and drives at 99.2 Hz drift past each other: every 1.26 s a cycle finds two new commands, or none.
//! Going to the newest command in each cycle would double that step. So commands are points of a curve over their
//! sender's time, and the set-points are read from it a little later ([`MARGIN`] and one interval between commands), at
//! the speed of the clock. A cubic that keeps the points' monotony joins them (M. Steffen, A simple method for monotonic
//! interpolation in one dimension, Astronomy and Astrophysics 239, 1990): straight lines would turn differences of a
//! fraction of a cycle into accelerations.

use std::collections::VecDeque;
use std::time::Duration;

/// Maximum time over which a command is spread, s; commands that come less often are reached early.
const MAX_SPREAD: f64 = 0.1;
/// Lateness of a command that does not affect the curve, s: delay of the message, and lateness of its sender's timer.
const MARGIN: f64 = 0.01;
/// Commands within this time, s, count as one: commands to single joints come one after the other.
const TOGETHER: f64 = 0.002;
/// Weight of one command in the interval between commands. A longer interval counts at once.
const SMOOTHING: f64 = 0.02;
/// The time, s, in which a deviation from the planned delay would be made up for, and the largest relative change of speed
/// for it.
const CORRECTION_TIME: f64 = 0.5;
const CORRECTION: f64 = 1.0 / 16.0;
/// Maximum drift of two clocks, s per s. The estimated offset of the clocks is corrected by this rate.
const CLOCK_DRIFT: f64 = 1e-3;
/// Commands kept. The delay and [`TOGETHER`] leave fewer.
const CAPACITY: usize = 64;

/// A command, at its time on the sender's clock, s.
#[derive(Debug)]
struct Command {
    at: f64,
    position: Vec<f64>,
}

/// The commands that are being followed, from where the joints were when they began.
#[derive(Debug)]
pub(super) struct Stream {
    commands: VecDeque<Command>,
    /// The present place on the curve, on the sender's clock, s.
    playhead: f64,
    /// Our clock minus the sender's, as the fastest command had it, s.
    offset: f64,
    /// Time between commands, s; `None` while there is only one.
    interval: Option<f64>,
    /// Whether commands carry the sender's time; their arrival counts otherwise.
    is_stamped: bool,
    /// Whether the interval was just found: the next cycle sets the playhead.
    is_fresh: bool,
    /// When the last command came, on our clock and on the sender's, s.
    last: (f64, f64),
}

impl Stream {
    /// With one command, `position`, that came at `now` and was sent at `stamp`. The joints are at `from`.
    pub(super) fn new(now: Duration, stamp: Option<Duration>, from: &[f64], position: &[f64]) -> Self {
        let now = now.as_secs_f64();
        let sent = stamp.map_or(now, |stamp| stamp.as_secs_f64());
        let points = [(sent, from), (sent + MAX_SPREAD, position)];
        let mut commands = VecDeque::with_capacity(CAPACITY);
        commands.extend(points.map(|(at, position)| Command { at, position: position.to_vec() }));
        let is_stamped = stamp.is_some();
        Self {
            commands,
            playhead: sent,
            offset: now - sent,
            interval: None,
            is_stamped,
            is_fresh: false,
            last: (now, sent),
        }
    }

    /// The last command.
    pub(super) fn target(&self) -> &[f64] {
        self.commands.back().map_or(&[], |command| &command.position)
    }

    /// Changes all positions of one joint.
    pub(super) fn change(&mut self, joint: usize, change: impl Fn(f64) -> f64) {
        for command in &mut self.commands {
            if let Some(position) = command.position.get_mut(joint) {
                *position = change(*position);
            }
        }
    }

    /// Takes the next command. `false`: it does not continue this stream, a new one has to begin.
    pub(super) fn push(&mut self, now: Duration, stamp: Option<Duration>, position: &[f64]) -> bool {
        let now = now.as_secs_f64();
        let (came, sent) = self.last;
        let passed = now - came;
        if passed > MAX_SPREAD {
            return false;
        }
        let stamp = stamp.map(|stamp| stamp.as_secs_f64()).filter(|stamp| *stamp > sent);
        if self.is_stamped && stamp.is_none() {
            self.count_arrivals();
        }
        let at = match stamp {
            Some(stamp) if self.is_stamped => stamp,
            _ => now,
        };
        let since = at - self.last.1;
        if (since - passed).abs() > MAX_SPREAD {
            // One of the clocks was set, or stood still.
            return false;
        }
        self.offset = (self.offset + CLOCK_DRIFT * since).min(now - at);
        if since < TOGETHER {
            if let Some(last) = self.commands.back_mut() {
                last.position.copy_from_slice(position);
            }
            return true;
        }
        match &mut self.interval {
            Some(interval) if since > *interval => *interval = since,
            Some(interval) => *interval += SMOOTHING * (since - *interval),
            None => self.set_pace(since),
        }
        self.last = (now, at);
        if self.commands.len() == CAPACITY {
            self.commands.pop_front();
        }
        self.commands.push_back(Command { at, position: position.to_vec() });
        true
    }

    /// The interval is known from the second command on. Until then the first command was spread over [`MAX_SPREAD`];
    /// from now on the curve goes from the present positions to the first command, at the time at which that was sent.
    fn set_pace(&mut self, interval: f64) {
        self.interval = Some(interval);
        let [start, first] = self.commands.make_contiguous() else { return };
        let part = (self.playhead - start.at) / (first.at - start.at);
        for (start, first) in start.position.iter_mut().zip(&first.position) {
            *start += (first - *start) * part;
        }
        first.at = self.last.1;
        start.at = first.at - MARGIN;
        self.is_fresh = true;
    }

    /// From now on the time of arrival counts, on our clock.
    fn count_arrivals(&mut self) {
        self.is_stamped = false;
        let offset = std::mem::take(&mut self.offset);
        for command in &mut self.commands {
            command.at += offset;
        }
        self.playhead += offset;
        self.last.1 += offset;
    }

    /// Advances by a cycle of `cycle` seconds that is due at `now`. Without newer commands the curve ends at the last one.
    pub(super) fn advance(&mut self, now: Duration, cycle: f64) {
        let mut rate = 1.0;
        if let Some(interval) = self.interval {
            let due = now.as_secs_f64() - self.offset - interval - MARGIN;
            if std::mem::take(&mut self.is_fresh) {
                self.playhead = due - cycle;
                if let [start, first, ..] = self.commands.make_contiguous() {
                    start.at = self.playhead.min(first.at - MARGIN);
                }
            }
            let late = due - cycle - self.playhead;
            rate += (late / CORRECTION_TIME).clamp(-CORRECTION, CORRECTION);
        }
        self.playhead += cycle * rate;
        if let Some(last) = self.commands.back() {
            self.playhead = self.playhead.min(last.at);
        }
        // The one before the present piece of the curve belongs to its slope.
        while self.commands.get(2).is_some_and(|command| command.at <= self.playhead) {
            self.commands.pop_front();
        }
    }

    /// The position of a joint at the present place on the curve.
    pub(super) fn position(&self, joint: usize) -> Option<f64> {
        let point = |index: usize| {
            let command = self.commands.get(index)?;
            Some((command.at, *command.position.get(joint)?))
        };
        // The playhead is on the first piece, or on the second.
        let begin = usize::from(point(1).is_some_and(|(at, _)| at <= self.playhead));
        let before = begin.checked_sub(1).and_then(point);
        let (start, Some(end)) = (point(begin)?, point(begin + 1)) else {
            return point(begin).map(|(_, last)| last);
        };
        Some(between(before, start, end, point(begin + 2), self.playhead))
    }
}

/// The curve between two points, (time, position), at a time between them; `before` and `after` are their neighbours.
fn between(
    before: Option<(f64, f64)>,
    start: (f64, f64),
    end: (f64, f64),
    after: Option<(f64, f64)>,
    at: f64,
) -> f64 {
    let length = end.0 - start.0;
    let way = end.1 - start.1;
    let slope = way / length;
    let first = before.map_or(slope, |before| slope_at(before, start, end));
    let last = after.map_or(slope, |after| slope_at(start, end, after));
    let part = ((at - start.0) / length).clamp(0.0, 1.0);
    // Hermite's cubic, written as the straight line and what bends it.
    let bend = part * (1.0 - part) * ((first - slope) * (1.0 - part) - (last - slope) * part);
    if part < 1.0 { start.1 + way * part + length * bend } else { end.1 }
}

/// Steffen's slope at the middle of three points: that of the parabola through them, if the curve stays monotonic with it.
fn slope_at(before: (f64, f64), middle: (f64, f64), after: (f64, f64)) -> f64 {
    let [(before, first), (after, second)] = [(before, middle), (middle, after)]
        .map(|(from, to)| (to.0 - from.0, (to.1 - from.1) / (to.0 - from.0)));
    if first * second <= 0.0 {
        return 0.0;
    }
    let parabola = (first * after + second * before) / (before + after);
    parabola.abs().min(2.0 * first.abs().min(second.abs())).copysign(first)
}
