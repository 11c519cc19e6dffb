//! The results as text, beside tables 4.3 to 4.5 of the Ranger thesis.

use std::fmt::Write;

use dragoman_kinematics::calibration::Statistics;
use dragoman_kinematics::evaluation::Path;

use super::{Results, Run, order};

/// Rows of the thesis: T (s), mean error and S (mm).
type Rows = &'static [(f64, f64, f64)];

/// Table 4.3.
const CIRCLE: Rows =
    &[(5.0, 42.0, 20.0), (7.0, 4.7, 2.3), (10.0, 4.0, 0.9), (15.0, 3.9, 0.9), (20.0, 3.8, 0.9)];
/// Table 4.4.
const X: Rows = &[
    (2.0, 37.0, 15.0),
    (3.0, 21.0, 11.0),
    (5.0, 2.9, 1.9),
    (8.0, 2.6, 1.3),
    (10.0, 2.6, 1.2),
    (15.0, 2.6, 1.2),
];
/// Table 4.5.
const Z: Rows = &[
    (1.0, 23.0, 11.0),
    (2.0, 3.4, 1.1),
    (3.0, 3.8, 0.8),
    (5.0, 3.7, 0.9),
    (8.0, 3.7, 1.1),
    (10.0, 3.7, 0.9),
];

/// The rows that the thesis has for a kind of path, and its title.
pub(super) fn of_thesis(path: Path) -> (Rows, &'static str) {
    match path {
        Path::Rectangle => (&[], "rectangle, 50 by 20 cm (4.5.2; no result in the thesis)"),
        Path::Circle { .. } => (CIRCLE, "circle of 20 cm radius parallel to the x-z plane (table 4.3)"),
        Path::SinusoidX { .. } => (X, "sinusoid in the x direction, 10 cm to each side (table 4.4)"),
        Path::SinusoidZ { .. } => (Z, "sinusoid in the z direction, 10 cm to each side (table 4.5)"),
    }
}

/// All tables.
pub(super) fn text(results: &Results) -> String {
    let mut text =
        "d: mean error; S: its standard deviation; on the right those of the Ranger thesis\n".to_owned();
    // Writing to a string never fails.
    if let Some((accuracy, count)) = &results.accuracy {
        let [d, s, most] = millimetres(&accuracy.errors);
        let _ = write!(
            text,
            "\nstatic positional accuracy (4.3)\n  points   poses            d (mm)  S (mm)  max (mm)           | d (mm)  \
             S (mm)\n{count:>8} {:>7} {d:>17.2} {s:>7.2} {most:>9.2}           |    5.1     1.8\n",
            accuracy.poses
        );
    }
    for runs in results.runs.chunk_by(|a, b| order(a.path).0 == order(b.path).0) {
        let Some(first) = runs.first() else { continue };
        let (thesis, title) = of_thesis(first.path);
        let _ = write!(
            text,
            "\n{title}\n   T (s)  f (Hz)  v (mm/s)  d (mm)  S (mm)  max (mm)  lag (s) | d (mm)  S (mm)\n"
        );
        runs.iter().for_each(|run| text += &row(run, thesis));
    }
    text
}

fn row(Run { path, tracking }: &Run, thesis: Rows) -> String {
    let [d, s, most] = millimetres(&tracking.errors);
    let period = path.period();
    let speed = path.speed().map_or("-".to_owned(), |speed| format!("{:.0}", speed * 1e3));
    let known = thesis.iter().find(|(of, ..)| (of - period).abs() < 1e-6);
    let [known_d, known_s] =
        known.map_or(["-".to_owned(), "-".to_owned()], |(_, d, s)| [d.to_string(), s.to_string()]);
    format!(
        "{period:>8} {:>7.4} {speed:>9} {d:>7.2} {s:>7.2} {most:>9.2} {:>8.3} | {known_d:>6} {known_s:>7}\n",
        1.0 / period,
        tracking.lag
    )
}

fn millimetres(errors: &Statistics) -> [f64; 3] {
    [errors.mean, errors.deviation, errors.greatest].map(|value| value * 1e3)
}
