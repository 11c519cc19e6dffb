//! Workspace and joint limits.

use super::lab::{HOME, Lab, PERIOD, REACHING, configuration, level, ranger_mk1};
use dragoman_kinematics::motion::{
    AxisBox, CommandMode, Event, MotionConfig, Rejected, Violation, Workspace,
};
use nalgebra::{Isometry3, Translation3};

const YAW: f64 = std::f64::consts::FRAC_PI_2;

/// Ranger Mark I at (0, 0.6, 0.5), level, with a wall that begins at x = 0.1.
fn walled() -> (Lab, Isometry3<f64>) {
    let robot = ranger_mk1();
    let start = level([0.0, 0.6, 0.5], YAW);
    let wall = AxisBox { x: [0.1, 0.102], y: [-2.0, 2.0], z: [-2.0, 2.0] };
    let workspace = Workspace { forbidden: vec![wall], ..Workspace::unlimited() };
    let config = MotionConfig { workspace, ..MotionConfig::default() };
    let q = configuration(&robot, &start, &REACHING);
    (Lab::ready(robot, config, &q, CommandMode::Cartesian), start)
}

#[test]
fn a_setpoint_never_enters_a_box_and_the_motion_is_aborted_with_one_event() {
    let (mut lab, start) = walled();
    lab.go(&level([0.2, 0.6, 0.5], YAW));
    let (mut previous, mut velocity) = (lab.tool().translation.vector, 0.0);
    loop {
        let status = lab.cycle();
        assert!(lab.setpoint.translation.vector.x <= 0.1);
        let speed = (lab.setpoint.translation.vector - previous).norm() / PERIOD;
        assert!((speed - velocity).abs() / PERIOD < 0.31, "braking keeps its limit");
        (previous, velocity) = (lab.setpoint.translation.vector, speed);
        if !status.moving {
            break;
        }
    }
    let limited =
        |event: &Event| matches!(event, Event::SetpointLimited { violation: Violation::ForbiddenBox(0), .. });
    assert_eq!((lab.saw(limited), lab.events.len()), (1, 2), "{:?}", lab.events);
    assert!(lab.setpoint.translation.vector.x > 0.097, "stops just before the wall");
    // A legal direction stays possible.
    lab.go(&start);
    lab.run(20.0);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1);
}

#[test]
fn a_twist_against_a_wall_stops_before_it() {
    let (mut lab, _) = walled();
    for _ in 0..1_000 {
        lab.pipeline.set_twist([0.03, 0.0, 0.0], [0.0; 3]).unwrap();
        lab.cycle();
        assert!(lab.setpoint.translation.vector.x <= 0.1);
    }
    assert!(lab.setpoint.translation.vector.x > 0.09);
}

#[test]
fn a_measured_pose_in_violation_refuses_cartesian_motion_until_driven_out_by_joints() {
    let (mut lab, start) = walled();
    lab.go(&level([0.09, 0.6, 0.5], YAW));
    lab.cycles(100);
    // An external force pushes the arm into the wall.
    lab.blocked = true;
    let inside = configuration(lab.pipeline.robot(), &level([0.101, 0.6, 0.5], YAW), &lab.measured);
    let outside = lab.measured.clone();
    lab.measured = inside.clone();
    let status = lab.cycle();
    assert_eq!(status.violation, Some(Violation::ForbiddenBox(0)));
    lab.cycles(20);
    assert_eq!(lab.saw(|event| matches!(event, Event::WorkspaceViolated { .. })), 1);
    assert_eq!(lab.saw(|event| *event == Event::MotionStopped), 1);
    assert!(matches!(lab.pipeline.begin_motion(), Err(Rejected::InViolation { .. })));
    assert!(matches!(lab.pipeline.set_twist([0.01, 0.0, 0.0], [0.0; 3]), Err(Rejected::InViolation { .. })));
    // In joint mode the violation is reported but motion is possible.
    lab.pipeline.set_command_mode(CommandMode::Joint);
    lab.cycles(3);
    lab.blocked = false;
    lab.pipeline.set_joint_goal(&outside, 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.run(20.0);
    assert_eq!(lab.saw(|event| *event == Event::WorkspaceClear), 1);
    lab.pipeline.set_command_mode(CommandMode::Cartesian);
    lab.cycles(3);
    lab.go(&start);
    lab.run(30.0);
    assert_eq!(lab.saw(|event| matches!(event, Event::WorkspaceViolated { .. })), 1);
}

#[test]
fn a_joint_motion_into_a_box_is_reported_and_goes_on() {
    let (mut lab, _) = walled();
    let goal = configuration(lab.pipeline.robot(), &level([0.2, 0.6, 0.5], YAW), &lab.measured);
    lab.pipeline.set_command_mode(CommandMode::Joint);
    lab.pipeline.set_joint_goal(&goal, 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.period = 0.005;
    lab.run(60.0);
    assert_eq!(lab.measured, goal);
    assert_eq!(lab.saw(|event| matches!(event, Event::WorkspaceViolated { .. })), 1);
    assert_eq!(lab.saw(|event| *event == Event::WorkspaceClear), 1);
}

#[test]
fn leaving_the_outer_bounds_is_prevented_with_the_thesis_figures() {
    let robot = ranger_mk1();
    let start = level([-0.7, 0.4, 0.5], YAW);
    let q = configuration(&robot, &start, &REACHING);
    let mut lab = Lab::ready(robot, MotionConfig::default(), &q, CommandMode::Cartesian);
    lab.go(&Isometry3::from_parts(Translation3::new(-0.9, 0.4, 0.5), start.rotation));
    lab.run(30.0);
    let limited =
        |event: &Event| matches!(event, Event::SetpointLimited { violation: Violation::OutOfBounds, .. });
    assert_eq!(lab.saw(limited), 1);
    assert!(lab.tool().translation.vector.x >= -0.8);
}

#[test]
fn joint_goals_beyond_a_limit_are_clamped_with_an_event() {
    let mut lab = Lab::ranger(CommandMode::Joint);
    let mut goal = HOME;
    goal[2] = 2.0;
    lab.pipeline.set_joint_goal(&goal, 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.run(30.0);
    let expected = Event::JointLimit { joint: 2, requested: 2.0, limit: 1.6 };
    assert_eq!(lab.events, [expected, Event::MotionFinished]);
    assert_eq!(lab.measured[2], 1.6);
}

#[test]
fn a_joint_found_outside_its_range_stays_and_can_only_come_back() {
    let mut outside = HOME;
    outside[2] = 1.7;
    let config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
    let mut lab = Lab::ready(ranger_mk1(), config, &outside, CommandMode::Joint);
    lab.cycles(50);
    assert_eq!(lab.measured, outside, "nothing moves by itself");
    lab.pipeline.set_command_mode(CommandMode::Cartesian);
    lab.cycles(4);
    let refused = lab.pipeline.set_twist([0.0, 0.0, 0.01], [0.0; 3]);
    assert!(matches!(refused, Err(Rejected::OutsideJointLimits { joint: 2, .. })));
    lab.pipeline.set_command_mode(CommandMode::Joint);
    lab.pipeline.set_joint_goal(&HOME, 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.run(30.0);
    assert_eq!(lab.measured, HOME);
}

#[test]
fn joint_limits_can_be_narrowed_for_the_next_motion_and_widened_again() {
    let mut lab = Lab::ranger(CommandMode::Joint);
    let own = lab.pipeline.robot().joints()[3].upper;
    let mut narrow = lab.pipeline.config().clone();
    narrow.joint.upper[3] = 0.05;
    lab.pipeline.set_config(narrow.clone()).unwrap();
    let mut goal = HOME;
    goal[3] = 0.3;
    lab.pipeline.set_joint_goal(&goal, 0.0).unwrap();
    lab.pipeline.begin_joint_motion().unwrap();
    lab.run(30.0);
    assert_eq!(lab.measured[3], 0.05);
    let clamped = |event: &Event| matches!(event, Event::JointLimit { joint: 3, limit: 0.05, .. });
    assert_eq!(lab.saw(clamped), 1);

    // Inverse kinematics keeps the limit too.
    lab.pipeline.set_command_mode(CommandMode::Cartesian);
    lab.cycles(3);
    let mut beyond = HOME;
    beyond[3] = 0.2;
    let beyond = lab.pipeline.robot().forward(&beyond);
    lab.go(&beyond);
    lab.run(60.0);
    assert!(
        lab.measured[3] <= 0.05 && (lab.tool().translation.vector - beyond.translation.vector).norm() > 1e-4
    );

    let mut wide = narrow.clone();
    wide.joint.upper[3] = 9.0;
    lab.pipeline.set_config(wide).unwrap();
    assert_eq!(lab.pipeline.robot().joints()[3].upper, own, "the description's limit stays");
    for (lower, upper) in [(1.0, 1.0), (4.0, 5.0), (f64::NAN, 1.0), (0.0, f64::NAN)] {
        let mut senseless = narrow.clone();
        (senseless.joint.lower[3], senseless.joint.upper[3]) = (lower, upper);
        assert!(lab.pipeline.set_config(senseless).is_err(), "{lower} {upper}");
    }
    assert_eq!(lab.pipeline.robot().joints()[3].upper, own);
}
