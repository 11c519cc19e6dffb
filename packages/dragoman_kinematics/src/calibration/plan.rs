//! Which poses to measure: those that determine the parameters best together (D-optimal design).

use nalgebra::{DMatrix, DVector, Vector3};

use super::fit::{PLAUSIBLE_ANGLE, PLAUSIBLE_LENGTH, plausible, separable};
use super::{CalibrationError, DhTable, Estimate, Held, Parameter};
use crate::model::Model;

/// What is planned.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The parameters to estimate; empty: [`DhTable::usual_parameters`].
    pub parameters: Vec<Parameter>,
    /// Number of new poses.
    pub poses: usize,
    /// Poses that have been measured, joint positions in rad or m.
    pub measured: Vec<Vec<f64>>,
    /// Where the way to the first pose begins, rad or m; by default at the last measured pose.
    pub begin: Option<Vec<f64>>,
    /// Whether the measuring frame is estimated, too.
    pub estimate_frame: bool,
    /// Standard deviation of one measured coordinate, m.
    pub noise: f64,
    /// Distance from the joints' limits, rad or m.
    pub margin: f64,
    /// Number of random poses to choose from.
    pub candidates: usize,
    /// Seed of the random poses.
    pub seed: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            parameters: Vec::new(),
            poses: 50,
            measured: Vec::new(),
            begin: None,
            estimate_frame: true,
            noise: 3e-4,
            margin: 0.1,
            candidates: 1000,
            seed: 1,
        }
    }
}

/// Poses to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Joint positions, rad or m, in an order with short ways; fewer than wanted where no straight way in joint space
    /// is allowed.
    pub poses: Vec<Vec<f64>>,
    /// The parameters with the standard deviations to expect.
    pub expected: Vec<Estimate>,
    /// Parameters that no pose distinguishes from others.
    pub held: Vec<Held>,
    /// Condition number: maximum by minimum singular value of the planned and the measured poses, for plausible errors
    /// of the parameters.
    pub condition: f64,
    /// The same of as many random poses, the mean of their logarithms.
    pub random_condition: f64,
}

/// No plan is possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Too few allowed poses were found.
    #[error(
        "only {found} of {tried} random poses are allowed; {needed} are needed: the limits leave too little space"
    )]
    TooFew {
        /// Allowed poses.
        found: usize,
        /// Poses tried.
        tried: usize,
        /// Poses needed.
        needed: usize,
    },
    /// A joint without limits.
    #[error("joint {joint} has no limits, from which poses could be drawn")]
    NoLimits {
        /// Its name.
        joint: String,
    },
    /// Nothing to determine.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

/// Random tries per candidate.
const TRIES: usize = 100;
/// Maximum number of rounds of exchanges of single poses.
const ROUNDS: usize = 10;
/// Random designs for comparison.
const COMPARED: usize = 5;

/// Plans poses that `is_allowed` accepts, also on the straight ways in joint space between them.
///
/// # Errors
/// See [`PlanError`].
pub fn plan(
    model: &Model,
    options: &PlanOptions,
    is_allowed: impl Fn(&[f64]) -> bool,
) -> Result<Plan, PlanError> {
    let table = DhTable::of(model);
    let candidates = candidates(model, options, &is_allowed)?;
    let mut parameters =
        if options.parameters.is_empty() { table.usual_parameters() } else { options.parameters.clone() };
    let mut held = Vec::new();
    // Parameters that all candidates together do not distinguish cannot be distinguished by a selection of them.
    loop {
        if parameters.is_empty() {
            let reason = "no pose determines any of the parameters".to_owned();
            return Err(CalibrationError::Nothing { reason }.into());
        }
        let all = Design::new(&table, &parameters, options, candidates.iter().chain(&options.measured));
        let every: Vec<usize> = (0..all.rows.len()).collect();
        // As accurate as the planned number of poses.
        let share = (options.poses + options.measured.len()) as f64 / every.len() as f64;
        match separable(&(all.stacked(&every) * share.sqrt()), &parameters, &table, options.noise) {
            Ok(_) => break,
            Err((index, least)) => {
                parameters.remove(index);
                held.push(least);
            }
        }
    }
    let design = Design::new(&table, &parameters, options, candidates.iter().chain(&options.measured));
    let measured: Vec<usize> = (candidates.len()..design.rows.len()).collect();
    let begin = options.begin.as_ref().or(options.measured.last());
    let mut tour = Tour { begin, candidates: &candidates, is_allowed, order: Vec::new() };
    // Poses that cannot be reached on an allowed way are replaced by others.
    let mut excluded: Vec<usize> = Vec::new();
    for _ in 0..ROUNDS {
        let missing = options.poses - tour.order.len();
        let fixed = [&measured[..], &tour.order].concat();
        let chosen = design.best(candidates.len(), &excluded, &fixed, missing);
        excluded.extend(&chosen);
        tour.insert(chosen);
        if tour.order.len() == options.poses {
            break;
        }
    }
    let chosen = tour.order;
    let together: Vec<usize> = chosen.iter().chain(&measured).copied().collect();
    let logarithms = (0..COMPARED).map(|part| {
        let random = (0..options.poses).map(|index| (part * options.poses + index) % candidates.len());
        design.condition(&random.chain(measured.iter().copied()).collect::<Vec<_>>()).ln()
    });
    let random_condition = (logarithms.sum::<f64>() / COMPARED as f64).exp();
    let deviations = design.deviations(&together);
    let expected = parameters.iter().zip(deviations.iter()).map(|(parameter, deviation)| {
        let value = table.value(*parameter);
        let deviation = deviation * options.noise * plausible(*parameter);
        Estimate { parameter: *parameter, before: value, value, deviation, at_bound: false }
    });
    let chosen = chosen.into_iter().filter_map(|index| candidates.get(index).cloned());
    Ok(Plan {
        expected: expected.collect(),
        poses: chosen.collect(),
        held,
        condition: design.condition(&together),
        random_condition,
    })
}

/// Random poses within the limits that are allowed.
fn candidates(
    model: &Model,
    options: &PlanOptions,
    is_allowed: impl Fn(&[f64]) -> bool,
) -> Result<Vec<Vec<f64>>, PlanError> {
    let mut ranges = Vec::new();
    for joint in model.joints() {
        if !(joint.lower.is_finite() && joint.upper.is_finite()) {
            return Err(PlanError::NoLimits { joint: joint.name.clone() });
        }
        let margin = options.margin.min(0.4 * (joint.upper - joint.lower));
        ranges.push((joint.lower + margin, joint.upper - margin));
    }
    let mut random = options.seed;
    let mut unit = || {
        // SplitMix64.
        random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    };
    let wanted = options.candidates.max(options.poses);
    let tried = wanted * TRIES;
    let mut found = Vec::new();
    for _ in 0..tried {
        let pose: Vec<f64> = ranges.iter().map(|(lower, upper)| lower + (upper - lower) * unit()).collect();
        if is_allowed(&pose) {
            found.push(pose);
        }
        if found.len() == wanted {
            break;
        }
    }
    if found.len() < options.poses.max(1) {
        return Err(PlanError::TooFew { found: found.len(), tried, needed: options.poses.max(1) });
    }
    Ok(found)
}

/// Three equations of each pose: derivatives of the tool's position by the unknowns, in their plausible errors.
struct Design {
    rows: Vec<DMatrix<f64>>,
    unknowns: usize,
}

impl Design {
    fn new<'a>(
        table: &DhTable,
        parameters: &[Parameter],
        options: &PlanOptions,
        poses: impl Iterator<Item = &'a Vec<f64>>,
    ) -> Self {
        let unknowns = parameters.len() + if options.estimate_frame { 6 } else { 0 };
        let row = |pose: &Vec<f64>| {
            let (tool, columns) = table.sensitivity(pose, parameters);
            let scaled = columns.into_iter().zip(parameters);
            let mut columns: Vec<Vector3<f64>> =
                scaled.map(|(column, parameter)| column * plausible(*parameter)).collect();
            if options.estimate_frame {
                let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
                columns.extend(axes.map(|axis| axis * PLAUSIBLE_LENGTH));
                columns.extend(axes.map(|axis| axis.cross(&tool.coords) * PLAUSIBLE_ANGLE));
            }
            DMatrix::from_fn(3, unknowns, |row, column| columns.get(column).map_or(0.0, |column| column[row]))
        };
        Self { rows: poses.map(row).collect(), unknowns }
    }

    fn information(&self, chosen: &[usize]) -> DMatrix<f64> {
        // Keeps the matrix invertible before it has enough poses: errors of ten times the plausible size.
        let mut information =
            DMatrix::identity(self.unknowns, self.unknowns) * (0.1 * PLAUSIBLE_LENGTH).powi(2) * 1e-4;
        for row in chosen.iter().filter_map(|index| self.rows.get(*index)) {
            information += row.transpose() * row;
        }
        information
    }

    fn stacked(&self, chosen: &[usize]) -> DMatrix<f64> {
        let mut stacked = DMatrix::zeros(3 * chosen.len(), self.unknowns);
        for (at, row) in chosen.iter().filter_map(|index| self.rows.get(*index)).enumerate() {
            stacked.rows_mut(3 * at, 3).copy_from(row);
        }
        stacked
    }

    fn condition(&self, chosen: &[usize]) -> f64 {
        let values = self.stacked(chosen).svd(false, false).singular_values;
        values.max() / values.min()
    }

    /// Standard deviations for a noise of 1 m, in plausible errors.
    fn deviations(&self, chosen: &[usize]) -> DVector<f64> {
        let stacked = self.stacked(chosen);
        let covariance = (stacked.transpose() * stacked).cholesky().map(|factors| factors.inverse());
        let variance = |index| covariance.as_ref().map_or(f64::INFINITY, |matrix| matrix[(index, index)]);
        DVector::from_fn(self.unknowns, |index, _| f64::sqrt(variance(index)))
    }

    /// The `wanted` of the first `count` poses, without those `excluded`, with the largest determinant of the
    /// information, together with `fixed`: one after the other, then exchanges of single poses while they help (Fedorov).
    fn best(&self, count: usize, excluded: &[usize], fixed: &[usize], wanted: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        let mut inverse = inverse(self.information(fixed));
        let gain = |inverse: &DMatrix<f64>, index: usize| {
            let row = self.rows.get(index)?;
            Some((DMatrix::identity(3, 3) + row * inverse * row.transpose()).determinant())
        };
        let add = |inverse: &DMatrix<f64>, chosen: &[usize]| {
            let free = (0..count).filter(|index| !chosen.contains(index) && !excluded.contains(index));
            let gains = free.filter_map(|index| Some((index, gain(inverse, index)?)));
            gains.max_by(|a, b| a.1.total_cmp(&b.1))
        };
        for _ in 0..wanted {
            let Some((index, _)) = add(&inverse, &chosen) else { break };
            chosen.push(index);
            inverse = self::inverse(self.information(&[&chosen[..], fixed].concat()));
        }
        for _ in 0..ROUNDS {
            let mut is_better = false;
            for at in 0..chosen.len() {
                let mut rest = chosen.clone();
                let old = rest.remove(at);
                inverse = self::inverse(self.information(&[&rest[..], fixed].concat()));
                let before = gain(&inverse, old).unwrap_or(0.0);
                if let Some((new, after)) = add(&inverse, &rest)
                    && after > before * (1.0 + 1e-9)
                {
                    if let Some(place) = chosen.get_mut(at) {
                        *place = new;
                    }
                    is_better = true;
                }
            }
            if !is_better {
                break;
            }
        }
        chosen
    }
}

fn inverse(information: DMatrix<f64>) -> DMatrix<f64> {
    let size = information.nrows();
    information.cholesky().map_or_else(|| DMatrix::identity(size, size), |factors| factors.inverse())
}

/// Step at which the way between two poses is checked, rad or m.
const WAY_STEP: f64 = 0.02;

/// Whether all poses on the straight way in joint space from `from` to `to` are allowed. A way may begin where an arm
/// must not be: it leaves there, and does not come back.
pub fn is_way_allowed(from: &[f64], to: &[f64], is_allowed: impl Fn(&[f64]) -> bool) -> bool {
    let steps = (distance(from, to) / WAY_STEP).ceil().max(1.0) as usize;
    let mut was_allowed = false;
    let is_free = (0..=steps).all(|step| {
        let part = step as f64 / steps as f64;
        let pose: Vec<f64> = from.iter().zip(to).map(|(from, to)| from + part * (to - from)).collect();
        let is_free = is_allowed(&pose);
        was_allowed |= is_free;
        is_free || !was_allowed
    });
    is_free && was_allowed
}

/// Maximum difference of two poses, rad or m.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A tour from pose to pose on allowed straight ways in joint space.
struct Tour<'a, F> {
    begin: Option<&'a Vec<f64>>,
    candidates: &'a [Vec<f64>],
    is_allowed: F,
    /// Indices of the poses.
    order: Vec<usize>,
}

impl<F: Fn(&[f64]) -> bool> Tour<'_, F> {
    /// Inserts each pose where it lengthens the tour least; returns those that cannot be inserted.
    fn insert(&mut self, mut poses: Vec<usize>) -> Vec<usize> {
        loop {
            let before = poses.len();
            poses.retain(|pose| match self.place(*pose) {
                Some(place) => {
                    self.order.insert(place, *pose);
                    false
                }
                None => true,
            });
            if poses.is_empty() || poses.len() == before {
                return poses;
            }
        }
    }

    fn place(&self, pose: usize) -> Option<usize> {
        let pose = self.candidates.get(pose)?;
        let at = |place: usize| self.order.get(place).and_then(|index| self.candidates.get(*index));
        let mut places: Vec<(f64, usize)> = (0..=self.order.len())
            .map(|place| {
                let (from, to) = (place.checked_sub(1).map_or(self.begin, at), at(place));
                let way = |a: Option<&Vec<f64>>, b: Option<&Vec<f64>>| {
                    a.zip(b).map_or(0.0, |(a, b)| distance(a, b))
                };
                (way(from, Some(pose)) + way(Some(pose), to) - way(from, to), place)
            })
            .collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0));
        let is_free = |(_, place): &(f64, usize)| {
            let (from, to) = (place.checked_sub(1).map_or(self.begin, at), at(*place));
            from.is_none_or(|from| is_way_allowed(from, pose, &self.is_allowed))
                && to.is_none_or(|to| is_way_allowed(pose, to, &self.is_allowed))
        };
        places.into_iter().find(is_free).map(|(_, place)| place)
    }
}
