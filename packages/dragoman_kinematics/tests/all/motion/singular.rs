//! Away from singularities: the derivative of the Jacobian, twists that turn aside, motions that the tool does not notice.

use super::lab::{Lab, REACHING, robot};
use crate::common::{Random, TABLES};
use dragoman_kinematics::motion::{CommandMode, Event, MotionConfig};
use dragoman_kinematics::{IkOptions, Robot};
use nalgebra::{Isometry3, Translation3, Vector6};

fn random_positions(robot: &Robot, random: &mut Random) -> Vec<f64> {
    robot.joints().iter().map(|_| 3.0 * (random.unit() - 0.5)).collect()
}

fn value(robot: &Robot, q: &[f64]) -> f64 {
    robot.manipulability(q, &mut vec![0.0; q.len()]).value
}

#[test]
fn derivatives_agree_with_differences() {
    let mut random = Random::announced("singular", 3);
    for (name, table) in TABLES.into_iter().filter(|(name, _)| *name != "five_joint") {
        let robot = robot(table);
        let count = robot.joint_count();
        for _ in 0..50 {
            let q = random_positions(&robot, &mut random);
            let rates: Vec<f64> = q.iter().map(|_| random.unit() - 0.5).collect();
            let at =
                |time: f64| -> Vec<f64> { q.iter().zip(&rates).map(|(q, rate)| q + rate * time).collect() };
            let jacobian = |q: &[f64]| {
                let mut out = vec![0.0; 6 * count];
                robot.jacobian(q, &mut out);
                out
            };
            let h = 1e-6;
            let (before, after) = (jacobian(&at(-h)), jacobian(&at(h)));
            let mut derivative = vec![0.0; 6 * count];
            robot.jacobian_derivative(&q, &rates, &mut derivative);
            for ((before, after), exact) in before.iter().zip(&after).zip(&derivative) {
                assert!(((after - before) / (2.0 * h) - exact).abs() < 1e-7, "{name} {q:?}");
            }
            let mut gradient = vec![0.0; count];
            let here = robot.manipulability(&q, &mut gradient);
            let change: f64 = gradient.iter().zip(&rates).map(|(slope, rate)| slope * rate).sum();
            let difference = (value(&robot, &at(h)) - value(&robot, &at(-h))) / (2.0 * h);
            assert!((change - difference).abs() < 1e-6 * (1.0 + here.value), "{name}: {change} {difference}");

            // What the tool does not notice.
            let mut still = rates.clone();
            robot.null_space(&q, &mut still);
            let columns = jacobian(&q);
            let moved: Vector6<f64> = columns
                .chunks_exact(6)
                .zip(&still)
                .map(|(column, rate)| Vector6::from_column_slice(column) * *rate)
                .sum();
            assert!(moved.norm() < 1e-6, "{name}: {moved}");
            assert_eq!(still.iter().any(|rate| rate.abs() > 1e-3), count > 6, "{name}: {still:?}");
        }
    }
    let five = robot(TABLES[5].1);
    assert_eq!(value(&five, &[0.1, 0.2, 0.3, 0.4, 0.5]), 0.0);
}

/// A twist that leads into a singularity.
struct Reach {
    name: &'static str,
    table: &'static str,
    start: [f64; 6],
    linear: [f64; 3],
    angular: [f64; 3],
}

const REACHES: [Reach; 4] = [
    Reach {
        name: "Mark I stretches its elbow",
        table: TABLES[0].1,
        start: REACHING,
        linear: [0.0, 0.03, 0.0],
        angular: [0.0; 3],
    },
    Reach {
        name: "Mark I turns its hand into the wrist's singularity",
        table: TABLES[0].1,
        start: REACHING,
        linear: [0.0; 3],
        angular: [-0.1, 0.0, 0.0],
    },
    Reach {
        name: "Puma stretches its elbow",
        table: TABLES[3].1,
        start: [0.1, -0.6, 2.2, 0.3, 0.8, 0.2],
        linear: [0.03, 0.0, 0.0],
        angular: [0.0; 3],
    },
    Reach {
        name: "Puma turns its hand into the wrist's singularity",
        table: TABLES[3].1,
        start: [0.1, -0.6, 2.2, 0.0, 0.8, 0.2],
        linear: [0.0; 3],
        angular: [0.0, -0.1, 0.0],
    },
];

/// The minimum manipulability on the way until the arm cannot follow or 40 s have passed, and the way: m + rad.
fn run(reach: &Reach, margin: f64) -> (f64, f64) {
    let robot = robot(reach.table);
    let config = MotionConfig { singularity_margin: margin, ..MotionConfig::for_robot(&robot) };
    let mut lab = Lab::ready(robot, config, &reach.start, CommandMode::Cartesian);
    let begin = lab.tool();
    let mut least = f64::INFINITY;
    while lab.time < 140.0 && lab.events.is_empty() {
        lab.pipeline.set_twist(reach.linear, reach.angular).unwrap();
        lab.cycle();
        least = least.min(value(lab.pipeline.robot(), &lab.measured));
    }
    let end = lab.tool();
    let way =
        (end.translation.vector - begin.translation.vector).norm() + end.rotation.angle_to(&begin.rotation);
    println!(
        "{}, margin {margin}: manipulability {least}, way {way}, until {} s",
        reach.name,
        lab.time - 100.0
    );
    // Going aside may end at the limit of a joint.
    let ends_well = matches!(lab.events.last(), None | Some(Event::JointLimit { .. }));
    assert!(margin == 0.0 || ends_well, "{}: {:?}", reach.name, lab.events);
    (least, way)
}

#[test]
fn twists_turn_aside_before_a_singularity() {
    for reach in &REACHES {
        let start = value(&robot(reach.table), &reach.start);
        let margin = start / 4.0;
        let (plain, _) = run(reach, 0.0);
        assert!(plain < margin / 2.0, "{}: without the margin {plain} of {start}", reach.name);
        let (least, way) = run(reach, margin);
        assert!(least > 0.99 * margin, "{}: {least} of {margin}", reach.name);
        assert!(way > 0.05, "{}: it moves as far as it can: {way}", reach.name);
    }
}

#[test]
fn redundant_arms_turn_away_from_singularities_while_the_tool_keeps_its_line() {
    let table = TABLES[1].1;
    let start = [0.1, 0.25, 0.1, 0.3, 0.1, -0.3, 0.4, 0.0];
    let run = |null_space_rate: f64| {
        let robot = robot(table);
        let config = MotionConfig { null_space_rate, ..MotionConfig::for_robot(&robot) };
        let mut lab = Lab::ready(robot, config, &start, CommandMode::Cartesian);
        let from = lab.tool();
        let to = Translation3::new(-0.06, 0.08, -0.05) * from;
        lab.go(&to);
        let along = to.translation.vector - from.translation.vector;
        loop {
            let status = lab.cycle();
            let tool: Isometry3<f64> = lab.tool();
            let offset = tool.translation.vector - from.translation.vector;
            let off = (offset - along * (offset.dot(&along) / along.norm_squared())).norm();
            assert!(off < 1e-6 && tool.rotation.angle_to(&from.rotation) < 1e-6, "{off}");
            if !status.moving {
                break;
            }
        }
        assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
        (value(lab.pipeline.robot(), &lab.measured), lab.time)
    };
    let ((plain, plain_time), (turned, time)) = (run(0.0), run(0.1));
    assert!(turned > 1.1 * plain, "{turned} and {plain}");
    assert!(time < plain_time + 1.0, "it is not slower: {time} and {plain_time}");
}

#[test]
fn a_redundant_arm_keeps_its_tool_where_it_is_while_its_manipulability_rises() {
    let robot = robot(TABLES[1].1);
    let mut q = vec![0.1, 0.25, 0.1, 0.3, 0.1, -0.3, 0.4, 0.0];
    let pose = robot.forward(&q);
    let begin = value(&robot, &q);
    let mut gradient = vec![0.0; q.len()];
    for _ in 0..500 {
        let before = robot.manipulability(&q, &mut gradient).value;
        robot.null_space(&q, &mut gradient);
        let step = |slope: f64| 0.005 * slope / before;
        let moved: Vec<f64> = q.iter().zip(&gradient).map(|(q, slope)| q + step(*slope)).collect();
        robot.track(&pose, &moved, &IkOptions::default(), &mut q).unwrap();
        let off = robot.forward(&q);
        assert!((off.translation.vector - pose.translation.vector).norm() < 1e-6);
        assert!(off.rotation.angle_to(&pose.rotation) < 1e-6);
        let now = value(&robot, &q);
        assert!(now >= before - 1e-9, "{before} to {now}");
    }
    let end = value(&robot, &q);
    assert!(end > 1.5 * begin, "{begin} to {end}");
}
