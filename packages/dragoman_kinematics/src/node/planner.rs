//! Motions round obstacles: services `plan_to_pose` and `cancel_planning`, and the previews.

#![allow(clippy::unnecessary_cast)] // Constants are `i32` with the embedded implementation already.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragoman_ros::builtin_interfaces;
use dragoman_ros::dragoman_msgs::srv::PlanToPose;
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::moveit_msgs::msg::MoveItErrorCodes;
use dragoman_ros::nav_msgs;
use dragoman_ros::poses;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_msgs::msg::ColorRGBA;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use dragoman_ros::visualization_msgs::msg::{Marker, MarkerArray};
use dragoman_time::Work;
use nalgebra::Isometry3;
use parking_lot::Mutex;

use super::ik_services::{Failure, bad_constraint};
use super::surroundings::{Surroundings, isometry};
use super::work::beside;
use super::{Mover, latched, moveit, report};
use crate::motion::MotionConfig;
use crate::planning::{Checker, PlanOptions, PlanningError, Trajectory, line, plan_while, time};
use crate::{FreeRotation, GoalMask, IkOptions, Robot};

/// Period of the points of a planned motion, s.
const PERIOD: f64 = 0.05;
/// Maximum part of an edge that a rounded corner takes, rad or m.
const ROUNDING: f64 = 0.5;
/// Configurations with the goal's pose that are searched, and from how many places.
const GOALS: usize = 8;
const SEEDS: usize = 64;
/// Motions that are planned at the same time; more requests wait.
const TOGETHER: usize = 4;

/// Where a motion leads.
#[derive(Debug, Clone)]
pub(super) enum Goal {
    /// The tool's pose in the base frame, but for a rotation.
    Pose(Isometry3<f64>, FreeRotation),
    /// Joint positions, rad or m.
    Positions(Vec<f64>),
}

/// A motion to plan.
#[derive(Debug, Clone)]
pub(super) struct PlanRequest {
    pub(super) start: Vec<f64>,
    /// The motion leads to one of them.
    pub(super) goals: Vec<Goal>,
    /// Whether the tool moves straight.
    pub(super) is_straight: bool,
    /// Fractions of the maximum speeds and accelerations; 0: all of it.
    pub(super) scaling: [f64; 2],
    /// Maximum time of the search.
    pub(super) time_limit: Duration,
}

impl PlanRequest {
    fn limits(&self, config: &MotionConfig) -> Result<Vec<[f64; 2]>, Failure> {
        let fraction = |(name, scale): (&str, f64)| match scale {
            0.0 => Ok(1.0),
            scale if scale > 0.0 && scale <= 1.0 => Ok(scale),
            scale => Err(bad_constraint(&format!("{name}_scaling is {scale}, not above 0 to 1"))),
        };
        let [speed, push] = self.scaling;
        let (speed, push) = (fraction(("velocity", speed))?, fraction(("acceleration", push))?);
        let limits = config.joint.max_velocity.iter().zip(&config.joint.max_acceleration);
        Ok(limits.map(|(velocity, acceleration)| [velocity * speed, acceleration * push]).collect())
    }
}

/// Plans the motions of an arm.
pub(super) struct Planner {
    pub(super) robot: Robot,
    pub(super) surroundings: Arc<Surroundings>,
    mover: Arc<Mutex<Mover>>,
    path: SharedPublisher<nav_msgs::msg::Path>,
    markers: SharedPublisher<MarkerArray>,
    /// Counts the calls of `cancel_planning`: a search ends when it changes.
    cancelled: AtomicU64,
}

impl Planner {
    /// Plans outside of the node's task. `ask` makes the request from the measured positions.
    pub(super) async fn answer(
        self: Arc<Self>,
        ask: impl FnOnce(&Self, Option<Vec<f64>>, &MotionConfig) -> Result<PlanRequest, Failure>,
    ) -> Result<JointTrajectory, Failure> {
        let begin = dragoman_time::now();
        let (measured, config, stamp) = {
            let mover = self.mover.lock();
            (mover.measured(), mover.config.clone(), mover.stamp())
        };
        let ask = ask(&self, measured, &config)?;
        let (time_limit, known) = (ask.time_limit, self.cancelled.load(Ordering::Relaxed));
        let planner = Arc::clone(&self);
        let answer = beside(Work::MOTION, "planning", move |clock, is_wanted| {
            let goes_on = || {
                clock.step();
                let passed = clock.now().saturating_duration_since(begin);
                passed < time_limit && !planner.is_cancelled(known) && is_wanted()
            };
            let trajectory = planner.planned(&config, &ask, goes_on)?;
            let path = path(&planner.robot, &trajectory, stamp);
            Ok((markers(&path), path, trajectory))
        });
        let planned = answer.await.map_err(|reason| Failure(MoveItErrorCodes::FAILURE as i32, reason));
        let planned = planned.and_then(|planned| planned).map_err(|failure| match failure {
            Failure(TIMED_OUT, reason) if self.is_cancelled(known) => {
                Failure(MoveItErrorCodes::PREEMPTED as i32, format!("cancelled: {reason}"))
            }
            Failure(TIMED_OUT, reason) => {
                Failure(TIMED_OUT, format!("{} s have passed: {reason}", time_limit.as_secs_f64()))
            }
            failure => failure,
        });
        let (markers, path, trajectory) = planned.inspect_err(|Failure(code, reason)| {
            tracing::info!(code, reason, "planning failed");
        })?;
        report(self.markers.publish(&markers), "planned_path_markers");
        report(self.path.publish(&path), "planned_path");
        Ok(trajectory)
    }

    /// Whether `cancel_planning` was called since the number of its calls was `known`.
    fn is_cancelled(&self, known: u64) -> bool {
        self.cancelled.load(Ordering::Relaxed) != known
    }

    fn planned(
        &self,
        config: &MotionConfig,
        ask: &PlanRequest,
        goes_on: impl Fn() -> bool,
    ) -> Result<JointTrajectory, Failure> {
        let unavailable = |reason| Failure(MoveItErrorCodes::COLLISION_CHECKING_UNAVAILABLE as i32, reason);
        let bodies = self.surroundings.bodies().map_err(unavailable)?;
        let limits = ask.limits(config)?;
        let robot = within(&self.robot, config)
            .map_err(|reason| Failure(MoveItErrorCodes::INVALID_ROBOT_STATE as i32, reason))?;
        let scene = self.surroundings.scene();
        let mut checker = Checker::new(&robot, bodies, &scene);
        let path = if ask.is_straight {
            let (target, free) = match ask.goals.as_slice() {
                [Goal::Pose(target, free)] => (*target, *free),
                [Goal::Positions(positions)] if positions.len() == robot.joint_count() => {
                    (robot.forward(positions), FreeRotation::None)
                }
                _ => return Err(bad_constraint("a straight line has one goal")),
            };
            line(&mut checker, &ask.start, &target, &options(free))?
        } else {
            let goals = goals(&robot, ask)?;
            let planned = plan_while(&mut checker, &ask.start, &goals, &PlanOptions::default(), goes_on)?;
            tracing::debug!(iterations = planned.iterations, checks = planned.checks, "path found");
            planned.path
        };
        let timed = time(&mut checker, &path, &limits, ROUNDING, PERIOD)?;
        tracing::info!(seconds = timed.duration(), "motion planned");
        Ok(trajectory(&robot, timed))
    }
}

const TIMED_OUT: i32 = MoveItErrorCodes::TIMED_OUT as i32;

impl From<PlanningError> for Failure {
    fn from(error: PlanningError) -> Self {
        use MoveItErrorCodes as Codes;
        let code = match &error {
            PlanningError::StartCollides(_) => Codes::START_STATE_IN_COLLISION as i32,
            PlanningError::GoalCollides(_) => Codes::GOAL_IN_COLLISION as i32,
            PlanningError::Limit { what: "start", .. } | PlanningError::WrongLength { what: "start", .. } => {
                Codes::INVALID_ROBOT_STATE as i32
            }
            PlanningError::Limit { .. } | PlanningError::WrongLength { .. } | PlanningError::NoGoal => {
                Codes::INVALID_GOAL_CONSTRAINTS as i32
            }
            PlanningError::Ended { .. } => TIMED_OUT,
            PlanningError::NotFound { .. } | PlanningError::Line { .. } => Codes::PLANNING_FAILED as i32,
            _ => Codes::FAILURE as i32,
        };
        Self(code, error.to_string())
    }
}

/// Offers the services and the previews `planned_path` and `planned_path_markers`; `time_limit` is the parameter
/// `planning_time`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    mover: &Arc<Mutex<Mover>>,
    robot: &Robot,
    surroundings: &Arc<Surroundings>,
    time_limit: impl Fn() -> Duration + Clone + Send + Sync + 'static,
) -> dragoman_ros::Result<()> {
    let planner = Arc::new(Planner {
        robot: robot.clone(),
        surroundings: Arc::clone(surroundings),
        mover: Arc::clone(mover),
        path: tasks.node().create_publisher("planned_path", latched())?.into(),
        markers: tasks.node().create_publisher("planned_path_markers", latched())?.into(),
        cancelled: AtomicU64::new(0),
    });
    let (asked, seconds) = (Arc::clone(&planner), time_limit.clone());
    tasks.serve_together::<PlanToPose::Service, _>("plan_to_pose", TOGETHER, move |request| {
        let time_limit = seconds();
        let answer = Arc::clone(&asked).answer(move |planner, measured, config| {
            let start = measured.ok_or_else(|| {
                Failure(
                    MoveItErrorCodes::INVALID_ROBOT_STATE as i32,
                    "the joints are not measured".to_owned(),
                )
            })?;
            let scaling = [request.velocity_scaling, request.acceleration_scaling];
            let goal = if request.positions.is_empty() {
                let frame = planner.surroundings.check_frame(&request.pose.header.frame_id);
                let pose = frame.and_then(|()| isometry(&request.pose.pose));
                Goal::Pose(pose.map_err(|reason| bad_constraint(&reason))?, config.free_rotation)
            } else {
                Goal::Positions(request.positions)
            };
            Ok(PlanRequest { start, goals: vec![goal], is_straight: false, scaling, time_limit })
        });
        async move {
            match answer.await {
                Ok(trajectory) => PlanToPose::Response { success: true, message: String::new(), trajectory },
                Err(Failure(_, message)) => {
                    PlanToPose::Response { success: false, message, ..Default::default() }
                }
            }
        }
    })?;
    moveit::serve(tasks, &planner, TOGETHER, time_limit)?;
    tasks.serve::<Trigger::Service>("cancel_planning", move |_request| {
        planner.cancelled.fetch_add(1, Ordering::Relaxed);
        Trigger::Response { success: true, message: String::new() }
    })
}

fn options(free: FreeRotation) -> IkOptions {
    IkOptions { mask: GoalMask { free, ..GoalMask::POSE }, ..IkOptions::default() }
}

/// Configurations of all goals that can be reached.
fn goals(robot: &Robot, ask: &PlanRequest) -> Result<Vec<Vec<f64>>, Failure> {
    let (mut found, mut failure) = (Vec::new(), None);
    for goal in &ask.goals {
        match goal {
            Goal::Positions(positions) => found.push(positions.clone()),
            Goal::Pose(target, free) => match configurations(robot, target, &ask.start, *free) {
                Ok(configurations) => found.extend(configurations),
                Err(reason) => {
                    failure = Some(Failure(MoveItErrorCodes::NO_IK_SOLUTION as i32, reason));
                }
            },
        }
    }
    failure.filter(|_| found.is_empty()).map_or(Ok(found), Err)
}

/// The robot with the position limits of the configuration.
fn within(robot: &Robot, config: &MotionConfig) -> Result<Robot, String> {
    let given = robot.joints().iter().zip(config.joint.lower.iter().zip(&config.joint.upper));
    let limits: Vec<[f64; 2]> =
        given.map(|(joint, (lower, upper))| [lower.max(joint.lower), upper.min(joint.upper)]).collect();
    let model = robot.model().clone().with_limits(&limits);
    model.and_then(|model| Robot::new(&model)).map_err(|error| error.to_string())
}

/// Several configurations with the pose, but for a free rotation.
fn configurations(
    robot: &Robot,
    target: &Isometry3<f64>,
    start: &[f64],
    free: FreeRotation,
) -> Result<Vec<Vec<f64>>, String> {
    let options = options(free);
    let mut random = oorandom::Rand64::new(1);
    let mut found: Vec<Vec<f64>> = Vec::new();
    let mut seed = start.to_vec();
    let mut failure = String::new();
    for attempt in 0..SEEDS {
        let mut solution = vec![0.0; robot.joint_count()];
        match robot.inverse(target, &seed, &options, &mut solution) {
            Ok(_report) => {
                let is_known =
                    |known: &Vec<f64>| known.iter().zip(&solution).all(|(a, b)| (a - b).abs() < 1e-3);
                if !found.iter().any(is_known) {
                    found.push(solution);
                }
            }
            Err(error) => failure = error.to_string(),
        }
        // Out of reach from many places.
        if found.len() == GOALS || (found.is_empty() && attempt == 3) {
            break;
        }
        for (value, joint) in seed.iter_mut().zip(robot.joints()) {
            let (lower, upper) =
                (joint.lower.max(-std::f64::consts::PI), joint.upper.min(std::f64::consts::PI));
            *value = lower + (upper - lower) * random.rand_float();
        }
    }
    if found.is_empty() { Err(failure) } else { Ok(found) }
}

fn trajectory(robot: &Robot, timed: Trajectory) -> JointTrajectory {
    let points = timed.points.into_iter().map(|point| JointTrajectoryPoint {
        positions: point.position,
        velocities: point.velocity,
        accelerations: point.acceleration,
        effort: Vec::new(),
        time_from_start: duration(point.time),
    });
    JointTrajectory {
        joint_names: robot.joints().iter().map(|joint| joint.name.clone()).collect(),
        points: points.collect(),
        ..Default::default()
    }
}

/// The tool's path, for displays.
fn path(
    robot: &Robot,
    trajectory: &JointTrajectory,
    stamp: builtin_interfaces::msg::Time,
) -> nav_msgs::msg::Path {
    let mut path = nav_msgs::msg::Path::default();
    path.header.stamp = stamp;
    path.header.frame_id = robot.model().base_link().to_owned();
    let poses = trajectory.points.iter().map(|point| PoseStamped {
        header: path.header.clone(),
        pose: poses::pose(&robot.forward(&point.positions)),
    });
    path.poses = poses.collect();
    path
}

/// The path as a line, with a ball at its end.
fn markers(path: &nav_msgs::msg::Path) -> MarkerArray {
    let color = ColorRGBA { r: 0.1, g: 0.6, b: 1.0, a: 1.0 };
    let marker = |id, kind, size| {
        let mut marker = Marker { id, type_: kind, ns: "planned_path".to_owned(), ..Default::default() };
        marker.header = path.header.clone();
        (marker.scale.x, marker.color, marker.pose.orientation.w) = (size, color.clone(), 1.0);
        marker
    };
    let points = path.poses.iter().map(|pose| pose.pose.position.clone());
    let line = Marker { points: points.collect(), ..marker(0, Marker::LINE_STRIP as i32, 0.005) };
    let mut end = marker(1, Marker::SPHERE as i32, 0.03);
    (end.scale.y, end.scale.z) = (0.03, 0.03);
    if let Some(last) = path.poses.last() {
        end.pose = last.pose.clone();
    }
    MarkerArray { markers: vec![line, end] }
}

fn duration(seconds: f64) -> builtin_interfaces::msg::Duration {
    // Motions are far below 68 years.
    let sec = seconds.floor();
    builtin_interfaces::msg::Duration { sec: sec as i32, nanosec: ((seconds - sec) * 1e9) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURTLEBOT: &str = include_str!("../../../../urdf/turtlebot2_widowx.urdf");

    #[test]
    fn poses_of_arms_with_five_joints_are_goals_but_for_their_free_rotation() {
        let model = crate::Model::from_urdf(TURTLEBOT, Some("arm_base_link"), Some("tool0")).unwrap();
        let robot = Robot::new(&model).unwrap();
        let start = [0.0, -0.3, -0.3, 0.0, 0.0];
        // Turned about the tool's z axis, the arm has no configuration with the whole pose.
        let turn = Isometry3::rotation(nalgebra::Vector3::z() * 0.4);
        let target = robot.forward(&[0.4, 0.2, -0.5, -0.9, 0.2]) * turn;
        let found = configurations(&robot, &target, &start, FreeRotation::Z).unwrap();
        for q in found {
            let pose = robot.forward(&q);
            assert!((pose.translation.vector - target.translation.vector).norm() < 1e-5);
            let [pointed, wanted] = [pose, target].map(|pose| pose.rotation * nalgebra::Vector3::z());
            assert!(pointed.angle(&wanted) < 1e-5);
        }
        assert!(configurations(&robot, &target, &start, FreeRotation::None).is_err());
    }
}
