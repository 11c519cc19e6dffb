//! `dragoman evaluate run`: the simulated arm with and without its drives' speed limit, with masses, and calibrated.

use std::path::Path;
use std::process::Command;

use crate::common::{Folder, Lab, Program, last, latched, run, until};
use dragoman_ros::geometry_msgs::msg::InertiaStamped;

/// The columns d, S, max and lag of the row of a period in the table with a title.
fn row(printed: &str, table: &str, period: &str) -> Vec<f64> {
    let lines = printed.lines().skip_while(|line| !line.contains(table)).skip(2);
    let words: Vec<Vec<&str>> = lines.map(|line| line.split_whitespace().collect()).collect();
    let row = words.iter().find(|words| words.first() == Some(&period));
    let row = row.unwrap_or_else(|| panic!("{table}, {period} in\n{printed}"));
    row[3..7].iter().map(|word| word.parse().unwrap()).collect()
}

/// Periods and errors of the thesis' table 4.4, s and mm: of the runs that were too fast for its drives.
const FAST: [(&str, f64); 2] = [("2", 37.0), ("3", 21.0)];

/// The errors of the arm that follows the fast sinusoids along x with this limit of its drives, counts/s.
fn fast_runs(limit: &str) -> [f64; 2] {
    let folder = Folder::new();
    let limit = format!("arm:simulated_velocity_limit:={limit}");
    let velocity = "arm:max_velocity:=[4.0, 4.0, 4.0, 4.0, 4.0, 4.0]";
    let _lab = Lab::start_with(0, &["up", "--only", "ranger"], &["-p", &limit, "-p", velocity]);
    let path = folder.path("run");
    let options = ["--tests", "x", "--cycles", "2", "--speed", "0.2", "--periods", "2,3"];
    let arguments = [&["evaluate", "run", &path], &options[..]].concat();
    let printed = run(0, &arguments).unwrap();
    assert!(Path::new(&folder.path("run/x.svg")).exists());
    // Records are never overwritten.
    let error = run(0, &arguments).unwrap_err();
    assert!(error.contains("choose another folder"), "{error}");
    FAST.map(|(period, _)| row(&printed, "table 4.4", period)[0])
}

#[test]
fn the_speed_limit_of_the_drives_makes_the_fast_runs_inaccurate() {
    let limited = fast_runs("50000.0");
    println!("limited: {limited:?} mm");
    for ((_, known), error) in FAST.iter().zip(limited) {
        assert!((known / 1.25..*known).contains(&error), "{limited:?}");
    }
    let free = fast_runs("0.0");
    println!("free: {free:?} mm");
    assert!(free.iter().all(|error| *error < 1.0), "{free:?}");
}

#[test]
fn a_missing_arm_is_reported_with_the_existing_ones() {
    let folder = Folder::new();
    folder.write(
        "poses.csv",
        "joint_1,joint_2,joint_3,joint_4,joint_5,joint_6\n1.9,0.02,1.55,0.01,1.56,0.01\n",
    );
    let _lab = Lab::only("ranger,turtlebot");
    let (run_folder, poses, output) = (folder.path("run"), folder.path("poses.csv"), folder.path("m.csv"));
    let evaluate = ["evaluate", "run", &run_folder, "--namespace"];
    let measure = ["calibrate", "measure", &poses, "-o", &output, "--namespace"];
    let refused = |command: &[&str], namespace: &str| run(0, &[command, &[namespace]].concat()).unwrap_err();
    for command in [&evaluate[..], &measure[..]] {
        let error = refused(command, "/rangr");
        assert!(error.ends_with("in /rangr; did you mean '/ranger'?"), "{error}");
        let error = refused(command, "elsewhere");
        assert!(error.contains("in elsewhere; known: ") && error.contains("/ranger"), "{error}");
    }
}

/// The whole arm with drives that carry it, and a payload that its controller learns.
#[test]
fn the_host_controls_an_arm_with_masses() {
    let folder = Folder::new();
    let parameters = [
        "arm:simulated_dynamics:=true",
        "arm:simulated_payload:=[1.0, 0.0, 0.0, 0.05]",
        "arm:control_mode:=adaptive",
        "arm:sample_ratio:=14",
    ];
    let arguments: Vec<&str> = parameters.iter().flat_map(|parameter| ["-p", parameter]).collect();
    let lab = Lab::start_with(0, &["up", "--only", "ranger"], &arguments);
    let options = ["--tests", "x", "--cycles", "2", "--speed", "0.4", "--periods", "5"];
    let path = folder.path("run");
    let printed = run(0, &[&["evaluate", "run", &path], &options[..]].concat()).unwrap();
    let error = row(&printed, "table 4.4", "5")[0];
    println!("{error} mm");
    assert!(error < 1.0, "{error}");
    // What the controller has learned.
    let mut program = Program::new(&lab);
    let learned = program.record::<InertiaStamped>("/ranger/learned_payload", latched());
    program.start();
    until("the payload is known", || {
        last(&learned).is_some_and(|payload| (payload.inertia.m - 1.0).abs() < 0.3)
    });
    assert_eq!(last(&learned).unwrap().header.frame_id, "tool0");
}

#[test]
fn tests_that_the_arm_cannot_do_move_nothing() {
    let folder = Folder::new();
    let path = folder.path("run");
    for (option, value, reason) in [
        ("--robot", "widowx", "out of reach of this arm"),
        ("--attitude", "0,1", "--attitude needs three numbers"),
        ("--periods", "0", "not a positive number"),
        ("--min-height", "0.6", "nothing has moved"),
    ] {
        let error = run(0, &["evaluate", "run", &path, option, value]).unwrap_err();
        assert!(error.contains(reason), "{reason}: {error}");
        assert!(!Path::new(&path).exists());
    }
}

/// The commands of the page for new users.
fn story() -> Vec<Vec<&'static str>> {
    let page = include_str!("../../../../docs/evaluation.md");
    let block = page.split("## Before and after a calibration").nth(1).unwrap().split("```").nth(1).unwrap();
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(|line| line.split("  #").next().unwrap().split_whitespace().collect()).collect()
}

/// Files and folders of the story; in the test they are not in the current folder.
const FILES: [&str; 6] = ["before", "after", "poses.csv", "measured.csv", "my_arm.yaml", "my_arm.html"];

#[test]
fn the_ten_commands_of_the_story_work_as_printed() {
    let folder = Folder::new();
    let commands = story();
    assert_eq!(commands.len(), 10, "{commands:?}");
    let mut lab: Option<Lab> = None;
    let mut tables = Vec::new();
    for command in &commands {
        let words: Vec<String> = command
            .iter()
            .map(|word| if FILES.contains(word) { folder.path(word) } else { (*word).to_owned() })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let printed = match words.as_slice() {
            ["dragoman", up @ ..] if up[0] == "up" => {
                if let Some(before) = lab.take() {
                    // Ctrl-C.
                    assert_eq!(before.end().0, Ok(()));
                }
                let at = up.iter().position(|word| *word == "--ros-args").unwrap();
                lab = Some(Lab::start_with(0, &up[..at], &up[at + 1..]));
                continue;
            }
            ["dragoman", "evaluate", "run", ..] | ["dragoman", "calibrate", "measure", ..] => {
                let began = dragoman_time::now();
                let printed = run(0, &words[1..]).unwrap_or_else(|error| panic!("{command:?}: {error}"));
                let seconds = dragoman_time::since(began).as_secs();
                println!("{command:?} takes {seconds} s");
                if command.contains(&"before") {
                    assert!((150..200).contains(&seconds), "about three minutes");
                }
                printed
            }
            // Without ROS.
            [program, arguments @ ..] => {
                let program = if *program == "dragoman" { env!("CARGO_BIN_EXE_dragoman") } else { program };
                let output = Command::new(program).args(arguments).output().unwrap();
                let printed = String::from_utf8_lossy(&output.stdout).into_owned();
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{command:?}: {printed}{error}");
                printed
            }
            [] => unreachable!(),
        };
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
    println!("{before:?} and {after:?}");
    assert!(after[0] < before[0] / 2.0 && after[0] < 0.6, "{before:?} and {after:?}");
    assert_eq!(before, again);
}
