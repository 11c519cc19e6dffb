//! The outer dimensions of a base.

use dragoman_geometry::Pose;

/// The outer dimensions of a base, as Player's `position2d` gives them (seed 004).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    /// Length (along x), width, height, m.
    pub size: [f64; 3],
    /// Where the middle of the body is, seen from the centre of rotation, between the driven wheels.
    pub center: Pose,
}

impl Geometry {
    /// A TurtleBot 2: a Kobuki with its structure (seed 003, section 2.1).
    pub const TURTLEBOT_2: Self = Self { size: [0.354, 0.354, 0.420], center: Pose::ORIGIN };
}
