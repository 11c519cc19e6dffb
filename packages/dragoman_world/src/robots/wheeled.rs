//! Robots on wheels: their drives, their pose after a drop, their motion, their odometry.

use dragoman_geometry::wheels::{Drives, Wheel};
use dragoman_geometry::{Twist, wrap_angle};
use nalgebra::{Isometry3, Matrix3, Translation3, UnitQuaternion, Vector3};

use crate::noise::Noise;

/// Maximum distance of a support from the plane through all of them, m: tolerance of tyres and suspension.
const SUPPORT_TOLERANCE: f64 = 0.02;
/// Maximum inclination on which a robot stands, rad.
const MAX_INCLINATION: f64 = 0.35;

/// A robot on wheels.
#[derive(Debug, Clone)]
pub(crate) struct Wheeled {
    /// Positions where its wheels touch the ground, in its frame, m.
    pub(crate) supports: Vec<[f64; 2]>,
    pub(crate) wheel_radius: f64,
    /// Limits of speed, m/s, and turn rate, rad/s.
    pub(crate) limits: [f64; 2],
    /// Omnidirectional drives; `None`: two driven wheels.
    pub(crate) omni: Option<Omni>,
    /// Relative standard deviations of the odometry's increments: distance, heading.
    pub(crate) odometry_noise: [f64; 2],
    /// Odometry of the ROS topics, from the motions of the wheels: x, y, m, and heading, rad.
    pub(crate) odometry: [f64; 3],
    /// Odometry of Apolo's functions.
    pub(crate) apolo: ApoloOdometry,
    /// Counts of the encoders since the start, independent of the set odometry.
    pub(crate) travelled: Step,
    /// Commanded velocity between calls of `advance`.
    pub(crate) twist: Twist,
    /// Whether its motors are on; otherwise it has no velocity.
    pub(crate) has_power: bool,
    pub(crate) noise: Noise,
}

/// Drives of a robot that can move sideways.
#[derive(Debug, Clone)]
pub(crate) struct Omni {
    pub(crate) drives: Drives,
    /// Maximum speed of a wheel's rim, m/s.
    pub(crate) max_wheel_speed: f64,
    /// Maximum rate of steering, rad/s.
    pub(crate) max_steering_rate: f64,
    /// State of the wheels.
    pub(crate) wheels: Vec<Wheel>,
}

/// One motion: distances ahead and to the left, and turn, m and rad.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) distance: f64,
    pub(crate) side: f64,
    pub(crate) turn: f64,
}

impl Step {
    pub(crate) fn times(self, share: f64) -> Self {
        Self { distance: self.distance * share, side: self.side * share, turn: self.turn * share }
    }
}

impl Wheeled {
    /// The motion at this velocity, within the limits of the robot, m/s and rad/s.
    pub(crate) fn step(&self, [speed, turn_rate]: [f64; 2], time: f64) -> Step {
        let [most, most_turning] = self.limits;
        Step {
            distance: speed.clamp(-most, most) * time,
            side: 0.0,
            turn: turn_rate.clamp(-most_turning, most_turning) * time,
        }
    }

    /// The motion at the commanded velocity, as its wheels turn: within the limits of the drives, and with the time
    /// that steering takes.
    pub(crate) fn roll_wheels(&mut self, time: f64) -> Step {
        let twist = self.twist;
        let [most, most_turning] = self.limits;
        let Some(omni) = &mut self.omni else {
            return self.step([twist.linear, twist.angular], time);
        };
        let wanted = Twist {
            linear: twist.linear.clamp(-most, most),
            lateral: twist.lateral.clamp(-most, most),
            angular: twist.angular.clamp(-most_turning, most_turning),
        };
        let wanted = omni.drives.limited(wanted, omni.max_wheel_speed);
        omni.wheels = omni.drives.steer(wanted, &omni.wheels, omni.max_steering_rate, time);
        let Twist { linear, lateral, angular } = omni.drives.twist(&omni.wheels);
        Step { distance: linear * time, side: lateral * time, turn: angular * time }
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
            || slope_x.hypot(slope_y).atan() > MAX_INCLINATION
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

    /// Adds a motion of the wheels, as seen by its encoders. Returns the factors by which they saw more than the
    /// distance and the turn.
    pub(crate) fn count(&mut self, step: Step) -> [f64; 2] {
        let factors = self.odometry_noise.map(|deviation| 1.0 + deviation * self.noise.normal());
        let [slip, turn_factor] = factors;
        let (distance, side, turn) = (step.distance * slip, step.side * slip, step.turn * turn_factor);
        let counts = &mut self.travelled;
        *counts =
            Step { distance: counts.distance + distance, side: counts.side + side, turn: counts.turn + turn };
        let [x, y, heading] = &mut self.odometry;
        // The turn is applied first: see `World::drive`.
        *heading += turn;
        let (sin, cos) = heading.sin_cos();
        *x += distance * cos - side * sin;
        *y += distance * sin + side * cos;
        *heading = wrap_angle(*heading);
        factors
    }
}

/// The odometry of the original Apolo. A motion adds how far the robot is from its pose after the last motion: the
/// position along the axes that the robot had at the last reset, whatever heading was set, and the heading. So a robot
/// that is placed has an odometry that jumps with its next motion.
#[derive(Debug, Clone)]
pub(crate) struct ApoloOdometry {
    /// x, y, m, and heading, rad.
    pub(crate) reading: [f64; 3],
    /// Orientation of the robot at the last reset.
    axes: UnitQuaternion<f64>,
    /// Pose after the last motion or reset.
    last: Isometry3<f64>,
}

impl ApoloOdometry {
    /// At zero, for a robot at this pose.
    pub(crate) fn new(pose: &Isometry3<f64>) -> Self {
        Self { reading: [0.0; 3], axes: pose.rotation, last: *pose }
    }

    /// Sets the reading; the robot's axes at this pose are those of the odometry from now on.
    pub(crate) fn reset(&mut self, pose: &Isometry3<f64>, reading: [f64; 3]) {
        let [x, y, heading] = reading;
        *self = Self { reading: [x, y, wrap_angle(heading)], ..Self::new(pose) };
    }

    /// Adds the way from the last pose to this one; its distance and its turn are multiplied by the factors.
    pub(crate) fn measure(&mut self, pose: &Isometry3<f64>, [distance, turn]: [f64; 2]) {
        let way = self.last.inverse() * pose;
        let along = self.axes.inverse() * (self.last.rotation * (way.translation.vector * distance));
        let (_, _, yaw) = way.rotation.euler_angles();
        let [x, y, heading] = self.reading;
        self.reading = [x + along.x, y + along.y, wrap_angle(heading + yaw * turn)];
        self.last = *pose;
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
