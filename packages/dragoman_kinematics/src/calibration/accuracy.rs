//! Static positional accuracy: how far the described arm is from the measured one (Ranger thesis, 4.3).

use nalgebra::{Isometry3, Point3};

use super::{CalibrationError, DhTable, Measurement, MeasuringFrame, Statistics, align, check};
use crate::model::Model;

/// The errors of a description.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// Pose of the measuring frame in the arm's base frame, aligned by least squares.
    pub frame: Isometry3<f64>,
    /// Positions by the reported joints, base frame, m.
    pub computed: Vec<Point3<f64>>,
    /// Measured positions, base frame, m.
    pub measured: Vec<Point3<f64>>,
    /// Of the distances between them.
    pub errors: Statistics,
    /// Number of different poses.
    pub poses: usize,
}

/// Compares measured positions with those that `model` computes from the reported joints.
///
/// # Errors
/// Measurements that cannot be used: NaN, other units, fewer than three different poses, all on a line, mirrored axes.
pub fn accuracy(model: &Model, measurements: &[Measurement]) -> Result<Accuracy, CalibrationError> {
    // Nothing but the frame is estimated.
    check::rows(model, measurements, 0, &MeasuringFrame::Estimated)?;
    let table = DhTable::of(model);
    check::shape(&table, measurements)?;
    let pairs: Vec<_> =
        measurements.iter().map(|row| (row.point, check::tool(&table, &row.joints))).collect();
    let frame = align(&pairs).ok_or(CalibrationError::OnALine { which: "measured" })?.pose;
    let (measured, computed): (Vec<_>, Vec<_>) =
        pairs.into_iter().map(|(measured, computed)| (frame * measured, computed)).unzip();
    let distances: Vec<f64> = measured.iter().zip(&computed).map(|(a, b)| (a - b).norm()).collect();
    let poses = check::distinct(measurements).len();
    Ok(Accuracy { frame, computed, measured, errors: Statistics::of(&distances), poses })
}
