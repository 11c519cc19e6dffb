//! `dragoman calibrate`: an arm's geometry, joint offsets and encoders from measurements (Ranger thesis, 4.1 to 4.4).
//!
//! | file | holds |
//! | --- | --- |
//! | `calibrate.rs` | the options; `fit`, `arcs` and `plan`, without ROS |
//! | `calibrate/files.rs` | measurements in CSV files |
//! | `calibrate/measure.rs` | `measure`: drives to poses and reads the measuring device, in ROS |
//! | `calibrate/progress.rs` | the time that is left |
//! | `calibrate/report.rs` | the result as text and as a page with plots |
//! | `calibrate/settings.rs` | the robot's settings file with the result |

pub(crate) mod files;
pub(crate) mod measure;
pub(crate) mod progress;
mod report;
mod settings;

pub use measure::{MeasureCommand, measure};

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dragoman_kinematics::calibration::{
    self, DhTable, FitOptions, Loss, MeasuringFrame, Method, Parameter, PlanOptions, arcs,
};
use dragoman_kinematics::motion::MotionConfig;
use dragoman_kinematics::nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion};
use dragoman_kinematics::{Model, Robot, RobotSettings};
use dragoman_ros::{out, outln};

/// The arm to calibrate.
pub struct Arm {
    /// Its geometry and limits.
    pub model: Model,
    /// Its motion limits.
    pub motion: MotionConfig,
    /// Counts per rad (or m) of its joints.
    pub counts_per_unit: Vec<f64>,
    /// Text of its settings file, or of its Denavit-Hartenberg table.
    pub text: String,
    /// The settings; `None` for a table.
    pub settings: Option<RobotSettings>,
    /// Text of its URDF; empty for a table.
    pub urdf: String,
    /// The file of the URDF; `None` for a built-in one.
    pub urdf_file: Option<PathBuf>,
}

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Parameters to estimate.
#[derive(Debug, Clone, Args)]
struct Selection {
    /// Estimate these parameters, separated by commas; by default the joint offsets and all lengths that are not zero.
    /// Names as in the printed table: theta_1, a_2, d_3, alpha_4, a_6, d_T.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    free: Vec<String>,
    /// Keep these, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fix: Vec<String>,
}

impl Selection {
    fn parameters(&self, table: &DhTable) -> Result<Vec<Parameter>> {
        let fixed = named(table, &self.fix)?;
        let mut free =
            if self.free.is_empty() { table.usual_parameters() } else { named(table, &self.free)? };
        free.retain(|parameter| !fixed.contains(parameter));
        if free.is_empty() {
            return Err("no parameter is left to estimate: see --free and --fix".into());
        }
        Ok(free)
    }
}

fn named(table: &DhTable, names: &[String]) -> Result<Vec<Parameter>> {
    names.iter().map(|name| by_name(table, name)).collect()
}

fn by_name(table: &DhTable, name: &str) -> Result<Parameter> {
    let known = || table.parameters().map(|parameter| table.name(parameter)).collect::<Vec<_>>().join(", ");
    Ok(table
        .named(name.trim())
        .ok_or_else(|| calibration::CalibrationError::Unknown { name: name.to_owned(), known: known() })?)
}

/// The command line of `dragoman calibrate fit`.
#[derive(Debug, Clone, Args)]
pub struct FitCommand {
    /// Measurements: a CSV file with a column for each joint by its name (rad, m), and x, y, z (m).
    #[arg(value_name = "FILE.csv")]
    measurements: PathBuf,
    /// The arm: a built-in robot or a file (docs/own-robot.md).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    #[command(flatten)]
    selection: Selection,
    /// Begin with other values than the description's, NAME=VALUE, separated by commas, rad or m; parameters that are
    /// not estimated keep them.
    #[arg(long, value_name = "VALUES", value_delimiter = ',', value_parser = assignment, allow_hyphen_values = true)]
    start: Vec<(String, f64)>,
    /// Maximum change of an angle, rad.
    #[arg(long, value_name = "ANGLE", default_value_t = 0.2)]
    max_angle: f64,
    /// Maximum change of a length, m.
    #[arg(long, value_name = "LENGTH", default_value_t = 0.05)]
    max_length: f64,
    /// Maximum changes of single parameters, NAME=CHANGE, separated by commas, rad or m.
    #[arg(long, value_name = "CHANGES", value_delimiter = ',', value_parser = assignment)]
    max_change: Vec<(String, f64)>,
    /// Pose of the measuring frame in the arm's base frame: x,y,z,roll,pitch,yaw in m and rad. By default it is
    /// estimated; then d_1 and theta_1 cannot be distinguished from it.
    #[arg(long, value_name = "POSE", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    frame: Vec<f64>,
    /// The optimizer.
    #[arg(long, value_enum, default_value_t = MethodName::LevenbergMarquardt)]
    method: MethodName,
    /// How errors count.
    #[arg(long, value_enum, default_value_t = LossName::Huber)]
    loss: LossName,
    /// Write a settings file with the result, for dragoman up --robot.
    #[arg(long, short, value_name = "FILE.yaml")]
    output: Option<PathBuf>,
    /// Write a page with tables and plots.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Overwrite existing files.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodName {
    /// All parameters at once.
    LevenbergMarquardt,
    /// As the Ranger thesis: joint offsets, then lengths (its table 4.1), then all (table 4.2).
    NelderMead,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LossName {
    /// By their squares.
    Squares,
    /// By their squares, outliers linearly.
    Huber,
    /// Outliers hardly.
    Cauchy,
}

fn assignment(text: &str) -> std::result::Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("{text} is not NAME=VALUE"))?;
    let value: f64 = value.trim().parse().map_err(|_| format!("{value} is not a number"))?;
    if !value.is_finite() {
        return Err(format!("{name}: {value} is not a usable number"));
    }
    Ok((name.trim().to_owned(), value))
}

impl FitCommand {
    fn options(&self, table: &DhTable) -> Result<FitOptions> {
        let values = |given: &[(String, f64)]| -> Result<Vec<(Parameter, f64)>> {
            given.iter().map(|(name, value)| Ok((by_name(table, name)?, *value))).collect()
        };
        Ok(FitOptions {
            parameters: self.selection.parameters(table)?,
            start: values(&self.start)?,
            max_angle: self.max_angle,
            max_length: self.max_length,
            max_changes: values(&self.max_change)?,
            frame: frame(&self.frame)?.map_or(MeasuringFrame::Estimated, MeasuringFrame::Known),
            loss: match self.loss {
                LossName::Squares => Loss::Squares,
                LossName::Huber => Loss::Huber,
                LossName::Cauchy => Loss::Cauchy,
            },
            method: match self.method {
                MethodName::LevenbergMarquardt => Method::LevenbergMarquardt,
                MethodName::NelderMead => Method::NelderMead,
            },
        })
    }
}

fn frame(values: &[f64]) -> Result<Option<Isometry3<f64>>> {
    match values {
        [] => Ok(None),
        [x, y, z, roll, pitch, yaw] if values.iter().all(|value| value.is_finite()) => {
            let rotation = UnitQuaternion::from_euler_angles(*roll, *pitch, *yaw);
            Ok(Some(Isometry3::from_parts(Translation3::new(*x, *y, *z), rotation)))
        }
        _ => Err("--frame needs six numbers: x,y,z,roll,pitch,yaw".into()),
    }
}

/// Runs `dragoman calibrate fit`.
///
/// # Errors
/// Measurements or options that cannot be used; files that cannot be read or written. Nothing is written then.
pub fn fit(command: &FitCommand, arm: &Arm) -> Result<()> {
    for path in command.output.iter().chain(&command.report) {
        check_free(path, command.force)?;
    }
    let names: Vec<&str> = arm.model.joints().iter().map(|joint| joint.name.as_str()).collect();
    let measurements = files::measurements(&command.measurements, &names)?;
    let shown = command.measurements.display();
    let table = DhTable::of(&arm.model);
    let fit = calibration::fit(&arm.model, &measurements, &command.options(&table)?)
        .map_err(|error| format!("{shown}: {error}"))?;
    let summary = report::summary(&fit, measurements.len(), &names);
    out!("{summary}");
    for warning in report::warnings(&fit, measurements.len()) {
        eprintln!("warning: {warning}");
    }
    // Both texts exist before one is written.
    let settings =
        command.output.as_ref().map(|path| settings::fitted(arm, &fit, path, &command.measurements));
    let settings = settings.transpose()?;
    let page =
        command.report.as_ref().map(|_| report::page(&fit, &command.measurements, &summary)).transpose()?;
    for (path, text) in [(&command.output, settings), (&command.report, page)] {
        if let (Some(path), Some(text)) = (path, text) {
            write(path, &text, command.force)?;
        }
    }
    if let Some(path) = &command.output {
        outln!("start the arm with it: dragoman up --robot {}", path.display());
    }
    Ok(())
}

/// The command line of `dragoman calibrate arcs`.
#[derive(Debug, Clone, Args)]
pub struct ArcsCommand {
    /// Arcs: a CSV file with the columns joint, counts, x, y, z (m; at least 4 rows for each joint), or joint, counts,
    /// arc_length, radius (m; one row for each joint).
    #[arg(value_name = "FILE.csv")]
    arcs: PathBuf,
    /// The arm: a built-in robot or a file (docs/own-robot.md).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    /// Write a settings file with the result, for dragoman up --robot.
    #[arg(long, short, value_name = "FILE.yaml")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// Runs `dragoman calibrate arcs`.
///
/// # Errors
/// Arcs that cannot be used; files that cannot be read or written. Nothing is written then.
pub fn arcs(command: &ArcsCommand, arm: &Arm) -> Result<()> {
    if let Some(path) = &command.output {
        check_free(path, command.force)?;
    }
    let shown = command.arcs.display();
    let joints: BTreeMap<&str, f64> = arm
        .model
        .joints()
        .iter()
        .map(|joint| joint.name.as_str())
        .zip(arm.counts_per_unit.iter().copied())
        .collect();
    let mut found: BTreeMap<String, arcs::Calibration> = BTreeMap::new();
    for (joint, arc) in files::arcs(&command.arcs)? {
        if !joints.contains_key(joint.as_str()) {
            let hint = dragoman_text::hint(&joint, joints.keys().copied());
            return Err(format!("{shown}: the arm has no joint {joint}{hint}").into());
        }
        let result = match arc {
            files::Arc::Length { counts, length, radius } => arcs::from_length(counts, length, radius),
            files::Arc::Points(points) => arcs::from_points(&points),
        };
        let result = result.map_err(|error| format!("{shown}: joint {joint}: {error}"))?;
        found.insert(joint, result);
    }
    outln!("joint           counts per rad   deviation   settings     arc (deg)  radius (m)  residual (mm)");
    for (joint, arc) in &found {
        let before = joints.get(joint.as_str()).copied().unwrap_or_default().abs();
        outln!(
            "{joint:<15} {:>14.1} {:>11.1} {before:>10.1} {:>13.1} {:>11.4} {:>14.3}",
            arc.counts_per_radian,
            arc.deviation,
            arc.angle.to_degrees(),
            arc.radius,
            arc.residual * 1e3
        );
        if (arc.counts_per_radian / before - 1.0).abs() > 0.05 {
            eprintln!(
                "warning: {joint}: more than 5 % from the settings; are the counts those of this joint?"
            );
        }
    }
    if let Some(path) = &command.output {
        let counts = found.into_iter().map(|(joint, arc)| (joint, arc.counts_per_radian)).collect();
        write(path, &settings::with_counts(arm, counts, path, &command.arcs)?, command.force)?;
        outln!("start the arm with it: dragoman up --robot {}", path.display());
    }
    Ok(())
}

/// Permitted positions of the arm.
#[derive(Debug, Clone, Args)]
pub(crate) struct Space {
    /// Lowest height of any joint behind the second, and of the tool, in the base frame, m.
    #[arg(long, value_name = "HEIGHT", default_value_t = 0.05, allow_hyphen_values = true)]
    min_height: f64,
}

impl Space {
    /// Whether joints and tool are within the limits of the arm's motion settings, and high enough.
    pub(crate) fn allows(&self, arm: &Arm, robot: &Robot, joints: &[f64]) -> bool {
        let mut frames = Vec::new();
        robot.link_frames(joints, &mut frames);
        let is_high = |frame: &Isometry3<f64>| frame.translation.z >= self.min_height;
        let limits = arm.motion.joint.lower.iter().zip(&arm.motion.joint.upper).zip(joints);
        frames.iter().skip(2).all(is_high)
            && arm.motion.workspace.violation(&tool(&frames)).is_none()
            && limits.into_iter().all(|((lower, upper), value)| lower <= value && value <= upper)
    }
}

fn tool(frames: &[Isometry3<f64>]) -> Point3<f64> {
    frames.last().map_or(Point3::origin(), |frame| Point3::from(frame.translation.vector))
}

/// Reason why a pose is not permitted.
pub(crate) fn check_pose(
    pose: &[f64],
    is_allowed: impl Fn(&[f64]) -> bool,
) -> std::result::Result<(), String> {
    if let Some(bad) = pose.iter().find(|value| !value.is_finite()) {
        return Err(format!("{bad} is no position"));
    }
    if !is_allowed(pose) {
        let why = "it is outside the joint limits or the workspace of the arm, or below --min-height";
        return Err(why.to_owned());
    }
    Ok(())
}

/// The command line of `dragoman calibrate plan`.
#[derive(Debug, Clone, Args)]
pub struct PlanCommand {
    /// The arm: a built-in robot or a file (docs/own-robot.md).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    #[command(flatten)]
    selection: Selection,
    /// Number of new poses.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    poses: u32,
    /// Measurements that exist; the new poses complete them.
    #[arg(long, value_name = "FILE.csv")]
    measured: Option<PathBuf>,
    /// Standard deviation of a measured coordinate, m.
    #[arg(long, value_name = "NOISE", default_value_t = 3e-4, value_parser = positive)]
    noise: f64,
    /// The measuring frame is known: --frame of dragoman calibrate fit.
    #[arg(long)]
    known_frame: bool,
    #[command(flatten)]
    space: Space,
    /// Region of the tool in the base frame that the measuring device reaches: x min, x max, y min, y max, z min, z
    /// max, m.
    #[arg(long, value_name = "REGION", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    region: Vec<f64>,
    /// Another selection of random poses.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the poses to this file instead of the standard output.
    #[arg(long, short, value_name = "FILE.csv")]
    output: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

pub(crate) fn positive(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        _ => Err(format!("{text} is not a positive number")),
    }
}

/// Runs `dragoman calibrate plan`.
///
/// # Errors
/// Options that leave no poses; files that cannot be read or written.
pub fn plan(command: &PlanCommand, arm: &Arm) -> Result<()> {
    if let Some(path) = &command.output {
        check_free(path, command.force)?;
    }
    let names: Vec<&str> = arm.model.joints().iter().map(|joint| joint.name.as_str()).collect();
    let region = match command.region.as_slice() {
        [] => None,
        [x0, x1, y0, y1, z0, z1] if x0 < x1 && y0 < y1 && z0 < z1 => {
            Some([[*x0, *x1], [*y0, *y1], [*z0, *z1]])
        }
        _ => return Err("--region needs six numbers, each minimum below its maximum".into()),
    };
    let measured = command.measured.as_ref().map(|path| files::measurements(path, &names)).transpose()?;
    let table = DhTable::of(&arm.model);
    let options = PlanOptions {
        parameters: command.selection.parameters(&table)?,
        poses: command.poses as usize,
        measured: measured.unwrap_or_default().into_iter().map(|row| row.joints).collect(),
        estimate_frame: !command.known_frame,
        noise: command.noise,
        seed: command.seed,
        begin: arm.settings.as_ref().map(RobotSettings::calibrated_home),
        ..PlanOptions::default()
    };
    let robot = Robot::new(&arm.model)?;
    let is_allowed = |joints: &[f64]| {
        let tool = Point3::from(robot.forward(joints).translation.vector);
        let in_region = region.is_none_or(|region| {
            region.iter().zip(tool.iter()).all(|([min, max], value)| (min..=max).contains(&value))
        });
        in_region && command.space.allows(arm, &robot, joints)
    };
    let plan = calibration::plan(&arm.model, &options, is_allowed)?;
    let rows = files::poses(&names, &plan.poses);
    let summary = report::planned(&plan, &table);
    match &command.output {
        Some(path) => {
            out!("{summary}");
            write(path, &rows, command.force)
        }
        None => {
            eprint!("{summary}");
            out!("{rows}");
            Ok(())
        }
    }
}

/// Fails early, before anything is computed, if the file exists.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<()> {
    if !force && path.exists() {
        return Err(format!("{} exists: use --force to overwrite it", path.display()).into());
    }
    Ok(())
}

pub(crate) fn write(path: &Path, text: &str, force: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!force);
    let failed = |error| format!("cannot write {}: {error}", path.display());
    options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)?;
    outln!("{}", path.display());
    Ok(())
}
