//! A new configuration for a running pipeline.

use super::config::{ConfigError, MotionConfig};
use super::joint_limits::JointRange;
use super::pipeline::{Motion, Pipeline};
use crate::Robot;

impl Pipeline {
    /// Changes the configuration, as a whole, for the next motion: a motion in progress keeps its configuration.
    ///
    /// # Errors
    /// As [`new`](Self::new); then nothing has changed.
    pub fn set_config(&mut self, config: MotionConfig) -> Result<(), ConfigError> {
        self.next_config = Some(config.in_force(&self.described)?);
        self.adopt_config();
        Ok(())
    }

    pub(super) fn adopt_config(&mut self) {
        if matches!(self.motion, Motion::Idle)
            && let Some((config, ranges)) = self.next_config.take()
        {
            if ranges
                .iter()
                .zip(&self.ranges)
                .any(|(new, old)| (new.lower, new.upper) != (old.lower, old.upper))
            {
                self.robot = within(&self.described, &ranges);
            }
            self.ik.mask = config.mask();
            (self.config, self.ranges) = (config, ranges);
        }
    }
}

/// `robot` with its joints confined to `ranges`.
pub(super) fn within(robot: &Robot, ranges: &[JointRange]) -> Robot {
    let limits: Vec<[f64; 2]> = ranges.iter().map(|range| [range.lower, range.upper]).collect();
    let confined = robot.model().clone().with_limits(&limits).and_then(|model| Robot::new(&model));
    // Ranges made by `in_force` are within the robot's own, which are valid.
    confined.unwrap_or_else(|_| robot.clone())
}
