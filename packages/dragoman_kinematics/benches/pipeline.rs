//! Cost of one step of the motion pipeline: trajectory, workspace limit, inverse kinematics, checks, joint limits. The
//! aim is at most 20 us, a thousandth of the Ranger thesis' period of 19.44 ms.

use criterion::{Criterion, criterion_group, criterion_main};
use dragoman_kinematics::motion::{Axis, AxisBox, CommandMode, MotionConfig, Pipeline, RawPose, Workspace};
use dragoman_kinematics::{Model, Robot};
use std::hint::black_box;
use std::time::Duration;

const PERIOD: Duration = Duration::from_micros(19_440);

/// An arm that follows its commands at once.
struct Arm {
    pipeline: Pipeline,
    time: Duration,
    measured: Vec<f64>,
}

impl Arm {
    fn new(table: &str, start: &[f64], mode: CommandMode) -> Self {
        let model = Model::from_dh_yaml(table).expect("the table of a known robot");
        let robot = Robot::new(&model).expect("a known robot");
        let mut config = MotionConfig::for_robot(&robot);
        // A zone to be checked, but far from the path.
        let zone = AxisBox { x: [2.0, 3.0], y: [2.0, 3.0], z: [2.0, 3.0] };
        config.workspace = Workspace { forbidden: vec![zone; 4], ..Workspace::unlimited() };
        config.cartesian.max_velocity = [0.05; 6];
        config.cartesian.max_acceleration = [0.1; 6];
        let pipeline = Pipeline::new(robot, config).expect("a valid configuration");
        let mut arm = Self { pipeline, time: Duration::ZERO, measured: start.to_vec() };
        arm.step();
        arm.pipeline.set_command_mode(mode);
        (0..5).for_each(|_| arm.step());
        arm
    }

    fn step(&mut self) {
        self.time += PERIOD;
        let step = self.pipeline.step(black_box(self.time), &self.measured, true);
        if let Some(command) = step.command {
            self.measured.copy_from_slice(command);
        }
        black_box(step.status);
    }
}

fn steps(criterion: &mut Criterion) {
    let robots = [
        ("ranger_mk1", include_str!("../tests/data/ranger_mk1.yaml"), vec![1.57, 0.3, 1.0, 0.0, 1.8, 0.0]),
        ("platform_arm", include_str!("../tests/data/platform_arm.yaml"), vec![0.0, 0.0, 0.2, 0.6, 0.8, 0.0]),
        (
            "ranger_mk2",
            include_str!("../tests/data/ranger_mk2.yaml"),
            vec![0.0, 0.8, 0.1, 1.2, 0.0, 0.3, 0.3, 0.0],
        ),
    ];
    let mut group = criterion.benchmark_group("pipeline_step");
    for (name, table, start) in robots {
        let mut arm = Arm::new(table, &start, CommandMode::Cartesian);
        group.bench_function(format!("{name}/rest"), |bencher| bencher.iter(|| arm.step()));
        arm.pipeline.begin_circle(0.05, 10.0, [Axis::Z, Axis::Y]).expect("an arm at rest");
        group.bench_function(format!("{name}/circle"), |bencher| bencher.iter(|| arm.step()));
        assert_ne!(arm.pipeline.end_shape(), Err(dragoman_kinematics::motion::Rejected::NoShape));

        let mut arm = Arm::new(table, &start, CommandMode::Cartesian);
        let here = arm.pipeline.robot().forward(&start);
        let mut there = here;
        there.translation.z += 0.05;
        let mut up = false;
        group.bench_function(format!("{name}/line"), |bencher| {
            bencher.iter(|| {
                // To and fro; begin is refused during the motion, which costs almost nothing.
                if arm.pipeline.begin_motion().is_ok() || arm.time < Duration::from_secs(1) {
                    up = !up;
                    let goal = RawPose::from(if up { &there } else { &here });
                    arm.pipeline.set_goal_pose(&goal, 0.0).expect("a valid goal");
                }
                arm.step();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
