//! The outer dimensions of a base.

use dragoman_geometry::Pose;

/// The outer dimensions of a base, as in Player's `position2d` (RoMAA page).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    /// Length (along x), width, height, m.
    pub size: [f64; 3],
    /// Centre of the body, relative to the centre of rotation between the driven wheels.
    pub center: Pose,
}

impl Geometry {
    /// A TurtleBot 2: a Kobuki with its structure (TurtleBot thesis, 2.1).
    pub const TURTLEBOT_2: Self = Self { size: [0.354, 0.354, 0.420], center: Pose::ORIGIN };
}
