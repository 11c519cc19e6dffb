//! Random commands, times, drives and measurements: nothing may panic, become NaN, or leave its limits. The virtual arm
//! checks that in every cycle; a failure prints the case, which proptest also keeps for the next run.

use super::lab::{HOME, Lab, PERIOD, REACHING, ranger_mk1, robot};
use dragoman_kinematics::Robot;
use dragoman_kinematics::motion::{Axis, CommandMode, MotionConfig, RawPose, Workspace};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Action {
    Mode(CommandMode),
    Stop,
    ResetJoints,
    Goal(RawPose, f64),
    Begin,
    JointGoal(Vec<f64>, f64),
    BeginJoint,
    Via(usize, RawPose, f64),
    JointVia(usize, Vec<f64>, f64),
    Execute,
    ExecuteJoint,
    Clear,
    Circle(f64, f64, [Axis; 2]),
    Sinusoid(f64, f64, Axis),
    EndShape,
    Twist([f64; 3], [f64; 3]),
    Enable(bool),
    Block(bool),
    Lag(usize),
    Cycles(usize),
    Jump(f64),
    Corrupt(Vec<f64>),
}

/// Mostly valid values, sometimes arbitrary ones.
fn number(size: f64) -> impl Strategy<Value = f64> {
    prop_oneof![20 => -size..size, 1 => any::<f64>()]
}

fn pose() -> impl Strategy<Value = RawPose> {
    let position = [number(1.2), number(1.2), number(1.2)];
    let quaternion = [number(1.0), number(1.0), number(1.0), number(1.0)];
    (position, quaternion).prop_map(|(position, quaternion)| RawPose { position, quaternion })
}

fn joints() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![20 => prop::collection::vec(number(4.0), 6), 1 => prop::collection::vec(number(4.0), 0..9)]
}

fn axis() -> impl Strategy<Value = Axis> {
    prop_oneof![Just(Axis::X), Just(Axis::Y), Just(Axis::Z)]
}

fn action() -> impl Strategy<Value = Action> {
    let mode = prop_oneof![1 => Just(CommandMode::Off), 3 => Just(CommandMode::Joint), 6 => Just(CommandMode::Cartesian)];
    let near_home = prop::collection::vec(-0.4..0.4, 6)
        .prop_map(|offsets| HOME.iter().zip(&offsets).map(|(home, offset)| home + offset).collect());
    prop_oneof![
        2 => mode.prop_map(Action::Mode),
        1 => Just(Action::Stop),
        1 => Just(Action::ResetJoints),
        3 => (pose(), number(20.0)).prop_map(|(pose, time)| Action::Goal(pose, time)),
        4 => Just(Action::Begin),
        2 => (joints(), number(20.0)).prop_map(|(q, time)| Action::JointGoal(q, time)),
        2 => (near_home, number(20.0)).prop_map(|(q, time)| Action::JointGoal(q, time)),
        3 => Just(Action::BeginJoint),
        2 => (0..22_usize, pose(), number(9.0)).prop_map(|(i, pose, time)| Action::Via(i, pose, time)),
        2 => (0..22_usize, joints(), number(9.0)).prop_map(|(i, q, time)| Action::JointVia(i, q, time)),
        2 => Just(Action::Execute),
        2 => Just(Action::ExecuteJoint),
        1 => Just(Action::Clear),
        2 => (number(0.3), number(20.0), [axis(), axis()]).prop_map(|(r, t, axes)| Action::Circle(r, t, axes)),
        2 => (number(0.3), number(20.0), axis()).prop_map(|(a, t, axis)| Action::Sinusoid(a, t, axis)),
        1 => Just(Action::EndShape),
        4 => ([number(0.1), number(0.1), number(0.1)], [number(0.1), number(0.1), number(0.1)])
            .prop_map(|(linear, angular)| Action::Twist(linear, angular)),
        1 => prop::bool::weighted(0.8).prop_map(Action::Enable),
        1 => prop::bool::weighted(0.2).prop_map(Action::Block),
        1 => (0..8_usize).prop_map(Action::Lag),
        12 => (1..120_usize).prop_map(Action::Cycles),
        1 => number(100.0).prop_map(Action::Jump),
        1 => joints().prop_map(Action::Corrupt),
    ]
}

fn perform(lab: &mut Lab, action: &Action) {
    let pipeline = &mut lab.pipeline;
    // Refusals are expected.
    let _ = match action {
        Action::Goal(pose, time) => pipeline.set_goal_pose(pose, *time),
        Action::Begin => pipeline.begin_motion(),
        Action::JointGoal(q, time) => pipeline.set_joint_goal(q, *time),
        Action::BeginJoint => pipeline.begin_joint_motion(),
        Action::Via(index, pose, time) => pipeline.set_via_point(*index, pose, *time),
        Action::JointVia(index, q, time) => pipeline.set_joint_via_point(*index, q, *time),
        Action::Execute => pipeline.execute_via_points(),
        Action::ExecuteJoint => pipeline.execute_joint_via_points(),
        Action::Circle(radius, period, axes) => pipeline.begin_circle(*radius, *period, *axes),
        Action::Sinusoid(amplitude, period, axis) => pipeline.begin_sinusoid(*amplitude, *period, *axis),
        Action::EndShape => pipeline.end_shape(),
        Action::Twist(linear, angular) => pipeline.set_twist(*linear, *angular),
        _ => Ok(()),
    };
    match action {
        Action::Mode(mode) => lab.pipeline.set_command_mode(*mode),
        Action::Stop => lab.pipeline.stop(),
        Action::ResetJoints => lab.pipeline.reset_joint_motion(),
        Action::Clear => {
            lab.pipeline.clear_via_points();
            lab.pipeline.clear_joint_via_points();
        }
        Action::Enable(enabled) => lab.enabled = *enabled,
        Action::Block(blocked) => lab.blocked = *blocked,
        Action::Lag(lag) => lab.lag = *lag,
        Action::Cycles(count) => {
            lab.cycles(*count);
        }
        Action::Jump(seconds) => {
            let now = lab.now();
            let there = now.as_secs_f64() + seconds;
            lab.cycle_at(Duration::try_from_secs_f64(there).unwrap_or(Duration::MAX), 0.1);
            // Back again, which is a jump as well.
            lab.cycle_at(now, 0.1);
        }
        Action::Corrupt(measured) => {
            let good = std::mem::replace(&mut lab.measured, measured.clone());
            if good.len() == measured.len() && measured.iter().all(|q| q.is_finite()) {
                lab.measured = good;
            } else {
                let step = lab.pipeline.step(lab.now(), &lab.measured, lab.enabled);
                assert!(step.command.is_none_or(|command| command.iter().all(|q| q.is_finite())));
                lab.measured = good;
            }
        }
        _ => {
            lab.cycle();
        }
    }
}

fn storm(robot: Robot, config: MotionConfig, start: &[f64], actions: &[Action]) {
    let mut lab = Lab::ready(robot, config, start, CommandMode::Cartesian);
    for action in actions {
        perform(&mut lab, action);
        lab.events.clear();
    }
    // In every case the arm can be brought to rest.
    lab.enabled = true;
    lab.pipeline.stop();
    let start = lab.time;
    lab.run(120.0);
    assert!(lab.time - start < 120.0 + PERIOD);
}

/// 48, or the number in the environment.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn any_commands_with_the_thesis_figures(actions in prop::collection::vec(action(), 1..80)) {
        storm(ranger_mk1(), MotionConfig::default(), &HOME, &actions);
    }

    #[test]
    fn any_commands_with_a_fast_arm(actions in prop::collection::vec(action(), 1..80)) {
        let mut config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
        config.cartesian.max_velocity = [1.0; 6];
        config.cartesian.max_acceleration = [3.0; 6];
        storm(ranger_mk1(), config, &REACHING, &actions);
    }

    #[test]
    fn any_commands_with_sliding_joints(actions in prop::collection::vec(action(), 1..80)) {
        let robot = robot(include_str!("../../data/platform_arm.yaml"));
        let config = MotionConfig::for_robot(&robot);
        storm(robot, config, &[0.0, 0.0, 0.2, 0.6, 0.8, 0.0], &actions);
    }

    #[test]
    fn any_commands_with_a_redundant_arm_that_avoids_singularities(actions in prop::collection::vec(action(), 1..80)) {
        let robot = robot(include_str!("../../data/ranger_mk2.yaml"));
        let config =
            MotionConfig { singularity_margin: 0.01, null_space_rate: 0.5, ..MotionConfig::for_robot(&robot) };
        storm(robot, config, &[0.1, 0.25, 0.1, 0.3, 0.1, -0.3, 0.4, 0.0], &actions);
    }
}
