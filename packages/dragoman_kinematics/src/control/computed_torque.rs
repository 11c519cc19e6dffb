//! Computed torque: the inverse dynamics make the joints independent, each a critically damped oscillator.

use nalgebra::SVector;

use super::{ControlError, Target, positive};
use crate::dynamics::Dynamics;

/// Torques from the inverse dynamics.
#[derive(Debug, Clone)]
pub struct ComputedTorque<const N: usize> {
    dynamics: Dynamics<N>,
    bandwidth: f64,
}

impl<const N: usize> ComputedTorque<N> {
    /// For an arm; errors vanish with `bandwidth`, rad/s. Ten samples should fit in its inverse.
    ///
    /// # Errors
    /// A bandwidth that is not positive and finite.
    pub fn new(dynamics: Dynamics<N>, bandwidth: f64) -> Result<Self, ControlError> {
        Ok(Self { dynamics, bandwidth: positive("bandwidth", bandwidth)? })
    }

    /// Torques at positions `q` and velocities `v`.
    pub fn torques(&self, q: &SVector<f64, N>, v: &SVector<f64, N>, target: &Target<N>) -> SVector<f64, N> {
        let acceleration = target.acceleration
            + 2.0 * self.bandwidth * (target.velocity - v)
            + self.bandwidth.powi(2) * (target.position - q);
        // Friction of the motion that is wanted: that of the measured one would amplify noise about rest.
        self.dynamics.inverse(q, v, &acceleration) + self.dynamics.friction(&target.velocity)
    }
}
