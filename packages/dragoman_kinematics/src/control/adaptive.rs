//! Passivity-based control that learns the inertia of a payload.

use nalgebra::SVector;

use super::{ControlError, Target, positive};
use crate::dynamics::{Dynamics, Inertia};

/// How a payload is learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// Rate of the mass: kg per second and per W of power that the error takes.
    pub rate: f64,
    /// Maximum mass, kg.
    pub max_mass: f64,
    /// Maximum distance of its centre from the frame of the last joint, m.
    pub max_distance: f64,
}

impl Adaptation {
    /// For payloads of arms of about a metre.
    pub const DEFAULT: Self = Self { rate: 5.0, max_mass: 10.0, max_distance: 0.35 };
}

/// Control after Slotine and Li. The error decreases for any payload, if drives and dynamics are as described. Coulomb
/// friction is compensated for the motion that is wanted: the joints need the inertia of rotors, without which the
/// gains of a light wrist are too small to overcome it.
#[derive(Debug, Clone)]
pub struct Adaptive<const N: usize> {
    dynamics: Dynamics<N>,
    bandwidth: f64,
    adaptation: Adaptation,
    /// In the frame of the last joint, as [`Inertia::parameters`]; not more than a mass and its first moment are learned.
    payload: [f64; Inertia::PARAMETERS],
}

impl<const N: usize> Adaptive<N> {
    /// For an arm without a payload. `bandwidth` as in [`ComputedTorque`](super::ComputedTorque), rad/s.
    ///
    /// # Errors
    /// A number that is not positive and finite.
    pub fn new(dynamics: Dynamics<N>, bandwidth: f64, adaptation: Adaptation) -> Result<Self, ControlError> {
        let Adaptation { rate, max_mass, max_distance } = adaptation;
        for (name, value) in [("rate", rate), ("max_mass", max_mass), ("max_distance", max_distance)] {
            positive(name, value)?;
        }
        let bandwidth = positive("bandwidth", bandwidth)?;
        Ok(Self { dynamics, bandwidth, adaptation, payload: [0.0; Inertia::PARAMETERS] })
    }

    /// Torques at positions `q` and velocities `v`; they hold for `dt`, s. An invalid `dt` counts as 0: nothing is learned.
    pub fn torques(
        &mut self,
        q: &SVector<f64, N>,
        v: &SVector<f64, N>,
        target: &Target<N>,
        dt: f64,
    ) -> SVector<f64, N> {
        let reference = target.velocity + self.bandwidth * (target.position - q);
        let acceleration = target.acceleration + self.bandwidth * (target.velocity - v);
        let slip = v - reference;
        let regressor = self.dynamics.payload_regressor(q, v, &reference, &acceleration);
        let matrix = self.dynamics.mass_matrix(q);
        let torques = matrix * (acceleration - self.bandwidth * slip)
            + self.dynamics.coriolis(q, v, &reference)
            + self.dynamics.gravity(q)
            // Not of the reference: its Coulomb friction would switch with the sign of small errors.
            + self.dynamics.friction(&target.velocity)
            + regressor * SVector::from(self.payload);
        if dt.is_finite() && dt > 0.0 {
            self.learn(&(regressor.transpose() * slip), dt);
        }
        torques
    }

    /// The payload that is assumed, in the frame of the last joint.
    pub fn payload(&self) -> Inertia {
        Inertia::from_parameters(&self.payload)
    }

    /// Moves the assumed payload against the error; a body with such a mass and centre exists.
    fn learn(&mut self, error: &SVector<f64, { Inertia::PARAMETERS }>, dt: f64) {
        let Adaptation { rate, max_mass, max_distance } = self.adaptation;
        // The moment is the mass times a distance.
        let rates = [rate, rate * max_distance.powi(2)];
        for (index, (value, error)) in self.payload.iter_mut().zip(error.iter()).take(4).enumerate() {
            *value -= rates[usize::from(index > 0)] * error * dt;
        }
        let [mass, moment @ ..] = &mut self.payload;
        *mass = mass.clamp(0.0, max_mass);
        let length = moment.iter().take(3).map(|part| part * part).sum::<f64>().sqrt();
        let most = *mass * max_distance;
        if length > most {
            moment.iter_mut().take(3).for_each(|part| *part *= most / length);
        }
    }
}
