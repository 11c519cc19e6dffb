//! `dragoman evaluate`: how accurately an arm goes to points, and follows paths (Ranger thesis, 4.3 and 4.5).
//!
//! | file | holds |
//! | --- | --- |
//! | `evaluate.rs` | the options; `report`: tables and plots from files, without ROS |
//! | `evaluate/run.rs` | `run`: drives an arm, records what was commanded and measured, then reports |
//! | `evaluate/tables.rs` | the tables, beside those of the thesis |
//! | `evaluate/plot.rs` | plots of commanded and measured path |

mod plot;
mod run;
mod tables;

pub use run::{RunCommand, run};

use std::fs;
use std::path::{Path as FilePath, PathBuf};

use clap::Args;
use dragoman_kinematics::calibration::{self, Accuracy};
use dragoman_kinematics::evaluation::{Path, Tracking, track};
use dragoman_kinematics::nalgebra::Isometry3;
use dragoman_ros::out;

use crate::calibrate::{Arm, Result, check_free, files, write};

/// The command line of `dragoman evaluate report`.
#[derive(Debug, Clone, Args)]
pub struct ReportCommand {
    /// Folder with static.csv, and commanded and measured paths: circle_5s_commanded.csv, circle_5s_measured.csv;
    /// likewise rectangle, x_2s, z_1s.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The arm of static.csv: a built-in robot or a file (docs/own-robot.md).
    #[arg(long, value_name = "ROBOT", default_value = "ranger_mk1")]
    pub robot: String,
    /// Overwrite existing plots.
    #[arg(long)]
    force: bool,
}

/// A run of a path.
struct Run {
    path: Path,
    tracking: Tracking,
}

/// Everything that a folder holds.
#[derive(Default)]
struct Results {
    accuracy: Option<(Accuracy, usize)>,
    /// In the order of the tables: by kind of path, the fastest first.
    runs: Vec<Run>,
}

/// Name of a path in file names.
fn name(path: Path) -> String {
    match path {
        Path::Rectangle => "rectangle".to_owned(),
        Path::Circle { period } => format!("circle_{period}s"),
        Path::SinusoidX { period } => format!("x_{period}s"),
        Path::SinusoidZ { period } => format!("z_{period}s"),
    }
}

/// The path with a name.
fn named(name: &str) -> Option<Path> {
    if name == "rectangle" {
        return Some(Path::Rectangle);
    }
    let (kind, period) = name.strip_suffix('s')?.split_once('_')?;
    let period = period.parse().ok().filter(|period: &f64| period.is_finite() && *period > 0.0)?;
    match kind {
        "circle" => Some(Path::Circle { period }),
        "x" => Some(Path::SinusoidX { period }),
        "z" => Some(Path::SinusoidZ { period }),
        _ => None,
    }
}

/// Kind and period, by which runs are sorted.
fn order(path: Path) -> (usize, f64) {
    let kind = match path {
        Path::Rectangle => 0,
        Path::Circle { .. } => 1,
        Path::SinusoidX { .. } => 2,
        Path::SinusoidZ { .. } => 3,
    };
    (kind, path.period())
}

/// Runs `dragoman evaluate report`.
///
/// # Errors
/// Files that cannot be used; nothing is written then.
pub fn report(command: &ReportCommand, arm: &Arm) -> Result<()> {
    let results = read(&command.folder, arm)?;
    let plots = plot::all(&results)?;
    for (name, _) in &plots {
        check_free(&command.folder.join(name), command.force)?;
    }
    out!("{}", tables::text(&results));
    for (name, svg) in plots {
        write(&command.folder.join(name), &svg, command.force)?;
    }
    Ok(())
}

fn read(folder: &FilePath, arm: &Arm) -> Result<Results> {
    let shown = folder.display();
    let names: Vec<&str> = arm.model.joints().iter().map(|joint| joint.name.as_str()).collect();
    let mut results = Results::default();
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{shown}: {error}"))? {
        let file = entry?.file_name();
        let file = file.to_string_lossy();
        if file == "static.csv" {
            let measurements = files::measurements(&folder.join("static.csv"), &names)?;
            let accuracy = calibration::accuracy(&arm.model, &measurements)
                .map_err(|error| format!("{shown}/static.csv: {error}"))?;
            results.accuracy = Some((accuracy, measurements.len()));
        } else if let Some(name) = file.strip_suffix("_commanded.csv") {
            let path = named(name).ok_or_else(|| {
                format!("{shown}/{file}: {name} is no path; paths are rectangle, circle_5s, x_2s, z_1s")
            })?;
            paths.push((path, name.to_owned()));
        }
    }
    paths.sort_by(|(a, _), (b, _)| {
        let ((kind, period), (other, other_period)) = (order(*a), order(*b));
        kind.cmp(&other).then(other_period.total_cmp(&period))
    });
    // The device stands where it stood in the slowest run of a kind, which the arm follows best, as in the thesis.
    let mut frame: Option<(usize, Isometry3<f64>)> = None;
    for (path, name) in paths {
        let (kind, period) = order(path);
        let [commanded, measured] =
            ["commanded", "measured"].map(|which| folder.join(format!("{name}_{which}.csv")));
        let known = frame.filter(|(of, _)| *of == kind).map(|(_, frame)| frame);
        let lag = if path == Path::Rectangle { 2.0 } else { 0.5 * period };
        let tracking = track(&files::samples(&commanded)?, &files::samples(&measured)?, known.as_ref(), lag)
            .map_err(|error| format!("{shown}: {name}: {error}"))?;
        frame = Some((kind, tracking.frame));
        results.runs.push(Run { path, tracking });
    }
    results.runs.sort_by(|a, b| {
        let ((kind, period), (other, other_period)) = (order(a.path), order(b.path));
        kind.cmp(&other).then(period.total_cmp(&other_period))
    });
    if results.accuracy.is_none() && results.runs.is_empty() {
        return Err(format!("{shown} has neither static.csv nor files like circle_5s_commanded.csv").into());
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_paths() {
        for path in [
            Path::Rectangle,
            Path::Circle { period: 5.0 },
            Path::SinusoidX { period: 0.5 },
            Path::SinusoidZ { period: 1.0 },
        ] {
            assert_eq!(named(&name(path)), Some(path));
        }
        for bad in ["circle", "circle_5", "circle_0s", "circle_NaNs", "y_5s", "x_-1s", ""] {
            assert_eq!(named(bad), None, "{bad}");
        }
    }
}
