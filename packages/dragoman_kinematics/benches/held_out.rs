//! Prints one table: inverse kinematics on fresh poses, from random seeds, with success to five digits.
//!
//! `cargo bench -p dragoman_kinematics --bench held_out -- POSES RANDOM_SEED` (default 100000 poses per set and robot,
//! and a seed that no other test uses). Every answer is checked by forward kinematics and against the limits. Times are
//! those of single calls, in us: the load of other processes counts.
//!
//! | set | its targets |
//! | --- | --- |
//! | random | poses of random configurations |
//! | half at limits | each joint is at a limit, or anywhere, with equal chance |
//! | all at limits | every joint is at one of its limits |
//! | given up | a position of one pose with the orientation of another: the calls that find no solution |
//! | near | every joint of the seed is within 0.1 rad or m of a solution; failures are answers elsewhere |
//!
//! Fails if a robot solves less than 99.999 % of the random poses or 99.9 % of those at limits, or gives up after more than
//! 150 us in the median.

#[path = "../tests/all/common.rs"]
mod common;

use common::{Random, TABLES, robot, urdf};
use dragoman_kinematics::{IkOptions, Model, Robot};
use nalgebra::Isometry3;
use std::hint::black_box;
use std::time::Instant;

const POSES: usize = 100_000;
const RANDOM_SEED: u64 = 0x5EED_2026;
/// Distance of the seed from a solution in the set of near ones, rad or m.
const NEAR: f64 = 0.1;
/// Limits for every robot: minimum solved parts, and maximum median time of giving up, us.
const RANDOM: f64 = 99.999;
const AT_LIMITS: f64 = 99.9;
const GIVING_UP: f64 = 150.0;
/// An answer whose joints are all within this distance of the seed is on its branch, rad or m.
const SAME_BRANCH: f64 = 0.3;

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let poses = numbers.first().map_or(POSES, |poses| *poses as usize);
    let random_seed = numbers.get(1).copied().unwrap_or(RANDOM_SEED);
    println!("{poses} poses per set; random seed {random_seed}; tolerance 1e-6 m, 1e-6 rad; times in us");
    println!(
        "{:<16}{:<16}{:>9}{:>10}{:>9}{:>9}{:>9}{:>9}",
        "robot", "set", "failed", "solved %", "median", "p99", "p99.99", "max"
    );
    let mut missed = Vec::new();
    for (name, robot) in robots() {
        let mut random = Random(random_seed);
        let mut set = |configuration: &dyn Fn(&mut Random) -> Vec<f64>| -> Vec<(Isometry3<f64>, Vec<f64>)> {
            (0..poses)
                .map(|_| (robot.forward(&configuration(&mut random)), random.configuration(&robot)))
                .collect()
        };
        let uniform = set(&|random| random.configuration(&robot));
        let half = set(&|random| at_limits(&robot, random, 0.5));
        let all = set(&|random| at_limits(&robot, random, 1.0));
        let sets = [
            ("random", &uniform, RANDOM),
            ("half at limits", &half, AT_LIMITS),
            ("all at limits", &all, AT_LIMITS),
        ];
        for (label, cases, needed) in sets {
            let calls = run(&robot, cases);
            let (solved, _) = row(&name, label, &calls, |call| call.failed);
            if solved < needed {
                missed.push(format!("{name}, {label}: {solved:.4} % of {needed} %"));
            }
        }
        let mixed: Vec<_> = uniform
            .iter()
            .zip(uniform.iter().skip(1))
            .take(poses / 10)
            .map(|((pose, seed), (other, _))| {
                (Isometry3::from_parts(pose.translation, other.rotation), seed.clone())
            })
            .collect();
        let given_up: Vec<_> = run(&robot, &mixed).into_iter().filter(|call| call.failed).collect();
        let (_, median) = row(&name, "given up", &given_up, |call| call.failed);
        if median > GIVING_UP {
            missed.push(format!("{name} gives up after {median:.0} us"));
        }
        let near: Vec<_> = (0..poses / 10)
            .map(|_| {
                let q = random.configuration(&robot);
                let seed = q.iter().map(|q| q + NEAR * (2.0 * random.unit() - 1.0)).collect();
                (robot.forward(&q), seed)
            })
            .collect();
        row(&name, "near", &run(&robot, &near), |call| call.failed || call.moved > SAME_BRANCH);
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// The robots of the tests, and those of the descriptions.
fn robots() -> Vec<(String, Robot)> {
    let tables = TABLES.map(|(name, table)| (name.to_owned(), robot(table)));
    let described = |file: &str, base: Option<&str>, tip: Option<&str>| {
        let model = Model::from_urdf(&urdf(file), base, tip).unwrap();
        Robot::new(&model).unwrap()
    };
    let puma = described("puma560.urdf", None, None);
    let widowx = described("turtlebot2_widowx.urdf", Some("arm_base_link"), Some("tool0"));
    tables
        .into_iter()
        .chain([("puma560.urdf".to_owned(), puma), ("widowx.urdf".to_owned(), widowx)])
        .collect()
}

/// A configuration with every joint at one of its limits with probability `share`.
fn at_limits(robot: &Robot, random: &mut Random, share: f64) -> Vec<f64> {
    let mut q = random.configuration(robot);
    for (q, joint) in q.iter_mut().zip(robot.joints()) {
        if random.unit() < share {
            *q = if random.unit() < 0.5 { joint.lower } else { joint.upper };
        }
    }
    q
}

struct Call {
    failed: bool,
    /// Maximum distance of a joint from the seed.
    moved: f64,
    time: f64,
}

fn run(robot: &Robot, cases: &[(Isometry3<f64>, Vec<f64>)]) -> Vec<Call> {
    let (options, mut out) = (IkOptions::default(), vec![0.0; robot.joint_count()]);
    let calls = cases.iter().map(|(target, seed)| {
        let start = Instant::now();
        let result = black_box(robot.inverse(black_box(target), seed, &options, &mut out));
        let time = start.elapsed().as_nanos() as f64 / 1e3;
        let wrong = result.is_ok() && !is_answer(robot, target, &out);
        assert!(!wrong, "{out:?} is not an answer");
        let moved = out.iter().zip(seed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        Call { failed: result.is_err(), moved, time }
    });
    calls.collect()
}

fn is_answer(robot: &Robot, target: &Isometry3<f64>, q: &[f64]) -> bool {
    let reached = robot.forward(q);
    let off = (target.translation.vector - reached.translation.vector).norm();
    let turned = (target.rotation.inverse() * reached.rotation).scaled_axis().norm();
    let inside = robot.joints().iter().zip(q).all(|(joint, q)| (joint.lower..=joint.upper).contains(q));
    inside && off < 1.01e-6 && turned < 1.01e-6
}

/// Prints a row; the solved part, %, and the median time, us.
fn row(robot: &str, set: &str, calls: &[Call], failed: impl Fn(&Call) -> bool) -> (f64, f64) {
    let failures = calls.iter().filter(|call| failed(call)).count();
    let mut times: Vec<f64> = calls.iter().map(|call| call.time).collect();
    times.sort_by(f64::total_cmp);
    let at =
        |share: f64| times.get(((times.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or(0.0);
    let solved = 100.0 - 100.0 * failures as f64 / calls.len().max(1) as f64;
    println!(
        "{robot:<16}{set:<16}{failures:>9}{solved:>10.4}{:>9.2}{:>9.1}{:>9.1}{:>9.1}",
        at(0.5),
        at(0.99),
        at(0.9999),
        at(1.0)
    );
    (solved, at(0.5))
}
