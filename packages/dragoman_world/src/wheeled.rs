//! Robots on wheels: their pose after a drop, their motion, their odometry.

use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};

use super::noise::Noise;

/// Maximum distance of a support from the plane through all of them, m: tolerance of tyres and suspension.
const SUPPORT_TOLERANCE: f64 = 0.02;
/// Maximum inclination on which a robot stands, rad.
const STEEPEST: f64 = 0.35;

/// A robot on wheels.
#[derive(Debug, Clone)]
pub(crate) struct Wheeled {
    /// Positions where its wheels touch the ground, in its frame, m.
    pub(crate) supports: Vec<[f64; 2]>,
    pub(crate) wheel_radius: f64,
    /// Limits of speed, m/s, and turn rate, rad/s.
    pub(crate) limits: [f64; 2],
    /// Relative standard deviations of the odometry's increments: distance, heading.
    pub(crate) odometry_noise: [f64; 2],
    /// Odometry: x, y, m, and heading, rad.
    pub(crate) odometry: [f64; 3],
    /// Counts of the encoders since the start, independent of the set odometry: the distance, m, and the turn, rad.
    pub(crate) travelled: [f64; 2],
    /// Commanded velocity between calls of `advance`: m/s and rad/s.
    pub(crate) twist: [f64; 2],
    /// Whether its motors are on; otherwise it has no velocity.
    pub(crate) has_power: bool,
    pub(crate) noise: Noise,
}

/// One motion: distance and turn, m and rad.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) distance: f64,
    pub(crate) turn: f64,
}

impl Step {
    pub(crate) fn times(self, share: f64) -> Self {
        Self { distance: self.distance * share, turn: self.turn * share }
    }
}

impl Wheeled {
    pub(crate) fn step(&self, [speed, turn_rate]: [f64; 2], time: f64) -> Step {
        let [most, most_turning] = self.limits;
        Step {
            distance: speed.clamp(-most, most) * time,
            turn: turn_rate.clamp(-most_turning, most_turning) * time,
        }
    }

    /// The rest pose after a drop from `height` at this position; `None` without ground under it, or without even
    /// ground. `ground` returns the height of the ground below a point.
    ///
    /// The height is that of the robot's frame; the search for the ground begins one wheel radius above it.
    pub(crate) fn drop(
        &self,
        [x, y, height]: [f64; 3],
        yaw: f64,
        ground: impl Fn([f64; 3]) -> Option<f64>,
    ) -> Option<Isometry3<f64>> {
        let (sin, cos) = yaw.sin_cos();
        let mut points = Vec::with_capacity(self.supports.len());
        for &[ahead, left] in &self.supports {
            let (east, north) = (ahead * cos - left * sin, ahead * sin + left * cos);
            let level = ground([x + east, y + north, height + self.wheel_radius])?;
            points.push(Vector3::new(east, north, level));
        }
        let [slope_x, slope_y, level] = plane(&points)?;
        let off = |point: &Vector3<f64>| (point.z - (slope_x * point.x + slope_y * point.y + level)).abs();
        if points.iter().any(|point| off(point) > SUPPORT_TOLERANCE)
            || slope_x.hypot(slope_y).atan() > STEEPEST
        {
            return None;
        }
        let up = Vector3::new(-slope_x, -slope_y, 1.0).normalize();
        // Seen from above, it has the requested heading.
        let ahead = Vector3::new(cos, sin, slope_x * cos + slope_y * sin).normalize();
        let rotation = Matrix3::from_columns(&[ahead, up.cross(&ahead), up]);
        let rotation = UnitQuaternion::from_matrix(&rotation);
        Some(Isometry3::from_parts(Translation3::new(x, y, level), rotation))
    }

    /// Adds a motion of the wheels, as seen by its encoders.
    pub(crate) fn count(&mut self, step: Step) {
        let [distance_noise, heading_noise] = self.odometry_noise;
        let distance = step.distance * (1.0 + distance_noise * self.noise.normal());
        let turn = step.turn * (1.0 + heading_noise * self.noise.normal());
        self.travelled[0] += distance;
        self.travelled[1] += turn;
        let [x, y, heading] = &mut self.odometry;
        // The turn is applied first: see `World::drive`.
        *heading += turn;
        *x += distance * heading.cos();
        *y += distance * heading.sin();
        *heading = wrap(*heading);
    }
}

/// The regression plane `z = slope_x x + slope_y y + level` of the points (least squares).
fn plane(points: &[Vector3<f64>]) -> Option<[f64; 3]> {
    let mut normal = Matrix3::zeros();
    let mut right = Vector3::zeros();
    for point in points {
        let row = Vector3::new(point.x, point.y, 1.0);
        normal += row * row.transpose();
        right += row * point.z;
    }
    Some((normal.try_inverse()? * right).into())
}

/// The angle normalized to -pi to pi, rad.
pub(crate) fn wrap(angle: f64) -> f64 {
    angle.sin().atan2(angle.cos())
}
