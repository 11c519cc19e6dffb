//! `dragoman evaluate`: tables and plots from files, and the simulated arm with and without the drives' speed limit.

use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

use crate::calibrate::Folder;
use crate::common::{Lab, domain, until};
use crate::simulation::{Program, last, latched};
use dragoman_ros::geometry_msgs::msg::InertiaStamped;

fn evaluate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .arg("evaluate")
        .args(arguments)
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .output()
        .unwrap()
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

/// Periods and errors of the thesis' table 4.4, s and mm: of the runs that were too fast for its drives.
const FAST: [(&str, f64); 2] = [("2", 37.0), ("3", 21.0)];

/// The arm follows the fast sinusoids along x with this limit of its drives, counts/s.
fn fast_runs(folder: &Folder, name: &str, limit: &str, is_expected: impl Fn([f64; 2]) -> bool) {
    let domain = domain();
    let limit = format!("arm:simulated_velocity_limit:={limit}");
    let velocity = "arm:max_velocity:=[4.0, 4.0, 4.0, 4.0, 4.0, 4.0]";
    let arguments = ["-p", "arm31:port:=0", "-p", &limit, "-p", velocity];
    let lab = Lab::start_with(domain, &["up", "--only", "ranger"], &arguments);
    let number = domain.to_string();
    let run = |path: &str| {
        let options = ["--cycles", "2", "--speed", "0.2", "--periods", "2,3", "--domain", &number];
        evaluate(&[&["run", path, "--tests", "x"], &options[..]].concat())
    };
    // A busy machine delays commands, which costs accuracy: the best of three runs counts.
    let mut all = Vec::new();
    for attempt in 0..3 {
        let name = format!("{name}-{attempt}");
        let output = run(&folder.path(&name));
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        assert!(Path::new(&folder.path(&format!("{name}/x.svg"))).exists());
        let errors = FAST.map(|(period, _)| row(&printed, "table 4.4", period)[0]);
        all.push(errors);
        if is_expected(errors) {
            break;
        }
    }
    assert!(all.last().is_some_and(|errors| is_expected(*errors)), "{name}: {all:?}");
    // Records are never overwritten.
    let error = String::from_utf8(run(&folder.path(&format!("{name}-0"))).stderr).unwrap();
    assert!(error.contains("choose another folder"), "{error}");
    drop(lab);
}

#[test]
fn the_speed_limit_of_the_drives_makes_the_fast_runs_inaccurate() {
    let folder = Folder::new("evaluate-limit");
    let is_as_in_thesis = |errors: [f64; 2]| {
        let known = FAST.iter().map(|(_, known)| known);
        known.zip(errors).all(|(known, error)| (known / 1.5..known * 1.5).contains(&error))
    };
    // Both take more than a minute.
    std::thread::scope(|scope| {
        scope.spawn(|| fast_runs(&folder, "limited", "50000.0", is_as_in_thesis));
        fast_runs(&folder, "free", "0.0", |errors| errors.iter().all(|error| *error < 8.0));
    });
}

/// The whole arm with drives that carry it, and a payload that its controller learns.
#[test]
fn the_host_controls_an_arm_with_masses() {
    let folder = Folder::new("evaluate-host");
    let domain = domain();
    let parameters = [
        "arm31:port:=0",
        "arm:simulated_dynamics:=true",
        "arm:simulated_payload:=[1.0, 0.0, 0.0, 0.05]",
        "arm:control_mode:=adaptive",
        "arm:sample_ratio:=14",
    ];
    let arguments: Vec<&str> = parameters.iter().flat_map(|parameter| ["-p", parameter]).collect();
    let lab = Lab::start_with(domain, &["up", "--only", "ranger"], &arguments);
    let number = domain.to_string();
    let options = ["--tests", "x", "--cycles", "2", "--speed", "0.4", "--periods", "5", "--domain", &number];
    let mut errors = Vec::new();
    // A busy machine delays commands, which costs accuracy: the best of three runs counts.
    for attempt in 0..3 {
        let path = folder.path(&format!("run-{attempt}"));
        let output = evaluate(&[&["run", &path], &options[..]].concat());
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        errors.push(row(&printed, "table 4.4", "5")[0]);
        if errors.last().is_some_and(|error| *error < 8.0) {
            break;
        }
    }
    assert!(errors.last().is_some_and(|error| *error < 8.0), "{errors:?}");
    // What the controller has learned.
    let mut program = Program::new(&lab);
    let learned = program.record::<InertiaStamped>("/ranger/learned_payload", latched());
    program.start();
    until("the payload is known", || {
        last(&learned).is_some_and(|payload| (payload.inertia.m - 1.0).abs() < 0.3)
    });
    assert_eq!(last(&learned).unwrap().header.frame_id, "tool0");
    drop(lab);
}

#[test]
fn tests_that_the_arm_cannot_do_move_nothing() {
    let folder = Folder::new("evaluate-reach");
    let path = folder.path("run");
    for (option, value, reason) in [
        ("--robot", "widowx", "out of reach of this arm"),
        ("--attitude", "0,1", "--attitude needs three numbers"),
        ("--periods", "0", "not a positive number"),
        ("--min-height", "0.6", "nothing has moved"),
    ] {
        let output = evaluate(&["run", &path, option, value, "--domain", &domain().to_string()]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(reason), "{reason}: {error}");
        assert!(!Path::new(&path).exists());
    }
}

/// The commands of a newcomer, from the page itself.
fn story() -> Vec<Vec<&'static str>> {
    let page = include_str!("../../../../docs/evaluation.md");
    let block = page.split("## Before and after a calibration").nth(1).unwrap().split("```").nth(1).unwrap();
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(|line| line.split("  #").next().unwrap().split_whitespace().collect()).collect()
}

/// As printed in docs/evaluation.md, but with free ports, faster, and at fewer points.
#[test]
fn the_ten_commands_of_the_story_work_as_printed() {
    let folder = Folder::new("evaluate-story");
    let commands = story();
    assert_eq!(commands.len(), 10, "{commands:?}");
    let number = domain().to_string();
    let mut lab = None;
    let mut tables = Vec::new();
    for command in &commands {
        let (program, arguments) = command.split_first().unwrap();
        if command.starts_with(&["dragoman", "up"]) {
            // Ctrl-C ends the one before.
            drop(lab.take());
            let at = arguments.iter().position(|word| *word == "--ros-args").unwrap();
            let (arguments, ros_arguments) = arguments.split_at(at);
            let settings = folder.path("my_arm.yaml");
            let in_folder =
                |word: &&'static str| if *word == "my_arm.yaml" { settings.as_str() } else { word };
            let arguments: Vec<&str> = arguments.iter().map(in_folder).collect();
            let velocity = "arm:max_velocity:=[3.0, 3.0, 3.0, 3.0, 3.0, 3.0]";
            let ros_arguments = [&ros_arguments[1..], &["-p", "arm31:port:=0", "-p", velocity]].concat();
            lab = Some(Lab::start_with(number.parse().unwrap(), &arguments, &ros_arguments));
            continue;
        }
        let mut arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "0.45" { "2.5" } else { word }).collect();
        if command.starts_with(&["dragoman", "evaluate", "run"]) {
            arguments.extend(["--points", "10"]);
        }
        let program = if *program == "dragoman" { env!("CARGO_BIN_EXE_dragoman") } else { program };
        let output = Command::new(program)
            .args(&arguments)
            .current_dir(folder.path(""))
            .env("ROS_DOMAIN_ID", &number)
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{command:?}: {printed}{}", String::from_utf8_lossy(&output.stderr));
        match command.as_slice() {
            ["cat", ..] => assert!(printed.contains("calibration:"), "{printed}"),
            ["dragoman", "evaluate", ..] => {
                let line = printed.lines().skip_while(|line| !line.contains("points   poses")).nth(1);
                let words: Vec<&str> =
                    line.unwrap_or_else(|| panic!("{printed}")).split_whitespace().collect();
                tables.push(words[2..5].iter().map(|word| word.parse().unwrap()).collect::<Vec<f64>>());
            }
            _ => {}
        }
    }
    let [before, after, again] = tables.as_slice() else { panic!("{tables:?}") };
    assert!(after[0] < before[0] / 2.0 && after[0] < 0.6, "{before:?} and {after:?}");
    assert_eq!(before, again);
}
