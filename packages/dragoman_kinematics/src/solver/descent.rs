//! Levenberg-Marquardt from one starting configuration.
//!
//! Damping follows Sugihara, *Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method*
//! (IEEE T-RO 27, 2011): proportional to the residual, so that steps are cautious far away and converge fast close
//! by, also where the target is singular.

use super::chain::{Chain, Pass};
use super::goal::{Goal, Residual};
use super::linear::damped_step_and_rest;
use std::f64::consts::TAU;

/// Damping per unit of cost.
const DAMPING: f64 = 0.1;
/// Keeps the matrix regular where target and Jacobian are both singular.
const MIN_DAMPING: f64 = 1e-12;
/// Maximum joint motion of one iteration, rad or m.
const MAX_STEP: f64 = 1.5;
/// A step that is expected to leave more than the share [`STALLED`] of the cost counts as [`STALL_PENALTY`] further
/// steps without progress.
const STALLED: f64 = 0.5;
const STALL_PENALTY: u32 = 2;
/// Share of a joint's range, about its middle, within which there is no motion away from the limits.
const COMFORT: f64 = 0.8;
/// Motion away from a limit at the limit itself, rad or m per tracking call.
const MAX_RETREAT: f64 = 0.02;
/// Maximum number of rounds of excluding joints that would leave their range from one step.
const REDUCTIONS: usize = 3;

/// Joint bounds and stopping criteria.
pub(super) struct Bounds<const N: usize> {
    pub(super) lower: [f64; N],
    pub(super) upper: [f64; N],
    /// Whether a joint that leaves its range may come back a full turn away.
    pub(super) wrap: bool,
    pub(super) max_iterations: u32,
    /// Give up when the cost has not halved for this many iterations.
    pub(super) patience: u32,
    /// Whether a redundant arm moves away from limits that are near.
    pub(super) retreat: bool,
}

/// A starting configuration, with its pose and error.
#[derive(Clone, Copy)]
pub(super) struct Start<const N: usize> {
    pub(super) q: [f64; N],
    pub(super) pass: Pass<N>,
    pub(super) residual: Residual,
}

impl<const N: usize> Start<N> {
    pub(super) fn new<const FULL: bool>(chain: &Chain<N>, goal: &Goal, q: &[f64; N]) -> Self {
        let mut pass = Pass::EMPTY;
        chain.pass(q, &mut pass);
        Self { q: *q, residual: goal.residual::<N, FULL>(&pass), pass }
    }
}

/// The best configuration of one descent.
pub(super) struct Attempt<const N: usize> {
    pub(super) q: [f64; N],
    pub(super) residual: Residual,
    pub(super) iterations: u32,
    pub(super) converged: bool,
}

/// Descends from `start`, which must lie within the bounds, and is used up.
#[inline(never)]
pub(super) fn descend<const N: usize, const FULL: bool>(
    chain: &Chain<N>,
    goal: &Goal,
    start: &mut Start<N>,
    bounds: &Bounds<N>,
) -> Attempt<N> {
    let Start { q, pass, residual } = start;
    let mut best = Attempt { q: *q, residual: *residual, iterations: 0, converged: goal.is_met(residual) };
    let mut milestone = residual.cost;
    let mut since_milestone = 0;
    // A redundant arm that follows a path would drift into its limits; one nudge per call keeps it clear of them.
    let mut retreat = if N > 6 && bounds.retreat { retreat_from_limits(chain, q) } else { [0.0; N] };
    while !best.converged && best.iterations < bounds.max_iterations && since_milestone < bounds.patience {
        let predicted = step::<N, FULL>(chain, goal, q, pass, residual, &retreat, bounds);
        retreat = [0.0; N];
        if bounds.wrap && predicted > STALLED * residual.cost {
            // Next to a local minimum that is not a solution: restarts are better than steps.
            since_milestone += STALL_PENALTY;
        }
        chain.pass(q, pass);
        *residual = goal.residual::<N, FULL>(pass);
        best.iterations += 1;
        since_milestone += 1;
        if residual.cost < 0.5 * milestone {
            milestone = residual.cost;
            since_milestone = 0;
        }
        if residual.cost < best.residual.cost || goal.is_met(residual) {
            best.q = *q;
            best.residual = *residual;
            best.converged = goal.is_met(residual);
        }
    }
    best
}

/// One damped step within the bounds. `retreat` is joint motion wanted beside the task: what it does to the tool is
/// taken off the error, so that only the part without effect on the tool remains. Returns the cost that is expected to
/// remain.
#[inline(always)]
fn step<const N: usize, const FULL: bool>(
    chain: &Chain<N>,
    goal: &Goal,
    q: &mut [f64; N],
    pass: &mut Pass<N>,
    residual: &Residual,
    retreat: &[f64; N],
    bounds: &Bounds<N>,
) -> f64 {
    goal.jacobian::<N, FULL>(chain, pass);
    let jacobian = &mut pass.columns;
    let damping = DAMPING * residual.cost + MIN_DAMPING;
    let mut rows = residual.rows;
    for (column, retreat) in jacobian.iter().zip(retreat) {
        for (row, entry) in rows.iter_mut().zip(column) {
            *row -= entry * retreat;
        }
    }
    let (mut motion, mut rest) = ([0.0; N], 0.0);
    for round in 0..=REDUCTIONS {
        (motion, rest) = damped_step_and_rest(jacobian, &rows, damping);
        add(&mut motion, retreat);
        let mut blocked = false;
        for i in 0..N {
            let outward =
                (q[i] >= bounds.upper[i] && motion[i] > 0.0) || (q[i] <= bounds.lower[i] && motion[i] < 0.0);
            if outward && !(bounds.wrap && can_wrap(chain, i, q[i] + motion[i], bounds)) {
                jacobian[i] = [0.0; 6];
                blocked = true;
            }
        }
        if !blocked || round == REDUCTIONS {
            break;
        }
    }
    let largest = motion.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let factor = if largest > MAX_STEP { MAX_STEP / largest } else { 1.0 };
    for i in 0..N {
        let moved = q[i] + motion[i] * factor;
        q[i] = if moved >= bounds.lower[i] && moved <= bounds.upper[i] {
            moved
        } else if bounds.wrap && can_wrap(chain, i, moved, bounds) {
            if moved > bounds.upper[i] { moved - TAU } else { moved + TAU }
        } else {
            moved.max(bounds.lower[i]).min(bounds.upper[i])
        };
    }
    0.5 * rest
}

#[inline(always)]
fn add<const N: usize>(motion: &mut [f64; N], other: &[f64; N]) {
    for i in 0..N {
        motion[i] += other[i];
    }
}

/// Motion away from limits that are near, rad or m; zero in the middle of the ranges.
fn retreat_from_limits<const N: usize>(chain: &Chain<N>, q: &[f64; N]) -> [f64; N] {
    let mut motion = [0.0; N];
    for i in 0..N {
        let (middle, half) =
            (0.5 * (chain.lower[i] + chain.upper[i]), 0.5 * (chain.upper[i] - chain.lower[i]));
        if half.is_finite() {
            let side = (q[i] - middle) / half;
            let depth = ((side.abs() - COMFORT) / (1.0 - COMFORT)).clamp(0.0, 1.0);
            motion[i] = -side.signum() * depth * MAX_RETREAT;
        }
    }
    motion
}

/// Whether position `moved` of joint `i`, outside its range, is within it one turn away.
#[inline(always)]
fn can_wrap<const N: usize>(chain: &Chain<N>, i: usize, moved: f64, bounds: &Bounds<N>) -> bool {
    let turned = if moved > bounds.upper[i] { moved - TAU } else { moved + TAU };
    chain.is_turning(i) && turned >= bounds.lower[i] && turned <= bounds.upper[i]
}
