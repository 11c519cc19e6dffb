//! Settings of a robot beyond its URDF: base and tip link, home position, limits that URDF cannot express.

use super::{Model, ModelError};
use crate::Robot;
use crate::motion::{ConfigError, MotionConfig};
use serde::Deserialize;
use serde_norway::{Mapping, Value};

/// One file of `launch/config/robots/`. Angles in radians, lengths in metres.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobotSettings {
    /// File name of the description in the folder `urdf/`.
    pub urdf: String,
    /// Link whose frame is the reference of poses.
    pub base_link: String,
    /// Link whose frame is the tool frame.
    pub tip_link: String,
    /// Position of every joint at home, rad or m.
    pub home: Vec<f64>,
    /// Greatest acceleration of every joint, rad/s^2 or m/s^2.
    pub acceleration: Vec<f64>,
    /// Values of [`MotionConfig`] for this robot; the others are those of [`MotionConfig::for_robot`].
    #[serde(default = "nothing")]
    pub motion: Value,
    /// The drives of its joints, parsed by the program that starts them.
    #[serde(default = "nothing")]
    pub drives: Value,
}

fn nothing() -> Value {
    Value::Mapping(Mapping::new())
}

impl RobotSettings {
    /// Reads a settings document.
    ///
    /// # Errors
    /// [`ModelError::Yaml`], with the line: also for a number that is not finite or not plausible.
    pub fn from_yaml(text: &str) -> Result<Self, ModelError> {
        super::numbers::check(text)?;
        serde_norway::from_str(text).map_err(|error| ModelError::Yaml { reason: error.to_string() })
    }

    /// Reads the URDF text that [`RobotSettings::urdf`] names and completes it with these settings.
    ///
    /// # Errors
    /// Any [`ModelError`] of [`Model::from_urdf`]; [`ModelError::WrongLength`] and
    /// [`ModelError::NotFinite`] if `home` or `acceleration` do not fit.
    pub fn model(&self, urdf: &str) -> Result<Model, ModelError> {
        let model = Model::from_urdf(urdf, Some(&self.base_link), Some(&self.tip_link))?
            .with_accelerations(&self.acceleration)?;
        if self.home.len() != model.joints().len() {
            let (expected, got) = (model.joints().len(), self.home.len());
            return Err(ModelError::WrongLength { field: "home", expected, got });
        }
        super::check_finite("home", "position", &self.home)?;
        Ok(model)
    }

    /// The motion configuration of `robot`, which is made from these settings.
    ///
    /// # Errors
    /// Every [`ConfigError`].
    pub fn motion(&self, robot: &Robot) -> Result<MotionConfig, ConfigError> {
        MotionConfig::for_robot_with(robot, self.motion.clone())
    }
}
