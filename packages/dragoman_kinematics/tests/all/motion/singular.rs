//! Away from singularities: the derivative of the Jacobian, twists that turn aside, motions that the tool does not notice.

use super::lab::{Lab, REACHING, ranger_mk1, robot};
use crate::common::{Random, TABLES};
use dragoman_kinematics::Robot;
use dragoman_kinematics::motion::{CommandMode, Event, MotionConfig};
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

/// Moves Ranger Mark I outwards until it stands or 20 s have passed; the least manipulability, and the way, m.
fn reach_out(margin: f64) -> (f64, f64) {
    let robot = ranger_mk1();
    let config = MotionConfig { singularity_margin: margin, ..MotionConfig::for_robot(&robot) };
    let mut lab = Lab::ready(robot, config, &REACHING, CommandMode::Cartesian);
    let begin = lab.tool();
    let mut least = f64::INFINITY;
    while lab.time < 100.0 + 30.0 {
        if lab.pipeline.set_twist([0.0, 0.02, 0.0], [0.0; 3]).is_err() {
            break;
        }
        lab.cycle();
        least = least.min(value(lab.pipeline.robot(), &lab.measured));
    }
    if margin > 0.0 {
        assert_eq!(lab.saw(|event| matches!(event, Event::IkDivergence { .. })), 0, "{:?}", lab.events);
    }
    (least, (lab.tool().translation.vector - begin.translation.vector).norm())
}

#[test]
fn twists_turn_aside_before_a_singularity() {
    let start = value(&ranger_mk1(), &REACHING);
    let (plain, _) = reach_out(0.0);
    let margin = start / 4.0;
    assert!(plain < margin / 4.0, "without the margin: {plain} of {start}");
    let (least, way) = reach_out(margin);
    assert!(least > 0.95 * margin, "{least} of {margin}");
    assert!(way > 0.05, "it moves as far as it can: {way}");
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
