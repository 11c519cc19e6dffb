//! Inverse kinematics on the whole joint space, and next to a configuration.
//!
//! A search tries, in this order: next to the seed; the configurations of the closed form, nearest first, if the arm
//! has one; the seed, and then configurations spread over the joint space. Its limits are counted, never timed.

use super::chain::Chain;
use super::descent::{Attempt, Bounds, Start, descend};
use super::goal::Goal;
use super::options::{IkOptions, IkReport, SearchEnd};
use nalgebra::Isometry3;
use std::f64::consts::{PI, TAU};

/// Descents that do not halve their cost in this many iterations are abandoned while other starts remain.
const TIMEOUT: u32 = 3;
/// The same where a solution is likely: next to the seed, from the closed form, in tracking.
const LONG_PATIENCE: u32 = 12;
/// Number of starts for targets without solution, at least as far as is known: enough for a close configuration.
const HOPELESS_STARTS: u32 = 4;
/// Starts before the closed form of a seven-joint arm is used, and after it; more with more than the default starts.
const FIRST_STARTS: u32 = 4;
const LAST_STARTS: u32 = 64;
/// Positions of its held joint, its limits included.
const HELD_POSITIONS: u32 = 33;
/// As [`MARGIN`], for configurations that a descent can bring within the limits, and the number that is tried, rad.
const WIDE_MARGIN: f64 = 0.3;
const WIDE_STARTS: usize = 24;
/// A search that gives up goes on from its best configuration if its cost is below this, for as many iterations.
const CLOSE: f64 = 1e-5;
const LAST_ITERATIONS: u32 = 60;
/// Cost beyond which a tracking step that is blocked has lost its path: 2 mm, or 7 mrad with the default weight.
const LOST: f64 = 2e-6;
/// Half the range, m, that restarts explore along a prismatic joint without limits, beyond the target's distance.
const OPEN_SLIDE: f64 = 1.0;
/// A solution with every joint this near to the seed is preferred to all others, rad or m.
const NEAR: f64 = 0.1;
/// Joints stay this near to the seed while such a solution is sought.
const NEAR_BOX: f64 = 0.15;
/// Starts within this neighbourhood.
const NEAR_STARTS: u32 = 4;
/// Allowance for the curvature of the paths of the joints within `NEAR`.
const NEAR_SLACK: f64 = 1.3;
/// Distance from its limit at which a joint of the closed form may be, since rounding grows near singularities, rad.
const MARGIN: f64 = 1e-3;

/// The best configuration that was found, the effort, and whether it is within the tolerances.
pub(super) struct SearchResult<const N: usize> {
    pub(super) q: [f64; N],
    pub(super) report: IkReport,
    pub(super) converged: bool,
}

/// The best of the attempts so far, and their number.
struct Search<'a, const N: usize> {
    chain: &'a Chain<N>,
    goal: &'a Goal,
    options: &'a IkOptions,
    best: Option<Attempt<N>>,
    starts: u32,
    iterations: u32,
}

impl<const N: usize> Search<'_, N> {
    /// Descends from `start`; whether it arrives.
    fn attempt<const FULL: bool>(&mut self, start: &[f64; N], bounds: &Bounds<N>) -> bool {
        let mut start = Start::new::<FULL>(self.chain, self.goal, start);
        self.attempt_from::<FULL>(&mut start, bounds)
    }

    fn attempt_from<const FULL: bool>(&mut self, start: &mut Start<N>, bounds: &Bounds<N>) -> bool {
        let attempt = descend::<N, FULL>(self.chain, self.goal, start, bounds);
        self.starts += 1;
        self.iterations += attempt.iterations;
        let converged = attempt.converged;
        if converged || self.best.as_ref().is_none_or(|best| attempt.residual.cost < best.residual.cost) {
            self.best = Some(attempt);
        }
        converged
    }

    /// The limit that forbids a further start, if there are at most `starts` of them.
    fn limit(&self, starts: u32, then: SearchEnd) -> Option<SearchEnd> {
        if self.starts >= self.options.max_starts {
            Some(SearchEnd::Starts)
        } else if self.iterations >= self.options.max_total_iterations {
            Some(SearchEnd::Iterations)
        } else {
            (self.starts >= starts).then_some(then)
        }
    }
}

impl<const N: usize> Chain<N> {
    /// Searches for a configuration from the seed and from restarts.
    pub(super) fn search(
        &self,
        target: &Isometry3<f64>,
        seed: &[f64; N],
        options: &IkOptions,
    ) -> SearchResult<N> {
        let goal = Goal::new(target, options);
        if goal.full {
            self.search_for::<true>(&goal, seed, options)
        } else {
            self.search_for::<false>(&goal, seed, options)
        }
    }

    fn search_for<const FULL: bool>(
        &self,
        goal: &Goal,
        seed: &[f64; N],
        options: &IkOptions,
    ) -> SearchResult<N> {
        let mut search = Search { chain: self, goal, options, best: None, starts: 0, iterations: 0 };
        let mut end = self.run::<FULL>(&mut search, seed);
        if let Some(best) = &search.best
            && !best.converged
            && best.residual.cost < CLOSE
        {
            // Next to a singularity convergence is slow.
            let bounds = Bounds {
                lower: self.lower,
                upper: self.upper,
                wrap: true,
                max_iterations: LAST_ITERATIONS,
                patience: LONG_PATIENCE,
                retreat: false,
            };
            let start = best.q;
            if search.attempt::<FULL>(&start, &bounds) {
                end = SearchEnd::Converged;
            }
        }
        let Search { best, starts, iterations, .. } = search;
        let mut best = best.unwrap_or_else(|| self.at::<FULL>(goal, &self.nearest_allowed(seed)));
        if best.converged {
            best.q = self.unwound(&best.q, seed);
        }
        best.iterations = iterations;
        answer(best, starts, end)
    }

    /// The search; returns why it ended.
    fn run<const FULL: bool>(&self, search: &mut Search<'_, N>, seed: &[f64; N]) -> SearchEnd {
        let (goal, options) = (search.goal, search.options);
        let mut bounds = Bounds {
            lower: self.lower,
            upper: self.upper,
            wrap: true,
            max_iterations: options.max_iterations.min(options.max_total_iterations),
            patience: TIMEOUT,
            retreat: false,
        };
        let first = Start::new::<FULL>(self, goal, &self.nearest_allowed(seed));
        if let Some(end) = self.next_to::<FULL>(search, seed, &first, &bounds) {
            return end;
        }
        let (mut most, mut then) = (u32::MAX, SearchEnd::Starts);
        if goal.position_counts == [true; 3] && goal.distance() > self.reach + goal.position_tolerance {
            (most, then) = (HOPELESS_STARTS, SearchEnd::OutOfReach);
        } else if FULL
            && N == 6
            && let Some(wrist) = &self.wrist
        {
            let at = entries::<N, 6>(&first.q);
            bounds.patience = LONG_PATIENCE;
            let mut branches = wrist.branches(&goal.rotation, &goal.position, &at, MARGIN);
            while let Some(start) = branches.take_nearest(&at) {
                if search.attempt::<FULL>(&entries(&start.q), &bounds) {
                    return SearchEnd::Converged;
                }
                if let Some(limit) = search.limit(u32::MAX, SearchEnd::Starts) {
                    return limit;
                }
            }
            bounds.patience = TIMEOUT;
            let is_strict = goal.position_tolerance.max(goal.rotation_tolerance) < MARGIN;
            if is_strict && !branches.is_incomplete {
                (most, then) = (search.starts + HOPELESS_STARTS, SearchEnd::NoBranch);
            }
        }
        let mut closed_form_after = if self.redundant.is_some() { FIRST_STARTS } else { u32::MAX };
        let offset = (options.restart_seed >> 11) as f64 / (1_u64 << 53) as f64;
        let mut spread = Spread { point: [offset; N], stride: &self.stride };
        let mut start = first;
        loop {
            if let Some(limit) = search.limit(most, then) {
                return limit;
            }
            bounds.max_iterations =
                options.max_iterations.min(options.max_total_iterations - search.iterations);
            if search.attempt_from::<FULL>(&mut start, &bounds) {
                return SearchEnd::Converged;
            }
            start = Start::new::<FULL>(self, goal, &self.restart(&mut spread, goal));
            // Other arms have no code for this.
            if FULL && N == 7 && search.starts >= closed_form_after {
                closed_form_after = u32::MAX;
                if let Some(end) = self.hold(search, seed, &bounds) {
                    return end;
                }
                most = search.starts + LAST_STARTS.max(options.max_starts / 4);
            }
        }
    }

    /// Searches next to the seed, if a solution may be there; returns why the search ended, if it did.
    #[inline(always)]
    fn next_to<const FULL: bool>(
        &self,
        search: &mut Search<'_, N>,
        seed: &[f64; N],
        first: &Start<N>,
        bounds: &Bounds<N>,
    ) -> Option<SearchEnd> {
        let centre = self.clamped(seed);
        let goal = search.goal;
        // A joint that a full turn brought into its range may have been next to its limit.
        let is_near = self.is_near::<FULL>(goal, first)
            || (centre != first.q && self.is_near::<FULL>(goal, &Start::new::<FULL>(self, goal, &centre)));
        if is_near { self.explore_near::<FULL>(search, &centre, bounds) } else { None }
    }

    #[inline(never)]
    fn explore_near<const FULL: bool>(
        &self,
        search: &mut Search<'_, N>,
        centre: &[f64; N],
        bounds: &Bounds<N>,
    ) -> Option<SearchEnd> {
        let near = self.around(centre, NEAR_BOX, bounds);
        let mut spread = Spread { point: [0.5; N], stride: &self.stride };
        let mut start = *centre;
        for _ in 0..NEAR_STARTS {
            if search.attempt::<FULL>(&start, &near) {
                return Some(SearchEnd::Converged);
            }
            let limit = search.limit(u32::MAX, SearchEnd::Starts);
            if limit.is_some() {
                return limit;
            }
            start = spread.between(&near);
        }
        None
    }

    /// Searches by the closed form of a seven-joint arm, over the positions of its held joint; returns why the search
    /// ended, if it did.
    #[inline(never)]
    fn hold(&self, search: &mut Search<'_, N>, seed: &[f64; N], bounds: &Bounds<N>) -> Option<SearchEnd> {
        let (redundant, seed) = (self.redundant.as_ref()?, entries::<N, 7>(&self.nearest_allowed(seed)));
        let target = &search.goal.target;
        let bounds = Bounds { patience: LONG_PATIENCE, ..*bounds };
        let [lower, upper] = redundant.range();
        let mut outside = Ranking { entries: [(f64::INFINITY, [0.0; 7]); WIDE_STARTS] };
        for i in 0..=HELD_POSITIONS {
            let held = match i {
                0 => redundant.held_position(&seed),
                _ => lower + (upper - lower) * f64::from(i - 1) / f64::from(HELD_POSITIONS - 1),
            };
            let mut branches = redundant.branches(target, held, &seed, WIDE_MARGIN);
            while let Some(branch) = branches.take_nearest(&redundant.rest_of(&seed)) {
                let start = redundant.complete(held, &branch.q);
                if branch.moved > MARGIN {
                    outside.insert(branch.moved, start);
                    continue;
                }
                if search.attempt::<true>(&entries(&start), &bounds) {
                    return Some(SearchEnd::Converged);
                }
                if let Some(limit) = search.limit(u32::MAX, SearchEnd::Starts) {
                    return Some(limit);
                }
            }
        }
        let near = outside.entries.iter().take_while(|(moved, _)| moved.is_finite());
        for (_, start) in near {
            if search.attempt::<true>(&entries(start), &bounds) {
                return Some(SearchEnd::Converged);
            }
            if let Some(limit) = search.limit(u32::MAX, SearchEnd::Starts) {
                return Some(limit);
            }
        }
        None
    }

    /// One descent from the previous configuration, confined to its neighbourhood; further ones if it is blocked.
    pub(super) fn follow(
        &self,
        target: &Isometry3<f64>,
        previous: &[f64; N],
        options: &IkOptions,
    ) -> SearchResult<N> {
        let goal = Goal::new(target, options);
        if goal.full {
            self.follow_for::<true>(&goal, previous, options)
        } else {
            self.follow_for::<false>(&goal, previous, options)
        }
    }

    #[inline(always)]
    fn follow_for<const FULL: bool>(
        &self,
        goal: &Goal,
        previous: &[f64; N],
        options: &IkOptions,
    ) -> SearchResult<N> {
        // A full turn, although nearest to a seed, would be a jump here.
        let start = self.clamped(previous);
        let bounds = Bounds {
            lower: self.lower,
            upper: self.upper,
            wrap: false,
            max_iterations: options.max_iterations,
            patience: LONG_PATIENCE,
            retreat: true,
        };
        let bounds = self.around(&start, options.max_joint_step, &bounds);
        let mut at = Start::new::<FULL>(self, goal, &start);
        let attempt = descend::<N, FULL>(self, goal, &mut at, &bounds);
        if attempt.converged {
            return answer(attempt, 1, SearchEnd::Converged);
        }
        self.unblock::<FULL>(goal, &start, &bounds, attempt, options)
    }

    /// A blocked step: further starts in the neighbourhood and, if the arm has lost the path, the way to a solution
    /// elsewhere.
    #[cold]
    #[inline(never)]
    fn unblock<const FULL: bool>(
        &self,
        goal: &Goal,
        from: &[f64; N],
        bounds: &Bounds<N>,
        blocked: Attempt<N>,
        options: &IkOptions,
    ) -> SearchResult<N> {
        let (iterations, starts) = (blocked.iterations, 1);
        let mut search = Search { chain: self, goal, options, best: Some(blocked), starts, iterations };
        let mut spread = Spread { point: [0.5; N], stride: &self.stride };
        for _ in 1..NEAR_STARTS {
            let start = spread.between(bounds);
            if search.attempt::<FULL>(&start, bounds) {
                break;
            }
        }
        let is_lost = |best: &Attempt<N>| !best.converged && best.residual.cost > LOST;
        if search.best.as_ref().is_some_and(is_lost) {
            let elsewhere = self.search_for::<FULL>(goal, from, options);
            search.starts += elsewhere.report.starts;
            search.iterations += elsewhere.report.iterations;
            if elsewhere.converged {
                let mut attempt = self.at::<FULL>(goal, &elsewhere.q);
                let far = from.iter().zip(&attempt.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                if far > options.max_joint_step {
                    let share = options.max_joint_step / far;
                    for i in 0..N {
                        let q = from[i] + (attempt.q[i] - from[i]) * share;
                        attempt.q[i] = q.max(bounds.lower[i]).min(bounds.upper[i]);
                    }
                    attempt = self.at::<FULL>(goal, &attempt.q);
                }
                search.best = Some(attempt);
            }
        }
        let Search { best, starts, iterations, .. } = search;
        let mut best = best.unwrap_or_else(|| self.at::<FULL>(goal, from));
        best.iterations = iterations;
        let end = if best.converged { SearchEnd::Converged } else { SearchEnd::Blocked };
        answer(best, starts, end)
    }

    /// A configuration as it is.
    fn at<const FULL: bool>(&self, goal: &Goal, q: &[f64; N]) -> Attempt<N> {
        let Start { q, residual, .. } = Start::new::<FULL>(self, goal, q);
        Attempt { q, residual, iterations: 0, converged: goal.is_met(&residual) }
    }

    /// Whether a solution may exist with every joint within [`NEAR`] of `start`, by the linear terms.
    fn is_near<const FULL: bool>(&self, goal: &Goal, start: &Start<N>) -> bool {
        let most = NEAR * NEAR_SLACK;
        let residual = &start.residual;
        if residual.position_error > most * self.leverage || residual.rotation_error > most * N as f64 {
            return false;
        }
        let mut pass = start.pass;
        goal.jacobian::<N, FULL>(self, &mut pass);
        residual.rows.iter().enumerate().all(|(row, error)| {
            let gain: f64 = pass.columns.iter().map(|column| column[row].abs()).sum();
            error.abs() <= most * gain + goal.position_tolerance
        })
    }

    fn clamped(&self, q: &[f64; N]) -> [f64; N] {
        let mut clamped = *q;
        for i in 0..N {
            clamped[i] = clamped[i].max(self.lower[i]).min(self.upper[i]);
        }
        clamped
    }

    /// Bounds that also keep every joint within `distance` of `centre`.
    fn around(&self, centre: &[f64; N], distance: f64, like: &Bounds<N>) -> Bounds<N> {
        let mut bounds = Bounds { wrap: false, patience: LONG_PATIENCE, ..*like };
        for i in 0..N {
            bounds.lower[i] = bounds.lower[i].max(centre[i] - distance);
            bounds.upper[i] = bounds.upper[i].min(centre[i] + distance);
        }
        bounds
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

/// The starts that were moved least, in the order of that distance.
struct Ranking {
    entries: [(f64, [f64; 7]); WIDE_STARTS],
}

impl Ranking {
    fn insert(&mut self, moved: f64, start: [f64; 7]) {
        let place = self.entries.iter().position(|(other, _)| moved < *other);
        if let Some(tail) = place.and_then(|place| self.entries.get_mut(place..)) {
            tail.rotate_right(1);
            if let Some(slot) = tail.first_mut() {
                *slot = (moved, start);
            }
        }
    }
}

/// The first `M` entries of `N`, zero where there are fewer.
fn entries<const N: usize, const M: usize>(q: &[f64; N]) -> [f64; M] {
    let mut entries = [0.0; M];
    for (entry, value) in entries.iter_mut().zip(q) {
        *entry = *value;
    }
    entries
}

fn answer<const N: usize>(attempt: Attempt<N>, starts: u32, end: SearchEnd) -> SearchResult<N> {
    let report = IkReport {
        position_error: attempt.residual.position_error,
        rotation_error: attempt.residual.rotation_error,
        iterations: attempt.iterations,
        starts,
        end,
    };
    SearchResult { q: attempt.q, report, converged: attempt.converged }
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

    /// The next configuration within finite bounds.
    fn between(&mut self, bounds: &Bounds<N>) -> [f64; N] {
        let mut q = self.next();
        for i in 0..N {
            q[i] = bounds.lower[i] + (bounds.upper[i] - bounds.lower[i]) * q[i];
        }
        q
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
