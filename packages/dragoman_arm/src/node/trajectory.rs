//! The action `follow_joint_trajectory`, as the joint trajectory controller of ros2_controllers documents it.

use std::time::Duration;

use dragoman_ros::builtin_interfaces;
use dragoman_ros::control_msgs::action::FollowJointTrajectory::{
    Action, Feedback, Goal, Result as ActionResult,
};
use dragoman_ros::control_msgs::msg::JointTolerance;
use dragoman_ros::fields::set_point_index;
use dragoman_ros::naming::find_joint;
use dragoman_ros::tasks::{self, NodeTasks, Outcome};
use dragoman_ros::times::Seconds;
use dragoman_ros::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use futures::future::{Either, select};

use super::SharedArm;
use super::parameters::ArmParameters;
use crate::driver::trajectory::{Point, Tolerance, Tolerances, Trajectory};
use crate::driver::{End, Measured};

// r2r gives every constant its own enum type.
#[allow(clippy::unnecessary_cast)]
const SUCCESSFUL: i32 = ActionResult::SUCCESSFUL as i32;
#[allow(clippy::unnecessary_cast)]
const INVALID_GOAL: i32 = ActionResult::INVALID_GOAL as i32;
#[allow(clippy::unnecessary_cast)]
const PATH_TOLERANCE_VIOLATED: i32 = ActionResult::PATH_TOLERANCE_VIOLATED as i32;
#[allow(clippy::unnecessary_cast)]
const GOAL_TOLERANCE_VIOLATED: i32 = ActionResult::GOAL_TOLERANCE_VIOLATED as i32;

/// Period of the action's feedback.
const FEEDBACK_PERIOD: Duration = Duration::from_millis(50);

/// Default tolerances of goals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults {
    path: Option<f64>,
    goal: Option<f64>,
    goal_time: f64,
}

impl Defaults {
    pub(super) fn of(parameters: &ArmParameters) -> Self {
        let ArmParameters { path_tolerance: path, goal_tolerance: goal, goal_time, .. } = *parameters;
        Self { path, goal, goal_time }
    }
}

/// Offers the action.
pub(super) fn serve(tasks: &mut NodeTasks, arm: &SharedArm, defaults: Defaults) -> dragoman_ros::Result<()> {
    let checked = arm.clone();
    let check = move |goal: &Goal| plan(&checked, goal, defaults).map(|_| ());
    let executed = arm.clone();
    let execute = move |goal: tasks::Goal<Action>| run(executed.clone(), goal, defaults);
    tasks.serve_action::<Action, _>("follow_joint_trajectory", check, execute)
}

async fn run(arm: SharedArm, goal: tasks::Goal<Action>, defaults: Defaults) -> Outcome<ActionResult> {
    let refused = |error: String| Outcome::Aborted(result(INVALID_GOAL, error));
    let Planned { delay, .. } = match plan(&arm, goal.goal(), defaults) {
        Ok(planned) => planned,
        Err(error) => return refused(error),
    };
    if let Either::Right(_) = select(dragoman_time::sleep(delay), goal.canceled()).await {
        return Outcome::Canceled(result(SUCCESSFUL, "cancelled before it began".to_owned()));
    }
    // The arm may have moved since the goal was accepted.
    let planned = plan(&arm, goal.goal(), defaults);
    let mut point = Progress { passed: planned.as_ref().map_or(0, |planned| planned.passed), next: 0 };
    let (id, mut ended) = match planned.and_then(|planned| arm.lock().start(planned)) {
        Ok(started) => started,
        Err(error) => return refused(error),
    };
    let mut cancelled = goal.canceled();
    let mut stopped = false;
    let mut ticks = dragoman_time::interval(FEEDBACK_PERIOD);
    // The first comes at once.
    ticks.tick().await;
    let end = loop {
        tokio::select! {
            biased;
            end = &mut ended => break end.unwrap_or(End::Cancelled),
            () = &mut cancelled, if !stopped => {
                stopped = true;
                arm.lock().cancel(id);
            }
            () = ticks.tick() => goal.publish_feedback(arm.lock().feedback(&mut point)),
        }
    };
    let text = end.to_string();
    match end {
        End::Reached => Outcome::Succeeded(result(SUCCESSFUL, text)),
        End::Cancelled if goal.is_canceled() => Outcome::Canceled(result(SUCCESSFUL, text)),
        End::Cancelled => Outcome::Aborted(result(SUCCESSFUL, "another command took over".to_owned())),
        End::PathTolerance { .. } => Outcome::Aborted(result(PATH_TOLERANCE_VIOLATED, text)),
        End::GoalTolerance { .. } => Outcome::Aborted(result(GOAL_TOLERANCE_VIOLATED, text)),
        End::Stopped(_) => Outcome::Aborted(result(INVALID_GOAL, text)),
    }
}

fn result(error_code: i32, error_string: String) -> ActionResult {
    ActionResult { error_code, error_string }
}

/// A goal converted for the drives.
pub(super) struct Planned {
    pub(super) trajectory: Trajectory,
    pub(super) tolerances: Tolerances,
    /// Number of the goal's points that are in the past, and not in the trajectory.
    passed: usize,
    /// Delay before the start.
    delay: Duration,
}

/// The point of a goal to which the arm moves.
struct Progress {
    /// Number of the goal's points before the trajectory.
    passed: usize,
    /// Index in the trajectory; it stays when the trajectory has ended.
    next: usize,
}

fn plan(arm: &SharedArm, goal: &Goal, defaults: Defaults) -> Result<Planned, String> {
    let arm = arm.lock();
    if !goal.multi_dof_trajectory.points.is_empty() || !goal.component_path_tolerance.is_empty() {
        return Err("trajectories of bodies (multi_dof) are not supported".to_owned());
    }
    let order = order(&goal.trajectory, &arm.names)?;
    let since = seconds_since(&goal.trajectory.header.stamp, arm.now());
    let points = points(&goal.trajectory, &order, since.max(0.0))?;
    let passed = goal.trajectory.points.len() - points.len();
    let (start, limits) = arm
        .drives
        .with(|_, group| (group.reference().setpoint().to_vec(), group.reference().max_velocity().to_vec()));
    let trajectory = Trajectory::new(points, &start, &limits).map_err(|error| error.to_string())?;
    let tolerances = Tolerances {
        path: tolerances(&goal.path_tolerance, &arm.names, defaults.path)?,
        goal: tolerances(&goal.goal_tolerance, &arm.names, defaults.goal)?,
        goal_time: match goal.goal_time_tolerance.seconds() {
            0.0 => defaults.goal_time,
            time if time < 0.0 => 0.0,
            time => time,
        },
    };
    let delay = Duration::try_from_secs_f64((-since).max(0.0)).map_err(|error| error.to_string())?;
    Ok(Planned { trajectory, tolerances, passed, delay })
}

/// For each joint of the arm its index in the trajectory.
fn order(trajectory: &JointTrajectory, names: &[String]) -> Result<Vec<usize>, String> {
    let called: Vec<Option<usize>> =
        trajectory.joint_names.iter().map(|given| find_joint(names, given)).collect();
    if let Some((unknown, _)) = trajectory.joint_names.iter().zip(&called).find(|(_, place)| place.is_none())
    {
        let hint = dragoman_text::hint(unknown, names.iter().map(String::as_str));
        return Err(format!("the arm has no joint '{unknown}'{hint}"));
    }
    if trajectory.joint_names.len() != names.len() {
        return Err(format!(
            "{} joints are named; the arm has {}: {}",
            trajectory.joint_names.len(),
            names.len(),
            names.join(", ")
        ));
    }
    let place = |(joint, name): (usize, &String)| {
        let found = called.iter().position(|place| *place == Some(joint));
        found.ok_or_else(|| format!("joint '{name}' is not in the trajectory"))
    };
    names.iter().enumerate().map(place).collect()
}

/// The points later than `since` (s after the trajectory's start), in the order of the arm's joints.
fn points(trajectory: &JointTrajectory, order: &[usize], since: f64) -> Result<Vec<Point>, String> {
    if trajectory.points.is_empty() {
        return Err("the trajectory has no points".to_owned());
    }
    let is_left = |point: &&JointTrajectoryPoint| since == 0.0 || point.time_from_start.seconds() > since;
    let left: Vec<Point> = trajectory
        .points
        .iter()
        .filter(is_left)
        .map(|point| Point {
            time: point.time_from_start.seconds() - since,
            position: reorder(&point.positions, order),
            velocity: reorder(&point.velocities, order),
            acceleration: reorder(&point.accelerations, order),
        })
        .collect();
    if left.is_empty() { Err("the trajectory ended in the past".to_owned()) } else { Ok(left) }
}

/// The values in the arm's order; lists of a wrong length are unchanged, to be refused later.
fn reorder(values: &[f64], order: &[usize]) -> Vec<f64> {
    let reordered: Option<Vec<f64>> = order.iter().map(|from| values.get(*from).copied()).collect();
    match reordered {
        Some(reordered) if values.len() == order.len() => reordered,
        _ => values.to_vec(),
    }
}

/// One tolerance per joint: 0 means the default, a negative one none (control_msgs/JointTolerance).
fn tolerances(
    given: &[JointTolerance],
    names: &[String],
    default: Option<f64>,
) -> Result<Vec<Tolerance>, String> {
    let places: Vec<Option<usize>> =
        given.iter().map(|tolerance| find_joint(names, &tolerance.name)).collect();
    if let Some((unknown, _)) = given.iter().zip(&places).find(|(_, place)| place.is_none()) {
        return Err(format!("a tolerance is for joint '{}', which the arm does not have", unknown.name));
    }
    let value = |value: f64, default: Option<f64>| match value {
        value if value < 0.0 => None,
        value if value > 0.0 => Some(value),
        _ => default,
    };
    let of_joint = |joint: usize| match given.iter().zip(&places).find(|(_, place)| **place == Some(joint)) {
        Some((tolerance, _)) => Tolerance {
            position: value(tolerance.position, default),
            velocity: value(tolerance.velocity, None),
        },
        None => Tolerance { position: default, velocity: None },
    };
    Ok((0..names.len()).map(of_joint).collect())
}

/// Seconds since `stamp`; 0 for the stamp 0, which means now.
fn seconds_since(stamp: &builtin_interfaces::msg::Time, now: Duration) -> f64 {
    if stamp.sec == 0 && stamp.nanosec == 0 {
        return 0.0;
    }
    now.as_secs_f64() - stamp.seconds()
}

impl super::Arm {
    /// Desired and actual positions, and the difference; the point to which it moves.
    fn feedback(&self, point: &mut Progress) -> Feedback {
        // NaN for a joint that is not measured now.
        let actual = |joint: Option<Measured>| joint.map_or(f64::NAN, |measured| measured.position);
        let (next, desired, actual): (_, Vec<f64>, Vec<f64>) = self.drives.with(|now, group| {
            let desired = group.desired().collect();
            (group.reference().next_point(), desired, group.measured(now).map(actual).collect())
        });
        point.next = next.unwrap_or(point.next);
        let error = desired.iter().zip(&actual).map(|(desired, actual)| desired - actual).collect();
        let of = |positions| JointTrajectoryPoint { positions, ..Default::default() };
        let mut feedback = Feedback {
            joint_names: self.names.clone(),
            desired: of(desired),
            actual: of(actual),
            error: of(error),
            ..Default::default()
        };
        set_point_index(&mut feedback, point.passed + point.next);
        feedback.header.stamp = self.stamp();
        feedback
    }
}
