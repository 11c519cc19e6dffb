//! Plots in SVG: the path as commanded (red) and as measured (blue), like figures 4.3, 4.6 and 4.7 of the thesis.

use std::ops::Range;

use dragoman_kinematics::calibration::Accuracy;
use dragoman_kinematics::evaluation::{Pair, Path};
use dragoman_kinematics::nalgebra::Point3;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Results, Run, order};
use crate::calibrate::Result;

const PANEL: (u32, u32) = (460, 420);
const COMMANDED: RGBColor = RGBColor(200, 40, 40);
const MEASURED: RGBColor = RGBColor(20, 90, 160);
/// Maximum number of points of a curve: files stay small.
const POINTS: usize = 300;
/// Cycles that are drawn.
const CYCLES: f64 = 2.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve: points in the drawing's units.
type Curve = Vec<(f64, f64)>;

/// The files and their texts: one for each kind of test.
pub(super) fn all(results: &Results) -> Result<Vec<(&'static str, String)>> {
    let mut plots = Vec::new();
    if let Some((accuracy, _)) = &results.accuracy {
        plots.push(("static.svg", points(accuracy)?));
    }
    for runs in results.runs.chunk_by(|a, b| order(a.path).0 == order(b.path).0) {
        let (Some(fastest), Some(slowest)) = (runs.first(), runs.last()) else { continue };
        let shown = if runs.len() == 1 { vec![fastest] } else { vec![slowest, fastest] };
        let name = match fastest.path {
            Path::Rectangle => "rectangle.svg",
            Path::Circle { .. } => "circle.svg",
            Path::SinusoidX { .. } => "x.svg",
            Path::SinusoidZ { .. } => "z.svg",
        };
        let mut svg = String::new();
        {
            let size = (PANEL.0 * shown.len() as u32, PANEL.1);
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            area.fill(&WHITE)?;
            for (area, run) in area.split_evenly((1, shown.len())).iter().zip(shown) {
                panel(area, run)?;
            }
            area.present()?;
        }
        plots.push((name, svg));
    }
    Ok(plots)
}

/// One run: in its plane, or, along a line, over time.
fn panel(area: &Area<'_>, Run { path, tracking }: &Run) -> Result<()> {
    let last = tracking.pairs.last().map_or(0.0, |pair| pair.time);
    // Whole cycles before the arm slows down.
    let begin = last - (CYCLES + 0.25) * path.period();
    let shown: Vec<&Pair> = tracking.pairs.iter().filter(|pair| pair.time >= begin).collect();
    let first = shown.first().map_or(0.0, |pair| pair.time);
    let step = shown.len().div_ceil(POINTS).max(1);
    let curve = |of: fn(&Pair) -> Point3<f64>| -> Curve {
        let point = |pair: &&Pair| {
            let point = of(pair);
            match path {
                Path::Rectangle | Path::Circle { .. } => (point.x * 1e3, point.z * 1e3),
                Path::SinusoidX { .. } => (pair.time - first, point.x * 1e3),
                Path::SinusoidZ { .. } => (pair.time - first, point.z * 1e3),
            }
        };
        shown.iter().step_by(step).map(point).collect()
    };
    let (commanded, measured) = (curve(|pair| pair.commanded), curve(|pair| pair.measured));
    let (axes, is_planar) = match path {
        Path::SinusoidX { .. } => (["time, s", "x, mm"], false),
        Path::SinusoidZ { .. } => (["time, s", "z, mm"], false),
        Path::Rectangle | Path::Circle { .. } => (["x, mm", "z, mm"], true),
    };
    let title = format!("T = {} s: mean error {:.1} mm", path.period(), tracking.errors.mean * 1e3);
    let (x, y) = ranges(&[&commanded, &measured], is_planar);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .caption(title, ("sans-serif", 16))
        .x_label_area_size(36)
        .y_label_area_size(52)
        .build_cartesian_2d(x, y)?;
    chart.configure_mesh().light_line_style(WHITE).x_labels(6).x_desc(axes[0]).y_desc(axes[1]).draw()?;
    chart
        .draw_series(LineSeries::new(measured, MEASURED.stroke_width(2)))?
        .label("measured")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], MEASURED));
    chart
        .draw_series(LineSeries::new(commanded, COMMANDED))?
        .label("commanded")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 14, y)], COMMANDED));
    let place = if is_planar { SeriesLabelPosition::MiddleMiddle } else { SeriesLabelPosition::UpperRight };
    chart
        .configure_series_labels()
        .position(place)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    Ok(())
}

/// Computed and measured points of the static test, as seen along y.
fn points(accuracy: &Accuracy) -> Result<String> {
    let curve = |points: &[Point3<f64>]| -> Curve {
        points.iter().map(|point| (point.x * 1e3, point.z * 1e3)).collect()
    };
    let (computed, measured) = (curve(&accuracy.computed), curve(&accuracy.measured));
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (2 * PANEL.0, 3 * PANEL.1 / 4)).into_drawing_area();
        area.fill(&WHITE)?;
        let (x, y) = ranges(&[&computed, &measured], false);
        let title = format!("static accuracy: mean error {:.2} mm", accuracy.errors.mean * 1e3);
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .caption(title, ("sans-serif", 16))
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(x, y)?;
        chart.configure_mesh().light_line_style(WHITE).x_desc("x, mm").y_desc("z, mm").draw()?;
        chart
            .draw_series(computed.into_iter().map(|point| Cross::new(point, 5, COMMANDED)))?
            .label("computed from the joints")
            .legend(|(x, y)| Cross::new((x + 6, y), 4, COMMANDED));
        chart
            .draw_series(measured.into_iter().map(|point| Circle::new(point, 3, MEASURED)))?
            .label("measured")
            .legend(|(x, y)| Circle::new((x + 6, y), 3, MEASURED));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::MiddleMiddle)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

/// What the axes show, with a margin; `is_square`: the same scale on both.
fn ranges(curves: &[&Curve], is_square: bool) -> (Range<f64>, Range<f64>) {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = curves.iter().flat_map(|curve| curve.iter().map(of));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value: f64| {
            (low.min(value), high.max(value))
        });
        (0.5 * (low + high), 0.55 * (high - low))
    };
    let ((x, mut width), (y, mut height)) = (range(|point| point.0), range(|point| point.1));
    if is_square {
        // A panel is about as wide as it is high.
        width = width.max(height);
        height = width;
    } else {
        height *= 1.3;
    }
    (x - width..x + width, y - height..y + height)
}
