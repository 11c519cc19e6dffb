//! Inverse kinematics: every answer is checked by forward kinematics and the joint limits, never by the solver.

use crate::common::{Random, TABLES, lissajous, robot, urdf};
use dragoman_kinematics::{FreeRotation, GoalMask, IkError, IkOptions, Model, Robot, SearchEnd};
use nalgebra::{Isometry3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

const MK1: &str = include_str!("../data/ranger_mk1.yaml");

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
fn solved(robot: &Robot, targets: impl Iterator<Item = Isometry3<f64>>) -> f64 {
    let (seed, mut out) = (middle(robot), vec![0.0; robot.joint_count()]);
    let (mut good, mut all) = (0, 0);
    for target in targets {
        let result = robot.inverse(&target, &seed, &IkOptions::default(), &mut out);
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
        let robot = robot(table);
        let mut random = Random::announced(name, 21);
        let targets: Vec<_> = (0..2000).map(|_| robot.forward(&random.configuration(&robot))).collect();
        let share = solved(&robot, targets.into_iter());
        assert!(share == 1.0, "{name}: {share}");
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
        let robot = robot(table);
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
        let share = solved(&robot, targets.into_iter());
        assert!(share >= 0.998, "{name} {fixed:?}: {share}");
    }
}

#[test]
fn poses_at_the_limits() {
    let puma = Robot::new(&Model::from_urdf(&urdf("puma560.urdf"), None, None).unwrap()).unwrap();
    let tables = TABLES.map(|(name, table)| (name, robot(table)));
    for (name, robot) in tables.into_iter().chain([("puma560.urdf", puma)]) {
        let mut random = Random::announced(name, 22);
        for at_limit in [0.5, 1.0] {
            let targets: Vec<_> = (0..1000)
                .map(|_| {
                    let mut q = random.configuration(&robot);
                    for (q, joint) in q.iter_mut().zip(robot.joints()) {
                        if random.unit() < at_limit {
                            *q = if random.unit() < 0.5 { joint.lower } else { joint.upper };
                        }
                    }
                    robot.forward(&q)
                })
                .collect();
            let share = solved(&robot, targets.into_iter());
            assert!(share >= 0.999, "{name}, {at_limit}: {share}");
        }
    }
}

/// Poses that a search of 64 starts did not find.
#[test]
fn rare_branches_are_found() {
    let puma = Robot::new(&Model::from_urdf(&urdf("puma560.urdf"), None, None).unwrap()).unwrap();
    let cases = [
        (
            puma,
            [2.7925, -1.9199, -2.3562, -4.6426, -1.7453, 4.6426],
            [
                1.860_031_109_5,
                1.398_700_466_8,
                0.392_626_741_1,
                2.406_473_013_7,
                0.663_826_417_8,
                -1.224_320_956_3,
            ],
        ),
        (
            robot(MK1),
            [
                0.407_465_259_4,
                3.705_440_886_8,
                0.711_309_625_6,
                -0.113_757_264_7,
                3.483_024_044_7,
                -0.125_246_044_2,
            ],
            [
                -0.836_110_786_7,
                2.170_202_536_7,
                -1.399_145_988_0,
                -0.649_525_783_3,
                3.628_303_309_4,
                0.210_929_639_7,
            ],
        ),
    ];
    for (robot, q, seed) in cases {
        let (target, mut out) = (robot.forward(&q), [0.0; 6]);
        robot.inverse(&target, &seed, &IkOptions::default(), &mut out).unwrap();
        assert!(is_answer(&robot, &target, &out), "{out:?}");
    }
}

#[test]
fn the_seed_decides_between_equal_answers() {
    let robot = robot(MK1);
    let mut out = [0.0; 6];
    let q = [-3.0, 0.9, -0.4, 2.9, 1.9, -3.0];
    let target = robot.forward(&q);
    let mut near = q;
    near.iter_mut().for_each(|value| *value += 0.05);
    robot.inverse(&target, &near, &IkOptions::default(), &mut out).unwrap();
    for (answer, expected) in out.iter().zip(&q) {
        assert!((answer - expected).abs() < 1e-4, "{out:?}");
    }
    // Joint 1 has more than a turn: the answer comes back on the seed's side.
    near[0] += TAU;
    robot.inverse(&target, &near, &IkOptions::default(), &mut out).unwrap();
    assert!((out[0] - (q[0] + TAU)).abs() < 1e-4, "{out:?}");
    // A seed outside the limits is brought inside first.
    robot.inverse(&target, &[50.0, -50.0, 9.0, 9.0, -9.0, 9.0], &IkOptions::default(), &mut out).unwrap();
    assert!(is_answer(&robot, &target, &out));
}

#[test]
fn a_solution_near_the_seed_is_preferred() {
    for (name, table) in TABLES {
        let robot = robot(table);
        let mut random = Random::announced(name, 33);
        let mut out = vec![0.0; robot.joint_count()];
        for _ in 0..5000 {
            let q = random.configuration(&robot);
            // Also beyond the limits, where a full turn would be inside.
            let seed: Vec<f64> = q.iter().map(|q| q + 0.2 * random.unit() - 0.1).collect();
            let target = robot.forward(&q);
            robot.inverse(&target, &seed, &IkOptions::default(), &mut out).unwrap();
            let moved = out.iter().zip(&seed).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(moved < 0.3 && is_answer(&robot, &target, &out), "{name}: {moved} from {seed:?}");
        }
    }
}

#[test]
fn tracking_returns_to_the_path_after_a_part_that_is_blocked() {
    for (name, table) in TABLES {
        let robot = robot(table);
        let n = robot.joint_count();
        let (mut blocked, mut lost, mut longest) = (0, 0, 0);
        for joint in 0..n {
            for side in [-1.0, 1.0] {
                // A path whose joint goes beyond its limit and comes back.
                let limits = &robot.joints()[joint];
                let limit = if side > 0.0 { limits.upper } else { limits.lower };
                let path = |i: usize| {
                    let mut q = lissajous(&robot, i, 4000);
                    let phase = i as f64 / 1000.0 * PI;
                    q[joint] = limit + side * (0.6 * phase.sin() - 0.3);
                    q
                };
                let mut previous = path(0);
                let mut out = previous.clone();
                let (mut missed, mut since) = (0, 0);
                for i in 0..1000 {
                    let q = path(i);
                    let target = robot.forward(&q);
                    if robot.track(&target, &previous, &IkOptions::default(), &mut out).is_err() {
                        missed += 1;
                        since += usize::from(i > 860);
                    } else {
                        longest = longest.max(since);
                        since = 0;
                    }
                    let jump = out.iter().zip(&previous).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(jump <= 0.5 + 1e-9 && within_limits(&robot, &out));
                    previous.copy_from_slice(&out);
                }
                blocked += usize::from(missed > 0);
                lost += usize::from(since > 0);
            }
        }
        println!("{name}: {blocked} paths were blocked, {lost} lost, {longest} steps to recover");
        assert!(blocked > 0 && lost == 0 && longest < 100, "{name}");
    }
}

#[test]
fn the_same_question_has_the_same_answer() {
    let robot = robot(include_str!("../data/panda.yaml"));
    let mut random = Random::announced("repeat", 23);
    for _ in 0..50 {
        let target = robot.forward(&random.configuration(&robot));
        let seed = random.configuration(&robot);
        let (mut first, mut second) = ([0.0; 7], [0.0; 7]);
        let one = robot.inverse(&target, &seed, &IkOptions::default(), &mut first);
        let other = robot.clone().inverse(&target, &seed, &IkOptions::default(), &mut second);
        assert_eq!(one, other);
        assert_eq!(first, second);
    }
}

#[test]
fn unreachable_targets_leave_the_best_configuration() {
    let robot = robot(MK1);
    let seed = middle(&robot);
    let mut out = [0.0; 6];
    // The last waypoint of figure 3.2 of the Ranger thesis, at which its solver diverged.
    let target = Isometry3::from_parts(Translation3::new(-0.5, 4.0, 0.7), UnitQuaternion::identity());
    let before = (robot.forward(&seed).translation.vector - target.translation.vector).norm();
    let error = robot.inverse(&target, &seed, &IkOptions::default(), &mut out).unwrap_err();
    let report = *error.report().unwrap();
    let after = (robot.forward(&out).translation.vector - target.translation.vector).norm();
    assert!((after - report.position_error).abs() < 1e-12);
    assert!(after < before && within_limits(&robot, &out), "{after} {before} {out:?}");
    // Within reach, but with an orientation outside the wrist's range.
    let mut random = Random::announced("unreachable", 24);
    for _ in 0..200 {
        let mut target = robot.forward(&random.configuration(&robot));
        target.rotation = robot.forward(&random.configuration(&robot)).rotation;
        match robot.inverse(&target, &seed, &IkOptions::default(), &mut out) {
            Ok(_) => assert!(is_answer(&robot, &target, &out)),
            Err(error) => {
                assert!(error.report().unwrap().starts > 1);
                assert!(within_limits(&robot, &out));
            }
        }
    }
}

/// Position of one pose, orientation of another, none of them reachable together.
fn unreachable(robot: &Robot, random: &mut Random) -> Isometry3<f64> {
    loop {
        let mut target = robot.forward(&random.configuration(robot));
        target.rotation = robot.forward(&random.configuration(robot)).rotation;
        let patient = IkOptions { max_total_iterations: 20_000, max_starts: 4_000, ..IkOptions::default() };
        if robot.inverse(&target, &middle(robot), &patient, &mut vec![0.0; robot.joint_count()]).is_err() {
            return target;
        }
    }
}

#[test]
fn the_report_names_the_limit_that_ended_the_search() {
    let robot = robot(include_str!("../data/platform_arm.yaml"));
    let target = unreachable(&robot, &mut Random::announced("limits of the search", 31));
    let search = |options: &IkOptions| {
        let error = robot.inverse(&target, &[0.0; 6], options, &mut [0.0; 6]).unwrap_err();
        (*error.report().unwrap(), error.to_string())
    };
    let (report, text) = search(&IkOptions { max_starts: 5, ..IkOptions::default() });
    assert_eq!((report.starts, report.end), (5, SearchEnd::Starts));
    assert!(text.contains("max_starts"), "{text}");
    let (report, text) = search(&IkOptions { max_total_iterations: 40, ..IkOptions::default() });
    assert!(report.iterations >= 40 && report.iterations < 40 + 70, "{report:?}");
    assert_eq!(report.end, SearchEnd::Iterations);
    assert!(text.contains("max_total_iterations"), "{text}");
    let far = Isometry3::translation(90.0, 0.0, 0.0);
    let error = robot.inverse(&far, &[0.0; 6], &IkOptions::default(), &mut [0.0; 6]).unwrap_err();
    assert_eq!(error.report().unwrap().end, SearchEnd::OutOfReach);
}

#[test]
fn the_closed_form_shows_that_there_is_no_solution() {
    for table in [MK1, include_str!("../data/puma560.yaml")] {
        let robot = robot(table);
        let mut random = Random::announced(robot.model().name(), 32);
        for _ in 0..20 {
            let target = unreachable(&robot, &mut random);
            let error =
                robot.inverse(&target, &middle(&robot), &IkOptions::default(), &mut [0.0; 6]).unwrap_err();
            let report = error.report().unwrap();
            assert!(report.end == SearchEnd::NoBranch && report.starts < 10, "{report:?}");
        }
    }
}

#[test]
fn bad_input_is_refused_and_touches_nothing() {
    let robot = robot(MK1);
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
    let stretched = UnitQuaternion::new_unchecked(Quaternion::new(1.0, 0.0, 0.0, 0.01));
    let target = Isometry3::from_parts(Translation3::identity(), stretched);
    for result in [
        robot.inverse(&target, &[0.0; 6], &options, &mut out),
        robot.track(&target, &[0.0; 6], &options, &mut out),
    ] {
        assert!(matches!(result, Err(IkError::NotUnit { length }) if length > 1.0), "{result:?}");
    }
    assert_eq!(out, [7.0; 6]);
}

#[test]
fn invalid_options_are_refused() {
    let robot = robot(MK1);
    let good = IkOptions::default();
    good.check().unwrap();
    let mut cases = Vec::new();
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        cases.push(("position_tolerance", IkOptions { position_tolerance: value, ..good.clone() }));
        cases.push(("rotation_tolerance", IkOptions { rotation_tolerance: value, ..good.clone() }));
        cases.push(("rotation_weight", IkOptions { rotation_weight: value, ..good.clone() }));
        cases.push(("max_joint_step", IkOptions { max_joint_step: value, ..good.clone() }));
    }
    cases.push(("max_iterations", IkOptions { max_iterations: 0, ..good.clone() }));
    cases.push(("max_starts", IkOptions { max_starts: 0, ..good.clone() }));
    cases.push(("max_total_iterations", IkOptions { max_total_iterations: 0, ..good.clone() }));
    let long = FreeRotation::About(Unit::new_unchecked(Vector3::new(0.0, 2.0, 0.0)));
    cases.push(("mask.free", IkOptions { mask: GoalMask { free: long, ..GoalMask::POSE }, ..good }));
    let target = robot.forward(&[0.1; 6]);
    let mut out = [7.0; 6];
    for (expected, options) in cases {
        let results = [
            robot.inverse(&target, &[0.0; 6], &options, &mut out),
            robot.track(&target, &[0.0; 6], &options, &mut out),
        ];
        for result in results {
            assert!(
                matches!(result, Err(IkError::InvalidOption { name, .. }) if name == expected),
                "{expected}: {result:?}"
            );
        }
    }
    assert_eq!(out, [7.0; 6]);
    for axis in [[0.0; 3], [f64::NAN, 0.0, 1.0], [f64::INFINITY, 0.0, 0.0]] {
        assert_eq!(FreeRotation::about(axis), None);
    }
    assert_eq!(FreeRotation::about([0.0, 1e-200, 0.0]), Some(FreeRotation::Y));
    for text in ["none", "all", "about x", "tilt y", "tilt 0 -1 0"] {
        assert_eq!(text.parse::<FreeRotation>().unwrap().to_string(), text);
    }
    for text in
        ["", "z", "about", "about w", "about 0 0 0", "about 1 2", "about nan 0 1", "tilt inf 0 0", "all x"]
    {
        assert!(text.parse::<FreeRotation>().is_err(), "{text}");
    }
}

/// The axis of a mask may be any direction of the tool: its direction counts, the turn about it does not.
#[test]
fn rotation_about_any_axis_of_the_tool_can_be_free() {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.3, -2.0, 0.7]];
    for (name, table) in TABLES {
        let robot = robot(table);
        let mut random = Random::announced(name, 34);
        let mut out = vec![0.0; robot.joint_count()];
        for axis in axes {
            let free = FreeRotation::about(axis).unwrap();
            let options = IkOptions { mask: GoalMask { free, ..GoalMask::POSE }, ..IkOptions::default() };
            let axis = free.axis().unwrap();
            let mut missed = 0;
            for _ in 0..300 {
                let turn = UnitQuaternion::from_axis_angle(&axis, TAU * random.unit());
                let target = robot.forward(&random.configuration(&robot)) * turn;
                if robot.inverse(&target, &middle(&robot), &options, &mut out).is_err() {
                    missed += 1;
                    continue;
                }
                let reached = robot.forward(&out);
                assert!((reached.translation.vector - target.translation.vector).norm() < 1.01e-6);
                let off = (reached.rotation * axis.into_inner())
                    .cross(&(target.rotation * axis.into_inner()))
                    .norm();
                assert!(off < 1.01e-6 && within_limits(&robot, &out), "{name}, {axis:?}: {off}");
                assert!(options.mask.distance(&reached, &target) < 2.1e-6);
            }
            assert!(missed <= 1, "{name}, {axis:?}: {missed} of 300 missed");
        }
    }
}

#[test]
fn masked_goals() {
    let arm = robot(include_str!("../data/five_joint.yaml"));
    let mut random = Random::announced("masked", 25);
    let pointing = IkOptions { mask: GoalMask::POINTING, ..IkOptions::default() };
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

    let position = IkOptions { mask: GoalMask::POSITION, ..IkOptions::default() };
    let ranger = robot(MK1);
    let mut out = [0.0; 6];
    for _ in 0..500 {
        let mut target = ranger.forward(&random.configuration(&ranger));
        target.rotation = UnitQuaternion::from_euler_angles(random.unit(), random.unit(), random.unit());
        ranger.inverse(&target, &middle(&ranger), &position, &mut out).unwrap();
        assert!((ranger.forward(&out).translation.vector - target.translation.vector).norm() < 1.01e-6);
    }
}

const UNIT: [Unit<Vector3<f64>>; 3] = [
    Unit::new_unchecked(Vector3::new(1.0, 0.0, 0.0)),
    Unit::new_unchecked(Vector3::new(0.0, 1.0, 0.0)),
    Unit::new_unchecked(Vector3::new(0.0, 0.0, 1.0)),
];

/// Angle by which the rotation turns about the axis of that index, once it is split into a turn about the axis and a
/// tilt of the axis.
fn twist_about(axis: usize, rotation: &UnitQuaternion<f64>) -> f64 {
    let angle = 2.0 * rotation.coords[axis].atan2(rotation.coords.w);
    angle.sin().atan2(angle.cos())
}

#[test]
fn a_goal_with_two_free_rotations_keeps_the_turn_about_the_third_axis() {
    for (name, table) in TABLES {
        let robot = robot(table);
        let mut out = vec![0.0; robot.joint_count()];
        for axis in 0..3 {
            let mask = GoalMask { free: FreeRotation::Tilt(UNIT[axis]), ..GoalMask::POSE };
            let options = IkOptions { mask, ..IkOptions::default() };
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
        let robot = robot(table);
        let n = robot.joint_count();
        let targets: Vec<_> = (0..10_000).map(|i| robot.forward(&lissajous(&robot, i, 10_000))).collect();
        let (mut previous, mut out) = (lissajous(&robot, 0, 10_000), vec![0.0; n]);
        let mut missed = 0;
        for target in &targets {
            match robot.track(target, &previous, &IkOptions::default(), &mut out) {
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
    let robot = robot(MK1);
    for (joint, direction) in [(0, 1.0), (3, 1.0), (3, -1.0), (5, -1.0)] {
        let limits = &robot.joints()[joint];
        let mut inside = [0.3, 0.8, -0.4, 0.4, FRAC_PI_2, 0.1];
        inside[joint] = if direction > 0.0 { limits.upper } else { limits.lower };
        let mut beyond = inside;
        beyond[joint] += direction * 1e-9;
        let (target, mut out) = (robot.forward(&inside), [0.0; 6]);
        robot.track(&target, &beyond, &IkOptions::default(), &mut out).unwrap();
        assert!(out.iter().zip(inside).all(|(out, q)| (out - q).abs() < 1e-4), "{out:?}");
    }
}

#[test]
fn continuous_joints_wind_freely() {
    let text = "
joints:
  - {name: a, type: revolute, a: 0, alpha: 0, d: 0, theta: 0}
  - {name: b, type: revolute, a: 0.4, alpha: 0, d: 0, theta: 0}
  - {name: c, type: prismatic, a: 0.3, alpha: 0, d: 0, theta: 0}
";
    let robot = Robot::new(&Model::from_dh_yaml(text).unwrap()).unwrap();
    let options = IkOptions { mask: GoalMask::POSITION, ..IkOptions::default() };
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
