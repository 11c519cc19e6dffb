//! Orocos KDL as a peer: compiles `peer.cpp` with g++ if the library is installed and passes it the same robots and
//! targets. Without the compiler or the library it prints that and omits the rows.

use crate::common::Case;
use dragoman_kinematics::Robot;
use nalgebra::Isometry3;
use serde::Deserialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

static PEER: OnceLock<Result<PathBuf, String>> = OnceLock::new();

#[derive(Deserialize)]
struct Table {
    joints: Vec<PeerRow>,
    tool: PeerRow,
}

#[derive(Deserialize)]
struct PeerRow {
    #[serde(default, rename = "type")]
    kind: String,
    a: f64,
    alpha: f64,
    d: f64,
    theta: f64,
}

/// Solves `targets` with KDL's solvers; `print` gets a row's label, the share solved in % and the times in us.
pub(crate) fn run(
    case: &Case,
    robot: &Robot,
    targets: &[Isometry3<f64>],
    print: impl Fn(&str, f64, &mut [f64]),
) {
    match PEER.get_or_init(build) {
        Ok(program) => match converse(program, &problem(case, robot, targets)) {
            Ok(answer) => answer.lines().for_each(|line| report(line, targets.len(), &print)),
            Err(reason) => println!("{:<14}KDL failed: {reason}", case.label),
        },
        Err(reason) => println!("{:<14}KDL left out: {reason}", case.label),
    }
}

fn build() -> Result<PathBuf, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("dragoman_kdl_peer");
    let output = Command::new("g++")
        .args(["-O2", "-DNDEBUG", "-std=c++17", "-I/usr/include/eigen3", "-o"])
        .arg(&program)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/kdl_peer/peer.cpp"))
        .arg("-lorocos-kdl")
        .output()
        .map_err(|error| format!("g++: {error}"))?;
    if output.status.success() {
        return Ok(program);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(text.lines().find(|line| line.contains("error")).unwrap_or("g++ failed").to_owned())
}

fn problem(case: &Case, robot: &Robot, targets: &[Isometry3<f64>]) -> String {
    let table: Table = serde_norway::from_str(case.table).expect("a table of ours");
    let row = |row: &PeerRow| format!("{} {} {} {}", row.a, row.alpha, row.d, row.theta);
    let mut text = format!("{}\n", table.joints.len());
    for ((joint, limits), home) in table.joints.iter().zip(robot.joints()).zip(case.home) {
        let kind = u8::from(joint.kind == "prismatic");
        let _ = writeln!(text, "{kind} {} {} {} {home}", row(joint), limits.lower, limits.upper);
    }
    let _ = writeln!(text, "{}\n{}", row(&table.tool), targets.len());
    for target in targets {
        let (p, q) = (target.translation.vector, target.rotation.coords);
        let _ = writeln!(text, "{} {} {} {} {} {} {}", p.x, p.y, p.z, q.x, q.y, q.z, q.w);
    }
    text
}

fn converse(program: &PathBuf, problem: &str) -> Result<String, String> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(problem.as_bytes()).map_err(|error| error.to_string())?;
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

fn report(line: &str, count: usize, print: &impl Fn(&str, f64, &mut [f64])) {
    let mut words = line.split_whitespace();
    let (Some(name), Some(solved)) = (words.next(), words.next()) else { return };
    let mut times: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    if name == "fk+jacobian" {
        times.sort_by(f64::total_cmp);
        // The peer reads the clock once per hundred calls.
        println!("{:<14}{:<22}{:>37.0} ns", "  KDL", "FK + Jacobian", times[times.len() / 2] / 100.0);
        return;
    }
    times.iter_mut().for_each(|time| *time /= 1e3);
    let label = format!("random, {name}");
    print(&label, 100.0 * solved.parse::<f64>().unwrap_or(f64::NAN) / count as f64, &mut times);
}
