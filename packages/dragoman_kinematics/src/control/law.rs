//! Controllers behind one interface, whatever the number of joints.

use nalgebra::SVector;

use super::{Adaptation, Adaptive, ComputedTorque, ControlError, Target};
use crate::dynamics::{Dynamics, DynamicsError, Inertia};

/// Kind of controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// [`ComputedTorque`].
    ComputedTorque,
    /// [`Adaptive`], with [`Adaptation::DEFAULT`].
    Adaptive,
}

/// A controller of an arm. Slices have one value per joint, base of the chain first; missing values count as 0.
pub trait Law: Send {
    /// Torques for positions, velocities, and a target: positions, velocities, accelerations. They hold for `dt`, s.
    fn torques(
        &mut self,
        position: &[f64],
        velocity: &[f64],
        target: [&[f64]; 3],
        dt: f64,
        torques: &mut [f64],
    );

    /// The payload that has been learned, in the frame of the last joint; zero for controllers that do not learn.
    fn payload(&self) -> Inertia;
}

/// A controller that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LawError {
    /// The description has no usable dynamics.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
    /// A setting is invalid.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Too many joints, or none.
    #[error("controllers are for 1 to 8 joints; the arm has {0}")]
    Joints(usize),
}

/// A controller for the arm of a URDF from `base` to `tip`, with as many joints as `rotors` has values: the rotors'
/// inertias as seen by the joints, kg m^2 or kg. `bandwidth` in rad/s.
///
/// # Errors
/// [`LawError`].
pub fn law(
    xml: &str,
    base: Option<&str>,
    tip: Option<&str>,
    rotors: &[f64],
    method: Method,
    bandwidth: f64,
) -> Result<Box<dyn Law>, LawError> {
    macro_rules! with_joints {
        ($($count:literal)*) => {
            match rotors.len() {
                $($count => made::<$count>(xml, base, tip, rotors, method, bandwidth),)*
                other => Err(LawError::Joints(other)),
            }
        };
    }
    with_joints!(1 2 3 4 5 6 7 8)
}

fn made<const N: usize>(
    xml: &str,
    base: Option<&str>,
    tip: Option<&str>,
    rotors: &[f64],
    method: Method,
    bandwidth: f64,
) -> Result<Box<dyn Law>, LawError> {
    let dynamics = Dynamics::<N>::from_urdf(xml, base, tip)?.with_rotors(joints::<N>(rotors).into());
    Ok(match method {
        Method::ComputedTorque => Box::new(ComputedTorque::new(dynamics, bandwidth)?),
        Method::Adaptive => Box::new(Adaptive::new(dynamics, bandwidth, Adaptation::DEFAULT)?),
    })
}

fn joints<const N: usize>(values: &[f64]) -> SVector<f64, N> {
    SVector::from_fn(|joint, _| values.get(joint).copied().unwrap_or(0.0))
}

fn target<const N: usize>([position, velocity, acceleration]: [&[f64]; 3]) -> Target<N> {
    Target { position: joints(position), velocity: joints(velocity), acceleration: joints(acceleration) }
}

fn put<const N: usize>(found: &SVector<f64, N>, torques: &mut [f64]) {
    torques.iter_mut().zip(found.iter()).for_each(|(slot, torque)| *slot = *torque);
}

impl<const N: usize> Law for ComputedTorque<N> {
    fn torques(
        &mut self,
        position: &[f64],
        velocity: &[f64],
        aim: [&[f64]; 3],
        _dt: f64,
        torques: &mut [f64],
    ) {
        put(&Self::torques(self, &joints(position), &joints(velocity), &target(aim)), torques);
    }

    fn payload(&self) -> Inertia {
        Inertia::default()
    }
}

impl<const N: usize> Law for Adaptive<N> {
    fn torques(
        &mut self,
        position: &[f64],
        velocity: &[f64],
        aim: [&[f64]; 3],
        dt: f64,
        torques: &mut [f64],
    ) {
        put(&Self::torques(self, &joints(position), &joints(velocity), &target(aim), dt), torques);
    }

    fn payload(&self) -> Inertia {
        Self::payload(self)
    }
}
