//! The robots that come with Dragoman, and others from files.

use std::path::{Path, PathBuf};

use dragoman_kinematics::motion::{ConfigError, MotionConfig};
use dragoman_kinematics::{Model, ModelError, Robot, RobotSettings};

/// Settings and description of the robots in this repository, so that the program runs from anywhere.
const BUILT_IN: [(&str, &str, &str); 3] = [
    (
        "ranger_mk1",
        include_str!("../../../launch/config/robots/ranger_mk1.yaml"),
        include_str!("../../../urdf/ranger_mk1.urdf"),
    ),
    (
        "ranger_mk2",
        include_str!("../../../launch/config/robots/ranger_mk2.yaml"),
        include_str!("../../../urdf/ranger_mk2.urdf"),
    ),
    (
        "platform_arm",
        include_str!("../../../launch/config/robots/platform_arm.yaml"),
        include_str!("../../../urdf/platform_arm.urdf"),
    ),
];

/// A robot, ready to be simulated.
pub(crate) struct RobotDescription {
    pub(crate) model: Model,
    /// Text of the URDF; empty for a robot from a Denavit-Hartenberg table.
    pub(crate) urdf: String,
    /// Defaults of the parameters of its motion.
    pub(crate) motion: MotionConfig,
    /// Joint positions at the start, rad or m.
    pub(crate) home: Vec<f64>,
}

/// Why a robot cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RobotError {
    #[error("there is no robot '{name}': it is neither one of {known} nor a file")]
    Unknown { name: String, known: String },
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("robot {name}: {source}")]
    Model { name: String, source: ModelError },
    #[error("robot {name}: {source}")]
    Motion { name: String, source: ConfigError },
}

/// Loads a built-in robot by name, or one from a settings file like those in `launch/config/robots/` (its URDF is sought
/// beside it and in `urdf/`), or from a Denavit-Hartenberg table.
pub(crate) fn load(name: &str) -> Result<RobotDescription, RobotError> {
    let model_error = |source| RobotError::Model { name: name.to_owned(), source };
    let from_settings = |settings: &RobotSettings, urdf: &str| {
        let model = settings.model(urdf).map_err(model_error)?;
        let robot = Robot::new(&model).map_err(model_error)?;
        let motion =
            settings.motion(&robot).map_err(|source| RobotError::Motion { name: name.to_owned(), source })?;
        Ok(RobotDescription { model, urdf: urdf.to_owned(), motion, home: settings.home.clone() })
    };
    if let Some((_, settings, urdf)) = BUILT_IN.iter().find(|(known, _, _)| *known == name) {
        return from_settings(&RobotSettings::from_yaml(settings).map_err(model_error)?, urdf);
    }
    let path = Path::new(name);
    if !path.is_file() {
        let known = BUILT_IN.map(|(known, _, _)| known).join(", ");
        return Err(RobotError::Unknown { name: name.to_owned(), known });
    }
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|source| RobotError::Read { path: path.to_owned(), source })
    };
    let text = read(path)?;
    if let Ok(settings) = RobotSettings::from_yaml(&text) {
        let folder = path.parent().unwrap_or(Path::new(""));
        let beside = folder.join(&settings.urdf);
        let urdf = if beside.is_file() { beside } else { folder.join("../../../urdf").join(&settings.urdf) };
        return from_settings(&settings, &read(&urdf)?);
    }
    let model = Model::from_dh_yaml(&text).map_err(model_error)?;
    let home = model.joints().iter().map(|joint| 0.0_f64.clamp(joint.lower, joint.upper)).collect();
    let motion = MotionConfig::for_robot(&Robot::new(&model).map_err(model_error)?);
    Ok(RobotDescription { model, urdf: String::new(), motion, home })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_robot_that_comes_along_can_be_loaded() {
        for (name, _, _) in BUILT_IN {
            let robot = load(name).unwrap();
            assert_eq!(robot.home.len(), robot.model.joints().len(), "{name}");
        }
    }

    #[test]
    fn every_robot_has_limits_of_its_own() {
        let [mk1, mk2, platform] = BUILT_IN.map(|(name, _, _)| load(name).unwrap().motion);
        assert_eq!(mk1, MotionConfig::default(), "the thesis' figures");
        assert_eq!(mk2.joint.max_rate, [0.5; 8]);
        assert_eq!(platform.joint.max_rate, [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]);
        for other in [mk2, platform] {
            assert_ne!(other.workspace, mk1.workspace);
        }
    }

    #[test]
    fn an_unknown_robot_is_told_with_the_known_ones() {
        let error = load("puma").err().unwrap().to_string();
        assert!(error.contains("puma") && error.contains("ranger_mk1"), "{error}");
    }
}
