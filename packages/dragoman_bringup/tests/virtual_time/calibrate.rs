//! `dragoman calibrate`: the whole way with a simulated arm and its tracker.

use std::process::Command;

use crate::common::{Folder, Lab, run};

/// `dragoman calibrate` without ROS.
#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    let output = command.arg("calibrate").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Differences of the simulated arm from its description.
const MISALIGNMENT: [(&str, f64); 5] =
    [("theta_2", 0.012), ("theta_3", -0.015), ("theta_5", -0.017), ("a_2", 0.003), ("d_4", -0.0025)];

#[test]
fn a_lab_starts_with_the_counts_of_measured_arcs() {
    let folder = Folder::new();
    // Ranger thesis, 4.2.
    let arcs = folder.write("arcs.csv", "joint,counts,arc_length,radius\njoint_3,-65000,0.8,0.8\n");
    let settings = folder.path("arm.yaml");
    succeeds(&["arcs", &arcs, "-o", &settings]);
    Lab::start_with(0, &["up", "--only", "ranger", "--robot", &settings], &[]);
}

#[test]
fn an_invalid_misalignment_ends_the_start() {
    for (misalignment, reason) in [
        ("theta_9=0.1", "there is no theta_9; this arm has"),
        ("theta_2", "theta_2 is not NAME=VALUE"),
        ("d_4=long", "not a finite number"),
        ("d_4=nan", "not a finite number"),
    ] {
        let misalignment = format!("tracker:misalignment:={misalignment}");
        let error = Lab::try_start(1, &[], 0, &["up", "--only", "ranger"], &["-p", &misalignment]).err();
        let error = error.expect("it does not start");
        assert!(error.contains(reason), "{error}");
    }
}

/// The story of docs/calibration.md and docs/evaluation.md.
#[test]
fn a_misaligned_arm_is_measured_and_calibrated() {
    let folder = Folder::new();
    let changes: Vec<String> = MISALIGNMENT.iter().map(|(name, change)| format!("{name}={change}")).collect();
    let misalignment = format!("tracker:misalignment:={}", changes.join(","));
    let poses = folder.path("poses.csv");
    succeeds(&["plan", "--poses", "10", "-o", &poses]);
    let mean_error_of_the_description = |robot: &str, name: &str| {
        let velocity = "arm:max_velocity:=[3.0, 3.0, 3.0, 3.0, 3.0, 3.0]";
        let arguments = ["up", "--only", "ranger", "--robot", robot];
        let lab = Lab::start_with(0, &arguments, &["-p", velocity, "-p", &misalignment]);
        let measured = folder.path(&format!("{name}.csv"));
        let measure = |poses: &str| {
            let options = ["--robot", robot, "--speed", "2.5", "--samples", "30", "--append"];
            run(0, &[&["calibrate", "measure", poses, "-o", &measured], &options[..]].concat())
        };
        let bad = folder.write("bad.csv", "joint_1,joint_2,joint_3,joint_4,joint_5,joint_6\n0,1,0,0,9,0\n");
        let error = measure(&bad).unwrap_err();
        assert!(error.contains("pose 1") && error.contains("nothing has moved"), "{error}");
        measure(&poses).unwrap();
        let begin = dragoman_time::now();
        let again = measure(&poses).unwrap();
        // A second run has nothing to do.
        assert!(again.contains("10 of 10 poses are in"), "{again}");
        println!("again: {:?}", dragoman_time::since(begin));
        let accuracy = folder.path(&format!("{name}-accuracy"));
        let options = ["--robot", robot, "--tests", "static", "--points", "10", "--speed", "2.5"];
        let printed = run(0, &[&["evaluate", "run", &accuracy], &options[..]].concat()).unwrap();
        let line = printed.lines().skip_while(|line| !line.contains("points   poses")).nth(1).unwrap();
        let accuracy: f64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert_eq!(lab.end().0, Ok(()));
        let printed =
            succeeds(&["fit", &measured, "--robot", robot, "-o", &folder.path(&format!("{name}.yaml"))]);
        let line = printed.lines().find(|line| line.starts_with("description")).unwrap();
        (line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap(), accuracy)
    };
    let (before, inaccurate) = mean_error_of_the_description("ranger_mk1", "before");
    let (after, accurate) = mean_error_of_the_description(&folder.path("before.yaml"), "after");
    assert!(before > 3.0 && after < 0.5, "mean error {before} mm before, {after} mm after");
    // In its plane the thesis' test sees less than poses in all directions.
    assert!(
        inaccurate > 2.0 * accurate && accurate < 0.6,
        "static accuracy {inaccurate} mm before, {accurate} mm after"
    );
}
