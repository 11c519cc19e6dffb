//! The paths of the Ranger thesis, and targets that inverse kinematics cannot reach.

use super::lab::{Lab, PERIOD, REACHING, configuration, level, ranger_mk1, robot};
use dragoman_kinematics::Robot;
use dragoman_kinematics::motion::cartesian::pose_distance;
use dragoman_kinematics::motion::{Axis, CommandMode, Event, MotionConfig, RawPose, Workspace};
use nalgebra::{Isometry3, Point3, Vector3};

/// Limits of the simulations in the Ranger thesis, 4.6: 0.05 m/s, 0.10 m/s^2.
fn simulation(robot: &Robot) -> MotionConfig {
    let mut config = MotionConfig::for_robot(robot);
    config.cartesian.max_velocity = [0.05; 6];
    config.cartesian.max_acceleration = [0.10; 6];
    config
}

/// Runs through `corners` (first = start) as via points and returns the maximum distance of the commanded tool from
/// the straight line between the corners (m), the maximum angle from the attitude (rad), and the time taken (s).
fn trace(lab: &mut Lab, corners: &[Isometry3<f64>], durations: &[f64]) -> (f64, f64, f64) {
    for (index, (corner, duration)) in corners.iter().skip(1).zip(durations).enumerate() {
        lab.pipeline.set_via_point(index, &RawPose::from(corner), *duration).unwrap();
    }
    lab.pipeline.execute_via_points().unwrap();
    let (mut deviation, mut tilt, start) = (0.0_f64, 0.0_f64, lab.time);
    loop {
        let status = lab.cycle();
        let tool = lab.pipeline.robot().forward(lab.command.as_ref().unwrap());
        if let Some(index) = status.via_point {
            let [from, to] = [corners[index], corners[index + 1]].map(|pose| pose.translation.vector);
            let direction = (to - from).normalize();
            let offset = tool.translation.vector - from;
            deviation = deviation.max((offset - direction * offset.dot(&direction)).norm());
            tilt = tilt.max(tool.rotation.angle_to(&corners[0].rotation));
        }
        assert!(lab.time - start < 300.0);
        if !status.moving {
            break;
        }
    }
    assert_eq!(lab.saw(|event| *event == Event::SequenceFinished), 1, "{:?} {:?}", lab.events, lab.measured);
    lab.cycles(lab.lag + 1);
    assert!(pose_distance(&lab.tool(), corners.last().unwrap()) < 1e-6);
    (deviation, tilt, lab.time - start)
}

fn rectangle(yaw: f64) -> [Isometry3<f64>; 5] {
    let corners = [[0.5, 0.2, 0.1], [0.5, 0.2, 0.4], [0.5, -0.2, 0.4], [0.5, -0.2, 0.1], [0.5, 0.2, 0.1]];
    corners.map(|position| level(position, yaw))
}

#[test]
fn rectangle_of_section_4_6_on_platform_and_arm() {
    let robot = robot(include_str!("../../data/platform_arm.yaml"));
    let corners = rectangle(0.0);
    let start = configuration(&robot, &corners[0], &[0.0, 0.0, 0.1, 0.5, 0.5, 0.0]);
    let config = simulation(&robot);
    let mut lab = Lab::ready(robot, config, &start, CommandMode::Cartesian);
    let (deviation, tilt, time) = trace(&mut lab, &corners, &[0.0; 4]);
    println!("platform and arm: {:.3} um, {:.3} urad, {time:.1} s", deviation * 1e6, tilt * 1e6);
    assert!(deviation < 1e-6 && tilt < 1e-6);
}

#[test]
fn rectangle_of_section_4_6_on_ranger_mark_ii() {
    let robot = robot(include_str!("../../data/ranger_mk2.yaml"));
    let corners = rectangle(0.0);
    let start = configuration(&robot, &corners[0], &[0.0, 0.8, 0.1, 1.2, 0.0, 0.3, 0.3, 0.0]);
    let config = simulation(&robot);
    for lag in [0, 5] {
        let mut lab = Lab::ready(robot.clone(), config.clone(), &start, CommandMode::Cartesian);
        lab.lag = lag;
        let (deviation, tilt, time) = trace(&mut lab, &corners, &[0.0; 4]);
        println!("Mark II, lag {lag}: {:.3} um, {:.3} urad, {time:.1} s", deviation * 1e6, tilt * 1e6);
        assert!(deviation < 1e-6 && tilt < 1e-6, "lag of the drives does not show in the path");
    }
}

/// The Ranger thesis prints neither the limits of Mark II nor the configuration that its rectangle started from, so it
/// must run to its end from any: with limits other than a turn it stopped at joint 4 from some.
#[test]
fn rectangle_of_section_4_6_on_ranger_mark_ii_from_any_configuration() {
    let robot = robot(include_str!("../../data/ranger_mk2.yaml"));
    let corners = rectangle(0.0);
    let config = simulation(&robot);
    for elbow in [0.8, 1.2, 1.8, 2.4] {
        for roll in [-0.6, 0.0, 0.6] {
            let seed = [roll, 0.8 - 0.3 * elbow, 0.1, elbow, roll, 0.3, 0.3, -roll];
            let start = configuration(&robot, &corners[0], &seed);
            let mut lab = Lab::ready(robot.clone(), config.clone(), &start, CommandMode::Cartesian);
            let (deviation, tilt, _) = trace(&mut lab, &corners, &[0.0; 4]);
            assert!(deviation < 1e-6 && tilt < 1e-6, "from {seed:?}");
        }
    }
}

/// Ranger thesis, 4.5: a rectangle parallel to the x-z plane at y = 0.58 m, level attitude, through (0, 0.58, 0.40).
/// The sides follow from the durations, 2 s and 5 s, at slightly more than 0.1 m/s: 0.2 m and 0.5 m.
#[test]
fn rectangle_of_section_4_5_on_ranger_mark_i() {
    // The drives' own limit, about 0.9 rad/s in the Ranger thesis, 4.5.4; the table holds that of planned joint
    // motions.
    let table = include_str!("../../data/ranger_mk1.yaml");
    let robot = robot(&["0.07", "0.08", "0.1"].iter().fold(table.to_owned(), |table, rate| {
        table.replace(&format!("velocity: {rate},"), "velocity: 0.9,")
    }));
    let corners =
        [[0.25, 0.58, 0.4], [0.25, 0.58, 0.6], [-0.25, 0.58, 0.6], [-0.25, 0.58, 0.4], [0.25, 0.58, 0.4]]
            .map(|position| level(position, std::f64::consts::FRAC_PI_2));
    let start = configuration(&robot, &corners[0], &REACHING);
    let mut config = MotionConfig::default();
    config.cartesian.max_velocity[..3].fill(0.15);
    config.cartesian.max_acceleration[..3].fill(0.3);
    config.joint.max_rate.fill(0.9);
    let mut lab = Lab::ready(robot, config, &start, CommandMode::Cartesian);
    let (deviation, tilt, time) = trace(&mut lab, &corners, &[2.0, 5.0, 2.0, 5.0]);
    println!("Mark I: {:.3} um, {:.3} urad, {time:.1} s", deviation * 1e6, tilt * 1e6);
    assert!(deviation < 1e-6 && tilt < 1e-6);
    assert!((14.0..14.2).contains(&time), "the requested durations");
}

#[test]
fn an_unreachable_goal_is_approached_until_inverse_kinematics_fails() {
    let robot = ranger_mk1();
    let start = level([0.0, 0.6, 0.5], std::f64::consts::FRAC_PI_2);
    let q = configuration(&robot, &start, &REACHING);
    let config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
    let mut lab = Lab::ready(robot, config, &q, CommandMode::Cartesian);
    let goal = Isometry3::from_parts(nalgebra::Translation3::new(-0.5, 4.0, 0.7), start.rotation);
    lab.go(&goal);
    let distance = |pose: &Isometry3<f64>| (pose.translation.vector - goal.translation.vector).norm();
    let line = (goal.translation.vector - start.translation.vector).normalize();
    let mut previous = distance(&start);
    loop {
        let status = lab.cycle();
        let tool = lab.tool();
        assert!(distance(&tool) <= previous + 1e-6, "never further from the goal");
        let offset = tool.translation.vector - start.translation.vector;
        assert!((offset - line * offset.dot(&line)).norm() < 1e-4, "never off the line");
        previous = distance(&tool);
        if !status.moving {
            break;
        }
    }
    assert_eq!(lab.saw(|event| matches!(event, Event::IkDivergence { .. })), 1);
    let reach = (lab.tool().translation.vector - Vector3::new(0.0, 0.0, 0.2491)).norm();
    println!("stopped {previous:.3} m from the goal, {reach:.3} m from the shoulder");
    assert!(reach > 1.0, "nearly stretched: {reach}");
    // The arm is still usable.
    lab.events.clear();
    lab.go(&start);
    lab.run(200.0);
    assert!(
        pose_distance(&lab.tool(), &start) < 1e-5 && lab.saw(|event| *event == Event::MotionFinished) == 1
    );
}

#[test]
fn a_circle_and_a_sinusoid_of_section_4_5() {
    let robot = ranger_mk1();
    let at = level([0.2, 0.62, 0.52], std::f64::consts::FRAC_PI_2);
    let start = configuration(&robot, &at, &REACHING);
    let mut config = MotionConfig::default();
    config.cartesian.max_velocity = [0.5; 6];
    config.cartesian.max_acceleration = [1.0; 6];
    let mut lab = Lab::ready(robot, config, &start, CommandMode::Cartesian);
    lab.pipeline.begin_circle(0.2, 20.0, [Axis::X, Axis::Z]).unwrap();
    let centre = Vector3::new(0.0, 0.62, 0.52);
    for _ in 0..1_500 {
        lab.cycle();
        let offset = lab.tool().translation.vector - centre;
        assert!((offset.norm() - 0.2).abs() < 1e-6 && offset.y.abs() < 1e-6);
    }
    assert!(lab.events.is_empty(), "{:?}", lab.events);
    lab.pipeline.end_shape().unwrap();
    lab.run(60.0);
    assert!(pose_distance(&lab.tool(), &at) < 1e-6);
    lab.pipeline.begin_sinusoid(0.1, 10.0, Axis::X).unwrap();
    let mut reach = 0.0_f64;
    for _ in 0..1_500 {
        lab.cycle();
        reach = reach.max((lab.tool().translation.vector - at.translation.vector).x);
    }
    assert!((reach - 0.1).abs() < 1e-4);
    lab.pipeline.end_shape().unwrap();
    lab.run(60.0);
    assert!(pose_distance(&lab.tool(), &at) < 1e-6);
    assert!(lab.pipeline.end_shape().is_err());
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 2);
}

/// Ranger thesis, 4.5.4: on the circle of 5 s joints 4 and 6 were commanded at about 1.5 rad/s, which the drives, at
/// 0.9 rad/s, could not follow; no other joint is named. With the figures of appendix D. The thesis does not print the
/// circle's centre: this is that of the sinusoids.
#[test]
fn the_fastest_circle_of_section_4_5_runs_at_its_own_speed() {
    let robot = ranger_mk1();
    let at = level([0.2, 0.62, 0.52], std::f64::consts::FRAC_PI_2);
    let start = configuration(&robot, &at, &REACHING);
    let fastest = |limit_paths: bool| {
        let mut config = MotionConfig::default();
        config.joint.limit_paths = limit_paths;
        let mut lab = Lab::ready(robot.clone(), config, &start, CommandMode::Cartesian);
        lab.pipeline.begin_circle(0.2, 5.0, [Axis::X, Axis::Z]).unwrap();
        let mut rates = [0.0_f64; 6];
        // The ramp and the first turn.
        let end = lab.time + 1.125 * 5.0;
        while lab.time < end {
            let before = lab.measured.clone();
            lab.cycle();
            for (rate, (now, before)) in rates.iter_mut().zip(lab.measured.iter().zip(&before)) {
                *rate = rate.max((now - before).abs() / PERIOD);
            }
        }
        assert!(lab.events.is_empty(), "{:?}", lab.events);
        rates
    };
    let rates = fastest(false);
    println!("greatest rates, rad/s: {rates:.2?}");
    for (joint, rate) in rates.iter().enumerate() {
        let expected = if [3, 5].contains(&joint) { 1.2..2.2 } else { 0.0..0.9 };
        assert!(expected.contains(rate), "joint {}: {rate} rad/s", joint + 1);
    }
    let limited = fastest(true);
    assert!(limited.iter().all(|rate| *rate < 0.2 + 1e-9), "{limited:?}");
}

#[test]
fn a_twist_moves_the_tool_until_it_is_not_repeated() {
    let mut lab = Lab::ranger(CommandMode::Cartesian);
    let start = Point3::from(lab.tool().translation.vector);
    for _ in 0..400 {
        lab.pipeline.set_twist([0.0, 0.0, 0.02], [0.0; 3]).unwrap();
        lab.cycle();
    }
    let moved = Point3::from(lab.tool().translation.vector) - start;
    assert!(moved.xy().norm() < 1e-5 && moved.z > 0.1, "{moved}");
    assert!(lab.pipeline.begin_circle(0.1, 10.0, [Axis::X, Axis::Y]).is_err());
    lab.run(0.8);
    assert_eq!(lab.saw(|event| *event == Event::TwistTimeout), 1);
    assert_eq!(lab.saw(|event| *event == Event::MotionStopped), 1);
    // A zero twist ends the motion normally.
    lab.events.clear();
    lab.pipeline.set_twist([0.02, 0.0, 0.0], [0.0; 3]).unwrap();
    lab.cycles(10);
    lab.pipeline.set_twist([0.0; 3], [0.0; 3]).unwrap();
    lab.run(3.0);
    assert!(lab.events.is_empty(), "{:?}", lab.events);
}

/// Straight through the singular stretch of the wrist or shoulder, the joints' rates slow the tool but do not bend its
/// path.
#[test]
fn a_path_too_fast_for_the_joints_is_slowed_not_bent() {
    let robot = ranger_mk1();
    let from = level([0.0, 0.45, 0.5], std::f64::consts::FRAC_PI_2);
    let to = level([-0.3, 0.45, 0.3], std::f64::consts::FRAC_PI_2);
    let start = configuration(&robot, &from, &REACHING);
    let mut config = MotionConfig { workspace: Workspace::unlimited(), ..MotionConfig::default() };
    config.joint.limit_paths = true;
    config.cartesian.max_velocity = [1.0; 6];
    config.cartesian.max_acceleration = [5.0; 6];
    let mut lab = Lab::ready(robot, config, &start, CommandMode::Cartesian);
    lab.go(&to);
    let direction = (to.translation.vector - from.translation.vector).normalize();
    let mut slowed = 0;
    loop {
        let status = lab.cycle();
        slowed += usize::from(status.speed_scale < 1.0);
        let offset = lab.tool().translation.vector - from.translation.vector;
        assert!((offset - direction * offset.dot(&direction)).norm() < 1e-6);
        if !status.moving {
            break;
        }
    }
    assert!(slowed > 100 && pose_distance(&lab.tool(), &to) < 1e-6, "{:?}", lab.events);
}
