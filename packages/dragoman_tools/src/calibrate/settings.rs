//! The robot's settings file with the result of a calibration, in its section `calibration`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use chrono::DateTime;
use dragoman_kinematics::calibration::Fit;
use dragoman_kinematics::model::Calibration;

use super::{Arm, Result};

/// Begins the comment above the section.
const MARK: &str = "# Calibrated by dragoman calibrate";

/// The settings file, or the table, of the arm as fitted.
pub(super) fn fitted(arm: &Arm, fit: &Fit, path: &Path, measurements: &Path) -> Result<String> {
    let [before, after] = fit.errors();
    let note = format!(
        "{MARK} fit on {} from {}: {} poses, mean error {:.2} mm before, {:.2} mm after.\n",
        today(),
        measurements.display(),
        fit.poses,
        before.mean * 1e3,
        after.mean * 1e3
    );
    let Some(settings) = &arm.settings else {
        let table = fit.table.to_yaml(&arm.model).ok_or("the table does not begin in the base frame")?;
        return Ok(note + &table);
    };
    let corrected = fit.table.corrected(&arm.model)?;
    let calibration = settings.calibrated(&arm.urdf, &corrected, &fit.table.joint_offsets(&fit.nominal))?;
    with_section(arm, &calibration, path, &note)
}

/// The settings file with other counts per radian.
pub(super) fn with_counts(
    arm: &Arm,
    counts: BTreeMap<String, f64>,
    path: &Path,
    arcs: &Path,
) -> Result<String> {
    let settings =
        arm.settings.as_ref().ok_or("a Denavit-Hartenberg table has no drives: use a settings file")?;
    let mut calibration = settings.calibration.clone();
    calibration.counts_per_unit.extend(counts);
    let note = format!("{MARK} arcs on {} from {}.\n", today(), arcs.display());
    with_section(arm, &calibration, path, &note)
}

/// The date, UTC.
fn today() -> impl std::fmt::Display {
    (DateTime::UNIX_EPOCH + dragoman_time::wall_time()).format("%Y-%m-%d")
}

fn with_section(arm: &Arm, calibration: &Calibration, path: &Path, note: &str) -> Result<String> {
    let Calibration { joint_offsets, origins, counts_per_unit } = calibration;
    let mut text = without_section(&arm.text);
    if let Some(urdf) = &arm.urdf_file {
        text = with_urdf(&text, urdf, path)?;
    }
    text = format!("{}\n\n{note}calibration:\n", text.trim_end());
    if !joint_offsets.is_empty() {
        let rounded: Vec<f64> =
            joint_offsets.iter().map(|offset| (offset * 1e9).round() / 1e9 + 0.0).collect();
        writeln!(
            text,
            "  joint_offsets: {} # added to each reading, rad or m",
            serde_json::to_string(&rounded)?
        )?;
    }
    // JSON is YAML as well.
    if !origins.is_empty() {
        writeln!(text, "  origins: # of the URDF's joints, m and rad")?;
        for (name, origin) in origins {
            writeln!(
                text,
                "    {}: {{ xyz: {}, rpy: {} }}",
                serde_json::to_string(name)?,
                serde_json::to_string(&origin.xyz)?,
                serde_json::to_string(&origin.rpy)?
            )?;
        }
    }
    if !counts_per_unit.is_empty() {
        writeln!(text, "  counts_per_unit: # of the encoders, per rad or m of the joint")?;
        for (name, counts) in counts_per_unit {
            writeln!(text, "    {}: {}", serde_json::to_string(name)?, serde_json::to_string(counts)?)?;
        }
    }
    Ok(text)
}

/// The text without an earlier section and its comment.
fn without_section(text: &str) -> String {
    let mut inside = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with("calibration:") {
            inside = true;
        } else if inside && line.starts_with(|first: char| !first.is_whitespace()) {
            inside = false;
        }
        if !inside && !line.starts_with(MARK) {
            kept += line;
            kept.push('\n');
        }
    }
    kept
}

/// The text with a path to the URDF that is right for a file at `path`.
fn with_urdf(text: &str, urdf: &Path, path: &Path) -> Result<String> {
    let failed = |error| format!("{}: {error}", urdf.display());
    let urdf = urdf.canonicalize().map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside =
        folder.canonicalize().ok().and_then(|folder| urdf.strip_prefix(folder).ok().map(Path::to_owned));
    let shown =
        beside.as_deref().unwrap_or(&urdf).to_str().ok_or("the path of the URDF is not valid UTF-8")?;
    let line = |line: &str| {
        if line.starts_with("urdf:") {
            format!("urdf: {}", serde_json::json!(shown))
        } else {
            line.to_owned()
        }
    };
    Ok(text.lines().map(line).collect::<Vec<_>>().join("\n"))
}
