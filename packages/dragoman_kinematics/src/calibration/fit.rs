//! The estimate of an arm's parameters from measured tool positions, and how far it can be trusted.

use nalgebra::{DMatrix, Isometry3, Vector3};

use super::descent::{FitState, Problem, residuals};
use super::{CalibrationError, DhTable, Measurement, Parameter, align, check, simplex};
use crate::model::Model;

/// Error of an angle that is plausible before a calibration: 1 degree. The unit of angles in the analysis.
pub(super) const PLAUSIBLE_ANGLE: f64 = 0.017_453_292_519_943_295;
/// Error of a length that is plausible before a calibration, m. The unit of lengths in the analysis.
pub(super) const PLAUSIBLE_LENGTH: f64 = 3e-3;
/// Combinations of parameters whose standard deviation stays above this part of the plausible error are not determined.
const UNDETERMINED: f64 = 1.0 / 3.0;
/// Parameters whose standard deviation is above this part of the plausible error (0.1 degrees, 0.3 mm) are reported.
const UNCERTAIN: f64 = 0.1;
/// Minimum assumed error of a measurement, m: otherwise rounding errors would seem to determine parameters.
const MIN_NOISE: f64 = 1e-5;
/// A mean error after the fit above this part of the size of the measured region means that the measurements are of
/// another arm.
const MISFIT: f64 = 0.05;

pub(super) fn plausible(parameter: Parameter) -> f64 {
    if parameter.entry.is_angle() { PLAUSIBLE_ANGLE } else { PLAUSIBLE_LENGTH }
}

/// How errors count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Loss {
    /// By their squares, as in the Ranger thesis.
    Squares,
    /// By their squares up to 2.5 standard deviations, beyond linearly.
    #[default]
    Huber,
    /// Less and less beyond 3.5 standard deviations.
    Cauchy,
}

impl Loss {
    /// Weight of each squared residual. The scale of the errors is estimated by their median.
    pub(super) fn weights(self, residuals: &[Vector3<f64>], unknowns: usize) -> Vec<f64> {
        let scale = scale(residuals, unknowns);
        let weight = |residual: &Vector3<f64>| {
            let size = residual.norm();
            match self {
                Self::Huber if size > 2.5 * scale => 2.5 * scale / size,
                Self::Cauchy if scale > 0.0 => 1.0 / (1.0 + (size / (3.5 * scale)).powi(2)),
                _ => 1.0,
            }
        };
        residuals.iter().map(weight).collect()
    }
}

/// Standard deviation of one coordinate, from the median of the distances, m.
fn scale(residuals: &[Vector3<f64>], unknowns: usize) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(Vector3::norm).collect();
    sizes.sort_by(f64::total_cmp);
    let count = (3 * sizes.len()) as f64;
    let freedom = (count - unknowns as f64).max(1.0);
    // The median of the length of a vector of three normal variables is 1.538 standard deviations.
    sizes.get(sizes.len() / 2).map_or(0.0, |median| median / 1.538 * (count / freedom).sqrt())
}

/// The optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Levenberg-Marquardt, all parameters at once.
    #[default]
    LevenbergMarquardt,
    /// Nelder-Mead as in the Ranger thesis: the offsets of the joints, then the lengths, then all. Errors count by
    /// their squares.
    NelderMead,
}

/// The frame of the measuring device.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum MeasuringFrame {
    /// Unknown: estimated together with the parameters.
    #[default]
    Estimated,
    /// Its pose in the base frame.
    Known(Isometry3<f64>),
}

pub(super) fn is_estimated(frame: &MeasuringFrame) -> bool {
    matches!(frame, MeasuringFrame::Estimated)
}

/// What is estimated, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct FitOptions {
    /// The parameters to estimate; empty: [`DhTable::usual_parameters`].
    pub parameters: Vec<Parameter>,
    /// Values that the description does not have, rad or m; estimated parameters begin there, others keep them.
    pub start: Vec<(Parameter, f64)>,
    /// Maximum change of an angle, rad.
    pub max_angle: f64,
    /// Maximum change of a length, m.
    pub max_length: f64,
    /// Maximum changes of single parameters, rad or m.
    pub max_changes: Vec<(Parameter, f64)>,
    /// The measuring frame.
    pub frame: MeasuringFrame,
    /// How errors count; with Nelder-Mead always by their squares.
    pub loss: Loss,
    /// The optimizer.
    pub method: Method,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            parameters: Vec::new(),
            start: Vec::new(),
            max_angle: 0.2,
            max_length: 0.05,
            max_changes: Vec::new(),
            frame: MeasuringFrame::Estimated,
            loss: Loss::default(),
            method: Method::default(),
        }
    }
}

/// Mean and standard deviation of distances (Ranger thesis, 4.3.3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Mean, m.
    pub mean: f64,
    /// Sample standard deviation, m.
    pub deviation: f64,
    /// Maximum value, m.
    pub greatest: f64,
}

impl Statistics {
    /// Of distances, m.
    pub fn of(distances: &[f64]) -> Self {
        let count = distances.len() as f64;
        let mean = distances.iter().sum::<f64>() / count.max(1.0);
        let squares = distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>();
        let greatest = distances.iter().copied().fold(0.0, f64::max);
        Self { mean, deviation: (squares / (count - 1.0).max(1.0)).sqrt(), greatest }
    }
}

/// An estimated parameter, rad or m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Which.
    pub parameter: Parameter,
    /// Value of the description.
    pub before: f64,
    /// Estimated value.
    pub value: f64,
    /// Standard deviation of the estimate.
    pub deviation: f64,
    /// Whether the maximum change was reached.
    pub at_bound: bool,
}

/// A parameter that keeps its value, because the measurements cannot distinguish its effect from that of others.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Which.
    pub parameter: Parameter,
    /// The parameters with the same effect; empty if it has hardly any.
    pub like: Vec<Parameter>,
    /// Whether the measuring frame has the same effect.
    pub like_frame: bool,
}

/// An intermediate result.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Stage {
    /// What was estimated.
    pub name: &'static str,
    pub table: DhTable,
    /// Parameters estimated up to here.
    pub estimated: Vec<Parameter>,
    pub errors: Statistics,
}

/// A calibration.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The table of the description.
    pub nominal: DhTable,
    /// The estimated table.
    pub table: DhTable,
    /// Pose of the measuring frame in the base frame.
    pub frame: Isometry3<f64>,
    /// The estimated parameters.
    pub estimates: Vec<Estimate>,
    /// Parameters that were to be estimated, but cannot be distinguished from others.
    pub held: Vec<Held>,
    /// Intermediate results of Nelder-Mead.
    pub stages: Vec<Stage>,
    /// Measured minus computed positions with the description, base frame, m.
    pub before: Vec<Vector3<f64>>,
    /// The same with the estimate.
    pub after: Vec<Vector3<f64>>,
    /// Distances at poses that were left out of the fit, m; empty with too few poses.
    pub left_out: Vec<f64>,
    /// Standard deviation of one measured coordinate, m.
    pub noise: f64,
    /// Measurements (from 0) that are farther off than 5 standard deviations.
    pub outliers: Vec<usize>,
    /// Number of different poses.
    pub poses: usize,
    /// Number of unknowns: the estimated parameters, and six of the measuring frame unless it is known.
    pub unknowns: usize,
    /// Condition number: maximum by minimum singular value, for the plausible errors of the parameters (1 degree, 3 mm).
    pub condition: f64,
}

impl Fit {
    /// Errors before and after, m.
    pub fn errors(&self) -> [Statistics; 2] {
        [&self.before, &self.after].map(|residuals| Statistics::of(&distances(residuals)))
    }

    /// Estimated parameters with a standard deviation above 0.1 degrees or 0.3 mm.
    pub fn uncertain(&self) -> impl Iterator<Item = &Estimate> {
        self.estimates
            .iter()
            .filter(|estimate| estimate.deviation > UNCERTAIN * plausible(estimate.parameter))
    }
}

pub(super) fn distances(residuals: &[Vector3<f64>]) -> Vec<f64> {
    residuals.iter().map(Vector3::norm).collect()
}

/// Estimates the parameters of `model` from `measurements`.
///
/// # Errors
/// Measurements that cannot be used, or do not fit the arm; see [`CalibrationError`].
pub fn fit(
    model: &Model,
    measurements: &[Measurement],
    options: &FitOptions,
) -> Result<Fit, CalibrationError> {
    // What is determined, and how well, depends on how errors count in the fit itself.
    let loss = match options.method {
        Method::LevenbergMarquardt => options.loss,
        Method::NelderMead => Loss::Squares,
    };
    let nominal = DhTable::of(model);
    let mut start = nominal.clone();
    for (parameter, value) in &options.start {
        if !value.is_finite() {
            return Err(CalibrationError::Value { name: nominal.name(*parameter), value: *value });
        }
        start.set(*parameter, *value);
    }
    let mut parameters =
        if options.parameters.is_empty() { nominal.usual_parameters() } else { options.parameters.clone() };
    check::rows(model, measurements, parameters.len(), &options.frame)?;
    if is_estimated(&options.frame) {
        check::shape(&start, measurements)?;
    }
    let frame = aligned(&nominal, measurements, &options.frame)?;
    let before = residuals(&FitState { table: nominal.clone(), frame }, measurements);
    let mean_before = Statistics::of(&distances(&before)).mean;
    let measured: Vec<_> = measurements.iter().map(|measurement| measurement.point).collect();
    let size = check::spread(&measured);
    let mut held: Vec<Held> = Vec::new();
    let (bounds, state, weights, condition) = loop {
        if parameters.is_empty() {
            let reason = "no pose determines any of the parameters".to_owned();
            return Err(CalibrationError::Nothing { reason });
        }
        let bounds = bounds(&start, &parameters, options)?;
        let problem =
            Problem { measurements, parameters: &parameters, frame: &options.frame, loss, bounds: &bounds };
        let begin = FitState { table: start.clone(), frame: aligned(&start, measurements, &options.frame)? };
        let (state, weights) = problem.solve(begin);
        let after = Statistics::of(&distances(&problem.residuals(&state))).mean;
        if after > MISFIT * size {
            return Err(CalibrationError::DoesNotFit { before: mean_before, after });
        }
        match analyzed(&problem, &state, &weights) {
            Ok(condition) => break (bounds, state, weights, condition),
            Err((index, least)) => {
                parameters.remove(index);
                held.push(least);
            }
        }
    };
    let problem =
        Problem { measurements, parameters: &parameters, frame: &options.frame, loss, bounds: &bounds };
    let (state, stages) = match options.method {
        Method::LevenbergMarquardt => (state, Vec::new()),
        Method::NelderMead => simplex::stages(&problem, &start)?,
    };

    let after = problem.residuals(&state);
    let (noise, deviations) = deviations(&problem, &state, &weights);
    let estimates = parameters.iter().zip(&bounds).zip(deviations).map(|((parameter, bounds), deviation)| {
        let value = state.table.value(*parameter);
        let at_bound = value <= bounds.0 || value >= bounds.1;
        Estimate { parameter: *parameter, before: nominal.value(*parameter), value, deviation, at_bound }
    });
    let typical = scale(&after, problem.unknowns()).max(MIN_NOISE);
    let outliers = after.iter().enumerate().filter(|(_, residual)| residual.norm() > 5.0 * typical);
    Ok(Fit {
        estimates: estimates.collect(),
        held,
        stages,
        outliers: outliers.map(|(index, _)| index).collect(),
        left_out: left_out(&problem, &state, options.method)?,
        noise,
        poses: check::distinct(measurements).len(),
        unknowns: problem.unknowns(),
        condition,
        nominal,
        frame: state.frame,
        table: state.table,
        before,
        after,
    })
}

/// The measuring frame as it is known, or aligned with the positions that `table` computes.
pub(super) fn aligned(
    table: &DhTable,
    measurements: &[Measurement],
    frame: &MeasuringFrame,
) -> Result<Isometry3<f64>, CalibrationError> {
    if let MeasuringFrame::Known(pose) = frame {
        return Ok(*pose);
    }
    let computed = |measurement: &Measurement| (measurement.point, check::tool(table, &measurement.joints));
    let pairs: Vec<_> = measurements.iter().map(computed).collect();
    align(&pairs).map(|alignment| alignment.pose).ok_or(CalibrationError::OnALine { which: "computed" })
}

fn bounds(
    start: &DhTable,
    parameters: &[Parameter],
    options: &FitOptions,
) -> Result<Vec<(f64, f64)>, CalibrationError> {
    let of = |parameter: &Parameter| {
        let single =
            options.max_changes.iter().find(|(which, _)| which == parameter).map(|(_, change)| *change);
        let general = if parameter.entry.is_angle() { options.max_angle } else { options.max_length };
        let change = single.unwrap_or(general);
        if !(change.is_finite() && change > 0.0) {
            let name = format!("greatest change of {}", start.name(*parameter));
            return Err(CalibrationError::Value { name, value: change });
        }
        let middle = start.value(*parameter);
        Ok((middle - change, middle + change))
    };
    parameters.iter().map(of).collect()
}

/// The condition number; or, if a combination of unknowns is not determined, the parameter with the largest part
/// in it.
fn analyzed(problem: &Problem<'_>, state: &FitState, weights: &[f64]) -> Result<f64, (usize, Held)> {
    let (residuals, mut jacobian) = problem.linearized(state);
    let noise = noise(&residuals, weights, problem.unknowns());
    for (index, weight) in weights.iter().enumerate() {
        jacobian.rows_mut(3 * index, 3).scale_mut(weight.sqrt());
    }
    separable(&jacobian, problem.parameters, &state.table, noise)
}

/// As [`analyzed`], for a matrix of derivatives, one column per unknown in units of its plausible error.
pub(super) fn separable(
    jacobian: &DMatrix<f64>,
    parameters: &[Parameter],
    table: &DhTable,
    noise: f64,
) -> Result<f64, (usize, Held)> {
    let svd = jacobian.clone().svd(false, true);
    let greatest = svd.singular_values.max();
    let least = svd.singular_values.min();
    let Some(directions) = svd.v_t else { return Ok(f64::INFINITY) };
    let limit = (noise / UNDETERMINED).max(1e-9 * greatest);
    let mut parts = vec![0.0; jacobian.ncols()];
    for (direction, singular) in directions.row_iter().zip(svd.singular_values.iter()) {
        if *singular < limit {
            parts
                .iter_mut()
                .zip(direction.iter())
                .for_each(|(part, component)| *part += component * component);
        }
    }
    // Among equals, the one that the description has as zero, then the last.
    let rank = |index: usize, parameter: &Parameter| {
        let bonus = if table.value(*parameter) == 0.0 { 1e-3 } else { 0.0 };
        parts.get(index).copied().unwrap_or(0.0) + bonus + 1e-6 * index as f64
    };
    let is_involved = |index: usize| parts.get(index).is_some_and(|part| *part > 0.02);
    let candidates = parameters.iter().enumerate().filter(|(index, _)| is_involved(*index));
    let Some((index, parameter)) = candidates.max_by(|a, b| rank(a.0, a.1).total_cmp(&rank(b.0, b.1))) else {
        return Ok(greatest / least);
    };
    // The part of this unknown that is not determined, as a combination of all.
    let mut shared = vec![0.0; jacobian.ncols()];
    for (direction, singular) in directions.row_iter().zip(svd.singular_values.iter()) {
        let own = direction.iter().nth(index).copied().unwrap_or(0.0);
        if *singular < limit {
            shared.iter_mut().zip(direction.iter()).for_each(|(part, component)| *part += own * component);
        }
    }
    let own = shared.get(index).copied().unwrap_or(1.0);
    let is_shared = |other: usize| shared.get(other).is_some_and(|part| part.abs() > 0.2 * own);
    let like = parameters.iter().enumerate().filter(|(other, _)| *other != index && is_shared(*other));
    let like = like.map(|(_, parameter)| *parameter).collect();
    let like_frame = (parameters.len()..jacobian.ncols()).any(is_shared);
    Err((index, Held { parameter: *parameter, like, like_frame }))
}

fn noise(residuals: &[Vector3<f64>], weights: &[f64], unknowns: usize) -> f64 {
    let squares: f64 =
        residuals.iter().zip(weights).map(|(residual, weight)| weight * residual.norm_squared()).sum();
    let freedom = (3 * residuals.len()).saturating_sub(unknowns).max(1);
    (squares / freedom as f64).sqrt().max(MIN_NOISE)
}

/// Standard deviation of the measurements, m, and of each parameter, rad or m.
fn deviations(problem: &Problem<'_>, state: &FitState, weights: &[f64]) -> (f64, Vec<f64>) {
    let (residuals, jacobian) = problem.linearized(state);
    let noise = noise(&residuals, weights, problem.unknowns());
    let mut weighted = jacobian.clone();
    for (index, weight) in weights.iter().enumerate() {
        weighted.rows_mut(3 * index, 3).scale_mut(*weight);
    }
    let covariance = (weighted.transpose() * jacobian).cholesky().map(|factors| factors.inverse());
    let deviation = |(index, parameter): (usize, &Parameter)| {
        let variance = covariance.as_ref().map_or(f64::INFINITY, |matrix| matrix[(index, index)]);
        noise * variance.sqrt() * plausible(*parameter)
    };
    (noise, problem.parameters.iter().enumerate().map(deviation).collect())
}

/// Distances at each pose after a fit without it, by the same method.
fn left_out(problem: &Problem<'_>, state: &FitState, method: Method) -> Result<Vec<f64>, CalibrationError> {
    let poses = check::distinct(problem.measurements);
    if 3 * poses.len() < problem.unknowns() + 6 {
        return Ok(Vec::new());
    }
    let mut distances = vec![0.0; problem.measurements.len()];
    for pose in &poses {
        let others = problem.measurements.iter().enumerate().filter(|(index, _)| !pose.contains(index));
        let others: Vec<Measurement> = others.map(|(_, measurement)| measurement.clone()).collect();
        let part = Problem { measurements: &others, ..*problem };
        let state = match method {
            Method::LevenbergMarquardt => part.solve(state.clone()).0,
            Method::NelderMead => simplex::refined(&part, &state.table)?,
        };
        for (distance, residual) in distances
            .iter_mut()
            .zip(problem.residuals(&state))
            .enumerate()
            .filter(|(index, _)| pose.contains(index))
            .map(|(_, both)| both)
        {
            *distance = residual.norm();
        }
    }
    Ok(distances)
}
