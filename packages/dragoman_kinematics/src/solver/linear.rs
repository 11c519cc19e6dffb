//! The damped least-squares step, by factorising a small symmetric positive definite matrix in place.
//!
//! Inverse kinematics took 42 to 68 % longer with nalgebra's `Cholesky`, which takes square roots and does not unroll.

use super::chain::Column;

/// Factorises the lower triangle of `matrix` as `L D L^T` and solves for `rhs`, both in place. The diagonal of
/// `matrix` ends up holding the reciprocals of `D`.
#[inline(always)]
pub(super) fn solve<const M: usize>(matrix: &mut [[f64; M]; M], rhs: &mut [f64; M]) {
    for j in 0..M {
        let mut scaled = [0.0; M];
        let mut pivot = matrix[j][j];
        for k in 0..j {
            // D[k] * L[j][k]; the stored row still holds that product.
            let product = matrix[j][k];
            scaled[k] = product * matrix[k][k];
            pivot -= product * scaled[k];
        }
        let reciprocal = 1.0 / pivot;
        for i in j + 1..M {
            let mut entry = matrix[i][j];
            for k in 0..j {
                entry -= matrix[i][k] * scaled[k];
            }
            matrix[i][j] = entry;
        }
        for k in 0..j {
            matrix[j][k] = scaled[k];
        }
        matrix[j][j] = reciprocal;
    }
    substitute(matrix, rhs);
}

/// Solves with the factors that [`solve`] left.
#[inline(always)]
pub(super) fn substitute<const M: usize>(factors: &[[f64; M]; M], rhs: &mut [f64; M]) {
    for i in 0..M {
        for k in 0..i {
            rhs[i] -= factors[i][k] * rhs[k];
        }
    }
    for i in 0..M {
        rhs[i] *= factors[i][i];
    }
    for i in (0..M).rev() {
        for k in i + 1..M {
            rhs[i] -= factors[k][i] * rhs[k];
        }
    }
}

/// `J^T J + damping`, lower triangle.
#[inline(always)]
pub(super) fn normal<const N: usize>(jacobian: &[Column; N], damping: f64) -> [[f64; N]; N] {
    let mut matrix = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let mut sum = 0.0;
            for k in 0..6 {
                sum += jacobian[i][k] * jacobian[j][k];
            }
            matrix[i][j] = sum;
        }
        matrix[i][i] += damping;
    }
    matrix
}

/// `J J^T + damping`, lower triangle.
#[inline(always)]
pub(super) fn gram<const N: usize>(jacobian: &[Column; N], damping: f64) -> [[f64; 6]; 6] {
    let mut matrix = [[0.0; 6]; 6];
    for column in jacobian {
        for i in 0..6 {
            for j in 0..=i {
                matrix[i][j] += column[i] * column[j];
            }
        }
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row[i] += damping;
    }
    matrix
}

/// `J^T rows`.
#[inline(always)]
pub(super) fn project<const N: usize>(jacobian: &[Column; N], rows: &[f64; 6]) -> [f64; N] {
    let mut projected = [0.0; N];
    for i in 0..N {
        let mut sum = 0.0;
        for k in 0..6 {
            sum += jacobian[i][k] * rows[k];
        }
        projected[i] = sum;
    }
    projected
}

/// Joint motion that minimises `|J dq - rows|^2 + damping |dq|^2`. Both forms of the normal equations give the
/// same answer; the smaller one is solved.
#[inline(always)]
pub(super) fn damped_step<const N: usize>(jacobian: &[Column; N], rows: &[f64; 6], damping: f64) -> [f64; N] {
    damped_step_and_rest(jacobian, rows, damping).0
}

/// As [`damped_step`], with `|J dq - rows|^2`, the part of the rows that the motion leaves.
#[inline(always)]
pub(super) fn damped_step_and_rest<const N: usize>(
    jacobian: &[Column; N],
    rows: &[f64; 6],
    damping: f64,
) -> ([f64; N], f64) {
    if N <= 6 {
        let mut matrix = normal(jacobian, damping);
        let gradient = project(jacobian, rows);
        let mut step = gradient;
        solve(&mut matrix, &mut step);
        // (J^T J + damping) dq = J^T rows, inserted.
        let mut rest: f64 = rows.iter().map(|row| row * row).sum();
        for (step, gradient) in step.iter().zip(&gradient) {
            rest -= step * (gradient + damping * step);
        }
        (step, rest)
    } else {
        let mut matrix = gram(jacobian, damping);
        let mut multipliers = *rows;
        solve(&mut matrix, &mut multipliers);
        // (J J^T + damping) y = rows and dq = J^T y: the rest is damping y.
        let squared: f64 = multipliers.iter().map(|value| value * value).sum();
        (project(jacobian, &multipliers), damping * damping * squared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_agree_and_solve_the_normal_equations() {
        let mut jacobian = [[0.0; 6]; 8];
        for (i, column) in jacobian.iter_mut().enumerate() {
            for (k, entry) in column.iter_mut().enumerate() {
                *entry = ((i * 7 + k * 3) as f64 * 1.7).sin();
            }
        }
        let rows = [0.3, -0.1, 0.7, 0.2, 0.9, -0.4];
        let damping = 0.01;
        let dual = damped_step(&jacobian, &rows, damping);
        let mut matrix = normal(&jacobian, damping);
        let mut primal = project(&jacobian, &rows);
        solve(&mut matrix, &mut primal);
        for (a, b) in dual.iter().zip(&primal) {
            assert!((a - b).abs() < 1e-12, "{dual:?} {primal:?}");
        }
        // The gradient vanishes at the minimum.
        let mut left = rows;
        for (column, step) in jacobian.iter().zip(&dual) {
            for (entry, value) in left.iter_mut().zip(column) {
                *entry -= value * step;
            }
        }
        let (_, rest) = damped_step_and_rest(&jacobian, &rows, damping);
        assert!((rest - left.iter().map(|entry| entry * entry).sum::<f64>()).abs() < 1e-12);
        for (gradient, step) in project(&jacobian, &left).iter().zip(&dual) {
            assert!((gradient - damping * step).abs() < 1e-12);
        }
    }
}
