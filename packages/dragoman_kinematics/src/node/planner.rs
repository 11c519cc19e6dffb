//! Motions round obstacles: services `plan_to_pose` and `cancel_planning`, and the preview.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dragoman_ros::builtin_interfaces;
use dragoman_ros::dragoman_msgs::srv::PlanToPose;
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::nav_msgs;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::trajectory_msgs::msg::{JointTrajectory, JointTrajectoryPoint};
use nalgebra::Isometry3;

use super::surroundings::{Surroundings, isometry};
use super::work::on_thread;
use super::{Mover, latched, lock, pose_message, report};
use crate::motion::MotionConfig;
use crate::planning::{Checker, PlanOptions, PlanningError, Trajectory, plan_while, time};
use crate::{GoalMask, IkOptions, Robot};

/// Period of the points of a planned motion, s.
const PERIOD: f64 = 0.05;
/// Longest part of an edge that a rounded corner takes, rad or m.
const ROUNDING: f64 = 0.5;
/// Configurations with the goal's pose that are searched, and from how many places.
const GOALS: usize = 8;
const SEEDS: usize = 64;
/// Motions that are planned at the same time; more requests wait.
const TOGETHER: usize = 4;

/// Where a motion leads.
#[derive(Debug, Clone)]
enum Goal {
    /// The tool's pose, in the base frame.
    Pose(Isometry3<f64>),
    /// Joint positions, rad or m.
    Positions(Vec<f64>),
}

/// A motion that is asked for.
#[derive(Debug, Clone)]
struct Ask {
    start: Vec<f64>,
    goal: Goal,
    /// Fractions of the greatest speeds and accelerations; 0: all of it.
    scaling: [f64; 2],
    /// Longest time of the search.
    longest: Duration,
}

impl Ask {
    fn limits(&self, config: &MotionConfig) -> Result<Vec<[f64; 2]>, String> {
        let fraction = |(name, scale): (&str, f64)| match scale {
            0.0 => Ok(1.0),
            scale if scale > 0.0 && scale <= 1.0 => Ok(scale),
            scale => Err(format!("{name}_scaling is {scale}, not above 0 to 1")),
        };
        let [speed, push] = self.scaling;
        let (speed, push) = (fraction(("velocity", speed))?, fraction(("acceleration", push))?);
        let limits = config.joint.max_velocity.iter().zip(&config.joint.max_acceleration);
        Ok(limits.map(|(velocity, acceleration)| [velocity * speed, acceleration * push]).collect())
    }
}

/// Plans the motions of an arm.
struct Planner {
    robot: Robot,
    surroundings: Arc<Surroundings>,
    mover: Arc<Mutex<Mover>>,
    preview: SharedPublisher<nav_msgs::msg::Path>,
    /// Counts the calls of `cancel_planning`: a search ends when it changes.
    cancelled: AtomicU64,
}

impl Planner {
    /// Plans on a thread of its own.
    async fn answer(
        self: Arc<Self>,
        ask: impl FnOnce(&Self, Vec<f64>) -> Result<Ask, String>,
    ) -> Result<JointTrajectory, String> {
        let begin = Instant::now();
        let (start, config, stamp) = {
            let mover = lock(&self.mover);
            (mover.measured(), mover.config.clone(), mover.stamp())
        };
        let ask = ask(&self, start.ok_or_else(|| "the joints are not measured".to_owned())?)?;
        let known = self.cancelled.load(Ordering::Relaxed);
        let answer = on_thread("planning", move |is_wanted| {
            let is_cancelled = || self.cancelled.load(Ordering::Relaxed) != known;
            let goes_on = || begin.elapsed() < ask.longest && !is_cancelled() && is_wanted();
            let planned = self.planned(&config, &ask, goes_on).map_err(|error| match error {
                PlanFailure::Planning(PlanningError::Ended { iterations }) if is_cancelled() => {
                    format!("cancelled after {iterations} iterations")
                }
                PlanFailure::Planning(PlanningError::Ended { iterations }) => {
                    let seconds = ask.longest.as_secs_f64();
                    format!("no path was found in {seconds} s; {iterations} iterations")
                }
                PlanFailure::Planning(error) => error.to_string(),
                PlanFailure::Request(reason) => reason,
            });
            if let Ok(trajectory) = &planned {
                report(self.preview.publish(&path(&self.robot, trajectory, stamp)), "planned_path");
            }
            planned
        });
        answer.await.and_then(|planned| planned).inspect_err(|reason| {
            tracing::info!(reason, "no motion was planned");
        })
    }

    fn planned(
        &self,
        config: &MotionConfig,
        ask: &Ask,
        goes_on: impl Fn() -> bool,
    ) -> Result<JointTrajectory, PlanFailure> {
        let bodies = self.surroundings.bodies()?;
        let limits = ask.limits(config)?;
        let robot = within(&self.robot, config)?;
        let scene = self.surroundings.scene();
        let goals = match &ask.goal {
            Goal::Pose(target) => configurations(&robot, target, &ask.start, config)?,
            Goal::Positions(positions) => vec![positions.clone()],
        };
        let mut checker = Checker::new(&robot, bodies, &scene);
        let planned = plan_while(&mut checker, &ask.start, &goals, &PlanOptions::default(), goes_on)?;
        let timed = time(&mut checker, &planned.path, &limits, ROUNDING, PERIOD)?;
        tracing::info!(
            seconds = timed.duration(),
            iterations = planned.iterations,
            checks = planned.checks,
            "a motion was planned"
        );
        Ok(trajectory(&robot, timed))
    }
}

/// Why no motion was planned.
#[derive(Debug)]
enum PlanFailure {
    Planning(PlanningError),
    Request(String),
}

impl From<PlanningError> for PlanFailure {
    fn from(error: PlanningError) -> Self {
        Self::Planning(error)
    }
}

impl From<String> for PlanFailure {
    fn from(reason: String) -> Self {
        Self::Request(reason)
    }
}

/// Offers the services and the preview `planned_path`; `longest` is the parameter `planning_time`.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    mover: &Arc<Mutex<Mover>>,
    robot: &Robot,
    surroundings: &Arc<Surroundings>,
    longest: impl Fn() -> Duration + Clone + Send + Sync + 'static,
) -> dragoman_ros::Result<()> {
    let planner = Arc::new(Planner {
        robot: robot.clone(),
        surroundings: Arc::clone(surroundings),
        mover: Arc::clone(mover),
        preview: tasks.node().create_publisher("planned_path", latched())?.into(),
        cancelled: AtomicU64::new(0),
    });
    let asked = Arc::clone(&planner);
    tasks.serve_together::<PlanToPose::Service, _>("plan_to_pose", TOGETHER, move |request| {
        let longest = longest();
        let answer = Arc::clone(&asked).answer(move |planner, start| {
            let scaling = [request.velocity_scaling, request.acceleration_scaling];
            let goal = if request.positions.is_empty() {
                planner.surroundings.check_frame(&request.pose.header.frame_id)?;
                Goal::Pose(isometry(&request.pose.pose)?)
            } else {
                Goal::Positions(request.positions)
            };
            Ok(Ask { start, goal, scaling, longest })
        });
        async move {
            match answer.await {
                Ok(trajectory) => PlanToPose::Response { success: true, message: String::new(), trajectory },
                Err(message) => PlanToPose::Response { success: false, message, ..Default::default() },
            }
        }
    })?;
    tasks.serve::<Trigger::Service>("cancel_planning", move |_request| {
        planner.cancelled.fetch_add(1, Ordering::Relaxed);
        Trigger::Response { success: true, message: String::new() }
    })
}

/// The robot with the position limits of the configuration.
fn within(robot: &Robot, config: &MotionConfig) -> Result<Robot, String> {
    let given = robot.joints().iter().zip(config.joint.lower.iter().zip(&config.joint.upper));
    let limits: Vec<[f64; 2]> =
        given.map(|(joint, (lower, upper))| [lower.max(joint.lower), upper.min(joint.upper)]).collect();
    let model = robot.model().clone().with_limits(&limits);
    model.and_then(|model| Robot::new(&model)).map_err(|error| error.to_string())
}

/// Several configurations with the pose, but for the rotation that the arm leaves free.
fn configurations(
    robot: &Robot,
    target: &Isometry3<f64>,
    start: &[f64],
    config: &MotionConfig,
) -> Result<Vec<Vec<f64>>, String> {
    let mask = GoalMask { free: config.free_rotation, ..GoalMask::POSE };
    let options = IkOptions { mask, ..IkOptions::default() };
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
        pose: pose_message(&robot.forward(&point.positions)),
    });
    path.poses = poses.collect();
    path
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
        let free = crate::FreeRotation::Z;
        let config = MotionConfig { free_rotation: free, ..MotionConfig::for_robot(&robot) };
        // Turned about the tool's z axis, the arm has no configuration with the whole pose.
        let turn = Isometry3::rotation(nalgebra::Vector3::z() * 0.4);
        let target = robot.forward(&[0.4, 0.2, -0.5, -0.9, 0.2]) * turn;
        let found = configurations(&robot, &target, &start, &config).unwrap();
        for q in found {
            let pose = robot.forward(&q);
            assert!((pose.translation.vector - target.translation.vector).norm() < 1e-5);
            let [pointed, wanted] = [pose, target].map(|pose| pose.rotation * nalgebra::Vector3::z());
            assert!(pointed.angle(&wanted) < 1e-5);
        }
        let whole = MotionConfig { free_rotation: crate::FreeRotation::None, ..config };
        assert!(configurations(&robot, &target, &start, &whole).is_err());
    }
}
