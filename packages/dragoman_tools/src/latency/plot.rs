//! Plots, one per topic, stacked in one SVG, as in the TurtleBot thesis, figures 5.1 and 5.2.

use std::fmt::Write;
use std::time::Duration;

use super::statistics::{Summary, milliseconds};

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 180.0;
/// Margins of a panel: left, right, top, bottom.
const MARGIN: [f64; 4] = [60.0, 20.0, 28.0, 24.0];

/// One curve: its title, and the times in the order of the samples.
pub(super) struct Curve<'a> {
    pub(super) title: &'a str,
    pub(super) times: &'a [Duration],
}

/// The SVG text.
pub(super) fn svg(curves: &[Curve<'_>]) -> String {
    let height = HEIGHT * curves.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (row, curve) in curves.iter().enumerate() {
        panel(&mut text, curve, HEIGHT * row as f64);
    }
    text.push_str("</svg>\n");
    text
}

fn panel(text: &mut String, curve: &Curve<'_>, top: f64) {
    let [left, right, above, below] = MARGIN;
    let (width, height) = (WIDTH - left - right, HEIGHT - above - below);
    let bottom = top + above + height;
    let summary = Summary::of(curve.times);
    let median = summary.map_or("no sample".to_owned(), |s| format!("median {} ms", milliseconds(s.median)));
    let highest = summary.map_or(1.0, |s| nice(s.longest.as_secs_f64() * 1e3));
    // Writing to a string never fails.
    let _ = writeln!(
        text,
        "<text x=\"{left}\" y=\"{}\">{}: {median}</text>\n\
         <rect x=\"{left}\" y=\"{}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#888\"/>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{highest} ms</text>\n\
         <text x=\"{}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{} samples</text>",
        top + 20.0,
        escaped(curve.title),
        top + above,
        left - 6.0,
        top + above + 10.0,
        left - 6.0,
        left + width,
        bottom + 16.0,
        curve.times.len(),
    );
    let across = curve.times.len().saturating_sub(1).max(1) as f64;
    let points = curve.times.iter().enumerate().map(|(at, time)| {
        let x = left + width * at as f64 / across;
        let y = bottom - height * time.as_secs_f64() * 1e3 / highest;
        format!("{x:.1},{y:.1}")
    });
    let points: Vec<String> = points.collect();
    let _ = writeln!(text, "<polyline fill=\"none\" stroke=\"#1560bd\" points=\"{}\"/>", points.join(" "));
}

/// The next of 1, 2, 5 times a power of ten.
fn nice(value: f64) -> f64 {
    let power = 10_f64.powf(value.max(1e-3).log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|step| step * power).find(|step| *step >= value).unwrap_or(10.0 * power)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_has_a_panel_with_a_point_for_each_sample() {
        let times: Vec<Duration> = (1..=200).map(Duration::from_micros).collect();
        let drawing = svg(&[Curve { title: "/odom", times: &times }, Curve { title: "a<b", times: &[] }]);
        assert!(drawing.starts_with("<svg ") && drawing.ends_with("</svg>\n"));
        assert!(drawing.contains("/odom: median 0.10 ms") && drawing.contains("a&lt;b: no sample"));
        let points = drawing.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        let points: Vec<(f64, f64)> = points
            .split(' ')
            .map(|p| p.split_once(',').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap())
            .collect();
        assert_eq!(points.len(), 200);
        assert!(points.iter().all(|(x, y)| (60.0..=780.0).contains(x) && (28.0..=156.0).contains(y)));
        assert!(points.first().unwrap().1 > points.last().unwrap().1, "later is longer is higher");
    }

    #[test]
    fn scales_end_at_round_figures() {
        for (value, end) in [(0.7, 1.0), (1.0, 1.0), (1.3, 2.0), (4.0, 5.0), (7.0, 10.0), (23.0, 50.0)] {
            assert!((nice(value) - end).abs() < 1e-9, "{value}: {}", nice(value));
        }
    }
}
