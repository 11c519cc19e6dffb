//! Control mode [`ControlMode::Host`](crate::driver::ControlMode::Host): the controller on this computer.

use super::super::control::Controller;

#[derive(Debug)]
pub(super) struct Host {
    pub(super) controller: Option<Controller>,
    /// Buffers for positions and velocities.
    feedback: [Vec<f64>; 2],
}

impl Host {
    pub(super) fn new(home: &[f64]) -> Self {
        Self { controller: None, feedback: [home.to_vec(), home.to_vec()] }
    }

    /// The set-points have come to rest, or were moved.
    pub(super) fn rest(&mut self) {
        if let Some(controller) = &mut self.controller {
            controller.rest();
        }
    }

    /// The torques of a cycle; `None` without a controller. `measured` and `set` are positions and velocities.
    pub(super) fn torques(
        &mut self,
        measured: impl Iterator<Item = (f64, f64)>,
        set: [&[f64]; 2],
        period: f64,
    ) -> Option<&[f64]> {
        let [position, velocity] = &mut self.feedback;
        for ((place, slot), measured) in position.iter_mut().zip(velocity.iter_mut()).zip(measured) {
            (*place, *slot) = measured;
        }
        let controller = self.controller.as_mut()?;
        Some(controller.torques(position, velocity, set, period))
    }
}
