//! Poses, velocities and angles in the plane.

use std::fmt;

/// Velocities of a base in its own frame: x forward, counterclockwise positive (REP 103).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Twist {
    /// Forward, m/s.
    pub linear: f64,
    /// To the left, m/s; 0 for all bases but omnidirectional ones.
    pub lateral: f64,
    /// Counterclockwise, rad/s.
    pub angular: f64,
}

impl Twist {
    /// Standing still.
    pub const ZERO: Self = Self { linear: 0.0, lateral: 0.0, angular: 0.0 };

    /// A twist without lateral velocity, m/s and rad/s.
    pub fn new(linear: f64, angular: f64) -> Self {
        Self { linear, lateral: 0.0, angular }
    }

    /// A twist of an omnidirectional base, m/s and rad/s.
    pub fn planar(linear: f64, lateral: f64, angular: f64) -> Self {
        Self { linear, lateral, angular }
    }

    /// Whether all are finite.
    pub fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.lateral.is_finite() && self.angular.is_finite()
    }

    /// All velocities times this factor.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self { linear: self.linear * factor, lateral: self.lateral * factor, angular: self.angular * factor }
    }

    /// Speed of the origin, in any direction, m/s.
    pub fn speed(&self) -> f64 {
        self.linear.hypot(self.lateral)
    }
}

impl fmt::Display for Twist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m/s, ", self.linear)?;
        if self.lateral != 0.0 {
            write!(f, "{} m/s to the left, ", self.lateral)?;
        }
        write!(f, "{} rad/s", self.angular)
    }
}

/// A pose in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// x, m.
    pub x: f64,
    /// y, m.
    pub y: f64,
    /// Heading, from x towards y, rad, -pi to pi.
    pub heading: f64,
}

impl Pose {
    /// The start of odometry.
    pub const ORIGIN: Self = Self { x: 0.0, y: 0.0, heading: 0.0 };

    /// A pose at this position and heading.
    pub fn new(x: f64, y: f64, heading: f64) -> Self {
        Self { x, y, heading }
    }

    /// Whether all values are finite.
    pub fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite() && self.heading.is_finite()
    }
}

/// The rotation about z of a rotation as a unit quaternion x, y, z, w, rad (REP 103: yaw).
pub fn yaw([x, y, z, w]: [f64; 4]) -> f64 {
    (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
}

/// The reverse of [`yaw`]: the quaternion of a rotation about z.
pub fn rotation_about_z(yaw: f64) -> [f64; 4] {
    let (z, w) = (yaw / 2.0).sin_cos();
    [0.0, 0.0, z, w]
}

/// Wraps an angle in rad to -pi to pi.
pub fn wrap_angle(angle: f64) -> f64 {
    let wrapped = (angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
    // pi stays pi.
    if wrapped == -std::f64::consts::PI && angle > 0.0 { std::f64::consts::PI } else { wrapped }
}
