//! `compute_fk` and `compute_ik` in the form of `moveit_msgs`.

#![allow(clippy::unnecessary_cast)] // Negative constants are `i32` with the embedded implementation already.

use std::borrow::Cow;
use std::sync::Arc;

use dragoman_ros::fields::moveit_error;
use dragoman_ros::moveit_msgs::msg::{
    Constraints, MoveItErrorCodes, OrientationConstraint, PositionIKRequest,
};
use dragoman_ros::moveit_msgs::srv::{GetPositionFK, GetPositionIK};
use dragoman_ros::naming::find_joint;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::times::Seconds;
use dragoman_ros::{Result, builtin_interfaces, geometry_msgs, poses, sensor_msgs};
use dragoman_time::{Work, WorkClock};
use nalgebra::{Isometry3, Vector3};

use super::services::raw_pose;
use super::surroundings::Surroundings;
use super::work::beside;
use crate::{FreeRotation, GoalMask, IkOptions, Link, Robot};

/// The constant as the field's type; r2r gives every constant its own enum type.
const SUCCESS: i32 = MoveItErrorCodes::SUCCESS as i32;

/// Iterations of the search per second of a request's timeout; they take about a third of a microsecond each. Counted,
/// so that the same request has the same answer on a busy machine.
const ITERATIONS_PER_SECOND: f64 = 1e6;

/// Maximum number of iterations of one request, whatever its timeout.
const MAX_ITERATIONS: u32 = 100_000;

/// Longer requests are answered outside of the task that moves the arm.
const SHORT: u32 = 1000;

/// Places from which a solution without collision is searched.
const COLLISION_SEEDS: usize = 32;

/// A tolerance of the orientation from here on, rad, leaves the rotation about its axis free: pi, rounded down.
const HALF_TURN: f64 = 3.1;

/// Angle, rad, up to which two orientations of a request are the same.
const SAME_ORIENTATION: f64 = 1e-3;

/// Offers `compute_fk` and `compute_ik` for `robot` in the namespace of the node.
///
/// `measured` returns the joint positions in the order of the chain, rad or m, once they are known: requests need not
/// name every joint. `free` returns the free rotation of requests without an orientation constraint. Without
/// `surroundings`, requests to avoid collisions are refused.
///
/// # Errors
/// An error of the middleware.
pub fn serve_solver<M, F>(
    tasks: &mut NodeTasks,
    robot: &Robot,
    measured: M,
    free: F,
    surroundings: Option<Arc<Surroundings>>,
) -> Result<()>
where
    M: Fn() -> Option<Vec<f64>> + Clone + Send + 'static,
    F: Fn() -> FreeRotation + Send + 'static,
{
    let inverse = Solver { surroundings, ..Solver::new(robot.clone()) };
    let (forward, state) = (inverse.clone(), measured.clone());
    tasks.serve::<GetPositionFK::Service>("compute_fk", move |request| {
        forward.compute_fk(&request, state().as_deref())
    })?;
    let inverse = Arc::new(inverse);
    tasks.serve_later::<GetPositionIK::Service, _>("compute_ik", move |request| {
        let (inverse, measured, free) = (Arc::clone(&inverse), measured(), free());
        async move {
            let is_short = !request.ik_request.avoid_collisions
                && limits(&request.ik_request.timeout).max_total_iterations <= SHORT;
            if is_short {
                return inverse.compute_ik(&request, measured.as_deref(), free);
            }
            let answer = beside(Work::INVERSE_KINEMATICS, "compute_ik", move |clock, _| {
                inverse.compute_ik_by(clock, &request, measured.as_deref(), free)
            });
            answer.await.unwrap_or_else(|reason| GetPositionIK::Response {
                error_code: moveit_error(MoveItErrorCodes::FAILURE as i32, reason),
                ..Default::default()
            })
        }
    })
}

/// Answers for one robot.
#[derive(Clone)]
pub(super) struct Solver {
    robot: Robot,
    names: Vec<String>,
    /// Start of the search when no position is known: the middle of the ranges, 0 without limits.
    middle: Vec<f64>,
    surroundings: Option<Arc<Surroundings>>,
}

/// An error of `MoveItErrorCodes` with its message.
#[derive(Debug)]
pub(super) struct Failure(pub(super) i32, pub(super) String);

impl Solver {
    pub(super) fn new(robot: Robot) -> Self {
        let middle = |lower: f64, upper: f64| {
            if lower.is_finite() && upper.is_finite() { (lower + upper) / 2.0 } else { 0.0 }
        };
        Self {
            names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
            middle: robot.joints().iter().map(|joint| middle(joint.lower, joint.upper)).collect(),
            robot,
            surroundings: None,
        }
    }

    fn compute_fk(
        &self,
        request: &GetPositionFK::Request,
        measured: Option<&[f64]>,
    ) -> GetPositionFK::Response {
        let mut response = GetPositionFK::Response::default();
        match self.poses(request, measured) {
            Ok(poses) => {
                for (link, pose_stamped) in poses {
                    response.fk_link_names.push(link);
                    response.pose_stamped.push(pose_stamped);
                }
                response.error_code = moveit_error(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = moveit_error(value, message),
        }
        response
    }

    fn poses(
        &self,
        request: &GetPositionFK::Request,
        measured: Option<&[f64]>,
    ) -> Result<Vec<(String, geometry_msgs::msg::PoseStamped)>, Failure> {
        let frame = self.frame(&request.header.frame_id)?;
        let links: Vec<&Link> = if request.fk_link_names.is_empty() {
            self.robot.model().links().iter().collect()
        } else {
            request.fk_link_names.iter().map(|name| self.link(name)).collect::<Result<_, _>>()?
        };
        let q = self.configuration(&request.robot_state.joint_state, measured)?;
        let to_frame = self.robot.link_pose(frame, &q).inverse();
        let posed = links.into_iter().map(|link| {
            let mut stamped = geometry_msgs::msg::PoseStamped {
                pose: poses::pose(&(to_frame * self.robot.link_pose(link, &q))),
                ..Default::default()
            };
            stamped.header.frame_id.clone_from(&frame.name);
            stamped.header.stamp.clone_from(&request.header.stamp);
            (link.name.clone(), stamped)
        });
        Ok(posed.collect())
    }

    fn compute_ik(
        &self,
        request: &GetPositionIK::Request,
        measured: Option<&[f64]>,
        free: FreeRotation,
    ) -> GetPositionIK::Response {
        self.compute_ik_by(&WorkClock::start(Work::INVERSE_KINEMATICS), request, measured, free)
    }

    /// The search's limits are counted: `clock` only gets its iterations.
    fn compute_ik_by(
        &self,
        clock: &WorkClock,
        request: &GetPositionIK::Request,
        measured: Option<&[f64]>,
        free: FreeRotation,
    ) -> GetPositionIK::Response {
        let mut response = GetPositionIK::Response::default();
        let mut spent = 0;
        let solution = self.solution(request, measured, free, &mut spent);
        clock.steps(spent);
        match solution {
            Ok(position) => {
                response.solution.joint_state.name.clone_from(&self.names);
                response.solution.joint_state.position = position;
                response.error_code = moveit_error(SUCCESS, String::new());
            }
            Err(Failure(value, message)) => response.error_code = moveit_error(value, message),
        }
        response
    }

    fn solution(
        &self,
        request: &GetPositionIK::Request,
        measured: Option<&[f64]>,
        free: FreeRotation,
        spent: &mut u32,
    ) -> Result<Vec<f64>, Failure> {
        let asked = &request.ik_request;
        if !asked.ik_link_names.is_empty() || !asked.pose_stamped_vector.is_empty() {
            return Err(Failure(MoveItErrorCodes::INVALID_GROUP_NAME as i32, "one tip at a time".into()));
        }
        if is_constrained(&asked.constraints) {
            return Err(bad_constraint("constraints other than one of the orientation are not supported"));
        }
        let to_tip = self.offset_of_tip(&asked.ik_link_name)?;
        let frame = self.frame(&asked.pose_stamped.header.frame_id)?;
        let pose = raw_pose(&asked.pose_stamped.pose).to_isometry();
        let pose =
            pose.map_err(|bad| Failure(MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, bad.to_string()))?;
        // The seed may be any configuration, but the pose of a frame needs known joints.
        let otherwise = measured.or((frame.joints_below == 0).then_some(self.middle.as_slice()));
        let seed = self.configuration(&asked.robot_state.joint_state, otherwise)?;
        let posed = self.robot.link_pose(frame, &seed) * pose;
        let (robot, target, free) = match asked.constraints.orientation_constraints.as_slice() {
            [] => (Cow::Borrowed(&self.robot), posed * to_tip, free),
            // The link turns about axes through its own origin.
            [constraint] => (self.posing(&to_tip)?, posed, free_by(asked, constraint)?),
            _ => return Err(bad_constraint("more than one constraint of the orientation")),
        };
        let limits = limits(&asked.timeout);
        // One budget for all places of the search.
        let total = match limits.max_starts {
            u32::MAX => limits.max_total_iterations,
            _ => limits.max_total_iterations * COLLISION_SEEDS as u32,
        };
        let mask = GoalMask { free, ..GoalMask::POSE };
        let mut solution = vec![0.0; self.robot.joint_count()];
        let mut search = |seed: &[f64]| {
            let no_solution = |reason: String| Failure(MoveItErrorCodes::NO_IK_SOLUTION as i32, reason);
            let left = total.saturating_sub(*spent).min(limits.max_total_iterations);
            if left == 0 {
                return Err(no_solution("the time-out has ended the search".to_owned()));
            }
            let options = IkOptions { mask, max_total_iterations: left, ..limits.clone() };
            let found = robot.inverse(&target, seed, &options, &mut solution);
            *spent += match &found {
                Ok(report) => report.iterations,
                Err(error) => error.report().map_or(0, |report| report.iterations),
            };
            found.map(|_report| solution.clone()).map_err(|error| no_solution(error.to_string()))
        };
        if asked.avoid_collisions { self.without_collision(&seed, search) } else { search(&seed) }
    }

    /// The first solution that touches nothing, from the seed and from other places.
    fn without_collision(
        &self,
        seed: &[f64],
        mut search: impl FnMut(&[f64]) -> Result<Vec<f64>, Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let unavailable =
            |message: String| Failure(MoveItErrorCodes::COLLISION_CHECKING_UNAVAILABLE as i32, message);
        let Some(surroundings) = &self.surroundings else {
            let message = "collisions are not checked: set avoid_collisions to false";
            return Err(unavailable(message.to_owned()));
        };
        let mut random = oorandom::Rand64::new(1);
        let mut seed = seed.to_vec();
        let mut first_failure = None;
        for _ in 0..COLLISION_SEEDS {
            let failure = match search(&seed) {
                Ok(solution) => match surroundings.collision(&self.robot, &solution).map_err(unavailable)? {
                    None => return Ok(solution),
                    Some(collision) => Failure(MoveItErrorCodes::GOAL_IN_COLLISION as i32, collision),
                },
                Err(failure) => failure,
            };
            first_failure.get_or_insert(failure);
            for (value, joint) in seed.iter_mut().zip(self.robot.joints()) {
                let (lower, upper) =
                    (joint.lower.max(-std::f64::consts::PI), joint.upper.min(std::f64::consts::PI));
                *value = lower + (upper - lower) * random.rand_float();
            }
        }
        Err(first_failure.unwrap_or_else(|| unavailable("nothing was tried".to_owned())))
    }

    /// Pose of the tip in the frame of the link of the request; an empty name is the tip itself.
    pub(super) fn offset_of_tip(&self, name: &str) -> Result<Isometry3<f64>, Failure> {
        let model = self.robot.model();
        if name.is_empty() {
            return Ok(Isometry3::identity());
        }
        let link = self.link(name)?;
        if link.joints_below == self.robot.joint_count() {
            return Ok(link.offset.inverse() * model.tool());
        }
        let message = format!("link '{name}' is not rigidly attached to the tip, '{}'", model.tip_link());
        Err(Failure(MoveItErrorCodes::INVALID_LINK_NAME as i32, message))
    }

    /// The robot with another tool frame, in which the tip has the pose `to_tip`.
    fn posing(&self, to_tip: &Isometry3<f64>) -> Result<Cow<'_, Robot>, Failure> {
        if *to_tip == Isometry3::identity() {
            return Ok(Cow::Borrowed(&self.robot));
        }
        let tool = self.robot.model().tool() * to_tip.inverse();
        let robot = self.robot.model().clone().with_tool(tool).and_then(|model| Robot::new(&model));
        let invalid =
            |error: crate::ModelError| Failure(MoveItErrorCodes::INVALID_LINK_NAME as i32, error.to_string());
        robot.map(Cow::Owned).map_err(invalid)
    }

    /// The joint values of a state; joints that it does not name have the values of `otherwise`.
    pub(super) fn configuration(
        &self,
        state: &sensor_msgs::msg::JointState,
        otherwise: Option<&[f64]>,
    ) -> Result<Vec<f64>, Failure> {
        let invalid = |message: String| Failure(MoveItErrorCodes::INVALID_ROBOT_STATE as i32, message);
        if state.name.len() != state.position.len() {
            let (names, positions) = (state.name.len(), state.position.len());
            return Err(invalid(format!("{names} joint names and {positions} positions")));
        }
        let mut given = vec![None; self.names.len()];
        for (name, value) in state.name.iter().zip(&state.position) {
            let slot = find_joint(&self.names, name).and_then(|index| given.get_mut(index));
            let slot = slot.ok_or_else(|| {
                let hint = dragoman_text::hint(name, self.names.iter().map(String::as_str));
                invalid(format!("there is no joint '{name}'{hint}"))
            })?;
            if !value.is_finite() {
                return Err(invalid(format!("joint '{name}' is {value}")));
            }
            *slot = Some(*value);
        }
        let known = |index: usize| otherwise.and_then(|positions| positions.get(index).copied());
        let positions = given.iter().enumerate().zip(&self.names).map(|((index, value), name)| {
            value.or_else(|| known(index)).ok_or_else(|| {
                invalid(format!("joint '{name}' is neither in the request nor measured so far"))
            })
        });
        positions.collect()
    }

    /// The link whose frame is the reference of poses; an empty name is the base link.
    fn frame(&self, name: &str) -> Result<&Link, Failure> {
        let model = self.robot.model();
        let name = if name.is_empty() { model.base_link() } else { name };
        self.find(name).ok_or_else(|| {
            let message = format!("'{name}' is not the frame of a link of {}", model.name());
            Failure(MoveItErrorCodes::FRAME_TRANSFORM_FAILURE as i32, message)
        })
    }

    /// Pose of such a frame in the base frame, at joint positions.
    pub(super) fn pose_of_frame(&self, name: &str, q: &[f64]) -> Result<Isometry3<f64>, Failure> {
        Ok(self.robot.link_pose(self.frame(name)?, q))
    }

    fn link(&self, name: &str) -> Result<&Link, Failure> {
        self.find(name).ok_or_else(|| {
            let message = format!("{} has no link '{name}' between base and tip", self.robot.model().name());
            Failure(MoveItErrorCodes::INVALID_LINK_NAME as i32, message)
        })
    }

    fn find(&self, name: &str) -> Option<&Link> {
        self.robot.model().links().iter().find(|link| link.name == name)
    }
}

/// The limits of the search for a request's timeout; the solver's own if it is zero or negative.
fn limits(timeout: &builtin_interfaces::msg::Duration) -> IkOptions {
    let own = IkOptions::default();
    let seconds = timeout.seconds();
    if timeout.sec < 0 || seconds == 0.0 {
        return own;
    }
    // Saturates.
    let iterations = (seconds * ITERATIONS_PER_SECOND) as u32;
    IkOptions { max_total_iterations: iterations.clamp(1, MAX_ITERATIONS), max_starts: u32::MAX, ..own }
}

pub(super) fn bad_constraint(message: &str) -> Failure {
    Failure(MoveItErrorCodes::INVALID_GOAL_CONSTRAINTS as i32, message.to_owned())
}

/// The free rotation of a constraint of the orientation: about the axes of the link whose tolerance is a half turn or
/// more.
fn free_by(asked: &PositionIKRequest, constraint: &OrientationConstraint) -> Result<FreeRotation, Failure> {
    let (link, frame) = (&constraint.link_name, &constraint.header.frame_id);
    if !link.is_empty() && *link != asked.ik_link_name {
        return Err(bad_constraint("the constraint of the orientation must be of ik_link_name"));
    }
    if !frame.is_empty() && *frame != asked.pose_stamped.header.frame_id {
        return Err(bad_constraint("the constraint of the orientation must be in the frame of the pose"));
    }
    let of = |orientation: &geometry_msgs::msg::Quaternion| {
        let pose = geometry_msgs::msg::Pose { orientation: orientation.clone(), ..Default::default() };
        raw_pose(&pose)
            .to_isometry()
            .map(|pose| pose.rotation)
            .map_err(|bad| bad_constraint(&bad.to_string()))
    };
    let between = of(&constraint.orientation)?.angle_to(&of(&asked.pose_stamped.pose.orientation)?);
    if between > SAME_ORIENTATION {
        return Err(bad_constraint(
            "the constraint of the orientation must have the orientation of the pose",
        ));
    }
    let tolerances = [
        constraint.absolute_x_axis_tolerance,
        constraint.absolute_y_axis_tolerance,
        constraint.absolute_z_axis_tolerance,
    ];
    free_axes(tolerances)
}

/// The free rotation about those axes whose tolerance is a half turn or more.
pub(super) fn free_axes(tolerances: [f64; 3]) -> Result<FreeRotation, Failure> {
    // Negated, so that NaN is refused.
    if !tolerances.iter().all(|tolerance| *tolerance >= 0.0) {
        return Err(bad_constraint("a tolerance of the orientation is negative or not a number"));
    }
    let [x, y, z] = [Vector3::x_axis(), Vector3::y_axis(), Vector3::z_axis()];
    Ok(match tolerances.map(|tolerance| tolerance >= HALF_TURN) {
        [false, false, false] => FreeRotation::None,
        [true, false, false] => FreeRotation::About(x),
        [false, true, false] => FreeRotation::About(y),
        [false, false, true] => FreeRotation::About(z),
        [false, true, true] => FreeRotation::Tilt(x),
        [true, false, true] => FreeRotation::Tilt(y),
        [true, true, false] => FreeRotation::Tilt(z),
        [true, true, true] => FreeRotation::All,
    })
}

fn is_constrained(constraints: &Constraints) -> bool {
    !(constraints.joint_constraints.is_empty()
        && constraints.position_constraints.is_empty()
        && constraints.visibility_constraints.is_empty())
}

#[cfg(test)]
mod tests;
