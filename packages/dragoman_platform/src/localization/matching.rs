//! The pose that best fits a scan to lines, given a prior: Gauss-Newton on the points' distances from their lines, with
//! Cauchy weights, which reduce the influence of points on no line.

use dragoman_geometry::{Frame, Point, Pose, wrap_angle};
use nalgebra::{Matrix3, Vector3};

use super::lines::{GATE, Lines};
use crate::settings::LocalizationSettings;

const ITERATIONS: usize = 12;
/// All points of one scan count as this many, because the errors of neighbouring points are correlated.
const INDEPENDENT: f64 = 40.0;
/// Maximum distance between a line and a point that it explains, m.
const EXPLAINED: f64 = 0.08;
/// Minimum standard deviations, m and rad.
const LEAST_DEVIATIONS: [f64; 3] = [0.004, 0.004, 0.0015];

/// Result of a fit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    pub(super) pose: Pose,
    pub(super) covariance: Matrix3<f64>,
    /// Fraction of the points that are on a line, 0 to 1.
    pub(super) explained: f64,
}

/// Fits a pose. `covariance`: uncertainty of the prior.
pub(super) fn fit(
    prior: Pose,
    covariance: Matrix3<f64>,
    points: &[Point],
    lines: &Lines,
    settings: &LocalizationSettings,
) -> Fit {
    let least = LEAST_DEVIATIONS.map(|deviation| deviation * deviation);
    let covariance = covariance + Matrix3::from_diagonal(&least.into());
    let information = covariance.try_inverse().unwrap_or_else(Matrix3::identity);
    let mut pose = prior;
    let mut hessian = information;
    let (mut explained, mut spread) = (0.0, spread_of(&covariance));
    for _ in 0..ITERATIONS {
        // The gate depends on the uncertainty of the pose.
        let scale = (2.0 * settings.range_deviation).max(spread);
        let gate = (4.0 * scale).min(GATE);
        let (mut matched, mut near) = (0.0, 0.0);
        let (mut normal, mut gradient) = (Matrix3::zeros(), Vector3::zeros());
        let (sin, cos) = pose.heading.sin_cos();
        let frame = Frame::at(pose);
        for point in points {
            let place = frame.transform(*point);
            let Some((line, distance)) = lines.nearest(place) else {
                continue;
            };
            if distance < EXPLAINED {
                near += 1.0;
            }
            let part = line.nearest_part(place);
            if distance > gate || part <= 0.0 || part >= 1.0 {
                continue;
            }
            let along = (line.b - line.a) / line.length();
            let across = nalgebra::Vector2::new(-along.y, along.x);
            let residual = across.dot(&(place - line.a));
            let turned =
                nalgebra::Vector2::new(-sin * point.x - cos * point.y, cos * point.x - sin * point.y);
            let jacobian = Vector3::new(across.x, across.y, across.dot(&turned));
            let weight = 1.0 / (1.0 + (residual / scale).powi(2));
            normal += jacobian * jacobian.transpose() * weight;
            gradient += jacobian * (residual * weight);
            matched += 1.0;
        }
        explained = near / points.len().max(1) as f64;
        if matched == 0.0 {
            break;
        }
        let each = (INDEPENDENT / matched).min(1.0) / settings.range_deviation.powi(2);
        let off = Vector3::new(pose.x - prior.x, pose.y - prior.y, wrap_angle(pose.heading - prior.heading));
        hessian = information + normal * each;
        let Some(step) =
            hessian.try_inverse().map(|inverse| -(inverse * (information * off + gradient * each)))
        else {
            break;
        };
        pose = Pose::new(pose.x + step.x, pose.y + step.y, wrap_angle(pose.heading + step.z));
        // Each iteration has a smaller tolerance.
        let settled = step.x.hypot(step.y) < 1e-4 && step.z.abs() < 1e-4;
        if settled && spread <= 2.0 * settings.range_deviation {
            break;
        }
        spread *= 0.6;
    }
    let covariance = hessian.try_inverse().unwrap_or(covariance);
    Fit { pose, covariance, explained }
}

/// Distance of points from their lines caused by the uncertainty of the pose, m: at a range of a few metres.
fn spread_of(covariance: &Matrix3<f64>) -> f64 {
    const DISTANCE: f64 = 3.0;
    let place = (covariance[(0, 0)] + covariance[(1, 1)]).max(0.0).sqrt();
    place + DISTANCE * covariance[(2, 2)].max(0.0).sqrt()
}
