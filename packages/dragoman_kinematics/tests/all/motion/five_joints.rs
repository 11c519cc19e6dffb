//! Cartesian motion of the WidowX, whose five joints cannot reach every orientation: the tool may turn about its z
//! axis.

use super::lab::Lab;
use crate::common::urdf;
use dragoman_kinematics::motion::{Axis, CommandMode, Event, MotionConfig, RawPose};
use dragoman_kinematics::{FreeRotation, GoalMask, Model, Robot};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};

/// Reaching ahead with a level gripper.
const LEVEL: [f64; 5] = [0.0, -0.3, -0.3, 0.0, 0.0];
/// Reaching ahead with the gripper down.
const DOWN: [f64; 5] = [0.3, 0.2, -0.5, -0.9, 0.2];

fn widowx() -> Robot {
    let text = urdf("turtlebot2_widowx.urdf");
    let model = Model::from_urdf(&text, Some("arm_base_link"), Some("tool0")).unwrap();
    Robot::new(&model).unwrap()
}

fn lab(free_rotation: FreeRotation, start: &[f64; 5]) -> Lab {
    let robot = widowx();
    let config = MotionConfig { free_rotation, ..MotionConfig::for_robot(&robot) };
    Lab::ready(robot, config, start, CommandMode::Cartesian)
}

/// Pose moved by an offset in the base frame.
fn shifted(pose: &Isometry3<f64>, x: f64, y: f64, z: f64) -> Isometry3<f64> {
    let mut moved = *pose;
    moved.translation.vector += Vector3::new(x, y, z);
    moved
}

/// Runs a motion and returns the maximum distance of the tool from the line through `from` and `to`, m, and of its z
/// axis from where it was, rad.
fn deviation(lab: &mut Lab, from: &Isometry3<f64>, to: &Isometry3<f64>) -> (f64, f64) {
    let along = (to.translation.vector - from.translation.vector).normalize();
    let (mut off, mut tilt) = (0.0_f64, 0.0_f64);
    loop {
        let status = lab.cycle();
        let tool = lab.pipeline.robot().forward(lab.command.as_ref().unwrap());
        let offset = tool.translation.vector - from.translation.vector;
        off = off.max((offset - along * offset.dot(&along)).norm());
        tilt = tilt.max((tool.rotation * Vector3::z()).angle(&(from.rotation * Vector3::z())));
        if !status.moving {
            return (off, tilt);
        }
    }
}

#[test]
fn lines_in_every_direction() {
    for start in [LEVEL, DOWN] {
        for (x, y, z) in [(0.05, 0.0, 0.0), (0.0, 0.06, 0.0), (0.0, 0.0, 0.05), (-0.03, -0.05, 0.04)] {
            let mut lab = lab(FreeRotation::Z, &start);
            let from = lab.tool();
            let to = shifted(&from, x, y, z);
            lab.go(&to);
            let (off, tilt) = deviation(&mut lab, &from, &to);
            assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
            assert!(off < 1e-6 && tilt < 1e-6, "{off} m, {tilt} rad");
            assert!((lab.tool().translation.vector - to.translation.vector).norm() < 1e-6);
            // The published pose is the actual one, not the requested one.
            assert!((lab.setpoint.rotation.angle_to(&lab.tool().rotation)) < 1e-6);
        }
    }
}

#[test]
fn a_turn_about_the_free_axis_in_the_goal_does_not_count() {
    let mut lab = lab(FreeRotation::Z, &LEVEL);
    let from = lab.tool();
    let mut to = shifted(&from, 0.0, 0.05, 0.02);
    to.rotation *= UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 2.0);
    lab.go(&to);
    let (off, tilt) = deviation(&mut lab, &from, &to);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
    assert!(off < 1e-6 && tilt < 1e-6, "{off} m, {tilt} rad");
}

#[test]
fn the_direction_of_the_axis_follows_the_goal() {
    let mut lab = lab(FreeRotation::Z, &LEVEL);
    let from = lab.tool();
    let mut to = shifted(&from, -0.03, 0.03, 0.0);
    to.rotation *= UnitQuaternion::from_axis_angle(&Vector3::y_axis(), 0.4);
    lab.go(&to);
    lab.run(60.0);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
    let mask = GoalMask { free: FreeRotation::Z, ..GoalMask::POSE };
    assert!(mask.distance(&lab.tool(), &to) < 1e-6);
}

#[test]
fn circles_and_sinusoids() {
    for axes in [[Axis::Y, Axis::Z], [Axis::X, Axis::Y], [Axis::Z, Axis::X]] {
        let mut lab = lab(FreeRotation::Z, &LEVEL);
        let from = lab.tool();
        lab.pipeline.begin_circle(0.03, 20.0, axes).unwrap();
        let index = |axis: Axis| [Axis::X, Axis::Y, Axis::Z].iter().position(|other| *other == axis).unwrap();
        let mut centre = from.translation.vector;
        centre[index(axes[0])] -= 0.03;
        for _ in 0..1500 {
            lab.cycle();
            let offset = lab.tool().translation.vector - centre;
            assert!((offset.norm() - 0.03).abs() < 1e-6, "{axes:?}: {offset}");
        }
        assert!(lab.events.is_empty(), "{:?}", lab.events);
        lab.pipeline.end_shape().unwrap();
        lab.run(60.0);
        assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
    }
}

#[test]
fn twists() {
    for direction in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        let mut lab = lab(FreeRotation::Z, &LEVEL);
        let from = lab.tool();
        for _ in 0..150 {
            lab.pipeline.set_twist(direction.map(|part| 0.02 * part), [0.0; 3]).unwrap();
            lab.cycle();
        }
        let moved = lab.tool().translation.vector - from.translation.vector;
        let along = moved.dot(&Vector3::from(direction));
        assert!(along > 0.02 && (moved.norm() - along) < 1e-6, "{moved}");
        assert!(lab.events.is_empty(), "{:?}", lab.events);
    }
}

#[test]
fn via_points_and_positions_with_any_orientation() {
    for (free, turn) in [(FreeRotation::Z, 0.0), (FreeRotation::All, 1.0)] {
        let mut lab = lab(free, &LEVEL);
        let mut pose = lab.tool();
        pose.rotation *= UnitQuaternion::from_euler_angles(turn, turn, turn);
        for (index, (x, y)) in [(0.0, 0.04), (-0.03, 0.0), (0.0, -0.04)].into_iter().enumerate() {
            pose = shifted(&pose, x, y, 0.0);
            lab.pipeline.set_via_point(index, &RawPose::from(&pose), 0.0).unwrap();
        }
        lab.pipeline.execute_via_points().unwrap();
        lab.run(120.0);
        assert_eq!(lab.saw(|event| *event == Event::SequenceFinished), 1, "{:?}", lab.events);
        assert!((lab.tool().translation.vector - pose.translation.vector).norm() < 1e-6);
    }
}

#[test]
fn without_a_free_rotation_a_line_sideways_is_refused_by_inverse_kinematics() {
    let mut lab = lab(FreeRotation::None, &LEVEL);
    let to = shifted(&lab.tool(), 0.0, 0.05, 0.0);
    lab.go(&to);
    lab.run(60.0);
    assert_eq!(lab.saw(|event| matches!(event, Event::IkDivergence { .. })), 1, "{:?}", lab.events);
    // The next motion has another rule.
    let config = MotionConfig { free_rotation: FreeRotation::Z, ..lab.pipeline.config().clone() };
    lab.pipeline.set_config(config).unwrap();
    lab.go(&to);
    lab.run(60.0);
    assert_eq!(lab.saw(|event| *event == Event::MotionFinished), 1, "{:?}", lab.events);
}
