//! The parameters of the motion pipeline.

use dragoman_text::yaml::{self, YamlError};
use serde::{Deserialize, Serialize};
use serde_norway::Value;
use thiserror::Error;

use super::cartesian::CartesianLimits;
use super::joint::JointMotionLimits;
use super::joint_limits::JointRange;
use super::via_points::ViaTolerances;
use super::workspace::Workspace;
use crate::{FreeRotation, GoalMask, Robot};

/// The configuration of the pipeline; the defaults are those of the Ranger thesis for Ranger Mark I (appendix D).
///
/// Read from YAML; fields may be omitted, unknown ones are refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MotionConfig {
    /// Limits of Cartesian motions, per axis of the base frame.
    pub cartesian: CartesianLimits,
    /// Limits of joint motions and commands, per joint.
    pub joint: JointMotionLimits,
    /// Allowed region of the tool frame.
    pub workspace: Workspace,
    /// Rotation of the tool that Cartesian motions leave free: arms with fewer than six joints need one.
    pub free_rotation: FreeRotation,
    /// Manipulability ([`crate::Manipulability`]) that twists do not fall below: from twice of it on, the part of a twist that
    /// lessens it fades out. 0: twists lead into singularities.
    pub singularity_margin: f64,
    /// Maximum rate of a joint in motions that the tool does not notice, by which redundant arms turn away from
    /// singularities during Cartesian motions, rad/s or m/s; 0: there are none.
    pub null_space_rate: f64,
    /// Tolerances of via points.
    pub via_points: ViaTolerances,
    /// Error of inverse kinematics, absolute or relative to the measured pose, above which the arm holds: m + rad
    /// (divergence check of the Ranger thesis).
    pub divergence_tolerance: f64,
    /// A twist command that is not repeated within this time stops the motion, s.
    pub twist_timeout: f64,
    /// Time without a valid measurement after which every motion is dropped, s.
    pub measurement_timeout: f64,
    /// Maximum accepted step, s; a longer one (clock jump, suspended process) counts as this long.
    pub max_time_step: f64,
    /// Cycles without a command after a mode switch.
    pub mode_switch_cycles: u32,
    /// After a stop the command stays at its position, unless some joint lags by more than this (rad or m), for example
    /// if the arm is blocked: then the command returns to the measured configuration.
    pub stop_following_error: f64,
}

impl Default for MotionConfig {
    fn default() -> Self {
        Self {
            cartesian: CartesianLimits::default(),
            joint: JointMotionLimits::default(),
            workspace: Workspace::default(),
            free_rotation: FreeRotation::None,
            singularity_margin: 0.0,
            null_space_rate: 0.0,
            via_points: ViaTolerances::default(),
            divergence_tolerance: 1e-4,
            twist_timeout: 0.5,
            measurement_timeout: 0.5,
            max_time_step: 0.1,
            mode_switch_cycles: 2,
            stop_following_error: 0.1,
        }
    }
}

/// Error in a configuration.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ConfigError {
    /// Not YAML, a wrong type, or an unknown field.
    #[error("motion configuration: {0}")]
    Yaml(#[from] YamlError),
    /// A list has another number of entries than the robot has joints.
    #[error("{field} has {found} entries, the robot has {expected} joints")]
    WrongLength {
        field: &'static str,
        /// Joints of the robot.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// A number that must be positive and finite is not.
    #[error("{field} is {value}, but must be positive and finite")]
    NotPositive {
        field: &'static str,
        /// Its value, in the field's unit.
        value: f64,
    },
    /// A number is negative or not finite.
    #[error("{field} is {value}, but must be 0 or positive and finite")]
    Negative {
        field: &'static str,
        /// Its value, in the field's unit.
        value: f64,
    },
    /// The option is not for arms with so few joints.
    #[error("{field} is for arms with at least {needed} joints; the robot has {found}")]
    TooFewJoints {
        field: &'static str,
        /// Joints that it needs.
        needed: usize,
        /// Joints of the robot.
        found: usize,
    },
    /// The coarse tolerance is finer than the fine one.
    #[error("{field}: the coarse tolerance {coarse} is below the fine one {fine}")]
    Tolerances {
        /// The fine tolerance's field.
        field: &'static str,
        /// Fine tolerance.
        fine: f64,
        /// Coarse tolerance.
        coarse: f64,
    },
    /// The limits of a joint, together with the robot's own, leave no range, or limit one side only.
    #[error("joint {joint}: lower limit {lower} and upper limit {upper} enclose no range of the robot")]
    JointLimits {
        /// Index of the joint, from the base.
        joint: usize,
        /// Lower limit in force, rad or m.
        lower: f64,
        /// Upper limit in force, rad or m.
        upper: f64,
    },
    /// The free rotation is not one of the allowed values, or its axis has no direction.
    #[error("free_rotation must be none, all, about or tilt; then x, y, z or three numbers with a direction")]
    FreeRotation,
    /// A box whose minimum is not below its maximum; index `None` is the outer bounds.
    #[error("workspace box {index:?} (none: the bounds) has a minimum that is not below its maximum")]
    Box {
        /// Index in `workspace.forbidden`.
        index: Option<usize>,
    },
}

impl MotionConfig {
    /// Reads and checks a YAML document for a robot of `joints` joints.
    ///
    /// # Errors
    /// Every [`ConfigError`].
    pub fn from_yaml(text: &str, joints: usize) -> Result<Self, ConfigError> {
        let config: Self = yaml::strict(text)?;
        config.validate(joints)?;
        Ok(config)
    }

    /// The defaults, with joint limits taken from `robot` (if it has none 0.1 rad/s or m/s and 0.5 rad/s^2 or m/s^2,
    /// the usual values of the Ranger thesis), which hold in every motion, and no workspace limits: a start for robots
    /// other than Ranger Mark I.
    pub fn for_robot(robot: &Robot) -> Self {
        let finite = |value: f64, otherwise: f64| if value.is_finite() { value } else { otherwise };
        let velocity: Vec<f64> = robot.joints().iter().map(|joint| finite(joint.velocity, 0.1)).collect();
        let acceleration: Vec<f64> =
            robot.joints().iter().map(|joint| finite(joint.acceleration, 0.5)).collect();
        Self {
            joint: JointMotionLimits {
                lower: robot.joints().iter().map(|joint| joint.lower).collect(),
                upper: robot.joints().iter().map(|joint| joint.upper).collect(),
                max_rate: velocity.clone(),
                max_velocity: velocity,
                stop_acceleration: acceleration.iter().map(|value| 2.0 * value).collect(),
                max_acceleration: acceleration,
                limit_paths: true,
            },
            cartesian: CartesianLimits { limit_shapes: true, ..CartesianLimits::default() },
            workspace: Workspace::unlimited(),
            ..Self::default()
        }
    }

    /// As [`for_robot`](Self::for_robot), with the values of the YAML value `settings` in place of the defaults.
    ///
    /// # Errors
    /// Every [`ConfigError`].
    pub fn for_robot_with(robot: &Robot, settings: Value) -> Result<Self, ConfigError> {
        let mut figures = serde_norway::to_value(Self::for_robot(robot)).map_err(YamlError::from)?;
        overlay(&mut figures, settings);
        let config: Self = yaml::strict_part(&figures)?;
        config.clone().in_force(robot)?;
        Ok(config)
    }

    /// Checks every value for `robot`, and lowers those that exceed the robot's positions, rates and accelerations,
    /// which are limits as well. The ranges are those of its joints.
    ///
    /// # Errors
    /// As [`validate`](Self::validate); [`ConfigError::JointLimits`].
    pub(super) fn in_force(mut self, robot: &Robot) -> Result<(Self, Vec<JointRange>), ConfigError> {
        self.validate(robot.joint_count())?;
        let positions = self.joint.lower.iter().zip(&self.joint.upper);
        let limits = robot.joints().iter().zip(&self.joint.max_rate).zip(positions);
        let ranges: Vec<JointRange> = limits
            .map(|((joint, rate), (lower, upper))| JointRange {
                lower: lower.max(joint.lower),
                upper: upper.min(joint.upper),
                max_rate: rate.min(joint.velocity),
            })
            .collect();
        let given = self.joint.lower.iter().zip(&self.joint.upper);
        for (joint, (range, (lower, upper))) in ranges.iter().zip(given).enumerate() {
            // NaN passes the range check; robot descriptions cannot have a limit on one side only.
            let is_range = range.lower < range.upper && range.lower.is_finite() == range.upper.is_finite();
            if !is_range || lower.is_nan() || upper.is_nan() {
                return Err(ConfigError::JointLimits { joint, lower: range.lower, upper: range.upper });
            }
        }
        // Planned motions respect the limits of the command guard, so that it never bends their path.
        for (velocity, range) in self.joint.max_velocity.iter_mut().zip(&ranges) {
            *velocity = velocity.min(range.max_rate);
        }
        for (acceleration, joint) in self.joint.max_acceleration.iter_mut().zip(robot.joints()) {
            *acceleration = acceleration.min(joint.acceleration);
        }
        Ok((self, ranges))
    }

    /// The coordinates of a pose that count in Cartesian motions.
    pub fn mask(&self) -> GoalMask {
        GoalMask { free: self.free_rotation, ..GoalMask::POSE }
    }

    /// Checks every value, for a robot of `joints` joints.
    ///
    /// # Errors
    /// Every [`ConfigError`] but [`ConfigError::Yaml`].
    pub fn validate(&self, joints: usize) -> Result<(), ConfigError> {
        let joint_lists = [
            ("joint.max_velocity", &self.joint.max_velocity),
            ("joint.max_acceleration", &self.joint.max_acceleration),
            ("joint.stop_acceleration", &self.joint.stop_acceleration),
            ("joint.max_rate", &self.joint.max_rate),
        ];
        let positions = [("joint.lower", &self.joint.lower), ("joint.upper", &self.joint.upper)];
        for (field, list) in joint_lists.into_iter().chain(positions) {
            if list.len() != joints {
                return Err(ConfigError::WrongLength { field, expected: joints, found: list.len() });
            }
        }
        for (field, list) in joint_lists {
            positive(field, list)?;
        }
        positive("cartesian.max_velocity", &self.cartesian.max_velocity)?;
        positive("cartesian.max_acceleration", &self.cartesian.max_acceleration)?;
        positive("cartesian.stop_acceleration", &self.cartesian.stop_acceleration)?;
        positive("divergence_tolerance", &[self.divergence_tolerance])?;
        positive("twist_timeout", &[self.twist_timeout])?;
        positive("measurement_timeout", &[self.measurement_timeout])?;
        positive("max_time_step", &[self.max_time_step])?;
        positive("stop_following_error", &[self.stop_following_error])?;
        let options = [
            ("singularity_margin", self.singularity_margin, 6),
            ("null_space_rate", self.null_space_rate, 7),
        ];
        for (field, value, needed) in options {
            if !(value.is_finite() && value >= 0.0) {
                return Err(ConfigError::Negative { field, value });
            }
            if value > 0.0 && joints < needed {
                return Err(ConfigError::TooFewJoints { field, needed, found: joints });
            }
        }
        let via = &self.via_points;
        let tolerances = [
            ("via_points.cartesian", via.cartesian, via.cartesian_coarse),
            ("via_points.joint", via.joint, via.joint_coarse),
        ];
        for (field, fine, coarse) in tolerances {
            positive(field, &[fine, coarse])?;
            if coarse < fine {
                return Err(ConfigError::Tolerances { field, fine, coarse });
            }
        }
        if !self.free_rotation.is_valid() {
            return Err(ConfigError::FreeRotation);
        }
        if !self.workspace.bounds.is_valid() {
            return Err(ConfigError::Box { index: None });
        }
        match self.workspace.forbidden.iter().position(|zone| !zone.is_valid()) {
            Some(index) => Err(ConfigError::Box { index: Some(index) }),
            None => Ok(()),
        }
    }
}

/// Replaces entries of `figures` by those of `settings`, at every level of mappings.
fn overlay(figures: &mut Value, settings: Value) {
    match (figures, settings) {
        (Value::Mapping(figures), Value::Mapping(settings)) => {
            for (key, value) in settings {
                overlay(figures.entry(key).or_insert(Value::Null), value);
            }
        }
        (figure, setting) => *figure = setting,
    }
}

fn positive(field: &'static str, values: &[f64]) -> Result<(), ConfigError> {
    match values.iter().find(|value| !(value.is_finite() && **value > 0.0)) {
        Some(value) => Err(ConfigError::NotPositive { field, value: *value }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_left_out_but_not_misspelt() {
        let config = MotionConfig::from_yaml("twist_timeout: 0.2", 6).unwrap();
        assert_eq!(config, MotionConfig { twist_timeout: 0.2, ..MotionConfig::default() });
        assert!(matches!(MotionConfig::from_yaml("twist_time: 0.2", 6), Err(ConfigError::Yaml(_))));
        assert!(matches!(MotionConfig::from_yaml("joint: {rate: 1}", 6), Err(ConfigError::Yaml(_))));
    }

    #[test]
    fn a_robots_settings_take_the_place_of_what_its_description_says() {
        let table = include_str!("../../tests/data/platform_arm.yaml");
        let robot = Robot::new(&crate::Model::from_dh_yaml(table).unwrap()).unwrap();
        let described = MotionConfig::for_robot(&robot);
        let with = |text: &str| MotionConfig::for_robot_with(&robot, serde_norway::from_str(text).unwrap());
        assert_eq!(with("{}").unwrap(), described);
        let slow = with("joint: {max_rate: [1, 1, 1, 2, 2, 2]}").unwrap();
        assert_eq!(slow.joint.max_rate, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert_eq!(slow.joint.max_velocity, described.joint.max_velocity);
        assert_eq!(slow.workspace, Workspace::unlimited());
        assert!(matches!(with("joint: {rate: 1}"), Err(ConfigError::Yaml(_))));
        assert!(matches!(with("joint: {max_rate: [1]}"), Err(ConfigError::WrongLength { found: 1, .. })));
    }

    #[test]
    fn invalid_settings_are_refused() {
        let error = |text: &str| MotionConfig::from_yaml(text, 6).unwrap_err().to_string();
        assert!(error("twist_timeout: .nan").contains("twist_timeout is NaN"));
        assert!(
            error("cartesian: {max_velocity: [1, 1, 1, 1, 0, 1]}").contains("cartesian.max_velocity is 0")
        );
        assert!(error("joint: {lower: [1, 1]}").contains("joint.lower has 2 entries"));
        assert!(error("joint: {max_rate: [1, 1]}").contains("joint.max_rate has 2 entries"));
        assert!(error("free_rotation: about 0 0 0").contains("free rotation"));
        assert!(error("singularity_margin: -1").contains("singularity_margin is -1"));
        assert!(error("null_space_rate: .inf").contains("null_space_rate is inf"));
        assert!(error("null_space_rate: 0.1").contains("at least 7 joints; the robot has 6"));
        assert!(error("via_points: {joint: 0.1}").contains("coarse tolerance 0.05"));
        assert!(error("workspace: {forbidden: [{x: [1, 0], y: [0, 1], z: [0, 1]}]}").contains("Some(0)"));
        assert!(MotionConfig::default().validate(8).is_err());
    }
}
