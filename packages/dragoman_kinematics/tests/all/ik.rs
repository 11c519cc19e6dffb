//! Inverse kinematics: every answer is checked by forward kinematics and the joint limits, never by the solver.

use crate::common::{Random, TABLES, lissajous, robot};
use dragoman_kinematics::{GoalMask, IkError, IkOptions, Model, Robot};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::time::Duration;

const MK1: &str = include_str!("../data/ranger_mk1.yaml");

/// No time limit, which would include the load of other processes; the number of starts is the limit in tests.
fn patient() -> IkOptions {
    IkOptions { time_limit: Duration::from_secs(10), ..IkOptions::default() }
}

fn middle(robot: &Robot) -> Vec<f64> {
    robot.joints().iter().map(|joint| 0.5 * (joint.lower + joint.upper)).collect()
}

fn is_answer(robot: &Robot, target: &Isometry3<f64>, q: &[f64]) -> bool {
    let reached = robot.forward(q);
    let off = (target.translation.vector - reached.translation.vector).norm();
    let turned = (target.rotation.inverse() * reached.rotation).scaled_axis().norm();
    within_limits(robot, q) && off < 1.01e-6 && turned < 1.01e-6
}

fn within_limits(robot: &Robot, q: &[f64]) -> bool {
    robot.joints().iter().zip(q).all(|(joint, q)| (joint.lower..=joint.upper).contains(q))
}

/// Share of targets solved from the middle of the joint ranges.
fn solved(robot: &mut Robot, targets: impl Iterator<Item = Isometry3<f64>>) -> f64 {
    let (seed, mut out) = (middle(robot), vec![0.0; robot.joint_count()]);
    let (mut good, mut all) = (0, 0);
    for target in targets {
        let result = robot.inverse(&target, &seed, &patient(), &mut out);
        assert!(within_limits(robot, &out), "{out:?}");
        assert_eq!(result.is_ok(), is_answer(robot, &target, &out), "{result:?} for {out:?}");
        all += 1;
        good += usize::from(result.is_ok());
    }
    f64::from(good as u32) / f64::from(all as u32)
}

#[test]
fn random_reachable_poses() {
    for (name, table) in TABLES {
        let mut robot = robot(table);
        let mut random = Random::announced(name, 21);
        let targets: Vec<_> = (0..1000).map(|_| robot.forward(&random.configuration(&robot))).collect();
        let share = solved(&mut robot, targets.into_iter());
        assert!(share >= 0.999, "{name}: {share}");
    }
}

#[test]
fn singular_poses() {
    // Wrist aligned, arm stretched, both; wrist and folded elbow of the Puma; shoulder and wrist of the Panda.
    let stretched = -(0.5388_f64).atan2(0.1514);
    let sets: [(&str, &[(usize, f64)]); 7] = [
        ("ranger_mk1", &[(4, PI)]),
        ("ranger_mk1", &[(2, stretched)]),
        ("ranger_mk1", &[(2, stretched), (4, PI)]),
        ("puma560", &[(4, 0.0)]),
        ("puma560", &[(2, PI - (0.4318_f64).atan2(0.0203))]),
        ("panda", &[(1, 0.0), (5, 0.0)]),
        ("ranger_mk2", &[(1, 0.0), (3, 0.0)]),
    ];
    for (i, (name, fixed)) in sets.into_iter().enumerate() {
        let (_, table) = TABLES.into_iter().find(|(other, _)| *other == name).unwrap();
        let mut robot = robot(table);
        let mut random = Random::announced(name, 30 + i as u64);
        let targets: Vec<_> = (0..500)
            .map(|_| {
                let mut q = random.configuration(&robot);
                for (joint, value) in fixed {
                    q[*joint] = *value;
                }
                robot.forward(&q)
            })
            .collect();
        let share = solved(&mut robot, targets.into_iter());
        assert!(share >= 0.998, "{name} {fixed:?}: {share}");
    }
}

#[test]
fn poses_at_the_limits() {
    let mut robot = robot(MK1);
    let mut random = Random::announced("limits", 22);
    let targets: Vec<_> = (0..500)
        .map(|i| {
            let mut q = random.configuration(&robot);
            let joint = &robot.joints()[i % 6];
            q[i % 6] = if i % 2 == 0 { joint.lower } else { joint.upper };
            robot.forward(&q)
        })
        .collect();
    let share = solved(&mut robot, targets.into_iter());
    assert!(share >= 0.998, "{share}");
}

#[test]
fn the_seed_decides_between_equal_answers() {
    let mut robot = robot(MK1);
    let mut out = [0.0; 6];
    let q = [-3.0, 0.9, -0.4, 2.9, 1.9, -3.0];
    let target = robot.forward(&q);
    let mut near = q;
    near.iter_mut().for_each(|value| *value += 0.05);
    robot.inverse(&target, &near, &patient(), &mut out).unwrap();
    for (answer, expected) in out.iter().zip(&q) {
        assert!((answer - expected).abs() < 1e-4, "{out:?}");
    }
    // Joint 1 has more than a turn: the answer comes back on the seed's side.
    near[0] += TAU;
    robot.inverse(&target, &near, &patient(), &mut out).unwrap();
    assert!((out[0] - (q[0] + TAU)).abs() < 1e-4, "{out:?}");
    // A seed outside the limits is brought inside first.
    robot.inverse(&target, &[50.0, -50.0, 9.0, 9.0, -9.0, 9.0], &patient(), &mut out).unwrap();
    assert!(is_answer(&robot, &target, &out));
}

#[test]
fn the_same_question_has_the_same_answer() {
    let mut robot = robot(include_str!("../data/panda.yaml"));
    let mut random = Random::announced("repeat", 23);
    for _ in 0..50 {
        let target = robot.forward(&random.configuration(&robot));
        let seed = random.configuration(&robot);
        let (mut first, mut second) = ([0.0; 7], [0.0; 7]);
        let one = robot.inverse(&target, &seed, &patient(), &mut first);
        let other = robot.clone().inverse(&target, &seed, &patient(), &mut second);
        assert_eq!(one, other);
        assert_eq!(first, second);
    }
}

#[test]
fn unreachable_targets_leave_the_best_configuration() {
    let mut robot = robot(MK1);
    let seed = middle(&robot);
    let mut out = [0.0; 6];
    // The last waypoint of figure 3.2 of the Ranger thesis, at which its solver diverged.
    let target = Isometry3::from_parts(Translation3::new(-0.5, 4.0, 0.7), UnitQuaternion::identity());
    let before = (robot.forward(&seed).translation.vector - target.translation.vector).norm();
    let error = robot.inverse(&target, &seed, &patient(), &mut out).unwrap_err();
    let report = *error.report().unwrap();
    let after = (robot.forward(&out).translation.vector - target.translation.vector).norm();
    assert!((after - report.position_error).abs() < 1e-12);
    assert!(after < before && within_limits(&robot, &out), "{after} {before} {out:?}");
    // Within reach, but with an orientation outside the wrist's range.
    let mut random = Random::announced("unreachable", 24);
    for _ in 0..200 {
        let mut target = robot.forward(&random.configuration(&robot));
        target.rotation = robot.forward(&random.configuration(&robot)).rotation;
        match robot.inverse(&target, &seed, &patient(), &mut out) {
            Ok(_) => assert!(is_answer(&robot, &target, &out)),
            Err(error) => {
                assert!(error.report().unwrap().starts > 1);
                assert!(within_limits(&robot, &out));
            }
        }
    }
}

#[test]
fn the_time_limit_is_kept() {
    let mut robot = robot(MK1);
    let target = Isometry3::from_parts(Translation3::new(0.0, 0.2, 0.1), UnitQuaternion::identity());
    let options = IkOptions { time_limit: Duration::ZERO, max_starts: u32::MAX, ..IkOptions::default() };
    let error = robot.inverse(&target, &[0.0; 6], &options, &mut [0.0; 6]).unwrap_err();
    let report = error.report().unwrap();
    assert!(report.starts == 1 && report.iterations < 10, "{report:?}");
}

#[test]
fn bad_input_is_refused_and_touches_nothing() {
    let mut robot = robot(MK1);
    let (good, options) = (Isometry3::identity(), IkOptions::default());
    let mut out = [7.0; 6];
    let short = robot.inverse(&good, &[0.0; 5], &options, &mut out);
    assert_eq!(short, Err(IkError::WrongLength { name: "seed", expected: 6, got: 5 }));
    let narrow = robot.track(&good, &[0.0; 6], &options, &mut out[..3]);
    assert_eq!(narrow, Err(IkError::WrongLength { name: "out", expected: 6, got: 3 }));
    let nan = robot.inverse(&good, &[0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0], &options, &mut out);
    assert_eq!(nan, Err(IkError::NotFinite { name: "seed" }));
    let nowhere = Isometry3::translation(f64::INFINITY, 0.0, 0.0);
    assert_eq!(
        robot.track(&nowhere, &[0.0; 6], &options, &mut out),
        Err(IkError::NotFinite { name: "target" })
    );
    let twist = [0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0];
    assert_eq!(
        robot.inverse_velocity(&[0.0; 6], &twist, &mut out),
        Err(IkError::NotFinite { name: "twist" })
    );
    assert_eq!(out, [7.0; 6]);
}

#[test]
fn masked_goals() {
    let mut arm = robot(include_str!("../data/five_joint.yaml"));
    let mut random = Random::announced("masked", 25);
    let pointing = IkOptions { mask: GoalMask::POINTING, ..patient() };
    let mut out = [0.0; 5];
    let mut missed = 0;
    for _ in 0..500 {
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), TAU * random.unit());
        let target = arm.forward(&random.configuration(&arm)) * turn;
        if arm.inverse(&target, &middle(&arm), &pointing, &mut out).is_err() {
            missed += 1;
            continue;
        }
        let reached = arm.forward(&out);
        assert!((reached.translation.vector - target.translation.vector).norm() < 1.01e-6);
        let along = (reached.rotation * Vector3::z()).cross(&(target.rotation * Vector3::z())).norm();
        assert!(along < 1.01e-6 && within_limits(&arm, &out));
    }
    assert!(missed <= 1, "{missed} of 500 missed");

    let position = IkOptions { mask: GoalMask::POSITION, ..patient() };
    let mut ranger = robot(MK1);
    let mut out = [0.0; 6];
    for _ in 0..500 {
        let mut target = ranger.forward(&random.configuration(&ranger));
        target.rotation = UnitQuaternion::from_euler_angles(random.unit(), random.unit(), random.unit());
        ranger.inverse(&target, &middle(&ranger), &position, &mut out).unwrap();
        assert!((ranger.forward(&out).translation.vector - target.translation.vector).norm() < 1.01e-6);
    }
}

/// Angle by which the rotation turns about the axis of that index, once it is split into a turn about the axis and a
/// tilt of the axis.
fn twist_about(axis: usize, rotation: &UnitQuaternion<f64>) -> f64 {
    let angle = 2.0 * rotation.coords[axis].atan2(rotation.coords.w);
    angle.sin().atan2(angle.cos())
}

#[test]
fn a_goal_with_two_free_rotations_keeps_the_turn_about_the_third_axis() {
    for (name, table) in TABLES {
        let mut robot = robot(table);
        let mut out = vec![0.0; robot.joint_count()];
        for axis in 0..3 {
            let mut mask = GoalMask::POSITION;
            mask.rotation[axis] = true;
            let options = IkOptions { mask, ..patient() };
            let mut random = Random::announced(name, 27 + axis as u64);
            let mut missed = 0;
            for _ in 0..300 {
                let mut tilt = Vector3::zeros();
                tilt[(axis + 1) % 3] = 4.0 * random.unit() - 2.0;
                tilt[(axis + 2) % 3] = 4.0 * random.unit() - 2.0;
                let mut target = robot.forward(&random.configuration(&robot));
                target.rotation *= UnitQuaternion::new(tilt);
                if robot.inverse(&target, &middle(&robot), &options, &mut out).is_err() {
                    missed += 1;
                    continue;
                }
                let reached = robot.forward(&out);
                assert!((reached.translation.vector - target.translation.vector).norm() < 1.01e-6);
                let twist = twist_about(axis, &(reached.rotation.inverse() * target.rotation));
                assert!(twist.abs() < 1.01e-6 && within_limits(&robot, &out), "{name}: {twist}");
            }
            assert!(missed <= 1, "{name}, axis {axis}: {missed} of 300 missed");
        }
    }
}

#[test]
fn tracking_a_long_path_never_jumps() {
    for (name, table) in TABLES {
        let mut robot = robot(table);
        let n = robot.joint_count();
        let targets: Vec<_> = (0..10_000).map(|i| robot.forward(&lissajous(&robot, i, 10_000))).collect();
        let (mut previous, mut out) = (lissajous(&robot, 0, 10_000), vec![0.0; n]);
        let mut missed = 0;
        for target in &targets {
            match robot.track(target, &previous, &patient(), &mut out) {
                Ok(report) => assert!(report.starts == 1 && is_answer(&robot, target, &out), "{name}"),
                Err(_) => missed += 1,
            }
            let jump = out.iter().zip(&previous).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(jump <= 0.5 && within_limits(&robot, &out), "{name}: jump of {jump}");
            previous.copy_from_slice(&out);
        }
        println!("{name}: {missed} of 10000 steps missed");
        assert!(missed <= 10, "{name}: {missed} of 10000 steps missed");
    }
}

#[test]
fn tracking_from_a_hair_beyond_a_limit_does_not_turn_round() {
    let mut robot = robot(MK1);
    for (joint, direction) in [(0, 1.0), (3, 1.0), (3, -1.0), (5, -1.0)] {
        let limits = &robot.joints()[joint];
        let mut inside = [0.3, 0.8, -0.4, 0.4, FRAC_PI_2, 0.1];
        inside[joint] = if direction > 0.0 { limits.upper } else { limits.lower };
        let mut beyond = inside;
        beyond[joint] += direction * 1e-9;
        let (target, mut out) = (robot.forward(&inside), [0.0; 6]);
        robot.track(&target, &beyond, &patient(), &mut out).unwrap();
        assert!(out.iter().zip(inside).all(|(out, q)| (out - q).abs() < 1e-4), "{out:?}");
    }
}

#[test]
fn a_time_limit_may_be_as_long_as_can_be() {
    let mut robot = robot(MK1);
    let target = robot.forward(&[0.3, 0.8, -0.4, 0.4, FRAC_PI_2, 0.1]);
    let options = IkOptions { time_limit: Duration::MAX, ..IkOptions::default() };
    robot.inverse(&target, &middle(&robot), &options, &mut [0.0; 6]).unwrap();
}

#[test]
fn continuous_joints_wind_freely() {
    let text = "
joints:
  - {name: a, type: revolute, a: 0, alpha: 0, d: 0, theta: 0}
  - {name: b, type: revolute, a: 0.4, alpha: 0, d: 0, theta: 0}
  - {name: c, type: prismatic, a: 0.3, alpha: 0, d: 0, theta: 0}
";
    let mut robot = Robot::new(&Model::from_dh_yaml(text).unwrap()).unwrap();
    let mask = GoalMask { position: [true; 3], rotation: [false; 3] };
    let options = IkOptions { mask, ..patient() };
    let mut out = [0.0; 3];
    let seed = [20.0, -30.0, 0.0];
    let target = robot.forward(&[20.5, -30.5, 3.0]);
    robot.inverse(&target, &seed, &options, &mut out).unwrap();
    for (answer, seed) in out.iter().zip(&seed).take(2) {
        assert!((answer - seed).abs() <= PI + 1e-9, "{out:?}");
    }
    assert!((out[2] - 3.0).abs() < 1.1e-6);
}

#[test]
fn velocities_give_the_twist_or_keep_its_direction() {
    let robot = robot(include_str!("../data/ranger_mk1.yaml"));
    let q = [0.3, 0.8, -0.4, 0.4, FRAC_PI_2, 0.1];
    let (mut rates, mut jacobian) = ([0.0; 6], [0.0; 36]);
    robot.jacobian(&q, &mut jacobian);
    let gentle = [0.005, -0.003, 0.001, 0.005, 0.0, -0.01];
    let report = robot.inverse_velocity(&q, &gentle, &mut rates).unwrap();
    assert_eq!(report.scale, 1.0);
    let harsh = gentle.map(|entry| 100.0 * entry);
    let scaled = robot.inverse_velocity(&q, &harsh, &mut [0.0; 6]).unwrap();
    assert!(scaled.scale < 0.5);
    for row in 0..6 {
        let reached: f64 = (0..6).map(|i| jacobian[6 * i + row] * rates[i]).sum();
        assert!((reached - gentle[row]).abs() < 1e-9, "{reached} {}", gentle[row]);
    }
    let mut random = Random::announced("rates", 26);
    for _ in 0..1000 {
        let mut q = random.configuration(&robot);
        if random.unit() < 0.5 {
            q[4] = PI;
        }
        q[5] = robot.joints()[5].upper;
        let twist = [0.0; 6].map(|_: f64| 2.0 * random.unit() - 1.0);
        let report = robot.inverse_velocity(&q, &twist, &mut rates).unwrap();
        assert!(report.scale > 0.0 && report.residual.is_finite() && report.smallest_singular_value >= 0.0);
        for (rate, joint) in rates.iter().zip(robot.joints()) {
            assert!(rate.abs() <= joint.velocity);
        }
        assert!(rates[5] <= 0.0);
    }
}
