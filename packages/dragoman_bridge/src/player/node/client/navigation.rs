//! `map`, `localize`, `planner`.

use std::time::{Duration, Instant};

use dragoman_geometry::{Pose, position};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::fields::{navigation_error, set_unknown_tracking_errors};
use dragoman_ros::geometry_msgs::msg::{PoseStamped, PoseWithCovarianceStamped};
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Path};
use dragoman_ros::nav2_msgs::action::NavigateToPose;
use dragoman_ros::poses::{self, heading};
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::tasks::{Goal, Outcome};
use dragoman_ros::{Publisher, QosProfile, Result as RosResult, times};
use dragoman_time::watch;

use super::device_handle::DeviceHandle;
use super::devices_node::{DeviceSetup, DeviceTopics};
use super::messages::{self, latched, planar, pose_with_covariance, report};
use super::scene::Scene;
use crate::player::client::map::GridMap;
use crate::player::wire::common::Pose2d;
use crate::player::wire::localize::{self, Estimate};
use crate::player::wire::planner::{self, State};
use crate::player::wire::{Data, planner::Goal as PlannerGoal};

/// Maximum deviation of a quaternion's length from 1.
const UNIT: f64 = 0.01;
const FEEDBACK_PERIOD: Duration = Duration::from_millis(200);
/// Time limit for the planner to report a new goal and to find a path.
const GOAL_TIMEOUT: Duration = Duration::from_secs(5);
/// Error code of nav2_msgs, Jazzy and later: unknown.
const NAVIGATION_UNKNOWN: u16 = 9000;
/// Goals that differ by less are the same, m and rad.
const SAME: f64 = 1e-3;

struct Map(Publisher<OccupancyGrid>);

pub(super) fn map(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let topic = setup.names.topic("map");
    Ok(Box::new(Map(setup.tasks.node().create_publisher(&topic, latched())?)))
}

impl DeviceTopics for Map {
    fn show_map(&mut self, scene: &mut Scene, map: &GridMap) {
        let stamp = scene.now();
        let mut message = OccupancyGrid {
            header: Header { stamp: stamp.clone(), frame_id: scene.map_frame.clone() },
            data: map.cells.clone(),
            ..Default::default()
        };
        let info = &mut message.info;
        info.map_load_time = stamp;
        (info.resolution, info.width, info.height) = (map.info.scale, map.info.width, map.info.height);
        let Pose2d { x, y, yaw } = map.info.origin;
        info.origin = poses::pose(&Pose::new(x, y, yaw));
        report(self.0.publish(&message), "map");
    }
}

struct Localize {
    pose: Publisher<PoseWithCovarianceStamped>,
    base: String,
}

pub(super) fn localize(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let handle = setup.handle.clone();
    let map_frame = setup.scene.map_frame.clone();
    setup.tasks.subscribe(
        &setup.names.topic("initialpose"),
        QosProfile::default(),
        move |message: PoseWithCovarianceStamped| {
            let covariance = messages::covariance(&message.pose);
            let pose = PoseStamped { header: message.header, pose: message.pose.pose };
            let mean = goal_pose(&pose, &map_frame);
            let mean = mean.and_then(|mean| match covariance.iter().all(|value| value.is_finite()) {
                true => Ok(mean),
                false => Err("the covariance is not finite".to_owned()),
            });
            match mean {
                Ok(mean) => {
                    let reporting = handle.clone();
                    handle.call(&localize::SET_POSE, Estimate { mean, covariance }, move |answer| {
                        if let Err(reason) = answer {
                            reporting.problem(format!("initialpose: {reason}"));
                        }
                    });
                }
                Err(reason) => handle.problem(format!("initialpose: {reason}")),
            }
        },
    )?;
    Ok(Box::new(Localize { pose: setup.publisher("amcl_pose")?, base: setup.names.base.clone() }))
}

impl DeviceTopics for Localize {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Localize(localize::Data::Hypotheses(data)) = data else { return Ok(()) };
        let best = data.hypotheses.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        // No hypothesis: the pose is not known yet.
        let Some(best) = best else { return Ok(()) };
        let mean = planar(&best.mean).ok_or("a pose that is not finite")?;
        scene.place_odometry(stamp, &self.base, mean);
        let message = PoseWithCovarianceStamped {
            header: Header { stamp: stamp.clone(), frame_id: scene.map_frame.clone() },
            pose: pose_with_covariance(mean, &best.covariance),
        };
        report(self.pose.publish(&message), "amcl_pose");
        Ok(())
    }
}

struct Planner {
    handle: DeviceHandle,
    path: SharedPublisher<Path>,
    /// Goal and number of points of the requested path.
    shown: Option<(Pose2d, u32)>,
    state: watch::Sender<Option<State>>,
}

pub(super) fn planner(setup: &mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>> {
    let handle = setup.handle.clone();
    let map_frame = setup.scene.map_frame.clone();
    let (sender, state) = watch::channel(None);
    let frame = map_frame.clone();
    setup.tasks.subscribe(
        &setup.names.topic("goal_pose"),
        QosProfile::default(),
        move |message: PoseStamped| match goal_pose(&message, &frame) {
            Ok(pose) => send_goal(&handle, pose),
            Err(reason) => handle.problem(format!("goal_pose: {reason}")),
        },
    )?;
    let frame = map_frame.clone();
    let check = move |goal: &NavigateToPose::Goal| goal_pose(&goal.pose, &frame).map(drop);
    let (handle, frame) = (setup.handle.clone(), map_frame.clone());
    let execute = move |goal: Goal<NavigateToPose::Action>| {
        navigate(handle.clone(), frame.clone(), state.clone(), goal)
    };
    let action = setup.names.topic("navigate_to_pose");
    setup.tasks.serve_action::<NavigateToPose::Action, _>(&action, check, execute)?;
    let path = setup.tasks.node().create_publisher(&setup.names.topic("path"), latched())?.into();
    Ok(Box::new(Planner { handle: setup.handle.clone(), path, shown: None, state: sender }))
}

/// The pose of a goal, which has to be on the map.
fn goal_pose(goal: &PoseStamped, map_frame: &str) -> Result<Pose2d, String> {
    let frame = &goal.header.frame_id;
    if !frame.is_empty() && frame != map_frame {
        return Err(format!("the pose is in frame '{frame}'; this one is needed: '{map_frame}'"));
    }
    let (place, turn) = (&goal.pose.position, &goal.pose.orientation);
    let length = [turn.x, turn.y, turn.z, turn.w].iter().map(|part| part * part).sum::<f64>().sqrt();
    if !place.x.is_finite() || !place.y.is_finite() || (length - 1.0).abs() > UNIT || length.is_nan() {
        return Err("the pose is not finite, or its orientation is invalid".to_owned());
    }
    Ok(Pose2d { x: place.x, y: place.y, yaw: heading(turn) })
}

/// Sends a goal, and lets the robot drive.
fn send_goal(handle: &DeviceHandle, pose: Pose2d) {
    // Planners that cannot be disabled refuse this.
    handle.call(&planner::ENABLE, true, |_| {});
    handle.send_command(&planner::GOAL, PlannerGoal { pose });
}

impl DeviceTopics for Planner {
    fn show(&mut self, scene: &mut Scene, stamp: &Time, data: Data) -> Result<(), String> {
        let Data::Planner(planner::Data::State(state)) = data else { return Ok(()) };
        let shown = (state.goal.clone(), state.waypoint_count);
        if self.shown.as_ref() != Some(&shown) {
            self.shown = Some(shown);
            let header = Header { stamp: stamp.clone(), frame_id: scene.map_frame.clone() };
            if state.waypoint_count == 0 {
                report(self.path.publish(&Path { header, poses: Vec::new() }), "path");
            } else {
                let path = self.path.clone();
                self.handle.call(&planner::GET_WAYPOINTS, (), move |answer| {
                    // A planner that does not report its path has none to publish.
                    let Ok(answer) = answer else { return };
                    let points = answer.waypoints.iter().filter_map(planar);
                    let poses = points
                        .map(|point| PoseStamped { header: header.clone(), pose: poses::pose(&point) })
                        .collect();
                    report(path.publish(&Path { header: header.clone(), poses }), "path");
                });
            }
        }
        self.state.send_replace(Some(state));
        Ok(())
    }
}

/// Executes a goal until it has ended.
async fn navigate(
    handle: DeviceHandle,
    map_frame: String,
    mut state: watch::Receiver<Option<State>>,
    goal: Goal<NavigateToPose::Action>,
) -> Outcome<NavigateToPose::Result> {
    let aborted = |reason: &str| {
        // Humble's result has no field for the reason.
        tracing::warn!(reason, "goal aborted");
        Outcome::Aborted(navigation_error(NAVIGATION_UNKNOWN, reason.to_owned()))
    };
    let wanted = match goal_pose(&goal.goal().pose, &map_frame) {
        Ok(wanted) => wanted,
        Err(reason) => return aborted(&reason),
    };
    // Planners that cannot be disabled refuse this.
    let _ = handle.ask(&planner::ENABLE, true).await;
    if let Err(reason) = handle.command(&planner::GOAL, PlannerGoal { pose: wanted.clone() }).await {
        return aborted(&reason);
    }
    state.mark_unchanged();
    let start = dragoman_time::now();
    let mut has_path = false;
    let mut last_path = start;
    let mut last_feedback = None;
    let mut canceled = goal.canceled();
    loop {
        tokio::select! {
            biased;
            () = &mut canceled => {
                if let Err(reason) = handle.ask(&planner::ENABLE, false).await {
                    handle.problem(format!("cancelling a goal: {reason}"));
                }
                return Outcome::Canceled(NavigateToPose::Result::default());
            }
            // Before the pause, so that an available report counts. The time limit is checked after each of both.
            changed = state.changed() => if changed.is_err() {
                return aborted("the planner is gone");
            },
            () = dragoman_time::sleep(FEEDBACK_PERIOD) => {
                if dragoman_time::since(last_path) < GOAL_TIMEOUT {
                    continue;
                }
                return aborted(if has_path { "the planner is silent" } else { "the planner finds no path" });
            }
        }
        let Some(now) = state.borrow_and_update().clone() else { continue };
        let is_ours = is_same(&now.goal, &wanted);
        if is_ours && (now.valid || now.done) {
            (has_path, last_path) = (true, dragoman_time::now());
        } else if has_path && !is_ours {
            return aborted("another goal took over");
        } else if dragoman_time::since(last_path) >= GOAL_TIMEOUT {
            return aborted("the planner finds no path");
        }
        if is_ours && now.done {
            return Outcome::Succeeded(NavigateToPose::Result::default());
        }
        if last_feedback.is_none_or(|when: Instant| dragoman_time::since(when) >= FEEDBACK_PERIOD) {
            last_feedback = Some(dragoman_time::now());
            goal.publish_feedback(feedback(&now, dragoman_time::since(start), &map_frame));
        }
    }
}

fn is_same(a: &Pose2d, b: &Pose2d) -> bool {
    let turn = dragoman_geometry::wrap_angle(a.yaw - b.yaw);
    [a.x - b.x, a.y - b.y, turn].into_iter().all(|difference| difference.abs() < SAME)
}

#[allow(clippy::cast_possible_truncation, reason = "single precision in ROS")]
fn feedback(state: &State, elapsed: Duration, map_frame: &str) -> NavigateToPose::Feedback {
    let (at, goal) = (planar(&state.pose).unwrap_or(Pose::ORIGIN), planar(&state.goal));
    let mut feedback = NavigateToPose::Feedback {
        navigation_time: times::duration(elapsed),
        // The straight line, because the protocol does not transmit the remaining path.
        distance_remaining: goal.map_or(0.0, |goal| (position(goal) - position(at)).norm()) as f32,
        current_pose: PoseStamped { pose: poses::pose(&at), ..Default::default() },
        ..Default::default()
    };
    feedback.current_pose.header.frame_id = map_frame.to_owned();
    set_unknown_tracking_errors(&mut feedback);
    feedback
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_a_pose_on_the_map() {
        let mut goal = PoseStamped::default();
        goal.pose.orientation.w = 1.0;
        assert_eq!(goal_pose(&goal, "map"), Ok(Pose2d::default()));
        goal.header.frame_id = "odom".to_owned();
        assert!(goal_pose(&goal, "map").is_err());
        goal.header.frame_id = "map".to_owned();
        goal.pose.position.x = f64::NAN;
        assert!(goal_pose(&goal, "map").is_err());
        goal.pose.position.x = 1.0;
        goal.pose.orientation.w = 0.0;
        assert!(goal_pose(&goal, "map").is_err());
        goal.pose.orientation.w = f64::NAN;
        assert!(goal_pose(&goal, "map").is_err());
    }
}
