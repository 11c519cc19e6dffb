//! Straight lines of the tool.

use nalgebra::Isometry3;

use super::PlanningError;
use super::check::Checker;
use super::search::{START_TOLERANCE, check_configuration};
use crate::IkOptions;

/// Distance between two poses of a line, m and rad.
const STEP: [f64; 2] = [5e-3, 0.02];
/// Maximum number of poses of a line.
const MAX_STEPS: f64 = 1e5;
/// Farthest a joint may move between two poses, rad or m: more is a change of configuration.
const JUMP: f64 = 0.2;

/// A path from `start` along which the tool moves straight to `target`, its pose in the base frame, and turns evenly about
/// one axis; the checker leaves the start ([`Checker::leave`]). `options` has the rotations that do not count.
///
/// Between the poses, which are 5 mm and 0.02 rad apart, the joints move straight.
///
/// # Errors
/// A start that is not a configuration of the arm, or where it collides; a pose on the line without a configuration
/// near the one before, or where the arm collides.
pub fn line(
    checker: &mut Checker<'_>,
    start: &[f64],
    target: &Isometry3<f64>,
    options: &IkOptions,
) -> Result<Vec<Vec<f64>>, PlanningError> {
    let robot = checker.robot;
    check_configuration(robot, "start", start, START_TOLERANCE)?;
    checker.leave(start);
    if let Some(collision) = checker.collision(start) {
        return Err(PlanningError::StartCollides(collision));
    }
    let begin = robot.forward(start);
    let distance = (target.translation.vector - begin.translation.vector).norm();
    let turn = begin.rotation.rotation_to(&target.rotation).scaled_axis();
    let steps = (distance / STEP[0]).max(turn.norm() / STEP[1]).ceil().max(1.0);
    let unreached = |share: f64, reason: String| PlanningError::Line { share, reason };
    if steps.is_nan() || steps > MAX_STEPS {
        return Err(unreached(0.0, "the target is too far away".to_owned()));
    }
    let options = IkOptions { max_joint_step: JUMP, ..options.clone() };
    let mut path = vec![start.to_vec()];
    let mut next = start.to_vec();
    for step in 1..=steps as usize {
        let share = step as f64 / steps;
        let translation = begin.translation.vector.lerp(&target.translation.vector, share);
        let rotation = nalgebra::UnitQuaternion::from_scaled_axis(turn * share) * begin.rotation;
        let pose = Isometry3::from_parts(translation.into(), rotation);
        let Some(before) = path.last() else { break };
        robot
            .track(&pose, before, &options, &mut next)
            .map_err(|error| unreached(share, error.to_string()))?;
        if let Some(collision) = checker.collision(&next) {
            return Err(unreached(share, collision.to_string()));
        }
        if !checker.is_free(before, &next) {
            return Err(unreached(share, "the arm collides on the way".to_owned()));
        }
        path.push(next.clone());
    }
    Ok(path)
}
