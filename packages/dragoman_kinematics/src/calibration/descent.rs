//! Levenberg-Marquardt with bounds and iteratively reweighted residuals, for a small number of parameters.

use nalgebra::{DMatrix, DVector, Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

use super::fit::{Loss, is_estimated, plausible};
use super::{DhTable, Measurement, MeasuringFrame, Parameter};

const MAX_ITERATIONS: usize = 200;
/// A step smaller than this part of the plausible errors ends the descent.
const SMALL_STEP: f64 = 1e-9;

/// A table and the pose of the measuring frame in the base frame.
#[derive(Debug, Clone)]
pub(super) struct FitState {
    pub(super) table: DhTable,
    pub(super) frame: Isometry3<f64>,
}

/// What is estimated, and from what.
pub(super) struct Problem<'a> {
    pub(super) measurements: &'a [Measurement],
    pub(super) parameters: &'a [Parameter],
    pub(super) frame: &'a MeasuringFrame,
    pub(super) loss: Loss,
    /// Lower and upper bound of each parameter.
    pub(super) bounds: &'a [(f64, f64)],
}

impl Problem<'_> {
    /// Number of unknowns: the parameters, then the six of the measuring frame.
    pub(super) fn unknowns(&self) -> usize {
        self.parameters.len() + if is_estimated(self.frame) { 6 } else { 0 }
    }

    pub(super) fn residuals(&self, state: &FitState) -> Vec<Vector3<f64>> {
        residuals(state, self.measurements)
    }

    /// Residuals and their derivatives, one column per unknown, each for its plausible error.
    pub(super) fn linearized(&self, state: &FitState) -> (Vec<Vector3<f64>>, DMatrix<f64>) {
        let mut jacobian = DMatrix::zeros(3 * self.measurements.len(), self.unknowns());
        let mut residuals = Vec::with_capacity(self.measurements.len());
        for (index, measurement) in self.measurements.iter().enumerate() {
            let (tool, columns) = state.table.sensitivity(&measurement.joints, self.parameters);
            let measured = state.frame * measurement.point;
            residuals.push(measured - tool);
            let mut set = |column: usize, value: Vector3<f64>| {
                jacobian.fixed_slice_mut::<3, 1>(3 * index, column).copy_from(&value);
            };
            for (column, (parameter, derivative)) in self.parameters.iter().zip(columns).enumerate() {
                set(column, -derivative * plausible(*parameter));
            }
            if is_estimated(self.frame) {
                for (axis, unit) in [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().enumerate() {
                    let first = self.parameters.len();
                    set(first + axis, unit * super::fit::PLAUSIBLE_LENGTH);
                    let turn = unit.cross(&measured.coords) * super::fit::PLAUSIBLE_ANGLE;
                    set(first + 3 + axis, turn);
                }
            }
        }
        (residuals, jacobian)
    }

    /// `state` after a step in units of the plausible errors, within the bounds.
    fn stepped(&self, state: &FitState, step: &DVector<f64>) -> FitState {
        let mut next = state.clone();
        for ((parameter, step), (lower, upper)) in self.parameters.iter().zip(step.iter()).zip(self.bounds) {
            let value = state.table.value(*parameter) + step * plausible(*parameter);
            next.table.set(*parameter, value.clamp(*lower, *upper));
        }
        if let Some(frame) =
            step.as_slice().get(self.parameters.len()..).and_then(|rest| rest.first_chunk::<6>())
        {
            let [x, y, z, rx, ry, rz] = *frame;
            let shift = Vector3::new(x, y, z) * super::fit::PLAUSIBLE_LENGTH;
            let turn = Vector3::new(rx, ry, rz) * super::fit::PLAUSIBLE_ANGLE;
            let motion =
                Isometry3::from_parts(Translation3::from(shift), UnitQuaternion::from_scaled_axis(turn));
            next.frame = motion * state.frame;
        }
        next
    }

    /// Unknowns that may move along `-gradient`: not parameters at a bound that it would cross.
    fn movable(&self, state: &FitState, gradient: &DVector<f64>) -> Vec<usize> {
        let is_blocked = |index: usize| {
            let known = self.parameters.get(index).zip(self.bounds.get(index)).zip(gradient.get(index));
            known.is_some_and(|((parameter, (lower, upper)), slope)| {
                let value = state.table.value(*parameter);
                (value <= *lower && *slope > 0.0) || (value >= *upper && *slope < 0.0)
            })
        };
        (0..self.unknowns()).filter(|index| !is_blocked(*index)).collect()
    }

    /// The state of least cost near `state`, and its weights.
    pub(super) fn solve(&self, mut state: FitState) -> (FitState, Vec<f64>) {
        let mut damping = 1e-3;
        let mut weights = vec![1.0; self.measurements.len()];
        for _ in 0..MAX_ITERATIONS {
            let (residuals, jacobian) = self.linearized(&state);
            weights = self.loss.weights(&residuals, self.unknowns());
            let mut weighted = jacobian.clone();
            for (index, weight) in weights.iter().enumerate() {
                weighted.rows_mut(3 * index, 3).scale_mut(*weight);
            }
            let stacked = DVector::from_iterator(
                3 * residuals.len(),
                residuals.iter().flat_map(|residual| [residual.x, residual.y, residual.z]),
            );
            let gradient = weighted.transpose() * stacked;
            let movable = self.movable(&state, &gradient);
            let normal = (weighted.transpose() * &jacobian).select_columns(&movable).select_rows(&movable);
            let slope = gradient.select_rows(&movable);
            let before = cost(&residuals, &weights);
            let level = normal.diagonal().max().max(f64::MIN_POSITIVE);
            let mut moved = 0.0;
            let mut is_better = false;
            while damping < 1e12 {
                let mut damped = normal.clone();
                for index in 0..movable.len() {
                    // Unknowns without any effect stay where they are.
                    damped[(index, index)] += damping * (normal[(index, index)] + 1e-9 * level);
                }
                let Some(factors) = damped.cholesky() else {
                    damping *= 10.0;
                    continue;
                };
                let short = -factors.solve(&slope);
                let mut step = DVector::zeros(self.unknowns());
                for (index, value) in movable.iter().zip(short.iter()) {
                    step[*index] = *value;
                }
                let next = self.stepped(&state, &step);
                if cost(&self.residuals(&next), &weights) <= before {
                    (state, moved, is_better) = (next, step.amax(), true);
                    damping = (damping * 0.1).max(1e-12);
                    break;
                }
                damping *= 10.0;
            }
            if !is_better || moved < SMALL_STEP {
                break;
            }
        }
        (state, weights)
    }
}

/// Measured minus computed positions in the base frame, m.
pub(super) fn residuals(state: &FitState, measurements: &[Measurement]) -> Vec<Vector3<f64>> {
    let difference = |measurement: &Measurement| {
        let computed = state.table.forward(&measurement.joints);
        state.frame * measurement.point - Point3::from(computed.translation.vector)
    };
    measurements.iter().map(difference).collect()
}

fn cost(residuals: &[Vector3<f64>], weights: &[f64]) -> f64 {
    residuals.iter().zip(weights).map(|(residual, weight)| weight * residual.norm_squared()).sum()
}
