//! Nelder-Mead, as in the Ranger thesis (4.1, 4.4): the sum of squared errors, first over the offsets of the joints,
//! then over the lengths, then over all. The measuring frame is aligned again for every table.

use argmin::core::{CostFunction, Error, Executor};
use argmin::solver::neldermead::NelderMead;
use argmin_math::{ArgminAdd, ArgminMul, ArgminSub};

use super::descent::{FitState, Problem};
use super::fit::{Stage, Statistics, aligned, distances, plausible};
use super::{CalibrationError, DhTable, Parameter};

/// Maximum number of iterations per parameter, as MATLAB's `fminsearch`.
const ITERATIONS: u64 = 200;
/// Maximum number of new simplexes around the best point: one that has collapsed does not move any more.
const RESTARTS: usize = 20;

/// The objective over a part of the parameters.
struct Objective<'a> {
    problem: &'a Problem<'a>,
    table: DhTable,
    parameters: Vec<Parameter>,
    bounds: Vec<(f64, f64)>,
}

impl Objective<'_> {
    /// The table with these values, in units of the plausible errors from those of the start.
    fn table(&self, values: &[f64]) -> DhTable {
        let mut table = self.table.clone();
        for (parameter, value) in self.parameters.iter().zip(values) {
            table.set(*parameter, self.table.value(*parameter) + value * plausible(*parameter));
        }
        table
    }

    fn state(&self, values: &[f64]) -> Result<FitState, CalibrationError> {
        let table = self.table(values);
        let frame = aligned(&table, self.problem.measurements, self.problem.frame)?;
        Ok(FitState { table, frame })
    }
}

/// Values of the parameters, in units of the plausible errors from those of the start.
#[derive(Clone)]
struct Values(Vec<f64>);

impl Values {
    fn with(&self, other: &Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| combine(*a, *b)).collect())
    }
}

impl ArgminAdd<Self, Self> for Values {
    fn add(&self, other: &Self) -> Self {
        self.with(other, |a, b| a + b)
    }
}

impl ArgminSub<Self, Self> for Values {
    fn sub(&self, other: &Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

impl ArgminMul<f64, Self> for Values {
    fn mul(&self, factor: &f64) -> Self {
        Self(self.0.iter().map(|value| value * factor).collect())
    }
}

impl CostFunction for &Objective<'_> {
    type Param = Values;
    type Output = f64;

    fn cost(&self, values: &Values) -> Result<f64, Error> {
        let state = self.state(&values.0)?;
        let is_within =
            self.parameters.iter().zip(&self.bounds).all(|(parameter, (lower, upper))| {
                (*lower..=*upper).contains(&state.table.value(*parameter))
            });
        if !is_within {
            return Ok(f64::MAX);
        }
        Ok(self.problem.residuals(&state).iter().map(nalgebra::Vector3::norm_squared).sum())
    }
}

/// The best table, and the intermediate ones.
pub(super) fn stages(
    problem: &Problem<'_>,
    start: &DhTable,
) -> Result<(FitState, Vec<Stage>), CalibrationError> {
    let mut stages = Vec::new();
    let mut table = start.clone();
    let mut state = None;
    let is_angle: fn(&Parameter) -> bool = |parameter| parameter.entry.is_angle();
    let is_length: fn(&Parameter) -> bool = |parameter| !parameter.entry.is_angle();
    let all: fn(&Parameter) -> bool = |_| true;
    let choices = [
        ("joint offsets only", is_angle),
        ("separately optimized: joint offsets, then lengths", is_length),
        ("simultaneously optimized", all),
    ];
    let mut estimated: Vec<Parameter> = Vec::new();
    for (name, is_chosen) in choices {
        let chosen =
            problem.parameters.iter().zip(problem.bounds).filter(|(parameter, _)| is_chosen(parameter));
        let (parameters, bounds): (Vec<Parameter>, Vec<(f64, f64)>) =
            chosen.map(|(parameter, bounds)| (*parameter, *bounds)).unzip();
        if parameters.is_empty() {
            continue;
        }
        let new = parameters.iter().filter(|parameter| !estimated.contains(parameter)).copied();
        let new: Vec<_> = new.collect();
        estimated.extend(new);
        let objective = Objective { problem, table, parameters, bounds };
        let best = objective.state(&minimum(&objective)?.0)?;
        table = best.table.clone();
        let errors = Statistics::of(&distances(&problem.residuals(&best)));
        stages.push(Stage { name, table: table.clone(), estimated: estimated.clone(), errors });
        state = Some(best);
    }
    let reason = || CalibrationError::Nothing { reason: "no parameter is left".to_owned() };
    Ok((state.ok_or_else(reason)?, stages))
}

/// The best table near `start`, over all parameters at once.
pub(super) fn refined(problem: &Problem<'_>, start: &DhTable) -> Result<FitState, CalibrationError> {
    let (table, parameters) = (start.clone(), problem.parameters.to_vec());
    let objective = Objective { problem, table, parameters, bounds: problem.bounds.to_vec() };
    objective.state(&minimum(&objective)?.0)
}

fn minimum(objective: &Objective<'_>) -> Result<Values, CalibrationError> {
    let failed = |error: Error| CalibrationError::Failed { reason: error.to_string() };
    let count = objective.parameters.len();
    let mut best = Values(vec![0.0; count]);
    let mut cost = objective.cost(&best).map_err(failed)?;
    for restart in 0..RESTARTS {
        // Each new simplex points the other way.
        let edge = if restart % 2 == 0 { 0.5 } else { -0.25 };
        let corners = (0..=count).map(|corner| {
            let mut vertex = best.clone();
            if let Some(value) = corner.checked_sub(1).and_then(|at| vertex.0.get_mut(at)) {
                *value += edge;
            }
            vertex
        });
        let solver =
            NelderMead::new(corners.collect()).with_sd_tolerance(1e-12 * cost.max(1e-12)).map_err(failed)?;
        let executor =
            Executor::new(objective, solver).configure(|state| state.max_iters(ITERATIONS * count as u64));
        let result = executor.run().map_err(failed)?;
        let state = result.state();
        let Some(found) = state.best_param.clone() else { break };
        let gain = cost - state.best_cost;
        if gain > 0.0 {
            (best, cost) = (found, state.best_cost);
        }
        if gain < 1e-6 * cost {
            break;
        }
    }
    Ok(best)
}
