//! Settings of a robot beyond its URDF: base and tip link, home position, limits that URDF cannot express.

use super::{Model, ModelError, urdf};
use crate::Robot;
use crate::motion::{ConfigError, MotionConfig};
use dragoman_text::yaml;
use serde::{Deserialize, Serialize};
use serde_norway::{Mapping, Value};
use std::collections::BTreeMap;

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
    /// Maximum acceleration of every joint, rad/s^2 or m/s^2.
    pub acceleration: Vec<f64>,
    /// Values of [`MotionConfig`] for this robot; the others are those of [`MotionConfig::for_robot`].
    #[serde(default = "nothing")]
    pub motion: Value,
    /// The drives of its joints, parsed by the program that starts them.
    #[serde(default = "nothing")]
    pub drives: Value,
    /// What a calibration found for this one arm.
    #[serde(default)]
    pub calibration: Calibration,
}

/// Differences of one arm from its description, as `dragoman calibrate` writes them. Empty lists and maps change nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Calibration {
    /// Added to the position of every joint at home, and so to each reading; one per joint, rad or m.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joint_offsets: Vec<f64>,
    /// Origins of joints of the description, by name, in place of its own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, Origin>,
    /// Encoder counts per rad (or m) of joints, by name; without the sign, which is that of the drives' settings.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counts_per_unit: BTreeMap<String, f64>,
}

/// The origin of a joint, as in a URDF.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Position, m.
    pub xyz: [f64; 3],
    /// Roll, pitch and yaw, rad.
    pub rpy: [f64; 3],
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
        let settings = yaml::strict(text).and_then(|settings| {
            // Later it is read over the defaults of the robot, where it has no lines.
            yaml::section::<MotionConfig>(text, "motion")?;
            Ok(settings)
        });
        settings.map_err(|error| ModelError::Yaml { reason: error.to_string() })
    }

    /// The URDF text with the origins of the calibration.
    ///
    /// # Errors
    /// [`ModelError::Urdf`]; [`ModelError::Missing`] for an origin of a joint that the description does not have.
    pub fn description(&self, urdf: &str) -> Result<String, ModelError> {
        if self.calibration.origins.is_empty() {
            return Ok(urdf.to_owned());
        }
        urdf::with_origins(urdf, &self.calibration.origins)
    }

    /// Reads the URDF text that [`RobotSettings::urdf`] names and completes it with these settings.
    ///
    /// # Errors
    /// Any [`ModelError`] of [`Model::from_urdf`] and [`RobotSettings::description`]; [`ModelError::WrongLength`] and
    /// [`ModelError::NotFinite`] if `home`, `acceleration` or the calibration do not fit.
    pub fn model(&self, urdf: &str) -> Result<Model, ModelError> {
        let urdf = self.description(urdf)?;
        let model = Model::from_urdf(&urdf, Some(&self.base_link), Some(&self.tip_link))?
            .with_accelerations(&self.acceleration)?;
        let expected = model.joints().len();
        let wrong = |field, got| Err(ModelError::WrongLength { field, expected, got });
        if self.home.len() != expected {
            return wrong("home", self.home.len());
        }
        let offsets = &self.calibration.joint_offsets;
        if !offsets.is_empty() && offsets.len() != expected {
            return wrong("joint_offsets", offsets.len());
        }
        super::check_finite("home", "position", &self.home)?;
        for name in self.calibration.counts_per_unit.keys() {
            if !model.joints().iter().any(|joint| joint.name == *name) {
                let referrer = "calibration.counts_per_unit".to_owned();
                return Err(ModelError::Missing { name: name.clone(), referrer });
            }
        }
        Ok(model)
    }

    /// Position of every joint at home, rad or m, with the offsets of the calibration.
    pub fn calibrated_home(&self) -> Vec<f64> {
        let offsets = self.calibration.joint_offsets.iter().copied().chain(std::iter::repeat(0.0));
        self.home.iter().zip(offsets).map(|(home, offset)| home + offset).collect()
    }

    /// The calibration that gives the description `urdf` the geometry of `corrected`, a model of the same chain
    /// (`Model::with_origins`), and adds `joint_offsets` to those it has.
    ///
    /// # Errors
    /// As [`Model::from_urdf`]; [`ModelError::NoToolJoint`].
    pub fn calibrated(
        &self,
        urdf: &str,
        corrected: &Model,
        joint_offsets: &[f64],
    ) -> Result<Calibration, ModelError> {
        let origins = urdf::origins_of(urdf, &self.base_link, &self.tip_link, corrected)?;
        let before = self.calibration.joint_offsets.iter().copied().chain(std::iter::repeat(0.0));
        let joint_offsets = joint_offsets.iter().zip(before).map(|(new, before)| new + before).collect();
        Ok(Calibration { joint_offsets, origins, counts_per_unit: self.calibration.counts_per_unit.clone() })
    }

    /// The motion configuration of `robot`, which is made from these settings.
    ///
    /// # Errors
    /// Every [`ConfigError`].
    pub fn motion(&self, robot: &Robot) -> Result<MotionConfig, ConfigError> {
        MotionConfig::for_robot_with(robot, self.motion.clone())
    }
}
