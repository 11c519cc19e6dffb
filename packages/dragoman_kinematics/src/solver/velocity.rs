//! Joint velocities for a desired tool twist.

use super::chain::{Chain, Column, Pass};
use super::linear::{damped_step, gram, normal, solve, substitute};
use super::options::VelocityReport;

/// Below this smallest singular value the inverse is damped; numerical filtering after Maciejewski and Klein (1988).
const SINGULAR_REGION: f64 = 0.02;
/// Maximum damping factor, reached in the singularity itself.
const MAX_DAMPING: f64 = 0.02;
/// Inverse iterations that estimate the smallest singular value.
const POWER_STEPS: usize = 4;
/// Keeps the estimate's matrix regular.
const REGULAR: f64 = 1e-12;

impl<const N: usize> Chain<N> {
    /// Damped least-squares joint velocities, uniformly scaled to the rate limits. Joints at a limit do not move
    /// outwards.
    pub(super) fn rates(&self, q: &[f64; N], twist: &[f64; 6]) -> ([f64; N], VelocityReport) {
        let mut pass = Pass::EMPTY;
        self.pass(q, &mut pass);
        self.jacobian(&mut pass);
        let mut jacobian = pass.columns;
        let mut rates = [0.0; N];
        let mut smallest = 0.0;
        for _ in 0..=N {
            smallest = smallest_singular_value(&jacobian);
            let nearness = 1.0 - (smallest / SINGULAR_REGION).powi(2);
            let damping = nearness.max(0.0) * MAX_DAMPING * MAX_DAMPING;
            rates = damped_step(&jacobian, twist, damping + REGULAR);
            let mut blocked = false;
            for i in 0..N {
                let outward =
                    (q[i] >= self.upper[i] && rates[i] > 0.0) || (q[i] <= self.lower[i] && rates[i] < 0.0);
                if outward {
                    jacobian[i] = [0.0; 6];
                    blocked = true;
                }
            }
            if !blocked {
                break;
            }
        }
        let mut left = *twist;
        for (column, rate) in jacobian.iter().zip(&rates) {
            for (entry, value) in left.iter_mut().zip(column) {
                *entry -= value * rate;
            }
        }
        let mut scale = 1.0_f64;
        for (rate, limit) in rates.iter().zip(&self.velocity) {
            if rate.abs() > *limit {
                scale = scale.min(limit / rate.abs());
            }
        }
        for (rate, limit) in rates.iter_mut().zip(&self.velocity) {
            *rate = (*rate * scale).clamp(-limit, *limit);
        }
        let residual = left.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        (rates, VelocityReport { scale, smallest_singular_value: smallest, residual })
    }
}

fn smallest_singular_value<const N: usize>(jacobian: &[Column; N]) -> f64 {
    if N <= 6 { smallest_root(normal(jacobian, REGULAR)) } else { smallest_root(gram(jacobian, REGULAR)) }
}

/// Square root of the smallest eigenvalue, by inverse iteration.
fn smallest_root<const M: usize>(mut matrix: [[f64; M]; M]) -> f64 {
    // Unequal entries: a vector of equal ones is orthogonal to the wanted eigenvector of many symmetric arms.
    let mut vector = std::array::from_fn(|i| 1.0 + 0.37 * i as f64);
    let mut gain = 1.0;
    for round in 0..POWER_STEPS {
        let length = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        vector = vector.map(|entry| entry / length);
        if round == 0 {
            solve(&mut matrix, &mut vector)
        } else {
            substitute(&matrix, &mut vector)
        }
        gain = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
    }
    (1.0 / gain).sqrt()
}
