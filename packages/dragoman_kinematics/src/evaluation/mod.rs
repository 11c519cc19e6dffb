//! Evaluation of an arm: how well it reaches commanded positions and follows commanded paths (Ranger thesis, 4.3 and
//! 4.5).
//!
//! | file | holds |
//! | --- | --- |
//! | `mod.rs` | [`Sample`], [`track`]: a measured path aligned with the commanded one in time and space |
//! | `paths.rs` | the test paths of the thesis |
//!
//! Static accuracy is [`accuracy`](crate::calibration::accuracy). Metres, seconds, radians; commanded points are in the
//! arm's base frame, measured ones in the frame of the measuring device, whose clock may be another.

mod paths;

pub use paths::{Path, static_points};

use nalgebra::{Isometry3, Point3, Vector3};

use crate::calibration::Statistics;
use crate::calibration::rigid::align_any;

/// A point of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Time by any clock, s.
    pub time: f64,
    /// Position, m.
    pub point: Point3<f64>,
}

/// A point of the path, as commanded and as measured at the same phase, base frame, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Time of the command, s.
    pub time: f64,
    /// Commanded position.
    pub commanded: Point3<f64>,
    /// Measured position.
    pub measured: Point3<f64>,
}

/// How well a path was followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracking {
    /// Measured time minus commanded time of the best match, s. With two clocks it contains their difference.
    pub lag: f64,
    /// Pose of the measuring frame in the base frame. About a straight path the rotation is arbitrary.
    pub frame: Isometry3<f64>,
    /// The points.
    pub pairs: Vec<Pair>,
    /// Of the distances between them.
    pub errors: Statistics,
}

/// Paths that cannot be compared. Rows count from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum TrackError {
    /// Too few samples.
    #[error("the {which} path has {got} points; at least {LEAST} are needed")]
    TooFew {
        /// `commanded` or `measured`.
        which: &'static str,
        /// Number of its points.
        got: usize,
    },
    /// NaN or infinity.
    #[error("the {which} path: point {row}: {name} is {value}")]
    NotFinite {
        /// `commanded` or `measured`.
        which: &'static str,
        /// Number of the point.
        row: usize,
        /// Column.
        name: &'static str,
        value: f64,
    },
    /// A time that is repeated, or goes back.
    #[error("the {which} path: point {row}: time {time} s is not after {before} s; is a point repeated?")]
    Order {
        /// `commanded` or `measured`.
        which: &'static str,
        /// Number of the point.
        row: usize,
        /// Its time, s.
        time: f64,
        /// Time of the point before, s.
        before: f64,
    },
    /// All points are the same.
    #[error("the {which} path does not move: its points lie within {} mm", (.extent * 1e3).round())]
    Still {
        /// `commanded` or `measured`.
        which: &'static str,
        /// Its size, m.
        extent: f64,
    },
    /// The paths have different sizes: another unit.
    #[error("the measured path is {factor:.4} times as large as the commanded one{guess}")]
    Unit {
        /// Measured by commanded size.
        factor: f64,
        /// The unit that it suggests.
        guess: &'static str,
    },
    /// The measured path ends early, or began late.
    #[error("the measured path covers only {:.0} % of the motion", .part * 100.0)]
    Incomplete {
        /// Share of the motion that was measured.
        part: f64,
    },
}

/// Minimum number of points of a path.
const LEAST: usize = 20;
/// A path moves once it is this far from its start, as part of its size.
const MOVING: f64 = 0.02;
/// Extent below which a path does not move, m.
const STILL: f64 = 2e-3;
/// Factor between the sizes of the paths that lagging drives do not explain.
const FACTOR: f64 = 8.0;
/// Share of the motion that must have been measured.
const COVERED: f64 = 0.9;
/// Steps of the search for the lag, before it is refined.
const STEPS: usize = 100;
/// Points that are compared in the search.
const COMPARED: usize = 1500;

/// Aligns `measured` with `commanded` by least squares: in time by at most `max_lag` (s; half a period of a
/// repeating path) about the lag of their first movements, and in space unless the `frame` of the measuring device is
/// known. The error is the distance at the same phase, from the first to the last movement of the command; thus the
/// first moments of the motion count, as in the thesis (4.5.3).
///
/// # Errors
/// Paths that cannot be compared: see [`TrackError`].
pub fn track(
    commanded: &[Sample],
    measured: &[Sample],
    frame: Option<&Isometry3<f64>>,
    max_lag: f64,
) -> Result<Tracking, TrackError> {
    let size = check("commanded", commanded)?;
    let factor = check("measured", measured)? / size;
    if !(1.0 / FACTOR..=FACTOR).contains(&factor) {
        let guess = match factor {
            500.0..2000.0 => "; positions are in metres, are these millimetres?",
            50.0..200.0 => "; positions are in metres, are these centimetres?",
            5e-4..2e-3 => "; positions are in metres, are the commanded ones millimetres?",
            _ => "; check units and order of the columns",
        };
        return Err(TrackError::Unit { factor, guess });
    }
    let (begin, end) = motion(commanded, size);
    let (measured_begin, _) = motion(measured, size);
    let about = measured_begin - begin;
    let path: Vec<Sample> =
        commanded.iter().filter(|sample| (begin..=end).contains(&sample.time)).copied().collect();
    let thin: Vec<Sample> = path.iter().step_by(path.len().div_ceil(COMPARED).max(1)).copied().collect();
    let align = |pairs: &[Pair]| {
        let points: Vec<_> = pairs.iter().map(|pair| (pair.measured, pair.commanded)).collect();
        frame.copied().or_else(|| align_any(&points).map(|(alignment, _)| alignment.pose))
    };
    let cost = |lag: f64| -> f64 {
        let pairs = pairs(&thin, measured, lag);
        let part = pairs.len() as f64 / thin.len().max(1) as f64;
        let Some(pose) = align(&pairs).filter(|_| part >= COVERED) else { return f64::INFINITY };
        let squares = pairs.iter().map(|pair| (pose * pair.measured - pair.commanded).norm_squared());
        squares.sum::<f64>() / pairs.len() as f64
    };
    let step = 2.0 * max_lag / STEPS as f64;
    let lags = (0..=STEPS).map(|index| about - max_lag + step * index as f64);
    let best = lags.map(|lag| (cost(lag), lag)).min_by(|a, b| a.0.total_cmp(&b.0));
    let incomplete = || {
        let part = pairs(&thin, measured, about).len() as f64 / thin.len().max(1) as f64;
        TrackError::Incomplete { part }
    };
    let (_, coarse) = best.filter(|(cost, _)| cost.is_finite()).ok_or_else(incomplete)?;
    let lag = refined(coarse - step, coarse + step, cost);
    let mut pairs = pairs(&path, measured, lag);
    let frame = align(&pairs).ok_or_else(incomplete)?;
    pairs.iter_mut().for_each(|pair| pair.measured = frame * pair.measured);
    let distances: Vec<f64> = pairs.iter().map(|pair| (pair.commanded - pair.measured).norm()).collect();
    Ok(Tracking { lag, frame, pairs, errors: Statistics::of(&distances) })
}

/// Numbers and times; returns the size of the path, m.
fn check(which: &'static str, samples: &[Sample]) -> Result<f64, TrackError> {
    let mut before = f64::NEG_INFINITY;
    for (row, Sample { time, point }) in samples.iter().enumerate().map(|(at, sample)| (at + 1, sample)) {
        let values = [("time", *time), ("x", point.x), ("y", point.y), ("z", point.z)];
        if let Some((name, value)) = values.into_iter().find(|(_, value)| !value.is_finite()) {
            return Err(TrackError::NotFinite { which, row, name, value });
        }
        if *time <= before {
            return Err(TrackError::Order { which, row, time: *time, before });
        }
        before = *time;
    }
    if samples.len() < LEAST {
        return Err(TrackError::TooFew { which, got: samples.len() });
    }
    let (low, high) = samples
        .iter()
        .fold((Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY)), |(low, high), sample| {
            (low.inf(&sample.point.coords), high.sup(&sample.point.coords))
        });
    let extent = (high - low).norm();
    if extent < STILL { Err(TrackError::Still { which, extent }) } else { Ok(extent) }
}

/// Times of the first and the last movement of a path.
fn motion(samples: &[Sample], size: f64) -> (f64, f64) {
    let far = |from: Option<&Sample>, sample: &Sample| {
        from.is_some_and(|from| (sample.point - from.point).norm() > MOVING * size)
    };
    let begin = samples.iter().find(|sample| far(samples.first(), sample));
    let end = samples.iter().rev().find(|sample| far(samples.last(), sample));
    (begin.map_or(0.0, |sample| sample.time), end.map_or(0.0, |sample| sample.time))
}

/// The measured position, interpolated, `lag` after each commanded one; those that were not measured are left out.
fn pairs(commanded: &[Sample], measured: &[Sample], lag: f64) -> Vec<Pair> {
    let at = |sample: &Sample| {
        let time = sample.time + lag;
        let next = measured.partition_point(|measured| measured.time < time);
        let (after, before) = (measured.get(next)?, measured.get(next.checked_sub(1)?)?);
        let part = (time - before.time) / (after.time - before.time);
        let measured = before.point + part * (after.point - before.point);
        Some(Pair { time: sample.time, commanded: sample.point, measured })
    };
    commanded.iter().filter_map(at).collect()
}

/// The minimum cost between two lags: golden section.
fn refined(mut low: f64, mut high: f64, cost: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut left, mut right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (cost(left), cost(right));
    for _ in 0..16 {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = cost(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = cost(right);
        }
    }
    if at_left < at_right { left } else { right }
}
