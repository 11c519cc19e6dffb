//! Control of an arm by torques: from its dynamics, and adaptive where the payload is unknown.
//!
//! | file | holds |
//! | --- | --- |
//! | `mod.rs` | [`Target`], [`ControlError`] |
//! | `computed_torque.rs` | [`ComputedTorque`]: the arm as unit masses, by its inverse dynamics |
//! | `adaptive.rs` | [`Adaptive`]: passivity-based control that learns a payload |
//! | `law.rs` | [`Law`]: either of them, for any number of joints |
//!
//! Cores: positions, velocities and a target in, torques out. What limits torques, speeds and positions is the drives'
//! business. Units: rad or m, N m or N. Nothing is allocated.
//!
//! Sources: Craig, *Introduction to Robotics*, chapter 10; Slotine and Li, "On the adaptive control of robot manipulators",
//! International Journal of Robotics Research 6 (1987).

mod adaptive;
mod computed_torque;
mod law;

pub use adaptive::{Adaptation, Adaptive};
pub use computed_torque::ComputedTorque;
pub use law::{Law, LawError, Method, law};

use nalgebra::SVector;

/// Where the joints should be, rad or m, and how they should move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target<const N: usize> {
    /// Positions.
    pub position: SVector<f64, N>,
    /// Velocities, per second.
    pub velocity: SVector<f64, N>,
    /// Accelerations, per second squared.
    pub acceleration: SVector<f64, N>,
}

/// A setting of a controller that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{name} is {value}, but must be positive and finite")]
pub struct ControlError {
    /// The setting.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
}

fn positive(name: &'static str, value: f64) -> Result<f64, ControlError> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err(ControlError { name, value }) }
}
