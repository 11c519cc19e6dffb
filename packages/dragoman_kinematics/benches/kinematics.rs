//! Criterion benches of single calls; `table.rs` prints success rates and percentiles over whole sets.

mod common;

use common::{CASES, Random, lissajous};
use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_kinematics::IkOptions;
use std::hint::black_box;

const POSES: usize = 1000;

fn forward(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("forward_and_jacobian");
    for case in &CASES {
        let robot = case.robot();
        let mut random = Random(1);
        let configurations: Vec<_> = (0..POSES).map(|_| random.configuration(&robot)).collect();
        let mut jacobian = vec![0.0; 6 * robot.joint_count()];
        let mut next = configurations.iter().cycle();
        group.bench_function(case.label, |bencher| {
            bencher.iter(|| next.next().map(|q| black_box(robot.jacobian(black_box(q), &mut jacobian))));
        });
    }
}

fn inverse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("inverse");
    for case in &CASES {
        let robot = case.robot();
        let mut random = Random(1);
        let targets: Vec<_> = (0..POSES).map(|_| robot.forward(&random.configuration(&robot))).collect();
        let (options, mut out) = (IkOptions::default(), vec![0.0; robot.joint_count()]);
        let mut next = targets.iter().cycle();
        group.bench_function(case.label, |bencher| {
            bencher.iter(|| {
                next.next().map(|target| robot.inverse(black_box(target), case.home, &options, &mut out))
            });
        });
    }
}

fn track(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("track");
    for case in &CASES {
        let robot = case.robot();
        let path: Vec<_> = (0..POSES).map(|i| lissajous(&robot, i, 10 * POSES)).collect();
        let targets: Vec<_> = path.iter().skip(1).map(|q| robot.forward(q)).collect();
        let (options, mut out) = (IkOptions::default(), vec![0.0; robot.joint_count()]);
        let mut next = path.iter().zip(&targets).cycle();
        group.bench_function(case.label, |bencher| {
            bencher.iter(|| {
                next.next().map(|(q, target)| robot.track(black_box(target), q, &options, &mut out))
            });
        });
    }
}

criterion_group!(benches, forward, inverse, track);
criterion_main!(benches);
