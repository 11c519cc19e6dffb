//! The test paths of the Ranger thesis: 4.3.2 and 4.5.2.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};

/// A test of path following. Paths are parallel to the x-z plane of the base frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Path {
    /// A rectangle of 50 by 20 cm through four via points, clockwise from its lower right corner.
    Rectangle,
    /// A circle of 20 cm radius.
    Circle {
        /// Time of a turn, s.
        period: f64,
    },
    /// To and fro along x, 10 cm to each side.
    SinusoidX {
        /// Time of a cycle, s.
        period: f64,
    },
    /// To and fro along z, 10 cm to each side.
    SinusoidZ {
        /// Time of a cycle, s.
        period: f64,
    },
}

impl Path {
    /// Radius of the circle, m.
    pub const RADIUS: f64 = 0.2;
    /// Amplitude of the sinusoids, m.
    pub const AMPLITUDE: f64 = 0.1;
    /// Centre of the sinusoids in the base frame, m.
    pub const CENTER: [f64; 3] = [0.0, 0.62, 0.52];
    /// Centre of the circle in the base frame, m. The thesis does not give it, but says that joints 4 and 6 turned at
    /// about 1.5 rad/s with T = 5 s. They do so with this centre, but not with that of the sinusoids (2.0 and 1.9
    /// rad/s).
    pub const CIRCLE_CENTER: [f64; 3] = [0.0, 0.70, 0.52];
    /// Corners of the rectangle in the base frame, m: B, C, E and F of figure 4.5.
    pub const CORNERS: [[f64; 3]; 4] =
        [[0.25, 0.58, 0.4], [0.25, 0.58, 0.6], [-0.25, 0.58, 0.6], [-0.25, 0.58, 0.4]];
    /// Times of the ways to the next corner, s.
    pub const TIMES: [f64; 4] = [2.0, 5.0, 2.0, 5.0];

    /// Time of one cycle, s.
    pub fn period(self) -> f64 {
        match self {
            Self::Rectangle => Self::TIMES.iter().sum(),
            Self::Circle { period } | Self::SinusoidX { period } | Self::SinusoidZ { period } => period,
        }
    }

    /// The nominal maximum speed on the curve, m/s; `None` for the rectangle.
    pub fn speed(self) -> Option<f64> {
        match self {
            Self::Rectangle => None,
            Self::Circle { period } => Some(TAU * Self::RADIUS / period),
            Self::SinusoidX { period } | Self::SinusoidZ { period } => Some(TAU * Self::AMPLITUDE / period),
        }
    }

    /// Where the tool begins and ends.
    pub fn start(self) -> Point3<f64> {
        self.at(0.0)
    }

    /// The point at a phase from 0 to 1.
    pub fn at(self, phase: f64) -> Point3<f64> {
        let center = Point3::from(Self::CENTER);
        let (sine, cosine) = (TAU * phase).sin_cos();
        match self {
            Self::Rectangle => {
                let mut rest = phase.rem_euclid(1.0) * self.period();
                let corner =
                    |index: usize| Point3::from(Self::CORNERS.get(index % 4).copied().unwrap_or_default());
                for (index, time) in Self::TIMES.into_iter().enumerate() {
                    if rest <= time {
                        return corner(index) + rest / time * (corner(index + 1) - corner(index));
                    }
                    rest -= time;
                }
                corner(0)
            }
            Self::Circle { .. } => {
                Point3::from(Self::CIRCLE_CENTER) + Self::RADIUS * Vector3::new(cosine, 0.0, sine)
            }
            Self::SinusoidX { .. } => center + Self::AMPLITUDE * Vector3::new(sine, 0.0, 0.0),
            Self::SinusoidZ { .. } => center + Self::AMPLITUDE * Vector3::new(0.0, 0.0, sine),
        }
    }
}

/// The points of the static test in the order of a visit, base frame, m: two lines along x, 10 cm apart in a plane that
/// rises away from the base by the square root of 2, four points on each, 20 cm apart. The thesis counts ten vertices;
/// its figure does not show the other two; here they are the middles of both lines. The place is our choice.
pub fn static_points() -> [Point3<f64>; 10] {
    let up = Vector3::new(0.0, 1.0, 2.0_f64.sqrt()).normalize();
    let at = |x: f64, side: f64| Point3::new(x, 0.58, 0.45) + 0.05 * side * up;
    [
        at(-0.3, -1.0),
        at(-0.1, -1.0),
        at(0.1, -1.0),
        at(0.3, -1.0),
        at(0.3, 1.0),
        at(0.1, 1.0),
        at(-0.1, 1.0),
        at(-0.3, 1.0),
        at(0.0, 1.0),
        at(0.0, -1.0),
    ]
}
