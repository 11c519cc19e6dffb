//! Prints one table: success rate and time of inverse kinematics, per robot, with Orocos KDL as a peer.
//!
//! `cargo bench -p dragoman_kinematics --bench table`. Every answer is checked by forward kinematics and against the
//! limits. A time is the minimum of three runs of the same call, which removes the load of other processes; KDL's are
//! measured in the same way.

mod common;
mod kdl_peer;

use common::{CASES, Case, Random, lissajous};
use dragoman_kinematics::{IkOptions, Robot};
use nalgebra::{Isometry3, Translation3};
use std::hint::black_box;
use std::time::Instant;

const POSES: usize = 10_000;
/// Size of the sets without solutions and of those for KDL, which are slow.
const FEWER_POSES: usize = 1_000;
const STEPS: usize = 10_000;
const RUNS: usize = 3;
const RANDOM_SEED: u64 = 2024;

fn main() {
    println!(
        "random seed {RANDOM_SEED}; {POSES} poses per set; tolerance 1e-6 m, 1e-6 rad; times in us but FK"
    );
    println!(
        "{:<14}{:<22}{:>10}{:>9}{:>9}{:>9}{:>8}",
        "robot", "set", "success %", "median", "p99", "max", ""
    );
    for case in &CASES {
        let robot = case.robot();
        let mut random = Random(RANDOM_SEED);
        let targets: Vec<_> = (0..POSES).map(|_| robot.forward(&random.configuration(&robot))).collect();
        println!("{:<14}{:<22}{:>37.0} ns", case.label, "FK + Jacobian", forward_time(&robot));
        global(case, &robot, "random reachable", &targets);
        for (joint, value) in case.singular {
            let targets: Vec<_> = (0..POSES)
                .map(|_| {
                    let mut q = random.configuration(&robot);
                    q[*joint] = *value;
                    robot.forward(&q)
                })
                .collect();
            global(case, &robot, &format!("singular, joint {}", joint + 1), &targets);
        }
        let far: Vec<_> = targets
            .iter()
            .map(|pose| {
                let direction = pose.translation.vector.normalize();
                let distance = 0.9 + 4.0 * random.unit();
                Isometry3::from_parts(Translation3::from(direction * distance * 2.0), pose.rotation)
            })
            .collect();
        global(case, &robot, "mostly out of reach", &far[..FEWER_POSES]);
        let turned: Vec<_> = targets
            .iter()
            .zip(targets.iter().skip(1))
            .map(|(pose, other)| Isometry3::from_parts(pose.translation, other.rotation))
            .collect();
        global(case, &robot, "positions, other turns", &turned[..FEWER_POSES]);
        track(case, &robot);
        kdl_peer::run(case, &robot, &targets[..FEWER_POSES], |label, success, times| {
            row("  KDL", label, success, times);
            println!();
        });
        println!();
    }
}

fn forward_time(robot: &Robot) -> f64 {
    let mut random = Random(1);
    let configurations: Vec<_> = (0..1000).map(|_| random.configuration(robot)).collect();
    let mut jacobian = vec![0.0; 6 * robot.joint_count()];
    let mut best = f64::INFINITY;
    for _ in 0..100 {
        let start = Instant::now();
        for q in &configurations {
            black_box(robot.jacobian(black_box(q), &mut jacobian));
            black_box(&jacobian);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / configurations.len() as f64);
    }
    best
}

fn global(case: &Case, robot: &Robot, label: &str, targets: &[Isometry3<f64>]) {
    let options = IkOptions::default();
    let mut out = vec![0.0; robot.joint_count()];
    let mut times = Vec::new();
    let (mut solved, mut starts, mut iterations) = (0, 0, 0);
    for target in targets {
        let mut best = f64::INFINITY;
        for run in 0..RUNS {
            let start = Instant::now();
            let result = black_box(robot.inverse(black_box(target), case.home, &options, &mut out));
            best = best.min(start.elapsed().as_nanos() as f64 / 1e3);
            if run == 0 {
                let report = match &result {
                    Ok(report) => {
                        solved += usize::from(is_answer(robot, target, &out));
                        report
                    }
                    Err(error) => error.report().expect("inputs are fine"),
                };
                starts += report.starts;
                iterations += report.iterations;
            }
        }
        times.push(best);
    }
    let count = targets.len() as f64;
    row(case.label, label, 100.0 * solved as f64 / count, &mut times);
    println!("  {:.1} starts, {:.1} iterations", f64::from(starts) / count, f64::from(iterations) / count);
}

fn track(case: &Case, robot: &Robot) {
    let options = IkOptions::default();
    let mut previous = lissajous(robot, 0, STEPS);
    let mut out = previous.clone();
    let mut times = Vec::new();
    let (mut solved, mut jumps) = (0, 0);
    for i in 0..STEPS {
        let target = robot.forward(&lissajous(robot, i, STEPS));
        let mut best = f64::INFINITY;
        let mut result = None;
        for _ in 0..RUNS {
            let start = Instant::now();
            result = Some(black_box(robot.track(black_box(&target), &previous, &options, &mut out)));
            best = best.min(start.elapsed().as_nanos() as f64 / 1e3);
        }
        times.push(best);
        if matches!(result, Some(Ok(_))) && is_answer(robot, &target, &out) {
            solved += 1;
        }
        jumps += usize::from(out.iter().zip(&previous).any(|(a, b)| (a - b).abs() > 0.5 + 1e-9));
        previous.copy_from_slice(&out);
    }
    row(case.label, "tracking", 100.0 * solved as f64 / STEPS as f64, &mut times);
    println!("  {jumps} jumps above 0.5");
}

fn is_answer(robot: &Robot, target: &Isometry3<f64>, q: &[f64]) -> bool {
    let reached = robot.forward(q);
    let off = (target.translation.vector - reached.translation.vector).norm();
    let turned = target.rotation.angle_to(&reached.rotation);
    let inside = robot.joints().iter().zip(q).all(|(joint, q)| (joint.lower..=joint.upper).contains(q));
    // The quaternion angle itself is uncertain by some 1e-8 near zero.
    inside && off <= 1.001e-6 && turned <= 1.05e-6
}

fn row(robot: &str, set: &str, success: f64, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    print!("{robot:<14}{set:<22}{success:>10.2}{:>9.2}{:>9.1}{:>9.1}", at(0.5), at(0.99), at(1.0));
}
