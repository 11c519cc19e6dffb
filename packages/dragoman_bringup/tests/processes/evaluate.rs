//! `dragoman evaluate report`: tables and plots from files. It is a process with an output and an exit code, without ROS; what
//! drives an arm runs on virtual time.

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::calibrate::Folder;

fn evaluate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dragoman")).arg("evaluate").args(arguments).output().unwrap()
}

/// The columns d, S, max and lag of the row of a period in the table with a title.
fn row(printed: &str, table: &str, period: &str) -> Vec<f64> {
    let lines = printed.lines().skip_while(|line| !line.contains(table)).skip(2);
    let words: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let row = words.iter().find(|words| words.first() == Some(&period));
    let row = row.unwrap_or_else(|| panic!("{table}, {period} in\n{printed}"));
    row[3..7].iter().map(|word| word.parse().unwrap()).collect()
}

/// A circle of a radius (m) with a period of 5 s, seen `lag` seconds later, and in a unit.
fn circle(radius: f64, lag: f64, unit: f64) -> String {
    let mut text = "time,x,y,z\n".to_owned();
    for step in 0..1100 {
        let time = f64::from(step) * 0.01;
        // At rest for half a second, then two turns.
        let phase = TAU * ((time - 0.5) / 5.0).clamp(0.0, 2.0);
        let (x, z) = (radius * phase.cos(), 0.52 + radius * phase.sin());
        writeln!(text, "{:.3},{:.6},{:.6},{:.6}", time + lag, x * unit, 0.62 * unit, z * unit).unwrap();
    }
    text
}

#[test]
fn recorded_paths_become_tables_and_plots() {
    let folder = Folder::new("evaluate-files");
    folder.write("circle_5s_commanded.csv", &circle(0.2, 0.0, 1.0));
    folder.write("circle_5s_measured.csv", &circle(0.196, 7.25, 1.0));
    let path = folder.path("");
    let output = evaluate(&["report", &path]);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let errors = row(&printed, "table 4.3", "5");
    assert!((errors[0] - 4.0).abs() < 0.3 && (errors[3] - 7.25).abs() < 0.05, "{printed}");
    assert!(printed.contains("|     42      20"), "{printed}");
    let plot = std::fs::read_to_string(folder.path("circle.svg")).unwrap();
    assert!(plot.contains("mean error 4.0 mm") && plot.matches("<polyline").count() >= 2);
    // Nothing is overwritten without --force.
    let output = evaluate(&["report", &path]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && error.contains("use --force"), "{error}");
    assert!(evaluate(&["report", &path, "--force"]).status.success());
}

#[test]
fn bad_records_are_refused_and_nothing_is_written() {
    let good = circle(0.2, 0.1, 1.0);
    let lines: Vec<&str> = good.lines().collect();
    let cases = [
        (good.replacen(lines[7], "0.160,NaN,0.62,0.52", 1), "x is NaN"),
        (circle(0.2, 0.1, 1e3), "are these millimetres?"),
        (lines[..12].join("\n"), "has 11 points; at least 20"),
        (good.replacen(lines[50], lines[49], 1), "is a point repeated?"),
        (circle(0.0, 0.1, 1.0), "does not move"),
        (good.replace("time,", "seconds,"), "there is no column time"),
    ];
    for (measured, reason) in cases {
        let folder = Folder::new("evaluate-bad");
        folder.write("circle_5s_commanded.csv", &circle(0.2, 0.0, 1.0));
        folder.write("circle_5s_measured.csv", &measured);
        let output = evaluate(&["report", &folder.path("")]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(reason), "{reason}: {error}");
        assert!(!Path::new(&folder.path("circle.svg")).exists(), "{reason}");
    }
    let header = "joint_1,joint_2,joint_3,joint_4,joint_5,joint_6,x,y,z\n";
    let row = "-1.57,1.32,1.03,0,2.36,0,0.1,0.62,0.52\n";
    for (text, reason) in [
        (format!("{header}{row}{row}{row}"), "1 different poses"),
        (format!("{header}{}", row.replace("0.62", "NaN")), "y is NaN"),
        (format!("{header}{}", row.replace("2.36", "135")), "are these degrees?"),
    ] {
        let folder = Folder::new("evaluate-bad-static");
        folder.write("static.csv", &text);
        let output = evaluate(&["report", &folder.path("")]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(reason), "{reason}: {error}");
        assert!(!Path::new(&folder.path("static.svg")).exists(), "{reason}");
    }
    let folder = Folder::new("evaluate-none");
    let output = evaluate(&["report", &folder.path("")]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("has neither static.csv"));
}
