//! Levenberg-Marquardt from one starting configuration.
//!
//! Damping follows Sugihara, *Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method*
//! (IEEE T-RO 27, 2011): proportional to the residual, so that steps are cautious far away and converge fast close
//! by, also where the target is singular.

use super::chain::Chain;
use super::goal::{Goal, Residual};
use super::linear::damped_step;
use std::f64::consts::TAU;
use std::time::Instant;

/// Damping per unit of cost.
const DAMPING: f64 = 0.1;
/// Keeps the matrix regular where target and Jacobian are both singular.
const LEAST_DAMPING: f64 = 1e-12;
/// Greatest joint motion of one iteration, rad or m.
const LARGEST_STEP: f64 = 1.5;
/// How often joints that would leave their range are taken out of one step.
const REDUCTIONS: usize = 3;
/// Iterations between two looks at the clock.
const CLOCK_INTERVAL: u32 = 8;

/// Where the joints may go and when to give up.
pub(super) struct Bounds<const N: usize> {
    pub(super) lower: [f64; N],
    pub(super) upper: [f64; N],
    /// Whether a joint that leaves its range may come back a full turn away.
    pub(super) wrap: bool,
    pub(super) max_iterations: u32,
    /// Give up when the cost has not halved for this many iterations.
    pub(super) patience: u32,
    pub(super) deadline: Instant,
}

/// The best configuration of one descent.
pub(super) struct Attempt<const N: usize> {
    pub(super) q: [f64; N],
    pub(super) residual: Residual,
    pub(super) iterations: u32,
    pub(super) converged: bool,
}

/// Descends from `start`, which must lie within the bounds.
#[inline(never)]
pub(super) fn descend<const N: usize, const FULL: bool>(
    chain: &Chain<N>,
    goal: &Goal,
    start: &[f64; N],
    bounds: &Bounds<N>,
) -> Attempt<N> {
    let mut q = *start;
    let mut pass = chain.pass(&q);
    let mut residual = goal.residual::<N, FULL>(&pass);
    let mut best = Attempt { q, residual, iterations: 0, converged: goal.is_met(&residual) };
    let mut milestone = residual.cost;
    let mut since_milestone = 0;
    while !best.converged && best.iterations < bounds.max_iterations && since_milestone < bounds.patience {
        if best.iterations % CLOCK_INTERVAL == CLOCK_INTERVAL - 1 && Instant::now() >= bounds.deadline {
            break;
        }
        step::<N, FULL>(chain, goal, &mut q, &pass, &residual, bounds);
        pass = chain.pass(&q);
        residual = goal.residual::<N, FULL>(&pass);
        best.iterations += 1;
        since_milestone += 1;
        if residual.cost < 0.5 * milestone {
            milestone = residual.cost;
            since_milestone = 0;
        }
        if residual.cost < best.residual.cost || goal.is_met(&residual) {
            best.q = q;
            best.residual = residual;
            best.converged = goal.is_met(&residual);
        }
    }
    best
}

/// One damped step within the bounds.
#[inline(always)]
fn step<const N: usize, const FULL: bool>(
    chain: &Chain<N>,
    goal: &Goal,
    q: &mut [f64; N],
    pass: &super::chain::Pass<N>,
    residual: &Residual,
    bounds: &Bounds<N>,
) {
    let mut jacobian = goal.jacobian::<N, FULL>(chain, pass);
    let damping = DAMPING * residual.cost + LEAST_DAMPING;
    let mut motion = damped_step(&jacobian, &residual.rows, damping);
    for _ in 0..REDUCTIONS {
        let mut blocked = false;
        for i in 0..N {
            let outward =
                (q[i] >= bounds.upper[i] && motion[i] > 0.0) || (q[i] <= bounds.lower[i] && motion[i] < 0.0);
            if outward && !(bounds.wrap && can_wrap(chain, i, q[i] + motion[i], bounds)) {
                jacobian[i] = [0.0; 6];
                blocked = true;
            }
        }
        if !blocked {
            break;
        }
        motion = damped_step(&jacobian, &residual.rows, damping);
    }
    let largest = motion.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
    let factor = if largest > LARGEST_STEP { LARGEST_STEP / largest } else { 1.0 };
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
}

/// Whether position `moved` of joint `i`, outside its range, is within it one turn away.
#[inline(always)]
fn can_wrap<const N: usize>(chain: &Chain<N>, i: usize, moved: f64, bounds: &Bounds<N>) -> bool {
    let turned = if moved > bounds.upper[i] { moved - TAU } else { moved + TAU };
    chain.is_turning(i) && turned >= bounds.lower[i] && turned <= bounds.upper[i]
}
