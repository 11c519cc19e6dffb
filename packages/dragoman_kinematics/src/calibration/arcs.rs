//! Encoder counts per radian (Ranger thesis, 4.2): one joint sweeps an arc, the measured arc gives the angle.

use std::f64::consts::TAU;

use nalgebra::{DMatrix, DVector, Matrix3, Point3, Vector3, Vector5};

/// Counts per radian of one joint; positive, because the positions do not determine the direction of the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Encoder counts per radian.
    pub counts_per_radian: f64,
    /// Standard deviation of the counts per radian; 0 if it cannot be estimated from two numbers.
    pub deviation: f64,
    /// Radius of the arc, m.
    pub radius: f64,
    /// Swept angle, rad.
    pub angle: f64,
    /// Root mean square distance of the points from the circle, m.
    pub residual: f64,
}

/// An arc that gives no angle.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ArcError {
    /// Too few points.
    #[error("{points} points at different counts; an arc needs at least 4")]
    TooFew {
        /// Points at different counts.
        points: usize,
    },
    /// A value is NaN, infinite, or not positive where it must be.
    #[error("{name} is {value}")]
    Value {
        /// Which.
        name: &'static str,
        value: f64,
    },
    /// The points lie on a line or in a point.
    #[error("the points lie on a line or in one place: no arc")]
    NotAnArc,
    /// The arc is too short to give its radius.
    #[error("the arc is only {degrees:.1} degrees long; at least {least} are needed")]
    TooShort {
        /// Swept angle, degrees.
        degrees: f64,
        /// Minimum angle, degrees.
        least: f64,
    },
    /// The points do not lie on a circle, or not in the order of the counts.
    #[error(
        "the points are {:.1} mm from a circle of {:.0} mm: other joints have moved, or rows are mixed up",
        .residual * 1e3, .radius * 1e3
    )]
    NotACircle {
        /// Root mean square distance, m.
        residual: f64,
        /// Radius, m.
        radius: f64,
    },
}

/// Minimum useful arc, degrees.
const SHORTEST: f64 = 10.0;
/// Maximum residual, as a part of the radius.
const MAX_RESIDUAL: f64 = 0.02;

/// From the length of an arc and its radius, m, as the Ranger thesis.
///
/// # Errors
/// [`ArcError::Value`] for a value that is not finite, or zero, or a negative length.
pub fn from_length(counts: f64, length: f64, radius: f64) -> Result<Calibration, ArcError> {
    for (name, value, good) in [
        ("counts", counts, counts != 0.0),
        ("arc_length", length, length > 0.0),
        ("radius", radius, radius > 0.0),
    ] {
        if !(value.is_finite() && good) {
            return Err(ArcError::Value { name, value });
        }
    }
    let angle = length / radius;
    let counts_per_radian = counts.abs() / angle;
    Ok(Calibration { counts_per_radian, deviation: 0.0, radius, angle, residual: 0.0 })
}

/// From positions of a point on the moving link, m, at encoder counts; no two neighbours more than half a turn apart.
///
/// # Errors
/// See [`ArcError`].
pub fn from_points(points: &[(f64, Point3<f64>)]) -> Result<Calibration, ArcError> {
    for (counts, point) in points {
        for (name, value) in [("counts", *counts), ("x", point.x), ("y", point.y), ("z", point.z)] {
            if !value.is_finite() {
                return Err(ArcError::Value { name, value });
            }
        }
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut counts: Vec<f64> = points.iter().map(|(counts, _)| *counts).collect();
    counts.dedup();
    if counts.len() < 4 {
        return Err(ArcError::TooFew { points: counts.len() });
    }
    let plane = Plane::through(&points).ok_or(ArcError::NotAnArc)?;
    let flat: Vec<[f64; 2]> = points.iter().map(|(_, point)| plane.flat(point)).collect();
    let circle = Circle::through(&flat).ok_or(ArcError::NotAnArc)?;
    let fitted = Sweep::through(&points, &flat, circle).ok_or(ArcError::NotAnArc)?;
    let span = counts.last().zip(counts.first()).map_or(0.0, |(last, first)| last - first);
    let (slope, radius) = (fitted.slope.abs(), fitted.radius.abs());
    let angle = slope * span;
    if angle.to_degrees() < SHORTEST {
        return Err(ArcError::TooShort { degrees: angle.to_degrees(), least: SHORTEST });
    }
    let heights: f64 = points.iter().map(|(_, point)| plane.height(point).powi(2)).sum();
    let residual = ((heights + fitted.squares) / points.len() as f64).sqrt();
    if residual > MAX_RESIDUAL * radius {
        return Err(ArcError::NotACircle { residual, radius });
    }
    let counts_per_radian = 1.0 / slope;
    let deviation = counts_per_radian * fitted.slope_deviation / slope;
    Ok(Calibration { counts_per_radian, deviation, radius, angle, residual })
}

/// A motion on a circle in a plane, at an angle that is linear in the counts.
struct Sweep {
    radius: f64,
    /// rad per count.
    slope: f64,
    slope_deviation: f64,
    /// Sum of squared distances, m^2.
    squares: f64,
}

impl Sweep {
    /// Least squares by Gauss-Newton; `flat` are the points in their plane.
    fn through(points: &[(f64, Point3<f64>)], flat: &[[f64; 2]], circle: Circle) -> Option<Self> {
        let mut angles: Vec<f64> = Vec::with_capacity(flat.len());
        for point in flat {
            let angle = circle.angle(point);
            let before = angles.last().copied().unwrap_or(angle);
            angles.push(angle + ((before - angle) / TAU).round() * TAU);
        }
        let count = points.len() as f64;
        let mean_counts = points.iter().map(|(counts, _)| counts).sum::<f64>() / count;
        let offsets: Vec<f64> = points.iter().map(|(counts, _)| counts - mean_counts).collect();
        // In units of the sweep, so that the equations are well scaled.
        let unit = offsets.iter().copied().fold(0.0, |most: f64, offset| most.max(offset.abs()));
        let offsets: Vec<f64> = offsets.iter().map(|offset| offset / unit).collect();
        let phase = angles.iter().sum::<f64>() / count;
        let square: f64 = offsets.iter().map(|offset| offset * offset).sum();
        let slope =
            offsets.iter().zip(&angles).map(|(offset, angle)| offset * (angle - phase)).sum::<f64>() / square;
        let [x, y] = circle.center;
        let mut values = Vector5::new(x, y, circle.radius, phase, slope);
        let rows = 2 * flat.len();
        let equations = |values: &Vector5<f64>| {
            let mut jacobian = DMatrix::zeros(rows, 5);
            let mut residuals = DVector::zeros(rows);
            for (at, (point, offset)) in flat.iter().zip(&offsets).enumerate() {
                let (sine, cosine) = (values[3] + values[4] * offset).sin_cos();
                let along = [-values[2] * sine, values[2] * cosine];
                for (axis, direction) in [cosine, sine].into_iter().enumerate() {
                    let row = 2 * at + axis;
                    residuals[row] = values[axis] + values[2] * direction - point[axis];
                    jacobian[(row, axis)] = 1.0;
                    jacobian[(row, 2)] = direction;
                    jacobian[(row, 3)] = along[axis];
                    jacobian[(row, 4)] = along[axis] * offset;
                }
            }
            (residuals, jacobian)
        };
        for _ in 0..50 {
            let (residuals, jacobian) = equations(&values);
            let step = jacobian.svd(true, true).solve(&-residuals, 1e-12).ok()?;
            values += Vector5::from_iterator(step.iter().copied());
            if step.amax() < 1e-12 {
                break;
            }
        }
        let (residuals, jacobian) = equations(&values);
        let covariance = (jacobian.transpose() * jacobian).cholesky()?.inverse();
        let squares = residuals.norm_squared();
        let variance = squares / (rows as f64 - 5.0).max(1.0) * covariance[(4, 4)];
        let sweep = Self {
            radius: values[2],
            slope: values[4] / unit,
            slope_deviation: variance.sqrt() / unit,
            squares,
        };
        (sweep.radius.is_finite() && sweep.slope.is_finite() && sweep.slope != 0.0).then_some(sweep)
    }
}

/// The plane nearest to points: their mean and two directions in it.
struct Plane {
    mean: Vector3<f64>,
    axes: [Vector3<f64>; 3],
}

impl Plane {
    fn through(points: &[(f64, Point3<f64>)]) -> Option<Self> {
        let mean =
            points.iter().fold(Vector3::zeros(), |sum, (_, point)| sum + point.coords) / points.len() as f64;
        let covariance = points.iter().fold(Matrix3::zeros(), |sum, (_, point)| {
            let offset = point.coords - mean;
            sum + offset * offset.transpose()
        });
        let eigen = covariance.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|a, b| eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]));
        let [first, second, _] = order.map(|index| eigen.eigenvalues[index]);
        let axes = order.map(|index| eigen.eigenvectors.column(index).into_owned());
        (second > 1e-12 * first && second > 0.0).then_some(Self { mean, axes })
    }

    fn flat(&self, point: &Point3<f64>) -> [f64; 2] {
        let [x, y, _] = self.axes;
        let offset = point.coords - self.mean;
        [offset.dot(&x), offset.dot(&y)]
    }

    fn height(&self, point: &Point3<f64>) -> f64 {
        let [_, _, z] = self.axes;
        (point.coords - self.mean).dot(&z)
    }
}

struct Circle {
    center: [f64; 2],
    radius: f64,
}

impl Circle {
    /// The algebraic circle (Kasa).
    fn through(points: &[[f64; 2]]) -> Option<Self> {
        let rows = points.len();
        let matrix = DMatrix::from_fn(rows, 3, |row, column| match (points.get(row), column) {
            (Some([x, _]), 0) => 2.0 * x,
            (Some([_, y]), 1) => 2.0 * y,
            _ => 1.0,
        });
        let squares = DVector::from_iterator(rows, points.iter().map(|[x, y]| x * x + y * y));
        let solution = matrix.svd(true, true).solve(&squares, 1e-12).ok()?;
        let [x, y, rest] = [solution[0], solution[1], solution[2]];
        let radius = (rest + x * x + y * y).sqrt();
        (radius.is_finite() && radius > 0.0).then_some(Self { center: [x, y], radius })
    }

    fn angle(&self, [x, y]: &[f64; 2]) -> f64 {
        (y - self.center[1]).atan2(x - self.center[0])
    }
}
