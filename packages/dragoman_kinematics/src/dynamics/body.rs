//! A rigid body: its inertia, its motion, and the wrench that the motion needs.

use std::ops::{Add, Mul, Sub};

use nalgebra::{Isometry3, Matrix3, Vector3};

use super::DynamicsError;

/// Inertia of a rigid body in some frame.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Inertia {
    /// kg.
    pub mass: f64,
    /// First moment: mass times centre of mass, kg m.
    pub moment: Vector3<f64>,
    /// Rotational inertia about the frame's origin, kg m^2.
    pub about_origin: Matrix3<f64>,
}

impl Inertia {
    /// Number of inertial parameters of a rigid body.
    pub const PARAMETERS: usize = 10;

    /// A point mass, kg, at a place, m.
    pub fn point(mass: f64, at: [f64; 3]) -> Self {
        Self::about_center(mass, at.into(), Matrix3::zeros())
    }

    /// A body with a mass, kg, a centre of mass, m, and a rotational inertia about it, kg m^2.
    pub fn about_center(mass: f64, center: Vector3<f64>, inertia: Matrix3<f64>) -> Self {
        let steiner = Matrix3::identity() * center.norm_squared() - center * center.transpose();
        Self { mass, moment: mass * center, about_origin: inertia + mass * steiner }
    }

    /// Checks that a rigid body can have this inertia.
    ///
    /// # Errors
    /// [`DynamicsError::Inertia`] with the name `element`.
    pub fn checked(self, element: &str) -> Result<Self, DynamicsError> {
        let refused = |problem: String| Err(DynamicsError::Inertia { element: element.to_owned(), problem });
        if !self.parameters().iter().all(|value| value.is_finite()) {
            return refused("mass and inertia must be finite numbers".to_owned());
        }
        if self.mass < 0.0 {
            return refused(format!("the mass is {} kg", self.mass));
        }
        if self.mass == 0.0 {
            return if self == Self::default() {
                Ok(self)
            } else {
                refused("no mass, but an inertia".to_owned())
            };
        }
        let moments = self.at_center().symmetric_eigenvalues();
        // A point mass has none about its centre, but for rounding.
        let slack = 1e-9 * moments.amax() + 1e-12 * self.about_origin.amax() + f64::MIN_POSITIVE;
        if moments.min() < -slack || moments.sum() - 2.0 * moments.max() < -slack {
            let [a, b, c] = moments.into();
            return refused(format!("no rigid body has the principal inertias {a}, {b}, {c} kg m^2"));
        }
        Ok(self)
    }

    /// Mass, first moment (x, y, z) and rotational inertia about the origin (xx, xy, xz, yy, yz, zz). Torques are linear
    /// in them.
    pub fn parameters(&self) -> [f64; Self::PARAMETERS] {
        let (m, i) = (&self.moment, &self.about_origin);
        [self.mass, m.x, m.y, m.z, i.m11, i.m12, i.m13, i.m22, i.m23, i.m33]
    }

    /// The opposite of [`Inertia::parameters`].
    pub fn from_parameters(parameters: &[f64; Self::PARAMETERS]) -> Self {
        let [mass, x, y, z, xx, xy, xz, yy, yz, zz] = *parameters;
        let about_origin = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        Self { mass, moment: Vector3::new(x, y, z), about_origin }
    }

    /// The same body in another frame, in which this one has a pose.
    #[must_use]
    pub fn seen_from(&self, pose: &Isometry3<f64>) -> Self {
        if self.mass == 0.0 {
            return Self::default();
        }
        let rotation = pose.rotation.to_rotation_matrix().into_inner();
        let center = pose.translation.vector + rotation * self.moment / self.mass;
        Self::about_center(self.mass, center, rotation * self.at_center() * rotation.transpose())
    }

    fn at_center(&self) -> Matrix3<f64> {
        let center = self.moment / self.mass;
        self.about_origin
            - self.mass * (Matrix3::identity() * center.norm_squared() - center * center.transpose())
    }

    pub(super) fn wrench(&self, motion: &Motion) -> Wrench {
        let Motion { velocity, turning, acceleration } = motion;
        Wrench {
            force: self.mass * acceleration
                + turning.cross(&self.moment)
                + velocity.cross(&velocity.cross(&self.moment)),
            torque: self.about_origin * turning
                + velocity.cross(&(self.about_origin * velocity))
                + self.moment.cross(acceleration),
        }
    }
}

impl Add for Inertia {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            mass: self.mass + other.mass,
            moment: self.moment + other.moment,
            about_origin: self.about_origin + other.about_origin,
        }
    }
}

/// Motion of a frame, in its own coordinates.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Motion {
    /// Angular velocity, rad/s.
    pub(super) velocity: Vector3<f64>,
    /// Angular acceleration, rad/s^2.
    pub(super) turning: Vector3<f64>,
    /// Acceleration of the origin, m/s^2.
    pub(super) acceleration: Vector3<f64>,
}

impl Motion {
    /// Acceleration of a point that moves with the frame.
    pub(super) fn acceleration_at(&self, at: &Vector3<f64>) -> Vector3<f64> {
        self.acceleration + self.turning.cross(at) + self.velocity.cross(&self.velocity.cross(at))
    }
}

/// Force, N, and torque about the frame's origin, N m.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wrench {
    pub(super) force: Vector3<f64>,
    pub(super) torque: Vector3<f64>,
}

impl Add for Wrench {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { force: self.force + other.force, torque: self.torque + other.torque }
    }
}

impl Sub for Wrench {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Mul<f64> for Wrench {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self { force: factor * self.force, torque: factor * self.torque }
    }
}
