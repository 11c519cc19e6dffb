//! A step of the pipeline does not allocate: not at rest, not in any motion, not at an error. A separate test binary,
//! because the counting allocator applies to the whole process, and without the harness, whose thread allocates too.

use dragoman_kinematics::motion::{Axis, CommandMode, Event, MotionConfig, Pipeline, RawPose, Workspace};
use dragoman_kinematics::{Model, Robot};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

const PERIOD: Duration = Duration::from_micros(19_440);

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

struct Arm {
    pipeline: Pipeline,
    time: Duration,
    measured: [f64; 6],
    diverged: bool,
    finished: bool,
}

impl Arm {
    /// Counts the allocations of `count` steps, with an arm that follows at once.
    fn allocations(&mut self, count: usize, enabled: bool) -> usize {
        let region = Region::new(ALLOCATOR);
        for _ in 0..count {
            self.time += PERIOD;
            let step = self.pipeline.step(self.time, &self.measured, enabled);
            if let Some(command) = step.command {
                self.measured.copy_from_slice(command);
            }
            self.diverged |= step.events.iter().any(|event| matches!(event, Event::IkDivergence { .. }));
            self.finished |= step.events.iter().any(|event| matches!(event, Event::SequenceFinished));
        }
        let change = region.change();
        change.allocations + change.reallocations + change.deallocations
    }
}

fn main() {
    let model = Model::from_dh_yaml(include_str!("data/ranger_mk1.yaml")).unwrap();
    let config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
    let pipeline = Pipeline::new(Robot::new(&model).unwrap(), config).unwrap();
    let home = [FRAC_PI_2, 0.0, FRAC_PI_2, 0.0, FRAC_PI_2, 0.0];
    let mut arm = Arm { pipeline, time: Duration::ZERO, measured: home, diverged: false, finished: false };
    assert_eq!(arm.allocations(5, true), 0, "mode off");

    arm.pipeline.set_command_mode(CommandMode::Cartesian);
    assert_eq!(arm.allocations(5, true), 0, "mode switch and rest");
    let here = arm.pipeline.robot().forward(&arm.measured);
    for (index, height) in [0.05, 0.1].into_iter().enumerate() {
        let mut pose = here;
        pose.translation.z += height;
        arm.pipeline.set_via_point(index, &RawPose::from(&pose), 0.0).unwrap();
    }
    arm.pipeline.execute_via_points().unwrap();
    assert_eq!(arm.allocations(900, true), 0, "via points");
    assert!(arm.finished);
    arm.pipeline.begin_circle(0.03, 10.0, [Axis::Z, Axis::X]).unwrap();
    assert_eq!(arm.allocations(300, true), 0, "circle");
    arm.pipeline.stop();
    assert_eq!(arm.allocations(30, true), 0, "stop");
    arm.pipeline.set_twist([0.0, 0.0, 0.02], [0.0; 3]).unwrap();
    assert_eq!(arm.allocations(200, true), 0, "twist and its time-out");
    let mut far = here;
    far.translation.y = 4.0;
    arm.pipeline.set_goal_pose(&RawPose::from(&far), 0.0).unwrap();
    arm.pipeline.begin_motion().unwrap();
    assert_eq!(arm.allocations(6_000, true), 0, "unreachable goal");
    assert!(arm.diverged);
    assert_eq!(arm.allocations(5, false), 0, "disabled");

    arm.pipeline.set_command_mode(CommandMode::Joint);
    arm.pipeline.set_joint_via_point(0, &home, 0.0).unwrap();
    arm.pipeline.execute_joint_via_points().unwrap_err();
    assert_eq!(arm.allocations(5, true), 0, "enabled");
    arm.pipeline.execute_joint_via_points().unwrap();
    arm.finished = false;
    assert_eq!(arm.allocations(3_000, true), 0, "joint via points");
    assert!(arm.finished);

    avoiding_singularities();
}

/// Twists and lines of an arm with eight joints that turns away from singularities.
fn avoiding_singularities() {
    let robot = Robot::new(&Model::from_dh_yaml(include_str!("data/ranger_mk2.yaml")).unwrap()).unwrap();
    let options =
        MotionConfig { singularity_margin: 1.0, null_space_rate: 0.2, ..MotionConfig::for_robot(&robot) };
    let mut pipeline = Pipeline::new(robot, options).unwrap();
    let mut measured = [0.1, 0.25, 0.1, 0.3, 0.1, -0.3, 0.4, 0.0];
    let mut time = Duration::ZERO;
    let mut moved = 0;
    for cycle in 0..300 {
        match cycle {
            5 => pipeline.set_command_mode(CommandMode::Cartesian),
            20 => pipeline.set_twist([0.02, 0.0, 0.01], [0.0; 3]).unwrap(),
            100 => {
                let mut pose = pipeline.robot().forward(&measured);
                pose.translation.z -= 0.02;
                pipeline.set_goal_pose(&RawPose::from(&pose), 0.0).unwrap();
                pipeline.begin_motion().unwrap();
            }
            _ => {}
        }
        time += PERIOD;
        let region = Region::new(ALLOCATOR);
        let step = pipeline.step(time, &measured, true);
        if let Some(command) = step.command {
            moved += usize::from(*command != measured);
            measured.copy_from_slice(command);
        }
        let change = region.change();
        assert_eq!(change.allocations + change.reallocations + change.deallocations, 0, "cycle {cycle}");
    }
    assert!(moved > 50, "{moved}");
}
