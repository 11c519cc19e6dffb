//! Refuses measurements that cannot be used, with the reason.

use nalgebra::Point3;

use super::{CalibrationError, DhTable, Measurement, MeasuringFrame, align};
use crate::model::{JointKind, Model};

/// Positions of a joint closer than this are the same, rad or m.
const SAME: f64 = 2e-3;
/// How far beyond its limits a joint may be: its reading has an offset.
const BEYOND: f64 = 0.1;
/// A factor between the units of measured and computed positions that errors of an arm do not explain.
const FACTOR: f64 = 1.25;

/// Numbers, limits, and the number of different poses.
pub(super) fn rows(
    model: &Model,
    measurements: &[Measurement],
    parameters: usize,
    frame: &MeasuringFrame,
) -> Result<(), CalibrationError> {
    let expected = model.joints().len();
    for (row, measurement) in measurements.iter().enumerate().map(|(at, measurement)| (at + 1, measurement)) {
        let got = measurement.joints.len();
        if got != expected {
            return Err(CalibrationError::Joints { row, got, expected });
        }
        let names = model.joints().iter().map(|joint| joint.name.as_str()).chain(["x", "y", "z"]);
        let values = measurement.joints.iter().chain(measurement.point.iter());
        if let Some((name, &value)) = names.zip(values).find(|(_, value)| !value.is_finite()) {
            return Err(CalibrationError::NotFinite { row, name: name.to_owned(), value });
        }
        for (joint, &value) in model.joints().iter().zip(&measurement.joints) {
            let (lower, upper) = (joint.lower, joint.upper);
            if value < lower - BEYOND || value > upper + BEYOND {
                let turned = value.to_radians();
                let degrees = joint.kind == JointKind::Revolute
                    && value.abs() > 1.0
                    && (lower - BEYOND..=upper + BEYOND).contains(&turned);
                let joint = joint.name.clone();
                return Err(CalibrationError::OutsideLimits { row, joint, value, lower, upper, degrees });
            }
        }
    }
    let poses = distinct(measurements).len();
    let is_estimated = matches!(frame, MeasuringFrame::Estimated);
    // One pose more than there are equations, so that errors show.
    let needed = (parameters + if is_estimated { 6 } else { 0 }).div_ceil(3) + 1;
    if poses < needed {
        let measurements = measurements.len();
        return Err(CalibrationError::TooFewPoses {
            poses,
            measurements,
            parameters,
            frame: is_estimated,
            needed,
        });
    }
    Ok(())
}

/// Indices of the measurements of each different pose.
pub(super) fn distinct(measurements: &[Measurement]) -> Vec<Vec<usize>> {
    let mut poses: Vec<Vec<usize>> = Vec::new();
    for (index, measurement) in measurements.iter().enumerate() {
        let is_same = |pose: &&mut Vec<usize>| {
            let first = pose.first().and_then(|first| measurements.get(*first));
            first.is_some_and(|first| {
                first.joints.iter().zip(&measurement.joints).all(|(a, b)| (a - b).abs() < SAME)
            })
        };
        match poses.iter_mut().find(is_same) {
            Some(pose) => pose.push(index),
            None => poses.push(vec![index]),
        }
    }
    poses
}

/// Whether measured and computed positions have the same size and handedness.
pub(super) fn shape(table: &DhTable, measurements: &[Measurement]) -> Result<(), CalibrationError> {
    let computed: Vec<_> = measurements.iter().map(|measurement| tool(table, &measurement.joints)).collect();
    let measured: Vec<_> = measurements.iter().map(|measurement| measurement.point).collect();
    let factor = spread(&measured) / spread(&computed);
    if !(1.0 / FACTOR..=FACTOR).contains(&factor) {
        let units = [
            (1e3, "; positions are in metres, are these millimetres?"),
            (1e2, "; positions are in metres, are these centimetres?"),
            (1.0 / 0.0254, "; positions are in metres, are these inches?"),
            (1e-3, "; positions are in metres, are these kilometres?"),
        ];
        let near = |unit: f64| (1.0 / FACTOR..=FACTOR).contains(&(factor / unit));
        let guess = units.into_iter().find(|(unit, _)| near(*unit));
        let guess = guess.map_or("; check units, order of columns, and the robot", |(_, text)| text);
        return Err(CalibrationError::Unit { factor, guess });
    }
    let pairs: Vec<_> = measured.iter().copied().zip(computed.iter().copied()).collect();
    match align(&pairs) {
        None => {
            let same: Vec<_> = measured.iter().map(|point| (*point, *point)).collect();
            let which = if align(&same).is_none() { "measured" } else { "computed" };
            Err(CalibrationError::OnALine { which })
        }
        Some(alignment) if alignment.is_mirrored && fits_mirrored(&pairs) => Err(CalibrationError::Mirrored),
        Some(_) => Ok(()),
    }
}

/// Whether the mirrored points fit clearly better.
fn fits_mirrored(pairs: &[(Point3<f64>, Point3<f64>)]) -> bool {
    let error = |pairs: &[(Point3<f64>, Point3<f64>)]| {
        align(pairs).map_or(f64::INFINITY, |alignment| {
            pairs.iter().map(|(from, to)| (alignment.pose * from - to).norm()).sum()
        })
    };
    let mirrored: Vec<_> =
        pairs.iter().map(|(from, to)| (Point3::new(-from.x, from.y, from.z), *to)).collect();
    error(&mirrored) < 0.5 * error(pairs)
}

/// Root mean square distance from the mean, m.
pub(super) fn spread(points: &[Point3<f64>]) -> f64 {
    let count = points.len().max(1) as f64;
    let mean = points.iter().fold(nalgebra::Vector3::zeros(), |sum, point| sum + point.coords) / count;
    (points.iter().map(|point| (point.coords - mean).norm_squared()).sum::<f64>() / count).sqrt()
}

pub(super) fn tool(table: &DhTable, joints: &[f64]) -> Point3<f64> {
    Point3::from(table.forward(joints).translation.vector)
}
