//! Rigid-body dynamics of a serial arm: what torques a motion needs, and what motion torques cause.
//!
//! | file | holds |
//! | --- | --- |
//! | `mod.rs` | [`Dynamics`]: inverse and forward dynamics, mass matrix, gravity, friction |
//! | `body.rs` | [`Inertia`]: mass, centre of mass and rotational inertia of a rigid body |
//! | `description.rs` | masses, inertias and friction from a URDF |
//!
//! The algorithm is the recursive Newton-Euler one, in the frames of the joints (Craig, *Introduction to Robotics*,
//! chapter 6; Featherstone, *Rigid Body Dynamics Algorithms*, chapter 5). Joint positions are rad or m, torques N m or N.
//! The number of joints is a constant, so that nothing is allocated after the construction.

mod body;
mod description;

pub use body::Inertia;

use nalgebra::{Isometry3, Matrix3, SMatrix, SVector, Unit, Vector3};

use crate::model::{JointKind, ModelError};
use body::{Motion, Wrench};

/// Gravity at the Earth's surface, m/s^2; the value of Pinocchio and of most simulators.
pub const GRAVITY: f64 = 9.81;
/// Velocity at which Coulomb friction is fully developed, rad/s or m/s: below it friction is proportional to velocity,
/// so that a joint at rest has a defined friction, and simulations need no impacts.
pub const COULOMB_VELOCITY: f64 = 1e-3;

/// A description from which no [`Dynamics`] can be made, or a state without a defined acceleration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DynamicsError {
    /// The geometry is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Another number of joints than the type has.
    #[error("the arm has {got} joints, {expected} are needed")]
    Joints {
        /// Number of joints of the type.
        expected: usize,
        /// Number of joints of the description.
        got: usize,
    },
    /// A mass, an inertia or a friction that no body has.
    #[error("{element}: {problem}")]
    Inertia {
        /// Name of the link or joint, or `payload`.
        element: String,
        /// What is wrong.
        problem: String,
    },
    /// Some joint moves no mass, so that its acceleration is undefined.
    #[error("the mass matrix is singular: a joint moves no mass")]
    Massless,
}

/// A joint, and the rigid body that moves with it. Vectors are in the frame that moves with the joint.
#[derive(Debug, Clone)]
struct Body {
    kind: JointKind,
    /// From the frame before, or the base, to this one at position zero.
    origin: Isometry3<f64>,
    axis: Unit<Vector3<f64>>,
    inertia: Inertia,
    /// Viscous friction, N m s/rad or N s/m.
    damping: f64,
    /// Coulomb friction, N m or N.
    friction: f64,
    /// Inertia of the motor's rotor as seen by the joint, kg m^2 or kg.
    rotor: f64,
}

/// Where a body is in the frame before: rotation to that frame, and its origin there.
type Step = (Matrix3<f64>, Vector3<f64>);

/// Dynamics of an arm with `N` joints.
#[derive(Debug, Clone)]
pub struct Dynamics<const N: usize> {
    bodies: [Body; N],
    payload: Inertia,
    /// In the frame of the base, m/s^2.
    gravity: Vector3<f64>,
    tool: Isometry3<f64>,
}

impl<const N: usize> Dynamics<N> {
    /// Reads the chain from link `base` (default: the root) to link `tip` (default: the only leaf that a joint moves) of
    /// a URDF. All links that hang on the chain count, also those behind joints that do not belong to it, which are
    /// taken at position zero. Gravity points along -z of the base frame.
    ///
    /// # Errors
    /// [`DynamicsError`]; negative masses and friction, inertias that no rigid body has.
    pub fn from_urdf(xml: &str, base: Option<&str>, tip: Option<&str>) -> Result<Self, DynamicsError> {
        description::parse(xml, base, tip)
    }

    /// The same arm with other gravity: the acceleration of a falling body in the base frame, m/s^2. An arm on a ceiling
    /// has (0, 0, 9.81); zero: in orbit.
    #[must_use]
    pub fn with_gravity(self, gravity: [f64; 3]) -> Self {
        Self { gravity: gravity.into(), ..self }
    }

    /// The same arm that carries a body, given in the tool frame.
    #[must_use]
    pub fn with_payload(self, payload: &Inertia) -> Self {
        Self { payload: payload.seen_from(&self.tool), ..self }
    }

    /// The same arm with the rotors' inertias as seen by the joints (inertia times squared gear ratio), kg m^2 or kg.
    /// They add to the diagonal of the mass matrix; their gyroscopic effect is neglected, as usual with high ratios.
    #[must_use]
    pub fn with_rotors(mut self, rotors: [f64; N]) -> Self {
        for (body, rotor) in self.bodies.iter_mut().zip(rotors) {
            body.rotor = rotor;
        }
        self
    }

    /// The same arm with other friction: viscous, N m s/rad or N s/m, and Coulomb, N m or N.
    #[must_use]
    pub fn with_friction(mut self, damping: [f64; N], friction: [f64; N]) -> Self {
        for (body, (damping, friction)) in self.bodies.iter_mut().zip(damping.into_iter().zip(friction)) {
            (body.damping, body.friction) = (damping, friction);
        }
        self
    }

    /// Torques for accelerations `a` at positions `q` and velocities `v`, without friction.
    pub fn inverse(&self, q: &SVector<f64, N>, v: &SVector<f64, N>, a: &SVector<f64, N>) -> SVector<f64, N> {
        let steps = self.steps(q);
        self.torques(&steps, &self.wrenches(&steps, v, a, self.gravity)) + self.rotor_torques(a)
    }

    /// Torques that hold the arm still at positions `q`.
    pub fn gravity(&self, q: &SVector<f64, N>) -> SVector<f64, N> {
        self.inverse(q, &SVector::zeros(), &SVector::zeros())
    }

    /// Centrifugal and Coriolis torques `C(q, v) r`, with the matrix of Christoffel symbols: the one with which
    /// `dM/dt - 2 C` is skew-symmetric, which passivity-based control relies on. It is symmetric in `v` and `r`, so it
    /// follows from the quadratic form that Newton-Euler computes.
    pub fn coriolis(&self, q: &SVector<f64, N>, v: &SVector<f64, N>, r: &SVector<f64, N>) -> SVector<f64, N> {
        let steps = self.steps(q);
        self.torques(&steps, &self.coriolis_wrenches(&steps, v, r))
    }

    /// The mass matrix: symmetric and positive definite, kg m^2 for revolute joints.
    pub fn mass_matrix(&self, q: &SVector<f64, N>) -> SMatrix<f64, N, N> {
        let steps = self.steps(q);
        let mut matrix = SMatrix::<f64, N, N>::zeros();
        let still = SVector::zeros();
        for joint in 0..N {
            let mut unit = SVector::<f64, N>::zeros();
            unit[joint] = 1.0;
            let wrenches = self.wrenches(&steps, &still, &unit, Vector3::zeros());
            matrix.set_column(joint, &(self.torques(&steps, &wrenches) + self.rotor_torques(&unit)));
        }
        0.5 * (matrix + matrix.transpose())
    }

    /// Torques of friction at velocities `v`, with the sign of the velocity: what a drive has to add.
    pub fn friction(&self, v: &SVector<f64, N>) -> SVector<f64, N> {
        SVector::from_fn(|joint, _| {
            let body = &self.bodies[joint];
            body.damping * v[joint] + body.friction * (v[joint] / COULOMB_VELOCITY).clamp(-1.0, 1.0)
        })
    }

    /// Accelerations that torques cause, with friction.
    ///
    /// # Errors
    /// [`DynamicsError::Massless`].
    pub fn forward(
        &self,
        q: &SVector<f64, N>,
        v: &SVector<f64, N>,
        torques: &SVector<f64, N>,
    ) -> Result<SVector<f64, N>, DynamicsError> {
        self.forward_with(q, v, torques, &[None; N])
    }

    /// The same where some joints have a given acceleration, whatever torque that takes: held by a brake (0), or slowed
    /// down by it.
    ///
    /// # Errors
    /// [`DynamicsError::Massless`].
    pub fn forward_with(
        &self,
        q: &SVector<f64, N>,
        v: &SVector<f64, N>,
        torques: &SVector<f64, N>,
        given: &[Option<f64>; N],
    ) -> Result<SVector<f64, N>, DynamicsError> {
        let known = SVector::<f64, N>::from_fn(|joint, _| given[joint].unwrap_or(0.0));
        let mut rest = torques - self.inverse(q, v, &known) - self.friction(v);
        let mut matrix = self.mass_matrix(q);
        for joint in (0..N).filter(|joint| given[*joint].is_some()) {
            rest[joint] = 0.0;
            matrix.row_mut(joint).fill(0.0);
            matrix.column_mut(joint).fill(0.0);
            matrix[(joint, joint)] = 1.0;
        }
        let factors = matrix.cholesky().ok_or(DynamicsError::Massless)?;
        Ok(known + factors.solve(&rest))
    }

    /// Positions and velocities after `dt` seconds with constant torques. Joints with a `given` velocity at the end have it,
    /// whatever torque that takes: those that a brake holds or slows down. Implicit in friction: Coulomb friction at rest
    /// does not need shorter steps than the motion.
    ///
    /// # Errors
    /// [`DynamicsError::Massless`].
    pub fn step(
        &self,
        q: &SVector<f64, N>,
        v: &SVector<f64, N>,
        torques: &SVector<f64, N>,
        given: &[Option<f64>; N],
        dt: f64,
    ) -> Result<(SVector<f64, N>, SVector<f64, N>), DynamicsError> {
        let matrix = self.mass_matrix(q);
        let known = SVector::<f64, N>::from_fn(|joint, _| given[joint].unwrap_or(0.0));
        let momentum = matrix * v + dt * (torques - self.inverse(q, v, &SVector::zeros())) - matrix * known;
        let mut next = SVector::<f64, N>::from_fn(|joint, _| given[joint].unwrap_or(v[joint]));
        // The slope of the secant depends on the velocity at the end.
        for _ in 0..3 {
            let mut rest = momentum;
            let mut factors = matrix;
            for joint in 0..N {
                if given[joint].is_some() {
                    rest[joint] = 0.0;
                    factors.row_mut(joint).fill(0.0);
                    factors.column_mut(joint).fill(0.0);
                    factors[(joint, joint)] = 1.0;
                } else {
                    let speed = next[joint].abs().max(COULOMB_VELOCITY);
                    factors[(joint, joint)] +=
                        dt * (self.bodies[joint].damping + self.bodies[joint].friction / speed);
                }
            }
            next = known + factors.cholesky().ok_or(DynamicsError::Massless)?.solve(&rest);
        }
        Ok((q + 0.5 * dt * (v + next), next))
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self, q: &SVector<f64, N>, v: &SVector<f64, N>) -> f64 {
        0.5 * v.dot(&(self.mass_matrix(q) * v))
    }

    /// Potential energy, J; zero with all centres of mass at the base's origin.
    pub fn potential_energy(&self, q: &SVector<f64, N>) -> f64 {
        let (mut rotation, mut point) = (Matrix3::identity(), Vector3::zeros());
        let mut energy = 0.0;
        for (body, (turn, at)) in self.carried().zip(&self.steps(q)) {
            point += rotation * at;
            rotation *= turn;
            energy -= self.gravity.dot(&(body.mass * point + rotation * body.moment));
        }
        energy
    }

    /// Torques per entry of [`Inertia::parameters`] of a payload, given in the frame of the last joint, for accelerations
    /// `a`, velocities `v` and reference velocities `r`: `Y` in `M a + C r + g = ... + Y parameters` (Slotine and Li).
    pub fn payload_regressor(
        &self,
        q: &SVector<f64, N>,
        v: &SVector<f64, N>,
        r: &SVector<f64, N>,
        a: &SVector<f64, N>,
    ) -> SMatrix<f64, N, { Inertia::PARAMETERS }> {
        let steps = self.steps(q);
        let zero = SVector::zeros();
        let last = |v: &SVector<f64, N>, a: &SVector<f64, N>, gravity| {
            self.motions(&steps, v, a, gravity).last().copied().unwrap_or_default()
        };
        let (linear, plus, minus) = (
            last(&zero, a, self.gravity),
            last(&(v + r), &zero, Vector3::zeros()),
            last(&(v - r), &zero, Vector3::zeros()),
        );
        let mut regressor = SMatrix::<f64, N, { Inertia::PARAMETERS }>::zeros();
        for column in 0..Inertia::PARAMETERS {
            let mut unit = [0.0; Inertia::PARAMETERS];
            unit[column] = 1.0;
            let unit = Inertia::from_parameters(&unit);
            let mut wrenches = [Wrench::default(); N];
            if let Some(wrench) = wrenches.last_mut() {
                *wrench = unit.wrench(&linear) + (unit.wrench(&plus) - unit.wrench(&minus)) * 0.25;
            }
            regressor.set_column(column, &self.torques(&steps, &wrenches));
        }
        regressor
    }

    /// A pose in the tool frame, seen from the frame of the last joint.
    pub fn tool(&self) -> &Isometry3<f64> {
        &self.tool
    }

    fn steps(&self, q: &SVector<f64, N>) -> [Step; N] {
        std::array::from_fn(|joint| {
            let body = &self.bodies[joint];
            let rotation = body.origin.rotation.to_rotation_matrix().into_inner();
            let at = body.origin.translation.vector;
            match body.kind {
                JointKind::Revolute => {
                    let turn = nalgebra::Rotation3::from_axis_angle(&body.axis, q[joint]);
                    (rotation * turn.matrix(), at)
                }
                JointKind::Prismatic => (rotation, at + rotation * body.axis.into_inner() * q[joint]),
            }
        })
    }

    /// Velocities and accelerations of the joints' frames, outwards. Gravity is an acceleration of the base.
    fn motions(
        &self,
        steps: &[Step; N],
        v: &SVector<f64, N>,
        a: &SVector<f64, N>,
        gravity: Vector3<f64>,
    ) -> [Motion; N] {
        let mut before = Motion { acceleration: -gravity, ..Motion::default() };
        std::array::from_fn(|joint| {
            let (rotation, at) = &steps[joint];
            let (axis, kind) = (self.bodies[joint].axis.into_inner(), self.bodies[joint].kind);
            let origin = before.acceleration_at(at);
            let mut motion = Motion {
                velocity: rotation.tr_mul(&before.velocity),
                turning: rotation.tr_mul(&before.turning),
                acceleration: rotation.tr_mul(&origin),
            };
            let (speed, change) = (axis * v[joint], axis * a[joint]);
            match kind {
                JointKind::Revolute => {
                    motion.velocity += speed;
                    motion.turning += change + motion.velocity.cross(&speed);
                }
                JointKind::Prismatic => {
                    motion.acceleration += change + 2.0 * motion.velocity.cross(&speed);
                }
            }
            before = motion;
            motion
        })
    }

    /// The bodies, the last one with the payload.
    fn carried(&self) -> impl Iterator<Item = Inertia> {
        self.bodies
            .iter()
            .enumerate()
            .map(|(joint, body)| if joint + 1 == N { body.inertia + self.payload } else { body.inertia })
    }

    fn wrenches(
        &self,
        steps: &[Step; N],
        v: &SVector<f64, N>,
        a: &SVector<f64, N>,
        gravity: Vector3<f64>,
    ) -> [Wrench; N] {
        let motions = self.motions(steps, v, a, gravity);
        let mut carried = self.carried();
        motions.map(|motion| carried.next().map(|body| body.wrench(&motion)).unwrap_or_default())
    }

    fn coriolis_wrenches(&self, steps: &[Step; N], v: &SVector<f64, N>, r: &SVector<f64, N>) -> [Wrench; N] {
        let quadratic = |v: SVector<f64, N>| self.wrenches(steps, &v, &SVector::zeros(), Vector3::zeros());
        let (plus, minus) = (quadratic(v + r), quadratic(v - r));
        std::array::from_fn(|joint| (plus[joint] - minus[joint]) * 0.25)
    }

    /// Joint torques that give the bodies these wrenches, inwards.
    fn torques(&self, steps: &[Step; N], wrenches: &[Wrench; N]) -> SVector<f64, N> {
        let mut torques = SVector::zeros();
        let mut carried = Wrench::default();
        for joint in (0..N).rev() {
            let total = wrenches[joint] + carried;
            let body = &self.bodies[joint];
            torques[joint] = body.axis.dot(match body.kind {
                JointKind::Revolute => &total.torque,
                JointKind::Prismatic => &total.force,
            });
            let (rotation, at) = &steps[joint];
            let force = rotation * total.force;
            carried = Wrench { force, torque: rotation * total.torque + at.cross(&force) };
        }
        torques
    }

    fn rotor_torques(&self, a: &SVector<f64, N>) -> SVector<f64, N> {
        SVector::from_fn(|joint, _| self.bodies[joint].rotor * a[joint])
    }
}
