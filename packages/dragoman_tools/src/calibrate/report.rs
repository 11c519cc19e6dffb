//! The result of a calibration as text, and as a page with plots.

use std::fmt::Write;
use std::path::Path;

use dragoman_kinematics::calibration::{
    DhTable, Entry, Estimate, Fit, Held, Layout, Parameter, Plan, Statistics,
};
use plotters::prelude::*;

use super::Result;

/// The tables for the terminal.
pub(super) fn summary(fit: &Fit, measurements: usize, joints: &[&str]) -> String {
    text(fit, measurements, joints).unwrap_or_default()
}

fn text(fit: &Fit, measurements: usize, joints: &[&str]) -> std::result::Result<String, std::fmt::Error> {
    let mut text = String::new();
    let out = &mut text;
    let [before, after] = fit.errors();
    writeln!(
        out,
        "{measurements} measurements at {} poses, noise of a coordinate {:.2} mm",
        fit.poses,
        fit.noise * 1e3
    )?;
    writeln!(out)?;
    writeln!(out, "error of the tool's position (mm)                      mean       S     max")?;
    let mut line = |name: &str, errors: Statistics| {
        let [mean, deviation, greatest] =
            [errors.mean, errors.deviation, errors.greatest].map(|value| value * 1e3);
        writeln!(out, "{name:<50} {mean:>8.2} {deviation:>7.2} {greatest:>7.2}")
    };
    line("description", before)?;
    for stage in &fit.stages {
        line(stage.name, stage.errors)?;
    }
    line("calibrated", after)?;
    if !fit.left_out.is_empty() {
        line("calibrated without the pose (leave one out)", Statistics::of(&fit.left_out))?;
    }
    let estimated: Vec<Parameter> = fit.estimates.iter().map(|estimate| estimate.parameter).collect();
    let tables = fit.stages.iter().filter(|stage| stage.name.contains("optimized"));
    for stage in tables {
        let layout = Layout { table: &stage.table, marked: &stage.estimated };
        write!(out, "\n{}; * estimated\n{layout}", stage.name)?;
    }
    if fit.stages.is_empty() {
        let layout = Layout { table: &fit.table, marked: &estimated };
        write!(out, "\nDenavit-Hartenberg parameters (Craig, 1989); * estimated\n{layout}")?;
    }
    writeln!(out, "\nparameter     description    calibrated        change     deviation")?;
    for estimate in &fit.estimates {
        writeln!(out, "{}", estimate_line(&fit.table, estimate))?;
    }
    if !fit.held.is_empty() {
        writeln!(out, "\nkept, because these measurements do not distinguish them:")?;
        for held in &fit.held {
            writeln!(out, "  {}", reason(&fit.table, held))?;
        }
    }
    let offsets: Vec<String> = fit
        .table
        .joint_offsets(&fit.nominal)
        .iter()
        .zip(joints)
        .map(|(offset, joint)| format!("{joint} {offset:+.6}"))
        .collect();
    writeln!(out, "\nadded to each reading (rad, m): {}", offsets.join(", "))?;
    let (roll, pitch, yaw) = fit.frame.rotation.euler_angles();
    let at = fit.frame.translation.vector;
    writeln!(
        out,
        "measuring frame in the base frame: x {:.4}, y {:.4}, z {:.4} m; roll {roll:.4}, pitch {pitch:.4}, \
         yaw {yaw:.4} rad",
        at.x, at.y, at.z
    )?;
    Ok(text)
}

fn estimate_line(table: &DhTable, estimate: &Estimate) -> String {
    let name = table.name(estimate.parameter);
    let Estimate { before, value, deviation, .. } = *estimate;
    let change = value - before;
    if estimate.parameter.entry.is_angle() {
        let (change, deviation) = (change.to_degrees(), deviation.to_degrees());
        format!("{name:<10} {before:>10.6} rad {value:>9.6} rad {change:>+9.4} deg {deviation:>8.4} deg")
    } else {
        let (change, deviation) = (change * 1e3, deviation * 1e3);
        format!("{name:<10} {before:>10.5} m   {value:>9.5} m   {change:>+9.3} mm  {deviation:>8.3} mm")
    }
}

fn reason(table: &DhTable, held: &Held) -> String {
    let name = table.name(held.parameter);
    let mut like: Vec<String> = held.like.iter().map(|parameter| table.name(*parameter)).collect();
    if held.like_frame {
        like.push("the measuring frame".to_owned());
    }
    if like.is_empty() {
        format!("{name}: hardly any effect on the tool's position")
    } else {
        format!("{name}: the same effect as {}", like.join(", "))
    }
}

/// Warnings about the result.
pub(super) fn warnings(fit: &Fit, measurements: usize) -> Vec<String> {
    let names = |estimates: Vec<&Estimate>| -> String {
        let names: Vec<String> =
            estimates.iter().map(|estimate| fit.table.name(estimate.parameter)).collect();
        names.join(", ")
    };
    let mut warnings = Vec::new();
    let unexpected = fit.held.iter().filter(|held| !held.like_frame);
    for held in unexpected {
        warnings.push(format!("cannot be distinguished, kept: {}", reason(&fit.table, held)));
    }
    let uncertain: Vec<&Estimate> = fit.uncertain().collect();
    if !uncertain.is_empty() {
        warnings.push(format!(
            "less accurate than 0.1 degrees or 0.3 mm: {}; dragoman calibrate plan --measured finds further poses",
            names(uncertain)
        ));
    }
    let at_bound: Vec<&Estimate> = fit.estimates.iter().filter(|estimate| estimate.at_bound).collect();
    if !at_bound.is_empty() {
        warnings.push(format!("at their greatest change: {}; see --max-change", names(at_bound)));
    }
    if !fit.outliers.is_empty() {
        let rows: Vec<String> = fit.outliers.iter().map(|index| (index + 1).to_string()).collect();
        warnings.push(format!("far off, and hardly counted: measurements {}", rows.join(", ")));
    }
    if fit.poses < measurements {
        warnings.push(format!("{measurements} measurements, but only {} different poses", fit.poses));
    }
    // Each pose gives three equations.
    if fit.poses < fit.unknowns {
        warnings.push(format!(
            "few poses: {} give {} equations for {} unknowns; three times as many equations as unknowns are better",
            fit.poses,
            3 * fit.poses,
            fit.unknowns
        ));
    }
    warnings
}

/// The plan for the terminal.
pub(super) fn planned(plan: &Plan, table: &DhTable) -> String {
    let mut text = format!(
        "# {} poses; condition number {:.0}, of random poses {:.0}\n# expected deviations:",
        plan.poses.len(),
        plan.condition,
        plan.random_condition
    );
    for Estimate { parameter, deviation, .. } in &plan.expected {
        let name = table.name(*parameter);
        // Writing to a string never fails.
        let _ = match parameter.entry {
            Entry::Alpha | Entry::Theta => write!(text, " {name} {:.3} deg", deviation.to_degrees()),
            Entry::A | Entry::D => write!(text, " {name} {:.3} mm", deviation * 1e3),
        };
    }
    for held in &plan.held {
        let _ = write!(text, "\n# no pose distinguishes: {}", reason(table, held));
    }
    text + "\n"
}

/// A page with the tables and the errors of all measurements.
pub(super) fn page(fit: &Fit, measurements: &Path, summary: &str) -> Result<String> {
    let title = escaped(&format!("Calibration from {}", measurements.display()));
    let warnings: String = warnings(fit, fit.before.len())
        .iter()
        .map(|warning| format!("<li>{}</li>\n", escaped(warning)))
        .collect();
    let warnings =
        if warnings.is_empty() { warnings } else { format!("<h2>Warnings</h2>\n<ul>\n{warnings}</ul>\n") };
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto }} pre {{ overflow-x: auto }} \
         svg {{ max-width: 100%; height: auto }}</style></head>\n\
         <body>\n<h1>{title}</h1>\n{warnings}<h2>Errors of the measurements</h2>\n{}\n\
         <h2>Remaining errors by direction</h2>\n{}\n<h2>Result</h2>\n<pre>{}</pre>\n</body>\n</html>\n",
        distances(fit)?,
        directions(fit)?,
        escaped(summary)
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const SIZE: (u32, u32) = (900, 320);
const BEFORE: RGBColor = RGBColor(200, 110, 30);
const AFTER: RGBColor = RGBColor(20, 90, 160);

/// The distance between measured and computed position of each measurement, before and after, in mm.
fn distances(fit: &Fit) -> Result<String> {
    let of = |residuals: &[dragoman_kinematics::nalgebra::Vector3<f64>]| -> Vec<f64> {
        residuals.iter().map(|residual| residual.norm() * 1e3).collect()
    };
    let (before, after) = (of(&fit.before), of(&fit.after));
    let most = before.iter().chain(&after).copied().fold(0.0, f64::max) * 1.3;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(48)
            .build_cartesian_2d(0.5..before.len() as f64 + 0.5, 0.0..most)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .x_label_formatter(&|number| format!("{number:.0}"))
            .x_desc("measurement")
            .y_desc("error, mm")
            .draw()?;
        let mut bars = |values: &[f64], color: RGBColor, from: f64, name: &str| -> Result<()> {
            let bars = values.iter().enumerate().map(|(index, value)| {
                let left = index as f64 + 1.0 + from;
                Rectangle::new([(left, 0.0), (left + 0.38, *value)], color.filled())
            });
            let drawn = chart.draw_series(bars)?;
            drawn
                .label(name)
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 12, y + 5)], color.filled()));
            Ok(())
        };
        bars(&before, BEFORE, -0.4, "description")?;
        bars(&after, AFTER, 0.02, "calibrated")?;
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

/// The remaining errors along the axes of the base frame, in mm; a trend would be an error of the model.
fn directions(fit: &Fit) -> Result<String> {
    let most = fit.after.iter().flat_map(|residual| residual.iter().map(|value| value.abs() * 1e3));
    let most = most.fold(1e-3, f64::max) * 1.5;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(48)
            .build_cartesian_2d(0.5..fit.after.len() as f64 + 0.5, -most..most)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(WHITE)
            .x_label_formatter(&|number| format!("{number:.0}"))
            .x_desc("measurement")
            .y_desc("error, mm")
            .draw()?;
        let colors = [RGBColor(190, 40, 40), RGBColor(30, 130, 50), RGBColor(30, 70, 180)];
        for (axis, (name, color)) in ["x", "y", "z"].into_iter().zip(colors).enumerate() {
            let points = fit.after.iter().enumerate().filter_map(|(index, residual)| {
                let value = residual.iter().nth(axis)? * 1e3;
                Some(Circle::new((index as f64 + 1.0, value), 3, color.filled()))
            });
            let drawn = chart.draw_series(points)?;
            drawn.label(name).legend(move |(x, y)| Circle::new((x + 6, y), 4, color.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use dragoman_kinematics::calibration::{FitOptions, Measurement, MeasuringFrame, fit};
    use dragoman_kinematics::nalgebra::Isometry3;
    use dragoman_kinematics::{Model, Robot};

    use super::*;

    #[test]
    fn a_known_frame_has_no_unknowns() {
        let model = Model::from_urdf(include_str!("../../../../urdf/ranger_mk1.urdf"), None, None).unwrap();
        let robot = Robot::new(&model).unwrap();
        let pose = |index: u32| {
            let part = |step: f64| (f64::from(index) * step).fract();
            let steps = [0.8192, 0.6711, 0.5498, 0.4504, 0.3690, 0.3023];
            let joints: Vec<f64> = steps.map(|step| 0.8 + part(step) * 0.7).to_vec();
            let point = robot.forward(&joints).translation.vector.into();
            Measurement { joints, point }
        };
        let warned = |poses: u32, frame: MeasuringFrame| {
            let measurements: Vec<Measurement> = (0..poses).map(pose).collect();
            let table = DhTable::of(&model);
            let parameters = table.usual_parameters().into_iter().take(6).collect();
            let fit = fit(&model, &measurements, &FitOptions { parameters, frame, ..FitOptions::default() });
            let fit = fit.unwrap();
            let warnings = warnings(&fit, measurements.len());
            let few = warnings.into_iter().find(|warning| warning.starts_with("few poses"));
            few.map(|warning| (warning, fit.unknowns))
        };
        // Six parameters at most.
        assert_eq!(warned(7, MeasuringFrame::Known(Isometry3::identity())), None);
        let (warning, unknowns) = warned(7, MeasuringFrame::Estimated).unwrap();
        assert!(unknowns > 7, "{unknowns}");
        let begin = format!("few poses: 7 give 21 equations for {unknowns} unknowns;");
        assert!(warning.starts_with(&begin), "{warning}");
    }
}
