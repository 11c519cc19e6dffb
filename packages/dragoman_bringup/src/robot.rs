//! The robots that come with Dragoman, and others from files.

use std::path::{Path, PathBuf};

use dragoman_arm::driver::{AxisConfig, DriveKind, GroupConfig};
use dragoman_kinematics::model::Calibration;
use dragoman_kinematics::motion::{ConfigError, MotionConfig};
use dragoman_kinematics::{JointKind, Model, ModelError, Robot, RobotSettings};
use dragoman_text::yaml;
use serde::Deserialize;

/// Settings and description of the built-in robots, compiled in, so that the program needs no files.
const BUILT_IN: [(&str, &str, &str); 5] = [
    (
        "ranger_mk1",
        include_str!("../../../launch/config/robots/ranger_mk1.yaml"),
        include_str!("../../../urdf/ranger_mk1.urdf"),
    ),
    (
        "ranger_mk1_appendix_d",
        include_str!("../../../launch/config/robots/ranger_mk1_appendix_d.yaml"),
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
    (
        "widowx",
        include_str!("../../../launch/config/robots/widowx.yaml"),
        include_str!("../../../urdf/turtlebot2_widowx.urdf"),
    ),
];

/// A robot for the simulation.
pub(crate) struct RobotDescription {
    pub(crate) model: Model,
    /// Text of the URDF; empty for a robot from a Denavit-Hartenberg table.
    pub(crate) urdf: String,
    /// Defaults of its motion parameters.
    pub(crate) motion: MotionConfig,
    /// Defaults of its drive parameters.
    pub(crate) drives: GroupConfig,
    /// Where it comes from.
    pub(crate) source: Source,
}

/// The document of a robot.
pub(crate) struct Source {
    pub(crate) text: String,
    /// Its settings; `None` for a Denavit-Hartenberg table.
    pub(crate) settings: Option<RobotSettings>,
    /// The file of the URDF; `None` for a built-in one, and for a table.
    pub(crate) urdf_file: Option<PathBuf>,
    /// The robot without its calibration.
    pub(crate) nominal: Nominal,
}

impl Source {
    /// Name of the file of the URDF; empty for a table.
    pub(crate) fn urdf_name(&self) -> String {
        let file = self.urdf_file.as_ref().map(|file| file.display().to_string());
        let built_in = || self.settings.as_ref().map(|settings| settings.urdf.clone());
        file.or_else(built_in).unwrap_or_default()
    }
}

/// A robot as described, without the calibration of one of its kind. This is what is simulated.
pub(crate) struct Nominal {
    pub(crate) model: Model,
    pub(crate) drives: GroupConfig,
}

/// Section `drives` of a robot's settings: one value per joint, base of the chain first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DriveSettings {
    /// Node numbers on the CAN bus; 0 for a joint without drive.
    node_ids: Vec<u8>,
    /// Counts per revolution (or per metre) of the joint; negative where the drive counts the other way.
    counts_per_revolution: Vec<f64>,
    /// N m/A or N/A.
    torque_per_ampere: Option<Vec<f64>>,
    /// As seen by the joint, kg m^2 or kg.
    rotor_inertia: Option<Vec<f64>>,
}

/// Error loading a robot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RobotError {
    #[error("there is no robot '{name}', and no such file{hint}")]
    Unknown { name: String, hint: String },
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "{name} is a URDF; --robot takes a settings file whose line `urdf: {name}` names it (docs/own-robot.md)"
    )]
    Urdf { name: String },
    #[error("robot {name}: {source}")]
    Model { name: String, source: ModelError },
    #[error("robot {name}, drives: {reason}")]
    Drives { name: String, reason: String },
    #[error("robot {name}: {source}")]
    Motion { name: String, source: ConfigError },
}

/// Loads a built-in robot by name, or one from a settings file like those in `launch/config/robots/` (its URDF is
/// searched beside it and in `urdf/`), or from a Denavit-Hartenberg table.
pub(crate) fn load(name: &str) -> Result<RobotDescription, RobotError> {
    let model_error = |source| RobotError::Model { name: name.to_owned(), source };
    let from_settings =
        |text: &str, settings: RobotSettings, text_of_urdf: &str, urdf_file: Option<PathBuf>| {
            // Lines are those of the description.
            let file =
                urdf_file.as_ref().map_or_else(|| settings.urdf.clone(), |file| file.display().to_string());
            let model_error = |source| RobotError::Model { name: format!("{name}, {file}"), source };
            let drives_error = |reason| RobotError::Drives { name: name.to_owned(), reason };
            if !is_empty(&settings.drives) {
                yaml::section::<DriveSettings>(text, "drives")
                    .map_err(|error| drives_error(error.to_string()))?;
            }
            let model = settings.model(text_of_urdf).map_err(model_error)?;
            let urdf = settings.description(text_of_urdf).map_err(model_error)?;
            let robot = Robot::new(&model).map_err(model_error)?;
            let motion = settings
                .motion(&robot)
                .map_err(|source| RobotError::Motion { name: name.to_owned(), source })?;
            let drives = drives(&model, &settings).map_err(drives_error)?;
            let uncalibrated = RobotSettings { calibration: Calibration::default(), ..settings.clone() };
            let nominal = Nominal {
                model: uncalibrated.model(text_of_urdf).map_err(model_error)?,
                drives: self::drives(&model, &uncalibrated).map_err(drives_error)?,
            };
            let source = Source { text: text.to_owned(), settings: Some(settings), urdf_file, nominal };
            Ok(RobotDescription { model, urdf, motion, drives, source })
        };
    if let Some((_, text, urdf)) = BUILT_IN.iter().find(|(known, _, _)| *known == name) {
        return from_settings(text, RobotSettings::from_yaml(text).map_err(model_error)?, urdf, None);
    }
    let path = Path::new(name);
    if !path.is_file() {
        let hint = dragoman_text::hint(name, BUILT_IN.map(|(known, _, _)| known));
        return Err(RobotError::Unknown { name: name.to_owned(), hint });
    }
    let read = |path: &Path| {
        std::fs::read(path).map_err(|source| RobotError::Read { path: path.to_owned(), source })
    };
    let described = |path: &Path| {
        let (text, note) = dragoman_urdf::decode(&read(path)?);
        // What stops the arm is an error of its model.
        let description = dragoman_urdf::Description::parse(&text);
        for note in note.iter().chain(description.iter().flat_map(|description| &description.notes)) {
            tracing::warn!("{}, {note}", path.display());
        }
        Ok(text)
    };
    let (text, note) = dragoman_text::decode(&read(path)?);
    if let Some(note) = note {
        tracing::warn!("{name}, {note}");
    }
    if text.trim_start().starts_with('<') {
        return Err(RobotError::Urdf { name: name.to_owned() });
    }
    if !is_table(&text) {
        let settings = RobotSettings::from_yaml(&text).map_err(model_error)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let beside = folder.join(&settings.urdf);
        let urdf = if beside.is_file() { beside } else { folder.join("../../../urdf").join(&settings.urdf) };
        // A calibration of a built-in robot may lie anywhere.
        let line = format!("urdf: {}", settings.urdf);
        let built_in = BUILT_IN.iter().find(|(_, text, _)| text.lines().any(|other| other == line));
        return match built_in {
            Some((_, _, built_in)) if !urdf.is_file() => from_settings(&text, settings, built_in, None),
            _ => {
                let described = described(&urdf)?;
                from_settings(&text, settings, &described, Some(urdf))
            }
        };
    }
    let model = Model::from_dh_yaml(&text).map_err(model_error)?;
    let home: Vec<f64> = model.joints().iter().map(|joint| 0.0_f64.clamp(joint.lower, joint.upper)).collect();
    let drives = numbered_drives(&model, &home);
    let motion = MotionConfig::for_robot(&Robot::new(&model).map_err(model_error)?);
    let nominal = Nominal { model: model.clone(), drives: drives.clone() };
    let source = Source { text, settings: None, urdf_file: None, nominal };
    Ok(RobotDescription { model, urdf: String::new(), motion, drives, source })
}

/// Whether a robot's file is a Denavit-Hartenberg table, or its settings: their keys differ, so that its errors are about
/// what it was meant to be.
fn is_table(text: &str) -> bool {
    let has = |key| yaml::line_of(text, &[key]).is_some();
    !has("urdf") && (has("joints") || has("tool"))
}

/// Whether a section of the settings is left out.
fn is_empty(section: &serde_norway::Value) -> bool {
    section.as_mapping().is_some_and(serde_norway::Mapping::is_empty)
}

/// Default node number of the first drive: that of the Ranger thesis.
const FIRST_NODE: u8 = 101;
/// Default counts of an encoder, per revolution or per metre.
const COUNTS: f64 = 524_288.0;
/// Velocity limit of joints whose description has none, rad/s or m/s.
const MAX_RATE: f64 = 10.0;

/// The drives of the settings, or by default one per joint.
fn drives(model: &Model, robot: &RobotSettings) -> Result<GroupConfig, String> {
    let mut group = numbered_drives(model, &robot.calibrated_home());
    given_drives(model, &robot.drives, &mut group)?;
    for (axis, joint) in group.axes.iter_mut().zip(model.joints()) {
        if let Some(counts) = robot.calibration.counts_per_unit.get(&joint.name) {
            axis.counts_per_unit = counts.abs().copysign(axis.counts_per_unit);
        }
    }
    group.check().map_err(|error| error.to_string())?;
    Ok(group)
}

/// The drives as the section `drives` has them.
fn given_drives(
    model: &Model,
    settings: &serde_norway::Value,
    group: &mut GroupConfig,
) -> Result<(), String> {
    if is_empty(settings) {
        return Ok(());
    }
    let settings: DriveSettings = yaml::strict_part(settings).map_err(|error| error.to_string())?;
    let joints = group.axes.len();
    let count = |values: &Option<Vec<f64>>| values.as_ref().map_or(joints, Vec::len);
    for (name, given) in [
        ("node_ids", settings.node_ids.len()),
        ("counts_per_revolution", settings.counts_per_revolution.len()),
        ("torque_per_ampere", count(&settings.torque_per_ampere)),
        ("rotor_inertia", count(&settings.rotor_inertia)),
    ] {
        if given != joints {
            return Err(format!("{name} has {given} values; the arm has {joints} joints"));
        }
    }
    let given = settings.node_ids.iter().zip(&settings.counts_per_revolution);
    for ((axis, (node, counts)), joint) in group.axes.iter_mut().zip(given).zip(model.joints()) {
        if *node == 0 {
            axis.kind = DriveKind::Suppressed;
        }
        axis.node = *node;
        axis.counts_per_unit = counts_per_unit(joint.kind, *counts);
    }
    for (axis, torque) in group.axes.iter_mut().zip(settings.torque_per_ampere.iter().flatten()) {
        axis.torque_per_ampere = *torque;
    }
    for (axis, inertia) in group.axes.iter_mut().zip(settings.rotor_inertia.iter().flatten()) {
        axis.rotor_inertia = *inertia;
    }
    Ok(())
}

fn numbered_drives(model: &Model, home: &[f64]) -> GroupConfig {
    let joints = model.joints().iter().zip(home).zip(FIRST_NODE..);
    let axes = joints.map(|((joint, home), node)| AxisConfig {
        counts_per_unit: counts_per_unit(joint.kind, COUNTS),
        max_velocity: joint.velocity.min(MAX_RATE),
        ..AxisConfig::whistle(node, COUNTS, *home)
    });
    GroupConfig { axes: axes.collect(), ..GroupConfig::default() }
}

fn counts_per_unit(kind: JointKind, counts: f64) -> f64 {
    match kind {
        JointKind::Prismatic => counts,
        _ => counts / std::f64::consts::TAU,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dragoman_kinematics::FreeRotation;

    #[test]
    fn every_included_robot_can_be_loaded() {
        for (name, _, _) in BUILT_IN {
            let robot = load(name).unwrap();
            assert_eq!(robot.drives.axes.len(), robot.model.joints().len(), "{name}");
            robot.drives.check().unwrap();
        }
    }

    #[test]
    fn a_description_in_place_of_the_settings_is_recognized() {
        let error = load("../../urdf/ranger_mk1.urdf").err().unwrap().to_string();
        assert!(error.contains("is a URDF; --robot takes a settings file"), "{error}");
    }

    #[test]
    fn the_drives_of_the_thesis_arm_are_those_of_its_configuration() {
        let axes = load("ranger_mk1").unwrap().drives.axes;
        assert_eq!(axes.iter().map(|axis| axis.node).collect::<Vec<_>>(), [101, 102, 103, 104, 105, 106]);
        assert!((axes[2].counts_per_unit + 414_246.0 / std::f64::consts::TAU).abs() < 1e-9);
    }

    #[test]
    fn the_two_geometries_of_the_thesis_arm_have_the_same_drives() {
        let [measured, controller] = ["ranger_mk1", "ranger_mk1_appendix_d"].map(|name| load(name).unwrap());
        assert_eq!(measured.drives, controller.drives);
    }

    #[test]
    fn every_robot_has_limits_of_its_own() {
        let [mk1, appendix_d, mk2, platform, widowx] =
            BUILT_IN.map(|(name, _, _)| load(name).unwrap().motion);
        assert_eq!(mk1, MotionConfig::default(), "the figures of the Ranger thesis");
        assert_eq!(appendix_d, mk1, "the same arm");
        assert_eq!(mk2.joint.max_rate, [0.5; 8]);
        assert_eq!(platform.joint.max_rate, [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(widowx.free_rotation, FreeRotation::Z, "five joints");
        for other in [mk2, platform, widowx] {
            assert_ne!(other.workspace, mk1.workspace);
        }
    }

    #[test]
    fn errors_of_files_have_file_line_and_key() {
        let folder = std::env::temp_dir().join(format!("dragoman-robot-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("lift.yaml").display().to_string();
        let settings = "urdf: lift.urdf\nbase_link: base\ntip_link: arm\nhome: [0]\nacceleration: [1]\n";
        let urdf = "<robot name='lift'><link name='base'/><link name='arm'/>\n<joint name='up' type='prismatic'>\
                    <parent link='base'/><child link='arm'/><axis xyz='0 0 1'/>\n\
                    <limit lower='0' upper='1' velocity='1' effort='1'/></joint></robot>";
        let refused = |settings: &str, urdf: &str| {
            std::fs::write(&file, settings).unwrap();
            std::fs::write(folder.join("lift.urdf"), urdf).unwrap();
            load(&file).err().map(|error| error.to_string())
        };
        assert_eq!(refused(settings, urdf), None);
        for (more, expected) in [
            ("hom: [0]\n", "line 6, column 1: the unknown key 'hom'; did you mean 'home'?"),
            ("home: [0]\n", "line 6, column 1: the key 'home' is given twice"),
            (
                "motion:\n  joint:\n    max_velocty: [1]\n",
                "line 8, column 5: motion.joint: the unknown key 'max_velocty'; did you mean 'max_velocity'?",
            ),
            (
                "drives:\n  node_ids: [1]\n  counts: [1]\n",
                "line 8, column 3: drives: the unknown key 'counts'; known: node_ids, counts_per_revolution, \
                 torque_per_ampere, rotor_inertia",
            ),
        ] {
            let error = refused(&(settings.to_owned() + more), urdf).unwrap();
            assert!(error.starts_with(&format!("robot {file}")) && error.ends_with(expected), "{error}");
        }
        // It is not taken for a table, whose keys are others.
        let error = refused(&settings.replace("home", "hom"), urdf).unwrap();
        assert!(error.ends_with("line 4, column 1: the unknown key 'hom'; did you mean 'home'?"), "{error}");
        let error = refused("joints: []\ntol: {}\n", urdf).unwrap();
        assert!(error.ends_with("line 2, column 1: the unknown key 'tol'; did you mean 'tool'?"), "{error}");
        // The description is another file.
        let error = refused(settings, &urdf.replace("upper='1'", "upper='up'")).unwrap();
        let urdf_file = folder.join("lift.urdf").display().to_string();
        assert!(
            error.starts_with(&format!("robot {file}, {urdf_file}: robot description, line 3: ")),
            "{error}"
        );
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_error_of_an_unknown_robot_lists_the_known_ones() {
        let error = load("puma").err().unwrap().to_string();
        let known = "known: ranger_mk1, ranger_mk1_appendix_d, ranger_mk2, platform_arm, widowx";
        assert_eq!(error, format!("there is no robot 'puma', and no such file; {known}"));
        let error = load("ranger_mk3").err().unwrap().to_string();
        assert!(error.ends_with("did you mean 'ranger_mk1'?"), "{error}");
    }
}
