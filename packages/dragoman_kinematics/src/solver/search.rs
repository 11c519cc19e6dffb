//! Inverse kinematics on the whole joint space: descents from the seed, then from configurations spread over it.

use super::chain::Chain;
use super::descent::{Attempt, Bounds, descend};
use super::goal::Goal;
use super::options::{IkOptions, IkReport};
use nalgebra::Isometry3;
use std::f64::consts::{PI, TAU};
use std::time::{Duration, Instant};

/// Descents that do not halve their cost in this many iterations are abandoned while other starts remain.
const PATIENCE: u32 = 3;
/// A tracking step has no other start.
const TRACKING_PATIENCE: u32 = 12;
/// Number of starts for targets beyond the reach of the stretched arm: enough for a close configuration.
const HOPELESS_STARTS: u32 = 4;
/// Half the range, m, that restarts explore along a prismatic joint without limits, beyond the target's distance.
const OPEN_SLIDE: f64 = 1.0;

/// Best configuration found, its effort, and whether it is within the tolerances.
pub(super) struct Answer<const N: usize> {
    pub(super) q: [f64; N],
    pub(super) report: IkReport,
    pub(super) converged: bool,
}

impl<const N: usize> Chain<N> {
    /// Searches for a configuration from the seed and from restarts.
    pub(super) fn search(&self, target: &Isometry3<f64>, seed: &[f64; N], options: &IkOptions) -> Answer<N> {
        let goal = Goal::new(target, options);
        if goal.full {
            self.search_for::<true>(&goal, seed, options)
        } else {
            self.search_for::<false>(&goal, seed, options)
        }
    }

    fn search_for<const FULL: bool>(&self, goal: &Goal, seed: &[f64; N], options: &IkOptions) -> Answer<N> {
        let bounds = Bounds {
            lower: self.lower,
            upper: self.upper,
            wrap: true,
            max_iterations: options.max_iterations,
            patience: PATIENCE,
            deadline: deadline(options.time_limit),
        };
        let out_of_reach =
            goal.mask.position == [true; 3] && goal.distance() > self.reach + goal.position_tolerance;
        let max_starts =
            if out_of_reach { options.max_starts.min(HOPELESS_STARTS) } else { options.max_starts };
        let offset = (options.restart_seed >> 11) as f64 / (1_u64 << 53) as f64;
        let mut spread = Spread { point: [offset; N], stride: &self.stride };
        let mut best = descend::<N, FULL>(self, goal, &self.nearest_allowed(seed), &bounds);
        let mut iterations = best.iterations;
        let mut starts = 1;
        while !best.converged && starts < max_starts && Instant::now() < bounds.deadline {
            let start = self.restart(&mut spread, goal);
            let attempt = descend::<N, FULL>(self, goal, &start, &bounds);
            iterations += attempt.iterations;
            starts += 1;
            if attempt.converged || attempt.residual.cost < best.residual.cost {
                best = attempt;
            }
        }
        best.q = self.unwound(&best.q, seed);
        best.iterations = iterations;
        answer(best, starts)
    }

    /// One descent from the previous configuration, confined to its neighbourhood.
    pub(super) fn follow(
        &self,
        target: &Isometry3<f64>,
        previous: &[f64; N],
        options: &IkOptions,
    ) -> Answer<N> {
        let goal = Goal::new(target, options);
        let mut start = *previous;
        for i in 0..N {
            // A full turn, although nearest to a seed, would be a jump here.
            start[i] = start[i].max(self.lower[i]).min(self.upper[i]);
        }
        let mut bounds = Bounds {
            lower: self.lower,
            upper: self.upper,
            wrap: false,
            max_iterations: options.max_iterations,
            patience: TRACKING_PATIENCE,
            deadline: deadline(options.time_limit),
        };
        for i in 0..N {
            bounds.lower[i] = bounds.lower[i].max(start[i] - options.max_joint_step);
            bounds.upper[i] = bounds.upper[i].min(start[i] + options.max_joint_step);
        }
        let attempt = if goal.full {
            descend::<N, true>(self, &goal, &start, &bounds)
        } else {
            descend::<N, false>(self, &goal, &start, &bounds)
        };
        answer(attempt, 1)
    }

    /// The equivalent of `q` within the limits: a full turn away if that is inside, else the nearest limit.
    fn nearest_allowed(&self, q: &[f64; N]) -> [f64; N] {
        let mut allowed = *q;
        for i in 0..N {
            let (lower, upper) = (self.lower[i], self.upper[i]);
            if self.is_turning(i) && (q[i] < lower || q[i] > upper) {
                let middle = 0.5 * (lower + upper);
                let near_middle = q[i] - ((q[i] - middle) / TAU).round() * TAU;
                if near_middle >= lower && near_middle <= upper {
                    allowed[i] = near_middle;
                }
            }
            allowed[i] = allowed[i].max(lower).min(upper);
        }
        allowed
    }

    /// The same pose with every turning joint as near to the seed as full turns within its range allow.
    fn unwound(&self, q: &[f64; N], seed: &[f64; N]) -> [f64; N] {
        let mut unwound = *q;
        for i in 0..N {
            let turns = ((seed[i] - q[i]) / TAU).round();
            let mut candidate = q[i] + turns * TAU;
            if candidate > self.upper[i] {
                candidate -= TAU;
            } else if candidate < self.lower[i] {
                candidate += TAU;
            }
            let inside = candidate >= self.lower[i] && candidate <= self.upper[i];
            if self.is_turning(i) && turns != 0.0 && inside {
                unwound[i] = candidate;
            }
        }
        unwound
    }

    /// The next configuration of the restart sequence.
    fn restart(&self, spread: &mut Spread<'_, N>, goal: &Goal) -> [f64; N] {
        let mut q = spread.next();
        for i in 0..N {
            let (lower, upper) = if self.lower[i].is_finite() {
                (self.lower[i], self.upper[i])
            } else if self.is_turning(i) {
                (-PI, PI)
            } else {
                let extent = goal.distance() + OPEN_SLIDE;
                (-extent, extent)
            };
            q[i] = lower + (upper - lower) * q[i];
        }
        q
    }
}

fn answer<const N: usize>(attempt: Attempt<N>, starts: u32) -> Answer<N> {
    let report = IkReport {
        position_error: attempt.residual.position_error,
        rotation_error: attempt.residual.rotation_error,
        iterations: attempt.iterations,
        starts,
    };
    Answer { q: attempt.q, report, converged: attempt.converged }
}

/// Deadline of a search that begins now; `None` if the limit exceeds the clock's range.
fn deadline(limit: Duration) -> Instant {
    const LONG: Duration = Duration::from_secs(365 * 24 * 3600);
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now + LONG)
}

/// A sequence that covers the unit cube evenly: multiples of powers of the generalised golden ratio, modulo one
/// (Roberts 2018). Restarts that keep clear of each other find rare solutions sooner than random ones.
struct Spread<'a, const N: usize> {
    point: [f64; N],
    stride: &'a [f64; N],
}

impl<const N: usize> Spread<'_, N> {
    fn next(&mut self) -> [f64; N] {
        for i in 0..N {
            let moved = self.point[i] + self.stride[i];
            self.point[i] = if moved >= 1.0 { moved - 1.0 } else { moved };
        }
        self.point
    }
}

/// Powers of the reciprocal of the positive root of `x^(N+1) = x + 1`.
pub(super) fn strides<const N: usize>() -> [f64; N] {
    let mut root = 2.0_f64;
    for _ in 0..64 {
        root = (1.0 + root).powf(1.0 / (N as f64 + 1.0));
    }
    let mut power = 1.0;
    [(); N].map(|()| {
        power /= root;
        power
    })
}
