//! An arm with its configuration, and the configuration of the next motion.

use super::config::{ConfigError, MotionConfig};
use super::course::Course;
use super::joint_limits::JointRange;
use crate::{IkOptions, Robot};

#[derive(Clone, Debug)]
pub(super) struct ConfiguredArm {
    /// The robot with the joint limits in force.
    pub(super) robot: Robot,
    /// The robot with its own limits.
    described: Robot,
    pub(super) ik: IkOptions,
    pub(super) config: MotionConfig,
    pub(super) ranges: Vec<JointRange>,
    /// The next configuration; takes effect when nothing moves.
    next: Option<(MotionConfig, Vec<JointRange>)>,
}

impl ConfiguredArm {
    pub(super) fn new(described: Robot, config: MotionConfig) -> Result<Self, ConfigError> {
        let (config, ranges) = config.in_force(&described)?;
        let robot = within(&described, &ranges);
        // A tenth of the default: errors of the solver must vanish against the micrometre that a path may deviate.
        let mask = config.mask();
        let ik =
            IkOptions { position_tolerance: 1e-7, rotation_tolerance: 1e-7, mask, ..IkOptions::default() };
        Ok(Self { robot, described, ik, config, ranges, next: None })
    }

    /// Sets the next configuration; see [`adopt_config`](Self::adopt_config).
    pub(super) fn set_config(&mut self, config: MotionConfig) -> Result<(), ConfigError> {
        self.next = Some(config.in_force(&self.described)?);
        Ok(())
    }

    /// Puts the next configuration in force, unless something moves.
    pub(super) fn adopt_config(&mut self, course: &Course) {
        if course.is_idle()
            && let Some((config, ranges)) = self.next.take()
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
fn within(robot: &Robot, ranges: &[JointRange]) -> Robot {
    let limits: Vec<[f64; 2]> = ranges.iter().map(|range| [range.lower, range.upper]).collect();
    let confined = robot.model().clone().with_limits(&limits).and_then(|model| Robot::new(&model));
    // Ranges made by `in_force` are within the robot's own, which are valid.
    confined.unwrap_or_else(|_| robot.clone())
}
